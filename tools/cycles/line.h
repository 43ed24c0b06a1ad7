/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cache lines of a guest's memory, by their physical addresses.
 */
#ifndef CYCLES_LINE_H
#define CYCLES_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "../profile/api.h"

#define LINE_SHIFT	6

/* From the first to the last one */
struct lines {
	uint64_t first;
	uint64_t last;
};

/* The lines of an access; false if it is not one to memory. */
static inline bool lines_of(struct lines *lines, qemu_plugin_meminfo_t info,
			    uint64_t vaddr)
{
	struct qemu_plugin_hwaddr *hw = qemu_plugin_get_hwaddr(info, vaddr);
	uint64_t from, size = 1ULL << qemu_plugin_mem_size_shift(info);

	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return false;
	from = qemu_plugin_hwaddr_phys_addr(hw);
	lines->first = from >> LINE_SHIFT;
	lines->last = (from + size - 1) >> LINE_SHIFT;
	return true;
}

#endif /* CYCLES_LINE_H */

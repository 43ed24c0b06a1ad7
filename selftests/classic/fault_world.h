/* SPDX-License-Identifier: GPL-2.0 */
/* A set of 2001 whose calls fail on purpose. */
#ifndef SELFTESTS_FAULT_WORLD_H
#define SELFTESTS_FAULT_WORLD_H

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/failnth.h"
#include "core/helpers.h"

#define SET_FDS		2000
#define SET_SIZE	EP_MAP_SIZE(SET_FDS)

struct world {
	int fail_nth;
	int set;
	char *map;
	char *second_map;
	int files[3][2];
	int nfiles;
};

/* 0, or -errno; -ENOSYS if the kernel can't do it. */
static inline int world_open(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->fail_nth = failnth_open();
	if (w->fail_nth < 0)
		return w->fail_nth;
	w->set = dep_open();
	if (w->set < 0)
		return w->set;
	if (dep_alloc(w->set, SET_FDS))
		return -ENOMEM;
	w->map = dep_map(w->set, SET_SIZE);
	return w->map == MAP_FAILED ? -errno : 0;
}

static inline void world_close(struct world *w)
{
	if (w->fail_nth < 0)
		return;
	munmap(w->map, SET_SIZE);
	close(w->set);
	close(w->fail_nth);
}

static inline bool out_of_memory(int ret)
{
	return ret == -ENOMEM || ret == -EFAULT;
}

#endif /* SELFTESTS_FAULT_WORLD_H */

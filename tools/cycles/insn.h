/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The instructions of a guest, as QEMU translates them for a plugin.
 */
#ifndef CYCLES_INSN_H
#define CYCLES_INSN_H

#include "../profile/api.h"
#include "kind.h"

/* What a plugin does when an instruction is executed. */
struct insn_calls {
	/* It is a mark. */
	insn_executed *on_mark;
	/* It is another one; or NULL */
	insn_executed *on_insn;
	/* It accesses memory. */
	mem_accessed *on_access;
};

/* Its kind; if that is KIND_MARK, @mark is set to its mark, and else to 0. */
enum kind insn_kind(const struct qemu_plugin_insn *it, int *mark);

/* Makes @calls, with @data, for an instruction of this kind. */
void insn_follow(struct qemu_plugin_insn *it, enum kind kind,
		 const struct insn_calls *calls, void *data);

#endif /* CYCLES_INSN_H */

// SPDX-License-Identifier: GPL-2.0
/* The instructions of a guest: see insn.h. */
#include "../profile/mark.h"
#include "insn.h"

/* None of x86-64 is longer. */
#define MAX_BYTES	16

enum kind insn_kind(const struct qemu_plugin_insn *it, int *mark)
{
	size_t size = qemu_plugin_insn_size(it);
	unsigned char bytes[MAX_BYTES];

	if (size > MAX_BYTES)
		size = MAX_BYTES;
	qemu_plugin_insn_data(it, bytes, size);
	*mark = mark_of(bytes, size);
	return *mark ? KIND_MARK : kind_of(bytes, size);
}

void insn_follow(struct qemu_plugin_insn *it, enum kind kind,
		 const struct insn_calls *calls, void *data)
{
	if (kind == KIND_MARK) {
		qemu_plugin_register_vcpu_insn_exec_cb(it, calls->on_mark,
						       CB_NO_REGS, data);
		return;
	}
	if (calls->on_insn)
		qemu_plugin_register_vcpu_insn_exec_cb(it, calls->on_insn,
						       CB_NO_REGS, data);
	qemu_plugin_register_vcpu_mem_cb(it, calls->on_access, CB_NO_REGS,
					 MEM_RW, data);
}

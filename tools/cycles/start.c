// SPDX-License-Identifier: GPL-2.0
/* The beginning of a plugin of QEMU: see start.h. */
#include <stdbool.h>

#include "../profile/mark.h"
#include "start.h"

static qemu_plugin_id_t own_id;
static follow_fn *follow_all;
static bool started;

static void on_start(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (started)
		return;
	started = true;
	qemu_plugin_reset(own_id, follow_all);
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	unsigned char bytes[MARK_SIZE];

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *it = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_size(it) != MARK_SIZE)
			continue;
		qemu_plugin_insn_data(it, bytes, MARK_SIZE);
		if (mark_of(bytes, MARK_SIZE) == MARK_START)
			qemu_plugin_register_vcpu_insn_exec_cb(it, on_start,
							       CB_NO_REGS,
							       NULL);
	}
}

void start_at_mark(qemu_plugin_id_t id, follow_fn *follow)
{
	own_id = id;
	follow_all = follow;
	started = false;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
}

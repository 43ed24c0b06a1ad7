// SPDX-License-Identifier: GPL-2.0
/*
 * Which processor of the guest executes: see processor.h.
 *
 * In the kernel, the register GS has the base of a processor's own data; in a
 * program, another register keeps it meanwhile.  The processors run in turn, in
 * one thread of QEMU's, and the turn ends only between blocks of code.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "processor.h"

static struct qemu_plugin_register *gs_base, *kernel_gs_base;
static uint64_t bases[PROCESSORS];
static unsigned int now;

unsigned int processor_now(void)
{
	return now;
}

static uint64_t value_of(struct qemu_plugin_register *handle)
{
	static struct byte_array *bytes;
	uint64_t value;

	if (!bytes)
		bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, 0);
	if (qemu_plugin_read_register(handle, bytes) != sizeof(value))
		abort();
	memcpy(&value, bytes->data, sizeof(value));
	return value;
}

static void on_block(unsigned int vcpu, void *data)
{
	uint64_t base = value_of(gs_base);
	unsigned int i;

	(void)vcpu;
	(void)data;
	if (!(base >> 63))
		base = value_of(kernel_gs_base);
	for (i = 0; bases[i] && bases[i] != base; i++)
		if (i == PROCESSORS - 1)
			abort();
	bases[i] = base;
	now = i;
}

void processor_follow(struct qemu_plugin_tb *tb)
{
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, CB_READS_REGS, NULL);
}

/* All processors have the same registers. */
static void on_processor(qemu_plugin_id_t id, unsigned int vcpu)
{
	struct array *all = qemu_plugin_get_registers();
	const struct register_descriptor *it = (void *)all->data;
	unsigned int i;

	(void)id;
	(void)vcpu;
	for (i = 0; i < all->len; i++, it++) {
		if (!strcmp(it->name, "gs_base"))
			gs_base = it->handle;
		else if (!strcmp(it->name, "k_gs_base"))
			kernel_gs_base = it->handle;
	}
	g_array_free(all, true);
	if (!gs_base || !kernel_gs_base)
		abort();
}

void processor_find(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_init_cb(id, on_processor);
}

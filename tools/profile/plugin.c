// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU that counts how often each instruction of the guest is
 * executed between two marks (mark.h), and writes the counts to a file.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "mark.h"

#define VISIBLE		__attribute__((visibility("default")))
#define SLOTS		0x100000

VISIBLE int qemu_plugin_version = API_VERSION;

/* An address of the guest, and how often it was executed between marks. */
struct slot {
	uint64_t address;
	uint64_t count;
};

static struct slot slots[SLOTS];
static unsigned int rounds;
static bool counting;
static const char *path;

/* The guest has one processor, so there is one thread that gets here. */
static struct slot *slot_of(uint64_t address)
{
	size_t i = address * 0x9e3779b97f4a7c15ULL >> 44;

	while (slots[i].address && slots[i].address != address)
		i = (i + 1) % SLOTS;
	slots[i].address = address;
	return &slots[i];
}

static void on_insn(unsigned int vcpu, void *data)
{
	struct slot *slot = data;

	(void)vcpu;
	slot->count += counting;
}

static void on_begin(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	counting = true;
	rounds++;
}

static void on_end(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	counting = false;
}

static insn_executed *call_of(const struct qemu_plugin_insn *insn)
{
	unsigned char bytes[MARK_SIZE];
	size_t size = qemu_plugin_insn_size(insn);

	if (size != MARK_SIZE)
		return on_insn;
	qemu_plugin_insn_data(insn, bytes, MARK_SIZE);
	switch (mark_of(bytes, size)) {
	case MARK_BEGIN:
		return on_begin;
	case MARK_END:
		return on_end;
	default:
		return on_insn;
	}
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct slot *slot = slot_of(qemu_plugin_insn_vaddr(insn));

		qemu_plugin_register_vcpu_insn_exec_cb(insn, call_of(insn),
						       CB_NO_REGS, slot);
	}
}

static void write_counts(qemu_plugin_id_t id, void *data)
{
	FILE *out = fopen(path, "w");
	size_t i;

	(void)id;
	(void)data;
	if (!out)
		return;
	fprintf(out, "rounds %u\n", rounds);
	for (i = 0; i < SLOTS; i++)
		if (slots[i].count)
			fprintf(out, "%llx %llu\n",
				(unsigned long long)slots[i].address,
				(unsigned long long)slots[i].count);
	fclose(out);
}

/* The argument is out=FILE. */
VISIBLE int qemu_plugin_install(qemu_plugin_id_t id, const void *info,
				int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return -1;
	path = strdup(argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	qemu_plugin_register_atexit_cb(id, write_counts, NULL);
	return 0;
}

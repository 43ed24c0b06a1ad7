// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU that counts, by instruction, the cache lines of data that
 * travel between the processors of a guest (holder.h).
 *
 * usage: -plugin travel.so,out=FILE
 *
 * At each MARK_RECORD it writes "record" and then, for each instruction for
 * which lines have travelled between MARK_BEGIN and MARK_END, its address and
 * their number.
 *
 * The clock of the guest counts instructions, so its processors run in turn, in
 * one thread of QEMU's.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../profile/api.h"
#include "../profile/mark.h"
#include "holder.h"
#include "insn.h"
#include "line.h"
#include "processor.h"
#include "start.h"

#define VISIBLE		__attribute__((visibility("default")))

VISIBLE int qemu_plugin_version = API_VERSION;

/* An instruction of the guest, as it was translated. */
struct insn {
	struct insn *next;
	uint64_t address;
	uint64_t travelled;
	enum kind kind;
	int mark;
};

static struct insn *insns;
static bool counting;
static FILE *out;

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info,
		      uint64_t vaddr, void *data)
{
	bool store = qemu_plugin_mem_is_store(info), taken;
	struct insn *insn = data;
	struct lines lines;
	uint64_t line;

	(void)vcpu;
	if (!lines_of(&lines, info, vaddr))
		return;
	for (line = lines.first; line <= lines.last; line++)
		if (holder_use(insn, line, store, &taken) && counting)
			insn->travelled++;
}

static void write_record(void)
{
	struct insn *insn;

	fprintf(out, "record\n");
	for (insn = insns; insn; insn = insn->next) {
		if (insn->travelled)
			fprintf(out, "%llx %llu\n",
				(unsigned long long)insn->address,
				(unsigned long long)insn->travelled);
		insn->travelled = 0;
	}
	fflush(out);
}

static void on_mark(unsigned int vcpu, void *data)
{
	const struct insn *insn = data;

	(void)vcpu;
	switch (insn->mark) {
	case MARK_BEGIN:
		counting = true;
		break;
	case MARK_END:
		counting = false;
		break;
	case MARK_RECORD:
		write_record();
		break;
	default:
		break;
	}
}

/* Never freed: the guest may still execute what it has translated. */
static struct insn *insn_of(const struct qemu_plugin_insn *translated)
{
	struct insn *insn = calloc(1, sizeof(*insn));

	if (!insn)
		abort();
	insn->kind = insn_kind(translated, &insn->mark);
	insn->address = qemu_plugin_insn_vaddr(translated);
	insn->next = insns;
	insns = insn;
	return insn;
}

static const struct insn_calls calls = {
	.on_mark = on_mark,
	.on_access = on_access,
};

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	processor_follow(tb);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *it = qemu_plugin_tb_get_insn(tb, i);
		struct insn *insn = insn_of(it);

		insn_follow(it, insn->kind, &calls, insn);
	}
}

static void follow_all(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
}

/* The argument is out=FILE. */
VISIBLE int qemu_plugin_install(qemu_plugin_id_t id, const void *info,
				int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return -1;
	out = fopen(argv[0] + 4, "w");
	if (!out)
		return -1;
	processor_find(id);
	start_at_mark(id, follow_all);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU that counts, by instruction, all that a guest of one or two
 * processors does between two marks: what is executed, the accesses that a model
 * of caches does not find in each of its levels, and the lines of data that travel
 * between the processors (holder.h).
 *
 * usage: -plugin window.so,out=FILE,processors=1|2
 *
 * At each MARK_RECORD it writes "record", the number of rounds and the lines of
 * data that they touched, and then a line for each instruction that was executed:
 * see write_insn().  Each MARK_BEGIN begins a round, up to the next one or to
 * MARK_END; the lines are the different ones of each round.
 *
 * Each processor has an L1 for data, one for code and an L2 of its own.  An access
 * for which a line travels misses in none of them: it counts as travelled only.
 *
 * Lines are found by their physical addresses: in the guest for data, and in
 * QEMU's memory for code.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../profile/api.h"
#include "../profile/mark.h"
#include "cache.h"
#include "holder.h"
#include "insn.h"
#include "line.h"
#include "model.h"
#include "processor.h"
#include "start.h"

#define VISIBLE		__attribute__((visibility("default")))

/* Keeps lines of code apart from those of data. */
#define CODE_LINE	(1ULL << 62)

VISIBLE int qemu_plugin_version = API_VERSION;

/* An instruction of the guest, as it was translated, and what it has cost. */
struct insn {
	struct insn *next;
	uint64_t address;
	uint64_t line;
	enum kind kind;
	int mark;
	uint64_t executed;
	uint64_t l1_misses;
	uint64_t l2_misses;
	uint64_t l3_misses;
	uint64_t travelled;
};

/* A processor. */
struct core {
	struct cache l1_data;
	struct cache l1_code;
	struct cache l2;
	uint64_t code_line;
};

static struct core cores[PROCESSORS];
static struct cache l3;
static unsigned int processors;

static struct insn *insns;
static bool counting;
static uint64_t rounds, touched;
/* The round that touched each line of data last, counted from the beginning */
static uint32_t round_nr, round_of[LINES];
static qemu_plugin_id_t own_id;
static FILE *out;

static void follow(struct core *core, struct cache *l1, struct insn *insn,
		   uint64_t line)
{
	if (cache_use(l1, line))
		return;
	insn->l1_misses += counting;
	if (cache_use(&core->l2, line))
		return;
	insn->l2_misses += counting;
	if (cache_use(&l3, line))
		return;
	insn->l3_misses += counting;
}

/* The line comes from another processor. */
static void fetch(struct core *core, struct insn *insn, uint64_t line)
{
	insn->travelled += counting;
	cache_use(&core->l1_data, line);
	cache_use(&core->l2, line);
	cache_use(&l3, line);
}

static void drop_elsewhere(const struct core *core, uint64_t line)
{
	unsigned int i;

	for (i = 0; i < processors; i++) {
		if (&cores[i] == core)
			continue;
		cache_drop(&cores[i].l1_data, line);
		cache_drop(&cores[i].l2, line);
	}
}

static void touch(struct insn *insn, uint64_t line, bool store)
{
	struct core *core = &cores[processor_now()];
	bool travels, taken;

	travels = holder_use(insn, line, store, &taken);
	if (taken)
		drop_elsewhere(core, line);
	if (travels)
		fetch(core, insn, line);
	else
		follow(core, &core->l1_data, insn, line);
	if (counting && round_of[line] != round_nr) {
		round_of[line] = round_nr;
		touched++;
	}
}

static void on_insn(unsigned int vcpu, void *data)
{
	struct core *core = &cores[processor_now()];
	struct insn *insn = data;

	(void)vcpu;
	insn->executed += counting;
	if (insn->line == core->code_line)
		return;
	core->code_line = insn->line;
	follow(core, &core->l1_code, insn, insn->line);
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info,
		      uint64_t vaddr, void *data)
{
	bool store = qemu_plugin_mem_is_store(info);
	struct lines lines;
	uint64_t line;

	(void)vcpu;
	if (!lines_of(&lines, info, vaddr))
		return;
	for (line = lines.first; line <= lines.last; line++)
		touch(data, line, store);
}

/* Writes what an instruction has cost, and forgets it. */
static void write_insn(struct insn *insn)
{
	if (insn->executed)
		fprintf(out, "%llx %llu %llu %llu %llu %llu %llu\n",
			(unsigned long long)insn->address,
			(unsigned long long)insn->executed,
			(unsigned long long)(insn->kind == KIND_LOCKED ?
					     insn->executed : 0),
			(unsigned long long)insn->l1_misses,
			(unsigned long long)insn->l2_misses,
			(unsigned long long)insn->l3_misses,
			(unsigned long long)insn->travelled);
	insn->executed = 0;
	insn->l1_misses = 0;
	insn->l2_misses = 0;
	insn->l3_misses = 0;
	insn->travelled = 0;
}

static void write_record(void)
{
	struct insn *insn;

	fprintf(out, "record %llu %llu\n", (unsigned long long)rounds,
		(unsigned long long)touched);
	for (insn = insns; insn; insn = insn->next)
		write_insn(insn);
	fflush(out);
	rounds = 0;
	touched = 0;
}

static void wait_for_start(qemu_plugin_id_t id);

static void on_mark(unsigned int vcpu, void *data)
{
	const struct insn *insn = data;

	(void)vcpu;
	switch (insn->mark) {
	case MARK_BEGIN:
		counting = true;
		rounds++;
		round_nr++;
		break;
	case MARK_END:
		counting = false;
		break;
	case MARK_RECORD:
		write_record();
		break;
	case MARK_STOP:
		qemu_plugin_reset(own_id, wait_for_start);
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
	insn->line = (uintptr_t)qemu_plugin_insn_haddr(translated) >>
		     LINE_SHIFT | CODE_LINE;
	insn->next = insns;
	insns = insn;
	return insn;
}

static const struct insn_calls calls = {
	.on_mark = on_mark,
	.on_insn = on_insn,
	.on_access = on_access,
};

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	if (processors > 1)
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

static void wait_for_start(qemu_plugin_id_t id)
{
	start_at_mark(id, follow_all);
}

static void make_caches(void)
{
	unsigned int i;

	for (i = 0; i < processors; i++) {
		cache_make(&cores[i].l1_data, L1_SIZE, L1_WAYS);
		cache_make(&cores[i].l1_code, L1_SIZE, L1_WAYS);
		cache_make(&cores[i].l2, L2_SIZE, L2_WAYS);
	}
	cache_make(&l3, L3_SIZE, L3_WAYS);
}

/* The arguments are out=FILE and processors=N. */
VISIBLE int qemu_plugin_install(qemu_plugin_id_t id, const void *info,
				int argc, char **argv)
{
	(void)info;
	if (argc != 2 || strncmp(argv[0], "out=", 4) ||
	    sscanf(argv[1], "processors=%u", &processors) != 1 ||
	    processors < 1 || processors > PROCESSORS)
		return -1;
	out = fopen(argv[0] + 4, "w");
	if (!out)
		return -1;
	own_id = id;
	make_caches();
	processor_find(id);
	wait_for_start(id);
	return 0;
}

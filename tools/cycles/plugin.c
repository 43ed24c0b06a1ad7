// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU that counts, between two marks of a program in the guest
 * (tools/profile/mark.h), what costs time on a processor: instructions, locked
 * instructions, system calls, the cache lines that are touched, and how many of
 * these a model of caches does not find in each of its levels.
 *
 * usage: -plugin cycles.so,out=FILE[,whole=on]
 *
 * At each MARK_RECORD it writes a line of sums to FILE, in the order of
 * write_record().  The guest has one processor.
 *
 * Data are found by their physical address, code by its virtual one.  A round
 * in which an interrupt came does not count, except with whole=on.
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
#include "insn.h"
#include "line.h"
#include "model.h"
#include "start.h"

#define VISIBLE		__attribute__((visibility("default")))

/* Keeps lines of code apart from those of data. */
#define CODE_LINE	(1ULL << 60)
#define NO_LINE		UINT64_MAX

/* Lines that one round may touch; a power of two. */
#define SEEN_SLOTS	0x40000

VISIBLE int qemu_plugin_version = API_VERSION;

/* An instruction of the guest, as it was translated. */
struct insn {
	uint64_t line;
	enum kind kind;
	int mark;
	bool kernel;
};

struct sums {
	uint64_t rounds;
	uint64_t user_insns;
	uint64_t kernel_insns;
	uint64_t locked;
	uint64_t syscalls;
	/* Different lines of each kind, and those of data that are written */
	uint64_t kernel_lines;
	uint64_t user_lines;
	uint64_t code_lines;
	uint64_t written_lines;
	/* What each level of the caches did not have */
	uint64_t l1_misses;
	uint64_t l2_misses;
	uint64_t l3_misses;
	uint64_t irets;
};

/* A line that the current round has touched. */
struct seen {
	uint64_t line;
	uint64_t round;
	bool written;
};

static struct sums sums, before;
static struct seen seen[SEEN_SLOTS];
static uint64_t round_nr;
static bool counting, whole;
static uint64_t last_code_line = NO_LINE;
static struct cache l1_data, l1_code, l2, l3;
static FILE *out;

/* Whether this round touches a line for the first time; notes that it does. */
static struct seen *see(uint64_t line, bool *first)
{
	size_t i = line * 0x9e3779b97f4a7c15ULL >> 46;

	while (seen[i].round == round_nr && seen[i].line != line)
		i = (i + 1) % SEEN_SLOTS;
	*first = seen[i].round != round_nr;
	if (*first)
		seen[i] = (struct seen) { .line = line, .round = round_nr };
	return &seen[i];
}

static void follow(struct cache *l1, uint64_t line)
{
	if (cache_use(l1, line))
		return;
	sums.l1_misses += counting;
	if (cache_use(&l2, line))
		return;
	sums.l2_misses += counting;
	if (cache_use(&l3, line))
		return;
	sums.l3_misses += counting;
}

static void on_insn(unsigned int vcpu, void *data)
{
	const struct insn *insn = data;
	bool first;

	(void)vcpu;
	if (insn->line != last_code_line) {
		last_code_line = insn->line;
		if (counting) {
			see(insn->line, &first);
			sums.code_lines += first;
		}
		follow(&l1_code, insn->line);
	}
	if (!counting)
		return;
	sums.kernel_insns += insn->kernel;
	sums.user_insns += !insn->kernel;
	sums.locked += insn->kind == KIND_LOCKED;
	sums.syscalls += insn->kind == KIND_SYSCALL;
	sums.irets += insn->kind == KIND_IRET;
}

static void touch(uint64_t line, bool kernel, bool store)
{
	struct seen *it;
	bool first;

	if (counting) {
		it = see(line, &first);
		sums.kernel_lines += first && kernel;
		sums.user_lines += first && !kernel;
		sums.written_lines += store && !it->written;
		it->written |= store;
	}
	follow(&l1_data, line);
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info,
		      uint64_t vaddr, void *data)
{
	/* Data of the user that the kernel copies are the user's. */
	bool kernel = vaddr >> 63, store = qemu_plugin_mem_is_store(info);
	struct lines lines;
	uint64_t line;

	(void)vcpu;
	(void)data;
	if (!lines_of(&lines, info, vaddr))
		return;
	for (line = lines.first; line <= lines.last; line++)
		touch(line, kernel, store);
}

static void write_record(void)
{
	fprintf(out, "%llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu\n",
		(unsigned long long)sums.rounds,
		(unsigned long long)sums.user_insns,
		(unsigned long long)sums.kernel_insns,
		(unsigned long long)sums.locked,
		(unsigned long long)sums.syscalls,
		(unsigned long long)sums.kernel_lines,
		(unsigned long long)sums.user_lines,
		(unsigned long long)sums.code_lines,
		(unsigned long long)sums.written_lines,
		(unsigned long long)sums.l1_misses,
		(unsigned long long)sums.l2_misses,
		(unsigned long long)sums.l3_misses);
	fflush(out);
	memset(&sums, 0, sizeof(sums));
}

static void on_mark(unsigned int vcpu, void *data)
{
	const struct insn *insn = data;

	(void)vcpu;
	switch (insn->mark) {
	case MARK_BEGIN:
		before = sums;
		sums.rounds++;
		round_nr++;
		counting = true;
		last_code_line = NO_LINE;
		break;
	case MARK_END:
		counting = false;
		if (sums.irets != before.irets && !whole)
			sums = before;
		break;
	case MARK_RECORD:
		write_record();
		break;
	case MARK_COLD:
		cache_empty(&l1_data);
		cache_empty(&l1_code);
		cache_empty(&l2);
		last_code_line = NO_LINE;
		break;
	default:
		break;
	}
}

/* Never freed: the guest may still execute what it has translated. */
static struct insn *insn_of(const struct qemu_plugin_insn *translated)
{
	uint64_t vaddr = qemu_plugin_insn_vaddr(translated);
	struct insn *insn = malloc(sizeof(*insn));

	if (!insn)
		abort();
	insn->kind = insn_kind(translated, &insn->mark);
	insn->line = vaddr >> LINE_SHIFT | CODE_LINE;
	insn->kernel = vaddr >> 63;
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
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *it = qemu_plugin_tb_get_insn(tb, i);
		struct insn *insn = insn_of(it);

		insn_follow(it, insn->kind, &calls, insn);
	}
}

static void on_end(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	fclose(out);
}

static void follow_all(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
}

/* The arguments are out=FILE and, if wanted, whole=on. */
VISIBLE int qemu_plugin_install(qemu_plugin_id_t id, const void *info,
				int argc, char **argv)
{
	(void)info;
	whole = argc == 2 && !strcmp(argv[1], "whole=on");
	if (argc != 1 + whole || strncmp(argv[0], "out=", 4))
		return -1;
	out = fopen(argv[0] + 4, "w");
	if (!out)
		return -1;
	cache_make(&l1_data, L1_SIZE, L1_WAYS);
	cache_make(&l1_code, L1_SIZE, L1_WAYS);
	cache_make(&l2, L2_SIZE, L2_WAYS);
	cache_make(&l3, L3_SIZE, L3_WAYS);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	start_at_mark(id, follow_all);
	return 0;
}

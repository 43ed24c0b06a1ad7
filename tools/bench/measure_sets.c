// SPDX-License-Identifier: GPL-2.0
/*
 * The measurements of many sets, of whole sets and of memory.
 */
#include "measure.h"

#include <stdio.h>
#include <unistd.h>

#include "files.h"
#include "sample.h"

static struct series series;

void measure_set_close(const struct subject *sub)
{
	struct files *files = files_open(WATCHED);
	int i;

	series_clear(&series);
	for (i = 0; i < BATCH_ROUNDS; i++) {
		struct set *set = watch_all(sub, files);

		series_begin(&series);
		sub->be->close(set);
		series_end(&series);
	}
	report_value("Closing", "close_set", "a set of 1000, per fd", 0,
		     sub->col, series_median(&series) / WATCHED);
	files_close(files);
}

/* What a program with many small sets pays: the first fd of each. */
void measure_first_add(const struct subject *sub)
{
	struct files *files = files_open(ROUNDS);
	int i;

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		struct set *set = sub->be->open(1);
		bool ok;

		series_begin(&series);
		ok = sub->be->add(set, &files->in[i], 1);
		series_end(&series);
		must(ok, sub, "adding");
		sub->be->close(set);
	}
	report_value("Adding, per fd", "add_first", "the first of a set", 0,
		     sub->col, series_median(&series));
	files_close(files);
}

/* One file in many sets: its wake-up and its close, per set. */
void measure_in_sets(const struct subject *sub, double unwatched)
{
	const char *group = "One eventfd in 1000 sets, per set";
	struct set *sets[WATCHED];
	struct files *files = files_open(1);
	int i, round;

	series_clear(&series);
	for (i = 0; i < WATCHED; i++) {
		bool ok;

		sets[i] = sub->be->open(1);
		series_begin(&series);
		ok = sub->be->add(sets[i], files->in, 1);
		series_end(&series);
		must(ok, sub, "adding");
	}
	report_value(group, "sets_add", "add", 0, sub->col,
		     series_median(&series));

	series_clear(&series);
	for (round = 0; round < BATCH_ROUNDS; round++) {
		series_begin(&series);
		files_signal(files, 0);
		series_end(&series);
		for (i = 0; i < WATCHED; i++)
			must(sub->be->wait(sets[i], 0) == 1, sub, "waiting");
		if (sub->be->level)
			files_clear(files, 0);
		for (i = 0; i < WATCHED; i++)
			must(sub->be->wait(sets[i], 0) == 0, sub, "reading");
	}
	report_value(group, "sets_wake", "wake-up", 0, sub->col,
		     (series_median(&series) - unwatched) / WATCHED);

	series_clear(&series);
	series_begin(&series);
	close(files->in[0]);
	series_end(&series);
	report_value(group, "sets_close", "close of the eventfd", 0, sub->col,
		     series_median(&series) / WATCHED);
	for (i = 0; i < WATCHED; i++)
		sub->be->close(sets[i]);
	files_close(files);
}

/* Bytes of the kernel's small objects. */
static double slab_bytes(void)
{
	unsigned long kib;
	char line[128];
	FILE *file;

	/* Brings what the processors have counted into the sum. */
	file = fopen("/proc/sys/vm/stat_refresh", "w");
	if (file) {
		fputs("1", file);
		fclose(file);
	}
	file = fopen("/proc/meminfo", "r");
	if (!file)
		err(1, "/proc/meminfo");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Slab: %lu", &kib) == 1) {
			fclose(file);
			return kib * 1024.0;
		}
	}
	errx(1, "/proc/meminfo tells of no slab");
}

/*
 * @nfds fds in one set, and then in another one, too.  Before that, a set of
 * others takes the room that earlier measurements left in slabs.
 */
void measure_memory(const struct subject *sub, int nfds)
{
	const char *group = "Memory, bytes of slab per watched fd";
	struct files *others = files_open(nfds), *files = files_open(nfds);
	struct set *room, *first, *second;
	double before, between;

	room = watch_all(sub, others);
	before = slab_bytes();
	first = watch_all(sub, files);
	between = slab_bytes();
	second = watch_all(sub, files);
	report_value(group, "memory_first", "in a first set", 0, sub->col,
		     (between - before) / nfds);
	report_value(group, "memory_second", "in a second set", 0, sub->col,
		     (slab_bytes() - between) / nfds);
	sub->be->close(first);
	sub->be->close(second);
	sub->be->close(room);
	files_close(files);
	files_close(others);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The figures, as a table for people and as JSON for programs.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

enum column {
	COL_DEVEPOLL,
	COL_SYSEPOLL,
	COL_POLL,
	COL_LIBRARY,
	COL_FADVISE,
	COL_TRUSTED,
	COL_FADVISE_LEVEL,
	COL_SYSEPOLL_LEVEL,
	COL_URING,
	COL_RING,
	COL_PRELOAD_RING,
	COL_TOLD,
	COL_RING_TOLD,
	COLUMNS,
};

/*
 * Puts @value into the row @id, which is made at its first value.  @group is
 * the heading above it, @name its text, @id its name in JSON; @id and @name are
 * printf formats for @number.
 */
void report_value(const char *group, const char *id, const char *name,
		  int number, enum column col, double value);

/*
 * From now on, ids begin with @prefix and headings with @title; "" for neither.
 */
void report_section(const char *prefix, const char *title);

void report_table(FILE *out);
void report_json(FILE *out);

#endif /* BENCH_REPORT_H */

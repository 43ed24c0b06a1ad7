// SPDX-License-Identifier: GPL-2.0
/*
 * The figures, as a table for people and as JSON for programs.
 */
#include "report.h"

#include <err.h>
#include <string.h>
#include <sys/utsname.h>

#include "sample.h"

#define ROWS_MAX	128
#define ARRAY_SIZE(a)	((int)(sizeof(a) / sizeof((a)[0])))

struct row {
	char group[96];
	char id[32];
	char name[64];
	bool known[COLUMNS];
	double value[COLUMNS];
};

static struct row rows[ROWS_MAX];
static int nrows;
static const char *section_prefix = "", *section_title = "";

static const char * const headings[COLUMNS] = {
	[COL_DEVEPOLL] = "/dev/epoll",
	[COL_SYSEPOLL] = "sys_epoll",
	[COL_POLL] = "poll",
	[COL_LIBRARY] = "library",
	[COL_FADVISE] = "calls",
	[COL_TRUSTED] = "trusted",
	[COL_FADVISE_LEVEL] = "calls",
	[COL_SYSEPOLL_LEVEL] = "sys_epoll",
	[COL_URING] = "io_uring",
	[COL_RING] = "ring",
	[COL_PRELOAD_RING] = "preload",
	[COL_TOLD] = "told",
	[COL_RING_TOLD] = "ring, told",
};

static const char * const keys[COLUMNS] = {
	[COL_DEVEPOLL] = "devepoll",
	[COL_SYSEPOLL] = "sysepoll",
	[COL_POLL] = "poll",
	[COL_LIBRARY] = "library",
	[COL_FADVISE] = "door",
	[COL_TRUSTED] = "trusted",
	[COL_FADVISE_LEVEL] = "door_level",
	[COL_SYSEPOLL_LEVEL] = "sysepoll_level",
	[COL_URING] = "uring",
	[COL_RING] = "ring",
	[COL_PRELOAD_RING] = "preload_ring",
	[COL_TOLD] = "told",
	[COL_RING_TOLD] = "ring_told",
};

/* Columns that are shown beside each other. */
struct table {
	const char *title;
	int nr;
	enum column cols[4];
	/* what the others are compared with */
	enum column theirs;
};

static const struct table tables[] = {
	{
		"The interface of 2001: by ioctl; waits by the library", 4,
		{ COL_DEVEPOLL, COL_LIBRARY, COL_SYSEPOLL, COL_POLL },
		COL_SYSEPOLL,
	}, {
		"The extended interface: epoll's calls, edge-triggered, on\n"
		"/dev/epoll; DEVEPOLL_TRUST, changes in batches, events mapped",
		3, { COL_FADVISE, COL_TRUSTED, COL_SYSEPOLL }, COL_SYSEPOLL,
	}, {
		"The extended interface: epoll's calls, level-triggered", 2,
		{ COL_FADVISE_LEVEL, COL_SYSEPOLL_LEVEL }, COL_SYSEPOLL_LEVEL,
	}, {
		"Multishot polls of io_uring", 2,
		{ COL_URING, COL_SYSEPOLL }, COL_SYSEPOLL,
	}, {
		"The ring: by the library; by the preload with DEVEPOLL_RING",
		3, { COL_RING, COL_PRELOAD_RING, COL_SYSEPOLL }, COL_SYSEPOLL,
	}, {
		"DEVEPOLL_TELL_CLOSED: trusted, and the ring by the library,\n"
		"with this flag and without",
		4, { COL_TOLD, COL_TRUSTED, COL_RING_TOLD, COL_RING },
		COL_SYSEPOLL,
	},
};

static const char *unit(void)
{
	return counter_is_exact() ? "instructions" : "ticks of the TSC";
}

static struct row *row_get(const char *group, const char *id, const char *name,
			   int number)
{
	struct row *row = &rows[nrows];
	int i;

	if (nrows == ROWS_MAX)
		errx(1, "more than %d rows", ROWS_MAX);
	i = snprintf(row->id, sizeof(row->id), "%s", section_prefix);
	snprintf(row->id + i, sizeof(row->id) - i, id, number);
	snprintf(row->name, sizeof(row->name), name, number);
	snprintf(row->group, sizeof(row->group), "%s%s", section_title, group);
	for (i = 0; i < nrows; i++)
		if (!strcmp(rows[i].id, row->id))
			return &rows[i];
	nrows++;
	return row;
}

void report_section(const char *prefix, const char *title)
{
	section_prefix = prefix;
	section_title = title;
}

void report_value(const char *group, const char *id, const char *name,
		  int number, enum column col, double value)
{
	struct row *row = row_get(group, id, name, number);

	row->known[col] = true;
	row->value[col] = value;
}

/* @theirs says in which column epoll's side is, if there is one. */
static bool is_ours(const struct table *table, enum column col)
{
	return col != table->theirs && col != COL_POLL;
}

/* A column without a figure is not shown. */
static bool column_used(enum column col)
{
	int i;

	for (i = 0; i < nrows; i++)
		if (rows[i].known[col])
			return true;
	return false;
}

static bool row_used(const struct table *table, const struct row *row)
{
	int i;

	for (i = 0; i < table->nr; i++)
		if (row->known[table->cols[i]])
			return true;
	return false;
}

static void print_gains(FILE *out, const struct table *table,
			const struct row *row)
{
	int i;

	for (i = 0; i < table->nr; i++) {
		enum column col = table->cols[i];

		if (is_ours(table, col) && row->known[col] &&
		    row->known[table->theirs])
			fprintf(out, " %7.2f", row->value[table->theirs] /
				row->value[col]);
	}
}

static void print_row(FILE *out, const struct table *table,
		      const struct row *row)
{
	int i;

	fprintf(out, "  %-38s", row->name);
	for (i = 0; i < table->nr; i++) {
		enum column col = table->cols[i];

		if (!column_used(col))
			continue;
		if (row->known[col])
			fprintf(out, " %10.0f", row->value[col]);
		else
			fprintf(out, " %10s", "-");
	}
	print_gains(out, table, row);
	fputc('\n', out);
}

/* Below its first row a group's rows follow, though they were made later. */
static void print_group(FILE *out, const struct table *table, int first)
{
	int i;

	for (i = 0; i < first; i++)
		if (row_used(table, &rows[i]) &&
		    !strcmp(rows[i].group, rows[first].group))
			return;
	fprintf(out, "%s\n", rows[first].group);
	for (i = first; i < nrows; i++)
		if (row_used(table, &rows[i]) &&
		    !strcmp(rows[i].group, rows[first].group))
			print_row(out, table, &rows[i]);
}

static void print_headings(FILE *out, const struct table *table)
{
	int i;

	fprintf(out, "%s\n\n%-40s", table->title, "");
	for (i = 0; i < table->nr; i++)
		if (column_used(table->cols[i]))
			fprintf(out, " %10s", headings[table->cols[i]]);
	for (i = 0; i < table->nr; i++)
		if (is_ours(table, table->cols[i]) &&
		    column_used(table->cols[i]))
			fprintf(out, " %7s", "gain");
	fputc('\n', out);
}

static void print_table(FILE *out, const struct table *table)
{
	int i;

	/* Epoll alone is shown once, edge- and level-triggered. */
	if (!column_used(table->cols[0]) && table != tables &&
	    (table->nr > 2 || !column_used(table->theirs)))
		return;
	print_headings(out, table);
	for (i = 0; i < nrows; i++)
		if (row_used(table, &rows[i]))
			print_group(out, table, i);
	fputc('\n', out);
}

void report_table(FILE *out)
{
	struct utsname uts;
	int i;

	uname(&uts);
	fprintf(out, "Linux %s, %s\n", uts.release, uts.version);
	fprintf(out, "In %s; medians of single calls, with the program's own\n",
		unit());
	fprintf(out, "part; %u for reading the counter are subtracted.\n\n",
		counter_overhead());
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		print_table(out, &tables[i]);
	fprintf(out, "gain: what sys_epoll costs, divided by what /dev/epoll costs\n");
}

void report_json(FILE *out)
{
	struct utsname uts;
	enum column col;
	int i;

	uname(&uts);
	fprintf(out, "{\n\t\"release\": \"%s\",\n\t\"version\": \"%s\",\n",
		uts.release, uts.version);
	fprintf(out, "\t\"unit\": \"%s\",\n\t\"overhead\": %u,\n",
		unit(), counter_overhead());
	fprintf(out, "\t\"costs\": {\n");
	for (i = 0; i < nrows; i++) {
		const char *comma = "";

		fprintf(out, "\t\t\"%s\": {", rows[i].id);
		for (col = 0; col < COLUMNS; col++) {
			if (!rows[i].known[col])
				continue;
			fprintf(out, "%s \"%s\": %.3f", comma, keys[col],
				rows[i].value[col]);
			comma = ",";
		}
		fprintf(out, " }%s\n", i + 1 < nrows ? "," : "");
	}
	fprintf(out, "\t}\n}\n");
}

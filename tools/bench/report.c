// SPDX-License-Identifier: GPL-2.0
/*
 * The figures, as a table for people and as JSON for programs.
 */
#include "report.h"

#include <err.h>
#include <string.h>
#include <sys/utsname.h>

#include "sample.h"

#define ROWS_MAX	64

struct row {
	const char *group;
	char id[32];
	char name[64];
	bool known[COLUMNS];
	double value[COLUMNS];
};

static struct row rows[ROWS_MAX];
static int nrows;

static const char * const headings[COLUMNS] = {
	[COL_DEVEPOLL] = "/dev/epoll",
	[COL_SYSEPOLL] = "sys_epoll",
	[COL_POLL] = "poll",
};

static const char * const keys[COLUMNS] = {
	[COL_DEVEPOLL] = "devepoll",
	[COL_SYSEPOLL] = "sysepoll",
	[COL_POLL] = "poll",
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
	snprintf(row->id, sizeof(row->id), id, number);
	snprintf(row->name, sizeof(row->name), name, number);
	row->group = group;
	for (i = 0; i < nrows; i++)
		if (!strcmp(rows[i].id, row->id))
			return &rows[i];
	nrows++;
	return row;
}

void report_value(const char *group, const char *id, const char *name,
		  int number, enum column col, double value)
{
	struct row *row = row_get(group, id, name, number);

	row->known[col] = true;
	row->value[col] = value;
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

static void print_row(FILE *out, const struct row *row)
{
	enum column col;

	fprintf(out, "  %-38s", row->name);
	for (col = 0; col < COLUMNS; col++) {
		if (!column_used(col))
			continue;
		if (row->known[col])
			fprintf(out, " %10.0f", row->value[col]);
		else
			fprintf(out, " %10s", "-");
	}
	if (row->known[COL_DEVEPOLL] && row->known[COL_SYSEPOLL])
		fprintf(out, " %8.2f", row->value[COL_SYSEPOLL] /
			row->value[COL_DEVEPOLL]);
	fputc('\n', out);
}

/* Below its first row a group's rows follow, though they were made later. */
static void print_group(FILE *out, int first)
{
	int i;

	for (i = 0; i < first; i++)
		if (!strcmp(rows[i].group, rows[first].group))
			return;
	fprintf(out, "%s\n", rows[first].group);
	for (i = first; i < nrows; i++)
		if (!strcmp(rows[i].group, rows[first].group))
			print_row(out, &rows[i]);
}

void report_table(FILE *out)
{
	struct utsname uts;
	enum column col;
	int i;

	uname(&uts);
	fprintf(out, "Linux %s, %s\n", uts.release, uts.version);
	fprintf(out, "In %s; medians of single calls, with the program's own\n",
		unit());
	fprintf(out, "part; %u for reading the counter are subtracted.\n\n",
		counter_overhead());
	fprintf(out, "%-40s", "");
	for (col = 0; col < COLUMNS; col++)
		if (column_used(col))
			fprintf(out, " %10s", headings[col]);
	fprintf(out, " %8s\n", "gain");
	for (i = 0; i < nrows; i++)
		print_group(out, i);
	fprintf(out, "\ngain: what sys_epoll costs, divided by what /dev/epoll costs\n");
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

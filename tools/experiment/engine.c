// SPDX-License-Identifier: GPL-2.0
/*
 * The table of engines.
 */
#include "engine.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Built where the headers that they need are there: see the Makefile. */
#pragma weak engine_onesig
#pragma weak engine_devpoll
#pragma weak engine_solaris

extern const struct engine engine_select, engine_poll, engine_rtsig;
extern const struct engine engine_onesig, engine_devpoll, engine_solaris;
extern const struct engine engine_devepoll, engine_extended;
extern const struct engine engine_sysepoll, engine_sysepoll_edge;
extern const struct engine engine_oct2002, engine_nov2002, engine_uring;

static struct engine_set *open_none(int maxfds, char why[ENGINE_WHY])
{
	(void)maxfds;
	engine_why(why, 0, "this build has no header for it");
	return NULL;
}

static const struct engine none_onesig = {
	.name = "onesig",
	.what = "one queued signal per fd",
	.open = open_none,
};

static const struct engine none_devpoll = {
	.name = "devpoll",
	.what = "/dev/poll of Provos and Lever, mapped results",
	.level = true,
	.open = open_none,
};

static const struct engine none_solaris = {
	.name = "solaris",
	.what = "/dev/poll of Solaris",
	.level = true,
	.open = open_none,
};

/* In the order of their years. */
static const struct engine_row {
	const struct engine *built;
	const struct engine *none;
} rows[] = {
	{ .built = &engine_select },
	{ .built = &engine_poll },
	{ .built = &engine_rtsig },
	{ .built = &engine_onesig, .none = &none_onesig },
	{ .built = &engine_devpoll, .none = &none_devpoll },
	{ .built = &engine_solaris, .none = &none_solaris },
	{ .built = &engine_devepoll },
	{ .built = &engine_oct2002 },
	{ .built = &engine_nov2002 },
	{ .built = &engine_sysepoll },
	{ .built = &engine_sysepoll_edge },
	{ .built = &engine_uring },
	{ .built = &engine_extended },
};

const struct engine *engine_at(int index)
{
	if (index < 0 || index >= (int)ARRAY_SIZE(rows))
		return NULL;
	return rows[index].built ? rows[index].built : rows[index].none;
}

const struct engine *engine_find(const char *name)
{
	const struct engine *engine;
	int i;

	for (i = 0; (engine = engine_at(i)); i++)
		if (!strcmp(engine->name, name))
			return engine;
	return NULL;
}

void engine_list(void)
{
	const struct engine *engine;
	char why[ENGINE_WHY];
	int i;

	for (i = 0; (engine = engine_at(i)); i++) {
		struct engine_set *set = engine->open(64, why);

		printf("%s\t%s\t%s\n", engine->name, set ? "yes" : "no",
		       set ? engine->what : why);
		if (set)
			engine->close(set);
	}
}

const struct engine *engine_choose(const char *name)
{
	const struct engine *engine = engine_find(name);

	if (!strcmp(name, "list")) {
		engine_list();
		exit(0);
	}
	if (!engine)
		errx(2, "no engine '%s': --engine list names them", name);
	return engine;
}

struct engine_set *engine_open(const struct engine *engine, int maxfds)
{
	char why[ENGINE_WHY] = "";
	struct engine_set *set = engine->open(maxfds, why);

	if (!set)
		errx(ENGINE_MISSING, "engine %s is missing: %s", engine->name,
		     why);
	return set;
}

void engine_why(char why[ENGINE_WHY], int err, const char *what)
{
	snprintf(why, ENGINE_WHY, "%s%s%s", what, err ? ": " : "",
		 err ? strerror(err) : "");
}

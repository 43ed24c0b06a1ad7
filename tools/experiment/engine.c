// SPDX-License-Identifier: GPL-2.0
/*
 * The table of engines.
 */
#include "engine.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

extern const struct engine engine_select, engine_poll, engine_rtsig;
extern const struct engine engine_onesig, engine_devpoll, engine_solaris;
extern const struct engine engine_devepoll, engine_extended;
extern const struct engine engine_sysepoll, engine_sysepoll_edge;
extern const struct engine engine_oct2002, engine_nov2002, engine_uring;

/* In the order of their years. */
static const struct engine *const engines[] = {
	&engine_select, &engine_poll, &engine_rtsig, &engine_onesig,
	&engine_devpoll, &engine_solaris, &engine_devepoll,
	&engine_oct2002, &engine_nov2002, &engine_sysepoll,
	&engine_sysepoll_edge, &engine_uring, &engine_extended,
};

const struct engine *engine_at(int index)
{
	if (index < 0 || index >= (int)ARRAY_SIZE(engines))
		return NULL;
	return engines[index];
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

struct engine_set *engine_give_up(struct engine_set *set, int fd,
				  char why[ENGINE_WHY], const char *what)
{
	engine_why(why, errno, what);
	if (fd >= 0)
		close(fd);
	free(set);
	return NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the files of devepoll(1) share.
 */
#ifndef DEVEPOLL_COMMAND_H
#define DEVEPOLL_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "report.h"

/*
 * Why the preload library is not in the program, by its file or, from
 * REACH_OTHER_ROOT on, by its process.
 */
enum reach {
	REACH_YES,
	REACH_STATIC,
	REACH_OTHER_BITS,
	REACH_OTHER_LIBC,
	REACH_PRIVILEGED,
	REACH_OTHER_ROOT,
	REACH_OTHER_ENVIRONMENT,
	REACH_UNKNOWN,
};

/**
 * struct seen - a look at a process that may have instances of epoll
 * @eventpolls: how many it had open at once
 * @reach: whether the library was in it
 */
struct seen {
	unsigned int eventpolls;
	enum reach reach;
};

/* What this machine has of the device, as devepoll(1) sees it. */
enum machine {
	MACHINE_HAS_NODE,
	MACHINE_HAS_MODULE,	/* but no node in this /dev */
	MACHINE_HAS_NOTHING,
};

/**
 * struct outcome - what devepoll(1) knows of the program that it ran
 * @name: the name of the program
 * @reach: whether the library can reach it
 * @seen: instances of epoll that the library may not know
 * @before: what there was of the device before the program ran
 * @in_background: processes of the program have outlived it
 * @report: what the library counted
 */
struct outcome {
	const char *name;
	enum reach reach;
	struct seen seen;
	enum machine before;
	bool in_background;
	const struct report *report;
};

#define WHY_OTHER_LIBC	"its C library is not glibc"

enum reach command_reach(const char *program);
bool command_has_module(void);
enum machine command_machine(void);
void command_look(int pid, struct seen *seen);
void command_report(FILE *out, const struct outcome *outcome);

#endif /* DEVEPOLL_COMMAND_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the files of devepoll(1) share.
 */
#ifndef DEVEPOLL_COMMAND_H
#define DEVEPOLL_COMMAND_H

#include <stdio.h>

#include "report.h"

/* Why the preload library can't be in the program, by its file alone. */
enum reach {
	REACH_YES,
	REACH_STATIC,
	REACH_OTHER_BITS,
	REACH_OTHER_LIBC,
	REACH_PRIVILEGED,
};

/**
 * struct outcome - what devepoll(1) knows of the program that it ran
 * @name: the name of the program
 * @reach: whether the library can reach it
 * @eventpolls: instances of epoll that it was seen to have open at once
 * @report: what the library counted
 */
struct outcome {
	const char *name;
	enum reach reach;
	unsigned int eventpolls;
	const struct report *report;
};

#define WHY_OTHER_LIBC	"its C library is not glibc"

enum reach command_reach(const char *program);
unsigned int command_count_eventpolls(int pid);
void command_report(FILE *out, const struct outcome *outcome);

#endif /* DEVEPOLL_COMMAND_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The report of devepoll(1), and what it is made of.
 */
#ifndef DEVEPOLL_OUTCOME_H
#define DEVEPOLL_OUTCOME_H

#include <stdbool.h>
#include <stdio.h>

#include "command/reach.h"
#include "report.h"

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

void command_report(FILE *out, const struct outcome *outcome);

#endif /* DEVEPOLL_OUTCOME_H */

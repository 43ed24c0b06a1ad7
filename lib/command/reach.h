/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What devepoll(1) finds out from outside.
 */
#ifndef DEVEPOLL_REACH_H
#define DEVEPOLL_REACH_H

#include <stdbool.h>

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

#define WHY_OTHER_LIBC	"its C library is not glibc"

enum reach command_reach(const char *program);
bool command_has_module(void);
enum machine command_machine(void);
void command_look(int pid, struct seen *seen);

#endif /* DEVEPOLL_REACH_H */

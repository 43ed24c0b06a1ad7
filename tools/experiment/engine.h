/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of operations for each mechanism of the experiment that reports which
 * of many fds are ready.
 */
#ifndef EXPERIMENT_ENGINE_H
#define EXPERIMENT_ENGINE_H

#include <poll.h>
#include <stdbool.h>

/* Room for the reason why an engine is missing, in bytes. */
#define ENGINE_WHY	160

struct engine_set;

/**
 * struct engine - a mechanism
 * @name: as ``--engine`` has it
 * @what: one line for people
 * @level: an fd is told again and again while it is ready; other engines tell
 *	an arrival once, so a program goes on until EAGAIN
 * @open: makes a set for fds whose numbers are below @maxfds; NULL where the
 *	kernel lacks the mechanism or refuses, and then says why in @why
 * @close: ends a set; the fds in it stay open
 * @add: adds an fd, with POLLIN, POLLOUT or both; what is ready on it already
 *	is told by the next wait
 * @change: gives an fd of the set other events; only an engine with @level is
 *	sure to tell what is ready already
 * @remove: takes an fd out, to be called before the fd is closed
 * @wait: sleeps until there are events, @timeout milliseconds at most, 0 not at
 *	all, -1 without limit
 *
 * @add, @change and @remove return 0 or a negative errno.  An engine may keep
 * changes back until the next wait, which then tells an fd that can't be
 * watched with POLLNVAL.
 *
 * @wait returns how many events there are, 0 also where it was woken for
 * nothing, or a negative errno; -EINTR after a signal.  Events are fd and
 * revents of struct pollfd, at an address that holds good until the next wait,
 * whatever is added, changed and removed meanwhile.  POLLERR and POLLHUP come
 * without being asked for.
 *
 * An event is a hint: it may be over by now, be told twice, or belong to a
 * closed fd of the same number.  So fds are non-blocking.
 *
 * A set belongs to the process and the thread that opened it.
 */
struct engine {
	const char *name;
	const char *what;
	bool level;

	struct engine_set *(*open)(int maxfds, char why[ENGINE_WHY]);
	void (*close)(struct engine_set *set);
	int (*add)(struct engine_set *set, int fd, short events);
	int (*change)(struct engine_set *set, int fd, short events);
	int (*remove)(struct engine_set *set, int fd);
	int (*wait)(struct engine_set *set, const struct pollfd **events,
		    int timeout);
};

/**
 * engine_find() - look an engine up
 * @name: its name
 *
 * Return: the engine, or NULL where there is none of that name.
 */
const struct engine *engine_find(const char *name);

/**
 * engine_at() - walk over all engines
 * @index: counted from 0
 *
 * An engine that this build lacks is among them; its open says so.
 *
 * Return: the engine, or NULL behind the last one.
 */
const struct engine *engine_at(int index);

/**
 * engine_list() - print all engines, one a line, and whether they work here
 *
 * Each line is the name, ``yes`` or ``no``, and what it is or why not, with
 * tabs between them.
 */
void engine_list(void);

/**
 * engine_choose() - what the option ``--engine`` does
 * @name: its argument
 *
 * Ends the program with a message where there is no such engine, and after the
 * list where the argument is ``list``.
 *
 * Return: the engine.
 */
const struct engine *engine_choose(const char *name);

/**
 * engine_open() - open a set, or end the program and say why not
 * @engine: the engine
 * @maxfds: all fds have numbers below
 *
 * The program's exit status is ENGINE_MISSING where the engine can't be used.
 *
 * Return: the set.
 */
struct engine_set *engine_open(const struct engine *engine, int maxfds);

/* The operations of an engine whose functions have the usual names. */
#define ENGINE_OPERATIONS						\
	.open = open_set,						\
	.close = close_set,						\
	.add = add,							\
	.change = change,						\
	.remove = remove_fd,						\
	.wait = wait_events

/* Exit status of a program whose engine the kernel or the build lacks. */
#define ENGINE_MISSING	4

/* For engines: fill in @why, with the meaning of @err where it is not 0. */
void engine_why(char why[ENGINE_WHY], int err, const char *what);
/* The same with errno; also frees @set and closes @fd, if there is one. */
struct engine_set *engine_give_up(struct engine_set *set, int fd,
				  char why[ENGINE_WHY], const char *what);

#endif /* EXPERIMENT_ENGINE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A side of the comparison: an implementation of epoll's calls.
 */
#ifndef EPDIFF_ENGINE_H
#define EPDIFF_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct devepoll_change;

/*
 * Ways to make a request of the device; other engines have only one.  The last
 * two wait into the same memory each time, so they are for one thread.
 */
enum { ENTRY_EPOLL_CTL = 2, ENTRY_MAPPED = 6, ENTRIES = 8 };

/**
 * struct engine - one side
 * @name: as --engine has it
 * @is_device: follows the device where epoll is meant to differ
 * @open: a new set; its number, or -1 with errno
 * @start: forget what belongs to an earlier world; may be NULL
 * @ctl: epoll_ctl(); 0 or -errno
 * @change: some changes in one call, or NULL if there is none; their results
 *	come back in them; the number that were tried, or -errno
 * @wait: epoll_wait(); the number of events, or -errno
 * @wait_raw: the same, for memory of the caller that may not be there
 * @change_wait: @change and @wait in one call, or NULL
 */
struct engine {
	const char *name;
	bool is_device;
	int (*open)(void);
	void (*start)(void);
	int (*ctl)(int set, int op, int fd, struct epoll_event *ev,
		   unsigned int entry);
	int (*change)(int set, struct devepoll_change *changes, int n,
		      unsigned int entry);
	int (*wait)(int set, struct epoll_event *out, int max, int ms,
		    unsigned int entry);
	int (*wait_raw)(int set, struct epoll_event *out, int max,
			unsigned int entry);
	int (*change_wait)(int set, struct devepoll_change *changes, int n,
			   struct epoll_event *out, int max,
			   unsigned int entry);
};

/**
 * engine_find() - the engine of a name
 * @name: "epoll", "device", or "faulty-" and a fault
 *
 * Return: the engine, or NULL
 */
const struct engine *engine_find(const char *name);

extern const struct engine engine_epoll;
extern const struct engine engine_device;

/* In-tree epoll with a fault each, which must be found. */
extern const struct engine engines_faulty[];
extern const int engines_faulty_nr;

#endif /* EPDIFF_ENGINE_H */

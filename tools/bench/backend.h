/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of operations for each way to watch many fds.
 */
#ifndef BENCH_BACKEND_H
#define BENCH_BACKEND_H

#include <stdbool.h>

struct set;

/*
 * The measurement contains what a program pays: filling in the arguments, the
 * call through the C library, and the reading of each event.
 */
struct backend {
	const char *name;
	/* An fd is ready again after a wait, until it is read. */
	bool level;
	/* A child of fork(2) can't take events of a set of its parent. */
	bool not_inherited;
	/* An fd that was closed has a last event. */
	bool tells_closed;

	/* A set for fds up to a number of @nfds; ends the program on failure */
	struct set *(*open)(int nfds);
	void (*close)(struct set *set);

	/*
	 * Add, change or remove @n fds, for reading, in one call if there is
	 * one.  False unless all of them took effect.
	 */
	bool (*add)(struct set *set, const int *fds, int n);
	bool (*modify)(struct set *set, const int *fds, int n);
	bool (*remove)(struct set *set, const int *fds, int n);

	/* Waits, and reads each event's fd and what happened */
	int (*wait)(struct set *set, int timeout);
};

/* The operations of a back end whose functions have the usual names. */
#define SET_OPERATIONS		\
	.open = set_open,	\
	.close = set_close,	\
	.add = set_add,		\
	.modify = set_modify,	\
	.remove = set_remove,	\
	.wait = set_wait

extern const struct backend backend_devepoll;
/* the same, waiting by the library's short entry */
extern const struct backend backend_library;
extern const struct backend backend_sysepoll;
extern const struct backend backend_sysepoll_level;
/* epoll's calls on the device, as a linked or preloaded program makes them */
extern const struct backend backend_fadvise;
extern const struct backend backend_fadvise_level;
/* multishot polls of io_uring; sets of it can't be shared with a child */
extern const struct backend backend_uring;
/* changes in batches, trusted edges, events in the mapping */
extern const struct backend backend_trusted;

/* the same with a ring, by the library and by the preload library */
extern const struct backend backend_ring;
extern const struct backend backend_preload_ring;

/* backend_trusted and backend_ring, with DEVEPOLL_TELL_CLOSED */
extern const struct backend backend_told;
extern const struct backend backend_ring_told;

/* Stands for what a program does with an event, which it has in registers. */
static inline void consume(int fd, unsigned int events)
{
	asm volatile("" : : "r" (fd), "r" (events));
}

#endif /* BENCH_BACKEND_H */

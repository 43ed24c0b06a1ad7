/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One table of operations over /dev/epoll and the kernel's epoll, so that a
 * test states a behaviour once and runs on both.
 *
 * Every operation returns -errno on failure.  Events are poll(2)'s bits.
 */
#ifndef SELFTESTS_BACKEND_H
#define SELFTESTS_BACKEND_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include <linux/devepoll.h>

struct backend;

/* An open set.  The mapping is /dev/epoll's alone. */
struct set {
	const struct backend *ops;
	int fd;
	char *map;
	size_t map_size;
	unsigned long resoff;	/* ep_resoff of the last wait */
};

/* Where the two behave differently, tests ask for a trait by name. */
enum trait {
	/* POLLERR and POLLHUP are reported even if not asked for */
	ADDS_ERR_AND_HUP	= 1 << 0,
	/* an event stays posted even if its cause goes before the wait */
	KEEPS_WHAT_WAS_POSTED	= 1 << 1,
	/* changing the events of an fd that is ready reports it */
	REPORTS_ON_CHANGE	= 1 << 2,
	/* removing a pending fd moves the last one into its place */
	MOVES_LAST_SLOT		= 1 << 3,
	/* the thread that has waited longest is woken first */
	WAKES_IN_ORDER		= 1 << 4,
	/* a set can watch another set */
	NESTS			= 1 << 5,
	/* removing an fd that is not in the set is no failure */
	REMOVES_WHAT_IS_GONE	= 1 << 6,
};

struct backend {
	const char *name;
	unsigned int traits;
	long wait_syscall;	/* where a waiter sleeps */

	/* @room fds fit at least */
	int (*open)(struct set *set, unsigned int room);
	int (*add)(struct set *set, int fd, short events);
	int (*change)(struct set *set, int fd, short events);
	int (*remove)(struct set *set, int fd);
	/* 1 if @fd is in the set, 0 if not */
	int (*has)(struct set *set, int fd);
	/* takes at most @room events, returns their number */
	int (*wait)(struct set *set, struct pollfd *out, int room, int ms);
	void (*close)(struct set *set);
};

extern const struct backend backend_devepoll;
extern const struct backend backend_sysepoll;

static inline bool has_trait(const struct set *set, enum trait trait)
{
	return set->ops->traits & trait;
}

static inline int set_open(struct set *set, const struct backend *ops,
			   unsigned int room)
{
	*set = (struct set){ .ops = ops, .fd = -1 };
	return ops->open(set, room);
}

static inline int set_add(struct set *set, int fd, short events)
{
	return set->ops->add(set, fd, events);
}

static inline int set_change(struct set *set, int fd, short events)
{
	return set->ops->change(set, fd, events);
}

static inline int set_remove(struct set *set, int fd)
{
	return set->ops->remove(set, fd);
}

static inline int set_has(struct set *set, int fd)
{
	return set->ops->has(set, fd);
}

static inline int set_wait(struct set *set, struct pollfd *out, int room,
			   int ms)
{
	return set->ops->wait(set, out, room, ms);
}

static inline void set_close(struct set *set)
{
	if (set->ops)
		set->ops->close(set);
}

/* The fd's event among @n of @out, 0 if it has none. */
short event_of(const struct pollfd *out, int n, int fd);

/* The event of the one fd that is ready now, or -errno: -ENOMSG if none is. */
int set_wait_one(struct set *set, int fd, int ms);

/* Takes all pending events; returns their number or -errno. */
int set_drain(struct set *set);

/* The calls of 2001 themselves; -errno on failure. */
int dep_open(void);
int dep_alloc(int fd, long n);
int dep_free(int fd);
int dep_ispolled(int fd, struct pollfd *pfd);
int dep_poll(int fd, struct evpoll *evp);
int dep_write(int fd, const struct pollfd *pfds, int n);
int dep_write_one(int fd, int member, short events);
char *dep_map(int fd, size_t size);

#define DEVEPOLL_VARIANT(fixture)					\
	FIXTURE_VARIANT(fixture) { const struct backend *ops; };	\
	FIXTURE_VARIANT_ADD(fixture, devepoll) {			\
		.ops = &backend_devepoll,				\
	}

#define SYSEPOLL_VARIANT(fixture)					\
	FIXTURE_VARIANT_ADD(fixture, sysepoll) {			\
		.ops = &backend_sysepoll,				\
	}

/* Both, for a fixture with other members than the usual one. */
#define BACKEND_VARIANTS(fixture)					\
	DEVEPOLL_VARIANT(fixture);					\
	SYSEPOLL_VARIANT(fixture)

/*
 * The usual fixture: a set with some room.  SET_FIXTURE() runs each test on
 * both back ends, DEVEPOLL_FIXTURE() on the device alone.
 */
#define SET_FIXTURE_BODY(fixture, room)					\
	FIXTURE_SETUP(fixture)						\
	{								\
		ASSERT_EQ(0, set_open(&self->set, variant->ops, room))	\
			TH_LOG("no %s here", variant->ops->name);	\
	}								\
	FIXTURE_TEARDOWN(fixture)					\
	{								\
		set_close(&self->set);					\
	}

#define DEVEPOLL_FIXTURE(fixture, room)					\
	FIXTURE(fixture) { struct set set; };				\
	DEVEPOLL_VARIANT(fixture);					\
	SET_FIXTURE_BODY(fixture, room)

#define SET_FIXTURE(fixture, room)					\
	DEVEPOLL_FIXTURE(fixture, room)					\
	SYSEPOLL_VARIANT(fixture);

#endif /* SELFTESTS_BACKEND_H */

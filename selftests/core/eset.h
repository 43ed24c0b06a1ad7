/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One table of operations over the extended interface of /dev/epoll and the
 * kernel's epoll, so that a test states a behaviour once and runs on both.
 * Every operation returns -errno on failure.  Events are epoll's bits; the data
 * of an fd is its number unless a test says otherwise.
 */
#ifndef SELFTESTS_ESET_H
#define SELFTESTS_ESET_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>

#include <linux/devepoll.h>

#include "core/helpers.h"

struct eset_ops;

/* An open set.  All but the first two are for waits into the mapping. */
struct eset {
	const struct eset_ops *ops;
	int fd;
	struct devepoll_event *map;
	atomic_uint *slots;	/* parts in use, shared with children */
};

/* Where the two behave differently, tests ask for a trait by name. */
enum eset_trait {
	/* a number's file is still reported after the number is closed */
	REPORTS_STALE		= 1 << 0,
	/* the one that has waited longest for an exclusive fd is woken first */
	TAKES_TURNS		= 1 << 1,
	/* an in-tree epoll can be a member */
	TAKES_EPOLL_IN		= 1 << 2,
	/* what a file reported that was not handed out is reported later */
	KEEPS_ANSWERS		= 1 << 3,
	/* an event of a file wakes all sets, whichever queue it came from */
	SHARES_QUEUES		= 1 << 4,
};

struct eset_ops {
	const char *name;
	unsigned int traits;
	/* where waiters sleep */
	long wait_syscall;
	long pwait2_syscall;

	int (*open)(struct eset *set);
	/* makes use of the fd of a set that came from elsewhere */
	int (*adopt)(struct eset *set, int fd);
	int (*ctl)(struct eset *set, int op, int fd, uint32_t events,
		   uint64_t data);
	int (*wait)(struct eset *set, struct epoll_event *out, int max, int ms);
	/* NULL as @timeout: no limit; as @mask: signals stay as they are */
	int (*pwait2)(struct eset *set, struct epoll_event *out, int max,
		      const struct timespec *timeout, const sigset_t *mask);
	void (*close)(struct eset *set);
};

extern const struct eset_ops eset_sysepoll;
/* by ioctl, with results in the program's own array */
extern const struct eset_ops eset_devepoll;
/* by fadvise, in epoll's own form */
extern const struct eset_ops eset_devepoll_fadvise;
/* with results in the device's mapping */
extern const struct eset_ops eset_devepoll_mapped;

static inline bool eset_has(const struct eset *set, enum eset_trait trait)
{
	return set->ops->traits & trait;
}

static inline int eset_open(struct eset *set, const struct eset_ops *ops)
{
	*set = (struct eset){ .ops = ops, .fd = -1 };
	return ops->open(set);
}

static inline int eset_adopt(struct eset *set, const struct eset_ops *ops,
			     int fd)
{
	*set = (struct eset){ .ops = ops, .fd = -1 };
	return ops->adopt(set, fd);
}

static inline void eset_close(struct eset *set)
{
	if (set->ops)
		set->ops->close(set);
}

/* Several sets. */
static inline int esets_open(struct eset *sets, int nr,
			     const struct eset_ops *ops)
{
	int i, ret = 0;

	for (i = 0; i < nr && !ret; i++)
		ret = eset_open(&sets[i], ops);
	return ret;
}

static inline void esets_close(struct eset *sets, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		eset_close(&sets[i]);
}

static inline int eset_ctl(struct eset *set, int op, int fd, uint32_t events,
			   uint64_t data)
{
	return set->ops->ctl(set, op, fd, events, data);
}

static inline int eset_add(struct eset *set, int fd, uint32_t events)
{
	return eset_ctl(set, EPOLL_CTL_ADD, fd, events, fd);
}

static inline int eset_mod(struct eset *set, int fd, uint32_t events)
{
	return eset_ctl(set, EPOLL_CTL_MOD, fd, events, fd);
}

static inline int eset_del(struct eset *set, int fd)
{
	return eset_ctl(set, EPOLL_CTL_DEL, fd, 0, 0);
}

/* Poisons @out first. */
int eset_wait(struct eset *set, struct epoll_event *out, int max, int ms);
int eset_pwait2(struct eset *set, struct epoll_event *out, int max,
		const struct timespec *timeout, const sigset_t *mask);

/* The events of the one fd that is ready, or -errno: -ENOMSG if none is. */
int eset_wait_one(struct eset *set, int fd, int ms);
/* How many are ready now, or -errno. */
int eset_drain(struct eset *set);
/* The events that came with this data, 0 if there were none. */
uint32_t events_of(const struct epoll_event *out, int n, uint64_t data);

/* A thread in one wait on a set. */
struct ewaiter {
	struct task task;
	struct eset set;
	int ms;
	int max;
	struct epoll_event out[WAITER_ROOM];
};

/* Starts it, and waits until it sleeps; 0 or -errno. */
int ewaiter_start(struct ewaiter *w, const struct eset *set, int ms);
/* Starts one that takes at most so many events and may return at once. */
int ewaiter_launch(struct ewaiter *w, const struct eset *set, int max, int ms);
/* What its wait returned, or -ETIMEDOUT. */
long ewaiter_join(struct ewaiter *w);
/* How many of them have returned? */
int ewaiters_done(struct ewaiter *w, int n);

/* The requests of the device themselves, 0 or more or -errno. */
int dep_request(int fd, unsigned long request, void *arg);
int dep_request_by_fadvise(int fd, unsigned long request, void *arg);
/* fadvise64(2), with its arguments as they are. */
int dep_fadvise(int fd, uint64_t offset, uint64_t length, unsigned int request);
int dep_epoll_ctl(int fd, int op, int member, struct epoll_event *event);
int dep_epoll_wait(int fd, struct epoll_event *out, int max, int ms);
/* DEVEPOLL_TAKE, @at bytes into the mapping. */
int dep_take(int fd, uint64_t at, unsigned int max, int ms);
/* One change by DEVEPOLL_CTL; its result. */
int dep_change(int fd, const struct devepoll_change *change);
/* Makes @nr changes; returns what DEVEPOLL_CTL returned, sets @failed. */
int dep_changes(int fd, struct devepoll_change *changes, unsigned int nr,
		uint32_t *failed);
/* How often the device has polled files for the set, or -errno. */
long count_asks(const struct eset *set);
/* DEVEPOLL_WAIT for what is ready within this many milliseconds. */
int dep_wait(int fd, struct devepoll_event *out, int max, int ms);
struct devepoll_event *dep_map_events(int fd, size_t size);

static inline uint64_t address_of(const volatile void *p)
{
	return (uintptr_t)p;
}

#define DEVICE_VARIANTS(fixture)					\
	FIXTURE_VARIANT(fixture) { const struct eset_ops *ops; };	\
	FIXTURE_VARIANT_ADD(fixture, devepoll) {			\
		.ops = &eset_devepoll,					\
	};								\
	FIXTURE_VARIANT_ADD(fixture, devepoll_fadvise) {		\
		.ops = &eset_devepoll_fadvise,				\
	};								\
	FIXTURE_VARIANT_ADD(fixture, devepoll_mapped) {			\
		.ops = &eset_devepoll_mapped,				\
	}

#define ESET_VARIANTS(fixture)						\
	DEVICE_VARIANTS(fixture);					\
	FIXTURE_VARIANT_ADD(fixture, sysepoll) {			\
		.ops = &eset_sysepoll,					\
	}

#define ESET_SETUP(fixture)						\
	FIXTURE_SETUP(fixture)						\
	{								\
		ASSERT_EQ(0, eset_open(&self->set, variant->ops))	\
			TH_LOG("no %s here", variant->ops->name);	\
	}								\
	FIXTURE_TEARDOWN(fixture)					\
	{								\
		eset_close(&self->set);					\
	}

/* The usual fixture: an empty set.  Each test runs on all back ends. */
#define ESET_FIXTURE(fixture)						\
	FIXTURE(fixture) { struct eset set; };				\
	ESET_VARIANTS(fixture);						\
	ESET_SETUP(fixture)

#endif /* SELFTESTS_ESET_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files whose ->poll() consumes the event that it reports: polled again, they
 * report nothing.
 */
#ifndef SELFTESTS_CONSUME_H
#define SELFTESTS_CONSUME_H

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "core/eset.h"
#include "core/filetype.h"

/* What happens to the file, and which events are asked for. */
struct consumer {
	const struct filetype *type;
	uint32_t events;
};

static const struct consumer
	consumer_mounts = { &filetype_mounts, EPOLLPRI },
	consumer_hostname = { &filetype_hostname, EPOLLPRI },
	consumer_pressure = { &filetype_pressure, EPOLLPRI },
	consumer_cgroup_pressure = { &filetype_cgroup_pressure, EPOLLPRI },
	consumer_perf = { &filetype_perf, EPOLLIN };

#define CONSUMER_MS	(30 * 1000)
/* What has happened is noticed in this time, or never. */
#define SOON_MS		(10 * 1000 * slowness())

/* In namespaces of its own, since host names are changed; 0 or -errno. */
static inline int consumer_open(const struct consumer *consumer,
				struct probe *probe)
{
	*probe = (struct probe) { .fd = -1, .peer = -1, .twin = -1 };
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -errno;
	return consumer->type->open(probe);
}

/* For a fixture. */
#define CONSUMER_OPEN() do {						\
	int __ret = consumer_open(variant->consumer, &self->probe);	\
									\
	if (__ret == -EOPNOTSUPP)					\
		SKIP(return, "this kernel has no such files");		\
	ASSERT_EQ(0, __ret);						\
} while (0)

static inline void consumer_close(const struct consumer *consumer,
				  struct probe *probe)
{
	if (consumer->type->close)
		consumer->type->close(probe);
	close(probe->fd);
	close(probe->twin);
}

/* Makes an event, which has come when this returns 0: the twin has one, too. */
static inline int consumer_make(const struct consumer *consumer,
				struct probe *probe)
{
	struct pollfd twin = { .fd = probe->twin, .events = consumer->events };
	int err = consumer->type->happenings[0].make(probe);

	if (err)
		return err;
	if (poll(&twin, 1, CONSUMER_MS * slowness()) != 1)
		return -ETIMEDOUT;
	if (consumer->type->calm)
		consumer->type->calm(probe);
	return 0;
}

/* What a wait told of @events; an error stays what it is. */
static inline int told_of(uint32_t events, int told)
{
	return told < 0 ? told : told & (int)events;
}

/* A page that nobody has touched. */
static inline void *untouched(int prot)
{
	void *page = mmap(NULL, getpagesize(), prot,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

/* A fixture with one of these files, in a set in one of two modes. */
#define CONSUMER(fixture, name)						\
	CONSUMER_IN(fixture, name, level, 0);				\
	CONSUMER_IN(fixture, name, edge, EPOLLET)
#define CONSUMER_IN(fixture, name, how, mode_)				\
	CONSUMER_BY(fixture, name, how, mode_, devepoll);		\
	CONSUMER_BY(fixture, name, how, mode_, devepoll_fadvise);	\
	CONSUMER_BY(fixture, name, how, mode_, sysepoll)
#define CONSUMER_BY(fixture, name, how, mode_, by)			\
	FIXTURE_VARIANT_ADD(fixture, name##_##how##_by_##by) {		\
		.consumer = &consumer_##name,				\
		.mode = mode_,						\
		.ops = &eset_##by,					\
	}

#endif /* SELFTESTS_CONSUME_H */

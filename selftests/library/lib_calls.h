/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One table over the C library's calls of epoll and libdevepoll's: a test
 * states once what a program for epoll relies on, and runs on both.  A
 * preloaded program runs the variant "epoll" on the device, too.
 */
#ifndef SELFTESTS_LIB_CALLS_H
#define SELFTESTS_LIB_CALLS_H

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "devepoll_epoll.h"
#include "core/fadvise_filter.h"
#include "core/helpers.h"

struct calls {
	int (*create)(int size);
	int (*create1)(int flags);
	int (*ctl)(int epfd, int op, int fd, struct epoll_event *event);
	int (*wait)(int epfd, struct epoll_event *events, int maxevents,
		    int timeout);
	int (*pwait)(int epfd, struct epoll_event *events, int maxevents,
		     int timeout, const sigset_t *sigmask);
	int (*pwait2)(int epfd, struct epoll_event *events, int maxevents,
		      const struct timespec *timeout, const sigset_t *sigmask);
};

static const struct calls epoll_calls = {
	.create = epoll_create,
	.create1 = epoll_create1,
	.ctl = epoll_ctl,
	.wait = epoll_wait,
	.pwait = epoll_pwait,
	.pwait2 = epoll_pwait2,
};

static const struct calls devepoll_calls = {
	.create = devepoll_epoll_create,
	.create1 = devepoll_epoll_create1,
	.ctl = devepoll_epoll_ctl,
	.wait = devepoll_epoll_wait,
	.pwait = devepoll_epoll_pwait,
	.pwait2 = devepoll_epoll_pwait2,
};

/* What a call returned, or -errno, and not that of an earlier call. */
#define result_of(call) ({						\
	long __ret;							\
									\
	errno = 0;							\
	__ret = (call);							\
	__ret == -1 ? -errno : __ret;					\
})

#define CALLS_VARIANTS(fixture)						\
	FIXTURE_VARIANT(fixture) {					\
		const struct calls *calls;				\
		int refused;						\
	};								\
	FIXTURE_VARIANT_ADD(fixture, epoll) {				\
		.calls = &epoll_calls,					\
	};								\
	FIXTURE_VARIANT_ADD(fixture, devepoll) {			\
		.calls = &devepoll_calls,				\
	};								\
	FIXTURE_VARIANT_ADD(fixture, devepoll_fadvise_eperm) {		\
		.calls = &devepoll_calls,				\
		.refused = EPERM,					\
	};								\
	FIXTURE_VARIANT_ADD(fixture, devepoll_fadvise_enosys) {		\
		.calls = &devepoll_calls,				\
		.refused = ENOSYS,					\
	}

/* The usual fixture: an empty set. */
#define CALLS_FIXTURE(fixture)						\
	FIXTURE(fixture) { int set; };					\
	CALLS_VARIANTS(fixture);					\
	FIXTURE_SETUP(fixture)						\
	{								\
		if (variant->refused) {					\
			ASSERT_EQ(0, refuse_fadvise(variant->refused)); \
		}							\
		self->set = variant->calls->create1(EPOLL_CLOEXEC);	\
		ASSERT_LE(0, self->set);				\
	}								\
	FIXTURE_TEARDOWN(fixture)					\
	{								\
		EXPECT_EQ(0, close(self->set));				\
	}

/* Two pages of memory, the second of which can't be touched. */
static inline char *page_before_a_hole(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *map;

	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || mprotect(map + page, page, PROT_NONE))
		return NULL;
	return map + page;
}

#endif /* SELFTESTS_LIB_CALLS_H */

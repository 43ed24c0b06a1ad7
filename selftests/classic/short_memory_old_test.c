// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of the 2001 interface and of /dev/poll whose memory ends after each
 * of its words: they fail with EFAULT, do nothing, lose no event, and work with
 * all of it.
 */
#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/helpers.h"
#include "core/short_memory.h"

#define SET_FDS	10
/* Of struct sun_dvpoll, whose last member DP_POLL does not look at. */
#define SUN_WORDS							\
	((int)(offsetof(struct sun_dvpoll, dp_setp) / sizeof(int)))

struct world {
	enum dp_face face;
	int set;
	int fd;
	struct pollfd out;
};

static bool is_fault(int ret)
{
	return ret == -EFAULT;
}

/* As many calls fail as there are words. */
#define EXPECT_SHORT(nr, ...)						\
	EXPECT_EQ(nr, short_memory_walk(&self->w,			\
					&(struct short_memory){ __VA_ARGS__ }))
#define WORDS(object)	((int)(sizeof(object) / sizeof(int)))

static int call_write(struct world *w, void *at)
{
	ssize_t ret = write(w->set, at, sizeof(struct pollfd));

	return ret < 0 ? -errno : ret;
}

FIXTURE(classic) {
	struct world w;
};

FIXTURE_SETUP(classic)
{
	struct world *w = &self->w;

	w->set = dep_open();
	ASSERT_LE(0, w->set) TH_LOG("no /dev/epoll here");
	ASSERT_EQ(0, dep_alloc(w->set, SET_FDS));
	ASSERT_NE(MAP_FAILED, dep_map(w->set, EP_MAP_SIZE(SET_FDS)));
	w->fd = eventfd_new();
	ASSERT_LE(0, w->fd);
}

FIXTURE_TEARDOWN(classic)
{
	close(self->w.set);
}

static bool classic_check_write(struct world *w, int ret)
{
	struct pollfd entry = { .fd = w->fd };

	if (ret != sizeof(entry) && !is_fault(ret))
		return false;
	if (dep_ispolled(w->set, &entry) != !is_fault(ret))
		return false;
	return is_fault(ret) ||
	       dep_write_one(w->set, w->fd, POLLREMOVE) == sizeof(entry);
}

static int classic_call_poll(struct world *w, void *at)
{
	int ret = ioctl(w->set, EP_POLL, at);

	return ret < 0 ? -errno : ret;
}

/* The event was taken, or it is still there. */
static bool classic_check_poll(struct world *w, int ret)
{
	struct evpoll evp = { .ep_timeout = 0 };

	if (ret != 1 && !is_fault(ret))
		return false;
	return dep_poll(w->set, &evp) == (ret == 1 ? 0 : 1) &&
	       !eventfd_post(w->fd);
}

static int classic_call_ispolled(struct world *w, void *at)
{
	return dep_ispolled(w->set, at);
}

static bool check_ispolled(struct world *w, int ret)
{
	(void)w;
	return ret == 1 || is_fault(ret);
}

TEST_F(classic, requests_with_short_memory_do_nothing)
{
	struct pollfd entry = { .fd = self->w.fd, .events = POLLIN };
	struct evpoll evp = { .ep_timeout = 0 };

	EXPECT_SHORT(WORDS(entry), &entry, sizeof(entry), PROT_NONE,
		     call_write, classic_check_write);
	ASSERT_EQ(8, dep_write_one(self->w.set, self->w.fd, POLLIN));
	ASSERT_EQ(0, eventfd_post(self->w.fd));
	EXPECT_SHORT(WORDS(evp), &evp, sizeof(evp), PROT_NONE,
		     classic_call_poll, classic_check_poll);
	/* The place of the results is written there, at the end. */
	EXPECT_SHORT(WORDS(evp), &evp, sizeof(evp), PROT_READ,
		     classic_call_poll, classic_check_poll);
	EXPECT_SHORT(WORDS(entry), &entry, sizeof(entry), PROT_NONE,
		     classic_call_ispolled, check_ispolled);
}

FIXTURE(devpoll) {
	struct world w;
};

FIXTURE_VARIANT(devpoll) {
	enum dp_face face;
};

FIXTURE_VARIANT_ADD(devpoll, linux) { .face = DP_LINUX };
FIXTURE_VARIANT_ADD(devpoll, solaris) { .face = DP_SOLARIS };

FIXTURE_SETUP(devpoll)
{
	struct world *w = &self->w;

	w->face = variant->face;
	w->set = dp_open();
	ASSERT_LE(0, w->set) TH_LOG("no /dev/poll here");
	w->fd = eventfd_new();
	ASSERT_LE(0, w->fd);
	ASSERT_EQ(0, dp_wait_one(w->face, w->set, -1, 0));
}

FIXTURE_TEARDOWN(devpoll)
{
	close(self->w.set);
}

static bool devpoll_check_write(struct world *w, int ret)
{
	const int size = sizeof(struct pollfd);

	if (ret != size && !is_fault(ret))
		return false;
	return dp_wait_one(w->face, w->set, w->fd, 0) ==
	       (ret == size ? POLLOUT : 0) &&
	       dp_set(w->set, w->fd, POLLREMOVE) == size;
}

static int devpoll_call_poll(struct world *w, void *at)
{
	return dp_ioctl(w->set, w->face == DP_LINUX ? DP_POLL :
			DP_SOLARIS_POLL, at);
}

static int devpoll_call_poll_into(struct world *w, void *at)
{
	return dp_wait(w->face, w->set, at, 1, 0);
}

static bool devpoll_check_poll(struct world *w, int ret)
{
	return (ret == 1 || is_fault(ret)) &&
	       dp_wait_one(w->face, w->set, w->fd, 0) == POLLOUT;
}

static int devpoll_call_ispolled(struct world *w, void *at)
{
	return dp_ispolled(w->face, w->set, at);
}

TEST_F(devpoll, requests_with_short_memory_do_nothing)
{
	struct pollfd entry = { .fd = self->w.fd, .events = POLLOUT };
	struct dvpoll dvp = { .dp_fds = &self->w.out, .dp_nfds = 1 };
	struct sun_dvpoll sun = { .dp_fds = &self->w.out, .dp_nfds = 1 };

	EXPECT_SHORT(WORDS(entry), &entry, sizeof(entry), PROT_NONE,
		     call_write, devpoll_check_write);
	ASSERT_EQ(8, dp_set(self->w.set, self->w.fd, POLLOUT));
	if (self->w.face == DP_LINUX) {
		EXPECT_SHORT(WORDS(dvp), &dvp, sizeof(dvp), PROT_NONE,
			     devpoll_call_poll, devpoll_check_poll);
	} else {
		EXPECT_SHORT(SUN_WORDS, &sun, sizeof(sun), PROT_NONE,
			     devpoll_call_poll, devpoll_check_poll);
	}
	EXPECT_SHORT(WORDS(entry), &entry, sizeof(entry), PROT_NONE,
		     devpoll_call_poll_into, devpoll_check_poll);
	EXPECT_SHORT(WORDS(entry), &entry, sizeof(entry), PROT_READ,
		     devpoll_call_poll_into, devpoll_check_poll);
	EXPECT_SHORT(WORDS(entry), &entry, sizeof(entry), PROT_NONE,
		     devpoll_call_ispolled, check_ispolled);
}

TEST_HARNESS_MAIN

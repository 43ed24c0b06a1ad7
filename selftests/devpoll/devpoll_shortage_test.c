// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation and every copy from or to user memory fails once, one after
 * the other, in each call of /dev/poll.  The set stays as it was, no event is
 * lost, and the call works the next time.
 *
 * Needs a kernel with fault injection.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/failnth.h"
#include "core/helpers.h"

#define EVENTS	2000	/* of a buffer of several pages */
#define NOT_OPEN	999

struct world {
	int fail_nth;
	enum dp_face face;
	int set;
	int fd;		/* is writable */
	void *map;
};

FIXTURE(devpoll_shortage) {
	struct world w;
};

FIXTURE_VARIANT(devpoll_shortage) {
	enum dp_face face;
};

FIXTURE_VARIANT_ADD(devpoll_shortage, linux) { .face = DP_LINUX };
FIXTURE_VARIANT_ADD(devpoll_shortage, solaris) { .face = DP_SOLARIS };

FIXTURE_SETUP(devpoll_shortage)
{
	struct world *w = &self->w;

	w->fail_nth = failnth_open();
	if (w->fail_nth == -ENOSYS)
		SKIP(return, "no fault injection in this kernel");
	w->face = variant->face;
	w->set = dp_open();
	ASSERT_LE(0, w->set);
	w->fd = eventfd_new();
	ASSERT_LE(0, w->fd);
	ASSERT_EQ(0, dp_wait_one(w->face, w->set, -1, 0));
}

FIXTURE_TEARDOWN(devpoll_shortage)
{
	if (self->w.fail_nth < 0)
		return;
	close(self->w.set);
	close(self->w.fd);
	close(self->w.fail_nth);
}

static bool is_clear(int ret, bool hit)
{
	return hit && (ret == -ENOMEM || ret == -EFAULT);
}

static int call_open(struct world *w)
{
	return dp_open();
}

static bool check_open(struct world *w, int ret, bool hit)
{
	return ret < 0 ? is_clear(ret, hit) : !close(ret);
}

TEST_F(devpoll_shortage, fails_an_open)
{
	EXPECT_LT(0, walk(&self->w, call_open, check_open));
}

static int call_add(struct world *w)
{
	return dp_set(w->set, w->fd, POLLOUT);
}

static bool check_add(struct world *w, int ret, bool hit)
{
	const int size = sizeof(struct pollfd);

	if (ret != size && !is_clear(ret, hit))
		return false;
	if (dp_wait_one(w->face, w->set, w->fd, 0) !=
	    (ret == size ? POLLOUT : 0))
		return false;
	return dp_set(w->set, w->fd, POLLOUT) == size &&
	       dp_set(w->set, w->fd, POLLREMOVE) == size;
}

TEST_F(devpoll_shortage, fails_an_add)
{
	EXPECT_LT(2, walk(&self->w, call_add, check_add));
}

static int call_bury(struct world *w)
{
	return dp_set(w->set, NOT_OPEN, POLLIN);
}

static bool check_bury(struct world *w, int ret, bool hit)
{
	const int size = sizeof(struct pollfd);

	if (ret != size && !is_clear(ret, hit))
		return false;
	if (dp_wait_one(w->face, w->set, NOT_OPEN, 0) !=
	    (ret == size ? POLLNVAL : 0))
		return false;
	return ret != size || dp_set(w->set, NOT_OPEN, POLLREMOVE) == size;
}

TEST_F(devpoll_shortage, fails_an_add_of_a_number_that_is_not_open)
{
	if (variant->face != DP_SOLARIS)
		SKIP(return, "only on Solaris such numbers stay");
	EXPECT_LT(0, walk(&self->w, call_bury, check_bury));
}

static int call_remove(struct world *w)
{
	return dp_set(w->set, w->fd, POLLREMOVE);
}

static bool check_remove(struct world *w, int ret, bool hit)
{
	const int size = sizeof(struct pollfd);

	if (ret != size && !(hit && ret == -EFAULT))
		return false;
	if (dp_wait_one(w->face, w->set, w->fd, 0) !=
	    (ret == size ? 0 : POLLOUT))
		return false;
	return dp_set(w->set, w->fd, POLLOUT) == size;
}

TEST_F(devpoll_shortage, fails_a_removal)
{
	ASSERT_EQ(sizeof(struct pollfd), call_add(&self->w));
	EXPECT_LT(0, walk(&self->w, call_remove, check_remove));
}

static int call_wait(struct world *w)
{
	struct pollfd out;
	int n = dp_wait(w->face, w->set, &out, 1, 0);

	return n == 1 && (out.fd != w->fd || out.revents != POLLOUT) ?
	       -EBADMSG : n;
}

static bool check_wait(struct world *w, int ret, bool hit)
{
	if (ret != 1 && !(hit && ret == -EFAULT))
		return false;
	return call_wait(w) == 1;
}

TEST_F(devpoll_shortage, fails_a_wait)
{
	ASSERT_EQ(sizeof(struct pollfd), call_add(&self->w));
	EXPECT_LT(0, walk(&self->w, call_wait, check_wait));
}

static int call_query(struct world *w)
{
	struct pollfd entry = { .fd = w->fd };

	return dp_ispolled(w->face, w->set, &entry);
}

static bool check_query(struct world *w, int ret, bool hit)
{
	return ret == 1 || (hit && ret == -EFAULT);
}

TEST_F(devpoll_shortage, fails_a_query)
{
	ASSERT_EQ(sizeof(struct pollfd), call_add(&self->w));
	EXPECT_LT(0, walk(&self->w, call_query, check_query));
}

static int call_alloc(struct world *w)
{
	return dp_ioctl(w->set, DP_ALLOC, (void *)EVENTS);
}

static int call_map(struct world *w)
{
	w->map = mmap(NULL, EVENTS * sizeof(struct pollfd) / 4096 * 4096 + 4096,
		      PROT_READ, MAP_SHARED, w->set, 0);
	return w->map == MAP_FAILED ? -errno : 0;
}

static bool unmap(struct world *w)
{
	return w->map == MAP_FAILED ||
	       !munmap(w->map, EVENTS * sizeof(struct pollfd) / 4096 * 4096 +
			       4096);
}

static bool check_alloc(struct world *w, int ret, bool hit)
{
	if (ret && !is_clear(ret, hit))
		return false;
	/* Nothing is there, or all of it. */
	if (dp_ioctl(w->set, DP_FREE, NULL) != (ret ? -EINVAL : 0))
		return false;
	return !call_alloc(w) && !call_map(w) && unmap(w) &&
	       !dp_ioctl(w->set, DP_FREE, NULL);
}

/* It can be freed, so it is not counted as mapped. */
static bool check_map(struct world *w, int ret, bool hit)
{
	if (ret && !is_clear(ret, hit))
		return false;
	return unmap(w) && !dp_ioctl(w->set, DP_FREE, NULL) && !call_alloc(w);
}

TEST_F(devpoll_shortage, fails_to_make_or_map_a_buffer)
{
	if (variant->face == DP_SOLARIS)
		SKIP(return, "the Solaris face has no buffer");
	EXPECT_LT(3, walk(&self->w, call_alloc, check_alloc));
	ASSERT_EQ(0, call_alloc(&self->w));
	EXPECT_LT(1, walk(&self->w, call_map, check_map));
}

TEST_HARNESS_MAIN

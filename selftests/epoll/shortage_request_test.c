// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation and every copy from or to user memory fails once, one after
 * the other, in the requests that change no fd: a wait into the mapping, a wait
 * with a signal mask, further opens, signal sets, what the module supports.
 *
 * Needs a kernel with fault injection.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/onesig.h"
#include "core/shortage.h"

static int call_wait_mapped(struct world *w)
{
	struct devepoll_wait_args args = {
		.max_events = 1,
		.flags = DEVEPOLL_WAIT_MAPPED,
	};

	return dep_request(w->set.fd, DEVEPOLL_WAIT, &args);
}

static int call_take(struct world *w)
{
	return dep_take(w->set.fd, 0, 1, 0);
}

static int call_wait_masked(struct world *w)
{
	struct devepoll_event out;
	uint64_t mask = 0;
	struct devepoll_wait_args args = {
		.events = address_of(&out),
		.max_events = 1,
		.sigmask = address_of(&mask),
		.sigsetsize = sizeof(mask),
	};

	return dep_request(w->set.fd, DEVEPOLL_WAIT, &args);
}

/* The event is taken or is still there. */
static bool check_wait(struct world *w, int ret, bool hit)
{
	if (ret != 1 && !(hit && ret == -EFAULT))
		return false;
	if (eset_wait_one(&w->set, w->event, 0) !=
	    (ret == 1 ? -ENOMSG : EPOLLOUT))
		return false;
	return !eset_mod(&w->set, w->event, EPOLLOUT | EPOLLONESHOT);
}

TEST_F(shortage, fails_no_wait_into_the_mapping)
{
	ASSERT_NE(MAP_FAILED, (void *)dep_map_events(self->w.set.fd,
						     getpagesize()));
	EXPECT_TRUE(spares(&self->w, call_wait_mapped, check_wait));
	EXPECT_TRUE(spares(&self->w, call_take, check_wait));
}

TEST_F(shortage, fails_a_wait_with_a_signal_mask)
{
	EXPECT_LT(0, walk(&self->w, call_wait_masked, check_wait));
}

static int call_reopen(struct world *w)
{
	return dep_request(w->set.fd, DEVEPOLL_REOPEN,
			   (void *)(O_RDWR | O_CLOEXEC));
}

/* Of eight opens that there may be, none is lost. */
static bool check_reopen(struct world *w, int ret, bool hit)
{
	if (ret < 0)
		return hit && ret == -ENOMEM;
	/* It is the same set. */
	return dep_epoll_ctl(ret, EPOLL_CTL_DEL, w->event, NULL) == 0 &&
	       !eset_add(&w->set, w->event, EPOLLOUT | EPOLLONESHOT) &&
	       !close(ret);
}

TEST_F(shortage, fails_a_further_open)
{
	int next = next_fd();

	ASSERT_LE(0, next);
	EXPECT_LT(2, walk(&self->w, call_reopen, check_reopen));
	EXPECT_EQ(next, next_fd());
}

static int call_new(struct world *w)
{
	return dep_request(w->set.fd, DEVEPOLL_NEW,
			   (void *)(O_RDWR | O_CLOEXEC));
}

static bool check_new(struct world *w, int ret, bool hit)
{
	if (ret < 0)
		return hit && ret == -ENOMEM;
	/* It is another set. */
	return dep_epoll_ctl(ret, EPOLL_CTL_DEL, w->event, NULL) == -ENOENT &&
	       !close(ret);
}

TEST_F(shortage, fails_a_new_set)
{
	int next = next_fd();

	ASSERT_LE(0, next);
	EXPECT_LT(2, walk(&self->w, call_new, check_new));
	EXPECT_EQ(next, next_fd());
}

static int call_features(struct world *w)
{
	struct devepoll_features features;

	return dep_request(w->set.fd, DEVEPOLL_FEATURES, &features);
}

static bool check_features(struct world *w, int ret, bool hit)
{
	return !ret || (hit && ret == -EFAULT);
}

TEST_F(shortage, fails_to_tell_features)
{
	EXPECT_LT(0, walk(&self->w, call_features, check_features));
}

static int call_signal(struct world *w)
{
	return onesig_begin(w->set.fd, ONESIG_SIGNAL, 0);
}

/* It can still become one, and works. */
static bool check_signal(struct world *w, int ret, bool hit)
{
	int set = w->set.fd;
	bool good;

	if (ret && (!is_clear(ret, hit) || call_signal(w)))
		return false;
	good = dep_write_one(set, w->fd, POLLOUT) == 8 &&
	       onesig_band(ONESIG_SIGNAL, w->fd) == POLLOUT;
	close(set);
	w->set.fd = dep_open();
	return good;
}

static bool block_signal(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, ONESIG_SIGNAL);
	return !sigprocmask(SIG_BLOCK, &mask, NULL);
}

TEST_F(shortage, fails_a_set_that_becomes_a_signal_set)
{
	ASSERT_TRUE(block_signal());
	close(self->w.set.fd);
	self->w.set.fd = dep_open();
	EXPECT_LT(1, walk(&self->w, call_signal, check_signal));
}

static int call_add_signal(struct world *w)
{
	return dep_write_one(w->set.fd, w->fd, POLLOUT);
}

static bool check_add_signal(struct world *w, int ret, bool hit)
{
	struct pollfd q = { .fd = w->fd };

	/* Without memory the entry is one that was not made. */
	if (ret != 8 && !(hit && (ret == 0 || ret == -EFAULT)))
		return false;
	if (ret == 8 && onesig_band(ONESIG_SIGNAL, w->fd) != POLLOUT)
		return false;
	return onesig_is_silent(ONESIG_SIGNAL) &&
	       dep_ispolled(w->set.fd, &q) == (ret == 8) &&
	       (ret != 8 || dep_write_one(w->set.fd, w->fd, POLLREMOVE) == 8);
}

TEST_F(shortage, fails_an_add_to_a_signal_set)
{
	close(self->w.set.fd);
	self->w.set.fd = onesig_open(ONESIG_SIGNAL, 0);
	ASSERT_LE(0, self->w.set.fd);
	EXPECT_LT(2, walk(&self->w, call_add_signal, check_add_signal));
}

TEST_HARNESS_MAIN

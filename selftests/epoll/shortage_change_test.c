// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation and every copy from or to user memory fails once, one after
 * the other, in a change.  It then fails with a clear errno, loses no event,
 * and works the next time.
 *
 * Needs a kernel with fault injection.
 */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/ring.h"
#include "core/shortage.h"

static int call_change(struct world *w)
{
	return eset_mod(&w->set, w->fd, EPOLLIN | EPOLLOUT);
}

static bool check_change(struct world *w, int ret, bool hit)
{
	int n;

	if (ret && !is_clear(ret, hit))
		return false;
	/* It asks for output after the change, and did not before. */
	n = eset_wait_one(&w->set, w->fd, 0);
	if (n != (ret ? -ENOMSG : EPOLLOUT))
		return false;
	return !eset_mod(&w->set, w->fd, EPOLLIN);
}

static int call_change_by_fadvise(struct world *w)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT, .data.u64 = w->fd,
	};

	return dep_epoll_ctl(w->set.fd, EPOLL_CTL_MOD, w->fd, &event);
}

/* It needs no memory.  What it copies is walked in short_memory_test. */
TEST_F(shortage, fails_no_change)
{
	ASSERT_EQ(1, eset_drain(&self->w.set));
	ASSERT_EQ(0, eset_add(&self->w.set, self->w.fd, EPOLLIN));
	EXPECT_TRUE(spares(&self->w, call_change, check_change));
	EXPECT_TRUE(spares(&self->w, call_change_by_fadvise, check_change));
}

static int call_remove(struct world *w)
{
	return eset_del(&w->set, w->fd);
}

static int call_remove_by_fadvise(struct world *w)
{
	return dep_epoll_ctl(w->set.fd, EPOLL_CTL_DEL, w->fd, NULL);
}

static bool check_remove(struct world *w, int ret, bool hit)
{
	return !ret && !eset_add(&w->set, w->fd, EPOLLIN);
}

TEST_F(shortage, fails_no_removal)
{
	ASSERT_EQ(0, eset_add(&self->w.set, self->w.fd, EPOLLIN));
	EXPECT_TRUE(spares(&self->w, call_remove, check_remove));
	EXPECT_TRUE(spares(&self->w, call_remove_by_fadvise, check_remove));
}

static int change_edge(struct world *w, unsigned int flags, int op,
		       uint32_t events)
{
	struct devepoll_change change = {
		.op = op,
		.flags = flags,
		.fd = w->fd,
		.events = events | EPOLLET | w->once,
		.data = w->fd,
	};

	return dep_change(w->set.fd, &change);
}

/* In the child, what the result of a change with the @n-th failure means. */
enum { CHANGED, NO_MEMORY, FAULT, MENDED, WRONG };

static int change_by_child(struct world *w, unsigned int flags, int n)
{
	pid_t pid = fork();
	int nth, ret;
	bool hit;

	if (pid)
		return reap(pid);
	nth = failnth_open();
	failnth_arm(nth, n);
	ret = change_edge(w, flags, DEVEPOLL_MOD, EPOLLIN | EPOLLPRI);
	hit = failnth_disarm(nth);
	if (!ret)
		_exit(hit ? MENDED : CHANGED);
	if (!is_clear(ret, hit))
		_exit(WRONG);
	_exit(ret == -ENOMEM ? NO_MEMORY : FAULT);
}

/*
 * A signalfd has a wait queue for each process that changes it, so a change by
 * a child takes memory.
 */
static void walk_change(struct __test_metadata *_metadata, struct world *w,
			unsigned int flags, bool taken)
{
	int n, result = MENDED, failed = 0;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &mask, NULL));
	ASSERT_EQ(0, raise(SIGUSR1));
	w->fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	ASSERT_LE(0, w->fd);

	for (n = 1; result != CHANGED && n < MOST_POINTS; n++) {
		ASSERT_EQ(0, change_edge(w, flags, DEVEPOLL_ADD, EPOLLIN));
		if (taken)
			ASSERT_EQ(EPOLLIN, eset_wait_one(&w->set, w->fd, 0));
		result = change_by_child(w, flags, n);
		ASSERT_LE(0, result);
		ASSERT_GT(WRONG, result);
		failed += result == NO_MEMORY;
		if (result == NO_MEMORY || (result == FAULT && !taken))
			EXPECT_EQ(EPOLLIN, eset_wait_one(&w->set, w->fd, 0))
				TH_LOG("failure %d", n);
		ASSERT_EQ(0, eset_del(&w->set, w->fd));
	}
	EXPECT_EQ(CHANGED, result);
	EXPECT_LT(0, failed);
}

TEST_F(shortage, of_a_change_keeps_what_a_trusted_file_was_told)
{
	ASSERT_EQ(1, eset_drain(&self->w.set));
	walk_change(_metadata, &self->w, DEVEPOLL_TRUST, false);
}

/* Wake-ups during the change were not evaluated, so it reports again. */
TEST_F(shortage, of_a_change_makes_the_file_be_asked)
{
	ASSERT_EQ(1, eset_drain(&self->w.set));
	walk_change(_metadata, &self->w, 0, true);
}

/* The change has withdrawn the event for which the fd was disabled. */
TEST_F(shortage, of_a_change_keeps_a_one_shot_event_that_was_in_the_ring)
{
	struct ring ring;

	ASSERT_EQ(0, ring_open(&ring, 1, NR));
	eset_close(&self->w.set);
	self->w.set = ring.set;
	self->w.once = EPOLLONESHOT;
	walk_change(_metadata, &self->w, DEVEPOLL_TRUST, false);
	ring_unmap(&ring);
}

TEST_HARNESS_MAIN

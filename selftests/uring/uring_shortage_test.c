// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation and every copy from or to user memory fails once, one after
 * the other, in an io_uring command that the kernel runs in the call.  No event
 * is lost, the set is as the completion says, and it works the next time.
 *
 * Needs a kernel with fault injection.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/shortage.h"
#include "uring/uring_ring.h"

#define DATA	77

static struct ring uring;

/*
 * What was submitted is done when the call returns, or was not taken: then the
 * error is of io_uring.  The completion is looked for without a call.
 */
static int do_command(int err)
{
	struct io_uring_cqe *there;
	int ret;

	if (err)
		return err;
	ret = io_uring_peek_cqe(&uring.uring, &there);
	if (ret)
		return ret == -EAGAIN ? -EINPROGRESS : ret;
	ret = there->user_data == DATA ? there->res : -EBADMSG;
	io_uring_cqe_seen(&uring.uring, there);
	return ret;
}

static int call_request(struct world *w, unsigned int request, void *args)
{
	return do_command(ring_request(&uring, w->set.fd, request, args, DATA));
}

/* Gives up what io_uring did not take; a ring is made for each call. */
static bool renew(void)
{
	ring_close(&uring);
	return !ring_open(&uring, &ring_plain);
}

static bool is_error(int ret, bool hit)
{
	return hit && (ret == -ENOMEM || ret == -EFAULT || ret == -EAGAIN);
}

static int call_wait(struct world *w)
{
	struct devepoll_event out;
	struct devepoll_wait_args args = wait_args(&out, 1, 0);
	int ret = call_request(w, DEVEPOLL_WAIT, &args);

	return ret == 1 && out.data != (uint64_t)w->event ? -EBADMSG : ret;
}

static bool check_wait(struct world *w, int ret, bool hit)
{
	if (ret != 1 && !is_error(ret, hit))
		return false;
	if (!renew() || eset_wait_one(&w->set, w->event, 0) !=
	    (ret == 1 ? -ENOMSG : EPOLLOUT))
		return false;
	return !eset_mod(&w->set, w->event, EPOLLOUT | EPOLLONESHOT);
}

TEST_F(shortage, fails_a_wait_by_command)
{
	ASSERT_EQ(0, ring_open(&uring, &ring_plain));
	EXPECT_LT(2, walk(&self->w, call_wait, check_wait));
	ring_close(&uring);
}

static int call_batch(struct world *w)
{
	struct devepoll_change change = CHANGE(ADD, w->fd, EPOLLIN);
	struct devepoll_ctl ctl = ctl_args(&change, 1);
	int ret = call_request(w, DEVEPOLL_CTL, &ctl);

	return ret == 1 ? change.result : ret;
}

static int call_change(struct world *w)
{
	struct io_uring_sqe *sqe;
	struct devepoll_event event = {
		.events = EPOLLIN, .fd = w->fd, .data = w->fd,
	};

	sqe = ring_prepare(&uring, w->set.fd, DEVEPOLL_EPOLL_CTL(DEVEPOLL_ADD),
			   NULL, DATA);
	if (!sqe)
		return -EBUSY;
	memcpy((char *)sqe + 48, &event, sizeof(event));
	return do_command(ring_submit(&uring));
}

static bool check_add(struct world *w, int ret, bool hit)
{
	if (ret && !is_error(ret, hit))
		return false;
	if (eset_del(&w->set, w->fd) != (ret ? -ENOENT : 0))
		return false;
	return renew() && !eset_add(&w->set, w->fd, EPOLLIN) &&
	       !eset_del(&w->set, w->fd);
}

TEST_F(shortage, fails_a_change_by_command)
{
	ASSERT_EQ(0, ring_open(&uring, &ring_plain));
	EXPECT_LT(3, walk(&self->w, call_batch, check_add));
	EXPECT_LT(2, walk(&self->w, call_change, check_add));
	ring_close(&uring);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections that are reset at once, by /dev/poll and by poll(2): POLLERR
 * is reported if there is an error, and what the program does between the call
 * and a result may consume the error, with either.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/helpers.h"

#define CONNECTIONS	47
#define ROUNDS		20

struct crowd;

/* Where results come from: at most one for each connection. */
struct source {
	int (*wait)(struct crowd *crowd, struct pollfd *out, int ms);
};

struct crowd {
	const struct source *source;
	int set;
	int far[CONNECTIONS];
	struct pollfd near[CONNECTIONS];	/* fd -1: done with */
	struct task resetter;
};

static int wait_linux(struct crowd *crowd, struct pollfd *out, int ms)
{
	return dp_wait(DP_LINUX, crowd->set, out, CONNECTIONS, ms);
}

static int wait_solaris(struct crowd *crowd, struct pollfd *out, int ms)
{
	return dp_wait(DP_SOLARIS, crowd->set, out, CONNECTIONS, ms);
}

static int wait_poll(struct crowd *crowd, struct pollfd *out, int ms)
{
	int i, found = 0;

	if (poll(crowd->near, CONNECTIONS, ms) < 0)
		return -errno;
	for (i = 0; i < CONNECTIONS; i++)
		if (crowd->near[i].revents)
			out[found++] = crowd->near[i];
	return found;
}

static int crowd_open(struct crowd *crowd)
{
	const struct linger linger = { .l_onoff = 1 };
	int fds[2], i;

	crowd->set = dp_open();
	for (i = 0; i < CONNECTIONS; i++) {
		if (tcp_pair(fds) ||
		    setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &linger,
			       sizeof(linger)) ||
		    dp_set(crowd->set, fds[0], POLLIN) != 8)
			return -EIO;
		crowd->near[i] = (struct pollfd) {
			.fd = fds[0], .events = POLLIN,
		};
		crowd->far[i] = fds[1];
	}
	return 0;
}

static void crowd_close(struct crowd *crowd)
{
	int i;

	for (i = 0; i < CONNECTIONS; i++)
		if (crowd->near[i].fd >= 0)
			close(crowd->near[i].fd);
	close(crowd->set);
}

static long crowd_reset(void *arg)
{
	struct crowd *crowd = arg;
	int i;

	for (i = 0; i < CONNECTIONS; i++)
		close(crowd->far[i]);
	return 0;
}

/* The error of a socket, which this takes from it. */
static int take_error(int fd)
{
	socklen_t size = sizeof(int);
	int error = -1;

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	return error;
}

/* A reset may be delivered a moment later, by a thread of the kernel. */
static bool crowd_is_reset(struct crowd *crowd)
{
	int i;

	for (i = 0; i < CONNECTIONS; i++) {
		if (!(poll_now(crowd->near[i].fd, POLLIN) & POLLERR))
			return false;
	}
	return true;
}

static void crowd_drop(struct crowd *crowd, int fd)
{
	int i;

	dp_set(crowd->set, fd, POLLREMOVE);
	for (i = 0; i < CONNECTIONS; i++) {
		if (crowd->near[i].fd == fd) {
			crowd->near[i].fd = -1;
			close(fd);
		}
	}
}

FIXTURE(reset) {
	struct crowd crowd;
};

FIXTURE_VARIANT(reset) {
	const struct source source;
};

FIXTURE_VARIANT_ADD(reset, linux) { .source = { wait_linux } };
FIXTURE_VARIANT_ADD(reset, solaris) { .source = { wait_solaris } };
FIXTURE_VARIANT_ADD(reset, poll) { .source = { wait_poll } };

FIXTURE_SETUP(reset)
{
	self->crowd.source = &variant->source;
}

FIXTURE_TEARDOWN(reset)
{
}

/* While others are being reset, right after the call. */
TEST_F(reset, error_that_is_reported_is_there)
{
	struct pollfd out[CONNECTIONS];
	struct crowd *crowd = &self->crowd;
	int round, i, n, left;

	for (round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, crowd_open(crowd));
		ASSERT_EQ(0, task_start(&crowd->resetter, crowd_reset, crowd));
		for (left = CONNECTIONS; left; left -= n) {
			memset(out, 0xa5, sizeof(out));
			n = crowd->source->wait(crowd, out, 10000);
			ASSERT_LT(0, n);
			for (i = 0; i < n; i++) {
				ASSERT_TRUE(out[i].revents & POLLERR);
				ASSERT_TRUE(poll_now(out[i].fd, POLLIN) &
					    POLLERR);
				ASSERT_EQ(ECONNRESET, take_error(out[i].fd));
				/* What was taken is not reported again. */
				ASSERT_FALSE(poll_now(out[i].fd, POLLIN) &
					     POLLERR);
				crowd_drop(crowd, out[i].fd);
			}
		}
		ASSERT_EQ(0, task_join(&crowd->resetter));
		crowd_close(crowd);
	}
}

TEST_F(reset, error_that_was_taken_is_reported_no_more)
{
	struct pollfd out[CONNECTIONS];
	struct crowd *crowd = &self->crowd;
	int i;

	ASSERT_EQ(0, crowd_open(crowd));
	ASSERT_EQ(0, crowd_reset(crowd));
	ASSERT_TRUE(await(crowd_is_reset(crowd)));
	for (i = 0; i < CONNECTIONS; i++)
		ASSERT_EQ(ECONNRESET, take_error(crowd->near[i].fd));
	ASSERT_EQ(CONNECTIONS, crowd->source->wait(crowd, out, 0));
	for (i = 0; i < CONNECTIONS; i++)
		EXPECT_FALSE(out[i].revents & POLLERR);
	crowd_close(crowd);
}

/*
 * A chat server tells all others that one has gone.  The send to those that
 * were reset fails too, and consumes the error that their result reports.
 */
TEST_F(reset, error_may_be_taken_before_its_result_is_looked_at)
{
	struct pollfd out[CONNECTIONS];
	struct crowd *crowd = &self->crowd;
	int i, j, without = 0;

	ASSERT_EQ(0, crowd_open(crowd));
	ASSERT_EQ(0, crowd_reset(crowd));
	ASSERT_TRUE(await(crowd_is_reset(crowd)));
	ASSERT_EQ(CONNECTIONS, crowd->source->wait(crowd, out, 0));
	for (i = 0; i < CONNECTIONS; i++) {
		ASSERT_TRUE(out[i].revents & POLLERR);
		without += !take_error(out[i].fd);
		for (j = i + 1; j < CONNECTIONS; j++)
			send(out[j].fd, "gone", 4, MSG_NOSIGNAL);
	}
	EXPECT_EQ(CONNECTIONS - 1, without);
	crowd_close(crowd);
}

TEST_HARNESS_MAIN

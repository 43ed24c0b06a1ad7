// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/poll compared with poll(2): after each of many random steps, both report
 * the same for every fd.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/helpers.h"

#define PAIRS	24
#define STEPS	1500

/*
 * One pair; fds[0] is watched, at a number that nothing else gets, and an
 * eventfd is changed directly.
 */
#define FIRST_NUMBER 200

struct watched {
	int number;
	int fds[2];
	int stirred;
	bool open;
	bool member;
	short events;
};

static uint32_t rng_state;

static uint32_t rng(uint32_t below)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 17;
	rng_state ^= rng_state << 5;
	return rng_state % below;
}

static short random_events(void)
{
	const short bits[] = {
		POLLIN, POLLOUT, POLLPRI, POLLRDNORM, POLLWRNORM, POLLRDHUP,
	};
	short events = 0;
	size_t i;

	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		events |= rng(3) ? 0 : bits[i];
	return events;
}

static int watched_open(struct watched *w)
{
	bool event = false;
	int err;

	switch (rng(4)) {
	case 0:
		err = pipe_pair(w->fds);
		break;
	case 1:
		err = unix_pair(w->fds, SOCK_DGRAM);
		break;
	case 2:
		w->fds[0] = eventfd_new();
		w->fds[1] = eventfd_new();
		event = true;
		err = w->fds[1] < 0 ? w->fds[1] : 0;
		break;
	default:
		err = unix_pair(w->fds, SOCK_STREAM);
		break;
	}
	if (err || dup2(w->fds[0], w->number) != w->number)
		return -1;
	close(w->fds[0]);
	w->fds[0] = w->number;
	w->stirred = w->fds[!event];
	w->open = true;
	w->member = false;
	w->events = 0;
	return 0;
}

/* Whatever fails changes nothing in either. */
static void watched_stir(struct watched *w)
{
	char buffer[64] = "12345678";

	switch (rng(7)) {
	case 0:
	case 1:
		if (write(w->stirred, buffer, 8) < 0)
			break;
		break;
	case 2:
	case 3:
		if (read(w->fds[0], buffer, sizeof(buffer)) < 0)
			break;
		break;
	case 4:
		fill(w->fds[0]);
		break;
	case 5:
		empty(w->fds[1]);
		break;
	case 6:
		shutdown(w->fds[1], rng(2) ? SHUT_WR : SHUT_RDWR);
		break;
	}
}

static int watched_write(struct watched *w, enum dp_face face, int fd)
{
	short events = random_events();

	if (!rng(4)) {
		w->member = false;
		w->events = 0;
		return dp_set(fd, w->fds[0], POLLREMOVE) != 8;
	}
	if (!w->open && face == DP_LINUX)
		return dp_set(fd, w->fds[0], events) != 8;
	w->events = face == DP_SOLARIS ? w->events | events : events;
	w->member = true;
	return dp_set(fd, w->fds[0], events) != 8;
}

/* A number that was closed is taken out of the set before it comes again. */
static int watched_close(struct watched *w, enum dp_face face, int fd)
{
	if (w->open) {
		close(w->fds[0]);
		w->open = false;
		if (face == DP_LINUX)
			w->member = false;
		return 0;
	}
	if (dp_set(fd, w->fds[0], POLLREMOVE) != 8)
		return 1;
	close(w->fds[1]);
	return watched_open(w);
}

static int step(struct watched *w, enum dp_face face, int fd)
{
	uint32_t choice = rng(16);

	if (choice < 8) {
		if (w->open)
			watched_stir(w);
		return 0;
	}
	return choice < 15 ? watched_write(w, face, fd) :
			     watched_close(w, face, fd);
}

/* The fd for which they report different events, or -1. */
static int differing(struct watched *all, enum dp_face face, int fd)
{
	struct pollfd want[PAIRS], got[2 * PAIRS];
	int i, j, n;

	n = dp_wait(face, fd, got, 2 * PAIRS, 0);
	if (n < 0)
		return n;
	for (i = 0; i < PAIRS; i++) {
		want[i].fd = all[i].member ? all[i].fds[0] : -1;
		want[i].events = all[i].events;
		want[i].revents = 0;
	}
	if (poll(want, PAIRS, 0) < 0)
		return -errno;
	for (i = 0; i < PAIRS; i++) {
		int times = 0, events = 0;

		for (j = 0; j < n; j++) {
			if (got[j].fd != all[i].fds[0])
				continue;
			times++;
			events = got[j].revents;
			if (got[j].events != all[i].events)
				return all[i].fds[0];
		}
		if (times != !!want[i].revents || events != want[i].revents) {
			printf("# fd %d: poll %#x, device %#x, %d times\n",
			       all[i].fds[0], want[i].revents, events, times);
			return all[i].fds[0];
		}
	}
	return -1;
}

FIXTURE(oracle) {
	struct watched all[PAIRS];
	int fd;
};

FIXTURE_VARIANT(oracle) {
	enum dp_face face;
};

FIXTURE_VARIANT_ADD(oracle, linux) { .face = DP_LINUX };
FIXTURE_VARIANT_ADD(oracle, solaris) { .face = DP_SOLARIS };

FIXTURE_SETUP(oracle)
{
	const char *seed = getenv("SEED");
	int i;

	rng_state = seed ? strtoul(seed, NULL, 0) : now_ns() | 1;
	TH_LOG("SEED=%u", rng_state);
	/* Ends of pipes are closed while their other ends are written. */
	ASSERT_TRUE(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	ASSERT_LE(0, (self->fd = dp_open()));
	for (i = 0; i < PAIRS; i++) {
		self->all[i].number = FIRST_NUMBER + i;
		ASSERT_EQ(0, watched_open(&self->all[i]));
	}
}

FIXTURE_TEARDOWN(oracle)
{
	int i;

	for (i = 0; i < PAIRS; i++) {
		if (self->all[i].open)
			close(self->all[i].fds[0]);
		close(self->all[i].fds[1]);
	}
	EXPECT_EQ(0, close(self->fd));
}

TEST_F_TIMEOUT(oracle, poll_says_the_same, TEST_SECONDS)
{
	int i, reported = 0;

	for (i = 0; i < STEPS; i++) {
		struct pollfd some[1];

		ASSERT_EQ(0, step(&self->all[rng(PAIRS)], variant->face,
				  self->fd));
		ASSERT_EQ(-1, differing(self->all, variant->face, self->fd))
			TH_LOG("step %d", i);
		reported += dp_wait(variant->face, self->fd, some, 1, 0);
	}
	/* They must have agreed on something. */
	EXPECT_LT(STEPS / 4, reported);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation and every copy from user memory fails once, one after the
 * other, in a write that adds files of each kind.  It then gives a short count.
 *
 * Needs a kernel with fault injection.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "classic/fault_world.h"

FIXTURE(fault_add) {
	struct world w;
};

enum member { EVENTFD, PIPE, FIFO, PTY, UNIX, SIGNALFD };

FIXTURE_VARIANT(fault_add) {
	enum member member;
};

FIXTURE_VARIANT_ADD(fault_add, eventfd) { .member = EVENTFD };
FIXTURE_VARIANT_ADD(fault_add, pipe) { .member = PIPE };
FIXTURE_VARIANT_ADD(fault_add, fifo_with_two_wait_queues) { .member = FIFO };
FIXTURE_VARIANT_ADD(fault_add, pty_with_two_wait_queues) { .member = PTY };
FIXTURE_VARIANT_ADD(fault_add, unix_socket) { .member = UNIX };
FIXTURE_VARIANT_ADD(fault_add, signalfd) { .member = SIGNALFD };

static int member_fifo(void)
{
	const char *path = "/tmp/devepoll-fault-fifo";
	int fd;

	unlink(path);
	if (mkfifo(path, 0600))
		return -errno;
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	unlink(path);
	return fd;
}

static int member_make(enum member member, int fds[2])
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	fds[1] = -1;
	switch (member) {
	case EVENTFD:
		fds[0] = eventfd_new();
		break;
	case PIPE:
		return pipe_pair(fds);
	case FIFO:
		fds[0] = member_fifo();
		break;
	case PTY:
		fds[0] = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
		break;
	case UNIX:
		return unix_pair(fds, SOCK_STREAM);
	case SIGNALFD:
		sigprocmask(SIG_BLOCK, &mask, NULL);
		fds[0] = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
		break;
	}
	return fds[0] < 0 ? -errno : 0;
}

FIXTURE_SETUP(fault_add)
{
	struct world *w = &self->w;
	int i, err = world_open(w);

	if (err == -ENOSYS)
		SKIP(return, "no fault injection in this kernel");
	ASSERT_EQ(0, err);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, member_make(variant->member, w->files[i]));
		w->nfiles++;
	}
}

FIXTURE_TEARDOWN(fault_add)
{
	struct world *w = &self->w;
	int i;

	for (i = 0; i < w->nfiles; i++) {
		close(w->files[i][0]);
		close(w->files[i][1]);
	}
	world_close(w);
}

#define WANTED	(POLLIN | POLLOUT | POLLHUP | POLLERR)

static int call_add(struct world *w)
{
	struct pollfd batch[3];
	int i;

	for (i = 0; i < 3; i++) {
		batch[i] = (struct pollfd){
			.fd = w->files[i][0], .events = WANTED,
		};
	}
	return dep_write(w->set, batch, 3);
}

/* What did not take effect is not there, and works the next time. */
static bool check_add(struct world *w, int ret, bool hit)
{
	struct evpoll evp = { .ep_timeout = 0 };
	int i, there = 0, ready = 0;

	if (ret < 0 ? !out_of_memory(ret) : ret % 8)
		return false;
	if (ret != 24 && !hit)
		return false;
	for (i = 0; i < 3; i++) {
		struct pollfd q = { .fd = w->files[i][0] };

		there += dep_ispolled(w->set, &q);
	}
	if (there != (ret < 0 ? 0 : ret / 8))
		return false;
	for (i = 0; i < 3; i++) {
		int fd = w->files[i][0];

		if (dep_write_one(w->set, fd, WANTED) != 8)
			return false;
		ready += poll_now(fd, WANTED) != 0;
	}
	if (dep_poll(w->set, &evp) != ready)
		return false;
	for (i = 0; i < 3; i++) {
		if (dep_write_one(w->set, w->files[i][0], POLLREMOVE) != 8)
			return false;
	}
	return true;
}

TEST_F(fault_add, failed_entry_gives_a_short_count)
{
	EXPECT_LT(3, walk(&self->w, call_add, check_add));
}

TEST_HARNESS_MAIN

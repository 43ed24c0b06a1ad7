// SPDX-License-Identifier: GPL-2.0
/*
 * DEVEPOLL_CHANGE(), the short form of a DEVEPOLL_CTL with one change: it says
 * and does the same, whatever the change.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "core/request.h"

/* DEVEPOLL_CHANGE() of what stands in a change; 0 or -errno. */
static int change_one(int set, const struct devepoll_change *ch)
{
	struct epoll_event event = {
		.events = ch->events,
		.data.u64 = ch->data,
	};

	return dep_fadvise(set,
			   ch->op == DEVEPOLL_DEL ? 0 : address_of(&event),
			   DEVEPOLL_CHANGE_LEN(ch->fd, ch->flags),
			   DEVEPOLL_CHANGE(ch->op));
}

/* The same by DEVEPOLL_CTL. */
static int change_long(int set, struct devepoll_change ch)
{
	struct devepoll_ctl ctl = ctl_args(&ch, 1);
	int ret = dep_request(set, DEVEPOLL_CTL, &ctl);

	return ret < 0 ? ret : ch.result;
}

#define MEMBERS	4

FIXTURE(change) {
	int set;
	int other;
	int fds[MEMBERS];
};

FIXTURE_SETUP(change)
{
	int i;

	self->set = dep_open();
	self->other = dep_open();
	ASSERT_LE(0, self->set) TH_LOG("no /dev/epoll here");
	for (i = 0; i < MEMBERS; i++) {
		self->fds[i] = eventfd_new();
		ASSERT_LE(0, self->fds[i]);
	}
}

FIXTURE_TEARDOWN(change)
{
	int i;

	for (i = 0; i < MEMBERS; i++)
		close(self->fds[i]);
	close(self->other);
	close(self->set);
}

/* What both sets report, in the same order; how many, or -EPROTO. */
static int wait_for_both(int set, int other)
{
	struct devepoll_event out[16], same[16];
	int i, n = dep_wait(set, out, 16, 0);

	if (n != dep_wait(other, same, 16, 0))
		return -EPROTO;
	for (i = 0; i < n; i++) {
		if (out[i].data != same[i].data || out[i].fd != same[i].fd ||
		    out[i].events != same[i].events)
			return -EPROTO;
	}
	return n;
}

TEST_F(change, does_what_the_long_form_does)
{
	static const uint32_t events[] = {
		EPOLLIN, EPOLLIN | EPOLLET, EPOLLIN | EPOLLONESHOT, EPOLLOUT,
		EPOLLIN | EPOLLET | EPOLLONESHOT, EPOLLIN | EPOLLWAKEUP,
		EPOLLIN | EPOLLEXCLUSIVE, 0, EPOLLERR | EPOLLHUP, EPOLLRDHUP,
		EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT, 1U << 26, UINT32_MAX,
		EPOLLIN | EPOLLET | 1U << 16,
	};
	static const uint16_t flags[] = {
		0, 0, 0, DEVEPOLL_TRUST, DEVEPOLL_TELL_CLOSED,
		DEVEPOLL_TRUST | DEVEPOLL_TELL_CLOSED, 4, 0x8000, UINT16_MAX,
	};
	const int bad_fds[] = {
		-1, next_fd(), self->set, INT32_MAX, INT32_MIN,
		open("/", O_RDONLY | O_CLOEXEC),
	};
	struct devepoll_change ch;
	int i, fd, want, made = 0, seen = 0;

	srandom(1);
	for (i = 0; i < 3000; i++) {
		fd = random() % 8 ? self->fds[random() % MEMBERS] :
				    bad_fds[random() % ARRAY_SIZE(bad_fds)];
		ch = (struct devepoll_change) {
			.op = 1 + random() % 3,
			.flags = flags[random() % ARRAY_SIZE(flags)],
			.fd = fd,
			.events = events[random() % ARRAY_SIZE(events)],
			.data = ((uint64_t)random() << 32) | random(),
		};
		if (ch.op == DEVEPOLL_DEL) {
			ch.events = 0;
			ch.data = 0;
			ch.flags = random() % 8 ? 0 : ch.flags;
		}
		want = change_long(self->set, ch);
		/* The other set is another file, too. */
		if (ch.fd == self->set)
			ch.fd = self->other;
		ASSERT_EQ(want, change_one(self->other, &ch))
			TH_LOG("%d: op %u flags %#x fd %d events %#x", i, ch.op,
			       ch.flags, ch.fd, ch.events);
		made += !want;
		if (random() % 4 == 0)
			ASSERT_EQ(0, eventfd_post(self->fds[random() %
							    MEMBERS]));
		want = wait_for_both(self->set, self->other);
		ASSERT_LE(0, want) TH_LOG("step %d", i);
		seen += want;
	}
	TH_LOG("%d of %d changes were made, %d events came", made, i, seen);
	EXPECT_LT(300, made);
	EXPECT_LT(100, seen);
}

/* Does the set know who may have events of fds that tell of their close? */
static bool knows_readers(int set)
{
	char path[64], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", set);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, "held:", 5);
	if (file)
		fclose(file);
	return found;
}

TEST_F(change, tells_of_the_close)
{
	struct devepoll_change other = CHANGE(ADD, self->fds[1], EPOLLIN);
	struct devepoll_change ch = CHANGE(ADD, self->fds[0], EPOLLIN);
	struct devepoll_event out[2];

	/* The first use of a set goes another way. */
	ASSERT_EQ(0, change_one(self->set, &other));
	EXPECT_FALSE(knows_readers(self->set));
	ch.flags = DEVEPOLL_TELL_CLOSED;
	ASSERT_EQ(0, change_one(self->set, &ch));
	EXPECT_TRUE(knows_readers(self->set));
	close(self->fds[0]);
	EXPECT_EQ(1, dep_wait(self->set, out, 2, 0));
	EXPECT_EQ(DEVEPOLL_CLOSED, out[0].events);
	EXPECT_EQ(ch.data, out[0].data);
	self->fds[0] = eventfd_new();
}

#define ONE(op, address, length)					\
	dep_fadvise(self->set, (uintptr_t)(address), length,		\
		    DEVEPOLL_CHANGE(DEVEPOLL_##op))

TEST_F(change, refuses_what_it_can_not_read_or_would_cut_off)
{
	struct epoll_event event = { .events = EPOLLIN };
	const uint64_t fd = self->fds[0];
	int bit;

	EXPECT_EQ(-EFAULT, ONE(ADD, 8, fd));
	EXPECT_EQ(-EFAULT, ONE(ADD, NULL, fd));
	EXPECT_EQ(-EFAULT, ONE(MOD, 8, fd));
	EXPECT_EQ(-EINVAL, ONE(DEL, &event, fd));
	for (bit = 32; bit < 64; bit++) {
		if (bit == 32)
			continue;
		EXPECT_EQ(-EINVAL, ONE(ADD, &event, fd | 1ULL << bit))
			TH_LOG("bit %d", bit);
		EXPECT_EQ(-EINVAL, ONE(DEL, NULL, fd | 1ULL << bit))
			TH_LOG("bit %d", bit);
	}
	EXPECT_EQ(-EINVAL, ONE(DEL, NULL, fd | 1ULL << 32));
	EXPECT_EQ(-ENOENT, ONE(DEL, NULL, fd));
	EXPECT_EQ(0, ONE(ADD, &event, fd));
	EXPECT_EQ(0, ONE(DEL, NULL, fd));
}

TEST_F(change, is_no_ioctl)
{
	struct epoll_event event = { .events = EPOLLIN };

	EXPECT_EQ(-1, ioctl(self->set, DEVEPOLL_CHANGE(DEVEPOLL_ADD), &event));
	EXPECT_EQ(ENOTTY, errno);
}

TEST_F(change, needs_an_open_for_writing)
{
	struct devepoll_change ch = CHANGE(ADD, self->fds[0], EPOLLIN);
	int reader, writer;

	ASSERT_EQ(0, change_one(self->set, &ch));
	reader = dep_request(self->set, DEVEPOLL_REOPEN,
			     (void *)(uintptr_t)O_RDONLY);
	writer = dep_request(self->set, DEVEPOLL_REOPEN,
			     (void *)(uintptr_t)O_WRONLY);
	ASSERT_LE(0, reader);
	ASSERT_LE(0, writer);
	for (ch.op = DEVEPOLL_ADD; ch.op <= DEVEPOLL_MOD; ch.op++)
		EXPECT_EQ(-EBADF, change_one(reader, &ch));
	ch.op = DEVEPOLL_DEL;
	EXPECT_EQ(0, change_one(writer, &ch));
	close(writer);
	close(reader);
}

TEST_F(change, refuses_sets_of_2001_and_no_signal_sets)
{
	struct devepoll_change ch = CHANGE(ADD, self->fds[0],
					   EPOLLIN | EPOLLET);
	struct devepoll_signal signal = { .signo = SIGRTMIN };

	ASSERT_EQ(0, ioctl(self->set, EP_ALLOC, 8));
	EXPECT_EQ(-EBUSY, change_one(self->set, &ch));
	ASSERT_EQ(0, dep_request(self->other, DEVEPOLL_SIGNAL, &signal));
	EXPECT_EQ(0, change_one(self->other, &ch));
	ch.fd = self->fds[1];
	ch.flags = DEVEPOLL_TELL_CLOSED;
	EXPECT_EQ(-EINVAL, change_one(self->other, &ch));
}

/* A first use that fails decides nothing. */
TEST_F(change, that_fails_leaves_a_set_without_an_interface)
{
	struct devepoll_change ch = CHANGE(ADD, -1, EPOLLIN);

	EXPECT_EQ(-EBADF, change_one(self->set, &ch));
	ch.flags = 4;
	EXPECT_EQ(-EINVAL, change_one(self->set, &ch));
	ch.op = DEVEPOLL_DEL;
	ch.flags = 0;
	EXPECT_GT(0, change_one(self->set, &ch));
	EXPECT_EQ(0, ioctl(self->set, EP_ALLOC, 8));
}

TEST_HARNESS_MAIN

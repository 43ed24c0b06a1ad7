// SPDX-License-Identifier: GPL-2.0
/*
 * Who only waits changes nothing: a wait by an open for reading takes events,
 * and no fd leaves the set or gets another owner by it.  The process that added
 * the fd is gone, and its file is open in two others.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"
#include "core/stranger.h"

#define NUMBER	60	/* names the file in all processes */
#define DATA	4711

FIXTURE(reader) {
	struct eset set;
	struct eset reader;	/* the same set; of epoll, the same open */
	int kept;		/* the file */
	struct stranger other;
};

FIXTURE_VARIANT(reader) {
	const struct eset_ops *ops;
	uint32_t flags;
};

FIXTURE_VARIANT_ADD(reader, devepoll) {
	.ops = &eset_devepoll,
};

FIXTURE_VARIANT_ADD(reader, devepoll_fadvise) {
	.ops = &eset_devepoll_fadvise,
};

FIXTURE_VARIANT_ADD(reader, devepoll_tells) {
	.ops = &eset_devepoll,
	.flags = DEVEPOLL_TELL_CLOSED,
};

FIXTURE_VARIANT_ADD(reader, sysepoll) {
	.ops = &eset_sysepoll,
};

static int add_number(struct eset *set, uint32_t flags)
{
	const struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = flags,
		.fd = NUMBER,
		.events = EPOLLIN,
		.data = DATA,
	};

	if (eset_has(set, REPORTS_STALE))
		return eset_ctl(set, EPOLL_CTL_ADD, NUMBER, EPOLLIN, DATA);
	return dep_change(set->fd, &change);
}

static int act(void *arg, const struct order *order)
{
	struct eset *set = arg;

	if (order->verb == STRANGER_ADD)
		return add_number(set, order->events);
	return eset_ctl(set, order->verb, order->number, order->events,
			order->data);
}

static int open_reader(struct eset *reader, struct eset *set)
{
	int fd = set->fd;

	if (!eset_has(set, REPORTS_STALE))
		fd = dep_request(fd, DEVEPOLL_REOPEN,
				 (void *)(O_RDONLY | O_CLOEXEC));
	return fd < 0 ? fd : eset_adopt(reader, set->ops, fd);
}

FIXTURE_SETUP(reader)
{
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	ASSERT_EQ(0, open_reader(&self->reader, &self->set));
	ASSERT_EQ(0, name_file(NUMBER, eventfd_new()));
	self->kept = fcntl(NUMBER, F_DUPFD_CLOEXEC, 100);
	ASSERT_LE(100, self->kept);
	ASSERT_EQ(0, stranger_start(&self->other, act, &self->set));
}

FIXTURE_TEARDOWN(reader)
{
	EXPECT_EQ(0, stranger_end(&self->other));
	eset_close(&self->set);
}

/* Lets a process add the fd, and end. */
#define ADD_BY_ONE_THAT_ENDS() do {					\
	struct stranger owner;						\
									\
	ASSERT_EQ(0, stranger_start(&owner, act, &self->set));		\
	ASSERT_EQ(0, stranger_does(&owner, STRANGER_ADD, NUMBER,	\
				   variant->flags, DATA));		\
	ASSERT_EQ(0, stranger_end(&owner));				\
} while (0)

/* It is in the set, for the other process. */
#define EXPECT_IT_STAYS() do {						\
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->reader, DATA, 0));	\
	EXPECT_EQ(0, stranger_does(&self->other, STRANGER_MOD, NUMBER,	\
				   EPOLLIN, DATA));			\
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->reader, DATA, 0));	\
} while (0)

TEST_F(reader, does_not_become_the_owner)
{
	ADD_BY_ONE_THAT_ENDS();
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->reader, DATA, 0));
	ASSERT_EQ(0, close(NUMBER));
	EXPECT_IT_STAYS();
}

/* By the full open, which may change the set. */
TEST_F(reader, or_whoever_polls_the_set_does_not_become_the_owner)
{
	ADD_BY_ONE_THAT_ENDS();
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(POLLIN, poll_now(self->set.fd, POLLIN));
	ASSERT_EQ(0, close(NUMBER));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, DATA, 0));
	EXPECT_IT_STAYS();
}

TEST_F(reader, or_whoever_waits_for_an_outer_set_does_not_become_the_owner)
{
	struct eset outer;

	ADD_BY_ONE_THAT_ENDS();
	ASSERT_EQ(0, eset_open(&outer, variant->ops));
	ASSERT_EQ(0, eset_add(&outer, self->set.fd, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&outer, self->set.fd, 0));
	ASSERT_EQ(0, close(NUMBER));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&outer, self->set.fd, 0));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, DATA, 0));
	EXPECT_IT_STAYS();
	eset_close(&outer);
}

/* The owner itself removes nothing by it. */
TEST_F(reader, removes_nothing_of_its_own)
{
	bool stale = eset_has(&self->set, REPORTS_STALE);

	ASSERT_EQ(0, add_number(&self->set, variant->flags));
	ASSERT_EQ(0, eventfd_post(self->kept));
	ASSERT_EQ(0, close(NUMBER));
	EXPECT_EQ(POLLIN, poll_now(self->reader.fd, POLLIN));
	EXPECT_IT_STAYS();
	/* By the other open it does. */
	EXPECT_EQ(stale ? EPOLLIN : -ENOMSG,
		  eset_wait_one(&self->set, variant->flags ? 0 : DATA, 0));
	EXPECT_EQ(stale ? 0 : -ENOENT,
		  stranger_does(&self->other, STRANGER_MOD, NUMBER, EPOLLIN,
				DATA));
}

/* With write access, a process that has the file goes on in its place. */
TEST_F(reader, leaves_the_place_to_one_that_may_write)
{
	bool stale = eset_has(&self->set, REPORTS_STALE);
	uint32_t last = variant->flags ? DEVEPOLL_CLOSED : -ENOMSG;

	ADD_BY_ONE_THAT_ENDS();
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, DATA, 0));
	ASSERT_EQ(0, close(NUMBER));
	EXPECT_EQ(stale ? EPOLLIN : last,
		  eset_wait_one(&self->set, DATA, 0));
}

TEST_HARNESS_MAIN

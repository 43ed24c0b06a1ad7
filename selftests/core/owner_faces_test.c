// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes share a set of 2001, of /dev/poll, or a signal set: neither
 * takes out what the other has added.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/onesig.h"
#include "core/stranger.h"

#define NUMBER	60	/* names another file in each process */

static int act_classic(void *arg, const struct order *order)
{
	struct set *set = arg;

	switch (order->verb) {
	case STRANGER_ADD:
		return set_add(set, order->number, order->events);
	case STRANGER_DEL:
		return set_remove(set, order->number);
	case STRANGER_HAS:
		return set_has(set, order->number);
	}
	return -EINVAL;
}

FIXTURE(classic) {
	struct set set;
	int kept;
	struct stranger other;
};

BACKEND_VARIANTS(classic);

FIXTURE_SETUP(classic)
{
	ASSERT_EQ(0, set_open(&self->set, variant->ops, 16));
	ASSERT_EQ(0, stranger_start(&self->other, act_classic, &self->set));
	ASSERT_EQ(0, name_file(NUMBER, eventfd_new()));
	self->kept = fcntl(NUMBER, F_DUPFD_CLOEXEC, 100);
	ASSERT_EQ(0, set_add(&self->set, NUMBER, POLLIN));
}

FIXTURE_TEARDOWN(classic)
{
	EXPECT_EQ(0, stranger_end(&self->other));
	set_close(&self->set);
}

#define THEY(verb, events)						\
	stranger_does(&self->other, STRANGER_##verb, NUMBER, events, 0)

/* What a removal returns if there is nothing to remove. */
#define NOTHING(error)							\
	(has_trait(&self->set, REMOVES_WHAT_IS_GONE) ? 0 : (error))

#define EXPECT_OURS_STAYS() do {					\
	ASSERT_EQ(0, eventfd_post(self->kept));				\
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, NUMBER, 0));		\
	ASSERT_EQ(0, eventfd_take(self->kept));				\
} while (0)

TEST_F(classic, set_keeps_what_a_stranger_removes_by_a_closed_number)
{
	EXPECT_EQ(NOTHING(-EBADF), THEY(DEL, 0));
	EXPECT_OURS_STAYS();
	EXPECT_EQ(NOTHING(-EBADF), THEY(ADD, POLLIN));
	EXPECT_OURS_STAYS();
	if (has_trait(&self->set, REMOVES_WHAT_IS_GONE))
		EXPECT_EQ(0, THEY(HAS, 0));
	EXPECT_EQ(1, set_has(&self->set, NUMBER));
}

TEST_F(classic, set_keeps_what_a_stranger_removes_by_a_number_of_another_file)
{
	ASSERT_EQ(0, THEY(NAME, 0));
	EXPECT_EQ(NOTHING(-ENOENT), THEY(DEL, 0));
	EXPECT_OURS_STAYS();
	EXPECT_EQ(0, set_remove(&self->set, NUMBER));
	EXPECT_EQ(0, set_has(&self->set, NUMBER));
}

TEST_F(classic, set_watches_a_file_of_each_under_one_number)
{
	struct pollfd out[4];

	ASSERT_EQ(0, THEY(NAME, 0));
	ASSERT_EQ(0, THEY(ADD, POLLIN));
	EXPECT_EQ(1, THEY(HAS, 0));
	EXPECT_OURS_STAYS();
	ASSERT_EQ(0, THEY(POST, 0));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, NUMBER, 0));
	ASSERT_EQ(0, THEY(POST, 0));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(2, set_wait(&self->set, out, 4, 0));
	EXPECT_EQ(NUMBER, out[0].fd);
	EXPECT_EQ(NUMBER, out[1].fd);
	ASSERT_EQ(0, eventfd_take(self->kept));
	/* Removed with its event pending: the other's stays. */
	ASSERT_EQ(0, eventfd_post(self->kept));
	ASSERT_EQ(0, THEY(DEL, 0));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, NUMBER, 0));
	/* epoll's fdinfo shows the items of all processes. */
	if (has_trait(&self->set, REMOVES_WHAT_IS_GONE))
		EXPECT_EQ(0, THEY(HAS, 0));
	EXPECT_EQ(0, set_remove(&self->set, NUMBER));
	EXPECT_EQ(0, set_has(&self->set, NUMBER));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(classic, set_loses_what_its_owner_removes_after_the_close)
{
	if (!has_trait(&self->set, REMOVES_WHAT_IS_GONE))
		SKIP(return, "epoll removes nothing by a closed number");
	ASSERT_EQ(0, THEY(NAME, 0));
	ASSERT_EQ(0, THEY(ADD, POLLIN));
	ASSERT_EQ(0, close(NUMBER));
	EXPECT_EQ(0, set_remove(&self->set, NUMBER));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(0, set_drain(&self->set));
	ASSERT_EQ(0, THEY(POST, 0));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, NUMBER, 0));
}

TEST_F(classic, set_loses_what_a_child_removes_that_has_the_file)
{
	ASSERT_EQ(0, stranger_give(&self->other, NUMBER, self->kept));
	EXPECT_EQ(0, THEY(DEL, 0));
	EXPECT_EQ(0, set_has(&self->set, NUMBER));
}

#undef THEY
#undef EXPECT_OURS_STAYS

static int act_devpoll(void *arg, const struct order *order)
{
	int *fd = arg;

	return dp_set(*fd, order->number, order->events) == 8 ? 0 : -EPROTO;
}

FIXTURE(devpoll) {
	int fd;
	int kept;
	struct stranger other;
};

FIXTURE_VARIANT(devpoll) {
	enum dp_face face;
};

FIXTURE_VARIANT_ADD(devpoll, linux) { .face = DP_LINUX };
FIXTURE_VARIANT_ADD(devpoll, solaris) { .face = DP_SOLARIS };

FIXTURE_SETUP(devpoll)
{
	self->fd = dp_open();
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(0, dp_wait_one(variant->face, self->fd, 0, 0));
	ASSERT_EQ(0, stranger_start(&self->other, act_devpoll, &self->fd));
	ASSERT_EQ(0, name_file(NUMBER, eventfd_new()));
	self->kept = fcntl(NUMBER, F_DUPFD_CLOEXEC, 100);
	ASSERT_EQ(8, dp_set(self->fd, NUMBER, POLLIN));
}

FIXTURE_TEARDOWN(devpoll)
{
	EXPECT_EQ(0, stranger_end(&self->other));
	EXPECT_EQ(0, close(self->fd));
}

#define THEY_SET(events)						\
	stranger_does(&self->other, STRANGER_ADD, NUMBER, events, 0)

TEST_F(devpoll, set_keeps_what_a_stranger_removes)
{
	EXPECT_EQ(0, THEY_SET(POLLREMOVE));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(POLLIN, dp_wait_one(variant->face, self->fd, NUMBER, 0));
	ASSERT_EQ(0, stranger_does(&self->other, STRANGER_NAME, NUMBER, 0, 0));
	EXPECT_EQ(0, THEY_SET(POLLREMOVE));
	EXPECT_EQ(POLLIN, dp_wait_one(variant->face, self->fd, NUMBER, 0));
	EXPECT_EQ(8, dp_set(self->fd, NUMBER, POLLREMOVE));
	EXPECT_EQ(0, dp_wait_one(variant->face, self->fd, NUMBER, 0));
}

TEST_F(devpoll, set_watches_a_file_of_each_under_one_number)
{
	struct pollfd out[4];

	ASSERT_EQ(0, stranger_does(&self->other, STRANGER_NAME, NUMBER, 0, 0));
	EXPECT_EQ(0, THEY_SET(POLLIN));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(POLLIN, dp_wait_one(variant->face, self->fd, NUMBER, 0));
	ASSERT_EQ(0, stranger_does(&self->other, STRANGER_POST, NUMBER, 0, 0));
	EXPECT_EQ(2, dp_wait(variant->face, self->fd, out, 4, 0));
	EXPECT_EQ(8, dp_set(self->fd, NUMBER, POLLREMOVE));
	EXPECT_EQ(POLLIN, dp_wait_one(variant->face, self->fd, NUMBER, 0));
	EXPECT_EQ(0, THEY_SET(POLLREMOVE));
	EXPECT_EQ(0, dp_wait_one(variant->face, self->fd, NUMBER, 0));
}

TEST_F(devpoll, set_keeps_what_a_stranger_writes_while_it_is_not_open)
{
	struct pollfd out[4];
	int ours, n;

	/* In the Solaris face it is reported as not valid, too. */
	EXPECT_EQ(0, THEY_SET(POLLIN));
	ASSERT_EQ(0, eventfd_post(self->kept));
	n = dp_wait(variant->face, self->fd, out, 4, 0);
	ASSERT_EQ(variant->face == DP_LINUX ? 1 : 2, n);
	ours = out[0].revents == POLLIN ? 0 : 1;
	EXPECT_EQ(POLLIN, out[ours].revents);
	if (variant->face == DP_SOLARIS)
		EXPECT_EQ(POLLNVAL, out[!ours].revents);
	EXPECT_EQ(0, THEY_SET(POLLREMOVE));
	EXPECT_EQ(POLLIN, dp_wait_one(variant->face, self->fd, NUMBER, 0));
}

static int act_ctl(void *arg, const struct order *order)
{
	struct epoll_event ev = { .events = order->events };
	int *set = arg;

	return dep_epoll_ctl(*set, order->verb, order->number, &ev);
}

TEST(signal_set_keeps_what_a_stranger_removes)
{
	int set = onesig_open(ONESIG_SIGNAL, 0), kept;
	struct stranger other = { .pid = -1 };

	ASSERT_LE(0, set);
	ASSERT_EQ(0, stranger_start(&other, act_ctl, &set));
	ASSERT_EQ(0, name_file(NUMBER, eventfd_new()));
	kept = fcntl(NUMBER, F_DUPFD_CLOEXEC, 100);
	ASSERT_EQ(8, dep_write_one(set, NUMBER, POLLIN));
	EXPECT_EQ(-EBADF, stranger_does(&other, STRANGER_DEL, NUMBER, 0, 0));
	ASSERT_EQ(0, stranger_does(&other, STRANGER_NAME, NUMBER, 0, 0));
	EXPECT_EQ(-ENOENT, stranger_does(&other, STRANGER_DEL, NUMBER, 0, 0));
	EXPECT_EQ(-ENOENT, stranger_does(&other, STRANGER_MOD, NUMBER,
					 EPOLLIN, 0));
	EXPECT_EQ(0, stranger_does(&other, STRANGER_ADD, NUMBER, EPOLLIN, 0));
	ASSERT_EQ(0, eventfd_post(kept));
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, NUMBER));
	ASSERT_EQ(0, stranger_does(&other, STRANGER_POST, NUMBER, 0, 0));
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, NUMBER));
	EXPECT_EQ(0, stranger_does(&other, STRANGER_DEL, NUMBER, 0, 0));
	ASSERT_EQ(0, eventfd_post(kept));
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, NUMBER));
	EXPECT_EQ(0, stranger_end(&other));
	EXPECT_EQ(0, close(set));
}

/* How many lines of an fd there are in the fdinfo of a set, or -errno. */
static int count_shown(int set, int fd)
{
	char path[64], line[256];
	int n = 0, shown;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", set);
	info = fopen(path, "re");
	if (!info)
		return -errno;
	while (fgets(line, sizeof(line), info))
		n += sscanf(line, "tfd: %d", &shown) == 1 && shown == fd;
	fclose(info);
	return n;
}

TEST(fdinfo_shows_each_file_of_a_number)
{
	int set = dep_open();
	struct epoll_event ev = { .events = EPOLLIN };
	struct stranger other = { .pid = -1 };

	ASSERT_LE(0, set);
	ASSERT_EQ(0, stranger_start(&other, act_ctl, &set));
	ASSERT_EQ(0, name_file(NUMBER, eventfd_new()));
	ASSERT_EQ(0, name_file(NUMBER + 1, eventfd_new()));
	ASSERT_EQ(0, dep_epoll_ctl(set, EPOLL_CTL_ADD, NUMBER, &ev));
	ASSERT_EQ(0, dep_epoll_ctl(set, EPOLL_CTL_ADD, NUMBER + 1, &ev));
	ASSERT_EQ(0, stranger_does(&other, STRANGER_NAME, NUMBER, 0, 0));
	EXPECT_EQ(0, stranger_does(&other, STRANGER_ADD, NUMBER, EPOLLIN, 0));
	EXPECT_EQ(2, count_shown(set, NUMBER));
	EXPECT_EQ(1, count_shown(set, NUMBER + 1));
	EXPECT_EQ(0, stranger_end(&other));
	EXPECT_EQ(1, count_shown(set, NUMBER));
	EXPECT_EQ(0, close(set));
}

TEST_HARNESS_MAIN

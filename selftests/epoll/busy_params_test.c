// SPDX-License-Identifier: GPL-2.0
/*
 * EPIOCSPARAMS and EPIOCGPARAMS, the parameters of busy polling.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"
#include "epoll/busy.h"

/* Of packets at once, without CAP_NET_ADMIN: NAPI_POLL_WEIGHT. */
#define MOST		64
#define NOBODY		65534

FIXTURE(busy_params) {
	struct eset set;
	struct busy_params params;
};

ESET_VARIANTS(busy_params);

FIXTURE_SETUP(busy_params)
{
	int ret;

	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	memset(&self->params, 0xa5, sizeof(self->params));
	ret = busy_get(self->set.fd, &self->params);
	/* Other files than sets and devices have no ioctl(). */
	if (variant->ops == &eset_sysepoll && ret == -ENOTTY)
		SKIP(return, "epoll has no parameters before Linux 6.9");
	ASSERT_EQ(0, ret);
}

FIXTURE_TEARDOWN(busy_params)
{
	eset_close(&self->set);
}

TEST_F(busy_params, are_zero_at_first)
{
	const struct busy_params none = {};

	EXPECT_EQ(0, memcmp(&none, &self->params, sizeof(none)));
}

TEST_F(busy_params, are_those_that_were_set)
{
	const struct busy_params most = {
		.usecs = INT32_MAX,
		.budget = MOST,
		.prefer = 1,
	};
	const struct busy_params none = {};

	ASSERT_EQ(0, busy_set(self->set.fd, &most));
	ASSERT_EQ(0, busy_get(self->set.fd, &self->params));
	EXPECT_EQ(0, memcmp(&most, &self->params, sizeof(most)));
	ASSERT_EQ(0, busy_set(self->set.fd, &none));
	ASSERT_EQ(0, busy_get(self->set.fd, &self->params));
	EXPECT_EQ(0, memcmp(&none, &self->params, sizeof(none)));
}

TEST_F(busy_params, that_are_refused_change_nothing)
{
	const struct busy_params good = { .usecs = 1, .budget = 2 };
	const struct busy_params bad[] = {
		{ .usecs = 7, .budget = 7, .pad = 1 },
		{ .usecs = INT32_MAX + 1U, .budget = 7 },
		{ .usecs = 7, .budget = 7, .prefer = 2 },
	};
	unsigned int i;

	ASSERT_EQ(0, busy_set(self->set.fd, &good));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_EQ(-EINVAL, busy_set(self->set.fd, &bad[i]));
	EXPECT_EQ(-EFAULT, busy_set(self->set.fd, (void *)16));
	EXPECT_EQ(-EFAULT, busy_get(self->set.fd, (void *)16));
	ASSERT_EQ(0, busy_get(self->set.fd, &self->params));
	EXPECT_EQ(0, memcmp(&good, &self->params, sizeof(good)));
}

TEST_F(busy_params, of_more_packets_need_a_capability)
{
	const struct busy_params more = { .budget = MOST + 1 };
	const struct busy_params most = { .budget = MOST };

	EXPECT_EQ(0, busy_set(self->set.fd, &more));
	ASSERT_EQ(0, setresuid(NOBODY, NOBODY, NOBODY));
	EXPECT_EQ(-EPERM, busy_set(self->set.fd, &more));
	EXPECT_EQ(0, busy_set(self->set.fd, &most));
}

/* It belongs to the interface of 2001 afterwards. */
TEST(busy_params_leave_a_set_to_each_interface)
{
	const struct busy_params params = { .usecs = 1 };
	struct busy_params got;
	int fd = dep_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, busy_set(fd, &params));
	ASSERT_EQ(0, dep_alloc(fd, 16));
	ASSERT_EQ(0, busy_get(fd, &got));
	EXPECT_EQ(0, memcmp(&params, &got, sizeof(got)));
	close(fd);
}

TEST(busy_params_are_set_by_who_may_change_the_set)
{
	const struct busy_params params = { .usecs = 1 };
	struct busy_params got;
	int reader = open("/dev/epoll", O_RDONLY | O_CLOEXEC);
	int writer = open("/dev/epoll", O_WRONLY | O_CLOEXEC);

	ASSERT_LE(0, reader);
	ASSERT_LE(0, writer);
	EXPECT_EQ(-EBADF, busy_set(reader, &params));
	EXPECT_EQ(0, busy_get(reader, &got));
	EXPECT_EQ(0, busy_set(writer, &params));
	EXPECT_EQ(-EBADF, busy_get(writer, &got));
	close(reader);
	close(writer);
}

TEST_HARNESS_MAIN

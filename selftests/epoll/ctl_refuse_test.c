// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the interest list that are refused, each with an errno of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

/* Every op has the same error for a file that can't be a member. */
FIXTURE(refusal) {
	struct eset set;
};

FIXTURE_VARIANT(refusal) {
	const struct eset_ops *ops;
	int (*open)(const struct eset *set);
	int error;
};

static int open_nothing(const struct eset *set)
{
	return next_fd();
}

static int open_minus_one(const struct eset *set)
{
	return -1;
}

static int open_far_away(const struct eset *set)
{
	return INT32_MAX;
}

static int open_path(const struct eset *set)
{
	return open("/dev/null", O_PATH | O_CLOEXEC);
}

static int open_regular(const struct eset *set)
{
	return memfd_create("devepoll-refused", MFD_CLOEXEC);
}

static int open_directory(const struct eset *set)
{
	return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open_null(const struct eset *set)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

static int open_itself(const struct eset *set)
{
	return set->fd;
}

static int open_its_duplicate(const struct eset *set)
{
	return dup(set->fd);
}

#define REFUSAL_BY(what, who, err)					\
	FIXTURE_VARIANT_ADD(refusal, what##_by_##who) {			\
		.ops = &eset_##who,					\
		.open = open_##what,					\
		.error = err,						\
	}

#define REFUSAL(what, err)						\
	REFUSAL_BY(what, devepoll, err);				\
	REFUSAL_BY(what, devepoll_fadvise, err);			\
	REFUSAL_BY(what, sysepoll, err)

REFUSAL(nothing, -EBADF);
REFUSAL(minus_one, -EBADF);
REFUSAL(far_away, -EBADF);
REFUSAL(path, -EBADF);
REFUSAL(regular, -EPERM);
REFUSAL(directory, -EPERM);
REFUSAL(null, -EPERM);
REFUSAL(itself, -EINVAL);
REFUSAL(its_duplicate, -EINVAL);

ESET_SETUP(refusal)

TEST_F(refusal, has_an_errno_of_its_own)
{
	int fd = variant->open(&self->set);

	EXPECT_EQ(variant->error, eset_add(&self->set, fd, EPOLLIN));
	EXPECT_EQ(variant->error, eset_mod(&self->set, fd, EPOLLIN));
	EXPECT_EQ(variant->error, eset_del(&self->set, fd));
	/* This error comes before those of the events. */
	if (variant->error != -EINVAL)
		EXPECT_EQ(variant->error,
			  eset_mod(&self->set, fd, EPOLLIN | EPOLLEXCLUSIVE));
	EXPECT_EQ(0, eset_drain(&self->set));
}

TEST_F(refusal, leaves_the_others_in_peace)
{
	int event = eventfd_new();
	int fd = variant->open(&self->set);

	ASSERT_EQ(0, eset_add(&self->set, event, EPOLLIN));
	EXPECT_EQ(variant->error, eset_add(&self->set, fd, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, event, 0));
	EXPECT_EQ(-EEXIST, eset_add(&self->set, event, EPOLLIN));
}

TEST_HARNESS_MAIN

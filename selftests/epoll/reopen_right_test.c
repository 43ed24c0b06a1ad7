// SPDX-License-Identifier: GPL-2.0
/*
 * The rights of a further open for reading: without them it may wait, and
 * nothing else, so that its holder can use up nothing of the set.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "epoll/reopen.h"

#define PAGE		4096

static const unsigned int rights[] = {
	0, DEVEPOLL_REOPEN_NEST, DEVEPOLL_REOPEN_MAP, DEVEPOLL_REOPEN_OPEN,
	DEVEPOLL_REOPEN_NEST | DEVEPOLL_REOPEN_MAP,
	DEVEPOLL_REOPEN_NEST | DEVEPOLL_REOPEN_OPEN,
	DEVEPOLL_REOPEN_MAP | DEVEPOLL_REOPEN_OPEN,
	DEVEPOLL_REOPEN_NEST | DEVEPOLL_REOPEN_MAP | DEVEPOLL_REOPEN_OPEN,
};

static int map_events(int fd)
{
	void *map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd,
			 DEVEPOLL_MAP_EVENTS);

	if (map == MAP_FAILED)
		return -errno;
	munmap(map, PAGE);
	return 0;
}

static int wait_mapped(int fd)
{
	struct devepoll_wait_args args = {
		.max_events = 1, .flags = DEVEPOLL_WAIT_MAPPED,
	};

	return dep_request(fd, DEVEPOLL_WAIT, &args);
}

static int take(int fd)
{
	return dep_fadvise(fd, 0, DEVEPOLL_EPOLL_WAIT_LEN(1, 0),
			   DEVEPOLL_TAKE);
}

TEST_F(reopen, allows_what_its_rights_say)
{
	struct devepoll_event out;
	int outer = dep_open();
	size_t i;

	ASSERT_LE(0, outer);
	ASSERT_EQ(0, add(self->set, self->member, EPOLLOUT));
	ASSERT_EQ(0, map_events(self->set));
	for (i = 0; i < ARRAY_SIZE(rights); i++) {
		bool nest = rights[i] & DEVEPOLL_REOPEN_NEST;
		bool map = rights[i] & DEVEPOLL_REOPEN_MAP;
		bool open = rights[i] & DEVEPOLL_REOPEN_OPEN;
		int fd = REOPEN(self->set, O_RDONLY | rights[i]), second;

		ASSERT_LE(0, fd);
		EXPECT_EQ(O_RDONLY, fcntl(fd, F_GETFL));
		EXPECT_EQ(1, dep_wait(fd, &out, 1, 0));
		EXPECT_EQ(1, items(fd));
		EXPECT_EQ(POLLIN, poll_now(fd, POLLIN));
		EXPECT_EQ(nest ? 0 : -EPERM, add(outer, fd, EPOLLIN));
		EXPECT_EQ(map ? 0 : -EACCES, map_events(fd));
		EXPECT_EQ(map ? 1 : -EBADF, wait_mapped(fd));
		EXPECT_EQ(map ? 1 : -EBADF, take(fd));
		second = REOPEN(fd, O_RDONLY);
		EXPECT_EQ(open ? 0 : -EPERM, second < 0 ? second : 0);
		if (second >= 0)
			close(second);
		EXPECT_EQ(0, close(fd));
	}
	EXPECT_EQ(0, items(outer));
}

TEST_F(reopen, gives_no_right_that_it_has_not)
{
	size_t from, to;
	int first, second;

	for (from = 0; from < ARRAY_SIZE(rights); from++) {
		bool open = rights[from] & DEVEPOLL_REOPEN_OPEN;

		first = REOPEN(self->set, O_RDONLY | rights[from]);
		ASSERT_LE(0, first);
		for (to = 0; to < ARRAY_SIZE(rights); to++) {
			bool may = open && !(rights[to] & ~rights[from]);

			second = REOPEN(first, O_RDONLY | rights[to]);
			EXPECT_EQ(may ? 0 : -EPERM, second < 0 ? second : 0)
				TH_LOG("%x of %x", rights[to], rights[from]);
			if (second >= 0)
				close(second);
		}
		EXPECT_EQ(-EBADF, REOPEN(first, O_RDWR));
		EXPECT_EQ(-EBADF, REOPEN(first, O_WRONLY));
		close(first);
	}
}

/* It is for the owner to say which interface the set will have. */
TEST_F(reopen, makes_no_first_use)
{
	int reader = REOPEN(self->set, O_RDONLY | DEVEPOLL_REOPEN_MAP);
	struct devepoll_event out;
	struct epoll_event event;

	ASSERT_LE(0, reader);
	EXPECT_EQ(-EBUSY, dep_wait(reader, &out, 1, 0));
	EXPECT_EQ(-EBUSY, dep_fadvise(reader, (uintptr_t)&event,
				      DEVEPOLL_EPOLL_WAIT_LEN(1, 0),
				      DEVEPOLL_EPOLL_WAIT));
	EXPECT_EQ(0, poll_now(reader, POLLIN));
	EXPECT_EQ(0, dep_alloc(self->set, 10));
	EXPECT_EQ(0, dep_free(self->set));
}

/* As an open that may do everything answers. */
TEST_F(reopen, for_reading_answers_bad_waits)
{
	int reader = REOPEN(self->set, O_RDONLY | DEVEPOLL_REOPEN_MAP);
	const unsigned long most = 0x7fffffff / sizeof(struct epoll_event);
	struct epoll_event event;

#define WAIT_BY(fd, to, max)						\
	dep_fadvise(fd, (uintptr_t)(to),				\
		    DEVEPOLL_EPOLL_WAIT_LEN(max, 0), DEVEPOLL_EPOLL_WAIT)
#define TAKE_BY(fd, to, max)						\
	dep_fadvise(fd, to, DEVEPOLL_EPOLL_WAIT_LEN(max, 0), DEVEPOLL_TAKE)
#define EXPECT_SAME(result, call, ...) do {				\
	EXPECT_EQ(result, call(self->set, __VA_ARGS__));		\
	EXPECT_EQ(result, call(reader, __VA_ARGS__));			\
} while (0)

	ASSERT_LE(0, reader);
	ASSERT_EQ(0, add(self->set, self->member, EPOLLOUT));
	EXPECT_SAME(-EINVAL, WAIT_BY, &event, 0);
	EXPECT_SAME(-EINVAL, WAIT_BY, &event, most + 1);
	EXPECT_SAME(-EFAULT, WAIT_BY, ~0UL - 4096, 1);
	EXPECT_SAME(-EFAULT, WAIT_BY, 8, 1);
	EXPECT_SAME(1, WAIT_BY, &event, 1);
	EXPECT_SAME(-EINVAL, TAKE_BY, 0, 1);
	ASSERT_EQ(0, map_events(self->set));
	EXPECT_SAME(-EINVAL, TAKE_BY, 0, 0);
	EXPECT_SAME(-EINVAL, TAKE_BY, 8, 1);
	EXPECT_SAME(-EINVAL, TAKE_BY, PAGE, 1);
	EXPECT_SAME(1, TAKE_BY, 0, 1);
	EXPECT_EQ(-EBADF, dep_fadvise(reader, (uintptr_t)&event,
				      self->member,
				      DEVEPOLL_EPOLL_CTL(DEVEPOLL_MOD)));
}

TEST_HARNESS_MAIN

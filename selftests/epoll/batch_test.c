// SPDX-License-Identifier: GPL-2.0
/* Changes of the interest list, many in one call: each has its own result. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/request.h"

FIXTURE(batch) {
	struct eset set;
	int event;
};

REQUEST_VARIANTS(batch);

FIXTURE_SETUP(batch)
{
	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll))
		TH_LOG("no /dev/epoll here");
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(batch)
{
	eset_close(&self->set);
}

/* What the request returned; @failed counts the failed changes. */
static int apply(int (*request)(int fd, unsigned long request, void *arg),
		 int fd, struct devepoll_change *changes, unsigned int nr,
		 uint32_t *failed)
{
	struct devepoll_ctl ctl = ctl_args(changes, nr);
	int ret = request(fd, DEVEPOLL_CTL, &ctl);

	*failed = ctl.nr_failed;
	return ret;
}

TEST_F(batch, gives_each_change_its_result)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int path = open("/", O_PATH | O_CLOEXEC);
	int other = eventfd_new();
	int none = next_fd();
	struct devepoll_change changes[] = {
		CHANGE(ADD, self->event, EPOLLIN),
		CHANGE(ADD, self->event, EPOLLIN),
		CHANGE(MOD, other, EPOLLIN),
		CHANGE(DEL, other, 0),
		CHANGE(ADD, none, EPOLLIN),
		CHANGE(ADD, path, EPOLLIN),
		CHANGE(ADD, null, EPOLLIN),
		CHANGE(ADD, self->set.fd, EPOLLIN),
		CHANGE(ADD, epoll, EPOLLIN),
		CHANGE(ADD, other, EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT),
		CHANGE(MOD, self->event, EPOLLIN | EPOLLEXCLUSIVE),
		CHANGE(ADD, other, EPOLLOUT),
	};
	static const int expected[ARRAY_SIZE(changes)] = {
		0, -EEXIST, -ENOENT, -ENOENT, -EBADF, -EBADF, -EPERM, -EINVAL,
		-ELOOP, -EINVAL, -EINVAL, 0,
	};
	struct devepoll_change before[ARRAY_SIZE(changes)];
	uint32_t failed;
	size_t i;

	memcpy(before, changes, sizeof(changes));
	ASSERT_EQ(ARRAY_SIZE(changes),
		  apply(variant->request, self->set.fd, changes,
			ARRAY_SIZE(changes), &failed));
	EXPECT_EQ(10, failed);
	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		EXPECT_EQ(expected[i], changes[i].result)
			TH_LOG("change %zu", i);
		changes[i].result = POISON;
	}
	/* And nothing else is written. */
	EXPECT_EQ(0, memcmp(before, changes, sizeof(changes)));
	EXPECT_EQ(EPOLLOUT, eset_wait_one(&self->set, other, 0));
}

TEST_F(batch, is_made_in_its_order)
{
	int fd = self->event;
	struct devepoll_change changes[] = {
		CHANGE(ADD, fd, EPOLLIN),
		CHANGE(MOD, fd, EPOLLIN),
		CHANGE(DEL, fd, 0),
		CHANGE(DEL, fd, 0),
		CHANGE(ADD, fd, EPOLLIN),
		CHANGE(MOD, fd, EPOLLOUT),
		CHANGE(MOD, fd, EPOLLIN | EPOLLOUT),
	};
	static const int expected[ARRAY_SIZE(changes)] = { 0, 0, 0, -ENOENT };
	struct devepoll_event out[2];
	uint32_t failed;
	size_t i;

	changes[ARRAY_SIZE(changes) - 1].data = 4711;
	ASSERT_EQ(ARRAY_SIZE(changes),
		  apply(variant->request, self->set.fd, changes,
			ARRAY_SIZE(changes), &failed));
	EXPECT_EQ(1, failed);
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		EXPECT_EQ(expected[i], changes[i].result);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, dep_wait(self->set.fd, out, 2, 0));
	EXPECT_EQ(EPOLLIN | EPOLLOUT, out[0].events);
	EXPECT_EQ(4711, out[0].data);
	EXPECT_EQ(self->event, out[0].fd);
}

TEST_F(batch, where_all_goes_well_has_no_failure)
{
	struct devepoll_change change = CHANGE(ADD, self->event, EPOLLIN);
	uint32_t failed;

	EXPECT_EQ(1, apply(variant->request, self->set.fd, &change, 1,
			   &failed));
	EXPECT_EQ(0, failed);
	EXPECT_EQ(0, change.result);
}

TEST_F(batch, where_all_fails_is_no_failure_itself)
{
	struct devepoll_change changes[] = {
		CHANGE(DEL, self->event, 0),
		CHANGE(MOD, self->event, EPOLLIN),
	};
	uint32_t failed;

	EXPECT_EQ(2, apply(variant->request, self->set.fd, changes, 2,
			   &failed));
	EXPECT_EQ(2, failed);
	EXPECT_EQ(-ENOENT, changes[0].result);
	EXPECT_EQ(-ENOENT, changes[1].result);
}

TEST_F(batch, refuses_unknown_ops_and_flags_one_by_one)
{
	struct devepoll_change changes[] = {
		CHANGE(ADD, self->event, EPOLLIN),
		CHANGE(ADD, self->event, EPOLLIN),
		CHANGE(ADD, self->event, EPOLLIN),
		CHANGE(ADD, self->event, EPOLLIN | EPOLLET),
		CHANGE(ADD, self->event, EPOLLIN),
		CHANGE(ADD, self->event, EPOLLIN),
		CHANGE(DEL, self->event, 0),
		CHANGE(DEL, self->event, 0),
	};
	static const int expected[ARRAY_SIZE(changes)] = {
		-EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL, 0, -EINVAL, 0,
	};
	uint32_t failed;
	size_t i;

	changes[0].op = 0;
	changes[1].op = 4;
	changes[2].op = 0xffff;
	changes[3].flags = 0x8000 | DEVEPOLL_TRUST;
	changes[4].flags = 0x0004;
	changes[6].flags = DEVEPOLL_TELL_CLOSED;
	ASSERT_EQ(ARRAY_SIZE(changes),
		  apply(variant->request, self->set.fd, changes,
			ARRAY_SIZE(changes), &failed));
	EXPECT_EQ(6, failed);
	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		EXPECT_EQ(expected[i], changes[i].result)
			TH_LOG("change %zu", i);
	}
}

TEST_F(batch, of_many_works_as_a_few)
{
	enum { MANY = 20000, FIRST = 1000, FILES = 20 };
	struct devepoll_change *changes = calloc(MANY, sizeof(*changes));
	struct epoll_event *out = calloc(MANY, sizeof(*out));
	uint32_t failed;
	int i, n, files[FILES];

	ASSERT_NE(NULL, changes);
	ASSERT_NE(NULL, out);
	ASSERT_EQ(0, raise_fd_limit(FIRST + MANY));
	/* Not all of one file: the items of a file are limited. */
	for (i = 0; i < FILES; i++) {
		files[i] = eventfd_new();
		ASSERT_LE(0, files[i]);
	}
	for (i = 0; i < MANY; i++) {
		if (i % 10)
			ASSERT_EQ(FIRST + i, dup3(files[i % FILES], FIRST + i,
						  O_CLOEXEC));
		changes[i] = (struct devepoll_change)
			CHANGE(ADD, FIRST + i, EPOLLOUT | EPOLLET);
	}
	ASSERT_EQ(MANY, apply(variant->request, self->set.fd, changes, MANY,
			      &failed));
	EXPECT_EQ(MANY / 10, failed);
	for (i = 0, n = 0; i < MANY; i++)
		n += changes[i].result == (i % 10 ? 0 : -EBADF);
	EXPECT_EQ(MANY, n);
	n = 0;
	while (n < MANY) {
		i = eset_wait(&self->set, out, MANY, 0);
		ASSERT_LE(0, i);
		if (!i)
			break;
		n += i;
	}
	EXPECT_EQ(MANY - MANY / 10, n);

	for (i = 0; i < MANY; i++)
		changes[i].op = DEVEPOLL_DEL;
	ASSERT_EQ(MANY, apply(variant->request, self->set.fd, changes, MANY,
			      &failed));
	EXPECT_EQ(MANY / 10, failed);
	for (i = 0; i < FILES; i++)
		ASSERT_EQ(0, eventfd_post(files[i]));
	EXPECT_EQ(0, eset_drain(&self->set));
	free(changes);
	free(out);
}

TEST_F(batch, of_many_wakes_who_sleeps)
{
	enum { MANY = 100 };
	struct devepoll_change changes[MANY];
	struct ewaiter waiter;
	uint32_t failed;
	int i, event;

	for (i = 0; i < MANY; i++) {
		event = eventfd_new();
		ASSERT_LE(0, event);
		changes[i] = (struct devepoll_change)
			CHANGE(ADD, event, EPOLLIN);
	}
	changes[MANY - 1].events = EPOLLOUT;
	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(MANY, apply(variant->request, self->set.fd, changes, MANY,
			      &failed));
	EXPECT_EQ(0, failed);
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(changes[MANY - 1].fd, waiter.out[0].data.u64);
}

/* --- DEVEPOLL_NO_RESULTS --- */

/* A copy of the changes in memory that can only be read, up to its end. */
static struct devepoll_change *read_only(const struct devepoll_change *changes,
					 size_t nr)
{
	size_t page = sysconf(_SC_PAGESIZE), size = nr * sizeof(*changes);
	size_t room = (size + page - 1) / page * page;
	char *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	memcpy(memory + room - size, changes, size);
	if (mprotect(memory, room, PROT_READ) ||
	    mprotect(memory + room, page, PROT_NONE))
		return NULL;
	return (void *)(memory + room - size);
}

/* What the request returned; it wrote nothing to its argument. */
static int make(int (*request)(int fd, unsigned long request, void *arg),
		int fd, const struct devepoll_change *changes, unsigned int nr)
{
	struct devepoll_ctl ctl = ctl_args((void *)changes, nr);
	int ret;

	ctl.flags = DEVEPOLL_NO_RESULTS;
	ctl.nr_failed = 77;
	ret = request(fd, DEVEPOLL_CTL, &ctl);
	return ctl.nr_failed == 77 ? ret : -EBADMSG;
}

#define SOME	100

TEST_F(batch, may_be_in_memory_that_is_only_read)
{
	struct devepoll_change changes[SOME], *constant;
	int i, fds[SOME];

	for (i = 0; i < SOME; i++) {
		fds[i] = eventfd_new();
		changes[i] = (struct devepoll_change)
			CHANGE(ADD, fds[i], EPOLLIN);
	}
	constant = read_only(changes, SOME);
	ASSERT_TRUE(!!constant);
	EXPECT_EQ(SOME, make(variant->request, self->set.fd, constant, SOME));
	for (i = 0; i < SOME; i++)
		EXPECT_EQ(0, eset_del(&self->set, fds[i]));
	EXPECT_EQ(1, make(variant->request, self->set.fd, constant + 7, 1));
	EXPECT_EQ(0, eset_del(&self->set, fds[7]));
}

TEST_F(batch, without_results_ends_at_the_first_that_fails)
{
	struct devepoll_change changes[SOME], *constant;
	int i;

	for (i = 0; i < SOME; i++)
		changes[i] = (struct devepoll_change)
			CHANGE(ADD, eventfd_new(), EPOLLIN);
	changes[60].fd = changes[3].fd;
	constant = read_only(changes, SOME);
	ASSERT_TRUE(!!constant);
	EXPECT_EQ(60, make(variant->request, self->set.fd, constant, SOME));
	EXPECT_EQ(-EEXIST, make(variant->request, self->set.fd, constant + 60,
				SOME - 60));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, changes[61].fd));
	EXPECT_EQ(SOME - 61, make(variant->request, self->set.fd,
				  constant + 61, SOME - 61));
	for (i = 0; i < SOME; i++)
		EXPECT_EQ(i == 60 ? -ENOENT : 0,
			  eset_del(&self->set, changes[i].fd));
}

TEST_F(batch, without_results_ends_where_memory_does)
{
	struct devepoll_change changes[SOME], *constant;
	int i;

	for (i = 0; i < SOME; i++)
		changes[i] = (struct devepoll_change)
			CHANGE(ADD, eventfd_new(), EPOLLIN);
	constant = read_only(changes, SOME);
	ASSERT_TRUE(!!constant);
	EXPECT_EQ(10, make(variant->request, self->set.fd, constant + 90, 30));
	EXPECT_EQ(-EFAULT, make(variant->request, self->set.fd,
				constant + SOME, 1));
	/* What this kernel does not know is refused here, too. */
	changes[0].flags = 0x8000;
	EXPECT_EQ(-EINVAL, make(variant->request, self->set.fd, changes, 1));
}

TEST_HARNESS_MAIN

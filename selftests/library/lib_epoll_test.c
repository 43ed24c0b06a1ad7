// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll, epoll's calls under a prefix: what they take and give, compared
 * with epoll's own.
 */
#include <fcntl.h>
#include <string.h>

#include "kselftest_harness.h"

#include "library/lib_calls.h"

CALLS_FIXTURE(epoll)

TEST_F(epoll, event_is_read_up_to_the_end_of_memory)
{
	const struct calls *calls = variant->calls;
	char *hole = page_before_a_hole();
	struct epoll_event *last, out;
	int fd = eventfd_new();
	int cut;

	ASSERT_TRUE(!!hole);
	for (cut = 1; cut <= (int)sizeof(*last); cut++) {
		last = (void *)(hole - sizeof(*last) + cut);
		EXPECT_EQ(-EFAULT, result_of(calls->ctl(self->set,
							EPOLL_CTL_ADD, fd,
							last)));
	}

	last = (void *)(hole - sizeof(*last));
	last->events = EPOLLIN;
	last->data.u64 = 0xfedcba9876543210;
	EXPECT_EQ(0, calls->ctl(self->set, EPOLL_CTL_ADD, fd, last));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(1, calls->wait(self->set, &out, 1, 0));
	EXPECT_EQ(0xfedcba9876543210, out.data.u64);
}

TEST_F(epoll, data_comes_back_whole_and_each_event_in_its_place)
{
	const struct calls *calls = variant->calls;
	struct epoll_event out[5], event;
	unsigned int seen = 0;
	int i, fd;

	for (i = 0; i < 3; i++) {
		fd = eventfd_new();
		ASSERT_LE(0, fd);
		event.events = i == 1 ? EPOLLIN | EPOLLOUT : EPOLLOUT;
		event.data.u64 = 0x8000000100000000 | i;
		ASSERT_EQ(0, calls->ctl(self->set, EPOLL_CTL_ADD, fd,
					&event));
		ASSERT_EQ(0, eventfd_post(fd));
	}
	memset(out, 0x5a, sizeof(out));
	ASSERT_EQ(3, calls->wait(self->set, out, 4, 0));
	for (i = 0; i < 3; i++) {
		uint32_t nr = out[i].data.u64;

		EXPECT_EQ(0x80000001, out[i].data.u64 >> 32);
		EXPECT_EQ(nr == 1 ? EPOLLIN | EPOLLOUT : EPOLLOUT,
			  out[i].events);
		seen |= 1 << nr;
	}
	EXPECT_EQ(7, seen);
	EXPECT_EQ(0x5a5a5a5a, out[3].events);
}

TEST_F(epoll, bits_that_nobody_knows_are_passed_over)
{
	const struct calls *calls = variant->calls;
	struct epoll_event event = { .events = 0x0fff0000 | EPOLLIN }, out;
	int fd = eventfd_new();

	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(0, calls->ctl(self->set, EPOLL_CTL_ADD, fd, &event));
	EXPECT_EQ(1, calls->wait(self->set, &out, 1, 0));
	EXPECT_EQ(EPOLLIN, out.events);
	event.events = 0x0fff0000 | EPOLLOUT | EPOLLET;
	EXPECT_EQ(0, calls->ctl(self->set, EPOLL_CTL_MOD, fd, &event));
	EXPECT_EQ(1, calls->wait(self->set, &out, 1, 0));
	EXPECT_EQ(EPOLLOUT, out.events);
}

TEST_F(epoll, modes_are_epolls)
{
	const struct calls *calls = variant->calls;
	static const struct {
		uint32_t mode;
		int again;
		int after_post;
	} rows[] = {
		{ 0, 1, 1 }, { EPOLLET, 0, 1 }, { EPOLLONESHOT, 0, 0 },
	};
	struct epoll_event event, out;
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		fd = eventfd_new();
		event.events = EPOLLIN | rows[i].mode;
		event.data.fd = fd;
		ASSERT_EQ(0, calls->ctl(self->set, EPOLL_CTL_ADD, fd,
					&event));
		ASSERT_EQ(0, eventfd_post(fd));
		EXPECT_EQ(1, calls->wait(self->set, &out, 1, 0));
		EXPECT_EQ(rows[i].again,
			  calls->wait(self->set, &out, 1, 0));
		ASSERT_EQ(0, eventfd_post(fd));
		EXPECT_EQ(rows[i].after_post,
			  calls->wait(self->set, &out, 1, 0));

		ASSERT_EQ(0, calls->ctl(self->set, EPOLL_CTL_MOD, fd,
					&event));
		out.data.fd = -1;
		EXPECT_EQ(1, calls->wait(self->set, &out, 1, 0));
		EXPECT_EQ(fd, out.data.fd);
		ASSERT_EQ(0, calls->ctl(self->set, EPOLL_CTL_DEL, fd,
					NULL));
		EXPECT_EQ(0, calls->wait(self->set, &out, 1, 0));
	}
}

TEST_F(epoll, create_refuses_bad_arguments)
{
	const struct calls *calls = variant->calls;
	int fds = count_fds();

	ASSERT_LT(0, fds);
	EXPECT_EQ(-EINVAL, result_of(calls->create(0)));
	EXPECT_EQ(-EINVAL, result_of(calls->create(-1)));
	EXPECT_EQ(-EINVAL, result_of(calls->create1(1)));
	EXPECT_EQ(-EINVAL, result_of(calls->create1(~EPOLL_CLOEXEC)));
	EXPECT_EQ(fds, count_fds());
}

TEST_F(epoll, descriptor_is_as_epoll_makes_it)
{
	const struct calls *calls = variant->calls;
	int free_number = next_fd();
	int fd = calls->create(1);

	EXPECT_EQ(free_number, fd);
	EXPECT_EQ(0, fcntl(fd, F_GETFD));
	EXPECT_EQ(O_RDWR, fcntl(fd, F_GETFL) & O_ACCMODE);
	EXPECT_EQ(0, fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(0, close(fd));

	fd = calls->create1(EPOLL_CLOEXEC);
	EXPECT_EQ(free_number, fd);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	EXPECT_EQ(0, close(fd));
}

TEST_F(epoll, create_without_a_free_descriptor_is_emfile)
{
	const struct calls *calls = variant->calls;

	ASSERT_EQ(0, raise_fd_limit(next_fd()));
	EXPECT_EQ(-EMFILE, result_of(calls->create1(0)));
}

TEST_F(epoll, success_leaves_errno_alone)
{
	const struct calls *calls = variant->calls;
	const struct timespec now = { 0 };
	struct epoll_event event = { .events = EPOLLIN };
	int fd = eventfd_new();
	sigset_t mask;
	int set;

	sigemptyset(&mask);
	errno = 12345;
	set = calls->create1(0);
	ASSERT_LE(0, set);
	EXPECT_EQ(0, calls->ctl(set, EPOLL_CTL_ADD, fd, &event));
	EXPECT_EQ(0, calls->wait(set, &event, 1, 0));
	EXPECT_EQ(0, calls->pwait(set, &event, 1, 0, &mask));
	EXPECT_EQ(0, calls->pwait2(set, &event, 1, &now, NULL));
	EXPECT_EQ(0, calls->ctl(set, EPOLL_CTL_DEL, fd, NULL));
	EXPECT_EQ(12345, errno);
	EXPECT_EQ(0, close(set));
}

TEST_HARNESS_MAIN

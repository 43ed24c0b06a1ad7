// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so: sets that are changed by IORING_OP_EPOLL_CTL entries
 * of a ring, as libuv does; on epoll the same.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "kselftest_harness.h"

#include "preload/preload_uring.h"

TEST_F(by_ring, set_works)
{
	int i;

	/* Several times around. */
	for (i = 0; i < 3 * RAW_ENTRIES; i++)
		ASSERT_TRUE(works_by(&self->ring, self->set));
	EXPECT_TRUE(works(self->set));
}

TEST_F(by_ring, wrong_changes_have_the_errors_of_epoll)
{
	struct raw_ring *r = &self->ring;
	int file = open("/proc/self/exe", O_RDONLY);
	int fd = eventfd_new();
	int set = self->set;

	EXPECT_EQ(-ENOENT, change(r, set, EPOLL_CTL_MOD, fd, EPOLLIN));
	EXPECT_EQ(-ENOENT, change(r, set, EPOLL_CTL_DEL, fd, EPOLLIN));
	EXPECT_EQ(0, change(r, set, EPOLL_CTL_ADD, fd, EPOLLIN));
	EXPECT_EQ(-EEXIST, change(r, set, EPOLL_CTL_ADD, fd, EPOLLIN));
	EXPECT_EQ(-EPERM, change(r, set, EPOLL_CTL_ADD, file, EPOLLIN));
	EXPECT_EQ(-EBADF, change(r, set, EPOLL_CTL_ADD, 999, EPOLLIN));
	EXPECT_EQ(-EBADF, change(r, 999, EPOLL_CTL_ADD, fd, EPOLLIN));
	EXPECT_EQ(-EINVAL, change(r, fd, EPOLL_CTL_ADD, fd, EPOLLIN));
	EXPECT_EQ(-EINVAL, change(r, set, EPOLL_CTL_ADD, set, EPOLLIN));
	EXPECT_EQ(-EINVAL, change(r, set, 0, fd, EPOLLIN));
	EXPECT_EQ(-EINVAL, change(r, set, 4, fd, EPOLLIN));
	/* Unknown bits are ignored. */
	EXPECT_EQ(0, change(r, set, EPOLL_CTL_MOD, fd, EPOLLIN | 0x00100000));
	prepare(r, set, EPOLL_CTL_MOD, fd, NULL);
	EXPECT_EQ(-EFAULT, made(r));
	prepare(r, set, EPOLL_CTL_MOD, fd, (void *)8);
	EXPECT_EQ(-EFAULT, made(r));
	prepare(r, set, EPOLL_CTL_DEL, fd, NULL)->buf_index = 1;
	EXPECT_EQ(-EINVAL, made(r));
	prepare(r, set, EPOLL_CTL_DEL, fd, NULL)->ioprio = 1;
	EXPECT_EQ(-EINVAL, made(r));
	/* Without a meaning for this operation. */
	prepare(r, set, EPOLL_CTL_DEL, fd, NULL)->flags = IOSQE_FIXED_FILE;
	EXPECT_EQ(0, made(r));
	EXPECT_TRUE(works_by(r, set));
}

TEST_F(by_ring, changes_of_one_entering_are_made_in_their_order)
{
	struct epoll_event events[3] = {
		{ .events = EPOLLIN }, { .events = EPOLLIN | EPOLLET },
		{ .events = EPOLLOUT },
	};
	const int ops[] = { EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_ADD,
			    EPOLL_CTL_DEL, EPOLL_CTL_ADD, EPOLL_CTL_MOD };
	const int results[] = { 0, 0, -EEXIST, 0, 0, 0 };
	struct raw_ring *r = &self->ring;
	int i, fd = eventfd_new();
	uint64_t data = 6;

	for (i = 0; i < 3; i++)
		events[i].data.fd = fd;
	for (i = 0; i < 6; i++) {
		prepare(r, self->set, ops[i], fd,
			&events[i % 3])->user_data = i;
		raw_ring_push(r);
	}
	ASSERT_EQ(6, raw_ring_enter(r->fd, 6, 6));
	/* A failing entry may complete before earlier ones. */
	for (i = 0; i < 6; i++) {
		int ret = raw_ring_take(r, &data);

		ASSERT_GT(6, data);
		EXPECT_EQ(results[data], ret);
	}
	EXPECT_EQ(-ENOMSG, raw_ring_take(r, NULL));
	EXPECT_EQ(fd, ready(self->set));
}

TEST_F(by_ring, entries_that_are_left_pending_are_made_by_a_later_entering)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct raw_ring *r = &self->ring;
	int i, fds[4];

	for (i = 0; i < 4; i++) {
		fds[i] = eventfd_new();
		prepare(r, self->set, EPOLL_CTL_ADD, fds[i], &event);
		raw_ring_push(r);
	}
	EXPECT_EQ(1, raw_ring_enter(r->fd, 1, 1));
	EXPECT_EQ(0, raw_ring_take(r, NULL));
	EXPECT_EQ(-ENOMSG, raw_ring_take(r, NULL));
	EXPECT_EQ(-ENOENT, epoll_ctl(self->set, EPOLL_CTL_DEL, fds[1], NULL) ?
			   -errno : 0);
	EXPECT_EQ(3, raw_ring_enter(r->fd, 3, 3));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, raw_ring_take(r, NULL));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, epoll_ctl(self->set, EPOLL_CTL_DEL, fds[i], NULL));
}

TEST_F(by_ring, other_entries_pass_between_the_changes)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct raw_ring *r = &self->ring;
	struct io_uring_sqe *sqe;
	uint64_t value = 0, data = 0;
	int i, fd = eventfd_new();
	int in = eventfd_new();

	ASSERT_EQ(0, eventfd_post(in));
	sqe = raw_ring_next(r);
	sqe->opcode = IORING_OP_NOP;
	sqe->user_data = 1;
	raw_ring_push(r);
	event.data.fd = fd;
	prepare(r, self->set, EPOLL_CTL_ADD, fd, &event)->user_data = 2;
	raw_ring_push(r);
	sqe = raw_ring_next(r);
	sqe->opcode = IORING_OP_READ;
	sqe->fd = in;
	sqe->addr = (uintptr_t)&value;
	sqe->len = sizeof(value);
	sqe->user_data = 3;
	raw_ring_push(r);
	ASSERT_EQ(3, raw_ring_enter(r->fd, 3, 3));
	for (i = 1; i <= 3; i++) {
		EXPECT_EQ(i == 3 ? 8 : 0, raw_ring_take(r, &data));
		EXPECT_EQ(i, data);
	}
	EXPECT_EQ(1, value);
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, ready(self->set));
}

TEST_F(by_ring, event_is_not_read_after_the_entering)
{
	struct epoll_event *event = calloc(1, sizeof(*event));
	struct raw_ring *r = &self->ring;
	int fd = eventfd_new();

	event->events = EPOLLIN;
	event->data.fd = fd;
	prepare(r, self->set, EPOLL_CTL_ADD, fd, event)->flags = IOSQE_ASYNC;
	raw_ring_push(r);
	ASSERT_EQ(1, raw_ring_enter(r->fd, 1, 0));
	memset(event, 0xa5, sizeof(*event));
	ASSERT_EQ(0, raw_ring_enter(r->fd, 0, 1));
	EXPECT_EQ(0, raw_ring_take(r, NULL));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, ready(self->set));
	free(event);
}

TEST_F(by_ring, child_of_fork_goes_on_with_the_ring)
{
	pid_t child = fork();

	if (child == 0)
		_exit(!works_by(&self->ring, self->set));
	EXPECT_EQ(0, reap(child));
	EXPECT_TRUE(works_by(&self->ring, self->set));
}

TEST_F(by_ring, duplicate_is_the_same_ring)
{
	struct raw_ring *r = &self->ring;
	int fd = fcntl(r->fd, F_DUPFD, 1000);
	int other = r->fd;

	ASSERT_LE(1000, fd);
	r->fd = fd;
	EXPECT_TRUE(works_by(r, self->set));
	ASSERT_EQ(0, close(other));
	EXPECT_TRUE(works_by(r, self->set));
	/* The first number names something else now. */
	ASSERT_EQ(other, dup2(self->set, other));
	EXPECT_EQ(-EOPNOTSUPP, raw_ring_enter(other, 1, 0));
	EXPECT_TRUE(works_by(r, self->set));
}

TEST_F(by_ring, numbers_that_share_a_slot_of_the_library_work)
{
	struct raw_ring *r = &self->ring;
	int i, number = r->fd, other = number + 1000 / 16 * 16;

	ASSERT_EQ(other, fcntl(number, F_DUPFD, other));
	for (i = 0; i < 6; i++) {
		r->fd = i % 3 == 1 ? other : number;
		EXPECT_TRUE(works_by(r, self->set));
	}
	r->fd = number;
	close(other);
	EXPECT_TRUE(works_by(r, self->set));
}

TEST_F(by_ring, numbers_of_rings_are_used_again)
{
	struct raw_ring rings[3];
	int i, round, number = self->ring.fd;

	raw_ring_close(&self->ring);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, raw_ring_open(&rings[i], variant->setup,
						   4 << (i + round) % 3));
		EXPECT_EQ(number, rings[0].fd);
		for (i = 0; i < 3; i++)
			EXPECT_TRUE(works_by(&rings[i], self->set));
		for (i = 0; i < 3; i++)
			raw_ring_close(&rings[i]);
	}
}

/* The ring gets the only reading end of a pipe; returns the writing end. */
static int give_reading_end(struct raw_ring *r)
{
	struct io_uring_sqe *sqe = raw_ring_next(r);
	static int value;
	int fds[2];

	/* Or else the read fails at once, and the ring lets go. */
	if (pipe_pair(fds) || fcntl(fds[0], F_SETFL, 0))
		return -1;
	sqe->opcode = IORING_OP_READ;
	sqe->fd = fds[0];
	sqe->addr = (uintptr_t)&value;
	sqe->len = sizeof(value);
	raw_ring_push(r);
	if (raw_ring_enter(r->fd, 1, 0) != 1 || close(fds[0]))
		return -1;
	return fds[1];
}

/* A write would end what the ring reads, and so give the pipe back. */
static bool has_no_reader(int fd)
{
	struct pollfd entry = { .fd = fd };

	return await(poll(&entry, 1, 0) == 1 && entry.revents & POLLERR);
}

TEST_F(by_ring, ring_ends_when_the_program_closes_it)
{
	struct raw_ring *r = &self->ring;
	int fd;

	EXPECT_TRUE(works_by(r, self->set));
	fd = give_reading_end(r);
	ASSERT_LE(0, fd);
	raw_ring_close(r);
	EXPECT_TRUE(has_no_reader(fd));
}

TEST_F(by_ring, ring_ends_though_a_child_that_closed_it_lives)
{
	struct raw_ring *r = &self->ring;
	int fd, told[2];
	pid_t child;
	char byte;

	EXPECT_TRUE(works_by(r, self->set));
	fd = give_reading_end(r);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe_pair(told));
	child = fork();
	ASSERT_LE(0, child);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raw_ring_close(r);
		if (write(told[1], "t", 1) != 1)
			_exit(1);
		pause();
	}
	ASSERT_TRUE(await(read(told[0], &byte, 1) == 1));
	raw_ring_close(r);
	EXPECT_TRUE(has_no_reader(fd));
	ASSERT_EQ(0, kill(child, SIGKILL));
	reap(child);
}

TEST_F(by_ring, ring_ends_when_its_number_names_another_file)
{
	struct raw_ring *r = &self->ring;
	int fd, number = r->fd;

	EXPECT_TRUE(works_by(r, self->set));
	fd = give_reading_end(r);
	ASSERT_LE(0, fd);
	ASSERT_EQ(number, dup2(self->set, number));
	/* The mapping of the program goes, too. */
	raw_ring_close(r);
	EXPECT_TRUE(has_no_reader(fd));
}

TEST_F(by_ring, set_works_where_a_filter_refuses_fadvise)
{
	ASSERT_EQ(0, refuse_fadvise(EPERM));
	EXPECT_TRUE(works_by(&self->ring, self->set));
}

TEST(changes_pass_where_a_mapping_is_refused)
{
	int set = epoll_create1(0);
	struct raw_ring r;

	ASSERT_EQ(0, raw_ring_open(&r, 0, RAW_ENTRIES));
#ifdef SYS_mmap2
	ASSERT_EQ(0, refuse_call(SYS_mmap2, ENOMEM));
#else
	ASSERT_EQ(0, refuse_call(SYS_mmap, ENOMEM));
#endif
	EXPECT_EQ(-EINVAL, change(&r, set, EPOLL_CTL_ADD, r.fd, EPOLLIN));
	EXPECT_TRUE(works(set));
}

/* A set has been made before this program began. */
TEST(ring_that_the_kernel_polls_is_refused)
{
	int set = epoll_create1(0);
	struct raw_ring r;

	EXPECT_EQ(-EPERM, raw_ring_open(&r, IORING_SETUP_SQPOLL, RAW_ENTRIES));
	EXPECT_EQ(0, raw_ring_open(&r, 0, RAW_ENTRIES));
	EXPECT_TRUE(works_by(&r, set));
}

TEST(ring_whose_entries_can_not_be_found_is_refused)
{
	const unsigned int kinds[] = {
		RAW_SETUP_NO_MMAP, RAW_SETUP_NO_MMAP |
		RAW_SETUP_REGISTERED_ONLY, RAW_SETUP_UNKNOWN,
	};
	struct io_uring_params params;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		memset(&params, 0, sizeof(params));
		params.flags = kinds[i];
		errno = 0;
		EXPECT_EQ(-1, syscall(SYS_io_uring_setup, 4, &params));
		EXPECT_EQ(EINVAL, errno);
	}
	errno = 0;
	EXPECT_EQ(-1, syscall(SYS_io_uring_setup, 4, NULL));
	EXPECT_EQ(EFAULT, errno);
}

TEST(ring_is_not_registered_under_another_number)
{
	int set = epoll_create1(0);
	struct io_uring_rsrc_update update;
	struct raw_ring r;

	ASSERT_EQ(0, raw_ring_open(&r, 0, RAW_ENTRIES));
	memset(&update, 0, sizeof(update));
	update.offset = -1U;
	update.data = r.fd;
	errno = 0;
	EXPECT_EQ(-1, syscall(SYS_io_uring_register, r.fd,
			      RAW_REGISTER_RING_FDS, &update, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_TRUE(works_by(&r, set));
	/* All else is passed on. */
	EXPECT_EQ(0, syscall(SYS_io_uring_register, r.fd,
			     IORING_REGISTER_FILES, &set, 1));
	EXPECT_EQ(0, syscall(SYS_io_uring_register, r.fd,
			     IORING_UNREGISTER_FILES, NULL, 0));
}

TEST_HARNESS_MAIN

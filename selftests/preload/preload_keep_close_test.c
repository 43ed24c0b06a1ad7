// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so keeps a descriptor of the device: programs that close
 * all descriptors, use its number, or have children.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/fadvise_filter.h"
#include "preload/preload_keep.h"
#include "preload/step.h"

TEST_F(keep, is_not_open_for_the_program)
{
	errno = 0;
	EXPECT_EQ(-1, close(self->kept));
	EXPECT_EQ(EBADF, errno);
	errno = 0;
	EXPECT_EQ(-1, syscall(SYS_close, self->kept));
	EXPECT_EQ(EBADF, errno);
	ASSERT_EQ(0, leave_the_root());
	EXPECT_TRUE(makes_sets());
}

static void close_each(int kept)
{
	int fd;

	(void)kept;
	for (fd = 3; fd < NUMBERS; fd++)
		close(fd);
}

static void close_by_closefrom(int kept)
{
	(void)kept;
	closefrom(3);
}

static void close_from_kept(int kept)
{
	closefrom(kept);
}

static void close_by_range(int kept)
{
	(void)kept;
	close_range(3, ~0U, 0);
}

static void close_kept_alone(int kept)
{
	close_range(kept, kept, 0);
}

static void close_by_number(int kept)
{
	(void)kept;
	syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_UNSHARE);
}

static void close_under_a_filter(int kept)
{
	(void)kept;
	if (!refuse_call(SYS_close_range, ENOSYS))
		closefrom(3);
}

TEST_F(keep, is_left_when_all_is_closed)
{
	static void (*const ways[])(int kept) = {
		close_each, close_by_closefrom, close_from_kept,
		close_by_range, close_kept_alone, close_by_number,
		close_under_a_filter,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		pid_t child = fork();

		if (!child) {
			const int low = dup2(0, self->kept - 1);
			const int high = dup2(0, self->kept + 1);
			const bool all = ways[i] != close_kept_alone;

			ways[i](self->kept);
			/* Its neighbours are gone, if they were named. */
			if ((fcntl(high, F_GETFD) < 0) != all ||
			    (fcntl(low, F_GETFD) < 0) !=
			    (all && ways[i] != close_from_kept))
				_exit(1);
			_exit(leave_the_root() ? 2 : !makes_sets() ? 3 : 0);
		}
		EXPECT_EQ(0, reap(child)) TH_LOG("way %zu", i);
	}
}

TEST_F(keep, leaves_errors_of_ranges_to_the_kernel)
{
	errno = 0;
	EXPECT_EQ(-1, close_range(3, ~0U, 0x100));
	EXPECT_EQ(EINVAL, errno);
	errno = 0;
	EXPECT_EQ(-1, close_range(self->kept, self->kept, 0x100));
	EXPECT_EQ(EINVAL, errno);
	errno = 0;
	EXPECT_EQ(-1, close_range(self->kept + 1, self->kept, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(self->kept, kept_number());
}

TEST_F(keep, leaves_its_number_to_the_program)
{
	int fd = eventfd_new(), i;

	for (i = 0; i < 6; i++) {
		const int number = kept_number();

		ASSERT_LE(0, number);
		switch (i % 3) {
		case 0:
			ASSERT_EQ(number, dup2(fd, number));
			break;
		case 1:
			ASSERT_EQ(number, dup3(fd, number, O_CLOEXEC));
			break;
		case 2:
			ASSERT_EQ(number, syscall(SYS_dup3, fd, number, 0));
			break;
		}
		EXPECT_FALSE(is_set_of_the_device(number));
		/* It is the program's now. */
		if (i < 3)
			EXPECT_EQ(0, close(number));
	}
	EXPECT_EQ(FD_CLOEXEC, fcntl(kept_number(), F_GETFD));
	ASSERT_EQ(0, leave_the_root());
	EXPECT_TRUE(makes_sets());
}

static int dup2_by_number(int fd, int fd2)
{
	return syscall(SYS_dup3, fd, fd2, 0);
}

static int dup3_with_flag(int fd, int fd2)
{
	return dup3(fd, fd2, O_CLOEXEC);
}

TEST_F(keep, survives_a_dup2_that_fails)
{
	int (*const ways[])(int fd, int fd2) = {
		dup2, dup3_with_flag, dup2_by_number,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		errno = 0;
		EXPECT_EQ(-1, ways[i](NUMBERS - 1, kept_number()));
		EXPECT_EQ(EBADF, errno);
		/* One, wherever it is. */
		EXPECT_EQ(-1, device_from(kept_number() + 1))
			TH_LOG("way %zu", i);
	}
	ASSERT_EQ(0, leave_the_root());
	EXPECT_TRUE(makes_sets());
}

#ifdef HAS_STEPS

static volatile int taken_in_a_step;

static void take_lowest_number(void)
{
	taken_in_a_step = dup(STDIN_FILENO);
}

/* A handler opens a file at each instruction in turn, as a thread might. */
TEST_F_TIMEOUT(keep, leaves_its_number_to_nobody_else, 120)
{
	int fd = eventfd_new(), n;
	bool stepped = true;

	while ((n = dup(fd)) < self->kept)
		ASSERT_LE(0, n);
	close(n);
	for (n = 1; stepped; n++) {
		taken_in_a_step = -1;
		steps_begin(take_lowest_number);
		dup2(fd, self->kept);
		stepped = steps_end();
		ASSERT_NE(self->kept, taken_in_a_step)
			TH_LOG("taken at step %d", n);
		close(taken_in_a_step);
		/* It returns to the number that it had. */
		ASSERT_EQ(0, close(self->kept));
		taken_in_a_step = kept_number();
		ASSERT_EQ(taken_in_a_step, dup2(fd, taken_in_a_step));
		ASSERT_EQ(0, close(taken_in_a_step));
		ASSERT_EQ(self->kept, kept_number());
	}
	EXPECT_LT(50, n);
}

#endif

/* By a call that the library does not see. */
TEST_F(keep, may_be_lost_and_its_number_used)
{
	int (*close_it)(int fd) = function_of_libc("close");
	int (*dup2_it)(int fd, int fd2) = function_of_libc("dup2");
	int log = open("/dev/null", O_WRONLY | O_APPEND | O_CLOEXEC);

	ASSERT_EQ(0, close_it(self->kept));
	ASSERT_EQ(self->kept, dup2_it(log, self->kept));
	EXPECT_EQ(self->kept, dup2(log, self->kept));
	EXPECT_EQ(0, close(self->kept));
	EXPECT_EQ(-1, close(self->kept));
	EXPECT_EQ(EBADF, errno);
	ASSERT_EQ(0, leave_the_root());
	EXPECT_TRUE(falls_back());
}

/* A set of the program's own that got the number is no descriptor of ours. */
TEST_F(keep, is_no_set_under_its_number)
{
	int (*dup2_it)(int fd, int fd2) = function_of_libc("dup2");
	int set = epoll_create1(0);

	ASSERT_EQ(self->kept, dup2_it(set, self->kept));
	EXPECT_EQ(0, close(self->kept));
	EXPECT_EQ(-1, fcntl(self->kept, F_GETFD));
	EXPECT_TRUE(works(set));
}

static int survive_in_child(void)
{
	int number = kept_number(), fd;

	closefrom(3);
	fd = dup(0);
	if (dup2(fd, number) != number || leave_the_root())
		return 1;
	return makes_sets() ? 0 : 2;
}

TEST_F(keep, is_there_for_children)
{
	pid_t (*const ways[])(void) = { fork, _Fork };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		pid_t child = ways[i]();

		if (!child)
			_exit(survive_in_child());
		EXPECT_EQ(0, reap(child)) TH_LOG("way %zu", i);
		EXPECT_EQ(self->kept, kept_number());
	}
}

/* The child has the memory of its parent, and descriptors of its own. */
TEST_F(keep, is_not_confused_by_a_child_of_vfork)
{
	pid_t child = vfork();

	if (!child) {
		dup2(0, self->kept);
		close(self->kept);
		closefrom(3);
		_exit(0);
	}
	EXPECT_EQ(0, reap(child));
	EXPECT_EQ(self->kept, kept_number());
	ASSERT_EQ(0, leave_the_root());
	EXPECT_TRUE(makes_sets());
}

TEST_HARNESS_MAIN

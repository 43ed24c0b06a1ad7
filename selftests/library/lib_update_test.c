// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll: changing what is watched, and which entries failed and why.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "library/lib_update.h"

static int closed_fd(void)
{
	int fd = free_fd();

	/* Not the next one, which the library itself could get. */
	return fd + 100;
}

TEST_F(lib_update, batch_adds_changes_and_removes)
{
	int a = eventfd_new(), b = eventfd_new(), c = eventfd_new();
	struct pollfd changes[] = {
		{ .fd = a, .events = POLLIN },
		{ .fd = b, .events = POLLIN },
		{ .fd = c, .events = 0 },
	};

	ASSERT_LE(0, c);
	EXPECT_EQ(0, update(changes, 3));
	EXPECT_EQ(POLLIN, devepoll_query(self->set, a));
	EXPECT_EQ(POLLIN, devepoll_query(self->set, b));
	EXPECT_EQ(0, devepoll_query(self->set, c));

	changes[0].events = POLLOUT;
	changes[1].events = POLLREMOVE;
	EXPECT_EQ(0, update(changes, 3));
	EXPECT_EQ(POLLOUT, devepoll_query(self->set, a));
	EXPECT_EQ(-ENOENT, devepoll_query(self->set, b));
	EXPECT_EQ(1, self->failures[0].error);
}

TEST_F(lib_update, failing_entries_are_named_with_their_reason)
{
	struct devepoll *other;
	int files[] = {
		eventfd_new(),
		open("/proc/self/exe", O_RDONLY),
		open("/tmp", O_RDONLY | O_DIRECTORY),
		open("/dev/null", O_RDWR),
		closed_fd(),
		-1,
		INT_MAX,
		devepoll_fd(self->set),
		-2,		/* another set */
		epoll_create1(0),
		open("/dev/null", O_PATH),
		eventfd_new(),
	};
	static const int errors[] = {
		0, 0, 0, 0, -EBADF, -EBADF, -EBADF, -ELOOP, -ELOOP, -ELOOP,
		-EBADF, 0,
	};
	struct pollfd changes[12];
	int i, failed = 0;

	ASSERT_EQ(0, devepoll_open(&other, NULL, 1, 0));
	files[8] = devepoll_fd(other);
	for (i = 0; i < 12; i++)
		changes[i] = (struct pollfd){
			.fd = files[i], .events = POLLIN,
		};

	EXPECT_EQ(7, update(changes, 12));
	for (i = 0; i < 12; i++) {
		if (!errors[i]) {
			EXPECT_EQ(POLLIN, devepoll_query(self->set, files[i]));
			continue;
		}
		EXPECT_EQ(i, self->failures[failed].index);
		EXPECT_EQ(errors[i], self->failures[failed].error)
			TH_LOG("entry %d", i);
		EXPECT_EQ(-ENOENT, devepoll_query(self->set, files[i]));
		/* Told one by one, they have the same errors. */
		EXPECT_EQ(errors[i], devepoll_add(self->set, files[i], POLLIN));
		failed++;
	}
	EXPECT_EQ(7, failed);
	EXPECT_EQ(0, devepoll_close(other));
}

TEST_F(lib_update, in_tree_epoll_that_watches_the_set_keeps_it)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epfd = epoll_create1(0);

	ASSERT_LE(0, epfd);
	ASSERT_EQ(0, epoll_ctl(epfd, EPOLL_CTL_ADD, devepoll_fd(self->set),
			       &event));
	EXPECT_EQ(-ELOOP, devepoll_add(self->set, epfd, POLLIN));
	EXPECT_EQ(-1, epoll_ctl(epfd, EPOLL_CTL_ADD, devepoll_fd(self->set),
				&event));
	EXPECT_EQ(EEXIST, errno);
}

TEST_F(lib_update, failures_beyond_their_room_are_counted)
{
	struct pollfd changes[] = {
		{ .fd = eventfd_new(), .events = POLLIN },
		{ .fd = epoll_create1(0), .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};

	EXPECT_EQ(2, devepoll_update(self->set, changes, 3, self->failures, 1));
	EXPECT_EQ(1, self->failures[0].index);
	EXPECT_EQ(-ELOOP, self->failures[0].error);
	EXPECT_EQ(1, self->failures[1].error);
	EXPECT_EQ(2, devepoll_update(self->set, changes, 3, self->failures, 0));
}

TEST_F(lib_update, without_failures_the_count_is_the_kernels)
{
	struct pollfd changes[] = {
		{ .fd = epoll_create1(0), .events = POLLIN },
		{ .fd = closed_fd(), .events = POLLIN },
		{ .fd = eventfd_new(), .events = POLLIN },
	};

	EXPECT_EQ(1, devepoll_update(self->set, changes, 3, NULL, FAILURES));
	EXPECT_EQ(0, devepoll_update(self->set, &changes[1], 2, NULL, 0));
	EXPECT_EQ(POLLIN, devepoll_query(self->set, changes[2].fd));
}

TEST_F(lib_update, closed_fd_is_told_although_the_kernel_counts_it)
{
	struct pollfd changes[] = {
		{ .fd = eventfd_new(), .events = POLLIN },
		{ .fd = closed_fd(), .events = POLLIN },
		{ .fd = closed_fd() + 1, .events = POLLREMOVE },
	};

	EXPECT_EQ(1, update(changes, 3));
	EXPECT_EQ(1, self->failures[0].index);
	EXPECT_EQ(-EBADF, self->failures[0].error);
}

TEST_F(lib_update, closed_fd_is_not_mistaken_for_a_file_of_the_library)
{
	int i;

	/* Whatever the library opens to find out gets one of these numbers. */
	for (i = 0; i < 8; i++) {
		int fd = free_fd() + i;

		EXPECT_EQ(-EBADF, devepoll_add(self->set, fd, POLLIN));
		EXPECT_EQ(-ENOENT, devepoll_query(self->set, fd));
	}
}

TEST_F(lib_update, finding_out_leaves_no_descriptor)
{
	struct pollfd changes[] = {
		{ .fd = epoll_create1(0), .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};
	int fds = count_fds(), next = free_fd();

	ASSERT_LT(0, fds);
	ASSERT_LE(0, next);
	EXPECT_EQ(2, update(changes, 2));
	EXPECT_EQ(fds, count_fds());
	EXPECT_EQ(next, free_fd());
}

TEST_F(lib_update, refusal_that_can_not_be_explained_says_so)
{
	struct rlimit limit, none;
	int epoll = epoll_create1(0);

	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	none = limit;
	none.rlim_cur = free_fd();
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(-EMFILE, devepoll_add(self->set, epoll, POLLIN));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	EXPECT_EQ(-ELOOP, devepoll_add(self->set, epoll, POLLIN));
}

TEST_F(lib_update, without_a_free_descriptor_only_what_was_refused_is_named)
{
	struct pollfd changes[] = {
		{ .fd = eventfd_new(), .events = POLLIN },
		{ .fd = eventfd_new(), .events = POLLIN },
		{ .fd = epoll_create1(0), .events = POLLIN },
		{ .fd = closed_fd(), .events = POLLIN },
	};
	struct rlimit limit, none;
	int failed;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	none = limit;
	none.rlim_cur = free_fd();
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	failed = update(changes, 4);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));

	EXPECT_EQ(2, failed);
	EXPECT_EQ(2, self->failures[0].index);
	EXPECT_EQ(-EMFILE, self->failures[0].error);
	EXPECT_EQ(3, self->failures[1].index);
	EXPECT_EQ(-EBADF, self->failures[1].error);
	EXPECT_EQ(POLLIN, devepoll_query(self->set, changes[0].fd));
	EXPECT_EQ(POLLIN, devepoll_query(self->set, changes[1].fd));
}

TEST_F(lib_update, last_entry_of_an_fd_decides)
{
	int epoll = epoll_create1(0), event = eventfd_new();
	struct pollfd changes[] = {
		{ .fd = epoll, .events = POLLIN },
		{ .fd = event, .events = POLLIN },
		{ .fd = epoll, .events = POLLREMOVE },
		{ .fd = event, .events = POLLOUT },
	};
	struct pollfd twice[] = {
		{ .fd = epoll, .events = POLLREMOVE },
		{ .fd = epoll, .events = POLLIN },
		{ .fd = epoll, .events = POLLOUT },
	};

	ASSERT_LE(0, event);
	EXPECT_EQ(0, update(changes, 4));
	EXPECT_EQ(POLLOUT, devepoll_query(self->set, event));

	EXPECT_EQ(1, update(twice, 3));
	EXPECT_EQ(2, self->failures[0].index);
	EXPECT_EQ(-ELOOP, self->failures[0].error);
}

TEST_F(lib_update, unreadable_entries_are_efault_and_nothing_is_done)
{
	long page = sysconf(_SC_PAGESIZE);
	struct pollfd *changes;
	char *map;

	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)map);
	ASSERT_EQ(0, munmap(map + page, page));
	changes = (struct pollfd *)(map + page) - 1;
	*changes = (struct pollfd){ .fd = eventfd_new(), .events = POLLIN };

	EXPECT_EQ(-EFAULT, update(changes, 2));
	EXPECT_EQ(-ENOENT, devepoll_query(self->set, changes->fd));
	EXPECT_EQ(-EFAULT, update(NULL, 1));
	EXPECT_EQ(0, update(changes, 1));
}

TEST_F(lib_update, add_replaces_and_change_does_not_add)
{
	int fd = eventfd_new();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-ENOENT, devepoll_change(self->set, fd, POLLIN));
	EXPECT_EQ(-ENOENT, devepoll_query(self->set, fd));
	EXPECT_EQ(0, devepoll_add(self->set, fd, POLLIN));
	EXPECT_EQ(0, devepoll_add(self->set, fd, POLLIN | POLLOUT));
	EXPECT_EQ(POLLIN | POLLOUT, devepoll_query(self->set, fd));
	EXPECT_EQ(0, devepoll_change(self->set, fd, POLLIN));
	EXPECT_EQ(POLLIN, devepoll_query(self->set, fd));
	EXPECT_EQ(-EINVAL, devepoll_add(self->set, fd, POLLREMOVE));
	EXPECT_EQ(-EINVAL, devepoll_change(self->set, fd, POLLREMOVE));
	EXPECT_EQ(POLLIN, devepoll_query(self->set, fd));
}

TEST_F(lib_update, remove_takes_any_number_and_drops_its_event)
{
	int fd = eventfd_new();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(0, devepoll_add(self->set, fd, POLLIN));
	EXPECT_EQ(0, devepoll_remove(self->set, fd));
	EXPECT_EQ(0, devepoll_wait(self->set, &self->cursor, 0));
	EXPECT_EQ(0, devepoll_remove(self->set, fd));
	EXPECT_EQ(0, devepoll_remove(self->set, closed_fd()));
	EXPECT_EQ(0, devepoll_remove(self->set, -1));
	EXPECT_EQ(0, devepoll_remove(self->set, INT_MAX));
}

TEST_F(lib_update, closed_file_leaves_the_set)
{
	int fd = eventfd_new();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, devepoll_add(self->set, fd, POLLIN));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(-ENOENT, devepoll_query(self->set, fd));
	EXPECT_EQ(-ENOENT, devepoll_change(self->set, fd, POLLIN));
}

/*
 * poll(2) of this file reports once that it changed.  If the library had polled
 * it to find out why another entry failed, the event would be gone.
 */
TEST_F(lib_update, finding_out_uses_up_no_event)
{
	int mounts = open("/proc/self/mounts", O_RDONLY);
	struct pollfd changes[] = {
		{ .fd = mounts, .events = POLLPRI },
		{ .fd = epoll_create1(0), .events = POLLIN },
	};
	int n;

	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ASSERT_EQ(0, close(mounts));
	ASSERT_EQ(mounts, open("/proc/self/mounts", O_RDONLY));
	ASSERT_EQ(1, update(changes, 2));
	n = devepoll_wait(self->set, &self->cursor, 0);
	ASSERT_LE(0, n);

	ASSERT_EQ(0, mount("none", "/tmp", "tmpfs", 0, NULL));
	ASSERT_EQ(1, update(changes, 2));
	EXPECT_EQ(0, self->failures[0].index - 1);
	ASSERT_EQ(1, devepoll_wait(self->set, &self->cursor, 0));
	EXPECT_EQ(mounts, devepoll_next(&self->cursor)->fd);
}

TEST_HARNESS_MAIN

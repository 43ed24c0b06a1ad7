// SPDX-License-Identifier: GPL-2.0
/*
 * Further opens of a set that outlive the first: in other processes, in other
 * programs, and as what keeps the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "epoll/reopen.h"

/* A process that was given only this open. */
static int use_as_stranger(int socket, int member)
{
	struct devepoll_event out;
	int reader = receive_fd(socket);

	if (reader < 0 || add(reader, member, EPOLLIN) != -EBADF ||
	    remove_fd(reader, member) != -EBADF ||
	    dep_request(reader, DEVEPOLL_REOPEN, (void *)O_RDWR) != -EBADF)
		return 1;
	if (dep_wait(reader, &out, 1, -1) != 1 || out.data != 42)
		return 2;
	/* Through a path it is another set, or none. */
	return items(reader) == 1 ? 0 : 3;
}

TEST_F(reopen, is_handed_on_with_less_access)
{
	int pair[2], reader = REOPEN(self->set, O_RDONLY | O_CLOEXEC);
	pid_t child;

	ASSERT_LE(0, reader);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	ASSERT_EQ(0, add(self->set, self->member, EPOLLIN));
	child = fork();
	if (!child) {
		close(self->set);
		close(reader);
		close(pair[0]);
		_exit(use_as_stranger(pair[1], self->member));
	}
	ASSERT_LT(0, child);
	/* None but what is in the socket, and what the child has then. */
	ASSERT_EQ(0, send_fd(pair[0], reader));
	EXPECT_EQ(0, close(reader));
	EXPECT_EQ(0, close(self->set));
	ASSERT_EQ(0, eventfd_post(self->member));
	EXPECT_EQ(0, reap(child));
}

TEST_F(reopen, is_kept_or_closed_by_exec)
{
	int kept = REOPEN(self->set, O_RDONLY);
	int closed = REOPEN(self->set, O_RDONLY | O_CLOEXEC);
	char command[128];
	pid_t child;

	ASSERT_LE(0, kept);
	ASSERT_LE(0, closed);
	snprintf(command, sizeof(command),
		 "[ -e /proc/self/fd/%d ] && ! [ -e /proc/self/fd/%d ]", kept,
		 closed);
	child = fork();
	if (!child) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	EXPECT_EQ(0, reap(child));
}

static int unload(void)
{
	return syscall(SYS_delete_module, "devepoll", O_NONBLOCK) ? -errno : 0;
}

TEST_F(reopen, keeps_the_module)
{
	int reader = REOPEN(self->set, O_RDONLY);

	if (geteuid())
		SKIP(return, "not root");
	ASSERT_LE(0, reader);
	EXPECT_EQ(0, close(self->set));
	EXPECT_EQ(-EAGAIN, unload());
	EXPECT_EQ(0, items(reader));
}

TEST_HARNESS_MAIN

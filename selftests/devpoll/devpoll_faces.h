/* SPDX-License-Identifier: GPL-2.0 */
/* A set of either face of /dev/poll, and two sockets.  It needs the harness. */
#ifndef SELFTESTS_DEVPOLL_FACES_H
#define SELFTESTS_DEVPOLL_FACES_H

#include <sys/socket.h>
#include <unistd.h>

#include "core/devpoll.h"
#include "core/helpers.h"

FIXTURE(devpoll) {
	enum dp_face face;
	int fd;
	int fds[2];
	int next;
};

FIXTURE_VARIANT(devpoll) {
	enum dp_face face;
};

FIXTURE_VARIANT_ADD(devpoll, linux) { .face = DP_LINUX };
FIXTURE_VARIANT_ADD(devpoll, solaris) { .face = DP_SOLARIS };

FIXTURE_SETUP(devpoll)
{
	self->next = next_fd();
	ASSERT_LE(0, self->next);
	self->face = variant->face;
	ASSERT_LE(0, (self->fd = dp_open()));
	ASSERT_EQ(0, unix_pair(self->fds, SOCK_STREAM));
	/* Now the face is known. */
	ASSERT_EQ(0, dp_wait_one(self->face, self->fd, -1, 0));
}

FIXTURE_TEARDOWN(devpoll)
{
	EXPECT_EQ(0, close(self->fd));
	close(self->fds[0]);
	close(self->fds[1]);
	EXPECT_EQ(self->next, next_fd());
}

#endif /* SELFTESTS_DEVPOLL_FACES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* The descriptor that libdevepoll-preload.so keeps, in a program with it. */
#ifndef SELFTESTS_PRELOAD_KEEP_H
#define SELFTESTS_PRELOAD_KEEP_H

#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <unistd.h>

#include "core/helpers.h"
#include "preload/preloaded.h"

#define NUMBERS		1024
#define KEPT_FROM	240
#define NOBODY		65534

static inline int leave_the_root(void)
{
	return unshare(CLONE_NEWNS) ||
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("none", "/mnt", "tmpfs", 0, NULL) || chroot("/mnt") ||
	       chdir("/");
}

/* The first number from this one on that names the device. */
static inline int device_from(int fd)
{
	for (; fd < NUMBERS; fd++) {
		if (is_set_of_the_device(fd))
			return fd;
	}
	return -1;
}

/* The sets of this program have lower numbers. */
static inline int kept_number(void)
{
	return device_from(KEPT_FROM);
}

/* After chroot(2), where nothing has a path. */
static inline bool makes_sets(void)
{
	int set = epoll_create1(EPOLL_CLOEXEC);
	bool does = is_set_of_the_device(set) && works(set) &&
		    fcntl(set, F_GETFD) == FD_CLOEXEC &&
		    fcntl(set, F_GETFL) == O_RDWR && set < kept_number();

	close(set);
	set = epoll_create(1);
	does &= is_set_of_the_device(set) && works(set) &&
		fcntl(set, F_GETFD) == 0;
	close(set);
	return does;
}

static inline bool falls_back(void)
{
	int set = epoll_create1(0);
	bool does = !is_set_of_the_device(set) && works(set);

	close(set);
	return does;
}

FIXTURE(keep) {
	int kept;
};

FIXTURE_SETUP(keep)
{
	self->kept = kept_number();
	ASSERT_LE(0, self->kept);
}

FIXTURE_TEARDOWN(keep)
{
}

#endif /* SELFTESTS_PRELOAD_KEEP_H */

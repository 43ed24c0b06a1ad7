/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of the library share.
 */
#ifndef SELFTESTS_LIB_HELPERS_H
#define SELFTESTS_LIB_HELPERS_H

#include <fcntl.h>
#include <unistd.h>

#include "devepoll.h"
#include "core/helpers.h"

/* The tests end by _exit, where the sanitizer does not look for leaks. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#define leaks_memory()	__lsan_do_recoverable_leak_check()
#else
#define leaks_memory()	0
#endif

/* What no call may leave as it was. */
static inline struct devepoll_cursor poisoned_cursor(void)
{
	return (struct devepoll_cursor){
		.next = (void *)0x5a5a5a58, .end = (void *)0x5a5a5a60,
	};
}

/* The number that the next open file gets. */
static inline int free_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

/* An eventfd in the set that was posted; or -errno. */
static inline int add_posted(struct devepoll *set)
{
	int fd = eventfd_new();
	int err;

	if (fd < 0)
		return fd;
	err = devepoll_add(set, fd, POLLIN);
	if (!err)
		err = eventfd_post(fd);
	return err ? err : fd;
}

#endif /* SELFTESTS_LIB_HELPERS_H */

// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The functions of the C library that close fds.  The preload library replaces
 * them in order to drop the rings of instances that are being closed, and does
 * so before the kernel can give the number to another file.
 */
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/close_range.h>

#include "entry.h"
#include "preload.h"
#include "preload_close.h"
#include "preload_next.h"
#include "preload_ring.h"

static void note(unsigned int fd)
{
	if (preload_ring_of(fd))
		devepoll_preload_ring_close(fd, fd);
}

/**
 * devepoll_preload_note_close() - note that a system call closes fds
 * @nr: the number of a system call
 * @a: its first argument
 * @b: its second argument
 * @c: its third argument
 */
void devepoll_preload_note_close(long nr, long a, long b, long c)
{
	switch (nr) {
	case SYS_close:
		note(a);
		break;
	case SYS_close_range:
		/* With the flag it closes nothing now. */
		if (!(c & CLOSE_RANGE_CLOEXEC))
			devepoll_preload_ring_close(a, b);
		break;
	case SYS_dup2:
	case SYS_dup3:
		if (a != b)
			devepoll_preload_ring_renumber(b);
		break;
	}
}

static int closing_call(long nr, long a, long b, long c)
{
	return syscall_result(raw_call(nr, a, b, c, 0, 0, 0));
}

/*
 * What follows holds the ring while it notes what is closed, so it must not be
 * canceled there.  Then close() can be, as the C library has it: since glibc
 * 2.41, a close that took effect always returns.
 */

int close(int fd)
{
	int (*next)(int fd) = devepoll_preload_next.close;

	note(fd);
	return next ? next(fd) : closing_call(SYS_close, fd, 0, 0);
}

int dup2(int fd, int fd2)
{
	int (*next)(int fd, int fd2) = devepoll_preload_next.dup2;

	devepoll_preload_note_close(SYS_dup2, fd, fd2, 0);
	return next ? next(fd, fd2) : closing_call(SYS_dup2, fd, fd2, 0);
}

int dup3(int fd, int fd2, int flags)
{
	int (*next)(int fd, int fd2, int flags) = devepoll_preload_next.dup3;

	devepoll_preload_note_close(SYS_dup3, fd, fd2, flags);
	return next ? next(fd, fd2, flags) :
		      closing_call(SYS_dup3, fd, fd2, flags);
}

int close_range(unsigned int first, unsigned int last, int flags)
{
	int (*next)(unsigned int first, unsigned int last, int flags) =
		devepoll_preload_next.close_range;

	devepoll_preload_note_close(SYS_close_range, first, last, flags);
	return next ? next(first, last, flags) :
		      closing_call(SYS_close_range, first, last, flags);
}

void closefrom(int lowfd)
{
	struct preload_next *next = &devepoll_preload_next;
	const int first = lowfd < 0 ? 0 : lowfd;

	devepoll_preload_ring_close(first, UINT_MAX);
	/* It has other ways, too, if a filter refuses the system call. */
	if (!next->closefrom)
		devepoll_preload_find_next();
	if (next->closefrom)
		next->closefrom(lowfd);
	else
		closing_call(SYS_close_range, first, UINT_MAX, 0);
}

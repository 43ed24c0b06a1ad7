// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The functions of the C library that close fds.  The preload library replaces
 * them in order to drop the rings of instances that are being closed, and those
 * of io_uring (uring_view.c), and does so before the kernel can give the number
 * to another file; and in order not to lose the descriptor that it keeps
 * (keep.c).
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/close_range.h>

#include "entry.h"
#include "preload/call.h"
#include "preload/close.h"
#include "preload/keep.h"
#include "preload/next.h"
#include "preload/ring.h"
#include "preload/uring_view.h"

static void note(unsigned int fd)
{
	devepoll_uring_view_drop(fd, fd);
	if (preload_ring_of(fd))
		devepoll_preload_ring_close(fd, fd);
}

/* The program did not open the descriptor that the library keeps. */
static bool is_kept(int fd)
{
	return preload_may_keep(fd) && devepoll_preload_keep_find(fd, fd) == fd;
}

/* True if the library's descriptor has moved; fd2, its old number, is open. */
static bool note_dup(int fd, int fd2)
{
	bool moved = false;

	if (fd == fd2)
		return false;
	devepoll_uring_view_drop(fd2, fd2);
	if (preload_may_keep(fd2))
		moved = devepoll_preload_keep_move(fd2);
	devepoll_preload_ring_renumber(fd2);
	return moved;
}

/*
 * After the close: drops the ring once more, as another thread may have entered
 * it before.
 */
static long noted(long ret, unsigned int first, unsigned int last)
{
	devepoll_uring_view_drop(first, last);
	return ret;
}

static long noted_dup(long ret, int fd2, bool moved)
{
	if (moved && ret < 0)
		devepoll_preload_keep_moved(fd2);
	return noted(ret, fd2, fd2);
}

static long closing_call(long nr, long a, long b, long c)
{
	return raw_call(nr, a, b, c, 0, 0, 0);
}

static long range_by_number(unsigned int first, unsigned int last, int flags)
{
	return closing_call(SYS_close_range, first, last, flags);
}

static long range_by_next(unsigned int first, unsigned int last, int flags)
{
	int (*next)(unsigned int first, unsigned int last, int flags) =
		devepoll_preload_next.close_range;

	if (!next)
		return range_by_number(first, last, flags);
	return next(first, last, flags) ? -errno : 0;
}

/* All but the descriptor that the library keeps. */
static long close_numbers(unsigned int first, unsigned int last, int flags,
			  long (*range)(unsigned int first, unsigned int last,
					int flags))
{
	long ret = 0;
	int kept;

	/* With the flag it closes nothing now. */
	if (flags & CLOSE_RANGE_CLOEXEC)
		return range(first, last, flags);
	devepoll_uring_view_drop(first, last);
	devepoll_preload_ring_close(first, last);
	kept = devepoll_preload_keep_find(first, last);
	if (kept < 0)
		return range(first, last, flags);
	if (first < (unsigned int)kept)
		ret = range(first, kept - 1, flags);
	/* The flags count where nothing is left to close, too. */
	if (!ret)
		ret = last > (unsigned int)kept ?
			      range(kept + 1, last, flags) :
			      range(UINT_MAX, UINT_MAX, flags);
	return ret;
}

/**
 * devepoll_preload_close_call() - make a system call that closes fds
 * @nr: the number of the system call
 * @a: its first argument
 * @b: its second argument
 * @c: its third argument
 *
 * Return: as the call, with a negative errno.
 */
long devepoll_preload_close_call(long nr, long a, long b, long c)
{
	bool moved;

	switch (nr) {
	case SYS_close:
		if (is_kept(a))
			return -EBADF;
		note(a);
		return noted(closing_call(nr, a, b, c), a, a);
	case SYS_close_range:
		return noted(close_numbers(a, b, c, range_by_number), a, b);
	case SYS_dup2:
	case SYS_dup3:
		moved = note_dup(a, b);
		return noted_dup(closing_call(nr, a, b, c), b, moved);
	}
	return closing_call(nr, a, b, c);
}

/*
 * These functions hold the ring while they note what is closed, and must not be
 * canceled there.  After that, close() can be, as in the C library: since glibc
 * 2.41, a close that took effect always returns.
 */

int close(int fd)
{
	int (*next)(int fd) = devepoll_preload_next.close;

	if (__builtin_expect(is_kept(fd), 0))
		return syscall_result(-EBADF);
	note(fd);
	return noted(next ? next(fd) :
			    syscall_result(closing_call(SYS_close, fd, 0, 0)),
		     fd, fd);
}

int dup2(int fd, int fd2)
{
	int (*next)(int fd, int fd2) = devepoll_preload_next.dup2;
	bool moved = note_dup(fd, fd2);

	return noted_dup(next ? next(fd, fd2) :
				syscall_result(closing_call(SYS_dup2, fd, fd2,
							    0)),
			 fd2, moved);
}

int dup3(int fd, int fd2, int flags)
{
	int (*next)(int fd, int fd2, int flags) = devepoll_preload_next.dup3;
	bool moved = note_dup(fd, fd2);

	return noted_dup(next ? next(fd, fd2, flags) :
				syscall_result(closing_call(SYS_dup3, fd, fd2,
							    flags)),
			 fd2, moved);
}

int close_range(unsigned int first, unsigned int last, int flags)
{
	return syscall_result(noted(close_numbers(first, last, flags,
						  range_by_next),
				    first, last));
}

/* A filter may refuse close_range(2). */
static void close_each(unsigned int first, unsigned int last)
{
	if (!range_by_next(first, last, 0))
		return;
	for (; first <= last; first++)
		closing_call(SYS_close, first, 0, 0);
}

void closefrom(int lowfd)
{
	struct preload_next *next = &devepoll_preload_next;
	int first = lowfd < 0 ? 0 : lowfd, kept;

	devepoll_uring_view_drop(first, UINT_MAX);
	devepoll_preload_ring_close(first, UINT_MAX);
	kept = devepoll_preload_keep_find(first, UINT_MAX);
	if (kept > first)
		close_each(first, kept - 1);
	if (kept >= 0)
		first = kept + 1;
	/* The C library has other ways, too, if a filter refuses the call. */
	if (!next->closefrom)
		devepoll_preload_find_next();
	if (next->closefrom)
		next->closefrom(first);
	else
		range_by_number(first, UINT_MAX, 0);
	devepoll_uring_view_drop(lowfd < 0 ? 0 : lowfd, UINT_MAX);
}

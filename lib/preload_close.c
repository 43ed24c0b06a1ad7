// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The functions of the C library that close fds.  The preload library replaces
 * them in order to drop the rings of instances that are being closed, and does
 * so before the kernel can give the number to another file.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/close_range.h>

#include "cancel.h"
#include "entry.h"
#include "preload.h"
#include "preload_close.h"
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
			note(b);
		break;
	}
}

static int closing_call(long nr, long a, long b, long c)
{
	devepoll_preload_note_close(nr, a, b, c);
	return syscall_result(raw_call(nr, a, b, c, 0, 0, 0));
}

int close(int fd)
{
	int type, ret;

	/* This holds the ring, so it must not be canceled. */
	note(fd);
	/* As in the C library, a close that sleeps can be canceled. */
	type = cancel_begin(true);
	ret = syscall_result(raw_call(SYS_close, fd, 0, 0, 0, 0, 0));
	cancel_end(type);
	return ret;
}

int dup2(int fd, int fd2)
{
	return closing_call(SYS_dup2, fd, fd2, 0);
}

int dup3(int fd, int fd2, int flags)
{
	return closing_call(SYS_dup3, fd, fd2, flags);
}

int close_range(unsigned int first, unsigned int last, int flags)
{
	return closing_call(SYS_close_range, first, last, flags);
}

/* A number in decimal, or -1 for "." and "..". */
static int number_of(const char *name)
{
	int fd = *name >= '0' && *name <= '9' ? 0 : -1;

	while (*name >= '0' && *name <= '9')
		fd = 10 * fd + *name++ - '0';
	return fd;
}

/* Closes those of one reading of the folder @dir; how many, or -errno. */
static long close_some(int dir, int lowfd)
{
	union {
		char bytes[1024];
		struct entry {
			uint64_t ino;
			int64_t off;
			unsigned short reclen;
			unsigned char type;
			char name[];
		} first;
	} list;
	long at, size, closed = 0;

	while ((size = raw_call(SYS_getdents64, dir, (long)&list, sizeof(list),
				0, 0, 0)) > 0) {
		struct entry *entry;

		for (at = 0; at < size; at += entry->reclen) {
			int fd;

			entry = (struct entry *)(list.bytes + at);
			fd = number_of(entry->name);
			if (fd >= lowfd && fd != dir &&
			    !closing_call(SYS_close, fd, 0, 0))
				closed++;
		}
	}
	return size < 0 ? size : closed;
}

/* Closes the fds that /proc lists; false if it can't be read. */
static bool close_listed(int lowfd)
{
	int dir = raw_call(SYS_openat, AT_FDCWD, (long)"/proc/self/fd",
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	long closed;

	if (dir < 0)
		return false;
	/* A reading may leave some out while fds are closed. */
	do
		closed = close_some(dir, lowfd);
	while (closed > 0 &&
	       !raw_call(SYS_lseek, dir, 0, SEEK_SET, 0, 0, 0));
	raw_call(SYS_close, dir, 0, 0, 0, 0, 0);
	return !closed;
}

/* Closes all numbers that the program may use now. */
static void close_all(int lowfd)
{
	int fd, last = sysconf(_SC_OPEN_MAX);

	for (fd = lowfd; fd < last; fd++)
		closing_call(SYS_close, fd, 0, 0);
}

void closefrom(int lowfd)
{
	const int saved = errno;

	if (lowfd < 0)
		lowfd = 0;
	if (close_range(lowfd, UINT_MAX, 0) < 0) {
		/* A filter of system calls refuses it. */
		if (!close_listed(lowfd))
			close_all(lowfd);
	}
	errno = saved;
}

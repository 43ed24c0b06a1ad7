// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A descriptor of the device that the preload library keeps, so that it can
 * make instances where the node has no path any more.
 *
 * The program does not know the descriptor and must not lose it by closing
 * whatever is open: close(2) of its number fails as if it were not open, ranges
 * leave it out, and dup2(2) onto it gets the number, while the descriptor moves
 * to another one.  A system call that the library does not see can close it,
 * and the number may then be a file of the program: so the file is looked at
 * each time before the library acts on the number.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>

#include "entry.h"
#include "preload/keep.h"
#include "preload/settings.h"

/*
 * The least number: above those that programs choose, and low enough for a
 * small table of descriptors.  Where the limit is lower, none is kept.
 */
#define KEEP_FROM	240

/*
 * Marks the file among all opens of the device: instances never have this flag,
 * because neither the library nor, as a rule, a program sets it.
 */
#define KEEP_MARK	O_APPEND

atomic_int devepoll_preload_kept = -1;

/*
 * The process that this memory belongs to: a child of vfork(2), which has
 * descriptors of its own, must not write there.
 */
static int keeper;

static int kept_number(void)
{
	return atomic_load_explicit(&devepoll_preload_kept,
				    memory_order_relaxed);
}

static bool is_keeper(void)
{
	return raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0) == keeper;
}

/* Fails if another thread has moved it, or if this memory is another process's. */
static bool set_kept(int from, int fd)
{
	return is_keeper() &&
	       atomic_compare_exchange_strong(&devepoll_preload_kept, &from,
					      fd);
}

static bool is_ours(int fd)
{
	const long flags = raw_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);

	return flags >= 0 && flags & KEEP_MARK && devepoll_entry_is_device(fd);
}

/**
 * devepoll_preload_keep_find() - find the descriptor in a range of numbers
 * @first: the first number
 * @last: the last number
 *
 * Return: its number, or -1 if it is not there.
 */
int devepoll_preload_keep_find(unsigned int first, unsigned int last)
{
	int fd = kept_number();

	while (fd >= 0 && (unsigned int)fd >= first && (unsigned int)fd <= last) {
		if (is_ours(fd))
			return fd;
		/* If no thread has moved it, it was closed unseen. */
		if (set_kept(fd, -1) || kept_number() == fd)
			return -1;
		fd = kept_number();
	}
	return -1;
}

/**
 * devepoll_preload_keep_move() - leave a number to the program
 * @fd: the number, which the program is about to replace
 *
 * The number stays open until the call of the program replaces it: another
 * thread that opens a file meanwhile must not get it.
 *
 * A child of vfork(2) has descriptors of its own, but its parent's memory.
 * There the descriptor does not move: the child loses it.
 *
 * Return: true if devepoll_preload_keep_moved() has to follow.
 */
bool devepoll_preload_keep_move(int fd)
{
	long other;

	if (devepoll_preload_keep_find(fd, fd) < 0 || !is_keeper())
		return false;
	other = raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, KEEP_FROM, 0, 0, 0);
	/* Another thread may have moved it just now, and replaced the number. */
	if ((other < 0 || is_ours(other)) && set_kept(fd, other < 0 ? -1 : other))
		return true;
	if (other >= 0)
		raw_call(SYS_close, other, 0, 0, 0, 0, 0);
	return false;
}

/**
 * devepoll_preload_keep_moved() - end what devepoll_preload_keep_move() began
 * @fd: the number, after a call that has not replaced it
 */
void devepoll_preload_keep_moved(int fd)
{
	if (is_ours(fd))
		raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* By ioctl(2) or, if a filter refuses that, by fadvise64(2). */
static long request_new(int fd, long flags)
{
	long ret = raw_call(SYS_ioctl, fd, DEVEPOLL_NEW, flags, 0, 0, 0);
	long again;

	if (ret != -EPERM && ret != -EACCES && ret != -ENOSYS)
		return ret;
	again = fadvise_entry(fd, (void *)flags, 0, DEVEPOLL_NEW);
	return again < 0 ? ret : again;
}

/**
 * devepoll_preload_keep_create() - create an instance without a path
 * @flags: O_CLOEXEC, ENTRY_AS_EPOLL, both or 0
 * @err: the error of the path
 *
 * This is only for a path that leads nowhere: if a node is there and can't be
 * opened, an administrator has decided so, by its mode or by its number.
 *
 * Return: the fd, or an error: that of the path, unless the request has one of
 * its own.
 */
long devepoll_preload_keep_create(int flags, long err)
{
	long ret;
	int fd;

	if (err != -ENOENT && err != -ENOTDIR)
		return err;
	/* Another thread may be moving it. */
	do {
		fd = devepoll_preload_keep_find(0, INT_MAX);
		ret = fd < 0 ? err : request_new(fd, flags | O_RDWR);
	} while (ret < 0 && fd >= 0 && fd != kept_number());
	/* A module that is older than the request returns one of these two. */
	return ret == -ENOTTY || ret == -EINVAL ? err : ret;
}

/**
 * devepoll_preload_become_keeper() - note whose memory this is
 *
 * Also in the child of fork(2) and _Fork(3), but not in that of vfork(2).
 */
void devepoll_preload_become_keeper(void)
{
	keeper = raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/*
 * Keeps a set that is open for reading alone, so that no fd can be added to it:
 * that would be charged to the opener, who may have more rights than the
 * program has later.
 */
static __attribute__((constructor)) void keep(void)
{
	long fd, reader, kept;

	if (devepoll_setting(SETTING_NO_KEEP))
		return;
	fd = devepoll_entry_open(O_CLOEXEC, NULL);
	if (fd < 0)
		return;
	reader = request_new(fd, O_RDONLY | O_CLOEXEC);
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (reader < 0)
		return;
	kept = raw_call(SYS_fcntl, reader, F_DUPFD_CLOEXEC, KEEP_FROM, 0, 0, 0);
	if (kept >= 0)
		raw_call(SYS_fcntl, kept, F_SETFL, KEEP_MARK, 0, 0, 0);
	raw_call(SYS_close, reader, 0, 0, 0, 0, 0);
	if (kept < 0)
		return;
	devepoll_preload_become_keeper();
	pthread_atfork(NULL, NULL, devepoll_preload_become_keeper);
	atomic_store_explicit(&devepoll_preload_kept, kept,
			      memory_order_relaxed);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The entry into the kernel, shared by the library and the preload library:
 * system calls that do not set errno, the fadvise entry of the device, and the
 * calls of epoll on it.
 *
 * All functions return a negative errno, keep no state except one guess, take
 * no lock and allocate no memory.  They therefore work in a signal handler, in
 * a child of vfork(2), and before any constructor has run.
 */
#ifndef DEVEPOLL_ENTRY_H
#define DEVEPOLL_ENTRY_H

#include <limits.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include <linux/devepoll.h>
#include <linux/time_types.h>

#include "internal.h"
#include "raw_call.h"

/* A system call returns errors from -MAX_ERRNO to -1. */
#define MAX_ERRNO	4095

static inline bool is_error(long ret)
{
	return ret < 0 && ret >= -MAX_ERRNO;
}

/* Return from a system call in the same way as the C library. */
static inline long syscall_result(long ret)
{
	if (!is_error(ret))
		return ret;
	errno = -ret;
	return -1;
}

/* mmap(2), at a fixed address if there is one; NULL and a negative errno. */
static inline void *raw_map_at(void *at, size_t size, int prot, int flags,
			       int fd, uint64_t offset, int *err)
{
	long ret;

#ifdef __LP64__
	ret = raw_call(SYS_mmap, (long)at, size, prot, flags, fd, offset);
#else
	ret = raw_call(SYS_mmap2, (long)at, size, prot, flags, fd,
		       offset >> 12);
#endif
	*err = is_error(ret) ? ret : 0;
	return *err ? NULL : (void *)ret;
}

/* The same, over whatever is there. */
static inline void *raw_map(void *at, size_t size, int prot, int flags, int fd,
			    uint64_t offset, int *err)
{
	return raw_map_at(at, size, prot, flags | (at ? MAP_FIXED : 0), fd,
			  offset, err);
}

static inline void raw_unmap(void *address, size_t size)
{
	raw_call(SYS_munmap, (long)address, size, 0, 0, 0, 0);
}

/* fadvise64(2); if a long has 32 bits, the 64-bit arguments are split. */
static inline long fadvise_entry(int fd, const void *offset, int64_t len,
				 unsigned int advice)
{
#ifdef raw_fadvise
	return raw_fadvise(fd, offset, len, advice);
#elif defined(__LP64__)
	return raw_call(SYS_fadvise64, fd, (long)offset, len, (int)advice, 0,
			0);
#else
	return raw_call(SYS_fadvise64_64, fd, (long)offset, 0, (long)len,
			(long)(len >> 32), (int)advice);
#endif
}

/*
 * The kernel's form of a timeout: that of the C library if a long has 64 bits,
 * otherwise a copy in @copy.
 */
static inline const struct __kernel_timespec *
kernel_time(const struct timespec *from, struct __kernel_timespec *copy)
{
#ifdef __LP64__
	(void)copy;
	return (const struct __kernel_timespec *)from;
#else
	if (!from)
		return NULL;
	copy->tv_sec = from->tv_sec;
	copy->tv_nsec = from->tv_nsec;
	return copy;
#endif
}

/* The maximum that epoll_wait(2) takes. */
#define ENTRY_MAX_EVENTS	(INT_MAX / (int)sizeof(struct epoll_event))

/* The size of a signal mask for the kernel. */
#define KERNEL_SIGSET_SIZE	8

/*
 * No handler runs until entry_set_signals().  These two stay as they are, since
 * a blocked one kills a program whose instructions raise it: SIGSYS, by a filter
 * that traps system calls, ours among them; and SIGTRAP, by a program that steps
 * through itself.
 */
static inline uint64_t entry_block_signals(void)
{
	const uint64_t all = ~(1ULL << (SIGSYS - 1) | 1ULL << (SIGTRAP - 1));
	uint64_t before = 0;

	raw_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&before,
		 KERNEL_SIGSET_SIZE, 0, 0);
	return before;
}

static inline void entry_set_signals(uint64_t before)
{
	raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0,
		 KERNEL_SIGSET_SIZE, 0, 0);
}

/* The arguments of epoll_pwait(2) or epoll_pwait2(2); timeout in nanoseconds */
struct entry_wait {
	struct epoll_event *events;
	int maxevents;
	int64_t timeout;
	const void *sigmask;
	size_t sigsetsize;
};

/* A set for epoll's calls: see devepoll(4).  Older modules ignore it. */
#define ENTRY_AS_EPOLL	O_EXCL

static inline int64_t ns_of_ms(int ms)
{
	return ms < 0 ? DEVEPOLL_FOREVER : (int64_t)ms * 1000000;
}

/* If not NULL, called with an errno if a filter refuses every request. */
extern DEVEPOLL_HIDDEN void (*devepoll_entry_shut)(int err);

DEVEPOLL_HIDDEN long devepoll_entry_find_out(int fd);
DEVEPOLL_HIDDEN bool devepoll_entry_readable(const void *object, size_t size);
DEVEPOLL_HIDDEN long devepoll_entry_request(int fd, unsigned int request,
					    void *arg);
DEVEPOLL_HIDDEN int devepoll_entry_open(int flags, const char **node);
DEVEPOLL_HIDDEN long devepoll_entry_make(int epfd,
					 struct devepoll_change *change);
DEVEPOLL_HIDDEN long devepoll_entry_change(int epfd, int op, int fd,
					   const struct epoll_event *event,
					   unsigned int flags);
DEVEPOLL_HIDDEN long devepoll_entry_ctl_error(long ret, int epfd, int op,
					      int fd,
					      struct epoll_event *event);
DEVEPOLL_HIDDEN long devepoll_entry_wait_error(long ret, int epfd,
					       struct epoll_event *events,
					       int maxevents, int timeout);
DEVEPOLL_HIDDEN long devepoll_entry_pwait(int epfd,
					  const struct entry_wait *wait);
DEVEPOLL_HIDDEN long
devepoll_entry_timeout(const struct __kernel_timespec *timeout, int64_t *ns);

/* False also if the fd is not open, or if nobody knows. */
static inline bool devepoll_entry_is_device(int fd)
{
	return !devepoll_entry_find_out(fd);
}

static inline bool is_epoll_op(int op)
{
	return op >= EPOLL_CTL_ADD && op <= EPOLL_CTL_MOD;
}

/* The part of entry_ctl() that suffices where nothing is wrong. */
static inline long entry_ctl_fast(int epfd, int op, int fd,
				  struct epoll_event *event)
{
	if (__builtin_expect(!is_epoll_op(op), 0))
		return -EINVAL;
	return fadvise_entry(epfd, event, fd, DEVEPOLL_EPOLL_CTL(op));
}

/**
 * entry_ctl() - epoll_ctl(2) on the device
 * @epfd: the device
 * @op: EPOLL_CTL_ADD, EPOLL_CTL_MOD or EPOLL_CTL_DEL
 * @fd: the number
 * @event: as for epoll_ctl(2)
 *
 * Return: 0, or
 * -ENOTTY: @epfd is not the device;
 * or an error of epoll_ctl(2).
 */
static inline long entry_ctl(int epfd, int op, int fd,
			     struct epoll_event *event)
{
	long ret = entry_ctl_fast(epfd, op, fd, event);

	if (__builtin_expect(ret >= 0, 1))
		return ret;
	return devepoll_entry_ctl_error(ret, epfd, op, fd, event);
}

/**
 * entry_wait() - epoll_wait(2) on the device
 * @epfd: the device
 * @events: out: the events
 * @maxevents: number of events that fit in @events
 * @timeout: milliseconds; with a negative number the call waits indefinitely
 *
 * Return: the number of events, or
 * -ENOTTY: @epfd is not the device;
 * or an error of epoll_wait(2).
 */
static inline long entry_wait(int epfd, struct epoll_event *events,
			      int maxevents, int timeout)
{
	long ret = fadvise_entry(epfd, events,
				 DEVEPOLL_EPOLL_WAIT_LEN(maxevents, timeout),
				 DEVEPOLL_EPOLL_WAIT);

	if (__builtin_expect(ret >= 0, 1))
		return ret;
	return devepoll_entry_wait_error(ret, epfd, events, maxevents, timeout);
}

#endif /* DEVEPOLL_ENTRY_H */

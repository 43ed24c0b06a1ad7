// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The waits of the preload library: from a ring, by the usual system call, or
 * by whatever the instance needs (preload.c).
 */
#include "cancel.h"
#include "entry.h"
#include "preload.h"
#include "preload_guess.h"
#include "preload_report.h"
#include "preload_ring.h"
#include "ring_wait.h"

atomic_bool devepoll_preload_cancels;

/* Returns from a wait by a system call. */
static int waited(int epfd, struct epoll_event *events, long ret)
{
	if (ret > 0 && preload_ring_of(epfd))
		devepoll_preload_ring_written(events, ret);
	return syscall_result(ret);
}

static __attribute_noinline__
int wait_by_call(int epfd, struct epoll_event *events, int maxevents,
		 int timeout)
{
	int type = cancel_begin(timeout != 0);
	long ret = devepoll_preload_call(SYS_epoll_wait, epfd, (long)events,
					 maxevents, timeout, 0, 0);

	cancel_end(type);
	return waited(epfd, events, ret);
}

/* Ends a wait on what seemed to be the device. */
static __attribute_noinline__
int wait_failed(long ret, int epfd, struct epoll_event *events, uint64_t length)
{
	int maxevents = length >> 32, timeout = (int)length;
	int type = cancel_begin(timeout != 0);

	ret = devepoll_entry_wait_error(ret, epfd, events, maxevents, timeout);
	if (ret == -ENOTTY) {
		preload_set_guess(epfd, FOUND_EPOLL);
		ret = devepoll_preload_call(SYS_epoll_wait, epfd, (long)events,
					    maxevents, timeout, 0, 0);
	}
	cancel_end(type);
	return waited(epfd, events, ret);
}

/*
 * A wait on the device that can't be canceled.  @length has what a failure
 * needs: nothing else is saved for that.
 */
static inline __attribute__((always_inline))
int wait_uncanceled(int epfd, struct epoll_event *events, uint64_t length)
{
	long ret = fadvise_entry(epfd, events, length, DEVEPOLL_EPOLL_WAIT);

	if (__builtin_expect(ret >= 0, 1))
		return ret;
	return wait_failed(ret, epfd, events, length);
}

/* The same for one of several threads that does not sleep. */
static __attribute_noinline__
int wait_briefly(int epfd, struct epoll_event *events, uint64_t length)
{
	pthread_testcancel();
	return wait_uncanceled(epfd, events, length);
}

/* The same for one that may sleep. */
static __attribute_noinline__
int wait_among_others(int epfd, struct epoll_event *events, uint64_t length)
{
	int type;
	long ret;

	if (!(int)length)
		return wait_briefly(epfd, events, length);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	ret = fadvise_entry(epfd, events, length, DEVEPOLL_EPOLL_WAIT);
	pthread_setcanceltype(type, NULL);
	if (__builtin_expect(ret >= 0, 1))
		return ret;
	return wait_failed(ret, epfd, events, length);
}

/* Events that are in memory; -EAGAIN if a system call has to be made. */
static long take(struct preload_ring *ring, int epfd,
		 struct epoll_event *events, int maxevents, bool sleeps)
{
	bool drop;
	long ret;

	/* Also a wait that does not sleep is a cancellation point. */
	pthread_testcancel();
	ret = preload_ring_take(ring, epfd, events, maxevents, sleeps, &drop);
	if (drop)
		devepoll_preload_ring_drop_held(ring);
	if (REPORTING && ret >= 0)
		devepoll_report_taken(ret);
	return ret;
}

static __attribute_noinline__
int wait_among_threads(struct preload_ring *ring, int epfd,
		       struct epoll_event *events, int maxevents, int timeout)
{
	long ret = take(ring, epfd, events, maxevents, timeout != 0);

	return ret < 0 ? wait_by_call(epfd, events, maxevents, timeout) : ret;
}

/* Returns from a sleep by DEVEPOLL_RING_WAIT. */
static int slept(long ret)
{
	if (REPORTING)
		devepoll_report_call(SYS_epoll_wait, true, ret);
	return syscall_result(ret);
}

/*
 * The only thread sleeps by DEVEPOLL_RING_WAIT, which takes nothing.  What can
 * not be taken from memory then is left to a system call that does not sleep.
 */
static __attribute_noinline__
int sleep_by_ring(struct preload_ring *ring, int epfd,
		  struct epoll_event *events, int maxevents, int timeout)
{
	struct devepoll_ring_wait_args args =
		ring_wait_args(ns_of_ms(timeout));
	bool drop;
	long ret;

	do {
		ret = devepoll_entry_request(epfd, DEVEPOLL_RING_WAIT, &args);
		if (!ret || ret == -EINTR)
			return slept(ret);
		/* A filter, or the fd is not what it was: nothing happened. */
		if (ret < 0)
			break;
		ret = preload_ring_take(ring, epfd, events, maxevents, true,
					&drop);
		if (drop)
			devepoll_preload_ring_drop_held(ring);
		if (ret > 0)
			return slept(ret);
		preload_ring_sleep_by_call(ring);
		ret = wait_by_call(epfd, events, maxevents, 0);
	} while (!ret);
	return ret > 0 ? ret : wait_by_call(epfd, events, maxevents, timeout);
}

/* The rest of a wait of the only thread: there is nothing to be taken. */
static __attribute_noinline__
int wait_alone(struct preload_ring *ring, int epfd, struct epoll_event *events,
	       int maxevents, int timeout)
{
	if (timeout && preload_ring_may_sleep(ring, events, maxevents))
		return sleep_by_ring(ring, epfd, events, maxevents, timeout);
	return wait_by_call(epfd, events, maxevents, timeout);
}

/* The rest of a wait during which a thread or a handler dropped the ring. */
static __attribute_noinline__
int wait_and_drop(struct preload_ring *ring, long ret, int epfd,
		  struct epoll_event *events, int maxevents, int timeout)
{
	devepoll_preload_ring_drop_held(ring);
	return ret < 0 ? wait_by_call(epfd, events, maxevents, timeout) : ret;
}

static __attribute_noinline__
int wait_with_ring(int epfd, struct epoll_event *events, int maxevents,
		   int timeout, struct preload_ring *ring)
{
	bool drop;
	long ret;

	if (!preload_is_uncanceled())
		return wait_among_threads(ring, epfd, events, maxevents,
					  timeout);
	ret = preload_ring_take(ring, epfd, events, maxevents, timeout != 0,
				&drop);
	if (REPORTING && ret >= 0)
		devepoll_report_taken(ret);
	if (drop)
		return wait_and_drop(ring, ret, epfd, events, maxevents,
				     timeout);
	return ret < 0 ? wait_alone(ring, epfd, events, maxevents, timeout) :
			 ret;
}

int epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
	struct preload_ring *ring = preload_ring_of(epfd);
	uint64_t length;

	if (ring)
		return wait_with_ring(epfd, events, maxevents, timeout, ring);
	if (REPORTING || preload_guess(epfd) != FOUND_DEVICE)
		return wait_by_call(epfd, events, maxevents, timeout);
	/* The usual case of wait_by_call(). */
	length = DEVEPOLL_EPOLL_WAIT_LEN(maxevents, timeout);
	if (preload_is_uncanceled())
		return wait_uncanceled(epfd, events, length);
	return wait_among_others(epfd, events, length);
}

int epoll_pwait(int epfd, struct epoll_event *events, int maxevents,
		int timeout, const sigset_t *sigmask)
{
	int type;
	long ret;

	if (!sigmask)
		return epoll_wait(epfd, events, maxevents, timeout);
	type = cancel_begin(timeout != 0);
	ret = devepoll_preload_call(SYS_epoll_pwait, epfd, (long)events,
				    maxevents, timeout, (long)sigmask,
				    KERNEL_SIGSET_SIZE);
	cancel_end(type);
	return waited(epfd, events, ret);
}

static int pwait2(int epfd, struct epoll_event *events, int maxevents,
		  const struct __kernel_timespec *timeout,
		  const sigset_t *sigmask)
{
	struct preload_ring *ring = sigmask ? NULL : preload_ring_of(epfd);
	long ret = -EAGAIN;
	int64_t ns;
	int type;

	if (ring && !devepoll_entry_timeout(timeout, &ns))
		ret = take(ring, epfd, events, maxevents, ns != 0);
	if (ret >= 0)
		return ret;
	type = cancel_begin(true);
	ret = devepoll_preload_call(SYS_epoll_pwait2, epfd, (long)events,
				    maxevents, (long)timeout, (long)sigmask,
				    KERNEL_SIGSET_SIZE);
	cancel_end(type);
	return waited(epfd, events, ret);
}

int epoll_pwait2(int epfd, struct epoll_event *events, int maxevents,
		 const struct timespec *timeout, const sigset_t *sigmask)
{
	struct __kernel_timespec copy;

	return pwait2(epfd, events, maxevents, kernel_time(timeout, &copy),
		      sigmask);
}

#ifndef __LP64__

int __epoll_pwait2_time64(int epfd, struct epoll_event *events, int maxevents,
			  const struct __kernel_timespec *timeout,
			  const sigset_t *sigmask);

/* The epoll_pwait2() of a program that is compiled with _TIME_BITS=64. */
int __epoll_pwait2_time64(int epfd, struct epoll_event *events, int maxevents,
			  const struct __kernel_timespec *timeout,
			  const sigset_t *sigmask)
{
	return pwait2(epfd, events, maxevents, timeout, sigmask);
}

#endif

// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The waits of the preload library: from a ring, by the usual system call, or
 * by whatever the instance needs (call.c).
 */
#include "cancel.h"
#include "entry.h"
#include "preload/call.h"
#include "preload/count.h"
#include "preload/guess.h"
#include "preload/next.h"
#include "preload/ring.h"
#include "ring_wait.h"

atomic_bool devepoll_preload_cancels;

/* Returns from a wait by a system call. */
static int waited(int epfd, struct epoll_event *events, long ret)
{
	if (ret > 0 && preload_ring_of(epfd))
		devepoll_preload_ring_written(events, ret);
	return syscall_result(ret);
}

/*
 * A wait on an instance of epoll, by the C library's function, so that it can
 * be canceled in the same way as without this library.
 */
static __attribute_noinline__
long wait_on_epoll(long nr, int epfd, struct epoll_event *events, int maxevents,
		   long timeout, const sigset_t *sigmask)
{
	struct preload_next *next = &devepoll_preload_next;
	long ret;
	int type;

	if (nr == SYS_epoll_wait && next->epoll_wait) {
		ret = next->epoll_wait(epfd, events, maxevents, timeout);
	} else if (nr == SYS_epoll_pwait && next->epoll_pwait) {
		ret = next->epoll_pwait(epfd, events, maxevents, timeout,
					sigmask);
	} else if (nr == SYS_epoll_pwait2 && next->epoll_pwait2) {
		ret = next->epoll_pwait2(epfd, events, maxevents,
					 (const void *)timeout, sigmask);
	} else {
		type = cancel_begin(true);
		ret = raw_call(nr, epfd, (long)events, maxevents, timeout,
			       (long)sigmask, KERNEL_SIGSET_SIZE);
		cancel_end(type);
		return ret;
	}
	return ret < 0 ? -errno : ret;
}

/* A wait by system call, whatever the file is. */
static __always_inline
int wait_somehow(long nr, int epfd, struct epoll_event *events, int maxevents,
		 long timeout, const sigset_t *sigmask)
{
	const bool sleeps = nr == SYS_epoll_pwait2 || (int)timeout;
	enum found found = preload_found(epfd);
	long ret;
	int type;

	do {
		if (found == FOUND_DEVICE) {
			type = cancel_begin(sleeps);
			ret = devepoll_preload_on_device(nr, epfd, (long)events,
							 maxevents, timeout,
							 (long)sigmask,
							 KERNEL_SIGSET_SIZE);
			cancel_end(type);
			if (ret != -ENOTTY)
				break;
			found = FOUND_EPOLL;
		}
		ret = wait_on_epoll(nr, epfd, events, maxevents, timeout,
				    sigmask);
		found = devepoll_preload_correct(epfd, found, ret);
	} while (found == FOUND_DEVICE);
	if (REPORTING)
		devepoll_report_call(nr, found == FOUND_DEVICE, ret);
	return waited(epfd, events, ret);
}

/*
 * epoll_wait() and epoll_pwait() differ in one thing: on a file of epoll, the
 * system call has to be the one that the program made.  To pass its number as
 * an argument would cost instructions where it has to outlive a call, so such
 * functions are compiled once for each.
 */
#define DEFINE_BY_CALL(wait)						\
static __attribute_noinline__						\
int wait##_by_call(int epfd, struct epoll_event *events, int maxevents,	\
		   int timeout, const sigset_t *sigmask)		\
{									\
	return wait_somehow(SYS_epoll_##wait, epfd, events, maxevents,	\
			    timeout, sigmask);				\
}

DEFINE_BY_CALL(wait)
DEFINE_BY_CALL(pwait)

/* One of these; epoll_wait() has no signal mask. */
static __always_inline
int by_call(long nr, int epfd, struct epoll_event *events, int maxevents,
	    int timeout, const sigset_t *sigmask)
{
	if (nr == SYS_epoll_wait)
		return wait_by_call(epfd, events, maxevents, timeout, NULL);
	return pwait_by_call(epfd, events, maxevents, timeout, sigmask);
}

/*
 * The usual waits, on what seems to be the device and without a signal mask.
 */

/* Ends a wait that failed; @nr is the call that the program made. */
static __attribute_noinline__
int failed(long ret, int epfd, struct epoll_event *events, uint64_t length,
	   long nr)
{
	int maxevents = length >> 32, timeout = (int)length;
	int type = cancel_begin(timeout != 0);

	ret = devepoll_entry_wait_error(ret, epfd, events, maxevents, timeout);
	cancel_end(type);
	if (ret != -ENOTTY)
		return waited(epfd, events, ret);
	preload_set_guess(epfd, FOUND_EPOLL);
	return by_call(nr, epfd, events, maxevents, timeout, NULL);
}

/* Ends a wait; @length has what a failure needs: nothing else is saved. */
static __always_inline
int ended(long nr, long ret, int epfd, struct epoll_event *events,
	  uint64_t length)
{
	if (__builtin_expect(ret >= 0, 1))
		return ret;
	return failed(ret, epfd, events, length, nr);
}

/* A wait that can't be canceled. */
static __always_inline
int uncanceled(long nr, int epfd, struct epoll_event *events, uint64_t length)
{
	long ret = fadvise_entry(epfd, events, length, DEVEPOLL_EPOLL_WAIT);

	return ended(nr, ret, epfd, events, length);
}

/* The same for one of several threads that may sleep. */
static __always_inline
int among_others(long nr, int epfd, struct epoll_event *events, uint64_t length)
{
	int type;
	long ret;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	ret = fadvise_entry(epfd, events, length, DEVEPOLL_EPOLL_WAIT);
	pthread_setcanceltype(type, NULL);
	return ended(nr, ret, epfd, events, length);
}

/* The waits of one of several threads: without a sleep, and any. */
#define DEFINE_AMONG_OTHERS(wait)					\
static __attribute_noinline__						\
int wait##_briefly(int epfd, struct epoll_event *events, uint64_t length) \
{									\
	pthread_testcancel();						\
	return uncanceled(SYS_epoll_##wait, epfd, events, length);	\
}									\
									\
static __attribute_noinline__						\
int wait##_among_others(int epfd, struct epoll_event *events,		\
			uint64_t length)				\
{									\
	if (!(int)length)						\
		return wait##_briefly(epfd, events, length);		\
	return among_others(SYS_epoll_##wait, epfd, events, length);	\
}

DEFINE_AMONG_OTHERS(wait)
DEFINE_AMONG_OTHERS(pwait)

/* A look into memory is over. */
static __always_inline void report_take(struct preload_ring *ring, long ret)
{
	if (REPORTING && ret >= 0)
		devepoll_report_taken(ret);
	else if (REPORTING)
		devepoll_report_untaken(atomic_load(ring->word));
}

/* Events that are in memory; -EAGAIN if a system call has to be made. */
static long take(struct preload_ring *ring, int epfd,
		 struct epoll_event *events, int maxevents, bool sleeps)
{
	bool drop;
	long ret;

	/* A wait that does not sleep is a cancellation point, too. */
	pthread_testcancel();
	ret = preload_ring_take(ring, epfd, events, maxevents, sleeps, &drop);
	if (drop)
		devepoll_preload_ring_drop_held(ring);
	report_take(ring, ret);
	return ret;
}

static __attribute_noinline__
int wait_among_threads(struct preload_ring *ring, int epfd,
		       struct epoll_event *events, int maxevents, int timeout)
{
	long ret = take(ring, epfd, events, maxevents, timeout != 0);

	if (ret < 0)
		return wait_by_call(epfd, events, maxevents, timeout, NULL);
	return ret;
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
		/* A filter refused it, or the fd is another file now. */
		if (ret < 0)
			break;
		ret = preload_ring_take(ring, epfd, events, maxevents, true,
					&drop);
		if (drop)
			devepoll_preload_ring_drop_held(ring);
		if (ret > 0)
			return slept(ret);
		preload_ring_sleep_by_call(ring);
		ret = wait_by_call(epfd, events, maxevents, 0, NULL);
	} while (!ret);
	if (ret > 0)
		return ret;
	return wait_by_call(epfd, events, maxevents, timeout, NULL);
}

/* The rest of a wait of the only thread: there is nothing to be taken. */
static __attribute_noinline__
int wait_alone(struct preload_ring *ring, int epfd, struct epoll_event *events,
	       int maxevents, int timeout)
{
	if (timeout && preload_ring_may_sleep(ring, events, maxevents))
		return sleep_by_ring(ring, epfd, events, maxevents, timeout);
	return wait_by_call(epfd, events, maxevents, timeout, NULL);
}

/* The rest of a wait during which a thread or a handler dropped the ring. */
static __attribute_noinline__
int wait_and_drop(struct preload_ring *ring, long ret, int epfd,
		  struct epoll_event *events, int maxevents, int timeout)
{
	devepoll_preload_ring_drop_held(ring);
	if (ret < 0)
		return wait_by_call(epfd, events, maxevents, timeout, NULL);
	return ret;
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
	report_take(ring, ret);
	if (drop)
		return wait_and_drop(ring, ret, epfd, events, maxevents,
				     timeout);
	return ret < 0 ? wait_alone(ring, epfd, events, maxevents, timeout) :
			 ret;
}

static __always_inline
int wait_usually(long nr, int epfd, struct epoll_event *events, int maxevents,
		 int timeout, const sigset_t *sigmask)
{
	struct preload_ring *ring = sigmask ? NULL : preload_ring_of(epfd);
	uint64_t length;

	if (ring)
		return wait_with_ring(epfd, events, maxevents, timeout, ring);
	if (REPORTING || sigmask || preload_guess(epfd) != FOUND_DEVICE)
		return by_call(nr, epfd, events, maxevents, timeout, sigmask);
	/* The usual case of by_call(). */
	length = DEVEPOLL_EPOLL_WAIT_LEN(maxevents, timeout);
	if (preload_is_uncanceled())
		return uncanceled(nr, epfd, events, length);
	if (nr == SYS_epoll_wait)
		return wait_among_others(epfd, events, length);
	return pwait_among_others(epfd, events, length);
}

int epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
	return wait_usually(SYS_epoll_wait, epfd, events, maxevents, timeout,
			    NULL);
}

int epoll_pwait(int epfd, struct epoll_event *events, int maxevents,
		int timeout, const sigset_t *sigmask)
{
	return wait_usually(SYS_epoll_pwait, epfd, events, maxevents, timeout,
			    sigmask);
}

static int pwait2(int epfd, struct epoll_event *events, int maxevents,
		  const struct __kernel_timespec *timeout,
		  const sigset_t *sigmask)
{
	struct preload_ring *ring = sigmask ? NULL : preload_ring_of(epfd);
	long ret = -EAGAIN;
	int64_t ns;

	if (ring && !devepoll_entry_timeout(timeout, &ns))
		ret = take(ring, epfd, events, maxevents, ns != 0);
	if (ret >= 0)
		return ret;
	return wait_somehow(SYS_epoll_pwait2, epfd, events, maxevents,
			    (long)timeout, sigmask);
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

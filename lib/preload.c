// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * libdevepoll-preload.so: the epoll calls of a program, made on the device.
 *
 * This library keeps no list of its instances, except of those with a ring
 * (preload_ring.c), so fork, exec, dup and close need no care.  Instead, each
 * call tries the device first.  A file that is not the device fails this call
 * without any effect, and epoll fails its calls for the device in the same way.
 * A guess by fd number saves the first attempt for instances of epoll.  The
 * system calls bypass the C library, so they work before any constructor has
 * run, and whatever lock the caller holds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include "cancel.h"
#include "entry.h"
#include "preload.h"
#include "preload_guess.h"
#include "preload_report.h"
#include "preload_ring.h"
#include "preload_settings.h"
#include "ring_wait.h"

atomic_uchar devepoll_preload_guesses[PRELOAD_GUESSES];
atomic_bool devepoll_preload_cancels;

/*
 * Shall the kernel report what the wake-ups of the file name?  In a ring, an
 * instance is not trusted: what it reports is often over when it is taken.
 */
static bool is_trusted(int epfd, int op, int fd,
		       const struct epoll_event *event)
{
	const bool trust = devepoll_setting(SETTING_TRUST);

	if ((!trust && !preload_ring_of(epfd)) ||
	    (op != EPOLL_CTL_ADD && op != EPOLL_CTL_MOD) ||
	    !devepoll_entry_readable(event, sizeof(*event)) ||
	    !(event->events & EPOLLET))
		return false;
	return trust || (!(event->events & (EPOLLONESHOT | EPOLLEXCLUSIVE)) &&
			 !(preload_guess(fd) == FOUND_DEVICE &&
			   devepoll_entry_is_device(fd)));
}

static long ctl_on_device(int epfd, int op, int fd, struct epoll_event *event)
{
	if (is_trusted(epfd, op, fd, event))
		return devepoll_entry_change(epfd, op, fd, event,
					     DEVEPOLL_TRUST);
	return entry_ctl(epfd, op, fd, event);
}

static long pwait_on_device(int epfd, struct epoll_event *events, int maxevents,
			    int timeout, const void *sigmask, size_t sigsetsize)
{
	const struct entry_wait wait = {
		.events = events,
		.maxevents = maxevents,
		.timeout = ns_of_ms(timeout),
		.sigmask = sigmask,
		.sigsetsize = sigsetsize,
	};

	if (!sigmask)
		return entry_wait(epfd, events, maxevents, timeout);
	return devepoll_entry_pwait(epfd, &wait);
}

static long pwait2_on_device(int epfd, struct epoll_event *events,
			     int maxevents,
			     const struct __kernel_timespec *timeout,
			     const void *sigmask, size_t sigsetsize)
{
	struct entry_wait wait = {
		.events = events,
		.maxevents = maxevents,
		.sigmask = sigmask,
		.sigsetsize = sigsetsize,
	};
	long err = devepoll_entry_timeout(timeout, &wait.timeout);

	return err ? err : devepoll_entry_pwait(epfd, &wait);
}

/* One of the calls of epoll on the device; -ENOTTY if it is another file. */
static __always_inline
long on_device(long nr, long a, long b, long c, long d, long e, long f)
{
	switch (nr) {
	case SYS_epoll_ctl:
		return ctl_on_device(a, b, c, (struct epoll_event *)d);
	case SYS_epoll_wait:
		return entry_wait(a, (struct epoll_event *)b, c, d);
	case SYS_epoll_pwait:
		return pwait_on_device(a, (struct epoll_event *)b, c, d,
				       (const void *)e, f);
	default:
		return pwait2_on_device(a, (struct epoll_event *)b, c,
					(const struct __kernel_timespec *)d,
					(const void *)e, f);
	}
}

/*
 * Did epoll fail because the file is the device?  Then the error is EINVAL,
 * unless the fd of a change is closed or does not support polling, which epoll
 * checks first.
 */
static bool is_device_after_all(int epfd, long ret)
{
	if (ret != -EINVAL && ret != -EBADF && ret != -EPERM)
		return false;
	/* A filter may make the check impossible, so drop the guess first. */
	preload_set_guess(epfd, FOUND_NOTHING);
	if (!devepoll_entry_is_device(epfd))
		return false;
	preload_found_device(epfd);
	return true;
}

/* The file does not seem to be the device. */
static long on_epoll(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret = raw_call(nr, a, b, c, d, e, f);

	if (is_device_after_all(a, ret))
		return on_device(nr, a, b, c, d, e, f);
	return ret;
}

/* The number is not known to refer to the device. */
static __attribute_noinline__
long on_other(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;

	if (preload_guess(a) == FOUND_EPOLL)
		return on_epoll(nr, a, b, c, d, e, f);
	ret = on_device(nr, a, b, c, d, e, f);
	if (ret == -ENOTTY) {
		preload_set_guess(a, FOUND_EPOLL);
		return on_epoll(nr, a, b, c, d, e, f);
	}
	/* An error may mean that the fd is not open. */
	if (ret >= 0 || devepoll_entry_is_device(a))
		preload_found_device(a);
	return ret;
}

static __always_inline
long on_whichever(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;

	if (preload_guess(a) == FOUND_DEVICE) {
		ret = on_device(nr, a, b, c, d, e, f);
		if (ret != -ENOTTY)
			return ret;
		preload_set_guess(a, FOUND_EPOLL);
	}
	return on_other(nr, a, b, c, d, e, f);
}

/* One of the calls of epoll on an instance of the device or of epoll. */
static __always_inline
long on_either(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret = on_whichever(nr, a, b, c, d, e, f);

	if (REPORTING)
		devepoll_report_call(nr, preload_guess(a) == FOUND_DEVICE, ret);
	return ret;
}

/**
 * devepoll_preload_call() - a call of epoll on an instance
 * @nr: the number of the system call
 * @a: its first argument, the instance
 * @b: its second argument
 * @c: its third argument
 * @d: its fourth argument
 * @e: its fifth argument
 * @f: its sixth argument
 *
 * Return: as the call, with a negative errno.
 */
long devepoll_preload_call(long nr, long a, long b, long c, long d, long e,
			   long f)
{
	return on_either(nr, a, b, c, d, e, f);
}

/* A call on what seemed to be the device has failed, and is made elsewhere. */
static long on_what_it_is(long nr, long a, long b, long c, long d)
{
	preload_set_guess(a, FOUND_EPOLL);
	return on_other(nr, a, b, c, d, 0, 0);
}

static __attribute_noinline__
int ctl_by_call(int epfd, int op, int fd, struct epoll_event *event)
{
	return preload_result(on_either(SYS_epoll_ctl, epfd, op, fd,
					(long)event, 0, 0));
}

/* Ends a change on what seemed to be the device. */
static __attribute_noinline__
int ctl_failed(long ret, int epfd, int op, int fd, struct epoll_event *event)
{
	/* Only a set says these; some programs add what may be there. */
	if (ret == -EEXIST || ret == -ENOENT)
		return preload_result(ret);
	ret = devepoll_entry_ctl_error(ret, epfd, op, fd, event);
	if (ret == -ENOTTY)
		ret = on_what_it_is(SYS_epoll_ctl, epfd, op, fd, (long)event);
	return preload_result(ret);
}

/* The usual case of ctl_by_call() first. */
int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	long ret;

	if (REPORTING || preload_guess(epfd) != FOUND_DEVICE ||
	    devepoll_settings_may_have(SETTING_TRUST | SETTING_RING) ||
	    !is_epoll_op(op))
		return ctl_by_call(epfd, op, fd, event);
	ret = entry_ctl_fast(epfd, op, fd, event);
	if (__builtin_expect(ret >= 0, 1))
		return ret;
	return ctl_failed(ret, epfd, op, fd, event);
}

/* Returns from a wait by a system call. */
static int waited(int epfd, struct epoll_event *events, long ret)
{
	if (ret > 0 && preload_ring_of(epfd))
		devepoll_preload_ring_written(events, ret);
	return preload_result(ret);
}

static __attribute_noinline__
int wait_by_call(int epfd, struct epoll_event *events, int maxevents,
		 int timeout)
{
	int type = cancel_begin(timeout != 0);
	long ret = on_either(SYS_epoll_wait, epfd, (long)events, maxevents,
			     timeout, 0, 0);

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
	if (ret == -ENOTTY)
		ret = on_what_it_is(SYS_epoll_wait, epfd, (long)events,
				    maxevents, timeout);
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
	return preload_result(ret);
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
	ret = on_either(SYS_epoll_pwait, epfd, (long)events, maxevents,
			timeout, (long)sigmask, KERNEL_SIGSET_SIZE);
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
	ret = on_either(SYS_epoll_pwait2, epfd, (long)events, maxevents,
			(long)timeout, (long)sigmask, KERNEL_SIGSET_SIZE);
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

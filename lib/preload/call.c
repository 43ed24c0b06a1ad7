// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * libdevepoll-preload.so: the epoll calls of a program, made on the device.
 *
 * This library keeps no list of its instances, except of those with a ring
 * (ring.c), so fork, exec, dup and close need no care.  Instead, a guess by fd
 * number (guess.h) decides whether a call tries the device or epoll first.  A
 * request of the device to another file fails without any effect, and so does a
 * call of epoll for the device.  If there is no guess, the library asks what
 * the file is.  The system calls bypass the C library, so they work before any
 * constructor has run, and whatever lock the caller holds.  The exceptions are
 * those that the C library makes in a way of its own (next.h).
 */
#include <errno.h>
#include <fcntl.h>

#include "entry.h"
#include "preload/call.h"
#include "preload/count.h"
#include "preload/fair.h"
#include "preload/guess.h"
#include "preload/ring.h"
#include "preload/settings.h"

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

static long change_device(int epfd, int op, int fd, struct epoll_event *event)
{
	const bool trusted = is_trusted(epfd, op, fd, event);
	struct epoll_event exclusive;
	long ret;

	if (trusted)
		ret = devepoll_entry_change(epfd, op, fd, event,
					    DEVEPOLL_TRUST);
	else if (devepoll_setting(SETTING_FAIR) &&
		 devepoll_preload_fair_add(op, fd, event, &exclusive))
		ret = entry_ctl(epfd, op, fd, &exclusive);
	else
		ret = entry_ctl(epfd, op, fd, event);
	if (REPORTING && !ret && op == EPOLL_CTL_ADD && preload_ring_of(epfd))
		devepoll_report_ring_fd(trusted);
	return ret;
}

static long ctl_on_device(int epfd, int op, int fd, struct epoll_event *event)
{
	long ret = change_device(epfd, op, fd, event);

	if (!devepoll_setting(SETTING_FAIR) ||
	    !devepoll_preload_fair_failed(ret, op, fd, event))
		return ret;
	return entry_ctl(epfd, EPOLL_CTL_DEL, fd, NULL) ?:
	       change_device(epfd, EPOLL_CTL_ADD, fd, event);
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

/**
 * devepoll_preload_on_device() - a call of epoll on the device alone
 * @nr: as for devepoll_preload_call()
 * @a: as for devepoll_preload_call()
 * @b: as for devepoll_preload_call()
 * @c: as for devepoll_preload_call()
 * @d: as for devepoll_preload_call()
 * @e: as for devepoll_preload_call()
 * @f: as for devepoll_preload_call()
 *
 * Return: as devepoll_preload_call(), or
 * -ENOTTY: the file is another one.
 */
long devepoll_preload_on_device(long nr, long a, long b, long c, long d, long e,
				long f)
{
	long ret = on_device(nr, a, b, c, d, e, f);

	if (ret == -ENOTTY)
		preload_set_guess(a, FOUND_EPOLL);
	return ret;
}

/* The number is not known to refer to the device. */
static __attribute_noinline__
long on_other(long nr, long a, long b, long c, long d, long e, long f)
{
	enum found found = preload_found(a);
	long ret;

	do {
		if (found == FOUND_DEVICE) {
			ret = devepoll_preload_on_device(nr, a, b, c, d, e, f);
			if (ret != -ENOTTY)
				return ret;
			found = FOUND_EPOLL;
		}
		ret = raw_call(nr, a, b, c, d, e, f);
		found = devepoll_preload_correct(a, found, ret);
	} while (found == FOUND_DEVICE);
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

static __attribute_noinline__
int ctl_by_call(int epfd, int op, int fd, struct epoll_event *event)
{
	return syscall_result(on_either(SYS_epoll_ctl, epfd, op, fd,
					(long)event, 0, 0));
}

/* Ends a change on what seemed to be the device. */
static __attribute_noinline__
int ctl_failed(long ret, int epfd, int op, int fd, struct epoll_event *event)
{
	ret = devepoll_entry_ctl_error(ret, epfd, op, fd, event);
	if (ret == -ENOTTY) {
		preload_set_guess(epfd, FOUND_EPOLL);
		ret = devepoll_preload_call(SYS_epoll_ctl, epfd, op, fd,
					    (long)event, 0, 0);
	}
	return syscall_result(ret);
}

static __attribute_noinline__ int ctl_refused(int err)
{
	errno = err;
	return -1;
}

/* The usual case of ctl_by_call() first. */
int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	long ret;

	if (REPORTING || preload_guess(epfd) != FOUND_DEVICE ||
	    devepoll_settings_may_have(SETTING_TRUST | SETTING_RING |
				       SETTING_FAIR) ||
	    !is_epoll_op(op))
		return ctl_by_call(epfd, op, fd, event);
	ret = entry_ctl_fast(epfd, op, fd, event);
	if (__builtin_expect(ret >= 0, 1))
		return ret;
	/* Only a set returns these; some programs add what may be there. */
	if (ret == -EEXIST || ret == -ENOENT)
		return ctl_refused(-ret);
	return ctl_failed(ret, epfd, op, fd, event);
}

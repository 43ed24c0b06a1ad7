// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * libdevepoll-preload.so: a program's epoll calls, made on the device.
 *
 * There is no list of our sets, so that fork, exec, dup and close need no care:
 * each call asks the file itself.  The device is asked first, and another file
 * refuses its call without having done anything; so does epoll for the device.
 * A guess by number saves epoll's own sets the first question.  The C library
 * is passed by: the calls underneath are made here, which works before any
 * constructor has run, and in the middle of whatever lock is held.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cancel.h"
#include "door.h"

/*
 * Behind which numbers epoll was found last.  It decides only who is asked
 * first, so numbers may share a place and stores may be lost.
 */
static atomic_uchar epolls[1024];

static atomic_uchar *guess(int epfd)
{
	return &epolls[(unsigned int)epfd % (sizeof(epolls) / sizeof(*epolls))];
}

static bool is_epoll_by_guess(int epfd)
{
	return atomic_load_explicit(guess(epfd), memory_order_relaxed);
}

static void set_guess(int epfd, bool is_epoll)
{
	atomic_store_explicit(guess(epfd), is_epoll, memory_order_relaxed);
}

static bool is_asked_for(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value && strcmp(value, "0") != 0;
}

/* Once in a process. */
static void tell_fallback(int err)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	static const char begin[] = "libdevepoll-preload: " DEVEPOLL_NODE ": ";
	static const char end[] = "; using epoll instead\n";
	const char *why = strerrordesc_np(err);
	const struct iovec iov[] = {
		{ .iov_base = (void *)begin, .iov_len = sizeof(begin) - 1 },
		{ .iov_base = (void *)why, .iov_len = why ? strlen(why) : 0 },
		{ .iov_base = (void *)end, .iov_len = sizeof(end) - 1 },
	};

	if (!atomic_flag_test_and_set(&told))
		raw_call(SYS_writev, STDERR_FILENO, (long)iov, 3, 0, 0, 0);
}

static long create(int flags)
{
	long err, fd;

	if (flags & ~EPOLL_CLOEXEC)
		return -EINVAL;
	fd = door_open(flags & EPOLL_CLOEXEC ? O_CLOEXEC : 0);
	if (fd >= 0) {
		set_guess(fd, false);
		return fd;
	}
	err = fd;
	if (is_asked_for("DEVEPOLL_NO_FALLBACK"))
		return err;

	fd = raw_call(SYS_epoll_create1, flags, 0, 0, 0, 0, 0);
	if (fd < 0)
		return fd;
	set_guess(fd, true);
	if (is_asked_for("DEVEPOLL_VERBOSE"))
		tell_fallback(-err);
	return fd;
}

/*
 * DEVEPOLL_TRUST in the environment, which is read once: not before there is
 * one, since what stands in .preinit_array runs before the C library.
 */
static bool trusts_wakers(void)
{
	static atomic_int trusts = -1;
	int known = atomic_load_explicit(&trusts, memory_order_relaxed);

	if (known < 0) {
		if (!environ)
			return false;
		known = is_asked_for("DEVEPOLL_TRUST");
		atomic_store_explicit(&trusts, known, memory_order_relaxed);
	}
	return known;
}

static bool is_edge(int op, const struct epoll_event *event)
{
	return (op == EPOLL_CTL_ADD || op == EPOLL_CTL_MOD) &&
	       door_readable(event, sizeof(*event)) &&
	       (event->events & EPOLLET);
}

static long ctl_on_device(int epfd, int op, int fd, struct epoll_event *event)
{
	if (trusts_wakers() && is_edge(op, event))
		return door_change(epfd, op, fd, event, DEVEPOLL_TRUST);
	return door_ctl(epfd, op, fd, event);
}

static long pwait_on_device(int epfd, struct epoll_event *events, int maxevents,
			    int timeout, const void *sigmask, size_t sigsetsize)
{
	const struct door_wait wait = {
		.events = events,
		.maxevents = maxevents,
		.timeout = ns_of_ms(timeout),
		.sigmask = sigmask,
		.sigsetsize = sigsetsize,
	};

	if (!sigmask)
		return door_wait(epfd, events, maxevents, timeout);
	return door_pwait(epfd, &wait);
}

static long pwait2_on_device(int epfd, struct epoll_event *events,
			     int maxevents,
			     const struct __kernel_timespec *timeout,
			     const void *sigmask, size_t sigsetsize)
{
	struct door_wait wait = {
		.events = events,
		.maxevents = maxevents,
		.sigmask = sigmask,
		.sigsetsize = sigsetsize,
	};
	long err = door_timeout(timeout, &wait.timeout);

	return err ? err : door_pwait(epfd, &wait);
}

/* One of epoll's system calls on a set of the device; -ENOTTY if it is none. */
static __always_inline
long on_device(long nr, long a, long b, long c, long d, long e, long f)
{
	switch (nr) {
	case SYS_epoll_ctl:
		return ctl_on_device(a, b, c, (struct epoll_event *)d);
	case SYS_epoll_wait:
		return door_wait(a, (struct epoll_event *)b, c, d);
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
 * Whether the device gave rise to epoll's answer: it is always EINVAL, unless
 * the fd of a change is closed or can't be polled, which epoll sees before.
 */
static bool is_device_after_all(int epfd, long ret)
{
	if (ret != -EINVAL && ret != -EBADF && ret != -EPERM)
		return false;
	if (!door_is_device(epfd))
		return false;
	set_guess(epfd, false);
	return true;
}

/* Not a set of the device, it seems. */
static __attribute_noinline__
long on_epoll(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret = raw_call(nr, a, b, c, d, e, f);

	if (is_device_after_all(a, ret))
		return on_device(nr, a, b, c, d, e, f);
	return ret;
}

/* One of epoll's system calls on a set of either. */
static __always_inline
long on_either(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;

	if (!is_epoll_by_guess(a)) {
		ret = on_device(nr, a, b, c, d, e, f);
		if (ret != -ENOTTY)
			return ret;
		set_guess(a, true);
	}
	return on_epoll(nr, a, b, c, d, e, f);
}

/* As the C library returns from a system call. */
static long result(long ret)
{
	if (ret >= 0 || ret < -4095)
		return ret;
	errno = -ret;
	return -1;
}

int epoll_create(int size)
{
	return result(size > 0 ? create(0) : -EINVAL);
}

int epoll_create1(int flags)
{
	return result(create(flags));
}

int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	return result(on_either(SYS_epoll_ctl, epfd, op, fd, (long)event, 0,
				0));
}

int epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
	int type = cancel_begin(timeout != 0);
	long ret = on_either(SYS_epoll_wait, epfd, (long)events, maxevents,
			     timeout, 0, 0);

	cancel_end(type);
	return result(ret);
}

int epoll_pwait(int epfd, struct epoll_event *events, int maxevents,
		int timeout, const sigset_t *sigmask)
{
	int type = cancel_begin(timeout != 0);
	long ret = on_either(SYS_epoll_pwait, epfd, (long)events, maxevents,
			     timeout, (long)sigmask, KERNEL_SIGSET_SIZE);

	cancel_end(type);
	return result(ret);
}

int epoll_pwait2(int epfd, struct epoll_event *events, int maxevents,
		 const struct timespec *timeout, const sigset_t *sigmask)
{
	struct __kernel_timespec copy;
	int type = cancel_begin(true);
	long ret = on_either(SYS_epoll_pwait2, epfd, (long)events, maxevents,
			     (long)kernel_time(timeout, &copy), (long)sigmask,
			     KERNEL_SIGSET_SIZE);

	cancel_end(type);
	return result(ret);
}

static long epoll_call(long nr, long a, long b, long c, long d, long e, long f)
{
	switch (nr) {
	case SYS_epoll_create:
		return (int)a > 0 ? create(0) : -EINVAL;
	case SYS_epoll_create1:
		return create(a);
	default:
		return on_either(nr, a, b, c, d, e, f);
	}
}

/* Reads more arguments than there may be, as everyone who implements it. */
long syscall(long nr, ...)
{
	long a, b, c, d, e, f;
	va_list args;

	va_start(args, nr);
	a = va_arg(args, long);
	b = va_arg(args, long);
	c = va_arg(args, long);
	d = va_arg(args, long);
	e = va_arg(args, long);
	f = va_arg(args, long);
	va_end(args);

	switch (nr) {
	case SYS_epoll_create:
	case SYS_epoll_create1:
	case SYS_epoll_ctl:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return result(epoll_call(nr, a, b, c, d, e, f));
	default:
		return result(raw_call(nr, a, b, c, d, e, f));
	}
}

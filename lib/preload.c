// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * libdevepoll-preload.so: the epoll calls of a program, made on the device.
 *
 * This library keeps no list of its instances, so fork, exec, dup and close
 * need no care.  Instead, each call tries the device first.  A file that is not
 * the device fails this call without any effect, and epoll fails its calls for
 * the device in the same way.  A guess by fd number saves the first attempt for
 * instances of epoll.  The system calls bypass the C library, so they work
 * before any constructor has run, and whatever lock the caller holds.
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
#include "entry.h"
#include "uring.h"

/*
 * What an fd number last referred to.  This only decides which call is tried
 * first, so several numbers may share an element, and stores may be lost.
 */
enum found {
	FOUND_NOTHING,
	FOUND_DEVICE,
	FOUND_EPOLL,
};

static atomic_uchar guesses[1024];

static atomic_uchar *place(int epfd)
{
	return &guesses[(unsigned int)epfd %
			(sizeof(guesses) / sizeof(*guesses))];
}

static enum found guess(int epfd)
{
	return atomic_load_explicit(place(epfd), memory_order_relaxed);
}

static void set_guess(int epfd, enum found found)
{
	atomic_store_explicit(place(epfd), found, memory_order_relaxed);
}

/* It was opened here, inherited over execve(2), or received by a socket. */
static void found_device(int epfd)
{
	devepoll_uring_expect_sets();
	set_guess(epfd, FOUND_DEVICE);
}

/* The environment variables, as bits. */
#define TRUST		0x1U	/* DEVEPOLL_TRUST */
#define NO_FALLBACK	0x2U	/* DEVEPOLL_NO_FALLBACK */
#define VERBOSE		0x4U	/* DEVEPOLL_VERBOSE */
#define KNOWN		0x8U

static atomic_uint settings;

static unsigned int if_asked_for(const char *name, unsigned int bit)
{
	const char *value = secure_getenv(name);

	return value && *value && strcmp(value, "0") != 0 ? bit : 0;
}

static unsigned int read_settings(void)
{
	return if_asked_for("DEVEPOLL_TRUST", TRUST) |
	       if_asked_for("DEVEPOLL_NO_FALLBACK", NO_FALLBACK) |
	       if_asked_for("DEVEPOLL_VERBOSE", VERBOSE);
}

/* Runs once, before the program: setenv(3) moves the strings of getenv(3). */
static __attribute__((constructor)) void keep_settings(void)
{
	atomic_store_explicit(&settings, read_settings() | KNOWN,
			      memory_order_relaxed);
}

/*
 * Other constructors may call this before ours has run.  For functions in
 * .preinit_array, no variable is set, because the C library does not have the
 * environment yet.
 */
static bool is_set(unsigned int bit)
{
	unsigned int known = atomic_load_explicit(&settings,
						  memory_order_relaxed);

	if (!known)
		known = read_settings();
	return known & bit;
}

/* Prints the message once per process. */
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
	fd = devepoll_entry_open(flags & EPOLL_CLOEXEC ? O_CLOEXEC : 0);
	if (fd >= 0) {
		found_device(fd);
		return fd;
	}
	err = fd;
	if (is_set(NO_FALLBACK))
		return err;

	fd = raw_call(SYS_epoll_create1, flags, 0, 0, 0, 0, 0);
	if (fd < 0)
		return fd;
	set_guess(fd, FOUND_EPOLL);
	if (is_set(VERBOSE))
		tell_fallback(-err);
	return fd;
}

static bool is_edge(int op, const struct epoll_event *event)
{
	return (op == EPOLL_CTL_ADD || op == EPOLL_CTL_MOD) &&
	       devepoll_entry_readable(event, sizeof(*event)) &&
	       (event->events & EPOLLET);
}

static long ctl_on_device(int epfd, int op, int fd, struct epoll_event *event)
{
	if (is_set(TRUST) && is_edge(op, event))
		return devepoll_entry_change(epfd, op, fd, event,
					     DEVEPOLL_TRUST);
	return devepoll_entry_ctl(epfd, op, fd, event);
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
	set_guess(epfd, FOUND_NOTHING);
	if (!devepoll_entry_is_device(epfd))
		return false;
	found_device(epfd);
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

	if (guess(a) == FOUND_EPOLL)
		return on_epoll(nr, a, b, c, d, e, f);
	ret = on_device(nr, a, b, c, d, e, f);
	if (ret == -ENOTTY) {
		set_guess(a, FOUND_EPOLL);
		return on_epoll(nr, a, b, c, d, e, f);
	}
	/* An error may mean that the fd is not open. */
	if (ret >= 0 || devepoll_entry_is_device(a))
		found_device(a);
	return ret;
}

/* One of the calls of epoll on an instance of the device or of epoll. */
static __always_inline
long on_either(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;

	if (guess(a) == FOUND_DEVICE) {
		ret = on_device(nr, a, b, c, d, e, f);
		if (ret != -ENOTTY)
			return ret;
		set_guess(a, FOUND_EPOLL);
	}
	return on_other(nr, a, b, c, d, e, f);
}

/* Return from a system call in the same way as the C library. */
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

static int pwait2(int epfd, struct epoll_event *events, int maxevents,
		  const struct __kernel_timespec *timeout,
		  const sigset_t *sigmask)
{
	int type = cancel_begin(true);
	long ret = on_either(SYS_epoll_pwait2, epfd, (long)events, maxevents,
			     (long)timeout, (long)sigmask, KERNEL_SIGSET_SIZE);

	cancel_end(type);
	return result(ret);
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

/* A call of epoll or of io_uring, which can make calls of epoll. */
static long epoll_call(long nr, long a, long b, long c, long d, long e, long f)
{
	switch (nr) {
	case SYS_io_uring_setup:
		return devepoll_uring_setup(a, (void *)b);
	case SYS_io_uring_enter:
		return devepoll_uring_enter(a, b, c, d, (const void *)e, f);
	case SYS_io_uring_register:
		return devepoll_uring_register(a, b, (void *)c, d);
	case SYS_epoll_create:
		return (int)a > 0 ? create(0) : -EINVAL;
	case SYS_epoll_create1:
		return create(a);
	default:
		return on_either(nr, a, b, c, d, e, f);
	}
}

#ifdef __x86_64__

/* syscall(), in syscall.S, jumps to these. */
DEVEPOLL_HIDDEN long devepoll_syscall_of_epoll(long nr, long a, long b, long c,
					       long d, long e, long f);
DEVEPOLL_HIDDEN long devepoll_syscall_failed(long ret);

long devepoll_syscall_of_epoll(long nr, long a, long b, long c, long d, long e,
			       long f)
{
	return result(epoll_call(nr, a, b, c, d, e, f));
}

long devepoll_syscall_failed(long ret)
{
	return result(ret);
}

#else

/*
 * This function, like any implementation of syscall(), may read more arguments
 * than there are.  raw_call.S makes the call.  On i386, its stack frame is the
 * same as that of syscall() in the C library, so a child of clone(2) that was
 * given a stack with such a frame finds what it expects.
 */
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
	case SYS_io_uring_setup:
	case SYS_io_uring_enter:
	case SYS_io_uring_register:
		return result(epoll_call(nr, a, b, c, d, e, f));
	default:
		return result(raw_call(nr, a, b, c, d, e, f));
	}
}

#endif

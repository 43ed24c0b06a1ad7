// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The system calls of epoll for the device, for programs that are linked with
 * the library.
 */
#include <errno.h>
#include <fcntl.h>

#include "devepoll_epoll.h"

#include "cancel.h"
#include "entry.h"

int devepoll_epoll_create(int size)
{
	return syscall_result(size > 0 ?
			      devepoll_entry_open(ENTRY_AS_EPOLL, NULL) :
			      -EINVAL);
}

int devepoll_epoll_create1(int flags)
{
	if (flags & ~EPOLL_CLOEXEC)
		return syscall_result(-EINVAL);
	flags = flags & EPOLL_CLOEXEC ? O_CLOEXEC : 0;
	return syscall_result(devepoll_entry_open(flags | ENTRY_AS_EPOLL,
						  NULL));
}

/*
 * The error of epoll for a file that is not an epoll instance: there can be
 * several reasons, and epoll reports the first that it checks.  The operation
 * is unknown, so that nothing happens if the file is an epoll instance.
 */
static long ctl_on_other(int epfd, int op, int fd, struct epoll_event *event)
{
	struct epoll_event unused = { 0 };

	return raw_call(SYS_epoll_ctl, epfd, -1, fd,
			op == EPOLL_CTL_DEL ? (long)&unused : (long)event, 0,
			0);
}

/* The slow half of devepoll_epoll_ctl(): errors. */
static __attribute__((noinline)) int
ctl_slow(long ret, int epfd, int op, int fd, struct epoll_event *event)
{
	ret = devepoll_entry_ctl_error(ret, epfd, op, fd, event);
	if (ret == -ENOTTY)
		ret = ctl_on_other(epfd, op, fd, event);
	return syscall_result(ret);
}

int devepoll_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	long ret = entry_ctl_fast(epfd, op, fd, event);

	if (__builtin_expect(ret >= 0, 1))
		return ret;
	return ctl_slow(ret, epfd, op, fd, event);
}

/* epoll checks the signal mask, and then fails other files with one error. */
static int wait_result(long ret, const sigset_t *sigmask)
{
	if (__builtin_expect(ret >= 0, 1))
		return ret;
	if (ret == -ENOTTY && sigmask &&
	    !devepoll_entry_readable(sigmask, KERNEL_SIGSET_SIZE))
		ret = -EFAULT;
	return syscall_result(ret == -ENOTTY ? -EINVAL : ret);
}

/* The slow half of devepoll_epoll_wait(): errors, and more than one thread. */
static __attribute__((noinline)) int
wait_cancelable(int epfd, struct epoll_event *events, int maxevents,
		int timeout)
{
	int type = cancel_begin(timeout != 0);
	long ret = entry_wait(epfd, events, maxevents, timeout);

	cancel_end(type);
	return wait_result(ret, NULL);
}

static __attribute__((noinline)) int wait_failed(long ret, int epfd,
						 struct epoll_event *events,
						 uint64_t length)
{
	ret = devepoll_entry_wait_error(ret, epfd, events, length >> 32,
					(int)length);
	return wait_result(ret, NULL);
}

int devepoll_epoll_wait(int epfd, struct epoll_event *events, int maxevents,
			int timeout)
{
	uint64_t length;
	long ret;

	/* Nobody could cancel the only thread; the C library thinks so, too. */
	if (__builtin_expect(!__libc_single_threaded, 0))
		return wait_cancelable(epfd, events, maxevents, timeout);
	length = DEVEPOLL_EPOLL_WAIT_LEN(maxevents, timeout);
	ret = fadvise_entry(epfd, events, length, DEVEPOLL_EPOLL_WAIT);
	if (__builtin_expect(ret >= 0, 1))
		return ret;
	/* @length has what is needed: nothing is saved across the call. */
	return wait_failed(ret, epfd, events, length);
}

int devepoll_epoll_pwait(int epfd, struct epoll_event *events, int maxevents,
			 int timeout, const sigset_t *sigmask)
{
	const struct entry_wait wait = {
		.events = events,
		.maxevents = maxevents,
		.timeout = ns_of_ms(timeout),
		.sigmask = sigmask,
		.sigsetsize = KERNEL_SIGSET_SIZE,
	};
	int type = cancel_begin(timeout != 0);
	long ret;

	if (sigmask)
		ret = devepoll_entry_pwait(epfd, &wait);
	else
		ret = entry_wait(epfd, events, maxevents, timeout);

	cancel_end(type);
	return wait_result(ret, sigmask);
}

int devepoll_epoll_pwait2(int epfd, struct epoll_event *events, int maxevents,
			  const struct timespec *timeout,
			  const sigset_t *sigmask)
{
	struct entry_wait wait = {
		.events = events,
		.maxevents = maxevents,
		.sigmask = sigmask,
		.sigsetsize = KERNEL_SIGSET_SIZE,
	};
	struct __kernel_timespec copy;
	int type;
	long ret;

	ret = devepoll_entry_timeout(kernel_time(timeout, &copy),
				     &wait.timeout);
	if (ret)
		return syscall_result(ret);

	type = cancel_begin(wait.timeout != 0);
	ret = devepoll_entry_pwait(epfd, &wait);
	cancel_end(type);
	return wait_result(ret, sigmask);
}

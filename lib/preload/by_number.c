// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * syscall() of the preload library: the calls by number that it replaces.
 */
#include <stdarg.h>
#include <unistd.h>

#include "entry.h"
#include "preload/call.h"
#include "preload/close.h"
#include "preload/uring.h"

/*
 * A call of epoll; of io_uring, by which a program can change an instance; or
 * one that may close an instance.
 */
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
	case SYS_epoll_create1:
		return devepoll_preload_create(nr, a);
	case SYS_close:
	case SYS_close_range:
	case SYS_dup2:
	case SYS_dup3:
		return devepoll_preload_close_call(nr, a, b, c);
	default:
		return devepoll_preload_call(nr, a, b, c, d, e, f);
	}
}

#if defined(__x86_64__) || defined(__aarch64__) || defined(__riscv)

/* syscall(), in syscall.S, jumps to these. */
DEVEPOLL_HIDDEN long devepoll_syscall_of_epoll(long nr, long a, long b, long c,
					       long d, long e, long f);
DEVEPOLL_HIDDEN long devepoll_syscall_failed(long ret);

long devepoll_syscall_of_epoll(long nr, long a, long b, long c, long d, long e,
			       long f)
{
	return syscall_result(epoll_call(nr, a, b, c, d, e, f));
}

long devepoll_syscall_failed(long ret)
{
	return syscall_result(ret);
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
	case SYS_close:
	case SYS_close_range:
	case SYS_dup2:
	case SYS_dup3:
		return syscall_result(epoll_call(nr, a, b, c, d, e, f));
	default:
		return syscall_result(raw_call(nr, a, b, c, d, e, f));
	}
}

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * System calls that do not set errno, on each architecture.
 */
#ifndef DEVEPOLL_RAW_CALL_H
#define DEVEPOLL_RAW_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "internal.h"

/*
 * Newer architectures lack calls that a later one replaces.  They get numbers
 * here that no kernel has: raw_call() makes the later call, and the other files
 * need not know.
 */
#ifndef SYS_epoll_wait
#define SYS_epoll_wait		(-1001)
#define SYS_epoll_create	(-1002)
#define SYS_dup2		(-1003)
#endif

#if defined(__x86_64__) && !defined(__ILP32__)

static inline long raw_call(long nr, long a, long b, long c, long d, long e,
			    long f)
{
	register long r10 asm("r10") = d;
	register long r8 asm("r8") = e;
	register long r9 asm("r9") = f;
	long ret;

	asm volatile("syscall"
		     : "=a" (ret)
		     : "0" (nr), "D" (a), "S" (b), "d" (c), "r" (r10),
		       "r" (r8), "r" (r9)
		     : "rcx", "r11", "memory");
	return ret;
}

/* An int need not be extended: the kernel uses its half of the register. */
static inline long raw_fadvise(int fd, const void *offset, int64_t len,
			       unsigned int advice)
{
	register unsigned int r10 asm("r10") = advice;
	long ret;

	asm volatile("syscall"
		     : "=a" (ret)
		     : "0" (SYS_fadvise64), "D" (fd), "S" (offset), "d" (len),
		       "r" (r10)
		     : "rcx", "r11", "memory");
	return ret;
}

#define raw_fadvise	raw_fadvise

#elif defined(__aarch64__) && defined(__LP64__)

static inline long own_call(long nr, long a, long b, long c, long d, long e,
			    long f)
{
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = a;
	register long x1 asm("x1") = b;
	register long x2 asm("x2") = c;
	register long x3 asm("x3") = d;
	register long x4 asm("x4") = e;
	register long x5 asm("x5") = f;

	asm volatile("svc #0"
		     : "+r" (x0)
		     : "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4),
		       "r" (x5)
		     : "memory");
	return x0;
}

/* As on x86-64, an int need not be extended. */
static inline long raw_fadvise(int fd, const void *offset, int64_t len,
			       unsigned int advice)
{
	register long x8 asm("x8") = SYS_fadvise64;
	register long x0 asm("x0") = fd;
	register const void *x1 asm("x1") = offset;
	register long x2 asm("x2") = len;
	register unsigned int x3 asm("x3") = advice;

	asm volatile("svc #0"
		     : "+r" (x0)
		     : "r" (x8), "r" (x1), "r" (x2), "r" (x3)
		     : "memory");
	return x0;
}

#define raw_fadvise	raw_fadvise

#elif defined(__riscv) && defined(__LP64__)

static inline long own_call(long nr, long a, long b, long c, long d, long e,
			    long f)
{
	register long a7 asm("a7") = nr;
	register long a0 asm("a0") = a;
	register long a1 asm("a1") = b;
	register long a2 asm("a2") = c;
	register long a3 asm("a3") = d;
	register long a4 asm("a4") = e;
	register long a5 asm("a5") = f;

	asm volatile("ecall"
		     : "+r" (a0)
		     : "r" (a7), "r" (a1), "r" (a2), "r" (a3), "r" (a4),
		       "r" (a5)
		     : "memory");
	return a0;
}

#elif defined(__i386__)

/* Defined in raw_call.S. */
DEVEPOLL_HIDDEN long devepoll_raw_call(long nr, long a, long b, long c, long d,
				       long e, long f);
#define raw_call	devepoll_raw_call

#else

#include <unistd.h>

/* The preload library can't use this, because it replaces syscall(). */
static inline long raw_call(long nr, long a, long b, long c, long d, long e,
			    long f)
{
	long ret = syscall(nr, a, b, c, d, e, f);

	return ret < 0 ? -errno : ret;
}

#endif

#if (defined(__aarch64__) || defined(__riscv)) && defined(__LP64__)

/* Their kernels have never had the calls that a later one replaces. */
static inline long raw_call(long nr, long a, long b, long c, long d, long e,
			    long f)
{
	long ret;

	switch (nr) {
	case SYS_epoll_wait:
		return own_call(SYS_epoll_pwait, a, b, c, d, 0, 0);
	case SYS_epoll_create:
		if ((int)a <= 0)
			return -EINVAL;
		return own_call(SYS_epoll_create1, 0, 0, 0, 0, 0, 0);
	case SYS_dup2:
		if ((int)a != (int)b)
			return own_call(SYS_dup3, a, b, 0, 0, 0, 0);
		/* dup3() refuses this. */
		ret = own_call(SYS_fcntl, a, F_GETFD, 0, 0, 0, 0);
		return ret < 0 ? ret : a;
	default:
		return own_call(nr, a, b, c, d, e, f);
	}
}

#endif

#endif /* DEVEPOLL_RAW_CALL_H */

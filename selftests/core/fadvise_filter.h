/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sandboxes that refuse a system call, such as the fadvise entry of the device.
 */
#ifndef SELFTESTS_FADVISE_FILTER_H
#define SELFTESTS_FADVISE_FILTER_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* The number of fadvise(2) in a program of this kind. */
#ifdef __LP64__
#define SYS_FADVISE	SYS_fadvise64
#else
#define SYS_FADVISE	SYS_fadvise64_64
#endif

/* A filter of system calls that does this with one of them; 0 or -errno. */
static inline int filter_call(unsigned int nr, unsigned int action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return -errno;
	return 0;
}

/* Makes it fail. */
static inline int refuse_call(unsigned int nr, int error)
{
	return filter_call(nr, SECCOMP_RET_ERRNO | error);
}

static inline int refuse_fadvise(int error)
{
	return refuse_call(SYS_FADVISE, error);
}

#endif /* SELFTESTS_FADVISE_FILTER_H */

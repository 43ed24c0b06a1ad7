// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command with a system call filter that makes the kernel appear to lack
 * a system call.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *name;
	unsigned int nr;
} calls[] = {
	{ "epoll_create1", SYS_epoll_create1 },
	{ "fadvise64", SYS_fadvise64 },
	{ "io_uring_setup", SYS_io_uring_setup },
};

static unsigned int number_of_call(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].nr;
	errx(2, "no call '%s'", name);
}

static void take_away(unsigned int nr)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {
		.len = ARRAY_SIZE(code),
		.filter = code,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		err(1, "a filter of system calls");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "usage: without CALL COMMAND [ARGUMENT...]");
	take_away(number_of_call(argv[1]));
	execvp(argv[2], argv + 2);
	err(1, "%s", argv[2]);
}

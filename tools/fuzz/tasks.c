// SPDX-License-Identifier: GPL-2.0
/* What processes do to each other: forks, signals, limits, passed fds. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define PROGRAM	"/bin/busybox"

static const int limits[] = {
	RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_SIGPENDING, RLIMIT_AS,
	RLIMIT_NPROC,
};

#define LIMITS	(sizeof(limits) / sizeof(limits[0]))

static bool is_lowered[LIMITS];

long do_pass(struct actor *a, const struct op *op)
{
	int fd = slot_fd(op->y & 1 ? op->fd : op->set);
	char control_room[CMSG_SPACE(sizeof(fd))] = {};
	struct iovec byte = { .iov_base = "", .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &byte, .msg_iovlen = 1,
		.msg_control = control_room,
		.msg_controllen = sizeof(control_room),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	(void)a;
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(control->inbox[op->z % PROCESSES][1], &msg,
		       MSG_DONTWAIT);
}

long do_receive(struct actor *a, const struct op *op)
{
	char control_room[CMSG_SPACE(sizeof(int))] = {}, byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control_room,
		.msg_controllen = sizeof(control_room),
	};
	struct cmsghdr *cmsg;
	ssize_t n;
	int fd;

	n = recvmsg(control->inbox[a->nr / THREADS][0], &msg,
		    MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return -errno;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS ||
	    cmsg->cmsg_len != CMSG_LEN(sizeof(fd)))
		return 0;
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return slot_put(fd, op->y & 1 ? op->fd : op->set);
}

/* A child does the next operations, and the parent leaves them out. */
long do_fork(struct actor *a, const struct op *op)
{
	unsigned int first = a->at + 1, end = first + 1 + op->z % 8;
	pid_t pid;

	if (a->child)
		return -EAGAIN;
	if (end > control->nr)
		end = control->nr;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		a->child = true;
		a->fail_nth = -1;
		ops_run(a, first, end);
		if (op->y & 1)
			pause();
		_exit(0);
	}
	if (pid > 0) {
		a->children[a->nr_children++] = pid;
		a->at = end - 1;
	}
	return pid;
}

static void execute(void)
{
	execl(PROGRAM, "true", NULL);
}

long do_exec(struct actor *a, const struct op *op)
{
	pid_t pid;

	(void)op;
	/* A child leaves its mapping, and a thread's memory is not for it. */
	if (a->child) {
		execute();
		_exit(1);
	}
	pid = vfork();
	if (!pid) {
		execute();
		_exit(1);
	}
	if (pid > 0)
		a->children[a->nr_children++] = pid;
	return pid;
}

long do_kill(struct actor *a, const struct op *op)
{
	unsigned int other = (a->nr / THREADS + 1 + op->fd) % PROCESSES;
	union sigval value = { .sival_int = op->z };

	switch (op->y % 6) {
	case 0:
		return a->nr_children ?
		       kill(a->children[op->z % a->nr_children], SIGKILL) : 0;
	case 1:
		return kill(getpid(), SIGUSR1);
	case 2:
		return sigqueue(getpid(), SIGRTMIN + op->z % 4, value);
	case 3:
		/* It takes long to make another. */
		if (op->z % 16 || a->child)
			return 0;
		return kill(getpid(), SIGKILL);
	case 4:
		return kill(getpid(), SIGIO);
	default:
		return control->tid[other * THREADS] ?
		       syscall(SYS_tkill, control->tid[other * THREADS],
			       SIGUSR1) : 0;
	}
}

long do_limit(struct actor *a, const struct op *op)
{
	unsigned int i = op->y % LIMITS;
	struct rlimit limit;

	(void)a;
	if (getrlimit(limits[i], &limit))
		return -errno;
	limit.rlim_cur = op->z & 1 ? op->x : op->x % 128;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	is_lowered[i] = true;
	return setrlimit(limits[i], &limit);
}

long do_pause(struct actor *a, const struct op *op)
{
	struct timespec time = { .tv_nsec = op->x % 1024 * 1000L };
	unsigned int i;

	(void)a;
	for (i = 0; i < op->z % 8U; i++)
		sched_yield();
	return op->y & 1 ? nanosleep(&time, NULL) : 0;
}

long do_signals(struct actor *a, const struct op *op)
{
	struct timespec now = {};
	unsigned int i, n = 1 + op->z % 16;
	siginfo_t info;
	sigset_t set;
	long ret = 0;

	(void)a;
	sigfillset(&set);
	for (i = 0; i < n && (ret = sigtimedwait(&set, &info, &now)) > 0; i++)
		;
	return ret;
}

static void limits_end(void)
{
	struct rlimit limit;
	unsigned int i;

	for (i = 0; i < LIMITS; i++) {
		if (!is_lowered[i] || getrlimit(limits[i], &limit))
			continue;
		limit.rlim_cur = limit.rlim_max;
		setrlimit(limits[i], &limit);
		is_lowered[i] = false;
	}
}

void tasks_end(struct actor *a)
{
	limits_end();
	while (a->nr_children) {
		pid_t pid = a->children[--a->nr_children];

		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

void signals_end(void)
{
	struct timespec now = {};
	siginfo_t info;
	sigset_t set;

	sigfillset(&set);
	while (sigtimedwait(&set, &info, &now) > 0)
		;
}

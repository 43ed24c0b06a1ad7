// SPDX-License-Identifier: GPL-2.0
/*
 * What the tests share: the machine that they run on, and a set in one call.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/helpers.h"

int driver(const char *options, const char *name)
{
	const char *root = getenv("DEVEPOLL_MODULES");
	struct utsname uts;
	char command[512];

	uname(&uts);
	snprintf(command, sizeof(command),
		 "modprobe -q %s%s -S %s %s %s >/dev/null 2>&1",
		 root ? "-d " : "", root ? root : "", uts.release, options,
		 name);
	return system(command);
}

int slowness(void)
{
	static int factor;

	if (!factor)
		factor = getenv("DEVEPOLL_SLOW") ||
			 !access("/sys/kernel/debug/kmemleak", F_OK) ? 10 : 1;
	return factor;
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

int become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
	    setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

int cpus_online(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

int pin_to_cpu(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus) ? -errno : 0;
}

int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	if (!dir)
		return -errno;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 3;	/* ".", ".." and the folder's own */
}

int next_fd(void)
{
	int fd = eventfd_new();

	if (fd >= 0)
		close(fd);
	return fd;
}

int raise_fd_limit(unsigned int n)
{
	struct rlimit limit = { .rlim_cur = n, .rlim_max = n };

	return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n, len = strlen(text);
	int ret = 0;

	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	if (n != len)
		ret = n < 0 ? -errno : -EIO;
	close(fd);
	return ret;
}

short poll_now(int fd, short mask)
{
	struct pollfd pfd = { .fd = fd, .events = mask };

	return poll(&pfd, 1, 0) > 0 ? pfd.revents : 0;
}

long poll_for_input(void *fd)
{
	struct pollfd pfd = { .fd = *(int *)fd, .events = POLLIN };

	return poll(&pfd, 1, -1) == 1 ? pfd.revents : -errno;
}

int reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

short event_of(const struct pollfd *out, int n, int fd)
{
	int i;

	for (i = 0; i < n; i++)
		if (out[i].fd == fd)
			return out[i].revents;
	return 0;
}

int set_wait_one(struct set *set, int fd, int ms)
{
	struct pollfd out[2];
	int n = set_wait(set, out, 2, ms);

	if (n < 0)
		return n;
	if (n == 0)
		return -ENOMSG;
	return n == 1 && out[0].fd == fd ? (unsigned short)out[0].revents :
					   -EBADMSG;
}

int set_drain(struct set *set)
{
	struct pollfd out[1024];

	return set_wait(set, out, 1024, 0);
}

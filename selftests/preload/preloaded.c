// SPDX-License-Identifier: GPL-2.0
/*
 * What the tests of libdevepoll-preload.so share: a program with this in it
 * starts itself again with the library in LD_PRELOAD, before anything else.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/helpers.h"
#include "core/other_node.h"
#include "preload/preloaded.h"

static const char preload_name[] = "libdevepoll-preload.so";

const char *beside_us(const char *name)
{
	static char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) / 2);
	char *end;

	if (len <= 0)
		return name;
	path[len] = '\0';
	end = strrchr(path, '/') + 1;
	snprintf(end, sizeof(path) - (end - path), "%s", name);
	return path;
}

void *function_of_libc(const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	return libc ? dlsym(libc, name) : NULL;
}

int epoll_by_libc(void)
{
	int (*create1)(int flags) = function_of_libc("epoll_create1");

	return create1 ? create1(0) : -1;
}

bool is_set_of_the_device(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
	       st.st_rdev == makedev(EVENTPOLL_MAJOR, NODE_MINOR);
}

bool is_set_of_epoll(int fd)
{
	char path[64], name[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, name, sizeof(name) - 1);
	name[len < 0 ? 0 : len] = '\0';
	return !strcmp(name, "anon_inode:[eventpoll]");
}

int add(int set, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int ready(int set)
{
	struct epoll_event out = { .data.fd = -1 };
	int n = epoll_wait(set, &out, 1, 0);

	return n < 0 ? -errno : n ? out.data.fd : -ENOMSG;
}

bool works(int set)
{
	int fd = eventfd_new();
	bool right;

	right = add(set, fd, EPOLLIN) == 0 && ready(set) == -ENOMSG &&
		eventfd_post(fd) == 0 && ready(set) == fd &&
		epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL) == 0 &&
		ready(set) == -ENOMSG;
	close(fd);
	return right;
}

int early_set = -1;
int early_errno;
bool early_works;

static void make_early_set(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], WITHOUT_SET))
		return;
	errno = EARLY_ERRNO;
	early_set = epoll_create1(EPOLL_CLOEXEC);
	early_errno = errno;
	early_works = works(early_set);
}

typedef void (*early_function)(int argc, char **argv);
static early_function const early __attribute__((section(".preinit_array"),
						 used)) = make_early_set;

static __attribute__((constructor)) void begin(int argc, char **argv)
{
	const char *preloaded = getenv("LD_PRELOAD");
	char path[PATH_MAX];

	(void)argc;
	if (preloaded && strstr(preloaded, preload_name))
		return;

	snprintf(path, sizeof(path), "%s%s", beside_us(PRELOAD_FROM_HERE),
		 preload_name);
	setenv("LD_PRELOAD", path, 1);
	execv("/proc/self/exe", argv);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A small program for the tests of the packages: it takes an event of a pipe
 * from a set, and prints whether the set is the device's or epoll's.
 *
 * usage: smoke library|epoll|version
 */
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <devepoll.h>
#include <devepoll_epoll.h>

static int fail(const char *what)
{
	perror(what);
	return 1;
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";
	const int library = !strcmp(how, "library");
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	struct stat st;
	int pipes[2];
	int set, ret;

	if (!strcmp(how, "version")) {
		puts(devepoll_version());
		return 0;
	}
	if (!library && strcmp(how, "epoll"))
		return 2;
	if (pipe(pipes))
		return fail("pipe");
	set = library ? devepoll_epoll_create1(0) : epoll_create1(0);
	if (set < 0)
		return fail("create");
	event.data.fd = pipes[0];
	ret = library ?
		devepoll_epoll_ctl(set, EPOLL_CTL_ADD, pipes[0], &event) :
		epoll_ctl(set, EPOLL_CTL_ADD, pipes[0], &event);
	if (ret)
		return fail("add");
	if (write(pipes[1], "x", 1) != 1)
		return fail("write");
	memset(&event, 0, sizeof(event));
	ret = library ? devepoll_epoll_wait(set, &event, 1, 1000) :
			epoll_wait(set, &event, 1, 1000);
	if (ret != 1 || event.data.fd != pipes[0] || event.events != EPOLLIN)
		return fail("wait");
	if (fstat(set, &st))
		return fail("fstat");
	puts(S_ISCHR(st.st_mode) ? "device" : "epoll");
	return 0;
}

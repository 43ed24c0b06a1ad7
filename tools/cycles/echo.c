// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes on two processors echo a byte to each other through a pair of
 * sockets.  Each waits by epoll's calls, so the preload library decides what it
 * waits on.
 *
 * usage: echo KIND WARM ROUNDS WINDOWS
 *
 * Prints the line "run" of tools/cycles/serve for the server echo.  Marks tell a
 * plugin of QEMU what to count, as in tools/cycles/client.c: a round is a byte and
 * its echo.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../examples/number.h"
#include "../pin.h"
#include "../profile/mark.h"

#define FILLING		100

/* Where the code of the preload library is, 0 if it has none. */
static void print_run(const char *kind)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from = 0, to = 0;
	char line[4096], rights[8];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "libdevepoll-preload") &&
		    sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 &&
		    strchr(rights, 'x'))
			break;
		from = 0;
		to = 0;
	}
	if (maps)
		fclose(maps);
	printf("run echo %s %lx %lx\n", kind, from, to);
	fflush(stdout);
}

static int watch(int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int set = epoll_create1(0);

	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll");
	return set;
}

static void send_byte(int fd)
{
	char byte = 'x';

	if (write(fd, &byte, 1) != 1)
		err(1, "write");
}

/* False at the end. */
static bool receive_byte(int set, int fd)
{
	struct epoll_event event;
	char byte;

	if (epoll_wait(set, &event, 1, -1) != 1)
		err(1, "epoll_wait");
	return read(fd, &byte, 1) == 1;
}

static void answer(int fd)
{
	int set;

	pin(0);
	set = watch(fd);
	while (receive_byte(set, fd))
		send_byte(fd);
}

static void run(int set, int fd, long rounds, bool marked)
{
	while (rounds--) {
		if (marked)
			mark_begin();
		send_byte(fd);
		if (!receive_byte(set, fd))
			errx(1, "the other process has ended");
	}
}

int main(int argc, char **argv)
{
	long warm, rounds, windows;
	int ends[2], set, status;
	pid_t child;

	if (argc != 5)
		errx(2, "usage: echo KIND WARM ROUNDS WINDOWS");
	print_run(argv[1]);
	warm = number_of("WARM", argv[2], 1, 1 << 30);
	rounds = number_of("ROUNDS", argv[3], 1, 1 << 30);
	windows = number_of("WINDOWS", argv[4], 1, 1000);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		err(1, "socketpair");
	child = fork();
	if (!child) {
		close(ends[0]);
		answer(ends[1]);
		return 0;
	}
	close(ends[1]);
	pin(1);
	set = watch(ends[0]);
	run(set, ends[0], warm, false);
	MARK(MARK_START);
	run(set, ends[0], FILLING, false);
	while (windows--) {
		run(set, ends[0], rounds, true);
		mark_end();
		MARK(MARK_RECORD);
	}
	MARK(MARK_STOP);
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		errx(1, "the other process failed");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A first program by ioctl(2) alone: adds a pipe and waits for it, in one call.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/devepoll.h>

int main(void)
{
	struct devepoll_change change = { .op = DEVEPOLL_ADD };
	struct devepoll_wait_args args = {
		.changes = (uintptr_t)&change,
		.nr_changes = 1,
		.change_size = sizeof(change),
		.max_events = 1,
		.timeout = DEVEPOLL_FOREVER,
	};
	struct devepoll_event event;
	int set, n, ends[2];

	set = open("/dev/epoll", O_RDWR | O_CLOEXEC);
	if (set < 0 || pipe(ends))
		err(1, "/dev/epoll");
	if (write(ends[1], "x", 1) != 1)
		err(1, "write");

	change.fd = ends[0];
	change.events = EPOLLIN;
	args.events = (uintptr_t)&event;
	n = ioctl(set, DEVEPOLL_WAIT, &args);
	if (n < 0)
		err(1, "DEVEPOLL_WAIT");
	if (args.nr_failed)
		errx(1, "the pipe can't be watched");
	printf("%d event: fd %d is readable\n", n, event.fd);
	return 0;
}

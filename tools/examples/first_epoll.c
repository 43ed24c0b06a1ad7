// SPDX-License-Identifier: GPL-2.0
/*
 * A first program that knows nothing of the device: it calls epoll, and the
 * preload library takes it to the device.
 */
#include <err.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

int main(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set, n, ends[2];
	char link[64] = "";
	char path[32];

	set = epoll_create1(EPOLL_CLOEXEC);
	if (set < 0 || pipe(ends))
		err(1, "epoll_create1");
	event.data.fd = ends[0];
	if (epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event))
		err(1, "epoll_ctl");
	if (write(ends[1], "x", 1) != 1)
		err(1, "write");
	n = epoll_wait(set, &event, 1, -1);
	if (n < 0)
		err(1, "epoll_wait");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", set);
	if (readlink(path, link, sizeof(link) - 1) < 0)
		err(1, "%s", path);
	printf("%d event: fd %d is readable, says %s\n", n, event.data.fd,
	       link);
	return 0;
}

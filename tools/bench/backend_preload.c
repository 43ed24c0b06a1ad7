// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of the benchmark as an unchanged program of epoll makes them
 * that preloads the library with DEVEPOLL_RING=1.  The parts of the preload
 * library are linked here, under other names.
 */
#include <stdlib.h>
#include <sys/epoll.h>

int preloaded_epoll_create1(int flags);
int preloaded_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
int preloaded_epoll_wait(int epfd, struct epoll_event *events, int maxevents,
			 int timeout);
int preloaded_close(int fd);

#define call_create1	preloaded_epoll_create1
#define call_ctl	preloaded_epoll_ctl
#define call_wait	preloaded_epoll_wait
#define call_close	preloaded_close
#include "backend_epoll.h"

/* Before the library reads the environment. */
static __attribute__((constructor(101))) void ask_for_rings(void)
{
	setenv("DEVEPOLL_RING", "1", 1);
}

const struct backend backend_preload_ring = {
	.name = "/dev/epoll by the preload library, with rings",
	.not_inherited = true,
	SET_OPERATIONS,
};

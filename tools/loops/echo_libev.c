// SPDX-License-Identifier: GPL-2.0
/* The echo server on libev. */
#include <err.h>

#include "ev.h"

#include "echo.h"

static struct ev_loop *loop;
static ev_io watchers[ECHO_FDS];

static void readable(struct ev_loop *of, ev_io *io, int events)
{
	(void)of;
	(void)events;
	echo_readable(io->fd);
}

static const char *open_loop(int on_device)
{
	loop = ev_loop_new(on_device ? EVBACKEND_DEVEPOLL : EVBACKEND_EPOLL);
	if (!loop)
		errx(1, "libev makes no loop");
	return ev_backend(loop) == EVBACKEND_DEVEPOLL ? "/dev/epoll" : "epoll";
}

static void watch(int fd)
{
	ev_io_init(&watchers[fd], readable, fd, EV_READ);
	ev_io_start(loop, &watchers[fd]);
}

static void forget(int fd)
{
	ev_io_stop(loop, &watchers[fd]);
}

static void turn(void)
{
	ev_run(loop, EVRUN_ONCE);
}

static void close_loop(void)
{
	ev_loop_destroy(loop);
}

const struct loop echo_loop = {
	"libev", open_loop, watch, forget, turn, close_loop,
};

// SPDX-License-Identifier: GPL-2.0
/* The echo server on libevent. */
#include <err.h>

#include <event2/event.h>

#include "echo.h"

static struct event_base *base;
static struct event *watchers[ECHO_FDS];

static void readable(evutil_socket_t fd, short events, void *arg)
{
	(void)events;
	(void)arg;
	echo_readable(fd);
}

static const char *open_loop(int on_device)
{
	struct event_config *config = event_config_new();

	event_config_avoid_method(config, on_device ? "epoll" : "devepoll");
	base = event_base_new_with_config(config);
	if (!base)
		errx(1, "libevent makes no base");
	event_config_free(config);
	return event_base_get_method(base)[0] == 'd' ? "/dev/epoll" : "epoll";
}

static void watch(int fd)
{
	watchers[fd] = event_new(base, fd, EV_READ | EV_PERSIST, readable,
				 NULL);
	event_add(watchers[fd], NULL);
}

static void forget(int fd)
{
	event_free(watchers[fd]);
}

static void turn(void)
{
	event_base_loop(base, EVLOOP_ONCE);
}

static void close_loop(void)
{
	event_base_free(base);
}

const struct loop echo_loop = {
	"libevent", open_loop, watch, forget, turn, close_loop,
};

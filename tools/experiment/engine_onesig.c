// SPDX-License-Identifier: GPL-2.0
/*
 * The engine on one signal per fd: a signal instance of the device.  Its
 * pending signals accumulate events, and never overflow the queue.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <devepoll_events.h>

#include "engine.h"
#include "signal_wait.h"

struct engine_set {
	int fd;
	sigset_t signals;
	struct pollfd event;
};

static struct engine_set *open_set(int maxfds, char why[ENGINE_WHY])
{
	struct devepoll_signal signal = {
		.signo = SIGRTMIN + 3,
		.flags = DEVEPOLL_SIGNAL_THREAD,
	};
	struct engine_set *set = calloc(1, sizeof(*set));
	int err;

	(void)maxfds;
	if (!set) {
		engine_why(why, errno, "a set");
		return NULL;
	}
	sigemptyset(&set->signals);
	sigaddset(&set->signals, signal.signo);
	pthread_sigmask(SIG_BLOCK, &set->signals, NULL);
	set->fd = devepoll_events_open(0);
	if (set->fd < 0) {
		engine_why(why, -set->fd, "/dev/epoll");
		free(set);
		return NULL;
	}
	err = devepoll_events_request(set->fd, DEVEPOLL_SIGNAL, &signal);
	if (!err)
		return set;
	engine_why(why, -err, "DEVEPOLL_SIGNAL");
	close(set->fd);
	free(set);
	return NULL;
}

static void close_set(struct engine_set *set)
{
	close(set->fd);
	free(set);
}

static int make(struct engine_set *set, int op, int fd, short events)
{
	struct devepoll_change change = {
		.op = op,
		.fd = fd,
		.events = events,
		.data = fd,
	};
	int ret = devepoll_events_update(set->fd, &change, 1, NULL);

	return ret < 0 ? ret : change.result;
}

static int add(struct engine_set *set, int fd, short events)
{
	return make(set, DEVEPOLL_ADD, fd, events);
}

static int change(struct engine_set *set, int fd, short events)
{
	return make(set, DEVEPOLL_MOD, fd, events);
}

static int remove_fd(struct engine_set *set, int fd)
{
	return make(set, DEVEPOLL_DEL, fd, 0);
}

static int wait_events(struct engine_set *set, const struct pollfd **events,
		       int timeout)
{
	int sig = signal_wait(&set->signals, &set->event, timeout);

	*events = &set->event;
	return sig > 0 ? 1 : sig;
}

const struct engine engine_onesig = {
	.name = "onesig",
	.what = "one queued signal per fd, events added up in it",
	ENGINE_OPERATIONS,
};

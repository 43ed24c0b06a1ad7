// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A backend of libev for /dev/epoll.  libev.patch has ev.c include this file.
 *
 * libev hands over the changes of a turn just before it waits: they go into an
 * array, and the wait makes them.  A stopped watcher changes nothing at first:
 * most fds are closed after that, and leave the set by themselves.  One that
 * stays open is removed with the next wait after an event that nobody wants.
 * The device tells a closed number from one that is used again, so there are no
 * generations to count and no set has to be built anew.
 */
#include <devepoll_events.h>
#include <sys/epoll.h>

/* In emask: the file can't be watched, and counts as ready. */
#define EV_EMASK_ALWAYS		0x80
/* The result of a change that was not tried. */
#define EV_DEVEPOLL_UNTRIED	1
#define EV_DEVEPOLL_FIRST	64

struct ev_devepoll {
	struct devepoll_event *events;
	struct devepoll_change *changes;
	int *always;
	unsigned int max_events;
	unsigned int nr_changes;
	unsigned int max_changes;
	unsigned int nr_always;
	unsigned int max_always;
};

static void devepoll_change(EV_P_ int op, int fd, int want)
{
	struct ev_devepoll *d = devepoll;

	if (d->nr_changes == d->max_changes) {
		d->max_changes = d->max_changes * 2 + EV_DEVEPOLL_FIRST;
		d->changes = ev_realloc(d->changes, d->max_changes *
					sizeof(*d->changes));
	}
	d->changes[d->nr_changes++] = (struct devepoll_change){
		.op = op,
		.fd = fd,
		.events = (want & EV_READ ? EPOLLIN : 0) |
			  (want & EV_WRITE ? EPOLLOUT : 0),
		.result = EV_DEVEPOLL_UNTRIED,
	};
	anfds[fd].emask = want;
}

static void devepoll_modify(EV_P_ int fd, int oev, int nev)
{
	if (!nev)
		return;
	devepoll_change(EV_A_ oev && anfds[fd].emask != nev ?
			DEVEPOLL_MOD : DEVEPOLL_ADD, fd, nev);
}

static void devepoll_always_ready(EV_P_ int fd)
{
	struct ev_devepoll *d = devepoll;
	unsigned int i;

	anfds[fd].emask = EV_EMASK_ALWAYS;
	for (i = 0; i < d->nr_always; i++)
		if (d->always[i] == fd)
			return;
	if (d->nr_always == d->max_always) {
		d->max_always = d->max_always * 2 + EV_DEVEPOLL_FIRST;
		d->always = ev_realloc(d->always, d->max_always *
				       sizeof(*d->always));
	}
	d->always[d->nr_always++] = fd;
}

/*
 * Sees to the changes that failed.  Those that the next call has to make are
 * the changes from then on.
 */
static void devepoll_settle(EV_P)
{
	struct ev_devepoll *d = devepoll;
	unsigned int i, nr = d->nr_changes;

	d->nr_changes = 0;
	for (i = 0; i < nr; i++) {
		struct devepoll_change *change = &d->changes[i];

		if (!change->result || (change->op == DEVEPOLL_DEL &&
					change->result < 0))
			continue;
		switch (change->result) {
		case EV_DEVEPOLL_UNTRIED:
			break;
		case -ENOENT:
			change->op = DEVEPOLL_ADD;
			break;
		case -EEXIST:
			change->op = DEVEPOLL_MOD;
			break;
		case -EPERM:
			devepoll_always_ready(EV_A_ change->fd);
			continue;
		default:
			fd_kill(EV_A_ change->fd);
			continue;
		}
		change->result = EV_DEVEPOLL_UNTRIED;
		d->changes[d->nr_changes++] = *change;
	}
}

static void devepoll_feed(EV_P_ const struct devepoll_event *event)
{
	const int fd = event->fd, want = anfds[fd].events;
	const int gone = event->events & (EPOLLERR | EPOLLHUP);
	const int in = event->events & EPOLLIN ? EV_READ : 0;
	const int out = event->events & EPOLLOUT ? EV_WRITE : 0;

	if (!want)
		devepoll_change(EV_A_ DEVEPOLL_DEL, fd, 0);
	else if ((in | out) & ~want)
		devepoll_change(EV_A_ DEVEPOLL_MOD, fd, want);
	fd_event(EV_A_ fd, gone ? EV_READ | EV_WRITE : in | out);
}

static void devepoll_feed_always(EV_P)
{
	struct ev_devepoll *d = devepoll;
	unsigned int i, nr = d->nr_always;

	d->nr_always = 0;
	for (i = 0; i < nr; i++) {
		const int fd = d->always[i];

		if (!(anfds[fd].emask & EV_EMASK_ALWAYS))
			continue;
		if (!anfds[fd].events) {
			anfds[fd].emask = 0;
			continue;
		}
		d->always[d->nr_always++] = fd;
		fd_event(EV_A_ fd, anfds[fd].events);
	}
}

static void devepoll_poll(EV_P_ ev_tstamp timeout)
{
	struct ev_devepoll *d = devepoll;
	int i, n;

	/* A call with a change that fails does not sleep. */
	do {
		if (d->nr_always)
			timeout = 0;
		EV_RELEASE_CB;
		n = devepoll_events_update_wait(backend_fd, d->changes,
						d->nr_changes, NULL, d->events,
						d->max_events, timeout * 1e9);
		EV_ACQUIRE_CB;
		devepoll_settle(EV_A);
	} while (!n && d->nr_changes);

	if (n < 0 && n != -EINTR) {
		errno = -n;
		ev_syserr("(libev) devepoll_events_update_wait");
	}
	for (i = 0; i < n; i++)
		devepoll_feed(EV_A_ d->events + i);
	devepoll_feed_always(EV_A);
	if (n == (int)d->max_events) {
		ev_free(d->events);
		d->max_events *= 2;
		d->events = ev_malloc(d->max_events * sizeof(*d->events));
	}
}

inline_size int devepoll_init(EV_P_ int flags)
{
	backend_fd = devepoll_events_open(0);
	if (backend_fd < 0)
		return 0;
	backend_mintime = EV_TS_CONST(0.000000001);
	backend_modify = devepoll_modify;
	backend_poll = devepoll_poll;
	devepoll = ev_malloc(sizeof(*devepoll));
	memset(devepoll, 0, sizeof(*devepoll));
	devepoll->max_events = EV_DEVEPOLL_FIRST;
	devepoll->events = ev_malloc(devepoll->max_events *
				     sizeof(*devepoll->events));
	return EVBACKEND_DEVEPOLL;
}

inline_size void devepoll_destroy(EV_P)
{
	ev_free(devepoll->events);
	ev_free(devepoll->changes);
	ev_free(devepoll->always);
	ev_free(devepoll);
}

/* The child has the parent's set, and needs one of its own. */
ecb_cold static void devepoll_fork(EV_P)
{
	close(backend_fd);
	for (;;) {
		backend_fd = devepoll_events_open(0);
		if (backend_fd >= 0)
			break;
		errno = -backend_fd;
		ev_syserr("(libev) devepoll_events_open");
	}
	devepoll->nr_changes = 0;
	fd_rearm_all(EV_A);
}

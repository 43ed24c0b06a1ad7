// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A backend of libevent for /dev/epoll.  libevent.patch puts it into the list
 * of backends, before epoll.
 *
 * libevent's list of changes collects what a turn of the loop changes, and the
 * wait makes the changes.  An fd whose last event was deleted stays in the set
 * at first: most of them are closed after that, and leave it by themselves.
 * One that stays open is removed with the next wait after an event that nobody
 * wants.
 *
 * With EVENT_DEVEPOLL_RING=1 in the environment the set has a ring, which has the
 * events of edge-triggered fds.  A turn without changes then takes its events from
 * memory.
 */
#include "event2/event-config.h"
#include "evconfig-private.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <unistd.h>

#include <devepoll_events.h>

#include "event2/event.h"
#include "event2/thread.h"
#include "event-internal.h"
#include "changelist-internal.h"
#include "evmap-internal.h"
#include "evsignal-internal.h"
#include "evthread-internal.h"
#include "log-internal.h"
#include "mm-internal.h"
#include "util-internal.h"

/* The result of a change that was not tried. */
#define UNTRIED		1
#define FIRST_EVENTS	32
#define MAX_EVENTS	4096
#define RING_SLOTS	1024

struct set {
	int fd;
	struct devepoll_event *events;
	unsigned int max_events;
	struct devepoll_change *changes;
	unsigned int nr_changes, max_changes;
	/* By fd: what libevent wants of it, EPOLL* bits. */
	uint32_t *wanted;
	unsigned int nr_wanted;
	/* The process that has a ring, or 0; its children do not inherit it. */
	pid_t ring_of;
	struct devepoll_consumer ring;
};

/* Makes room for more in an array; returns 0 if there is no memory. */
static int grow(void *array, unsigned int *max, unsigned int nr, size_t size)
{
	unsigned int room = *max ? *max : FIRST_EVENTS;
	char *more;

	if (nr <= *max)
		return 1;
	while (room < nr)
		room *= 2;
	/* The program may have functions of its own, which take no NULL. */
	more = *max ? mm_realloc(*(void **)array, room * size) :
		      mm_malloc(room * size);
	if (!more) {
		event_warn("devepoll: realloc");
		return 0;
	}
	memset(more + *max * size, 0, (room - *max) * size);
	*(void **)array = more;
	*max = room;
	return 1;
}

static void change(struct set *set, int op, int fd, uint32_t events)
{
	if (!grow(&set->changes, &set->max_changes, set->nr_changes + 1,
		  sizeof(*set->changes)))
		return;
	set->changes[set->nr_changes++] = (struct devepoll_change){
		.op = op,
		.fd = fd,
		.events = events,
		.flags = set->ring_of && events & EPOLLET ? DEVEPOLL_TRUST : 0,
		.result = UNTRIED,
	};
}

/* The bit of one of the three kinds of events, after its change. */
static uint32_t bit_of(uint32_t bit, int was_set, unsigned int change)
{
	if (change & EV_CHANGE_ADD)
		return bit | (change & EV_CHANGE_ET ? EPOLLET : 0);
	return was_set && !(change & EV_CHANGE_DEL) ? bit : 0;
}

/* A change of the list becomes one of the device. */
static void take(struct set *set, const struct event_change *from)
{
	const short old = from->old_events;
	uint32_t events = bit_of(EPOLLIN, old & EV_READ, from->read_change) |
			  bit_of(EPOLLOUT, old & EV_WRITE, from->write_change) |
			  bit_of(EPOLLRDHUP, old & EV_CLOSED,
				 from->close_change);

	if (!from->read_change && !from->write_change && !from->close_change)
		return;
	if (!grow(&set->wanted, &set->nr_wanted, from->fd + 1,
		  sizeof(*set->wanted)))
		return;
	if (events && (old & EV_ET || set->wanted[from->fd] & EPOLLET))
		events |= EPOLLET;
	if (events)
		change(set, old ? DEVEPOLL_MOD : DEVEPOLL_ADD, from->fd,
		       events);
	set->wanted[from->fd] = events;
}

/* Sees to the changes that failed, and keeps those to make in the next call. */
static void settle(struct set *set)
{
	unsigned int i, nr = set->nr_changes;

	set->nr_changes = 0;
	for (i = 0; i < nr; i++) {
		struct devepoll_change *c = &set->changes[i];

		if (!c->result || (c->op == DEVEPOLL_DEL && c->result < 0))
			continue;
		switch (c->result) {
		case UNTRIED:
			break;
		case -ENOENT:
			c->op = DEVEPOLL_ADD;
			break;
		case -EEXIST:
			c->op = DEVEPOLL_MOD;
			break;
		default:
			errno = -c->result;
			event_warn("devepoll: change of fd %d", c->fd);
			continue;
		}
		c->result = UNTRIED;
		set->changes[set->nr_changes++] = *c;
	}
}

static void activate(struct event_base *base, struct set *set,
		     const struct devepoll_event *event)
{
	uint32_t wanted = set->wanted[event->fd], got = event->events;
	short what = 0;

	if (!wanted) {
		change(set, DEVEPOLL_DEL, event->fd, 0);
		return;
	}
	if (got & EPOLLERR || (got & EPOLLHUP && !(got & EPOLLRDHUP))) {
		what = EV_READ | EV_WRITE;
	} else {
		what |= got & EPOLLIN ? EV_READ : 0;
		what |= got & EPOLLOUT ? EV_WRITE : 0;
		what |= got & EPOLLRDHUP ? EV_CLOSED : 0;
	}
	if (what)
		evmap_io_active_(base, event->fd, what | EV_ET);
}

/* Makes the changes, and waits, in one call. */
static int change_and_wait(struct event_base *base, struct set *set,
			   int64_t timeout)
{
	int i, n;

	/* A call with a change that fails does not sleep. */
	do {
		EVBASE_RELEASE_LOCK(base, th_base_lock);
		n = devepoll_events_update_wait(set->fd, set->changes,
						set->nr_changes, NULL,
						set->events, set->max_events,
						timeout);
		EVBASE_ACQUIRE_LOCK(base, th_base_lock);
		settle(set);
	} while (!n && set->nr_changes);

	for (i = 0; i < n; i++)
		activate(base, set, &set->events[i]);
	if (n == (int)set->max_events && n < MAX_EVENTS)
		grow(&set->events, &set->max_events, n + 1,
		     sizeof(*set->events));
	return n;
}

/* Takes events from memory, or sleeps until there are some. */
static int consume(struct event_base *base, struct set *set, int64_t timeout)
{
	struct devepoll_event event;
	int n;

	EVBASE_RELEASE_LOCK(base, th_base_lock);
	n = devepoll_events_consume(&set->ring, timeout);
	EVBASE_ACQUIRE_LOCK(base, th_base_lock);
	while (devepoll_events_next(&set->ring, &event))
		activate(base, set, &event);
	return n;
}

static int devepoll_dispatch(struct event_base *base, struct timeval *tv)
{
	int64_t timeout = tv ? tv->tv_sec * INT64_C(1000000000) +
			       tv->tv_usec * 1000 : -1;
	struct set *set = base->evbase;
	int i, n;

	for (i = 0; i < base->changelist.n_changes; i++)
		take(set, &base->changelist.changes[i]);
	event_changelist_remove_all_(&base->changelist, base);

	if (set->ring_of && !set->nr_changes)
		n = consume(base, set, timeout);
	else
		n = change_and_wait(base, set, timeout);
	if (n >= 0 || n == -EINTR)
		return 0;
	errno = -n;
	event_warn("devepoll: wait");
	return -1;
}

static void devepoll_dealloc(struct event_base *base)
{
	struct set *set = base->evbase;

	evsig_dealloc_(base);
	if (set->ring_of == getpid())
		devepoll_events_ring_unmap(&set->ring, 1);
	close(set->fd);
	mm_free(set->events);
	if (set->changes)
		mm_free(set->changes);
	if (set->wanted)
		mm_free(set->wanted);
	mm_free(set);
}

/* Without memory for a ring, the set has none. */
static void make_ring(struct set *set)
{
	const char *wanted = evutil_getenv_("EVENT_DEVEPOLL_RING");

	if (!wanted || strcmp(wanted, "1"))
		return;
	if (!devepoll_events_ring(set->fd, &set->ring, 1, RING_SLOTS))
		set->ring_of = getpid();
}

static void *devepoll_init(struct event_base *base)
{
	struct set *set = mm_calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	set->fd = devepoll_events_open(0);
	if (set->fd < 0 || !grow(&set->events, &set->max_events, FIRST_EVENTS,
				 sizeof(*set->events))) {
		if (set->fd >= 0)
			close(set->fd);
		mm_free(set);
		return NULL;
	}
	make_ring(set);
	evsig_init_(base);
	return set;
}

const struct eventop devepollops = {
	.name = "devepoll",
	.init = devepoll_init,
	.add = event_changelist_add_,
	.del = event_changelist_del_,
	.dispatch = devepoll_dispatch,
	.dealloc = devepoll_dealloc,
	.need_reinit = 1,
	.features = EV_FEATURE_ET | EV_FEATURE_O1 | EV_FEATURE_EARLY_CLOSE,
	.fdinfo_len = EVENT_CHANGELIST_FDINFO_SIZE,
};

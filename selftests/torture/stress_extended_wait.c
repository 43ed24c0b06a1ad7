// SPDX-License-Identifier: GPL-2.0
/* How the threads of the stress program's chaos wait in extended sets. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "torture/stress_extended.h"

#define KNOWN_EVENTS	(EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLERR | EPOLLHUP | \
			 EPOLLRDNORM | EPOLLRDBAND | EPOLLWRNORM | \
			 EPOLLWRBAND | EPOLLMSG | EPOLLRDHUP | DEVEPOLL_CLOSED)

const int wait_errors[] = { EINTR, 0 };

static void check_events(const struct devepoll_event *out, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (out[i].data != data_of(out[i].fd))
			bad_result("data of another fd", out[i].fd, i);
		if (!out[i].events || out[i].events & ~KNOWN_EVENTS)
			bad_result("events that can't be", out[i].fd,
				   out[i].events);
	}
}

static void fill_wait(struct rng *rng, struct devepoll_wait_args *args,
		      unsigned int most)
{
	args->max_events = 1 + rng_below(rng, most);
	if (rng_below(rng, 2))
		args->min_events = 1 + rng_below(rng, args->max_events);
	args->timeout = rng_below(rng, 3) ? 0 : rng_below(rng, 10) * 1000000;
	if (rng_below(rng, 8) == 0) {
		args->flags |= DEVEPOLL_WAIT_ABSTIME;
		args->timeout += now_seconds() * 1e9;
	}
}

void op_extended_wait(struct rng *rng)
{
	struct extended_set *s = any_extended(rng);
	struct devepoll_change changes[4];
	struct devepoll_event out[PART_EVENTS + 1];
	struct devepoll_wait_args args = { .events = (uintptr_t)out };
	int n;

	fill_wait(rng, &args, PART_EVENTS);
	if (rng_below(rng, 4) == 0) {
		args.nr_changes = 1 + rng_below(rng, 4);
		args.changes = (uintptr_t)changes;
		args.change_size = sizeof(changes[0]);
		extended_fill(rng, changes, args.nr_changes);
	}
	memset(out, 0xa5, sizeof(out));
	n = ioctl(atomic_load(&s->fd), DEVEPOLL_WAIT, &args);
	if (n < 0)
		check_call(s, "DEVEPOLL_WAIT", wait_errors);
	else if (is_kept(s))
		check_events(out, n);
	if (n > (int)args.max_events ||
	    out[args.max_events].data != 0xa5a5a5a5a5a5a5a5)
		bad_result("more events than wanted", n, args.max_events);
}

/* Of the mapping: how many were given away, and which one is the thread's. */
static atomic_uint parts;
static __thread unsigned int part;

/* Threads that wait into the mapping, each into a part of its own. */
void op_extended_mapped(struct rng *rng)
{
	struct devepoll_wait_args args = { .flags = DEVEPOLL_WAIT_MAPPED };
	struct extended_set *s = any_extended(rng);
	struct devepoll_event *out;
	int n;

	if (!part)
		part = 1 + atomic_fetch_add(&parts, 1) % (MAP_PARTS - 1);
	args.events = part * PART_SIZE;
	fill_wait(rng, &args, PART_EVENTS);
	pthread_rwlock_rdlock(&s->map_lock);
	out = s->map ? s->map + part * PART_EVENTS : NULL;
	n = ioctl(atomic_load(&s->fd), DEVEPOLL_WAIT, &args);
	if (n < 0 && out)
		check_call(s, "DEVEPOLL_WAIT_MAPPED", wait_errors);
	else if (is_kept(s) && out)
		check_events(out, n);
	pthread_rwlock_unlock(&s->map_lock);
}

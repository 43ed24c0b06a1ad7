// SPDX-License-Identifier: GPL-2.0
/* How the stress program looks for lost wake-ups in the extended interface. */
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "torture/stress_extended.h"
#include "torture/stress_pair.h"

/* All but EPOLLEXCLUSIVE can be changed, and all must give each event. */
static const struct {
	uint32_t events;
	uint16_t flags;
} ways[] = {
	{ EPOLLIN, 0 },
	{ EPOLLIN | EPOLLET, 0 },
	{ EPOLLIN | EPOLLONESHOT, 0 },
	{ EPOLLIN | EPOLLET, DEVEPOLL_TRUST },
	{ EPOLLIN | EPOLLET | EPOLLEXCLUSIVE, DEVEPOLL_TELL_CLOSED },
	{ EPOLLIN | EPOLLET | EPOLLONESHOT, DEVEPOLL_TRUST },
};

#define WAYS	(sizeof(ways) / sizeof(ways[0]))

static struct devepoll_change change_of(uint16_t op, const struct pair_file *f)
{
	return (struct devepoll_change) {
		.op = op,
		.flags = op == DEVEPOLL_DEL ? 0 : f->flags,
		.fd = f->rfd,
		.events = f->events,
		.data = f->rfd,
	};
}

static bool change_one(int set, uint16_t op, const struct pair_file *f)
{
	struct devepoll_change change = change_of(op, f);

	return extended_ctl(set, &change, 1) == 1 && !change.result;
}

static bool extended_open(struct pair *p)
{
	int fds[2];

	if (file_make(FILE_DEVEPOLL, fds))
		return false;
	p->set = fds[0];
	return true;
}

static bool nested_open(struct pair *p)
{
	struct pair_file inner;
	int fds[2];

	if (!extended_open(p) || file_make(FILE_DEVEPOLL, fds))
		return false;
	p->outer = fds[0];
	/* A set that was never used is one of neither interface. */
	extended_take(p->set, NULL, 1, 0);
	inner = (struct pair_file){ .rfd = p->set, .events = EPOLLIN };
	return change_one(p->outer, DEVEPOLL_ADD, &inner);
}

static bool extended_add(struct pair *p, struct pair_file *f, unsigned int nr)
{
	f->events = ways[nr % WAYS].events;
	f->flags = ways[nr % WAYS].flags;
	return change_one(p->set, DEVEPOLL_ADD, f);
}

static bool extended_swap(struct pair *p, const struct pair_file *f)
{
	struct devepoll_change swap[2] = {
		change_of(DEVEPOLL_DEL, f), change_of(DEVEPOLL_ADD, f),
	};

	return extended_ctl(p->set, swap, 2) == 2 && !swap[0].result &&
	       !swap[1].result;
}

static bool extended_change(struct pair *p, const struct pair_file *f)
{
	struct pair_file other = *f;

	if (f->events & EPOLLEXCLUSIVE)
		return extended_swap(p, f);
	other.events |= EPOLLRDNORM;
	return change_one(p->set, DEVEPOLL_MOD, &other);
}

static void extended_visit(const struct pair_file *f, struct rng *rng)
{
	struct pair_file other = *f;
	int fds[2];

	if (file_make(FILE_DEVEPOLL, fds))
		return;
	/*
	 * Not exclusive: a thread that gets the event in its turn and leaves
	 * takes it along, as in epoll.
	 */
	other.events = EPOLLIN | EPOLLET;
	other.flags = rng_below(rng, 4);
	change_one(fds[0], DEVEPOLL_ADD, &other);
	if (rng_below(rng, 2))
		change_one(fds[0], DEVEPOLL_DEL, &other);
	close(fds[0]);
}

/* The data of such a file differs from that of all files that are checked. */
static void extended_mix(struct pair *p, int fd, struct rng *rng)
{
	unsigned int way = rng_below(rng, WAYS);
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = ways[way].flags,
		.fd = fd,
		.events = ways[way].events,
		.data = -1,
	};

	extended_ctl(p->set, &change, 1);
	change.op = DEVEPOLL_DEL;
	change.flags = 0;
	if (rng_below(rng, 4) == 0)
		extended_ctl(p->set, &change, 1);
}

static int extended_wait(struct pair *p, unsigned int consumer, int *fds,
			 int max)
{
	struct devepoll_event out[PAIR_FILES];
	struct devepoll_wait_args args = {
		.events = (uintptr_t)out,
		.max_events = 1 + consumer * 3,
		.timeout = DEVEPOLL_FOREVER,
	};
	int i, n;

	/* One of them prefers to get two.  A time-out would hide a loss. */
	if (consumer == 1)
		args.min_events = 2;
	n = ioctl(p->set, DEVEPOLL_WAIT, &args);
	for (i = 0; i < n && i < max; i++)
		fds[i] = out[i].data;
	return n;
}

static int nested_wait(struct pair *p, unsigned int consumer, int *fds,
		       int max)
{
	struct devepoll_event out[PAIR_FILES];
	int i, n;

	n = extended_take(p->outer, out, 1, DEVEPOLL_FOREVER);
	if (n <= 0)
		return n;
	n = extended_take(p->set, out, 1 + consumer, 0);
	for (i = 0; i < n && i < max; i++)
		fds[i] = out[i].data;
	return n;
}

/* It may be changed by another thread, but it is always there. */
static bool extended_rearm(struct pair *p, const struct pair_file *f)
{
	if (!(f->events & EPOLLONESHOT))
		return true;
	return change_one(p->set, DEVEPOLL_MOD, f);
}

static void extended_report(struct pair *p, const struct pair_file *f)
{
	struct devepoll_change del = change_of(DEVEPOLL_DEL, f);
	struct devepoll_event out[PAIR_FILES];
	int n = extended_take(p->set, out, PAIR_FILES, 0);

	extended_ctl(p->set, &del, 1);
	printf("# lost: events %#x, flags %#x; a wait of no time now returns %d; DEL gives %d\n",
	       f->events, f->flags, n, del.result);
}

const struct pair_face pair_extended = {
	.name = "extended",
	.consumers = 3,
	.open = extended_open,
	.add = extended_add,
	.swap = extended_swap,
	.change = extended_change,
	.visit = extended_visit,
	.mix = extended_mix,
	.wait = extended_wait,
	.rearm = extended_rearm,
	.report = extended_report,
};

const struct pair_face pair_nested = {
	.name = "nested",
	.consumers = 2,
	.open = nested_open,
	.add = extended_add,
	.swap = extended_swap,
	.change = extended_change,
	.visit = extended_visit,
	.mix = extended_mix,
	.wait = nested_wait,
	.rearm = extended_rearm,
	.report = extended_report,
};

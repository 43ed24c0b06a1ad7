// SPDX-License-Identifier: GPL-2.0
/*
 * In-tree epoll with one fault each, which the fuzzer must find to prove that
 * it works.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define DROP_EVERY	200
#define KEEP_EVERY	20
/* Numbers that sets and files of a world may have. */
#define FDS		256
#define EVENTS_MOST	64

/* What was last asked for, by number of set and file. */
static struct epoll_event asked[FDS][FDS];
static unsigned int dropped, kept;

static void faulty_start(void)
{
	dropped = 0;
	kept = 0;
}

static int faulty_open(void)
{
	return engine_epoll.open();
}

static int plain_ctl(int set, int op, int fd, struct epoll_event *ev,
		     unsigned int entry)
{
	if (ev && op != EPOLL_CTL_DEL && set < FDS && fd >= 0 && fd < FDS)
		asked[set][fd] = *ev;
	return engine_epoll.ctl(set, op, fd, ev, entry);
}

static int plain_wait(int set, struct epoll_event *out, int max, int ms,
		      unsigned int entry)
{
	return engine_epoll.wait(set, out, max, ms, entry);
}

static int plain_wait_raw(int set, struct epoll_event *out, int max,
			  unsigned int entry)
{
	return engine_epoll.wait_raw(set, out, max, entry);
}

/* Loses an event now and then. */
static int drop_wait(int set, struct epoll_event *out, int max, int ms,
		     unsigned int entry)
{
	int i, n = plain_wait(set, out, max, ms, entry);

	for (i = 0; i < n; i++) {
		if (++dropped % DROP_EVERY == 0) {
			n--;
			memmove(out + i, out + i + 1, (n - i) * sizeof(*out));
		}
	}
	return n;
}

/* Asks for the events less some bits. */
static int ctl_without(int set, int op, int fd, struct epoll_event *ev,
		       uint32_t bits)
{
	struct epoll_event less;

	if (!ev || op == EPOLL_CTL_DEL)
		return plain_ctl(set, op, fd, ev, 0);
	less = *ev;
	less.events &= ~bits;
	return plain_ctl(set, op, fd, &less, 0);
}

static int rdhup_ctl(int set, int op, int fd, struct epoll_event *ev,
		     unsigned int entry)
{
	(void)entry;
	return ctl_without(set, op, fd, ev, EPOLLRDHUP);
}

static int oneshot_ctl(int set, int op, int fd, struct epoll_event *ev,
		       unsigned int entry)
{
	(void)entry;
	return ctl_without(set, op, fd, ev, EPOLLONESHOT);
}

static int edge_ctl(int set, int op, int fd, struct epoll_event *ev,
		    unsigned int entry)
{
	(void)entry;
	return ctl_without(set, op, fd, ev, EPOLLET);
}

/* Treats level-triggered items as edge-triggered. */
static int level_ctl(int set, int op, int fd, struct epoll_event *ev,
		     unsigned int entry)
{
	struct epoll_event more;

	if (!ev || op == EPOLL_CTL_DEL)
		return plain_ctl(set, op, fd, ev, entry);
	more = *ev;
	more.events |= EPOLLET;
	return plain_ctl(set, op, fd, &more, entry);
}

/* Does nothing if MOD asks for the same again. */
static int mod_ctl(int set, int op, int fd, struct epoll_event *ev,
		   unsigned int entry)
{
	if (op == EPOLL_CTL_MOD && ev && fd >= 0 && fd < FDS &&
	    asked[set][fd].events == ev->events) {
		struct epoll_event now = *ev;

		now.events = 0;
		return plain_ctl(set, op, fd, &now, entry);
	}
	return plain_ctl(set, op, fd, ev, entry);
}

/* Leaves removed items in the set, now and then. */
static int del_ctl(int set, int op, int fd, struct epoll_event *ev,
		   unsigned int entry)
{
	int ret = plain_ctl(set, op, fd, ev, entry);

	if (op == EPOLL_CTL_DEL && !ret && ++kept % KEEP_EVERY == 0)
		plain_ctl(set, EPOLL_CTL_ADD, fd, &asked[set][fd], entry);
	return ret;
}

static int errno_ctl(int set, int op, int fd, struct epoll_event *ev,
		     unsigned int entry)
{
	int ret = plain_ctl(set, op, fd, ev, entry);

	return ret == -ELOOP ? -EINVAL : ret;
}

static int by_data(const void *a, const void *b)
{
	const struct epoll_event *x = a, *y = b;
	unsigned int i = (uint32_t)x->data.u64, j = (uint32_t)y->data.u64;

	return i < j ? -1 : i > j;
}

/* Returns the same ones first each time, if more are ready than asked for. */
static int starve_wait(int set, struct epoll_event *out, int max, int ms,
		       unsigned int entry)
{
	struct epoll_event all[EVENTS_MOST];
	int i, fd, n;

	if (max <= 0 || max > EVENTS_MOST)
		return plain_wait(set, out, max, ms, entry);
	n = plain_wait(set, all, EVENTS_MOST, ms, entry);
	if (n <= 0)
		return n;
	qsort(all, n, sizeof(*all), by_data);
	/* The others are put back. */
	for (i = max; i < n; i++) {
		for (fd = 0; fd < FDS; fd++) {
			if (asked[set][fd].data.u64 == all[i].data.u64)
				plain_ctl(set, EPOLL_CTL_MOD, fd,
					  &asked[set][fd], entry);
		}
	}
	n = n < max ? n : max;
	memcpy(out, all, n * sizeof(*out));
	return n;
}

/* Loses an event that could not be copied out. */
static int fault_wait_raw(int set, struct epoll_event *out, int max,
			  unsigned int entry)
{
	int n = plain_wait_raw(set, out, max, entry);
	struct epoll_event lost;

	if (n == -EFAULT)
		plain_wait(set, &lost, 1, 0, entry);
	return n;
}

#define FAULTY(fault, its_ctl, its_wait, its_wait_raw)	\
	{						\
		.name = "faulty-" fault,		\
		.open = faulty_open,			\
		.start = faulty_start,			\
		.ctl = its_ctl,				\
		.wait = its_wait,			\
		.wait_raw = its_wait_raw,		\
	}

const struct engine engines_faulty[] = {
	FAULTY("drop", plain_ctl, drop_wait, plain_wait_raw),
	FAULTY("rdhup", rdhup_ctl, plain_wait, plain_wait_raw),
	FAULTY("oneshot", oneshot_ctl, plain_wait, plain_wait_raw),
	FAULTY("edge", edge_ctl, plain_wait, plain_wait_raw),
	FAULTY("level", level_ctl, plain_wait, plain_wait_raw),
	FAULTY("mod", mod_ctl, plain_wait, plain_wait_raw),
	FAULTY("del", del_ctl, plain_wait, plain_wait_raw),
	FAULTY("errno", errno_ctl, plain_wait, plain_wait_raw),
	FAULTY("starve", plain_ctl, starve_wait, plain_wait_raw),
	FAULTY("fault", plain_ctl, plain_wait, fault_wait_raw),
};

const int engines_faulty_nr = sizeof(engines_faulty) /
			      sizeof(engines_faulty[0]);

// SPDX-License-Identifier: GPL-2.0
/*
 * No event is lost, none comes after a removal, and none of a closed file, in
 * each mode and through each interface.  $DEVEPOLL_LOST_EVENTS is how many each
 * of the two producers posts; 6000 without it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/lost.h"
#include "core/onesig.h"
#include "core/ring.h"

#define EVENTS		4000
#define SET_FDS		1024
#define RING_CONSUMERS	2
#define RING_SLOTS	16	/* fewer than files */

static int polled_wait(struct lost *l, unsigned int consumer, uint64_t *data)
{
	struct pollfd polled = { .fd = l->fd, .events = POLLIN };

	if (poll(&polled, 1, -1) < 0)
		return -errno;
	return lost_set_take(&l->sets[0], consumer, data, 0);
}

static int nested_open(struct lost *l)
{
	const struct devepoll_change add = {
		.op = DEVEPOLL_ADD, .events = EPOLLIN,
	};
	struct devepoll_change inner = add;
	struct devepoll_event out;
	int err = lost_set_open(l);

	if (err)
		return err;
	/* A set that was never used has no interface yet. */
	dep_wait(l->fd, &out, 1, 0);
	l->outer = dep_open();
	inner.fd = l->fd;
	return dep_change(l->outer, &inner);
}

static int nested_wait(struct lost *l, unsigned int consumer, uint64_t *data)
{
	struct devepoll_event out;
	int n = dep_wait(l->outer, &out, 1, -1);

	return n < 0 ? n : lost_set_take(&l->sets[0], consumer, data, 0);
}

/* The ring. */

struct lost_ring {
	struct ring ring;
	struct consumer consumers[RING_CONSUMERS];
};

static int lost_ring_open(struct lost *l)
{
	static struct lost_ring own;
	unsigned int i;
	int err = ring_open(&own.ring, RING_CONSUMERS, RING_SLOTS);

	l->sets[0] = own.ring.set;
	l->fd = own.ring.set.fd;
	l->own = &own;
	for (i = 0; i < RING_CONSUMERS; i++)
		consumer_init(&own.consumers[i], &own.ring, i);
	return err;
}

static int lost_ring_wait(struct lost *l, unsigned int consumer, uint64_t *data)
{
	struct lost_ring *own = l->own;
	struct consumer *c = &own->consumers[consumer];
	int i, err, n = consumer_take(c);

	if (n < 0)
		return n;
	for (i = 0; i < n; i++)
		data[i] = c->out[i].data;
	/* It says when a call is needed, for other modes and full sets. */
	err = c->ask || !n ? ring_wait(&own->ring, n ? 0 : -1) : 0;
	return err < 0 ? err : n;
}

/* The interface of 2001: the results name the fd. */

static int classic_open(struct lost *l)
{
	l->fd = dep_open();
	if (l->fd < 0 || dep_alloc(l->fd, SET_FDS))
		return -ENODEV;
	l->own = dep_map(l->fd, EP_MAP_SIZE(SET_FDS));
	return l->own == MAP_FAILED ? -ENOMEM : 0;
}

static int written(int set, int fd, short events)
{
	return dep_write_one(set, fd, events) == sizeof(struct pollfd) ? 0 :
								       -EPROTO;
}

static int classic_add(struct lost *l, int fd, uint64_t data, uint32_t events)
{
	return written(l->fd, fd, POLLIN);
}

static int classic_del(struct lost *l, int fd)
{
	return written(l->fd, fd, POLLREMOVE);
}

static int classic_wait(struct lost *l, unsigned int consumer, uint64_t *data)
{
	struct evpoll evp = { .ep_timeout = -1 };
	const struct pollfd *results;
	int i, n = dep_poll(l->fd, &evp);

	/* It returns all there is. */
	if (n > LOST_OUT)
		return -EMSGSIZE;
	results = (void *)((char *)l->own + evp.ep_resoff);
	for (i = 0; i < n; i++)
		data[i] = lost_data(l, results[i].fd);
	return n;
}

/* /dev/poll: what is ready now. */

static int devpoll_open(struct lost *l)
{
	l->fd = dp_open();
	return l->fd < 0 ? l->fd : 0;
}

static int devpoll_wait(struct lost *l, unsigned int consumer, uint64_t *data)
{
	struct pollfd out[LOST_OUT];
	int i, n = dp_wait(DP_LINUX, l->fd, out, lost_room(consumer), -1);

	for (i = 0; i < n; i++)
		data[i] = lost_data(l, out[i].fd);
	return n;
}

/* A signal for each fd. */

static int signal_open(struct lost *l)
{
	l->fd = onesig_open(ONESIG_SIGNAL, 0);
	return l->fd < 0 ? l->fd : 0;
}

static int signal_wait(struct lost *l, unsigned int consumer, uint64_t *data)
{
	siginfo_t info;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, ONESIG_SIGNAL);
	/* A waiter is interrupted by a signal that is taken back, too. */
	if (sigwaitinfo(&mask, &info) < 0)
		return errno == EINTR ? 0 : -errno;
	data[0] = lost_data(l, info.si_fd);
	return 1;
}

FIXTURE(lost) {
	struct lost run;
};

FIXTURE_VARIANT(lost) {
	const struct lost_way *way;
};

#define WAY(id, ...)							\
	static const struct lost_way way_##id = { .name = #id, __VA_ARGS__ }; \
	FIXTURE_VARIANT_ADD(lost, id) { .way = &way_##id }

#define EXTENDED(id, events_, ...)					\
	WAY(id, .events = events_, .consumers = 3, .sets = 1,		\
	    .ops = &eset_devepoll, .open = lost_set_open,		\
	    .add = lost_set_add, .del = lost_set_del,			\
	    .wait = lost_set_wait, ##__VA_ARGS__)

EXTENDED(level, EPOLLIN);
EXTENDED(edge, EPOLLIN | EPOLLET);
EXTENDED(trusted, EPOLLIN | EPOLLET, .flags = DEVEPOLL_TRUST);
EXTENDED(oneshot, EPOLLIN | EPOLLONESHOT, .taken = lost_set_arm);

/* A file wakes one of three sets, each with a thread that waits. */
EXTENDED(exclusive, EPOLLIN | EPOLLET | EPOLLEXCLUSIVE, .sets = 3);
EXTENDED(exclusive_level, EPOLLIN | EPOLLEXCLUSIVE, .sets = 3);
EXTENDED(trusted_oneshot, EPOLLIN | EPOLLET | EPOLLONESHOT,
	 .flags = DEVEPOLL_TRUST, .taken = lost_set_arm);
EXTENDED(edge_by_fadvise, EPOLLIN | EPOLLET, .ops = &eset_devepoll_fadvise);
EXTENDED(edge_mapped, EPOLLIN | EPOLLET, .ops = &eset_devepoll_mapped);
EXTENDED(edge_polled, EPOLLIN | EPOLLET, .wait = polled_wait);
EXTENDED(nested, EPOLLIN, .open = nested_open, .wait = nested_wait);

#define RING(id, flags_)						\
	WAY(id, .events = EPOLLIN | EPOLLET, .flags = flags_,		\
	    .consumers = RING_CONSUMERS, .sets = 1,			\
	    .open = lost_ring_open, .add = lost_set_add,		\
	    .del = lost_set_del, .wait = lost_ring_wait)

RING(ring, DEVEPOLL_TRUST);
RING(ring_untrusted, 0);

#define CLASSIC(id, consumers_, open_, wait_)				\
	WAY(id, .consumers = consumers_, .open = open_,			\
	    .add = classic_add, .del = classic_del, .wait = wait_)

CLASSIC(interface_of_2001, 1, classic_open, classic_wait);
CLASSIC(dev_poll, 3, devpoll_open, devpoll_wait);
CLASSIC(signals, 2, signal_open, signal_wait);

FIXTURE_SETUP(lost)
{
	signal(SIGPIPE, SIG_IGN);
}

FIXTURE_TEARDOWN(lost)
{
}

TEST_F_TIMEOUT(lost, none_is_lost_and_none_comes_late, 36000)
{
	ASSERT_EQ(0, lost_run(&self->run, variant->way, lost_goal(EVENTS)));
}

TEST_HARNESS_MAIN

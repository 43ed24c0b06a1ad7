// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of the extended interface, of a ring and of a signal set, whose
 * memory ends after each of its words: they fail with EFAULT, do nothing, lose
 * no event, and work with all of it.
 */
#include <errno.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/onesig.h"
#include "core/request.h"
#include "core/ring.h"
#include "core/short_memory.h"

#define ONESHOT	(EPOLLOUT | EPOLLONESHOT)

struct world {
	int (*request)(int fd, unsigned long request, void *arg);
	struct eset set;
	int event;		/* in the set, one-shot, ready */
	int fd;
	struct devepoll_event out;
	struct devepoll_change change;
	struct consumer consumer;
	struct ring ring;
};

FIXTURE(short_memory) {
	struct world w;
};

REQUEST_VARIANTS(short_memory);

FIXTURE_SETUP(short_memory)
{
	struct world *w = &self->w;

	w->request = variant->request;
	ASSERT_EQ(0, eset_open(&w->set, &eset_devepoll))
		TH_LOG("no /dev/epoll here");
	w->event = eventfd_new();
	ASSERT_LE(0, w->event);
	ASSERT_EQ(0, eset_add(&w->set, w->event, ONESHOT));
	w->fd = eventfd_new();
	ASSERT_LE(0, w->fd);
}

FIXTURE_TEARDOWN(short_memory)
{
	eset_close(&self->w.set);
}

/* As many calls fail as there are words in @words_ of them. */
#define EXPECT_SHORT(nr, ...)						\
	EXPECT_EQ(nr, short_memory_walk(&self->w,			\
					&(struct short_memory){ __VA_ARGS__ }))

/* What fails with none and with some of an object, and not with all of it. */
#define WORDS(object)	((int)(sizeof(object) / sizeof(int)))

static int call_ctl(struct world *w, void *at)
{
	return w->request(w->set.fd, DEVEPOLL_CTL, at);
}

static int call_changes(struct world *w, void *at)
{
	struct devepoll_ctl ctl = ctl_args(at, 1);

	return w->request(w->set.fd, DEVEPOLL_CTL, &ctl);
}

/* Nothing was done, or all of it. */
static bool check_add(struct world *w, int ret)
{
	if (ret != 1 && ret != -EFAULT)
		return false;
	return eset_del(&w->set, w->fd) == (ret == 1 ? 0 : -ENOENT);
}

TEST_F(short_memory, of_changes_makes_none)
{
	struct devepoll_change change = CHANGE(ADD, self->w.fd, EPOLLIN);
	struct devepoll_ctl ctl = ctl_args(&change, 1);

	EXPECT_SHORT(WORDS(ctl), &ctl, sizeof(ctl), PROT_NONE, call_ctl,
		     check_add);
	EXPECT_SHORT(WORDS(change), &change, sizeof(change), PROT_NONE,
		     call_changes, check_add);
}

static int call_wait(struct world *w, void *at)
{
	return w->request(w->set.fd, DEVEPOLL_WAIT, at);
}

static int call_wait_into(struct world *w, void *at)
{
	struct devepoll_wait_args args = wait_args(at, 1, 0);

	return w->request(w->set.fd, DEVEPOLL_WAIT, &args);
}

static int call_wait_masked(struct world *w, void *at)
{
	struct devepoll_wait_args args = wait_args(&w->out, 1, 0);

	args.sigmask = address_of(at);
	args.sigsetsize = sizeof(uint64_t);
	return w->request(w->set.fd, DEVEPOLL_WAIT, &args);
}

/* The event was taken, or it is still there. */
static bool check_wait(struct world *w, int ret)
{
	if (ret != 1 && ret != -EFAULT)
		return false;
	return eset_wait_one(&w->set, w->event, 0) ==
	       (ret == 1 ? -ENOMSG : EPOLLOUT) &&
	       !eset_mod(&w->set, w->event, ONESHOT);
}

TEST_F(short_memory, of_a_wait_takes_no_event)
{
	struct devepoll_wait_args args = wait_args(&self->w.out, 1, 0);
	uint64_t mask = 0;

	EXPECT_SHORT(WORDS(args), &args, sizeof(args), PROT_NONE, call_wait,
		     check_wait);
	EXPECT_SHORT(WORDS(mask), &mask, sizeof(mask), PROT_NONE,
		     call_wait_masked, check_wait);
	EXPECT_SHORT(WORDS(self->w.out), &self->w.out, sizeof(self->w.out),
		     PROT_NONE, call_wait_into, check_wait);
	EXPECT_SHORT(WORDS(self->w.out), &self->w.out, sizeof(self->w.out),
		     PROT_READ, call_wait_into, check_wait);
}

static int call_wait_changes(struct world *w, void *at)
{
	struct devepoll_wait_args args = wait_args(&w->out, 1, 0);

	args.changes = address_of(at);
	args.nr_changes = 1;
	args.change_size = sizeof(struct devepoll_change);
	return w->request(w->set.fd, DEVEPOLL_WAIT, &args);
}

static bool check_wait_changes(struct world *w, int ret)
{
	int removed = eset_del(&w->set, w->fd);

	return removed == (ret == 1 ? 0 : -ENOENT) && check_wait(w, ret);
}

TEST_F(short_memory, of_the_changes_of_a_wait_makes_none)
{
	struct devepoll_change change = CHANGE(ADD, self->w.fd, EPOLLIN);

	EXPECT_SHORT(WORDS(change), &change, sizeof(change), PROT_NONE,
		     call_wait_changes, check_wait_changes);
}

static int call_epoll_ctl(struct world *w, void *at)
{
	return dep_epoll_ctl(w->set.fd, EPOLL_CTL_ADD, w->fd, at);
}

static bool check_epoll_ctl(struct world *w, int ret)
{
	return check_add(w, ret ?: 1);
}

static int call_epoll_wait(struct world *w, void *at)
{
	return dep_epoll_wait(w->set.fd, at, 1, 0);
}

TEST_F(short_memory, of_calls_of_epoll_does_nothing)
{
	struct epoll_event event = { .events = EPOLLIN };

	EXPECT_SHORT(WORDS(event), &event, sizeof(event), PROT_NONE,
		     call_epoll_ctl, check_epoll_ctl);
	EXPECT_SHORT(WORDS(event), &event, sizeof(event), PROT_NONE,
		     call_epoll_wait, check_wait);
	EXPECT_SHORT(WORDS(event), &event, sizeof(event), PROT_READ,
		     call_epoll_wait, check_wait);
}

static int call_stats(struct world *w, void *at)
{
	return w->request(w->set.fd, DEVEPOLL_STATS, at);
}

static int call_features(struct world *w, void *at)
{
	return w->request(w->set.fd, DEVEPOLL_FEATURES, at);
}

static bool check_answer(struct world *w, int ret)
{
	(void)w;
	return !ret || ret == -EFAULT;
}

TEST_F(short_memory, of_answers_gives_efault)
{
	struct devepoll_features features = {};
	struct devepoll_stats stats = {};

	EXPECT_SHORT(WORDS(stats), &stats, sizeof(stats), PROT_READ,
		     call_stats, check_answer);
	EXPECT_SHORT(WORDS(features), &features, sizeof(features), PROT_READ,
		     call_features, check_answer);
}

static int call_ring(struct world *w, void *at)
{
	return w->request(w->set.fd, DEVEPOLL_RING, at);
}

/* It became something, or can still get a ring. */
static bool check_made(struct world *w, int ret)
{
	if (ret && ret != -EFAULT)
		return false;
	if (ring_request(w->set.fd, 1, 1) != (ret ? 0 : -EBUSY))
		return false;
	eset_close(&w->set);
	return !eset_open(&w->set, &eset_devepoll);
}

static int call_ring_wait(struct world *w, void *at)
{
	return w->request(w->set.fd, DEVEPOLL_RING_WAIT, at);
}

static int call_ring_wait_masked(struct world *w, void *at)
{
	struct devepoll_ring_wait_args args = {
		.sigmask = address_of(at),
		.sigsetsize = sizeof(uint64_t),
	};

	return w->request(w->set.fd, DEVEPOLL_RING_WAIT, &args);
}

/* The ring gets the event now, or the next time. */
static bool check_ring_wait(struct world *w, int ret)
{
	if (ret != 1 && (ret != -EFAULT || ring_wait(&w->ring, 0) != 1))
		return false;
	return consumer_take_one(&w->consumer, w->event) == EPOLLOUT &&
	       !eset_mod(&w->set, w->event, ONESHOT);
}

TEST_F(short_memory, of_requests_of_a_ring_does_nothing)
{
	struct devepoll_ring make = { .consumers = 1, .slots = 1 };
	struct devepoll_ring_wait_args args = {};
	struct world *w = &self->w;
	uint64_t mask = 0;

	eset_close(&w->set);
	ASSERT_EQ(0, eset_open(&w->set, &eset_devepoll));
	EXPECT_SHORT(WORDS(make), &make, sizeof(make), PROT_NONE, call_ring,
		     check_made);

	eset_close(&w->set);
	ASSERT_EQ(0, ring_open(&w->ring, 1, 1));
	w->set = w->ring.set;
	consumer_init(&w->consumer, &w->ring, 0);
	ASSERT_EQ(0, eset_add(&w->set, w->event, ONESHOT));
	EXPECT_SHORT(WORDS(args), &args, sizeof(args), PROT_NONE,
		     call_ring_wait, check_ring_wait);
	EXPECT_SHORT(WORDS(mask), &mask, sizeof(mask), PROT_NONE,
		     call_ring_wait_masked, check_ring_wait);
	ring_unmap(&w->ring);
}

static int call_signal(struct world *w, void *at)
{
	return w->request(w->set.fd, DEVEPOLL_SIGNAL, at);
}

TEST_F(short_memory, of_a_signal_set_makes_none)
{
	struct devepoll_signal args = { .signo = ONESIG_SIGNAL };

	eset_close(&self->w.set);
	ASSERT_EQ(0, eset_open(&self->w.set, &eset_devepoll));
	EXPECT_SHORT(WORDS(args), &args, sizeof(args), PROT_NONE, call_signal,
		     check_made);
}

TEST_HARNESS_MAIN

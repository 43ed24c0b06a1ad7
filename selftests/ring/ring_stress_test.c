// SPDX-License-Identifier: GPL-2.0
/*
 * The ring on two processors: producers that count what they write, consumers
 * that count what they read, waits that have no time-out.  Nothing may be lost.
 *
 * $DEVEPOLL_RING_SECONDS is how long each run takes; half a second without it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/ring.h"

#define FILES		48
#define PRODUCERS	2
#define CONSUMERS_MOST	3
/* The data of an fd that comes and goes. */
#define PASSING		(1ULL << 40)

/* What a consumer does when its ring is empty. */
enum idle {
	SLEEPS,
	SPINS,
	POLLS,
	/* Sleeps in another wait, which takes events too. */
	WAITS,
};

FIXTURE(ring_stress) {
	struct ring ring;
	int events[FILES];
	int last;		/* written when the producers are done */
};

FIXTURE_VARIANT(ring_stress) {
	unsigned int consumers;
	unsigned int slots;
	enum idle idle;
	/* of the fds, as many are watched for their level */
	unsigned int level;
	/* while it goes on fds come and go */
	bool churn;
};

#define STRESS(name, ...)						\
	FIXTURE_VARIANT_ADD(ring_stress, name) { __VA_ARGS__ }

STRESS(one_sleeps, .consumers = 1, .slots = FILES + 1, .idle = SLEEPS);
STRESS(two_sleep, .consumers = 2, .slots = FILES + 1, .idle = SLEEPS);
STRESS(three_sleep, .consumers = 3, .slots = FILES + 1, .idle = SLEEPS);
STRESS(one_spins, .consumers = 1, .slots = FILES + 1, .idle = SPINS);
STRESS(two_spin, .consumers = 2, .slots = FILES + 1, .idle = SPINS);
STRESS(two_poll, .consumers = 2, .slots = FILES + 1, .idle = POLLS);
STRESS(two_wait_otherwise, .consumers = 2, .slots = FILES + 1, .idle = WAITS);
STRESS(two_with_few_slots, .consumers = 2, .slots = 5, .idle = SLEEPS);

FIXTURE_VARIANT_ADD(ring_stress, two_with_levels) {
	.consumers = 2,
	.slots = FILES + 1,
	.idle = SLEEPS,
	.level = FILES / 4,
};

FIXTURE_VARIANT_ADD(ring_stress, two_with_churn) {
	.consumers = 2,
	.slots = 16,
	.idle = SLEEPS,
	.churn = true,
};

FIXTURE_SETUP(ring_stress)
{
	unsigned int i;

	ASSERT_EQ(0, ring_open(&self->ring, variant->consumers,
			       variant->slots)) TH_LOG("no ring here");
	for (i = 0; i < FILES; i++) {
		self->events[i] = eventfd_new();
		ASSERT_LE(0, self->events[i]);
		ASSERT_EQ(0, i < variant->level ?
			  eset_add(&self->ring.set, self->events[i], EPOLLIN) :
			  ring_add(&self->ring, self->events[i], EPOLLIN));
	}
	/* By level, so that each consumer sees it. */
	self->last = eventfd_new();
	ASSERT_EQ(0, eset_add(&self->ring.set, self->last, EPOLLIN));
}

FIXTURE_TEARDOWN(ring_stress)
{
	ring_close(&self->ring);
}

struct producer {
	struct task task;
	const int *events;
	uint64_t end;
	uint64_t written;
	unsigned int seed;
};

static long produce(void *arg)
{
	struct producer *p = arg;

	/* Once at least, however long readers that spin keep it waiting. */
	do {
		int fd = p->events[rand_r(&p->seed) % FILES];

		p->written += !eventfd_post(fd);
		if (rand_r(&p->seed) % 64 == 0)
			pause_briefly();
	} while (now_ns() < p->end);
	return 0;
}

struct reader {
	struct task task;
	struct consumer consumer;
	enum idle idle;
	int last;
	uint64_t read;
	uint64_t events;
	uint64_t foreign;
};

static void read_event(struct reader *r, const struct devepoll_event *event)
{
	eventfd_t n;

	r->events++;
	if (event->data == PASSING)
		return;
	if (event->data != (uint64_t)event->fd) {
		r->foreign++;
		return;
	}
	if (event->fd != r->last && !eventfd_read(event->fd, &n))
		r->read += n;
}

/* True when all is over: what is there by then is taken first. */
static bool reader_rests(struct reader *r)
{
	struct ring *ring = r->consumer.ring;
	struct devepoll_event out[8];
	struct pollfd pollfd = { .fd = ring->set.fd, .events = POLLIN };
	int n, i;

	if (poll_now(r->last, POLLIN))
		return true;
	switch (r->idle) {
	case SLEEPS:
		return ring_wait(ring, -1) < 0;
	case SPINS:
		return false;
	case POLLS:
		return poll(&pollfd, 1, -1) < 0;
	case WAITS:
		n = dep_wait(ring->set.fd, out, 8, -1);
		for (i = 0; i < n; i++)
			read_event(r, &out[i]);
		return n < 0;
	}
	return true;
}

static int reader_take(struct reader *r)
{
	int n = consumer_take(&r->consumer), i;

	for (i = 0; i < n; i++)
		read_event(r, &r->consumer.out[i]);
	if (n >= 0 && r->consumer.ask) {
		i = ring_wait(r->consumer.ring, 0);
		n = i < 0 ? i : n + 1;
	}
	return n;
}

static long consume(void *arg)
{
	struct reader *r = arg;
	int n, quiet = 0;

	/* After the last write what is left is looked for a few times. */
	while (quiet < 3) {
		n = reader_take(r);
		if (n < 0)
			return n;
		if (n && !poll_now(r->last, POLLIN))
			continue;
		quiet += reader_rests(r);
	}
	return 0;
}

static void churn(struct ring *ring, int *events, uint64_t end)
{
	unsigned int seed = 1;

	while (now_ns() < end) {
		int fd = events[rand_r(&seed) % FILES];
		int passing = eventfd_new();

		ring_ctl(ring, DEVEPOLL_ADD, passing, EPOLLIN | EPOLLET,
			 DEVEPOLL_TRUST, PASSING);
		eventfd_post(passing);
		ring_mod(ring, fd, EPOLLIN);
		if (rand_r(&seed) % 2)
			eset_del(&ring->set, passing);
		close(passing);
	}
}

TEST_F(ring_stress, loses_nothing)
{
	struct producer p[PRODUCERS];
	struct reader r[CONSUMERS_MOST];
	const char *seconds = getenv("DEVEPOLL_RING_SECONDS");
	uint64_t written = 0, got = 0, left = 0, events = 0;
	uint64_t end;
	unsigned int i;

	end = now_ns() + (seconds ? atol(seconds) * 1000 : 500) *
	      NSEC_PER_MSEC;
	for (i = 0; i < variant->consumers; i++) {
		r[i] = (struct reader){ .idle = variant->idle,
					.last = self->last };
		consumer_init(&r[i].consumer, &self->ring, i);
		ASSERT_EQ(0, task_start(&r[i].task, consume, &r[i]));
	}
	for (i = 0; i < PRODUCERS; i++) {
		p[i] = (struct producer){ .events = self->events, .end = end,
					  .seed = i + 1 };
		ASSERT_EQ(0, task_start(&p[i].task, produce, &p[i]));
	}
	if (variant->churn)
		churn(&self->ring, self->events, end);
	for (i = 0; i < PRODUCERS; i++) {
		ASSERT_EQ(0, task_join(&p[i].task));
		written += p[i].written;
	}

	/* Nobody is helped: whoever sleeps must come by himself. */
	ASSERT_TRUE(await(({
		left = 0;
		for (i = 0; i < FILES; i++)
			left += !!poll_now(self->events[i], POLLIN);
		!left;
	}))) TH_LOG("%llu files were not read", (unsigned long long)left);
	ASSERT_EQ(0, eventfd_post(self->last));
	for (i = 0; i < variant->consumers; i++) {
		ASSERT_EQ(0, task_join(&r[i].task));
		got += r[i].read;
		events += r[i].events;
		EXPECT_EQ(0, r[i].foreign);
	}
	EXPECT_EQ(written, got);
	EXPECT_LT(0, written);
	TH_LOG("%llu written, %llu events", (unsigned long long)written,
	       (unsigned long long)events);
}

TEST_HARNESS_MAIN

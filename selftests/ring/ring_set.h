/* SPDX-License-Identifier: GPL-2.0 */
/* A ring, two consumers, and an eventfd in its set. */
#ifndef SELFTESTS_RING_SET_H
#define SELFTESTS_RING_SET_H

#include <signal.h>

#include "core/ring.h"

#define SLOTS	16

FIXTURE(ring) {
	struct ring ring;
	struct consumer me;
	struct consumer other;
	int event;	/* in the set, an edge, trusted */
};

FIXTURE_SETUP(ring)
{
	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(0, ring_open(&self->ring, 2, SLOTS))
		TH_LOG("no ring here");
	consumer_init(&self->me, &self->ring, 0);
	consumer_init(&self->other, &self->ring, 1);
	self->event = ring_add_eventfd(&self->ring);
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(ring)
{
	ring_close(&self->ring);
}

/* Adds a second eventfd, and posts to both; its number, or -errno. */
static inline int post_with_another(struct ring *ring, int event)
{
	int err, second = ring_add_eventfd(ring);

	if (second < 0)
		return second;
	err = eventfd_post(event) ?: eventfd_post(second);
	return err ?: second;
}

#endif /* SELFTESTS_RING_SET_H */

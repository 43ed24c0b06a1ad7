// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation and every copy from or to user memory fails once, one after
 * the other, in the requests and mappings of a ring.  No event is lost, and the
 * call works the next time.
 *
 * Needs a kernel with fault injection.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/ring.h"
#include "core/shortage.h"

#define SLOTS		300	/* of which two sets need several pages */

static struct ring ring;
static struct consumer consumer;

static int call_make(struct world *w)
{
	return ring_request(w->set.fd, 1, SLOTS);
}

/* The next try gives it one, which works. */
static bool check_make(struct world *w, int ret, bool hit)
{
	int event;
	bool good;

	if (ret && (!is_clear(ret, hit) || call_make(w)))
		return false;
	ring = (struct ring) {
		.set = w->set,
		.consumers = 1,
		.slots = SLOTS,
		.word = ring_map_word(w->set.fd),
		.sets = ring_map_slots(w->set.fd, 1, SLOTS),
	};
	if (ring.word == MAP_FAILED || ring.sets == MAP_FAILED)
		return false;
	consumer_init(&consumer, &ring, 0);
	event = ring_add_eventfd(&ring);
	good = event >= 0 && !eventfd_post(event) &&
	       consumer_take_one(&consumer, event) == EPOLLIN;
	close(event);
	ring_close(&ring);
	return good && !eset_open(&w->set, &eset_devepoll);
}

TEST_F(shortage, fails_to_make_a_ring)
{
	/* The fixture's set has an fd. */
	eset_close(&self->w.set);
	ASSERT_EQ(0, eset_open(&self->w.set, &eset_devepoll));
	EXPECT_LT(4, walk(&self->w, call_make, check_make));
}

static int call_map_word(struct world *w)
{
	ring.word = ring_map_word(w->set.fd);
	return ring.word == MAP_FAILED ? -errno : 0;
}

static int call_map_slots(struct world *w)
{
	ring.sets = ring_map_slots(w->set.fd, 1, SLOTS);
	return ring.sets == MAP_FAILED ? -errno : 0;
}

static bool check_map(struct world *w, int ret, bool hit)
{
	ring_unmap(&ring);
	if (ret && !(hit && ret == -ENOMEM))
		return false;
	if (call_map_word(w) || call_map_slots(w))
		return false;
	ring_unmap(&ring);
	return true;
}

TEST_F(shortage, fails_to_map_a_ring)
{
	ASSERT_EQ(0, ring_open(&ring, 1, SLOTS));
	ring_unmap(&ring);
	eset_close(&self->w.set);
	self->w.set = ring.set;
	EXPECT_LT(1, walk(&self->w, call_map_word, check_map));
	EXPECT_LT(1, walk(&self->w, call_map_slots, check_map));
}

/* A set with a ring that replaces the fixture's; 0 or -errno. */
static int use_ring(struct world *w)
{
	int err = ring_open(&ring, 1, SLOTS);

	eset_close(&w->set);
	w->set = ring.set;
	consumer_init(&consumer, &ring, 0);
	return err;
}

static int call_ring_wait(struct world *w)
{
	uint64_t mask = 0;
	struct devepoll_ring_wait_args args = {
		.sigmask = address_of(&mask),
		.sigsetsize = sizeof(mask),
	};

	return dep_request(w->set.fd, DEVEPOLL_RING_WAIT, &args);
}

/* It is in the ring, or the next wait puts it there. */
static bool check_ring_wait(struct world *w, int ret, bool hit)
{
	if (ret != 1 &&
	    !(hit && ret == -EFAULT && ring_wait(&ring, 0) == 1))
		return false;
	return consumer_take_one(&consumer, w->fd) == EPOLLOUT &&
	       !eset_mod(&w->set, w->fd, EPOLLOUT | EPOLLONESHOT);
}

TEST_F(shortage, fails_a_wait_that_fills_the_ring)
{
	struct world *w = &self->w;

	ASSERT_EQ(0, use_ring(w));
	ASSERT_EQ(0, eset_add(&w->set, w->fd, EPOLLOUT | EPOLLONESHOT));
	EXPECT_LT(0, walk(w, call_ring_wait, check_ring_wait));
	ring_unmap(&ring);
}

static int call_ring_add(struct world *w)
{
	return ring_add(&ring, w->fd, EPOLLOUT);
}

/* What was added is in the ring at once; of what was not, nothing is there. */
static bool check_ring_add(struct world *w, int ret, bool hit)
{
	if (ret && !is_clear(ret, hit))
		return false;
	if (eset_del(&w->set, w->fd) != (ret ? -ENOENT : 0))
		return false;
	return consumer_take(&consumer) == 0 &&
	       !ring_add(&ring, w->fd, EPOLLOUT) &&
	       consumer_take_one(&consumer, w->fd) == EPOLLOUT &&
	       !eset_del(&w->set, w->fd);
}

TEST_F(shortage, fails_an_add_to_a_ring)
{
	ASSERT_EQ(0, use_ring(&self->w));
	EXPECT_LT(1, walk(&self->w, call_ring_add, check_ring_add));
	ring_unmap(&ring);
}

/* An event goes to the ring in the call that causes it. */
static int call_post(struct world *w)
{
	return eventfd_post(w->fd);
}

static bool check_post(struct world *w, int ret, bool hit)
{
	if (ret)
		return hit && ret == -EFAULT && consumer_take(&consumer) == 0;
	return consumer_take_one(&consumer, w->fd) == EPOLLIN &&
	       !eventfd_take(w->fd);
}

TEST_F(shortage, keeps_no_event_from_the_ring)
{
	ASSERT_EQ(0, use_ring(&self->w));
	ASSERT_EQ(0, ring_add(&ring, self->w.fd, EPOLLIN));
	/* The number that is written to the eventfd is copied. */
	EXPECT_LT(0, walk(&self->w, call_post, check_post));
	ring_unmap(&ring);
}

TEST_HARNESS_MAIN

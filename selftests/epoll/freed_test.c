// SPDX-License-Identifier: GPL-2.0
/*
 * DEVEPOLL_CLOSED with several threads: whoever gets it may free the object,
 * because no thread can have an earlier event of the fd in use any more.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/ring.h"

#define THREADS_MOST	8
#define FDS		600
#define FDS_DEEP	1000000	/* of all variants together */
#define VARIANTS	12
#define FDS_AHEAD	256
#define MAX_EVENTS	8

/* What the data of an fd points to. */
struct object {
	atomic_bool taken;	/* a thread has an event of it */
	atomic_bool freed;
};

struct crowd;

struct worker {
	struct crowd *crowd;
	struct eset set;
	struct consumer consumer;
	struct task task;
	unsigned int random;
	unsigned long late;	/* events of an object that was freed */
	unsigned long twice;	/* objects that were freed twice */
	unsigned long used;
};

struct crowd {
	struct ring ring;
	bool has_ring;
	struct object *objects;
	atomic_ulong freed;
	atomic_bool stop;
	int nr;
	struct worker workers[THREADS_MOST];
};

static unsigned int roll(struct worker *worker)
{
	worker->random = worker->random * 1103515245 + 12345;
	return worker->random >> 16;
}

/* Between the return of a wait and the use of its events. */
static void stay(struct worker *worker)
{
	volatile unsigned int left = roll(worker) % 3000;

	switch (roll(worker) % 4) {
	case 0:
		break;
	case 1:
		while (left)
			left--;
		break;
	case 2:
		sched_yield();
		break;
	default:
		usleep(left / 10);
	}
}

static void note(const struct epoll_event *event)
{
	struct object *object = (void *)(uintptr_t)event->data.u64;

	if (!(event->events & DEVEPOLL_CLOSED))
		atomic_store(&object->taken, true);
}

static void handle(struct worker *worker, uint64_t data, uint32_t events)
{
	struct object *object = (void *)(uintptr_t)data;

	if (events & DEVEPOLL_CLOSED) {
		worker->twice += atomic_exchange(&object->freed, true);
		atomic_fetch_add(&worker->crowd->freed, 1);
		return;
	}
	worker->used++;
	worker->late += atomic_load(&object->freed);
}

static int harvest(struct worker *worker, struct epoll_event *out)
{
	struct consumer *me = &worker->consumer;
	int i, n;

	if (!worker->crowd->has_ring)
		return eset_wait(&worker->set, out, MAX_EVENTS, 20);
	n = consumer_take(me);
	if (n || (!n && me->count))
		goto out;
	n = consumer_wait(me, 20);
	n = n < 0 ? n : consumer_take(me);
out:
	for (i = 0; i < n; i++) {
		out[i].events = me->out[i].events;
		out[i].data.u64 = me->out[i].data;
	}
	return n;
}

static long work(void *arg)
{
	struct epoll_event out[RING_OUT];
	struct worker *worker = arg;
	int i, n;

	while (!atomic_load(&worker->crowd->stop)) {
		n = harvest(worker, out);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++)
			note(&out[i]);
		for (i = 0; i < n; i++) {
			stay(worker);
			handle(worker, out[i].data.u64, out[i].events);
		}
	}
	return 0;
}

FIXTURE(crowd) {
	struct crowd crowd;
	unsigned long nr_fds;
};

FIXTURE_VARIANT(crowd) {
	const struct eset_ops *ops;	/* NULL: by the ring */
	int threads;
};

#define CROWD(name, way, nr)						\
	FIXTURE_VARIANT_ADD(crowd, name##_##nr) {			\
		.ops = way,						\
		.threads = nr,						\
	}

CROWD(by_ioctl, &eset_devepoll, 2);
CROWD(by_ioctl, &eset_devepoll, 4);
CROWD(by_ioctl, &eset_devepoll, 8);
CROWD(as_epoll, &eset_devepoll_fadvise, 2);
CROWD(as_epoll, &eset_devepoll_fadvise, 4);
CROWD(as_epoll, &eset_devepoll_fadvise, 8);
CROWD(mapped, &eset_devepoll_mapped, 2);
CROWD(mapped, &eset_devepoll_mapped, 4);
CROWD(mapped, &eset_devepoll_mapped, 8);
CROWD(by_ring, NULL, 2);
CROWD(by_ring, NULL, 4);
CROWD(by_ring, NULL, 8);

FIXTURE_SETUP(crowd)
{
	struct crowd *crowd = &self->crowd;
	int i;

	self->nr_fds = getenv("DEVEPOLL_DEEP") ? FDS_DEEP / VARIANTS :
		       slowness() > 1 ? FDS / 10 : FDS;
	crowd->nr = variant->threads;
	crowd->has_ring = !variant->ops;
	crowd->objects = calloc(self->nr_fds, sizeof(*crowd->objects));
	ASSERT_NE(NULL, crowd->objects);
	ASSERT_EQ(0, crowd->has_ring ?
		     ring_open(&crowd->ring, crowd->nr, RING_OUT) :
		     eset_open(&crowd->ring.set, variant->ops));
	for (i = 0; i < crowd->nr; i++) {
		struct worker *worker = &crowd->workers[i];

		worker->crowd = crowd;
		worker->set = crowd->ring.set;
		worker->random = i + 1;
		consumer_init(&worker->consumer, &crowd->ring, i);
		ASSERT_EQ(0, task_start(&worker->task, work, worker));
	}
}

FIXTURE_TEARDOWN(crowd)
{
	if (self->crowd.has_ring)
		ring_close(&self->crowd.ring);
	else
		eset_close(&self->crowd.ring.set);
	free(self->crowd.objects);
}

static int add_told(struct eset *set, int fd, uint32_t events, uint16_t flags,
		    uint64_t data)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = flags | DEVEPOLL_TELL_CLOSED,
		.fd = fd,
		.events = events,
		.data = data,
	};

	return dep_change(set->fd, &change);
}

/* Who holds what back, for a failure. */
static void show_set(int fd)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "tfd", 3))
			printf("# %s", line);
	if (file)
		fclose(file);
}

/* Edges that are trusted, polled edges, levels and one-shots in turn. */
static const struct {
	uint32_t mode;
	uint16_t flags;
} kinds[] = {
	{ EPOLLET, DEVEPOLL_TRUST }, { EPOLLET, 0 }, { 0, 0 },
	{ EPOLLONESHOT, 0 },
};

TEST_F_TIMEOUT(crowd, frees_nothing_that_is_in_use, 1800)
{
	unsigned long late = 0, twice = 0, used = 0, i;
	struct crowd *crowd = &self->crowd;
	int event, thread;

	for (i = 0; i < self->nr_fds; i++) {
		event = eventfd_new();
		ASSERT_LE(0, event);
		ASSERT_EQ(0, add_told(&crowd->ring.set, event,
				      EPOLLIN | kinds[i % 4].mode,
				      kinds[i % 4].flags,
				      address_of(&crowd->objects[i])));
		ASSERT_EQ(0, eventfd_post(event));
		/* Of each second one, a thread has the event, and stays. */
		if (i & 4)
			ASSERT_TRUE(await(atomic_load(&crowd->objects[i].taken)));
		ASSERT_EQ(0, close(event));
		if (!await(i + 1 - atomic_load(&crowd->freed) < FDS_AHEAD)) {
			show_set(crowd->ring.set.fd);
			ASSERT_EQ(i, atomic_load(&crowd->freed));
		}
	}
	EXPECT_TRUE(await(atomic_load(&crowd->freed) == self->nr_fds))
		TH_LOG("%lu of %lu were told", atomic_load(&crowd->freed),
		       self->nr_fds);
	atomic_store(&crowd->stop, true);
	for (thread = 0; thread < crowd->nr; thread++) {
		struct worker *worker = &crowd->workers[thread];

		EXPECT_EQ(0, task_join(&worker->task));
		late += worker->late;
		twice += worker->twice;
		used += worker->used;
	}
	EXPECT_EQ(0, late)
		TH_LOG("%lu of %lu events came after the last", late, used);
	EXPECT_EQ(0, twice);
	/* Otherwise nothing was shown. */
	EXPECT_LT(0, used);
}

/* Another thread, which does what it is told to. */
enum order { REST, WAIT, STEP_BACK, POLL, NEST, END };

struct other {
	struct eset *set;
	struct task task;
	_Atomic enum order order;
	int result;
	int outer;	/* an epoll instance */
};

static long obey(void *arg)
{
	struct other *other = arg;
	struct epoll_event out[2];

	for (;;) {
		switch (atomic_load(&other->order)) {
		case WAIT:
			other->result = eset_wait(other->set, out, 2, 0);
			if (other->result == 1)
				other->result = (int)out[0].events;
			break;
		case STEP_BACK:
			other->result = dep_request(other->set->fd,
						    DEVEPOLL_STEP_BACK, NULL);
			break;
		case POLL:
			other->result = poll_now(other->set->fd, POLLIN);
			break;
		case NEST:
			other->result = epoll_ctl(other->outer, EPOLL_CTL_ADD,
						  other->set->fd, &out[0]);
			break;
		case END:
			return 0;
		case REST:
			pause_briefly();
			continue;
		}
		atomic_store(&other->order, REST);
	}
}

/* What it returned: for a wait, the events, or 0. */
static int order(struct other *other, enum order what)
{
	atomic_store(&other->order, what);
	return await(atomic_load(&other->order) == REST) ? other->result :
							   -ETIMEDOUT;
}

static long end(struct other *other)
{
	atomic_store(&other->order, END);
	return task_join(&other->task);
}

FIXTURE(reader) {
	struct eset set;
	struct other one;
	struct other two;
	int event;	/* level-triggered, reports its close; ready */
};

FIXTURE_SETUP(reader)
{
	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll));
	self->one = (struct other){ .set = &self->set };
	self->two = (struct other){ .set = &self->set };
	ASSERT_EQ(0, task_start(&self->one.task, obey, &self->one));
	ASSERT_EQ(0, task_start(&self->two.task, obey, &self->two));
	self->event = eventfd_new();
	ASSERT_EQ(0, add_told(&self->set, self->event, EPOLLIN, 0,
			      self->event));
	ASSERT_EQ(0, eventfd_post(self->event));
}

FIXTURE_TEARDOWN(reader)
{
	eset_close(&self->set);
}

#define EXPECT_HELD()							\
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0))
#define EXPECT_TOLD(ms)							\
	EXPECT_EQ(DEVEPOLL_CLOSED,					\
		  eset_wait_one(&self->set, self->event, ms))

TEST_F(reader, holds_it_back_until_it_waits_again)
{
	ASSERT_EQ(EPOLLIN, order(&self->one, WAIT));
	ASSERT_EQ(0, close(self->event));
	EXPECT_HELD();
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
	EXPECT_EQ(DEVEPOLL_CLOSED, order(&self->one, WAIT));
	EXPECT_HELD();
	EXPECT_EQ(0, end(&self->one));
	EXPECT_EQ(0, end(&self->two));
}

TEST_F(reader, holds_it_back_until_it_steps_back)
{
	struct ewaiter waiter;

	ASSERT_EQ(EPOLLIN, order(&self->one, WAIT));
	ASSERT_EQ(0, close(self->event));
	EXPECT_HELD();
	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	EXPECT_EQ(0, order(&self->one, STEP_BACK));
	ASSERT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(DEVEPOLL_CLOSED, waiter.out[0].events);
	EXPECT_EQ(0, end(&self->one));
	EXPECT_EQ(0, end(&self->two));
}

TEST_F(reader, holds_it_back_until_it_polls)
{
	ASSERT_EQ(EPOLLIN, order(&self->one, WAIT));
	ASSERT_EQ(0, close(self->event));
	EXPECT_HELD();
	EXPECT_EQ(POLLIN, order(&self->one, POLL));
	EXPECT_TOLD(0);
	EXPECT_EQ(0, end(&self->one));
	EXPECT_EQ(0, end(&self->two));
}

TEST_F(reader, holds_it_back_while_it_adds_the_set_to_another)
{
	self->one.outer = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_LE(0, self->one.outer);
	ASSERT_EQ(EPOLLIN, order(&self->one, WAIT));
	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(0, order(&self->one, NEST));
	EXPECT_HELD();
	EXPECT_EQ(DEVEPOLL_CLOSED, order(&self->one, WAIT));
	EXPECT_EQ(0, end(&self->one));
	EXPECT_EQ(0, end(&self->two));
	close(self->one.outer);
}

TEST_F(reader, holds_it_back_until_it_ends)
{
	struct ewaiter waiter;

	ASSERT_EQ(EPOLLIN, order(&self->one, WAIT));
	ASSERT_EQ(0, close(self->event));
	EXPECT_HELD();
	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	EXPECT_EQ(0, end(&self->one));
	/* Nobody does anything any more. */
	ASSERT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(DEVEPOLL_CLOSED, waiter.out[0].events);
	EXPECT_EQ(0, end(&self->two));
}

TEST_F(reader, is_each_of_two_that_have_an_event)
{
	ASSERT_EQ(EPOLLIN, order(&self->one, WAIT));
	ASSERT_EQ(EPOLLIN, order(&self->two, WAIT));
	ASSERT_EQ(0, close(self->event));
	EXPECT_EQ(0, order(&self->one, WAIT));
	EXPECT_HELD();
	EXPECT_EQ(DEVEPOLL_CLOSED, order(&self->two, WAIT));
	EXPECT_EQ(0, end(&self->one));
	EXPECT_EQ(0, end(&self->two));
}

TEST_F(reader, holds_back_nothing_that_it_has_not)
{
	int later;

	ASSERT_EQ(EPOLLIN, order(&self->one, WAIT));
	ASSERT_EQ(0, close(self->event));
	later = eventfd_new();
	ASSERT_EQ(0, add_told(&self->set, later, EPOLLIN, 0, 77));
	ASSERT_EQ(0, eventfd_post(later));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, 77, 0));
	ASSERT_EQ(0, close(later));
	EXPECT_EQ(DEVEPOLL_CLOSED, eset_wait_one(&self->set, 77, 0));
	EXPECT_EQ(0, end(&self->one));
	EXPECT_EQ(0, end(&self->two));
}

TEST_F(reader, that_got_only_other_events_is_none)
{
	int other = eventfd_new();

	ASSERT_EQ(0, eventfd_take(self->event));
	ASSERT_EQ(0, eset_add(&self->set, other, EPOLLIN));
	ASSERT_EQ(0, eset_drain(&self->set));
	ASSERT_EQ(0, eventfd_post(other));
	ASSERT_EQ(EPOLLIN, order(&self->one, WAIT));
	ASSERT_EQ(0, close(other));
	ASSERT_EQ(0, close(self->event));
	EXPECT_TOLD(0);
	EXPECT_EQ(0, end(&self->one));
	EXPECT_EQ(0, end(&self->two));
}

/* What is held back when the set is closed goes with it. */
TEST_F(reader, goes_with_its_set)
{
	ASSERT_EQ(EPOLLIN, order(&self->one, WAIT));
	ASSERT_EQ(0, close(self->event));
	EXPECT_HELD();
	eset_close(&self->set);
	self->set.ops = NULL;
	EXPECT_EQ(0, end(&self->one));
	EXPECT_EQ(0, end(&self->two));
}

TEST_F(reader, is_shown)
{
	char path[64], line[256], wanted[64];
	bool found = false;
	FILE *file;

	ASSERT_EQ(EPOLLIN, order(&self->one, WAIT));
	ASSERT_EQ(0, close(self->event));
	EXPECT_HELD();
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", self->set.fd);
	snprintf(wanted, sizeof(wanted), "reader:\t%d holds 1\n",
		 (int)self->one.task.tid);
	file = fopen(path, "re");
	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file))
		found |= !strcmp(line, wanted);
	fclose(file);
	EXPECT_TRUE(found);
	EXPECT_EQ(0, end(&self->one));
	EXPECT_EQ(0, end(&self->two));
}

TEST(a_set_of_2001_has_no_readers)
{
	int set = dep_open();

	ASSERT_LE(0, set);
	ASSERT_EQ(0, dep_request(set, EP_ALLOC, (void *)16));
	EXPECT_EQ(-EBUSY, dep_request(set, DEVEPOLL_STEP_BACK, NULL));
	close(set);
}

TEST_HARNESS_MAIN

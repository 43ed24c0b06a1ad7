// SPDX-License-Identifier: GPL-2.0
/*
 * EPOLLEXCLUSIVE: one of the sets on which a task waits is woken, and which
 * bits it can be combined with.
 */
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

#define SETS 5

FIXTURE(exclusive) {
	struct eset sets[SETS];
	struct ewaiter waiters[SETS];
	int event;
};

ESET_VARIANTS(exclusive);

FIXTURE_SETUP(exclusive)
{
	ASSERT_EQ(0, esets_open(self->sets, SETS, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(exclusive)
{
	esets_close(self->sets, SETS);
}

static int add_to_all(struct eset *sets, int fd, uint32_t events)
{
	int i, ret = 0;

	for (i = 0; i < SETS && !ret; i++)
		ret = eset_add(&sets[i], fd, events);
	return ret;
}

static int start_all(struct ewaiter *waiters, const struct eset *sets)
{
	int i, ret = 0;

	for (i = 0; i < SETS && !ret; i++)
		ret = ewaiter_start(&waiters[i], &sets[i], -1);
	return ret;
}

/* The one waiter that has returned, or -1 if it is not exactly one. */
static int the_one_done(struct ewaiter *waiters)
{
	int i, one = -1;

	if (ewaiters_done(waiters, SETS) != 1)
		return -1;
	for (i = 0; i < SETS; i++)
		if (atomic_load(&waiters[i].task.done))
			one = i;
	return one;
}

TEST_F(exclusive, wakes_one_set)
{
	int i, one;

	ASSERT_EQ(0, add_to_all(self->sets, self->event,
				EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, start_all(self->waiters, self->sets));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_TRUE(await(the_one_done(self->waiters) >= 0));
	one = the_one_done(self->waiters);
	ASSERT_LE(0, one);
	EXPECT_EQ(1, ewaiter_join(&self->waiters[one]));
	EXPECT_EQ(EPOLLIN, self->waiters[one].out[0].events);
	for (i = 0; i < SETS; i++)
		if (i != one)
			EXPECT_TRUE(task_undisturbed(&self->waiters[i].task));
	/* As many again as still wait. */
	for (i = 1; i < SETS; i++)
		ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < SETS; i++)
		if (i != one)
			EXPECT_EQ(1, ewaiter_join(&self->waiters[i]));
}

TEST_F(exclusive, wakes_in_turn_the_sets_that_wait)
{
	int i, j, one, last = -1, count[SETS] = {};
	bool turns = eset_has(&self->sets[0], TAKES_TURNS);

	ASSERT_EQ(0, add_to_all(self->sets, self->event,
				EPOLLIN | EPOLLET | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, start_all(self->waiters, self->sets));
	for (i = 0; i < 4 * SETS; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_TRUE(await(the_one_done(self->waiters) >= 0));
		one = the_one_done(self->waiters);
		ASSERT_EQ(1, ewaiter_join(&self->waiters[one]));
		count[one]++;
		if (turns && last >= 0)
			EXPECT_EQ((last + 1) % SETS, one);
		last = one;
		ASSERT_EQ(0, ewaiter_start(&self->waiters[one],
					   &self->sets[one], -1));
	}
	for (j = 0; turns && j < SETS; j++)
		EXPECT_EQ(4, count[j]);
	/* Those that sleep on are woken by an fd of their own. */
	for (j = 0; j < SETS; j++) {
		int own = eventfd_new();

		ASSERT_EQ(0, eset_add(&self->sets[j], own, EPOLLOUT));
		EXPECT_EQ(1, ewaiter_join(&self->waiters[j]));
		EXPECT_EQ(own, self->waiters[j].out[0].data.u64);
	}
}

TEST_F(exclusive, passes_by_sets_where_nobody_waits)
{
	int i, j;

	ASSERT_EQ(0, add_to_all(self->sets, self->event,
				EPOLLIN | EPOLLEXCLUSIVE));
	for (i = 0; i < 3 * SETS; i++) {
		j = i % SETS;
		ASSERT_EQ(0, ewaiter_start(&self->waiters[j], &self->sets[j],
					   -1));
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(1, ewaiter_join(&self->waiters[j]));
		EXPECT_EQ(EPOLLIN, self->waiters[j].out[0].events);
		ASSERT_EQ(0, eventfd_take(self->event));
	}
}

TEST_F(exclusive, event_that_finds_nobody_waits_for_all)
{
	int i;

	ASSERT_EQ(0, add_to_all(self->sets, self->event,
				EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < SETS; i++)
		EXPECT_EQ(EPOLLIN,
			  eset_wait_one(&self->sets[i], self->event, 0));
	ASSERT_EQ(0, eventfd_take(self->event));
	for (i = 0; i < SETS; i++)
		EXPECT_EQ(-ENOMSG,
			  eset_wait_one(&self->sets[i], self->event, 0));
}

TEST_F(exclusive, wakes_all_sets_that_are_not_and_one_that_is)
{
	int i, done, plain = 2;

	for (i = 0; i < SETS; i++)
		ASSERT_EQ(0, eset_add(&self->sets[i], self->event, EPOLLIN |
				      (i < plain ? 0 : EPOLLEXCLUSIVE)));
	ASSERT_EQ(0, start_all(self->waiters, self->sets));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_TRUE(await(ewaiters_done(self->waiters, SETS) == plain + 1));
	for (i = 0; i < plain; i++)
		EXPECT_EQ(1, ewaiter_join(&self->waiters[i]));
	for (done = 0; i < SETS; i++) {
		if (atomic_load(&self->waiters[i].task.done))
			done++;
		else
			EXPECT_TRUE(task_undisturbed(&self->waiters[i].task));
	}
	EXPECT_EQ(1, done);
	for (i = 0; i < SETS; i++)
		ASSERT_EQ(0, eventfd_post(self->event));
	for (i = plain; i < SETS; i++)
		EXPECT_EQ(1, ewaiter_join(&self->waiters[i]));
}

TEST_F(exclusive, reports_a_hang_up_to_every_set)
{
	int i, fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, add_to_all(self->sets, fds[0], EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, close(fds[1]));
	for (i = 0; i < SETS; i++)
		EXPECT_EQ(EPOLLHUP, eset_wait_one(&self->sets[i], fds[0], 0));
}

TEST_F(exclusive, wakes_every_set_for_a_hang_up)
{
	int i, fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, add_to_all(self->sets, fds[0], EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, start_all(self->waiters, self->sets));
	ASSERT_EQ(0, close(fds[1]));
	for (i = 0; i < SETS; i++) {
		EXPECT_EQ(1, ewaiter_join(&self->waiters[i]));
		EXPECT_EQ(EPOLLHUP, self->waiters[i].out[0].events);
	}
}

TEST_F(exclusive, is_only_set_by_an_add)
{
	struct eset *set = &self->sets[0];

	ASSERT_EQ(0, eset_add(set, self->event, EPOLLIN));
	EXPECT_EQ(-EINVAL, eset_mod(set, self->event,
				    EPOLLIN | EPOLLEXCLUSIVE));
	EXPECT_EQ(0, eset_mod(set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_del(set, self->event));
	EXPECT_EQ(-EINVAL, eset_mod(set, self->event,
				    EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, eset_add(set, self->event, EPOLLIN | EPOLLEXCLUSIVE));
	EXPECT_EQ(-EINVAL, eset_mod(set, self->event, EPOLLIN));
	EXPECT_EQ(-EINVAL, eset_mod(set, self->event,
				    EPOLLIN | EPOLLEXCLUSIVE));
	EXPECT_EQ(-EEXIST, eset_add(set, self->event, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(set, self->event, 0));
	EXPECT_EQ(0, eset_del(set, self->event));
}

TEST_F(exclusive, goes_together_with_some_bits)
{
	static const uint32_t good[] = {
		0, EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLOUT, EPOLLERR, EPOLLHUP,
		EPOLLET, EPOLLWAKEUP,
		EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLET,
	};
	static const uint32_t bad[] = {
		EPOLLONESHOT, EPOLLPRI, EPOLLRDHUP, EPOLLRDNORM, EPOLLRDBAND,
		EPOLLWRNORM, EPOLLWRBAND, EPOLLMSG,
		/* No event, and unknown to all. */
		1U << 14, 1U << 20,
	};
	struct eset *set = &self->sets[0];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		EXPECT_EQ(0, eset_add(set, self->event,
				      EPOLLEXCLUSIVE | good[i]))
			TH_LOG("bits %x", good[i]);
		EXPECT_EQ(0, eset_del(set, self->event));
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, eset_add(set, self->event,
					    EPOLLIN | EPOLLEXCLUSIVE | bad[i]))
			TH_LOG("bits %x", bad[i]);
		EXPECT_EQ(-ENOENT, eset_del(set, self->event));
	}
}

TEST_F(exclusive, is_not_for_sets)
{
	struct eset *outer = &self->sets[0], *inner = &self->sets[1];

	EXPECT_EQ(-EINVAL, eset_add(outer, inner->fd,
				    EPOLLIN | EPOLLEXCLUSIVE));
	EXPECT_EQ(-ENOENT, eset_del(outer, inner->fd));
	EXPECT_EQ(0, eset_add(outer, inner->fd, EPOLLIN));
	/* Errors of the bits come before those of the fd. */
	EXPECT_EQ(-EINVAL, eset_add(outer, inner->fd,
				    EPOLLIN | EPOLLEXCLUSIVE));
	EXPECT_EQ(-EINVAL, eset_mod(outer, inner->fd,
				    EPOLLIN | EPOLLEXCLUSIVE));
}

/* A set whose only waiter is a poll(2) of it is woken as well. */
TEST_F(exclusive, wakes_who_polls_the_set)
{
	struct task task;

	ASSERT_EQ(0, eset_add(&self->sets[0], self->event,
			      EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, task_start(&task, poll_for_input, &self->sets[0].fd));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_poll));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN, task_join(&task));
}

TEST_F(exclusive, that_is_removed_lets_the_next_one_have_it)
{
	ASSERT_EQ(0, add_to_all(self->sets, self->event,
				EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, ewaiter_start(&self->waiters[0], &self->sets[0], -1));
	ASSERT_EQ(0, ewaiter_start(&self->waiters[3], &self->sets[3], -1));
	ASSERT_EQ(0, eset_del(&self->sets[0], self->event));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ewaiter_join(&self->waiters[3]));
	EXPECT_TRUE(task_undisturbed(&self->waiters[0].task));
	ASSERT_EQ(0, eset_add(&self->sets[0], self->event, EPOLLIN));
	EXPECT_EQ(1, ewaiter_join(&self->waiters[0]));
}

/*
 * The woken waiter has not come to take the event, and another thread has
 * looked at its set: then nobody has the event yet.
 */
TEST_F(exclusive, that_goes_with_an_event_hands_it_over)
{
	struct sched_param fifo = { .sched_priority = 1 }, none = {};
	struct eset *told = &self->sets[0];
	struct ewaiter *other = &self->waiters[3];

	if (geteuid())
		SKIP(return, "not root");
	ASSERT_EQ(0, add_to_all(self->sets, self->event,
				EPOLLIN | EPOLLEXCLUSIVE));
	/* The waiters stay on this processor, where they don't run now. */
	ASSERT_EQ(0, pin_to_cpu(0));
	ASSERT_EQ(0, ewaiter_start(&self->waiters[0], told, -1));
	ASSERT_EQ(0, ewaiter_start(other, &self->sets[3], -1));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &fifo));
	EXPECT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN, poll_now(told->fd, POLLIN));
	EXPECT_EQ(0, eset_del(told, self->event));
	EXPECT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &none));
	/* With epoll it sleeps on. */
	EXPECT_TRUE(eset_has(told, TAKES_TURNS) ?
		    ewaiter_join(other) == 1 : task_undisturbed(&other->task));
	/* It has found nothing, and waits again. */
	EXPECT_EQ(0, eset_add(told, self->event, EPOLLIN));
	EXPECT_EQ(1, ewaiter_join(&self->waiters[0]));
}

/* The waiter that has it comes back, and it is still there. */
TEST_F(exclusive, that_is_left_alone_is_told_to_the_next_one)
{
	bool turns = eset_has(&self->sets[0], TAKES_TURNS);
	int i, one;

	ASSERT_EQ(0, add_to_all(self->sets, self->event,
				EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, start_all(self->waiters, self->sets));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_TRUE(await(the_one_done(self->waiters) >= 0));
	one = the_one_done(self->waiters);
	/* We are another task, and have not left it alone so far. */
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->sets[one], self->event, 0));
	for (i = 0; i < SETS; i++)
		if (i != one)
			EXPECT_TRUE(task_undisturbed(&self->waiters[i].task));
	for (i = 2; i <= SETS; i++) {
		EXPECT_EQ(EPOLLIN,
			  eset_wait_one(&self->sets[one], self->event, 0));
		if (turns)
			EXPECT_TRUE(await(ewaiters_done(self->waiters,
							SETS) == i));
	}
	/* With epoll they sleep on. */
	EXPECT_EQ(turns ? SETS : 1, ewaiters_done(self->waiters, SETS));
	for (i = 0; i < SETS && !turns; i++)
		ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < SETS; i++)
		EXPECT_EQ(1, ewaiter_join(&self->waiters[i]));
}

/* One set asks for nothing but errors now, as a worker does that pauses. */
TEST_F(exclusive, that_is_left_alone_is_told_to_who_wants_it)
{
	bool turns = eset_has(&self->sets[0], TAKES_TURNS);
	const uint32_t events[] = { EPOLLIN, 0, EPOLLIN };
	int i, other = eventfd_new();

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, eset_add(&self->sets[i], self->event,
				      events[i] | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, eset_add(&self->sets[1], other, EPOLLIN));
	ASSERT_EQ(0, ewaiter_start(&self->waiters[0], &self->sets[0], -1));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ewaiter_join(&self->waiters[0]));
	for (i = 1; i < 3; i++)
		ASSERT_EQ(0, ewaiter_start(&self->waiters[i], &self->sets[i],
					   -1));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->sets[0], self->event,
						 0));
	if (!turns)
		ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ewaiter_join(&self->waiters[2]));
	EXPECT_TRUE(task_undisturbed(&self->waiters[1].task));
	ASSERT_EQ(0, eventfd_post(other));
	EXPECT_EQ(1, ewaiter_join(&self->waiters[1]));
	close(other);
}

TEST_F(exclusive, that_is_dealt_with_is_told_to_nobody)
{
	int i, one;

	ASSERT_EQ(0, add_to_all(self->sets, self->event,
				EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, start_all(self->waiters, self->sets));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_TRUE(await(the_one_done(self->waiters) >= 0));
	one = the_one_done(self->waiters);
	ASSERT_EQ(0, eventfd_take(self->event));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->sets[one], self->event, 0));
	for (i = 0; i < SETS; i++)
		if (i != one)
			EXPECT_TRUE(task_undisturbed(&self->waiters[i].task));
	EXPECT_EQ(one, the_one_done(self->waiters));
	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < SETS; i++)
		ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < SETS; i++)
		EXPECT_EQ(1, ewaiter_join(&self->waiters[i]));
}

/* The waiter has taken it, but nobody knows whether it will deal with it. */
TEST_F(exclusive, that_was_taken_and_goes_is_told_to_the_next_one)
{
	bool turns = eset_has(&self->sets[0], TAKES_TURNS);
	int i, one;

	ASSERT_EQ(0, add_to_all(self->sets, self->event,
				EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, start_all(self->waiters, self->sets));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_TRUE(await(the_one_done(self->waiters) >= 0));
	one = the_one_done(self->waiters);
	ASSERT_EQ(1, ewaiter_join(&self->waiters[one]));
	ASSERT_EQ(0, eset_del(&self->sets[one], self->event));
	if (turns)
		EXPECT_TRUE(await(ewaiters_done(self->waiters, SETS) == 2));
	/* With epoll they all sleep on. */
	for (i = 0; i < SETS; i++)
		ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < SETS; i++)
		if (i != one)
			EXPECT_EQ(1, ewaiter_join(&self->waiters[i]));
}

TEST_HARNESS_MAIN

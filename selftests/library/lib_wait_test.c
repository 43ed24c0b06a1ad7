// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll: waiting, the cursor over a result, and threads.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/fadvise_param.h"
#include "core/helpers.h"
#include "library/lib_helpers.h"

FIXTURE(lib_wait)
{
	struct devepoll *set;
	struct devepoll_cursor cursor;
};

FIXTURE_SETUP(lib_wait)
{
	self->cursor = poisoned_cursor();
	ASSERT_EQ(0, devepoll_open(&self->set, NULL, 64, 0));
}

FIXTURE_TEARDOWN(lib_wait)
{
	EXPECT_EQ(0, devepoll_close(self->set));
	EXPECT_FALSE(leaks_memory());
}

TEST_F(lib_wait, wait_without_a_cursor_loses_no_event)
{
	ASSERT_LE(0, add_posted(self->set));
	EXPECT_EQ(-EINVAL, devepoll_wait(self->set, NULL, 0));
	EXPECT_EQ(1, devepoll_wait(self->set, &self->cursor, 0));
}

TEST_F(lib_wait, cursor_walks_in_the_order_of_first_events)
{
	static const int order[] = { 2, 0, 3, 1, 0, 2 };
	const struct pollfd *event;
	int fds[4], i;

	for (i = 0; i < 4; i++) {
		fds[i] = eventfd_new();
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, devepoll_add(self->set, fds[i], POLLIN));
	}
	for (i = 0; i < 6; i++)
		ASSERT_EQ(0, eventfd_post(fds[order[i]]));

	ASSERT_EQ(4, devepoll_wait(self->set, &self->cursor, 0));
	for (i = 0; i < 4; i++) {
		event = devepoll_next(&self->cursor);
		ASSERT_NE(NULL, event);
		EXPECT_EQ(fds[order[i]], event->fd);
		EXPECT_EQ(POLLIN, event->events);
		EXPECT_EQ(POLLIN, event->revents);
	}
	EXPECT_EQ(NULL, devepoll_next(&self->cursor));
	EXPECT_EQ(NULL, devepoll_next(&self->cursor));
}

TEST_F(lib_wait, result_stays_until_the_next_wait)
{
	const struct pollfd *first, *second;
	int fd = add_posted(self->set);
	int other;

	ASSERT_LE(0, fd);
	ASSERT_EQ(1, devepoll_wait(self->set, &self->cursor, 0));
	first = devepoll_next(&self->cursor);

	other = add_posted(self->set);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, devepoll_remove(self->set, fd));
	EXPECT_EQ(fd, first->fd);
	EXPECT_EQ(POLLIN, first->revents);

	ASSERT_EQ(1, devepoll_wait(self->set, &self->cursor, 0));
	second = devepoll_next(&self->cursor);
	EXPECT_EQ(other, second->fd);
	EXPECT_NE(first, second);
}

TEST_F(lib_wait, cursor_is_empty_without_events)
{
	self->cursor = poisoned_cursor();
	EXPECT_EQ(0, devepoll_wait(self->set, &self->cursor, 0));
	EXPECT_EQ(NULL, devepoll_next(&self->cursor));
}

TEST_F(lib_wait, wait_is_never_over_early)
{
	static const int ms[] = { 1, 7, 30 };
	uint64_t begin;
	int i;

	for (i = 0; i < 3; i++) {
		begin = now_ns();
		EXPECT_EQ(0, devepoll_wait(self->set, &self->cursor, ms[i]));
		EXPECT_LE(ms[i] * NSEC_PER_MSEC, now_ns() - begin);
	}
}

struct sleeper {
	struct devepoll *set;
	pthread_t thread;
	atomic_int tid;
	int timeout;
	int ret;
	int fd;
};

static void *sleeper_main(void *arg)
{
	struct devepoll_cursor cursor = poisoned_cursor();
	struct sleeper *s = arg;
	const struct pollfd *event;

	s->tid = gettid();
	s->ret = devepoll_wait(s->set, &cursor, s->timeout);
	event = devepoll_next(&cursor);
	s->fd = event ? event->fd : -1;
	return NULL;
}

static int sleeper_start(struct sleeper *s, struct devepoll *set, int timeout)
{
	int err;

	*s = (struct sleeper){ .set = set, .timeout = timeout };
	err = pthread_create(&s->thread, NULL, sleeper_main, s);
	if (err)
		return -err;
	if (!await(s->tid))
		return -ETIMEDOUT;
	return await_sleep(s->tid, fadvise_param() == 'N' ? SYS_ioctl :
							    SYS_fadvise64);
}

TEST_F(lib_wait, wait_without_limit_ends_with_an_event)
{
	struct sleeper s;
	int fd = eventfd_new();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, devepoll_add(self->set, fd, POLLIN));
	ASSERT_EQ(0, sleeper_start(&s, self->set, -1));
	ASSERT_EQ(0, eventfd_post(fd));
	ASSERT_EQ(0, pthread_join(s.thread, NULL));
	EXPECT_EQ(1, s.ret);
	EXPECT_EQ(fd, s.fd);
}

TEST_F(lib_wait, fd_that_is_added_while_a_thread_waits_wakes_it)
{
	struct sleeper s;
	int fd = eventfd_new();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, eventfd_post(fd));
	ASSERT_EQ(0, sleeper_start(&s, self->set, INT_MIN));
	ASSERT_EQ(0, devepoll_add(self->set, fd, POLLIN));
	ASSERT_EQ(0, pthread_join(s.thread, NULL));
	EXPECT_EQ(1, s.ret);
	EXPECT_EQ(fd, s.fd);
}

static void do_nothing(int sig)
{
	(void)sig;
}

TEST_F(lib_wait, signal_interrupts_a_wait_that_is_not_restarted)
{
	struct sigaction sa = {
		.sa_handler = do_nothing,
		.sa_flags = SA_RESTART,
	};
	struct sleeper s;

	ASSERT_EQ(0, sigaction(SIGUSR1, &sa, NULL));
	ASSERT_EQ(0, sleeper_start(&s, self->set, -1));
	ASSERT_EQ(0, pthread_kill(s.thread, SIGUSR1));
	ASSERT_EQ(0, pthread_join(s.thread, NULL));
	EXPECT_EQ(-EINTR, s.ret);
	EXPECT_EQ(-1, s.fd);
}

/* Threads that change the set while another takes: nothing gets lost. */
#define CHANGERS	2
#define ROUNDS		500

struct changer {
	struct devepoll *set;
	pthread_t thread;
	int quiet;
	int told;
	int errors;
};

static void *changer_main(void *arg)
{
	struct changer *c = arg;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		c->errors += devepoll_add(c->set, c->quiet, POLLIN) != 0;
		c->errors += devepoll_query(c->set, c->quiet) != POLLIN;
		c->errors += devepoll_change(c->set, c->quiet, POLLPRI) != 0;
		c->errors += devepoll_remove(c->set, c->quiet) != 0;
		c->errors += devepoll_add(c->set, c->told, POLLIN) != 0;
	}
	c->errors += eventfd_post(c->told) != 0;
	return NULL;
}

TEST_F(lib_wait, threads_change_the_set_while_another_waits)
{
	struct changer c[CHANGERS];
	const struct pollfd *event;
	int i, told = 0;

	for (i = 0; i < CHANGERS; i++) {
		c[i] = (struct changer){
			.set = self->set,
			.quiet = eventfd_new(),
			.told = eventfd_new(),
		};
		ASSERT_LE(0, c[i].told);
		ASSERT_EQ(0, pthread_create(&c[i].thread, NULL, changer_main,
					    &c[i]));
	}
	while (told < CHANGERS) {
		int n = devepoll_wait(self->set, &self->cursor,
				      20000 * slowness());

		ASSERT_LT(0, n);
		while ((event = devepoll_next(&self->cursor))) {
			EXPECT_EQ(POLLIN, event->revents);
			told++;
		}
	}
	for (i = 0; i < CHANGERS; i++) {
		ASSERT_EQ(0, pthread_join(c[i].thread, NULL));
		EXPECT_EQ(0, c[i].errors);
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Busy polling of a network card: an echo server sends back what it gets, and a
 * wait takes the packet from the card itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"
#include "core/ring.h"
#include "epoll/busy.h"

/* An interrupt may come first: so often a packet is sent. */
#define ROUNDS		50
/* Longer than any of these tests: a wait must end it, or never ends. */
#define LONG_US		INT32_MAX
#define OTHERS		100
/* A thread that has computed so long in its call polls: all else is short. */
#define POLLING_NS	(30 * NSEC_PER_MSEC * slowness())

/* Waits for ever for one event of the connection; as eset_wait(). */
typedef int wait_call(void *arg);

/*
 * How many packets busy polling has received when it has received one, or after
 * all the rounds; or -errno.
 */
static long echo(int fd, wait_call *wait, void *arg)
{
	long before = busy_packets(), now = before;
	int i, ret = 0;

	for (i = 0; i < ROUNDS && !ret && now == before; i++) {
		ret = put_byte(fd);
		if (!ret && wait(arg) != 1)
			ret = -EBADMSG;
		ret = ret ?: take_byte(fd);
		now = busy_packets();
	}
	return ret ?: now - before;
}

/*
 * Waits until a thread polls, as its processor time tells: it begins with the
 * call.
 */
static bool comes_to_poll(struct task *task)
{
	struct timespec used = {};
	clockid_t clock;

	if (pthread_getcpuclockid(task->thread, &clock))
		return false;
	return await(atomic_load(&task->done) ||
		     (!clock_gettime(clock, &used) &&
		      used.tv_sec * 1000 * NSEC_PER_MSEC + used.tv_nsec >=
		      POLLING_NS)) && !atomic_load(&task->done);
}

static int wait_of_set(void *arg)
{
	struct epoll_event out;

	return eset_wait(arg, &out, 1, -1);
}

FIXTURE(busy) {
	struct eset set;
	int fd;
};

ESET_VARIANTS(busy);

FIXTURE_SETUP(busy)
{
	struct busy_params params;
	int ret;

	self->fd = busy_connect();
	if (self->fd == -ENODEV)
		SKIP(return, "no network card, or no driver for it");
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	ret = busy_get(self->set.fd, &params);
	if (variant->ops == &eset_sysepoll && ret == -ENOTTY)
		SKIP(return, "epoll has no parameters before Linux 6.9");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, eset_add(&self->set, self->fd, EPOLLIN | EPOLLET));
}

FIXTURE_TEARDOWN(busy)
{
	eset_close(&self->set);
	close(self->fd);
}

TEST_F(busy, polls_the_card_if_it_is_told_to)
{
	struct busy_params params = { .usecs = LONG_US };

	EXPECT_EQ(0, echo(self->fd, wait_of_set, &self->set));
	ASSERT_EQ(0, busy_set(self->set.fd, &params));
	EXPECT_LT(0, echo(self->fd, wait_of_set, &self->set));
	params.usecs = 0;
	ASSERT_EQ(0, busy_set(self->set.fd, &params));
	EXPECT_EQ(0, echo(self->fd, wait_of_set, &self->set));
}

TEST_F(busy, polls_with_a_budget_and_without_interrupts)
{
	const struct busy_params params = {
		.usecs = LONG_US,
		.budget = 1,
		.prefer = 1,
	};

	ASSERT_EQ(0, busy_set(self->set.fd, &params));
	EXPECT_LT(0, echo(self->fd, wait_of_set, &self->set));
}

TEST_F(busy, finds_the_socket_among_other_files)
{
	const struct busy_params params = { .usecs = LONG_US };
	int i, high = fcntl(self->fd, F_DUPFD_CLOEXEC, 2 * OTHERS);

	ASSERT_LE(0, high);
	for (i = 0; i < OTHERS; i++)
		ASSERT_EQ(0, eset_add(&self->set, eventfd_new(), EPOLLIN));
	ASSERT_EQ(0, eset_del(&self->set, self->fd));
	ASSERT_EQ(0, eset_add(&self->set, high, EPOLLIN | EPOLLET));
	close(self->fd);
	self->fd = high;
	ASSERT_EQ(0, busy_set(self->set.fd, &params));
	EXPECT_LT(0, echo(self->fd, wait_of_set, &self->set));
}

/* The search has to begin again: it ended behind the socket. */
TEST_F(busy, finds_the_socket_again_after_a_wait_in_vain)
{
	struct busy_params params = { .usecs = 1 };
	struct epoll_event out;

	ASSERT_EQ(0, busy_set(self->set.fd, &params));
	ASSERT_EQ(0, eset_wait(&self->set, &out, 1, 1));
	params.usecs = LONG_US;
	ASSERT_EQ(0, busy_set(self->set.fd, &params));
	EXPECT_LT(0, echo(self->fd, wait_of_set, &self->set));
}

/* The time to poll ends at any moment, also as a packet comes. */
TEST_F(busy, loses_no_event_when_its_time_is_over)
{
	struct busy_params params = { .usecs = 1 };
	int i;

	for (i = 0; i < ROUNDS; i++) {
		params.usecs = params.usecs * 3 % 2000;
		ASSERT_EQ(0, busy_set(self->set.fd, &params));
		ASSERT_EQ(0, put_byte(self->fd));
		ASSERT_EQ(1, wait_of_set(&self->set));
		ASSERT_EQ(0, take_byte(self->fd));
	}
}

TEST_F(busy, does_not_poll_in_a_wait_that_does_not_wait)
{
	const struct busy_params params = { .usecs = LONG_US };
	struct epoll_event out;

	ASSERT_EQ(0, busy_set(self->set.fd, &params));
	/* It would go on for ever. */
	EXPECT_EQ(0, eset_wait(&self->set, &out, 1, 0));
}

/* epoll polls on until the time of the parameters is over. */
TEST_F(busy, ends_with_the_time_out)
{
	const struct busy_params params = { .usecs = LONG_US };
	struct epoll_event out;

	if (variant->ops == &eset_sysepoll)
		SKIP(return, "epoll goes on");
	ASSERT_EQ(0, busy_set(self->set.fd, &params));
	EXPECT_EQ(0, eset_wait(&self->set, &out, 1, 50));
}

static void nothing(int signo)
{
}

TEST_F(busy, ends_with_a_signal)
{
	const struct busy_params params = { .usecs = LONG_US };
	/* Again, if the first one came before the wait. */
	const struct itimerval soon = {
		.it_value.tv_usec = 50000,
		.it_interval.tv_usec = 50000,
	};
	const struct sigaction action = { .sa_handler = nothing };
	struct epoll_event out;

	if (variant->ops == &eset_sysepoll)
		SKIP(return, "epoll goes on");
	ASSERT_EQ(0, busy_set(self->set.fd, &params));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &soon, NULL));
	EXPECT_EQ(-EINTR, eset_wait(&self->set, &out, 1, -1));
}

static int wait_of_2001(void *arg)
{
	struct pollfd out;

	return set_wait(arg, &out, 1, -1);
}

/* A connection in a set of 2001; or -errno. */
static int open_2001(struct set *set)
{
	int err, fd = busy_connect();

	if (fd < 0)
		return fd;
	err = set_open(set, &backend_devepoll, 8) ?: set_add(set, fd, POLLIN);
	return err ?: fd;
}

TEST(busy_polling_of_2001)
{
	const struct busy_params params = { .usecs = LONG_US };
	struct set set;
	int fd = open_2001(&set);

	if (fd == -ENODEV)
		SKIP(return, "no network card, or no driver for it");
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, echo(fd, wait_of_2001, &set));
	ASSERT_EQ(0, busy_set(set.fd, &params));
	EXPECT_LT(0, echo(fd, wait_of_2001, &set));
	set_close(&set);
	close(fd);
}

TEST(busy_polling_of_2001_ends_when_the_set_is_freed)
{
	const struct busy_params params = { .usecs = LONG_US };
	struct waiter waiter;
	struct set set;
	int fd = open_2001(&set);

	if (fd == -ENODEV)
		SKIP(return, "no network card, or no driver for it");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, busy_set(set.fd, &params));
	ASSERT_EQ(0, waiter_launch(&waiter, &set, -1));
	ASSERT_TRUE(comes_to_poll(&waiter.task));
	ASSERT_EQ(0, munmap(set.map, set.map_size));
	set.map = NULL;
	ASSERT_EQ(0, dep_free(set.fd));
	EXPECT_EQ(-EINVAL, waiter_join(&waiter));
	set_close(&set);
	close(fd);
}

/* A thread that gets events, and goes when it is told to. */
struct reader {
	struct task task;
	struct set set;
	atomic_bool reads;
	atomic_bool leaves;
};

static long read_and_stay(void *arg)
{
	struct reader *reader = arg;
	struct pollfd out;
	int ret = set_wait(&reader->set, &out, 1, -1);

	atomic_store(&reader->reads, true);
	return await(atomic_load(&reader->leaves)) ? ret : -ETIMEDOUT;
}

/* Polling would not notice that the reader goes. */
TEST(busy_polling_of_2001_is_left_out_while_another_thread_reads)
{
	const struct busy_params params = { .usecs = LONG_US };
	struct reader reader = {};
	struct waiter waiter;
	struct set set;
	int fd = open_2001(&set), event = eventfd_new();

	if (fd == -ENODEV)
		SKIP(return, "no network card, or no driver for it");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_add(&set, event, POLLIN));
	ASSERT_EQ(0, busy_set(set.fd, &params));
	reader.set = set;
	ASSERT_EQ(0, task_start(&reader.task, read_and_stay, &reader));
	ASSERT_TRUE(comes_to_poll(&reader.task));
	for (;;) {
		ASSERT_EQ(0, waiter_launch(&waiter, &set, -1));
		ASSERT_TRUE(comes_to_poll(&waiter.task));
		ASSERT_EQ(0, eventfd_post(event));
		ASSERT_TRUE(await(atomic_load(&reader.reads) ||
				  atomic_load(&waiter.task.done)));
		if (atomic_load(&reader.reads))
			break;
		/* The reader had no processor, and the waiter was faster. */
		ASSERT_EQ(1, waiter_join(&waiter));
	}
	ASSERT_EQ(0, put_byte(fd));
	EXPECT_EQ(0, await_sleep(waiter.task.tid, set.ops->wait_syscall));
	atomic_store(&reader.leaves, true);
	EXPECT_EQ(1, task_join(&reader.task));
	EXPECT_EQ(1, waiter_join(&waiter));
	set_close(&set);
	close(fd);
}

static int wait_of_ring(void *arg)
{
	struct consumer *consumer = arg;
	int ret = ring_wait(consumer->ring, -1);

	return ret == 1 ? consumer_take(consumer) : ret;
}

TEST(busy_polling_of_a_ring)
{
	const struct busy_params params = { .usecs = LONG_US };
	struct consumer consumer;
	struct ring ring;
	int fd = busy_connect();

	if (fd == -ENODEV)
		SKIP(return, "no network card, or no driver for it");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ring_open(&ring, 1, 8));
	consumer_init(&consumer, &ring, 0);
	ASSERT_EQ(0, ring_add(&ring, fd, EPOLLIN));
	EXPECT_EQ(0, echo(fd, wait_of_ring, &consumer));
	ASSERT_EQ(0, busy_set(ring.set.fd, &params));
	EXPECT_LT(0, echo(fd, wait_of_ring, &consumer));
	ring_close(&ring);
	close(fd);
}

static long wait_for_two(void *arg)
{
	return ring_wait_min(arg, -1, 2);
}

/* The event that is taken stays on the list, so that as many are listed. */
TEST(busy_polling_of_a_ring_that_another_thread_takes_from)
{
	const struct busy_params params = { .usecs = LONG_US };
	int fd = busy_connect(), level = eventfd_new();
	struct consumer consumer;
	struct ring ring;
	struct task task;

	if (fd == -ENODEV)
		SKIP(return, "no network card, or no driver for it");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ring_open(&ring, 1, 8));
	consumer_init(&consumer, &ring, 0);
	ASSERT_EQ(0, eset_add(&ring.set, level, EPOLLIN));
	ASSERT_EQ(0, eset_add(&ring.set, fd, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(level));
	ASSERT_EQ(0, busy_set(ring.set.fd, &params));
	ASSERT_EQ(0, task_start(&task, wait_for_two, &ring));
	ASSERT_TRUE(comes_to_poll(&task));
	ASSERT_EQ(EPOLLIN, consumer_take_one(&consumer, level));
	ASSERT_EQ(0, put_byte(fd));
	EXPECT_EQ(2, task_join(&task));
	EXPECT_EQ(2, consumer_take(&consumer));
	ring_close(&ring);
	close(fd);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * How the connections of one listening socket spread over workers: processes
 * with a set each, or threads of one set.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

#define WORKERS		8
#define CONNECTIONS	120
#define EVEN		(CONNECTIONS / WORKERS)
#define ROUNDS		15
/* Allowed distance from even, in percent; one that took all is 700 away. */
#define CALM_MOST	30
#define TRIES		10

FIXTURE(spread) {
	uint16_t port;
	struct crew {
		int listener;
		int stop[2];		/* its end makes the workers end */
		pid_t tids[WORKERS];	/* of processes or threads */
		struct eset set;	/* of the threads */
		struct worker {
			const struct crew *crew;
			struct eset set;
			char name;
			struct task task;
		} workers[WORKERS];
	} crew;
};

FIXTURE_VARIANT(spread) {
	const struct eset_ops *ops;
	uint32_t mode;
	/* the client comes again when all workers are asleep */
	bool calm;
};

#define SPREAD(name, way, what, how)					\
	FIXTURE_VARIANT_ADD(spread, name) {				\
		.ops = &eset_##way,					\
		.mode = what,						\
		.calm = how,						\
	}

SPREAD(of_calm_level_devepoll, devepoll, 0, true);
SPREAD(of_calm_edge_devepoll, devepoll, EPOLLET, true);
SPREAD(of_calm_level_devepoll_fadvise, devepoll_fadvise, 0, true);
SPREAD(of_calm_level_sysepoll, sysepoll, 0, true);
SPREAD(of_calm_edge_sysepoll, sysepoll, EPOLLET, true);
SPREAD(of_level_devepoll, devepoll, 0, false);
SPREAD(of_edge_devepoll, devepoll, EPOLLET, false);
SPREAD(of_level_sysepoll, sysepoll, 0, false);
SPREAD(of_edge_sysepoll, sysepoll, EPOLLET, false);

FIXTURE_SETUP(spread)
{
	struct eset set;

	ASSERT_EQ(0, eset_open(&set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	eset_close(&set);
	self->crew.listener = tcp_listener(&self->port);
	ASSERT_LE(0, self->crew.listener);
	ASSERT_EQ(0, pipe2(self->crew.stop, O_CLOEXEC));
}

FIXTURE_TEARDOWN(spread)
{
	close(self->crew.listener);
}

/* Answers each connection with @name, until the crew is stopped. */
static long answer(const struct crew *crew, struct eset *set, char name)
{
	struct epoll_event out[2];
	int i, n, fd;
	char byte;

	for (;;) {
		n = eset_wait(set, out, 2, -1);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			if (out[i].data.u64 == (uint64_t)crew->stop[0])
				return 0;
			fd = accept4(crew->listener, NULL, NULL, SOCK_CLOEXEC);
			if (fd < 0)
				continue;
			if (write(fd, &name, 1) != 1)
				return -errno;
			/* Until the client has gone. */
			while (read(fd, &byte, 1) > 0)
				;
			close(fd);
		}
	}
}

/* A set of the end and, exclusively, of the listening socket; 0 or -errno. */
static int crew_open_set(const struct crew *crew, struct eset *set,
			 const struct eset_ops *ops, uint32_t mode)
{
	return eset_open(set, ops) ?:
	       eset_add(set, crew->stop[0], EPOLLIN) ?:
	       eset_add(set, crew->listener, EPOLLIN | EPOLLEXCLUSIVE | mode);
}

/* Waits until all workers sleep in @ops' wait; 0 or -errno. */
static int crew_await(const struct crew *crew, const struct eset_ops *ops)
{
	int i, ret = 0;

	for (i = 0; i < WORKERS && !ret; i++)
		ret = await_sleep(crew->tids[i], ops->wait_syscall);
	return ret;
}

/* Processes with a set each, all asleep; 0 or -errno. */
static int crew_fork(struct crew *crew, const struct eset_ops *ops,
		     uint32_t mode)
{
	struct eset set;
	int i;

	for (i = 0; i < WORKERS; i++) {
		crew->tids[i] = fork();
		if (!crew->tids[i]) {
			close(crew->stop[1]);
			_exit(crew_open_set(crew, &set, ops, mode) ||
			      answer(crew, &set, i));
		}
		if (crew->tids[i] < 0)
			return -errno;
	}
	return crew_await(crew, ops);
}

/* Stops the processes; 0 if none failed. */
static int crew_reap(struct crew *crew)
{
	int i, ret = 0;

	close(crew->stop[1]);
	for (i = 0; i < WORKERS; i++)
		ret = reap(crew->tids[i]) ?: ret;
	return ret;
}

static long work(void *arg)
{
	struct worker *worker = arg;

	return answer(worker->crew, &worker->set, worker->name);
}

/* Threads with one set, which fell asleep one after the other; 0 or -errno. */
static int crew_launch(struct crew *crew, const struct eset_ops *ops,
		       uint32_t mode)
{
	int i, ret = crew_open_set(crew, &crew->set, ops, mode);

	for (i = 0; i < WORKERS && !ret; i++) {
		struct worker *worker = &crew->workers[i];

		worker->crew = crew;
		worker->set = crew->set;
		worker->name = i;
		ret = task_start(&worker->task, work, worker);
		if (ret)
			return ret;
		crew->tids[i] = worker->task.tid;
		ret = await_sleep(crew->tids[i], ops->wait_syscall);
	}
	return ret;
}

/* Stops the threads; 0 if none failed. */
static int crew_join(struct crew *crew)
{
	int i, ret = 0;

	close(crew->stop[1]);
	for (i = 0; i < WORKERS; i++)
		ret = task_join(&crew->workers[i].task) ?: ret;
	eset_close(&crew->set);
	return ret;
}

/* A connection, answered by the worker *@name; or -errno. */
static int connect_to(uint16_t port, int *name)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int ret, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unsigned char byte;

	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		ret = -errno;
	else
		ret = read(fd, &byte, 1) == 1 && byte < WORKERS ? 0 : -EIO;
	if (ret) {
		close(fd);
		return ret;
	}
	*name = byte;
	return fd;
}

static void disconnect(int fd)
{
	const struct linger at_once = { .l_onoff = 1 };

	/* The kernel has no room to remember so many closed connections. */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
}

/*
 * Makes the connections, one after the other; 0 or -errno.  If @calm, the
 * workers sleep in @calm's wait before each.
 */
static int count_answers(uint16_t port, const struct crew *crew,
			 const struct eset_ops *calm, int *counts)
{
	int i, fd, name;

	for (i = 0; i < CONNECTIONS; i++) {
		if (calm && crew_await(crew, calm))
			return -ETIMEDOUT;
		fd = connect_to(port, &name);
		if (fd < 0)
			return fd;
		disconnect(fd);
		counts[name]++;
	}
	return 0;
}

/*
 * Keeps as many connections open as there are workers, in each round; 0, or
 * -EBUSY if the answers did not come from all workers, or another -errno.
 * A worker that has a connection can answer no other.
 */
static int hold_answers(uint16_t port)
{
	int i, j, name, nr, fds[WORKERS], ret = 0;

	for (i = 0; i < ROUNDS && !ret; i++) {
		bool answered[WORKERS] = {};

		for (nr = 0; nr < WORKERS && !ret; nr++) {
			fds[nr] = connect_to(port, &name);
			if (fds[nr] < 0) {
				ret = fds[nr];
				break;
			}
			ret = answered[name] ? -EBUSY : 0;
			answered[name] = true;
		}
		for (j = 0; j < nr; j++)
			disconnect(fds[j]);
	}
	return ret;
}

/* Prints the connections of each worker.  The most from even, in percent. */
static int spread_of(const char *workers, const char *name, bool calm,
		     const int *counts)
{
	char text[128] = "";
	int i, away, most = 0;

	for (i = 0; i < WORKERS; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 " %d", counts[i]);
		away = counts[i] > EVEN ? counts[i] - EVEN : EVEN - counts[i];
		away = away * 100 / EVEN;
		most = away > most ? away : most;
	}
	printf("# %s, 8 %s%s:%s, %d %% from even\n", name, workers,
	       calm ? ", calm" : "", text, most);
	return most;
}

/*
 * How far from even the crew's answers are, in percent, or -errno.  If they
 * @shall_be_even, the least of a few counts: on a busy machine a worker may be
 * so late that the next one gets its connection.
 */
static int count_spread(uint16_t port, const struct crew *crew,
			const char *workers, const struct eset_ops *ops,
			bool calm, bool shall_be_even)
{
	int i, err, most, least = INT_MAX;

	for (i = 0; i < (shall_be_even ? TRIES : 1) && least > CALM_MOST; i++) {
		int counts[WORKERS] = {};

		err = count_answers(port, crew, calm ? ops : NULL, counts);
		if (err)
			return err;
		most = spread_of(workers, ops->name, calm, counts);
		least = most < least ? most : least;
	}
	return least;
}

TEST_F(spread, over_processes)
{
	/* A worker that has not fallen asleep yet may take what comes. */
	bool even = (variant->ops->traits & TAKES_TURNS) && variant->calm;
	int most;

	ASSERT_EQ(0, crew_fork(&self->crew, variant->ops, variant->mode));
	most = count_spread(self->port, &self->crew, "processes", variant->ops,
			    variant->calm, even);
	EXPECT_LE(0, most);
	EXPECT_EQ(0, crew_reap(&self->crew));
	if (even)
		EXPECT_GE(CALM_MOST, most);
}

TEST_F(spread, over_threads)
{
	/* What stays ready wakes the next thread too; either may be first. */
	bool even = (variant->ops->traits & TAKES_TURNS) && variant->calm &&
		    variant->mode;
	int most;

	ASSERT_EQ(0, crew_launch(&self->crew, variant->ops, variant->mode));
	most = count_spread(self->port, &self->crew, "threads", variant->ops,
			    variant->calm, even);
	EXPECT_LE(0, most);
	EXPECT_EQ(0, crew_join(&self->crew));
	if (even)
		EXPECT_GE(CALM_MOST, most);
}

TEST_F(spread, reaches_each_idle_process)
{
	ASSERT_EQ(0, crew_fork(&self->crew, variant->ops, variant->mode));
	EXPECT_EQ(0, hold_answers(self->port));
	EXPECT_EQ(0, crew_reap(&self->crew));
}

TEST_F(spread, reaches_each_idle_thread)
{
	ASSERT_EQ(0, crew_launch(&self->crew, variant->ops, variant->mode));
	EXPECT_EQ(0, hold_answers(self->port));
	EXPECT_EQ(0, crew_join(&self->crew));
}

TEST_HARNESS_MAIN

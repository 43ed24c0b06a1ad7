// SPDX-License-Identifier: GPL-2.0
/*
 * How the connections of one listening socket spread over workers: processes
 * with a set each, or threads of one set.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "eset.h"

#define WORKERS		8
#define CONNECTIONS	240
#define EVEN		(CONNECTIONS / WORKERS)
/*
 * Allowed distance from even, in percent: if all sleep before each connection,
 * and if busy workers take what comes meanwhile.  One that took all is 700
 * away.
 */
#define CALM_MOST	10
#define BUSY_MOST	300

FIXTURE(spread) {
	int listener;
	uint16_t port;
	int stop[2];	/* its end makes the workers end */
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
	self->listener = tcp_listener(&self->port);
	ASSERT_LE(0, self->listener);
	ASSERT_EQ(0, pipe2(self->stop, O_CLOEXEC));
}

FIXTURE_TEARDOWN(spread)
{
	close(self->listener);
}

struct worker {
	struct eset set;
	int listener;
	int stop;
	char name;
	struct task task;
};

/* Answers each connection with its name, until it is stopped. */
static long work(void *arg)
{
	struct worker *worker = arg;
	struct epoll_event out[2];
	int i, n, fd;
	char byte;

	for (;;) {
		n = eset_wait(&worker->set, out, 2, -1);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			if (out[i].data.u64 == (uint64_t)worker->stop)
				return 0;
			fd = accept4(worker->listener, NULL, NULL,
				     SOCK_CLOEXEC);
			if (fd < 0)
				continue;
			if (write(fd, &worker->name, 1) != 1)
				return -errno;
			/* Until the client has gone. */
			while (read(fd, &byte, 1) > 0)
				;
			close(fd);
		}
	}
}

/* The name of the worker that answers, or -errno. */
static int connect_once(uint16_t port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const struct linger at_once = { .l_onoff = 1 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unsigned char name;
	int ret = -EIO;

	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		ret = -errno;
	else if (read(fd, &name, 1) == 1)
		ret = name;
	/* The kernel has no room to remember so many closed connections. */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
	return ret;
}

/*
 * Makes the connections; 0 or -errno.  @tids are the workers, if the client
 * waits for their sleep in @syscall.
 */
static int count_answers(uint16_t port, int *counts, const pid_t *tids,
			 long syscall)
{
	int i, j, name;

	for (i = 0; i < CONNECTIONS; i++) {
		for (j = 0; tids && j < WORKERS; j++)
			if (await_sleep(tids[j], syscall))
				return -ETIMEDOUT;
		name = connect_once(port);
		if (name < 0 || name >= WORKERS)
			return name < 0 ? name : -ERANGE;
		counts[name]++;
	}
	return 0;
}

struct spread {
	int most;	/* the largest distance from even, in percent */
	int least;	/* the smallest count */
};

static struct spread spread_of(const char *what, const char *name, bool calm,
			       const int *counts)
{
	struct spread spread = { .least = CONNECTIONS };
	char text[128] = "";
	int i, away;

	for (i = 0; i < WORKERS; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 " %d", counts[i]);
		away = counts[i] > EVEN ? counts[i] - EVEN : EVEN - counts[i];
		away = away * 100 / EVEN;
		spread.most = away > spread.most ? away : spread.most;
		spread.least = counts[i] < spread.least ? counts[i] :
							  spread.least;
	}
	printf("# %s, %s%s:%s, %d %% from even\n", name, what,
	       calm ? ", calm" : "", text, spread.most);
	return spread;
}

TEST_F(spread, over_processes)
{
	struct worker worker = {
		.listener = self->listener,
		.stop = self->stop[0],
	};
	int i, counts[WORKERS] = {};
	struct spread spread;
	pid_t pids[WORKERS];

	for (i = 0; i < WORKERS; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			close(self->stop[1]);
			worker.name = i;
			_exit(eset_open(&worker.set, variant->ops) ||
			      eset_add(&worker.set, worker.stop, EPOLLIN) ||
			      eset_add(&worker.set, worker.listener, EPOLLIN |
				       EPOLLEXCLUSIVE | variant->mode) ||
			      work(&worker));
		}
		ASSERT_LT(0, pids[i]);
	}
	for (i = 0; i < WORKERS; i++)
		ASSERT_EQ(0, await_sleep(pids[i], variant->ops->wait_syscall));
	EXPECT_EQ(0, count_answers(self->port, counts,
				   variant->calm ? pids : NULL,
				   variant->ops->wait_syscall));
	ASSERT_EQ(0, close(self->stop[1]));
	for (i = 0; i < WORKERS; i++)
		EXPECT_EQ(0, reap(pids[i]));
	spread = spread_of("8 processes", variant->ops->name, variant->calm,
			   counts);
	if (variant->ops->traits & TAKES_TURNS) {
		EXPECT_LT(0, spread.least);
		EXPECT_GE(variant->calm ? CALM_MOST : BUSY_MOST, spread.most);
	}
}

TEST_F(spread, over_threads)
{
	struct worker workers[WORKERS];
	int i, counts[WORKERS] = {};
	pid_t tids[WORKERS];
	struct spread spread;
	struct eset set;

	ASSERT_EQ(0, eset_open(&set, variant->ops));
	ASSERT_EQ(0, eset_add(&set, self->stop[0], EPOLLIN));
	ASSERT_EQ(0, eset_add(&set, self->listener,
			      EPOLLIN | EPOLLEXCLUSIVE | variant->mode));
	for (i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){
			.set = set,
			.listener = self->listener,
			.stop = self->stop[0],
			.name = i,
		};
		ASSERT_EQ(0, task_start(&workers[i].task, work, &workers[i]));
		tids[i] = workers[i].task.tid;
		ASSERT_EQ(0, await_sleep(tids[i], variant->ops->wait_syscall));
	}
	EXPECT_EQ(0, count_answers(self->port, counts,
				   variant->calm ? tids : NULL,
				   variant->ops->wait_syscall));
	ASSERT_EQ(0, close(self->stop[1]));
	for (i = 0; i < WORKERS; i++)
		EXPECT_EQ(0, task_join(&workers[i].task));
	spread = spread_of("8 threads", variant->ops->name, variant->calm,
			   counts);
	/* What stays ready wakes the next thread too; either may be first. */
	if (variant->ops->traits & TAKES_TURNS) {
		EXPECT_LT(0, spread.least);
		EXPECT_GE(variant->calm && variant->mode ? CALM_MOST :
							   BUSY_MOST,
			  spread.most);
	}
	eset_close(&set);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * devepoll-bench: what is measured.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

#define WATCHED		1000
#define MESSAGE		64
/* So long nobody does anything, that waiters may fall asleep. */
#define PAUSE_NS	100000

/* What two processes tell each other. */
struct shared {
	/* When the event arrived; i386 aligns it less by itself. */
	_Atomic uint64_t taken __attribute__((aligned(8)));
	atomic_uint rounds;
	atomic_uint accepted[BENCH_WORKERS];
};

static struct shared *share(void)
{
	struct shared *shared;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bench_need(shared != MAP_FAILED, "mmap");
	return shared;
}

static void nap(void)
{
	const struct timespec time = { .tv_nsec = PAUSE_NS };

	nanosleep(&time, NULL);
}

/* Begins a process that ends with this one; 0 in that process. */
static pid_t begin(void)
{
	const pid_t parent = getpid();
	pid_t pid = fork();

	bench_need(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Whoever made the other process waits for it here, unless it has ended. */
static void check(pid_t pid)
{
	if (waitpid(pid, NULL, WNOHANG) == pid)
		_exit(1);	/* it has said why */
}

static void poke(int fd)
{
	const uint64_t one = 1;

	bench_need(write(fd, &one, sizeof(one)) == sizeof(one), "write");
}

static void empty(int fd)
{
	uint64_t count;

	bench_need(read(fd, &count, sizeof(count)) == sizeof(count), "read");
}

/**
 * bench_wait() - time waits for some of a thousand edge-triggered eventfds
 * @way: the kind of set
 * @ready: how many have an event
 * @ns: for how long
 * @samples: in and out
 */
void bench_wait(enum bench_way way, unsigned int ready, uint64_t ns,
		struct bench_samples *samples)
{
	const uint64_t last = bench_now() + ns;
	struct bench_set set;
	int fds[WATCHED];
	uint64_t before;
	unsigned int i;

	bench_set_open(&set, way);
	for (i = 0; i < WATCHED; i++) {
		fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		bench_need(fds[i] >= 0, "eventfd");
		bench_set_add(&set, fds[i], EPOLLIN | EPOLLET);
	}
	do {
		for (i = 0; i < ready; i++)
			poke(fds[i]);
		before = bench_now();
		if (bench_set_wait(&set, 0) == (int)ready)
			bench_sample(samples, bench_now() - before);
		for (i = 0; i < ready; i++)
			empty(fds[i]);
	} while (bench_now() < last);
	for (i = 0; i < WATCHED; i++)
		close(fds[i]);
	bench_set_close(&set);
}

static void sleeper(enum bench_way way, int fd, struct shared *shared)
{
	struct bench_set set;

	bench_processor(1);
	bench_set_open(&set, way);
	bench_set_add(&set, fd, EPOLLIN | EPOLLET);
	for (;;) {
		atomic_fetch_add(&shared->rounds, 1);
		while (bench_set_wait(&set, -1) < 1)
			;
		atomic_store(&shared->taken, bench_now());
		empty(fd);
	}
}

/**
 * bench_wake() - time from a write until a process that slept in a wait has it
 * @way: the kind of set
 * @ns: for how long
 * @samples: in and out
 */
void bench_wake(enum bench_way way, uint64_t ns, struct bench_samples *samples)
{
	const uint64_t last = bench_now() + ns;
	struct shared *shared = share();
	const int fd = eventfd(0, EFD_CLOEXEC);
	unsigned int round = 1;
	uint64_t before;
	pid_t pid;

	bench_need(fd >= 0, "eventfd");
	pid = begin();
	if (!pid)
		sleeper(way, fd, shared);
	do {
		while (atomic_load(&shared->rounds) < round) {
			check(pid);
			nap();
		}
		round++;
		nap();
		before = bench_now();
		poke(fd);
		while (atomic_load(&shared->rounds) < round) {
			check(pid);
			nap();
		}
		bench_sample(samples, atomic_load(&shared->taken) - before);
	} while (bench_now() < last);
	end(pid);
	close(fd);
	munmap(shared, sizeof(*shared));
}

static void echoer(enum bench_way way, int fd)
{
	struct bench_set set;
	char message[MESSAGE];
	ssize_t len;

	bench_processor(1);
	bench_set_open(&set, way);
	bench_set_add(&set, fd, EPOLLIN | EPOLLET);
	for (;;) {
		if (bench_set_wait(&set, -1) < 1)
			continue;
		while ((len = recv(fd, message, sizeof(message),
				   MSG_DONTWAIT)) > 0)
			bench_need(send(fd, message, len, 0) == len, "send");
		if (!len)
			_exit(0);
	}
}

/**
 * bench_echo() - time round trips to a process that answers by a set
 * @way: the kind of set
 * @ns: for how long
 * @samples: in and out
 */
void bench_echo(enum bench_way way, uint64_t ns, struct bench_samples *samples)
{
	const uint64_t last = bench_now() + ns;
	char message[MESSAGE] = "echo";
	uint64_t before;
	int ends[2];
	pid_t pid;

	bench_need(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
		   "socketpair");
	pid = begin();
	if (!pid) {
		close(ends[0]);
		echoer(way, ends[1]);
	}
	close(ends[1]);
	do {
		before = bench_now();
		bench_need(send(ends[0], message, MESSAGE, MSG_NOSIGNAL) ==
			   MESSAGE, "send");
		if (recv(ends[0], message, MESSAGE, MSG_WAITALL) != MESSAGE)
			_exit(1);	/* the other process has said why */
		bench_sample(samples, bench_now() - before);
	} while (bench_now() < last);
	close(ends[0]);
	end(pid);
}

static int listener(struct sockaddr_in *address)
{
	socklen_t len = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bench_need(fd >= 0 && !bind(fd, (void *)address, len) &&
		   !listen(fd, 128) &&
		   !getsockname(fd, (void *)address, &len), "listening");
	return fd;
}

static void worker(enum bench_way way, int fd, struct shared *shared, int self)
{
	struct bench_set set;
	int connection;

	bench_set_open(&set, way);
	bench_set_add(&set, fd, EPOLLIN | EPOLLEXCLUSIVE);
	atomic_fetch_add(&shared->rounds, 1);
	for (;;) {
		bench_set_wait(&set, -1);
		connection = accept(fd, NULL, NULL);
		if (connection < 0)
			continue;
		close(connection);
		atomic_fetch_add(&shared->accepted[self], 1);
	}
}

static unsigned int accepted(struct shared *shared)
{
	unsigned int i, sum = 0;

	for (i = 0; i < BENCH_WORKERS; i++)
		sum += atomic_load(&shared->accepted[i]);
	return sum;
}

/**
 * bench_accepts() - count the connections of each of several processes
 * @way: the kind of set; not a ring
 * @counts: out
 *
 * Each process has a set with the listening socket, with EPOLLEXCLUSIVE.  A
 * connection comes when the last one was accepted and all are waiting again.
 */
void bench_accepts(enum bench_way way, uint32_t counts[BENCH_WORKERS])
{
	struct shared *shared = share();
	struct sockaddr_in address;
	const int fd = listener(&address);
	pid_t pids[BENCH_WORKERS];
	unsigned int i, done;
	int connection;

	for (i = 0; i < BENCH_WORKERS; i++) {
		pids[i] = begin();
		if (!pids[i])
			worker(way, fd, shared, i);
	}
	while (atomic_load(&shared->rounds) < BENCH_WORKERS) {
		for (i = 0; i < BENCH_WORKERS; i++)
			check(pids[i]);
		nap();
	}
	for (done = 0; done < BENCH_CONNECTIONS; done++) {
		nap();
		connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		bench_need(connection >= 0 &&
			   !connect(connection, (void *)&address,
				    sizeof(address)), "connect");
		while (accepted(shared) == done)
			nap();
		close(connection);
	}
	for (i = 0; i < BENCH_WORKERS; i++) {
		counts[i] = atomic_load(&shared->accepted[i]);
		end(pids[i]);
	}
	close(fd);
	munmap(shared, sizeof(*shared));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so: sets that are changed by a ring which threads or
 * children share, or which were given to a program that has made none; on epoll
 * the same.  This program, started with "--without-set", changes a set that it
 * was given, or creates rings before its first set.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "kselftest_harness.h"

#include "preload/preload_uring.h"
#include "preload/step.h"

/* A call of epoll for a set that the program knows nothing of yet. */
static bool call_first(const char *first, int set, int fd)
{
	if (!strcmp(first, "wait"))
		return ready(set) == -ENOMSG;
	if (!strcmp(first, "change"))
		return add(set, fd, EPOLLIN) == 0 &&
		       epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL) == 0;
	return epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL) == -1 && errno == ENOENT;
}

/* The exit status of a program that has made no set. */
static int go_on(const char *given, int fd, const char *first)
{
	int set = strcmp(given, "received") ? fd : receive_fd(fd);
	struct raw_ring r;

	if (raw_ring_open(&r, 0, RAW_ENTRIES))
		return 2;
	if (!call_first(first, set, r.fd))
		return 3;
	return !works_by(&r, set);
}

/* The exit status of a program that had rings of two kinds before its set. */
static int create_unclear(void)
{
	struct raw_ring r;

	/* These have the same sizes, but their offsets differ. */
	if (raw_ring_open(&r, 0, RAW_ENTRIES) ||
	    raw_ring_open(&r, IORING_SETUP_CQE32, RAW_ENTRIES))
		return 2;
	if (!is_set_of_the_device(epoll_create1(0)))
		return 3;
	if (raw_ring_open(&r, 0, RAW_ENTRIES) != -ENOMEM)
		return 4;
	if (raw_ring_open(&r, IORING_SETUP_CQE32, RAW_ENTRIES) != -ENOMEM)
		return 5;
	return raw_ring_open(&r, 0, 2 * RAW_ENTRIES) ? 6 : 0;
}

static __attribute__((constructor)) void begin_without_set(int argc,
							   char **argv)
{
	if (argc == 3 && !strcmp(argv[1], WITHOUT_SET))
		_exit(create_unclear());
	if (argc == 5 && !strcmp(argv[1], WITHOUT_SET))
		_exit(go_on(argv[2], atoi(argv[3]), argv[4]));
}

static int start(const char *given, int fd, const char *first)
{
	pid_t child = fork();
	char number[16];

	if (child == 0) {
		snprintf(number, sizeof(number), "%d", fd);
		execl("/proc/self/exe", "/proc/self/exe", WITHOUT_SET, given,
		      number, first, NULL);
		_exit(127);
	}
	return child < 0 ? -errno : reap(child);
}

FIXTURE(given)
{
	int set;
};

FIXTURE_VARIANT(given)
{
	bool on_epoll;
	const char *first;
};

#define GIVEN(name, epoll, call)					\
	FIXTURE_VARIANT_ADD(given, name) {				\
		.on_epoll = epoll,					\
		.first = call,						\
	}

GIVEN(epoll_wait, true, "wait");
GIVEN(device_wait, false, "wait");
GIVEN(epoll_change, true, "change");
GIVEN(device_change, false, "change");
GIVEN(epoll_error, true, "error");
GIVEN(device_error, false, "error");

FIXTURE_SETUP(given)
{
	/* dup: stays open */
	self->set = dup(variant->on_epoll ? epoll_by_libc() :
					    epoll_create1(0));
	ASSERT_EQ(variant->on_epoll, is_set_of_epoll(self->set));
	ASSERT_EQ(!variant->on_epoll, is_set_of_the_device(self->set));
}

FIXTURE_TEARDOWN(given)
{
}

TEST_F(given, set_that_is_inherited_is_changed_by_a_ring)
{
	EXPECT_EQ(0, start("inherited", self->set, variant->first));
}

TEST_F(given, set_that_is_received_is_changed_by_a_ring)
{
	int fds[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	ASSERT_EQ(0, send_fd(fds[1], self->set));
	ASSERT_EQ(0, close(self->set));
	EXPECT_EQ(0, start("received", fds[0], variant->first));
}

TEST(kinds_of_rings_that_became_unclear_before_the_first_set_are_refused)
{
	pid_t child = fork();

	if (child == 0) {
		execl("/proc/self/exe", "/proc/self/exe", WITHOUT_SET,
		      "unclear", NULL);
		_exit(127);
	}
	EXPECT_EQ(0, reap(child));
}

#ifdef HAS_STEPS

static int mappings_of_rings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	while (maps && fgets(line, sizeof(line), maps))
		n += !!strstr(line, "[io_uring]");
	if (maps)
		fclose(maps);
	return n;
}

/* All rings have one number, under which the library keeps them mapped. */
TEST(no_ring_is_lost_to_a_handler_that_leaves_its_close)
{
	int set = epoll_create1(EPOLL_CLOEXEC), fd = eventfd_new(), n = 0;
	struct raw_ring r;
	bool left;

	do {
		ASSERT_EQ(0, raw_ring_open(&r, 0, RAW_ENTRIES));
		ASSERT_EQ(0, change(&r, set, EPOLL_CTL_ADD, fd, EPOLLIN));
		ASSERT_EQ(0, epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL));
		raw_ring_unmap(&r);
		ASSERT_EQ(2, mappings_of_rings())
			TH_LOG("left at step %d", n);
		left = close_is_left(r.fd);
		/* It may be open still. */
		close(r.fd);
		ASSERT_EQ(0, mappings_of_rings())
			TH_LOG("left at step %d", n);
		n++;
	} while (left);
	EXPECT_LT(50, n);
}

#endif

#define THREADS	4
#define ROUNDS	8

struct shared {
	struct raw_ring *ring;
	int set;
	pthread_mutex_t submitting, completing;
	atomic_int results[THREADS];
	atomic_bool enough;
};

struct one {
	struct shared *shared;
	int nr;
};

/* Other threads may take what this thread waits for, or have it made. */
static int change_among(struct one *one, int op, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
	struct shared *shared = one->shared;
	struct raw_ring *r = shared->ring;
	uint64_t data;
	int ret;

	shared->results[one->nr] = 1;
	pthread_mutex_lock(&shared->submitting);
	prepare(r, shared->set, op, fd, &event)->user_data = one->nr;
	raw_ring_push(r);
	pthread_mutex_unlock(&shared->submitting);
	do {
		ret = raw_ring_enter(r->fd, 1, 0);
	} while (ret == 0 || ret == -EINTR);
	if (ret != 1)
		return ret;
	while (shared->results[one->nr] == 1) {
		pthread_mutex_lock(&shared->completing);
		while ((ret = raw_ring_take(r, &data)) != -ENOMSG)
			shared->results[data] = ret;
		pthread_mutex_unlock(&shared->completing);
		if (shared->results[one->nr] == 1)
			raw_ring_enter(r->fd, 0, 0);
	}
	return shared->results[one->nr];
}

static long change_in_turn(void *arg)
{
	struct one *one = arg;
	int fd = eventfd_new();
	long wrong = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		wrong += change_among(one, EPOLL_CTL_ADD, fd) != 0;
		wrong += change_among(one, EPOLL_CTL_ADD, fd) != -EEXIST;
		wrong += change_among(one, EPOLL_CTL_DEL, fd) != 0;
	}
	return wrong;
}

TEST_F(by_ring, threads_enter_one_ring)
{
	struct shared shared = {
		.ring = &self->ring,
		.set = self->set,
		.submitting = PTHREAD_MUTEX_INITIALIZER,
		.completing = PTHREAD_MUTEX_INITIALIZER,
	};
	struct one ones[THREADS];
	struct task tasks[THREADS];
	int i;

	NEEDS_THREADS();
	for (i = 0; i < THREADS; i++) {
		ones[i] = (struct one){ .shared = &shared, .nr = i };
		ASSERT_EQ(0, task_start(&tasks[i], change_in_turn, &ones[i]));
	}
	for (i = 0; i < THREADS; i++)
		EXPECT_EQ(0, task_join(&tasks[i]));
}

static long change_until_told(void *arg)
{
	struct one *one = arg;
	int fd = eventfd_new();
	long wrong = 0;

	while (!one->shared->enough) {
		wrong += change_among(one, EPOLL_CTL_ADD, fd) != 0;
		wrong += change_among(one, EPOLL_CTL_DEL, fd) != 0;
	}
	return wrong;
}

/* The first process of a namespace, as its parent may be of its own. */
static pid_t fork_as_first(void)
{
	return syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL,
		       NULL);
}

#define FORKS	25

/* Forks beside a thread that makes changes; no number tells them apart. */
static int fork_beside_changes(unsigned int setup, int set)
{
	struct raw_ring rings[2];
	struct shared shared = {
		.ring = &rings[0],
		.set = set,
		.submitting = PTHREAD_MUTEX_INITIALIZER,
		.completing = PTHREAD_MUTEX_INITIALIZER,
	};
	struct one one = { .shared = &shared };
	struct task task;
	int i, ret = 0;
	pid_t child;

	if (getpid() != 1 || raw_ring_open(&rings[0], setup, RAW_ENTRIES) ||
	    raw_ring_open(&rings[1], setup, RAW_ENTRIES) ||
	    task_start(&task, change_until_told, &one))
		return 2;
	for (i = 0; i < FORKS && !ret; i++) {
		child = fork_as_first();
		if (child == 0)
			_exit(getpid() != 1 || !works_by(&rings[1], set));
		ret = child < 0 ? 3 : reap(child);
	}
	shared.enough = true;
	return task_join(&task) ? 4 : ret;
}

TEST_F(by_ring, child_of_fork_does_not_wait_for_a_thread_that_it_has_not)
{
	pid_t child;

	NEEDS_THREADS();
	child = fork_as_first();
	if (child == 0)
		_exit(fork_beside_changes(variant->setup, self->set));
	EXPECT_EQ(0, reap(child));
}

TEST_HARNESS_MAIN

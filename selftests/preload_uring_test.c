// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so: sets that are changed by IORING_OP_EPOLL_CTL entries
 * of a ring, as libuv does; on epoll the same.  This program, started with
 * "--without-set", changes a set that it was given.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "kselftest_harness.h"

#include "fadvise_filter.h"
#include "helpers.h"
#include "preloaded.h"
#include "raw_ring.h"

static int epoll_by_libc(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	int (*create1)(int flags) = libc ? dlsym(libc, "epoll_create1") : NULL;

	return create1 ? create1(EPOLL_CLOEXEC) : -1;
}

static struct io_uring_sqe *prepare(struct raw_ring *r, int set, int op, int fd,
				    const struct epoll_event *event)
{
	struct io_uring_sqe *sqe = raw_ring_next(r);

	sqe->opcode = IORING_OP_EPOLL_CTL;
	sqe->fd = set;
	sqe->off = fd;
	sqe->addr = (uintptr_t)event;
	sqe->len = op;
	sqe->user_data = 0xda7a0000ULL << 32 | fd;
	return sqe;
}

/* The result of what was prepared. */
static int made(struct raw_ring *r)
{
	uint64_t data = 0;
	long n;
	int ret;

	raw_ring_push(r);
	n = raw_ring_enter(r->fd, 1, 1);
	if (n != 1)
		return n < 0 ? n : -ENODATA;
	ret = raw_ring_take(r, &data);
	return data >> 32 == 0xda7a0000 ? ret : -EBADMSG;
}

static int change(struct raw_ring *r, int set, int op, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	prepare(r, set, op, fd, &event);
	return made(r);
}

/* A set that has nothing to report is changed by the ring, and works. */
static bool works_by(struct raw_ring *r, int set)
{
	int fd = eventfd_new();
	bool right;

	right = change(r, set, EPOLL_CTL_ADD, fd, EPOLLIN) == 0 &&
		ready(set) == -ENOMSG && eventfd_post(fd) == 0 &&
		ready(set) == fd &&
		change(r, set, EPOLL_CTL_MOD, fd, EPOLLPRI) == 0 &&
		ready(set) == -ENOMSG &&
		change(r, set, EPOLL_CTL_MOD, fd, EPOLLIN) == 0 &&
		ready(set) == fd &&
		change(r, set, EPOLL_CTL_DEL, fd, 0) == 0 &&
		ready(set) == -ENOMSG;
	close(fd);
	return right;
}

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

static __attribute__((constructor)) void begin_without_set(int argc,
							   char **argv)
{
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

FIXTURE(by_ring)
{
	struct raw_ring ring;
	int set;
};

FIXTURE_VARIANT(by_ring)
{
	bool on_epoll;
	unsigned int setup;
};

#define VARIANT(name, epoll, flags)					\
	FIXTURE_VARIANT_ADD(by_ring, name) {				\
		.on_epoll = epoll,					\
		.setup = flags,						\
	}

VARIANT(epoll, true, 0);
VARIANT(device, false, 0);
VARIANT(epoll_no_array, true, RAW_SETUP_NO_SQARRAY);
VARIANT(device_no_array, false, RAW_SETUP_NO_SQARRAY);
VARIANT(epoll_large_entries, true, IORING_SETUP_SQE128);
VARIANT(device_large_entries, false, IORING_SETUP_SQE128);
VARIANT(epoll_large_results, true, IORING_SETUP_CQE32);
VARIANT(device_large_results, false, IORING_SETUP_CQE32);

FIXTURE_SETUP(by_ring)
{
	int ret;

	self->set = variant->on_epoll ? epoll_by_libc() :
					epoll_create1(EPOLL_CLOEXEC);
	/* Each of these programs has sets of the device. */
	ASSERT_TRUE(is_set_of_the_device(epoll_create1(0)));
	ASSERT_EQ(variant->on_epoll, is_set_of_epoll(self->set));
	ASSERT_EQ(!variant->on_epoll, is_set_of_the_device(self->set));
	ret = raw_ring_open(&self->ring, variant->setup, RAW_ENTRIES);
	if (ret == -EINVAL && variant->setup == RAW_SETUP_NO_SQARRAY)
		SKIP(return, "this kernel has an array in each ring");
	ASSERT_EQ(0, ret);
}

FIXTURE_TEARDOWN(by_ring)
{
}

TEST_F(by_ring, set_works)
{
	int i;

	/* Several times around. */
	for (i = 0; i < 3 * RAW_ENTRIES; i++)
		ASSERT_TRUE(works_by(&self->ring, self->set));
	EXPECT_TRUE(works(self->set));
}

TEST_F(by_ring, wrong_changes_have_the_errors_of_epoll)
{
	struct raw_ring *r = &self->ring;
	int file = open("/proc/self/exe", O_RDONLY);
	int fd = eventfd_new();
	int set = self->set;

	EXPECT_EQ(-ENOENT, change(r, set, EPOLL_CTL_MOD, fd, EPOLLIN));
	EXPECT_EQ(-ENOENT, change(r, set, EPOLL_CTL_DEL, fd, EPOLLIN));
	EXPECT_EQ(0, change(r, set, EPOLL_CTL_ADD, fd, EPOLLIN));
	EXPECT_EQ(-EEXIST, change(r, set, EPOLL_CTL_ADD, fd, EPOLLIN));
	EXPECT_EQ(-EPERM, change(r, set, EPOLL_CTL_ADD, file, EPOLLIN));
	EXPECT_EQ(-EBADF, change(r, set, EPOLL_CTL_ADD, 999, EPOLLIN));
	EXPECT_EQ(-EBADF, change(r, 999, EPOLL_CTL_ADD, fd, EPOLLIN));
	EXPECT_EQ(-EINVAL, change(r, fd, EPOLL_CTL_ADD, fd, EPOLLIN));
	EXPECT_EQ(-EINVAL, change(r, set, EPOLL_CTL_ADD, set, EPOLLIN));
	EXPECT_EQ(-EINVAL, change(r, set, 0, fd, EPOLLIN));
	EXPECT_EQ(-EINVAL, change(r, set, 4, fd, EPOLLIN));
	/* Unknown bits are ignored. */
	EXPECT_EQ(0, change(r, set, EPOLL_CTL_MOD, fd, EPOLLIN | 0x00100000));
	prepare(r, set, EPOLL_CTL_MOD, fd, NULL);
	EXPECT_EQ(-EFAULT, made(r));
	prepare(r, set, EPOLL_CTL_MOD, fd, (void *)8);
	EXPECT_EQ(-EFAULT, made(r));
	prepare(r, set, EPOLL_CTL_DEL, fd, NULL)->buf_index = 1;
	EXPECT_EQ(-EINVAL, made(r));
	prepare(r, set, EPOLL_CTL_DEL, fd, NULL)->ioprio = 1;
	EXPECT_EQ(-EINVAL, made(r));
	/* Without a meaning for this operation. */
	prepare(r, set, EPOLL_CTL_DEL, fd, NULL)->flags = IOSQE_FIXED_FILE;
	EXPECT_EQ(0, made(r));
	EXPECT_TRUE(works_by(r, set));
}

TEST_F(by_ring, changes_of_one_entering_are_made_in_their_order)
{
	struct epoll_event events[3] = {
		{ .events = EPOLLIN }, { .events = EPOLLIN | EPOLLET },
		{ .events = EPOLLOUT },
	};
	const int ops[] = { EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_ADD,
			    EPOLL_CTL_DEL, EPOLL_CTL_ADD, EPOLL_CTL_MOD };
	const int results[] = { 0, 0, -EEXIST, 0, 0, 0 };
	struct raw_ring *r = &self->ring;
	int i, fd = eventfd_new();
	uint64_t data = 6;

	for (i = 0; i < 3; i++)
		events[i].data.fd = fd;
	for (i = 0; i < 6; i++) {
		prepare(r, self->set, ops[i], fd,
			&events[i % 3])->user_data = i;
		raw_ring_push(r);
	}
	ASSERT_EQ(6, raw_ring_enter(r->fd, 6, 6));
	/* A failing entry may complete before earlier ones. */
	for (i = 0; i < 6; i++) {
		int ret = raw_ring_take(r, &data);

		ASSERT_GT(6, data);
		EXPECT_EQ(results[data], ret);
	}
	EXPECT_EQ(-ENOMSG, raw_ring_take(r, NULL));
	EXPECT_EQ(fd, ready(self->set));
}

TEST_F(by_ring, entries_that_are_left_pending_are_made_by_a_later_entering)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct raw_ring *r = &self->ring;
	int i, fds[4];

	for (i = 0; i < 4; i++) {
		fds[i] = eventfd_new();
		prepare(r, self->set, EPOLL_CTL_ADD, fds[i], &event);
		raw_ring_push(r);
	}
	EXPECT_EQ(1, raw_ring_enter(r->fd, 1, 1));
	EXPECT_EQ(0, raw_ring_take(r, NULL));
	EXPECT_EQ(-ENOMSG, raw_ring_take(r, NULL));
	EXPECT_EQ(-ENOENT, epoll_ctl(self->set, EPOLL_CTL_DEL, fds[1], NULL) ?
			   -errno : 0);
	EXPECT_EQ(3, raw_ring_enter(r->fd, 3, 3));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, raw_ring_take(r, NULL));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, epoll_ctl(self->set, EPOLL_CTL_DEL, fds[i], NULL));
}

TEST_F(by_ring, other_entries_pass_between_the_changes)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct raw_ring *r = &self->ring;
	struct io_uring_sqe *sqe;
	uint64_t value = 0, data = 0;
	int i, fd = eventfd_new();
	int in = eventfd_new();

	ASSERT_EQ(0, eventfd_post(in));
	sqe = raw_ring_next(r);
	sqe->opcode = IORING_OP_NOP;
	sqe->user_data = 1;
	raw_ring_push(r);
	event.data.fd = fd;
	prepare(r, self->set, EPOLL_CTL_ADD, fd, &event)->user_data = 2;
	raw_ring_push(r);
	sqe = raw_ring_next(r);
	sqe->opcode = IORING_OP_READ;
	sqe->fd = in;
	sqe->addr = (uintptr_t)&value;
	sqe->len = sizeof(value);
	sqe->user_data = 3;
	raw_ring_push(r);
	ASSERT_EQ(3, raw_ring_enter(r->fd, 3, 3));
	for (i = 1; i <= 3; i++) {
		EXPECT_EQ(i == 3 ? 8 : 0, raw_ring_take(r, &data));
		EXPECT_EQ(i, data);
	}
	EXPECT_EQ(1, value);
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, ready(self->set));
}

TEST_F(by_ring, event_is_not_read_after_the_entering)
{
	struct epoll_event *event = calloc(1, sizeof(*event));
	struct raw_ring *r = &self->ring;
	int fd = eventfd_new();

	event->events = EPOLLIN;
	event->data.fd = fd;
	prepare(r, self->set, EPOLL_CTL_ADD, fd, event)->flags = IOSQE_ASYNC;
	raw_ring_push(r);
	ASSERT_EQ(1, raw_ring_enter(r->fd, 1, 0));
	memset(event, 0xa5, sizeof(*event));
	ASSERT_EQ(0, raw_ring_enter(r->fd, 0, 1));
	EXPECT_EQ(0, raw_ring_take(r, NULL));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, ready(self->set));
	free(event);
}

TEST_F(by_ring, child_of_fork_goes_on_with_the_ring)
{
	pid_t child = fork();

	if (child == 0)
		_exit(!works_by(&self->ring, self->set));
	EXPECT_EQ(0, reap(child));
	EXPECT_TRUE(works_by(&self->ring, self->set));
}

TEST_F(by_ring, duplicate_is_the_same_ring)
{
	struct raw_ring *r = &self->ring;
	int fd = fcntl(r->fd, F_DUPFD, 1000);
	int other = r->fd;

	ASSERT_LE(1000, fd);
	r->fd = fd;
	EXPECT_TRUE(works_by(r, self->set));
	ASSERT_EQ(0, close(other));
	EXPECT_TRUE(works_by(r, self->set));
	/* The first number names something else now. */
	ASSERT_EQ(other, dup2(self->set, other));
	EXPECT_EQ(-EOPNOTSUPP, raw_ring_enter(other, 1, 0));
	EXPECT_TRUE(works_by(r, self->set));
}

TEST_F(by_ring, numbers_of_rings_are_used_again)
{
	struct raw_ring rings[3];
	int i, round, number = self->ring.fd;

	raw_ring_close(&self->ring);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, raw_ring_open(&rings[i], variant->setup,
						   4 << (i + round) % 3));
		EXPECT_EQ(number, rings[0].fd);
		for (i = 0; i < 3; i++)
			EXPECT_TRUE(works_by(&rings[i], self->set));
		for (i = 0; i < 3; i++)
			raw_ring_close(&rings[i]);
	}
}

TEST_F(by_ring, ring_ends_when_the_program_closes_it)
{
	struct raw_ring *r = &self->ring;
	struct io_uring_sqe *sqe;
	int fds[2], value;

	ASSERT_EQ(0, pipe_pair(fds));
	EXPECT_TRUE(works_by(r, self->set));
	/* It holds the only reading end. */
	sqe = raw_ring_next(r);
	sqe->opcode = IORING_OP_READ;
	sqe->fd = fds[0];
	sqe->addr = (uintptr_t)&value;
	sqe->len = sizeof(value);
	raw_ring_push(r);
	ASSERT_EQ(1, raw_ring_enter(r->fd, 1, 0));
	ASSERT_EQ(0, close(fds[0]));
	raw_ring_close(r);
	signal(SIGPIPE, SIG_IGN);
	EXPECT_TRUE(await(write(fds[1], "x", 1) == -1 && errno == EPIPE));
}

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

TEST_F(by_ring, set_works_where_a_filter_refuses_fadvise)
{
	ASSERT_EQ(0, refuse_fadvise(EPERM));
	EXPECT_TRUE(works_by(&self->ring, self->set));
}

TEST(changes_pass_where_a_mapping_is_refused)
{
	int set = epoll_create1(0);
	struct raw_ring r;

	ASSERT_EQ(0, raw_ring_open(&r, 0, RAW_ENTRIES));
#ifdef SYS_mmap2
	ASSERT_EQ(0, refuse_call(SYS_mmap2, ENOMEM));
#else
	ASSERT_EQ(0, refuse_call(SYS_mmap, ENOMEM));
#endif
	EXPECT_EQ(-EINVAL, change(&r, set, EPOLL_CTL_ADD, r.fd, EPOLLIN));
	EXPECT_TRUE(works(set));
}

/* A set has been made before this program began. */
TEST(ring_that_the_kernel_polls_is_refused)
{
	int set = epoll_create1(0);
	struct raw_ring r;

	EXPECT_EQ(-EPERM, raw_ring_open(&r, IORING_SETUP_SQPOLL, RAW_ENTRIES));
	EXPECT_EQ(0, raw_ring_open(&r, 0, RAW_ENTRIES));
	EXPECT_TRUE(works_by(&r, set));
}

TEST(ring_whose_entries_can_not_be_found_is_refused)
{
	const unsigned int kinds[] = {
		RAW_SETUP_NO_MMAP, RAW_SETUP_NO_MMAP |
		RAW_SETUP_REGISTERED_ONLY, RAW_SETUP_UNKNOWN,
	};
	struct io_uring_params params;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		memset(&params, 0, sizeof(params));
		params.flags = kinds[i];
		errno = 0;
		EXPECT_EQ(-1, syscall(SYS_io_uring_setup, 4, &params));
		EXPECT_EQ(EINVAL, errno);
	}
	errno = 0;
	EXPECT_EQ(-1, syscall(SYS_io_uring_setup, 4, NULL));
	EXPECT_EQ(EFAULT, errno);
}

TEST(ring_is_not_registered_under_another_number)
{
	int set = epoll_create1(0);
	struct io_uring_rsrc_update update;
	struct raw_ring r;

	ASSERT_EQ(0, raw_ring_open(&r, 0, RAW_ENTRIES));
	memset(&update, 0, sizeof(update));
	update.offset = -1U;
	update.data = r.fd;
	errno = 0;
	EXPECT_EQ(-1, syscall(SYS_io_uring_register, r.fd,
			      RAW_REGISTER_RING_FDS, &update, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_TRUE(works_by(&r, set));
	/* All else is passed on. */
	EXPECT_EQ(0, syscall(SYS_io_uring_register, r.fd,
			     IORING_REGISTER_FILES, &set, 1));
	EXPECT_EQ(0, syscall(SYS_io_uring_register, r.fd,
			     IORING_UNREGISTER_FILES, NULL, 0));
}

TEST_HARNESS_MAIN

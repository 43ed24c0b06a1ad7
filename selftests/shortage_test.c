// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation and every copy from or to user memory fails once, one after
 * the other, in each call of the extended interface.  It then fails with a
 * clear errno, leaves the set as it was, loses no event, and works the next
 * time.
 *
 * Needs a kernel with fault injection.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "eset.h"
#include "failnth.h"

#define NR	20	/* more than the kernel handles at a time */

struct world {
	int fail_nth;
	struct eset set;
	int fd;			/* what is added */
	int event;		/* in the set, one-shot, ready */
	int many[NR];
	struct devepoll_change changes[NR];
	uint32_t failed;
};

FIXTURE(shortage) {
	struct world w;
};

FIXTURE_SETUP(shortage)
{
	int i;

	self->w.fail_nth = failnth_open();
	if (self->w.fail_nth == -ENOSYS)
		SKIP(return, "no fault injection in this kernel");
	ASSERT_LE(0, self->w.fail_nth);
	ASSERT_EQ(0, eset_open(&self->w.set, &eset_devepoll));
	self->w.event = eventfd_new();
	ASSERT_LE(0, self->w.event);
	ASSERT_EQ(0, eset_add(&self->w.set, self->w.event,
			      EPOLLOUT | EPOLLONESHOT));
	for (i = 0; i < NR; i++) {
		self->w.many[i] = eventfd_new();
		ASSERT_LE(0, self->w.many[i]);
	}
	self->w.fd = self->w.many[0];
}

FIXTURE_TEARDOWN(shortage)
{
	if (self->w.fail_nth < 0)
		return;
	eset_close(&self->w.set);
	close(self->w.fail_nth);
}

static int walk(struct world *w, int (*call)(struct world *w),
		bool (*check)(struct world *w, int ret, bool hit))
{
	return failnth_walk(w->fail_nth, w, call, check);
}

static bool is_clear(int ret, bool hit)
{
	return hit ? ret == -ENOMEM || ret == -EFAULT : !ret;
}

static int call_add(struct world *w)
{
	return eset_add(&w->set, w->fd, EPOLLIN | EPOLLOUT);
}

static int call_add_by_fadvise(struct world *w)
{
	struct epoll_event event = { .events = EPOLLIN };

	return dep_epoll_ctl(w->set.fd, EPOLL_CTL_ADD, w->fd, &event);
}

static bool check_add(struct world *w, int ret, bool hit)
{
	/* A failure need not matter: the call may have made up for it. */
	if (ret && !is_clear(ret, hit))
		return false;
	if (eset_del(&w->set, w->fd) != (ret ? -ENOENT : 0))
		return false;
	return !eset_add(&w->set, w->fd, EPOLLOUT) &&
	       !eset_del(&w->set, w->fd);
}

TEST_F(shortage, fails_an_add_of_a_file)
{
	EXPECT_LT(0, walk(&self->w, call_add, check_add));
	EXPECT_LT(0, walk(&self->w, call_add_by_fadvise, check_add));
}

TEST_F(shortage, fails_an_add_of_a_file_with_two_wait_queues)
{
	const char *path = "/tmp/devepoll-shortage";

	unlink(path);
	ASSERT_EQ(0, mkfifo(path, 0600));
	self->w.fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	ASSERT_EQ(0, unlink(path));
	ASSERT_LE(0, self->w.fd);
	EXPECT_LT(0, walk(&self->w, call_add, check_add));
}

TEST_F(shortage, fails_an_add_of_a_set)
{
	struct eset inner;

	ASSERT_EQ(0, eset_open(&inner, &eset_devepoll));
	ASSERT_EQ(0, eset_add(&inner, self->w.many[1], EPOLLOUT));
	self->w.fd = inner.fd;
	EXPECT_LT(0, walk(&self->w, call_add, check_add));
	/* No edge is left behind that forbade the other way round. */
	EXPECT_EQ(0, eset_add(&inner, self->w.set.fd, EPOLLIN));
	eset_close(&inner);
}

static int call_change(struct world *w)
{
	return eset_mod(&w->set, w->fd, EPOLLIN | EPOLLOUT);
}

static bool check_change(struct world *w, int ret, bool hit)
{
	int n;

	if (ret && !is_clear(ret, hit))
		return false;
	/* It asks for output after the change, and did not before. */
	n = eset_wait_one(&w->set, w->fd, 0);
	if (n != (ret ? -ENOMSG : EPOLLOUT))
		return false;
	return !eset_mod(&w->set, w->fd, EPOLLIN);
}

TEST_F(shortage, fails_a_change)
{
	ASSERT_EQ(1, eset_drain(&self->w.set));
	ASSERT_EQ(0, eset_add(&self->w.set, self->w.fd, EPOLLIN));
	/* If it takes no memory, nothing can fail. */
	EXPECT_LE(0, walk(&self->w, call_change, check_change));
}

static int change_edge(struct world *w, unsigned int flags, int op,
		       uint32_t events)
{
	struct devepoll_change change = {
		.op = op,
		.flags = flags,
		.fd = w->fd,
		.events = events | EPOLLET,
		.data = w->fd,
	};

	return dep_change(w->set.fd, &change);
}

/* In the child, what the result of a change with the @n-th failure means. */
enum { CHANGED, NO_MEMORY, FAULT, MENDED, WRONG };

static int change_by_child(struct world *w, unsigned int flags, int n)
{
	pid_t pid = fork();
	int nth, ret;
	bool hit;

	if (pid)
		return reap(pid);
	nth = failnth_open();
	failnth_arm(nth, n);
	ret = change_edge(w, flags, DEVEPOLL_MOD, EPOLLIN | EPOLLPRI);
	hit = failnth_disarm(nth);
	if (!ret)
		_exit(hit ? MENDED : CHANGED);
	if (!is_clear(ret, hit))
		_exit(WRONG);
	_exit(ret == -ENOMEM ? NO_MEMORY : FAULT);
}

/*
 * A signalfd has a wait queue for each process that changes it, so a change by
 * a child takes memory.
 */
static void walk_change(struct __test_metadata *_metadata, struct world *w,
			unsigned int flags, bool taken)
{
	int n, result = MENDED, failed = 0;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &mask, NULL));
	ASSERT_EQ(0, raise(SIGUSR1));
	ASSERT_EQ(1, eset_drain(&w->set));
	w->fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	ASSERT_LE(0, w->fd);

	for (n = 1; result != CHANGED && n < MOST_POINTS; n++) {
		ASSERT_EQ(0, change_edge(w, flags, DEVEPOLL_ADD, EPOLLIN));
		if (taken)
			ASSERT_EQ(EPOLLIN, eset_wait_one(&w->set, w->fd, 0));
		result = change_by_child(w, flags, n);
		ASSERT_LE(0, result);
		ASSERT_GT(WRONG, result);
		failed += result == NO_MEMORY;
		if (result == NO_MEMORY || (result == FAULT && !taken))
			EXPECT_EQ(EPOLLIN, eset_wait_one(&w->set, w->fd, 0))
				TH_LOG("failure %d", n);
		ASSERT_EQ(0, eset_del(&w->set, w->fd));
	}
	EXPECT_EQ(CHANGED, result);
	EXPECT_LT(0, failed);
}

TEST_F(shortage, of_a_change_keeps_what_a_trusted_file_was_told)
{
	walk_change(_metadata, &self->w, DEVEPOLL_TRUST, false);
}

/* Wake-ups during the change were not evaluated, so it reports again. */
TEST_F(shortage, of_a_change_makes_the_file_be_asked)
{
	walk_change(_metadata, &self->w, 0, true);
}

static int call_batch(struct world *w)
{
	int i;

	for (i = 0; i < NR; i++)
		w->changes[i] = (struct devepoll_change){
			.op = DEVEPOLL_ADD,
			.flags = DEVEPOLL_TELL_CLOSED,
			.fd = w->many[i],
			.events = EPOLLIN,
			.result = 1,
		};
	return dep_changes(w->set.fd, w->changes, NR, &w->failed);
}

/* Each result is true, and so are the counts. */
static bool check_batch(struct world *w, int ret, bool hit)
{
	uint32_t failed = 0;
	int i, result;

	if (ret < 0 ? !hit || ret != -EFAULT : ret != NR && !hit)
		return false;
	for (i = 0; i < NR; i++) {
		result = i < ret ? w->changes[i].result : -ENOENT;
		failed += i < ret && result;
		if (i < ret && result && result != -ENOMEM)
			return false;
		if (eset_del(&w->set, w->many[i]) != (result ? -ENOENT : 0))
			return false;
	}
	return ret < 0 || failed == w->failed;
}

TEST_F(shortage, fails_some_of_many_changes)
{
	EXPECT_LT(NR, walk(&self->w, call_batch, check_batch));
}

static int call_wait(struct world *w)
{
	struct devepoll_event out;
	int n = dep_wait(w->set.fd, &out, 1, 0);

	return n == 1 && out.data != (uint64_t)w->event ? -EBADMSG : n;
}

static int call_wait_by_fadvise(struct world *w)
{
	struct epoll_event out;

	return dep_epoll_wait(w->set.fd, &out, 1, 0);
}

static int call_wait_with_change(struct world *w)
{
	struct devepoll_event out;
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.fd = w->fd,
		.events = EPOLLIN,
	};
	struct devepoll_wait_args args = {
		.events = address_of(&out),
		.max_events = 1,
		.changes = address_of(&change),
		.nr_changes = 1,
		.change_size = sizeof(change),
	};
	int ret = dep_request(w->set.fd, DEVEPOLL_WAIT, &args);

	eset_del(&w->set, w->fd);
	return ret;
}

/* The event is taken or is still there. */
static bool check_wait(struct world *w, int ret, bool hit)
{
	if (ret != 1 && !(hit && (ret == -EFAULT || ret == -ENOMEM)))
		return false;
	if (eset_wait_one(&w->set, w->event, 0) !=
	    (ret == 1 ? -ENOMSG : EPOLLOUT))
		return false;
	return !eset_mod(&w->set, w->event, EPOLLOUT | EPOLLONESHOT);
}

TEST_F(shortage, fails_a_wait_and_loses_no_event)
{
	EXPECT_LE(0, walk(&self->w, call_wait, check_wait));
	EXPECT_LE(0, walk(&self->w, call_wait_by_fadvise, check_wait));
	EXPECT_LT(0, walk(&self->w, call_wait_with_change, check_wait));
}

static int call_map(struct world *w)
{
	void *map;
	int ret;

	ret = dep_open();
	if (ret < 0)
		return ret;
	w->fd = ret;
	map = dep_map_events(w->fd, 8 * getpagesize());
	ret = map == MAP_FAILED ? -errno : 0;
	if (!ret && munmap(map, 8 * getpagesize()))
		return -errno;
	return ret;
}

/* Nothing was made, so another size is possible. */
static bool check_map(struct world *w, int ret, bool hit)
{
	bool good = !ret || is_clear(ret, hit);
	void *map;

	if (w->fd >= 0 && ret) {
		map = dep_map_events(w->fd, 3 * getpagesize());
		if (map != MAP_FAILED)
			munmap(map, 3 * getpagesize());
		else
			good = good && errno == EINVAL;
	}
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	return good;
}

TEST_F(shortage, fails_a_mapping)
{
	self->w.fd = -1;
	EXPECT_LT(8, walk(&self->w, call_map, check_map));
}

static int call_stats(struct world *w)
{
	struct devepoll_stats stats;

	return dep_request(w->set.fd, DEVEPOLL_STATS, &stats);
}

static bool check_stats(struct world *w, int ret, bool hit)
{
	return ret == 0 || (hit && ret == -EFAULT);
}

TEST_F(shortage, fails_to_tell_numbers)
{
	EXPECT_LT(0, walk(&self->w, call_stats, check_stats));
}

/* Removing and closing need no memory. */
static int call_close(struct world *w)
{
	return close(w->fd) ? -errno : 0;
}

static bool check_close(struct world *w, int ret, bool hit)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TELL_CLOSED,
		.events = EPOLLIN,
		.data = 4711,
	};

	if (ret || eset_wait_one(&w->set, 4711, 0) != DEVEPOLL_CLOSED)
		return false;
	w->fd = eventfd_new();
	change.fd = w->fd;
	return !dep_change(w->set.fd, &change);
}

TEST_F(shortage, does_not_keep_a_last_event_back)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TELL_CLOSED,
		.fd = self->w.fd,
		.events = EPOLLIN,
		.data = 4711,
	};

	ASSERT_EQ(1, eset_drain(&self->w.set));
	ASSERT_EQ(0, dep_change(self->w.set.fd, &change));
	EXPECT_LE(0, walk(&self->w, call_close, check_close));
}

TEST_HARNESS_MAIN

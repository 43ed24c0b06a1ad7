// SPDX-License-Identifier: GPL-2.0
/*
 * What all users share: no user can use it up for others, not even through
 * users of their own namespaces, and something is left for root.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/limits.h"
#include "core/onesig.h"

#define FIRST		1000
/* Watches of one file, and how many of them are not reserved for root. */
#define ITEMS		4096
#define SHARED		(ITEMS - ITEMS / 16)
/* How many of them the first person gets, and the next. */
#define HALF		(SHARED / 2)
#define NEXT		(HALF / 2)
#define PERSON		45300
#define SUBUIDS		500000
/* Signals, and those not reserved for root; sets of one user's many users. */
#define SIGNALS		1600
#define SIGNALS_OTHERS	(SIGNALS - SIGNALS / 16)
#define QUEUES		300
#define SIGNALS_FILE	"/sys/module/devepoll/parameters/max_signals"
/* One person's sets, and others' that have one each, with so many pollers. */
#define CROWD		64
#define OTHERS		32
#define POLLERS		9

/*
 * A process that takes all it can, and holds it until it is dismissed: as user
 * @owner or, if @inside is set, as user @inside of a namespace of @owner's.
 */
struct taker {
	pid_t pid;
	int go;
	long got;
};

static int tell(int fd, long n)
{
	return write(fd, &n, sizeof(n)) == sizeof(n) ? 0 : -EIO;
}

static long hear(int fd)
{
	long n;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : -EIO;
}

/* In the child; what it took, or -errno. */
static long taker_take(uid_t owner, uid_t inside, int go, int told,
		       long (*take)(void))
{
	int err = owner ? become(owner) : 0;

	if (!err && inside) {
		if (unshare(CLONE_NEWUSER) || tell(told, 0) || hear(go))
			return -EPROTO;
		/* The namespace's root, which may become any of its users. */
		if (setresuid(0, 0, 0) || setresuid(inside, inside, 0))
			return -errno;
	}
	return err ? err : take();
}

/* Root gives the namespace its users, as newuidmap(1) would. */
static int map_users(pid_t pid)
{
	char path[64], map[64];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	snprintf(map, sizeof(map), "0 %d 1000\n", SUBUIDS);
	return write_text(path, map);
}

static void taker_start(struct taker *t, uid_t owner, uid_t inside,
			long (*take)(void))
{
	int go[2], told[2];

	t->got = -ECHILD;
	if (pipe2(go, O_CLOEXEC) || pipe2(told, O_CLOEXEC))
		return;
	t->go = go[1];
	t->pid = fork();
	if (!t->pid) {
		close(go[1]);
		tell(told[1], taker_take(owner, inside, go[0], told[1], take));
		/* Until it is dismissed. */
		hear(go[0]);
		_exit(0);
	}
	close(go[0]);
	close(told[1]);
	t->got = inside ? hear(told[0]) : 0;
	if (inside && !t->got)
		tell(t->go, map_users(t->pid));
	if (!t->got)
		t->got = hear(told[0]);
	close(told[0]);
}

static void taker_dismiss(struct taker *t)
{
	/* Those that came later have inherited this end, too. */
	tell(t->go, 0);
	close(t->go);
	reap(t->pid);
}

/* Adds numbers of the file to a set until there is no room; how many. */
static long fill_set(int set, int most)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD, .events = EPOLLIN,
	};
	int n, err = 0;

	for (n = 0; n < most; n++) {
		change.fd = FIRST + n;
		err = dep_change(set, &change);
		if (err)
			return err == -ENOSPC ? n : err;
	}
	return n;
}

static long take_watches(void)
{
	return fill_set(dep_open(), ITEMS + 10);
}

static long take_signals(void)
{
	return fill_set(onesig_open(ONESIG_SIGNAL, 0), SIGNALS + 10);
}

/* Signal sets of this many users, all of this namespace. */
static long take_queues(void)
{
	int n, set;

	for (n = 0; n < QUEUES; n++) {
		if (setresuid(1 + n, 1 + n, 0))
			return -errno;
		set = onesig_open(ONESIG_SIGNAL, 0);
		if (set < 0)
			return set == -ENOSPC ? n : set;
		if (setresuid(0, 0, 0))
			return -errno;
	}
	return n;
}

static long take_queue(void)
{
	int set = onesig_open(ONESIG_SIGNAL, 0);

	return set < 0 ? set : 1;
}

FIXTURE(person) {
	int event;
	struct taker a, b, c, d;
};

FIXTURE_SETUP(person)
{
	if (geteuid())
		SKIP(return, "needs root");
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, raise_fd_limit(FIRST + ITEMS + 20));
	ASSERT_EQ(0, dup_range(self->event, FIRST, ITEMS + 10));
}

FIXTURE_TEARDOWN(person)
{
}

TEST_F(person, leaves_as_many_watches_of_a_file_as_he_takes)
{
	taker_start(&self->a, PERSON, 0, take_watches);
	EXPECT_EQ(HALF, self->a.got);
	taker_start(&self->b, PERSON + 1, 0, take_watches);
	EXPECT_EQ(NEXT, self->b.got);
	taker_start(&self->c, PERSON + 2, 0, take_watches);
	EXPECT_EQ(NEXT / 2, self->c.got);
	/* What is left is root's, to the last one. */
	taker_start(&self->d, 0, 0, take_watches);
	EXPECT_EQ(ITEMS - HALF - NEXT - NEXT / 2, self->d.got);
	taker_dismiss(&self->c);
	taker_dismiss(&self->d);
	taker_dismiss(&self->b);
	/* A user who comes again gets what others gave back. */
	taker_start(&self->b, PERSON + 3, 0, take_watches);
	EXPECT_EQ(NEXT, self->b.got);
	taker_dismiss(&self->b);
	taker_dismiss(&self->a);
}

TEST_F(person, is_one_with_all_users_of_his_namespaces)
{
	taker_start(&self->a, PERSON, 1, take_watches);
	EXPECT_EQ(HALF, self->a.got);
	taker_start(&self->b, PERSON, 2, take_watches);
	EXPECT_EQ(0, self->b.got);
	taker_start(&self->c, PERSON, 0, take_watches);
	EXPECT_EQ(0, self->c.got);
	taker_start(&self->d, PERSON + 1, 0, take_watches);
	EXPECT_EQ(NEXT, self->d.got);
	taker_dismiss(&self->a);
	taker_dismiss(&self->b);
	taker_dismiss(&self->c);
	taker_dismiss(&self->d);
}

/* As the namespaces of containers are. */
TEST_F(person, is_a_namespace_that_root_made)
{
	taker_start(&self->a, 0, 1, take_watches);
	EXPECT_EQ(HALF, self->a.got);
	taker_start(&self->b, 0, 1, take_watches);
	EXPECT_EQ(NEXT, self->b.got);
	taker_start(&self->c, 0, 0, take_watches);
	EXPECT_EQ(ITEMS - HALF - NEXT, self->c.got);
	taker_dismiss(&self->a);
	taker_dismiss(&self->b);
	taker_dismiss(&self->c);
}

TEST_F(person, leaves_as_many_signals_as_he_takes)
{
	long most = read_number(SIGNALS_FILE);

	ASSERT_LT(0, most);
	ASSERT_EQ(0, write_number(SIGNALS_FILE, SIGNALS));
	taker_start(&self->a, PERSON, 1, take_signals);
	taker_start(&self->b, PERSON, 0, take_signals);
	taker_start(&self->c, PERSON + 1, 0, take_signals);
	taker_start(&self->d, 0, 0, take_signals);
	EXPECT_EQ(0, write_number(SIGNALS_FILE, most));
	EXPECT_EQ(SIGNALS_OTHERS / 2, self->a.got);
	EXPECT_EQ(0, self->b.got);
	EXPECT_EQ(SIGNALS_OTHERS / 4, self->c.got);
	EXPECT_EQ(SIGNALS - self->a.got - self->c.got, self->d.got);
	taker_dismiss(&self->a);
	taker_dismiss(&self->b);
	taker_dismiss(&self->c);
	taker_dismiss(&self->d);
}

TEST_F(person, has_one_queue_for_all_his_users)
{
	/* More users of one than there are queues, and two of others. */
	taker_start(&self->a, PERSON, 1, take_queues);
	EXPECT_EQ(QUEUES, self->a.got);
	taker_start(&self->b, PERSON + 1, 0, take_queue);
	EXPECT_EQ(1, self->b.got);
	taker_start(&self->c, 0, 0, take_queue);
	EXPECT_EQ(1, self->c.got);
	taker_dismiss(&self->a);
	taker_dismiss(&self->b);
	taker_dismiss(&self->c);
}

/* A set of this user that watches the event, in each of the epoll sets. */
static int add_polled(uid_t uid, int event, const int *pollers)
{
	struct epoll_event add = { .events = EPOLLIN | EPOLLET };
	int i, ret, set;

	if (setresuid(uid, uid, 0))
		return -errno;
	set = dep_open();
	if (setresuid(0, 0, 0) || set < 0)
		return set < 0 ? set : -errno;
	ret = dep_epoll_ctl(set, EPOLL_CTL_ADD, event, &add);
	add.data.fd = set;
	for (i = 0; i < POLLERS && !ret; i++) {
		if (epoll_ctl(pollers[i], EPOLL_CTL_ADD, set, &add))
			ret = -errno;
	}
	return ret;
}

/*
 * A worker tells the pollers, since they are many.  It has all sets before it
 * runs; and this task, of real time, looks as soon as the last set of the others
 * has told it.  Returns how many sets of the crowd were told before, or -errno.
 */
static int crowd_told_before(int crowd, int others, const int *crowd_pollers,
			     const int *other_pollers)
{
	struct sched_param normal = { 0 }, real_time = { .sched_priority = 50 };
	struct epoll_event out[CROWD];
	int ret, n, told = 0;

	if (sched_setscheduler(0, SCHED_FIFO, &real_time))
		return -errno;
	ret = eventfd_post(crowd) ?: eventfd_post(others);
	while (!ret && told < OTHERS) {
		n = epoll_wait(other_pollers[0], out, OTHERS, 10000);
		if (n <= 0)
			ret = n ? -errno : -ETIMEDOUT;
		told += n;
	}
	if (!ret)
		ret = epoll_wait(crowd_pollers[0], out, CROWD, 0);
	sched_setscheduler(0, SCHED_OTHER, &normal);
	return ret;
}

TEST_F(person, waits_behind_no_sets_of_another)
{
	int crowd[POLLERS], others[POLLERS], other_event = eventfd_new(), i;

	ASSERT_LE(0, other_event);
	ASSERT_EQ(0, pin_to_cpu(0));
	for (i = 0; i < POLLERS; i++) {
		crowd[i] = epoll_create1(EPOLL_CLOEXEC);
		others[i] = epoll_create1(EPOLL_CLOEXEC);
		ASSERT_LE(0, crowd[i]);
		ASSERT_LE(0, others[i]);
	}
	for (i = 0; i < CROWD; i++)
		ASSERT_EQ(0, add_polled(PERSON, self->event, crowd));
	for (i = 0; i < OTHERS; i++)
		ASSERT_EQ(0, add_polled(PERSON + 1 + i, other_event, others));
	/* Each has one turn, in any order, while a helper may have another. */
	i = crowd_told_before(self->event, other_event, crowd, others);
	EXPECT_LE(0, i);
	EXPECT_GE(CROWD / 4, i);
	TH_LOG("%d of %d sets of one user before those of %d others", i, CROWD,
	       OTHERS);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * A process that adds an fd to a set of others becomes an owner, which may take
 * memory.  Each allocation and each copy of the first of two such adds fails, and
 * with it each third one of the second, or each with $DEVEPOLL_DEEP: an add that
 * fails changes nothing, and one that succeeds works, whether or not the failure
 * left room for the next owner.
 *
 * Needs a kernel with fault injection.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/shortage.h"

/* One more than the owners for which a set has room of its own. */
#define EARLIER	3

/* What the n-th failure made of an add. */
enum { ADDED, ADDED_IN_SPITE, NO_MEMORY, FAULT, WRONG };

/* By a process that ends; the file stays open here.  If @n is 0, none fails. */
static int add_by_child(struct world *w, int fd, int n)
{
	pid_t pid = fork();
	int nth, ret;
	bool hit;

	if (pid)
		return reap(pid);
	nth = failnth_open();
	failnth_arm(nth, n);
	ret = eset_add(&w->set, fd, EPOLLIN | EPOLLET);
	hit = failnth_disarm(nth) && n;
	if (!ret)
		_exit(hit ? ADDED_IN_SPITE : ADDED);
	if (!is_clear(ret, hit))
		_exit(WRONG);
	_exit(ret == -ENOMEM ? NO_MEMORY : FAULT);
}

/* Nobody but this process waits, which takes the place of those that ended. */
static bool is_watched(struct world *w, int fd)
{
	return !eventfd_post(fd) &&
	       eset_wait_one(&w->set, fd, 0) == EPOLLIN && !eventfd_take(fd) &&
	       !eset_del(&w->set, fd);
}

static bool is_as_told(struct world *w, int fd, int result)
{
	if (result == ADDED || result == ADDED_IN_SPITE)
		return is_watched(w, fd);
	return (result == NO_MEMORY || result == FAULT) &&
	       eset_del(&w->set, fd) == -ENOENT;
}

/* A set keeps the memory of an owner for the next one: a new set has none. */
static bool renew(struct world *w)
{
	eset_close(&w->set);
	return !eset_open(&w->set, &eset_devepoll) &&
	       !eset_add(&w->set, w->event, EPOLLPRI);
}

/* Returns what came of the second add, or -1 if a result was wrong. */
static int add_twice(struct world *w, int n, int m, int *first)
{
	int i, second;

	if (!renew(w))
		return -1;
	for (i = 0; i < EARLIER; i++) {
		if (add_by_child(w, w->many[i], 0) != ADDED)
			return -1;
	}
	*first = add_by_child(w, w->many[EARLIER], n);
	second = add_by_child(w, w->many[EARLIER + 1], m);
	for (i = 0; i < EARLIER; i++) {
		if (!is_watched(w, w->many[i]))
			return -1;
	}
	if (!is_as_told(w, w->many[EARLIER], *first) ||
	    !is_as_told(w, w->many[EARLIER + 1], second))
		return -1;
	return second;
}

TEST_F(shortage, of_an_owner_fails_the_add_alone)
{
	const int apart = getenv("DEVEPOLL_DEEP") ? 1 : 3;
	int n, m, first = FAULT, second, failed = 0;

	for (n = 1; first != ADDED && n < MOST_POINTS; n++) {
		second = FAULT;
		for (m = 1 + n % apart; second != ADDED && m < MOST_POINTS;
		     m += apart) {
			second = add_twice(&self->w, n, m, &first);
			ASSERT_LE(0, second)
				TH_LOG("failures %d and %d", n, m);
			failed += first == NO_MEMORY || second == NO_MEMORY;
		}
	}
	EXPECT_EQ(ADDED, first);
	EXPECT_LT(0, failed);
	TH_LOG("%d points, %d pairs failed", n - 1, failed);
}

TEST_HARNESS_MAIN

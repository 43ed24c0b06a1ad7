// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what it costs a process with a set to enter a ring of io_uring.  Run
 * with and without the preload, it shows what the inspection of the ring adds.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "../../selftests/core/raw_ring.h"
#include "sample.h"

#define ROUNDS	1000
/* As many as the ring has by which libuv changes its sets. */
#define ENTRIES	256

struct case_of {
	const char *name;
	unsigned int entries;
	bool change;
};

static const struct case_of cases[] = {
	{ "no entry", 0, false },
	{ "1 entry, NOP", 1, false },
	{ "16 entries, NOP", 16, false },
	{ "1 entry, EPOLL_CTL", 1, true },
	{ "16 entries, EPOLL_CTL", 16, true },
};

static void prepare(struct raw_ring *r, bool change, int set, int fd,
		    const struct epoll_event *event)
{
	struct io_uring_sqe *sqe = raw_ring_next(r);

	sqe->opcode = IORING_OP_NOP;
	if (change) {
		sqe->opcode = IORING_OP_EPOLL_CTL;
		sqe->fd = set;
		sqe->off = fd;
		sqe->addr = (uintptr_t)event;
		sqe->len = EPOLL_CTL_MOD;
	}
	raw_ring_push(r);
}

static double measure(struct raw_ring *r, const struct case_of *c, int set)
{
	struct epoll_event event = { .events = EPOLLIN };
	static struct series series;
	int fd = eventfd(0, 0);
	unsigned int i, n;

	if (fd < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		for (n = 0; n < c->entries; n++)
			prepare(r, c->change, set, fd, &event);
		series_begin(&series);
		n = raw_ring_enter(r->fd, c->entries, 0);
		series_end(&series);
		if (n != c->entries)
			errx(1, "%s: %u were taken", c->name, n);
		for (n = 0; n < c->entries; n++) {
			if (raw_ring_take(r, NULL))
				errx(1, "%s: failed", c->name);
		}
	}
	close(fd);
	return series_median(&series);
}

int main(void)
{
	int set = epoll_create1(EPOLL_CLOEXEC);
	struct raw_ring r;
	unsigned int i;
	int ret;

	counter_calibrate();
	if (!counter_is_exact())
		errx(1, "the counter does not count instructions");
	ret = set < 0 ? -errno : raw_ring_open(&r, 0, ENTRIES);
	if (ret)
		errx(1, "no set or no ring: %d", ret);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		printf("%-24s%8.0f\n", cases[i].name,
		       measure(&r, &cases[i], set));
	return 0;
}

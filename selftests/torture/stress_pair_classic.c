// SPDX-License-Identifier: GPL-2.0
/* How the stress program looks for lost wake-ups in the interface of 2001. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "torture/stress_pair.h"

static bool classic_write(int set, int fd, short events)
{
	struct pollfd req = { .fd = fd, .events = events };

	return write(set, &req, sizeof(req)) == sizeof(req);
}

static bool classic_open(struct pair *p)
{
	int fds[2];

	if (file_make(FILE_DEVEPOLL, fds) ||
	    ioctl(fds[0], EP_ALLOC, PAIR_FDS))
		return false;
	p->set = fds[0];
	p->map = mmap(NULL, EP_MAP_SIZE(PAIR_FDS), PROT_READ, MAP_SHARED,
		      p->set, 0);
	return p->map != MAP_FAILED;
}

static bool classic_add(struct pair *p, struct pair_file *f, unsigned int nr)
{
	(void)nr;
	return classic_write(p->set, f->rfd, POLLIN);
}

static bool classic_swap(struct pair *p, const struct pair_file *f)
{
	struct pollfd swap[2] = {
		{ .fd = f->rfd, .events = POLLREMOVE },
		{ .fd = f->rfd, .events = POLLIN },
	};

	return write(p->set, swap, sizeof(swap)) == sizeof(swap);
}

static bool classic_change(struct pair *p, const struct pair_file *f)
{
	return classic_write(p->set, f->rfd, POLLIN | POLLRDNORM);
}

static void classic_visit(const struct pair_file *f, struct rng *rng)
{
	int fds[2];

	if (file_make(FILE_DEVEPOLL, fds))
		return;
	if (!ioctl(fds[0], EP_ALLOC, 8)) {
		classic_write(fds[0], f->rfd, POLLIN | POLLHUP);
		if (rng_below(rng, 2))
			classic_write(fds[0], f->rfd, POLLREMOVE);
	}
	close(fds[0]);
}

static void classic_mix(struct pair *p, int fd, struct rng *rng)
{
	classic_write(p->set, fd, POLLIN | POLLHUP | POLLERR);
	if (rng_below(rng, 4) == 0)
		classic_write(p->set, fd, POLLREMOVE);
}

static int classic_wait(struct pair *p, unsigned int consumer, int *fds,
			int max)
{
	struct evpoll ev = { .ep_timeout = -1 };
	const struct pollfd *res;
	int i, n;

	(void)consumer;
	n = ioctl(p->set, EP_POLL, &ev);
	if (n == 0) {
		errno = ETIME;
		return -1;
	}
	res = (void *)((char *)p->map + ev.ep_resoff);
	for (i = 0; i < n && i < max; i++)
		fds[i] = res[i].fd;
	return n;
}

static bool classic_rearm(struct pair *p, const struct pair_file *f)
{
	(void)p;
	(void)f;
	return true;
}

static void classic_report(struct pair *p, const struct pair_file *f)
{
	struct evpoll ev = { .ep_timeout = 0 };
	struct pollfd is = { .fd = f->rfd };
	int there = ioctl(p->set, EP_ISPOLLED, &is);

	printf("# lost: in the set %d, events %#x; EP_POLL without waiting now returns %d\n",
	       there, is.events, ioctl(p->set, EP_POLL, &ev));
}

const struct pair_face pair_classic = {
	.name = "2001",
	.consumers = 1,
	.open = classic_open,
	.add = classic_add,
	.swap = classic_swap,
	.change = classic_change,
	.visit = classic_visit,
	.mix = classic_mix,
	.wait = classic_wait,
	.rearm = classic_rearm,
	.report = classic_report,
};

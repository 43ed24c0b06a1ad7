// SPDX-License-Identifier: GPL-2.0
/* The run that looks for lost events; lost.h tells how. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/lost.h"

/* Nothing has moved for so long: something was lost. */
#define STUCK_NS	(60000 * NSEC_PER_MSEC * slowness())
#define PASSING_PAUSE	200	/* microseconds */

struct producer {
	struct task task;
	struct lost *l;
	unsigned int nr;
	unsigned long posted;
};

struct consumer {
	struct task task;
	struct lost *l;
	unsigned int nr;
	unsigned long taken;
};

unsigned long lost_goal(unsigned long without)
{
	const char *text = getenv("DEVEPOLL_LOST_EVENTS");

	return text ? strtoul(text, NULL, 0) :
	       without / (slowness() * slowness());
}

void lost_name(struct lost *l, int fd, uint64_t data)
{
	atomic_store(&l->data_of[fd % LOST_NUMBERS], data);
}

uint64_t lost_data(struct lost *l, int fd)
{
	return atomic_load(&l->data_of[(unsigned int)fd % LOST_NUMBERS]);
}

static int file_open(struct lost_file *file, unsigned int kind)
{
	int fds[2], err = 0;

	file->counts = kind % 4 < 2;
	if (file->counts) {
		fds[0] = eventfd_new();
		fds[1] = fds[0];
	} else {
		err = kind % 4 == 2 ? pipe_pair(fds) :
				      unix_pair(fds, SOCK_STREAM);
	}
	file->in = fds[0];
	file->out = fds[1];
	return err ?: file->in < 0 ? file->in : 0;
}

static int file_post(const struct lost_file *file)
{
	return file->counts ? eventfd_post(file->out) : put_byte(file->out);
}

/* How many posts were there? */
static unsigned long file_take(const struct lost_file *file)
{
	char bytes[8];
	eventfd_t value;
	ssize_t n;

	if (file->counts)
		return eventfd_read(file->in, &value) ? 0 : value;
	n = read(file->in, bytes, sizeof(bytes));
	return n < 0 ? 0 : n;
}

/* Looks for one of its files whose last event was taken. */
static long produce(void *arg)
{
	struct producer *p = arg;
	struct lost *l = p->l;
	unsigned int i, passed = 0;

	pin_to_cpu(p->nr % cpus_online());
	for (i = p->nr; p->posted < l->goal; i += LOST_PRODUCERS) {
		struct lost_file *file = &l->files[i % LOST_FILES];

		if (atomic_load(&l->stop))
			break;
		if (atomic_load(&file->pending)) {
			if (++passed % LOST_FILES == 0)
				sched_yield();
			continue;
		}
		atomic_store(&file->pending, true);
		/* Before the post, so that no more are taken than posted. */
		atomic_fetch_add(&l->posted, 1);
		p->posted++;
		if (file_post(file))
			return -EPROTO;
	}
	return 0;
}

static int take(struct consumer *c, uint64_t data)
{
	struct lost *l = c->l;
	struct lost_file *file = &l->files[data];
	unsigned long n = file_take(file);
	int err = 0;

	/* Armed again before and after it may be posted to again. */
	if (n && c->taken % 2)
		atomic_store(&file->pending, false);
	if (l->way->taken)
		err = l->way->taken(l, file->in, data);
	if (n && !(c->taken % 2))
		atomic_store(&file->pending, false);
	c->taken += n;
	atomic_fetch_add(n ? &l->taken : &l->idle, n ?: 1);
	return err;
}

/* Those with odd generations are removed before they are closed. */
static void take_passing(struct lost *l, uint64_t generation, uint64_t gone)
{
	if (generation <= gone)
		atomic_fetch_add(generation % 2 ? &l->late_removed :
				 &l->late_closed, 1);
}

static long consume(void *arg)
{
	struct consumer *c = arg;
	struct lost *l = c->l;
	uint64_t data[LOST_OUT], gone;
	int i, n, err;

	while (!atomic_load(&l->stop)) {
		gone = atomic_load(&l->gone);
		n = l->way->wait(l, c->nr, data);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			if (data[i] < LOST_FILES) {
				err = take(c, data[i]);
				if (err)
					return err;
			} else if (data[i] >= LOST_PASSING) {
				take_passing(l, data[i] - LOST_PASSING, gone);
			} else if (data[i] != LOST_END) {
				atomic_fetch_add(&l->foreign, 1);
			}
		}
	}
	return 0;
}

/* Files that come and go; their events are not read. */
static long pass(void *arg)
{
	struct lost *l = arg;
	uint64_t generation = 0;
	unsigned int seed = 1;
	int fd, err;

	while (!atomic_load(&l->stop)) {
		fd = eventfd_new();
		generation++;
		lost_name(l, fd, LOST_PASSING + generation);
		err = l->way->add(l, fd, LOST_PASSING + generation,
				  l->way->events);
		if (err)
			return err;
		eventfd_post(fd);
		if (rand_r(&seed) % 4 == 0)
			usleep(rand_r(&seed) % PASSING_PAUSE);
		if (generation % 2) {
			err = l->way->del(l, fd);
			if (err)
				return err;
			atomic_store(&l->gone, generation);
			/* Too late for the set. */
			eventfd_post(fd);
			usleep(rand_r(&seed) % PASSING_PAUSE);
		}
		close(fd);
		atomic_store(&l->gone, generation);
		usleep(rand_r(&seed) % PASSING_PAUSE);
	}
	return generation;
}

static void tell_pending(struct lost *l)
{
	unsigned int i;

	for (i = 0; i < LOST_FILES; i++)
		if (atomic_load(&l->files[i].pending))
			printf("# %s: file %u is still pending, poll says %#x\n",
			       l->way->name, i,
			       poll_now(l->files[i].in, POLLIN));
}

/* Waits until all was taken; false if nothing moves any longer. */
static bool lost_settles(struct lost *l, unsigned long all)
{
	unsigned long taken, before = 0;
	uint64_t since = now_ns();

	while ((taken = atomic_load(&l->taken)) < all) {
		if (taken != before)
			since = now_ns();
		before = taken;
		if (now_ns() - since > STUCK_NS)
			return false;
		usleep(1000);
	}
	return true;
}

static int lost_open(struct lost *l)
{
	unsigned int i;
	int err;

	for (i = 0; i < LOST_CONSUMERS; i++)
		l->sets[i].fd = -1;
	err = l->way->open(l);
	for (i = 0; i < LOST_FILES && !err; i++) {
		err = file_open(&l->files[i], i);
		if (err)
			break;
		lost_name(l, l->files[i].in, i);
		err = l->way->add(l, l->files[i].in, i, l->way->events);
	}
	if (err)
		return err;
	l->end = eventfd_new();
	lost_name(l, l->end, LOST_END);
	/* Whatever the way, each consumer must see this one. */
	return l->way->add(l, l->end, LOST_END, EPOLLIN);
}

static bool consumers_end(struct lost *l, struct consumer *c)
{
	unsigned int i;
	bool ok = true;
	long ret;

	atomic_store(&l->stop, true);
	for (i = 0; i < l->way->consumers; i++) {
		/* An event may end only one of them. */
		ok &= await(({
			eventfd_post(l->end);
			atomic_load(&c[i].task.done);
		}));
		ret = task_join(&c[i].task);
		if (ret) {
			printf("# %s: a wait returned %ld\n", l->way->name,
			       ret);
			ok = false;
		}
	}
	return ok;
}

static bool start(struct lost *l, struct producer *p, struct consumer *c,
		  struct task *passing)
{
	unsigned int i;
	bool ok = true;

	for (i = 0; i < l->way->consumers; i++) {
		c[i] = (struct consumer){ .l = l, .nr = i };
		ok &= !task_start(&c[i].task, consume, &c[i]);
	}
	ok &= !task_start(passing, pass, l);
	for (i = 0; i < LOST_PRODUCERS; i++) {
		p[i] = (struct producer){ .l = l, .nr = i };
		ok &= !task_start(&p[i].task, produce, &p[i]);
	}
	return ok;
}

/* What remains when all threads have gone. */
static bool lost_counts_agree(struct lost *l, unsigned long all)
{
	unsigned int i, left = 0;

	for (i = 0; i < LOST_FILES; i++)
		left += poll_now(l->files[i].in, POLLIN) != 0;
	return !left && atomic_load(&l->posted) == all &&
	       atomic_load(&l->taken) == all &&
	       !atomic_load(&l->late_removed) &&
	       !atomic_load(&l->late_closed) && !atomic_load(&l->foreign);
}

int lost_run(struct lost *l, const struct lost_way *way, unsigned long goal)
{
	struct producer p[LOST_PRODUCERS];
	struct consumer c[LOST_CONSUMERS];
	unsigned long all = goal * LOST_PRODUCERS;
	struct task passing = {};
	uint64_t began = now_ns();
	bool ok;
	int err;
	long passed;

	*l = (struct lost){ .way = way, .goal = goal };
	err = lost_open(l);
	if (err) {
		printf("# %s can't be opened: %s\n", way->name, strerror(-err));
		return err;
	}
	ok = start(l, p, c, &passing);
	if (!lost_settles(l, all)) {
		tell_pending(l);
		ok = false;
	}
	ok &= consumers_end(l, c);
	passed = task_join(&passing);
	ok &= passed > 0;
	ok &= !task_join(&p[0].task) && !task_join(&p[1].task);
	ok &= lost_counts_agree(l, all);
	printf("# %s: %lu posted, %lu taken, %lu idle, %lu foreign, %ld came and went, %lu late after a removal, %lu after a close, %llu s\n",
	       way->name, atomic_load(&l->posted), atomic_load(&l->taken),
	       atomic_load(&l->idle), atomic_load(&l->foreign), passed,
	       atomic_load(&l->late_removed), atomic_load(&l->late_closed),
	       (unsigned long long)(now_ns() - began) / 1000000000);
	fflush(stdout);
	return ok ? 0 : -1;
}

// SPDX-License-Identifier: GPL-2.0
/* Threads that post to files, and threads that wait for them on both sides. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "crowd.h"
#include "file.h"

#define TAKEN_MOST	8
/* The data of the file that stops a waiting thread. */
#define DATA_STOP	1000

static const uint32_t mode_events[MODES] = {
	[MODE_ONESHOT] = EPOLLIN | EPOLLONESHOT,
	[MODE_EDGE] = EPOLLIN | EPOLLET,
	[MODE_EXCLUSIVE] = EPOLLIN | EPOLLET | EPOLLEXCLUSIVE,
	[MODE_REMOVED] = EPOLLIN | EPOLLET,
};

/* Whether a side watches a file. */
bool crowd_watches(const struct crowd *c, int side, int file)
{
	const struct posted *f = &c->files[file];

	return f->mode != MODE_REMOVED &&
	       (f->mode != MODE_EXCLUSIVE || file % 2 == side);
}

static void count(struct crowd *c, int side, const struct epoll_event *ev)
{
	unsigned int file = (uint32_t)ev->data.u64;
	struct told *told;

	told = &c->told[(ev->data.u64 >> 32) % ROUNDS_KEPT][side][file];
	atomic_fetch_or(&told->events, ev->events);
	atomic_fetch_add(&told->times, 1);
}

static void *wait_for_all(void *arg)
{
	struct waiter *h = arg;
	struct crowd *c = h->crowd;
	struct epoll_event ev[TAKEN_MOST];

	for (;;) {
		int max = 1 + rng_below(&h->rng, TAKEN_MOST);
		unsigned int entry = rng_below(&h->rng, ENTRY_MAPPED);
		int i, n;

		n = c->sides[h->side]->wait(h->set, ev, max, -1, entry);
		if (n <= 0) {
			atomic_store(&c->bad, n ? n : -ETIME);
			return NULL;
		}
		for (i = 0; i < n; i++) {
			if (ev[i].data.u64 == DATA_STOP)
				return NULL;
			count(c, h->side, &ev[i]);
		}
	}
}

static size_t post_size(const struct posted *f)
{
	return f->kind == FILE_EVENTFD ? sizeof(uint64_t) : 1;
}

static void post(const struct posted *f)
{
	uint64_t one = 1;

	if (write(f->wfd, &one, post_size(f)) < 0)
		err(2, "write");
}

/* Each has every other file, and goes round as often as the most wanted. */
static void *produce(void *arg)
{
	struct producer *p = arg;
	struct crowd *c = p->crowd;
	unsigned int times;
	int i;

	for (;;) {
		pthread_barrier_wait(&c->begin);
		if (atomic_load(&c->over))
			return NULL;
		for (times = 0; times < POSTS_MOST; times++) {
			for (i = p->which; i < FILES; i += PRODUCERS) {
				if (times < c->files[i].posts)
					post(&c->files[i]);
			}
		}
		pthread_barrier_wait(&c->end);
	}
}

static int change(struct crowd *c, int side, int set, int op, int file,
		  uint32_t events)
{
	struct epoll_event ev = { .events = events };

	ev.data.u64 = (uint64_t)atomic_load(&c->round) << 32 | file;
	return c->sides[side]->ctl(c->sets[side][set], op, c->files[file].rfd,
				   &ev, file);
}

static void must(int result, const char *what)
{
	if (result)
		errx(2, "%s gives %d", what, result);
}

static void make_file(struct crowd *c, int file, struct rng *rng)
{
	static const unsigned int kinds[] = {
		FILE_PIPE, FILE_STREAM, FILE_EVENTFD, FILE_DGRAM,
	};
	struct posted *f = &c->files[file];
	int fds[2];

	f->kind = kinds[file % 4];
	f->mode = rng_below(rng, MODES);
	if (file_make(f->kind, fds))
		err(2, "no %s", file_kind_name(f->kind));
	f->rfd = fds[0];
	f->wfd = fds[1] < 0 ? fds[0] : fds[1];
}

static void arm_exclusive(struct crowd *c, int side, int file)
{
	int set;

	for (set = 0; set < 2; set++) {
		must(change(c, side, set, EPOLL_CTL_DEL, file, 0), "DEL");
		must(change(c, side, set, EPOLL_CTL_ADD, file,
			    mode_events[MODE_EXCLUSIVE]), "ADD");
	}
}

static void arm_file(struct crowd *c, int side, int file)
{
	enum mode mode = c->files[file].mode;

	atomic_store(&crowd_told(c, side, file)->times, 0);
	atomic_store(&crowd_told(c, side, file)->events, 0);
	if (mode == MODE_REMOVED) {
		must(change(c, side, 0, EPOLL_CTL_ADD, file,
			    mode_events[mode]), "ADD");
		must(change(c, side, 0, EPOLL_CTL_DEL, file, 0), "DEL");
	} else if (mode != MODE_EXCLUSIVE) {
		must(change(c, side, 0, EPOLL_CTL_MOD, file,
			    mode_events[mode]), "MOD");
	} else if (crowd_watches(c, side, file)) {
		arm_exclusive(c, side, file);
	}
}

void crowd_arm(struct crowd *c, struct rng *rng)
{
	int i;

	atomic_fetch_add(&c->round, 1);
	for (i = 0; i < FILES; i++) {
		struct posted *f = &c->files[i];

		f->posts = rng_below(rng, POSTS_MOST + 1);
		if (f->kind == FILE_EVENTFD)
			f->posts = !!f->posts;
		arm_file(c, 0, i);
		arm_file(c, 1, i);
	}
}

/* What is pending still has no cause now: a wait finds nothing, and forgets. */
static bool is_calm(struct crowd *c)
{
	struct epoll_event ev[TAKEN_MOST];
	bool calm = true;
	int i, n;

	for (i = 0; i < 4; i++) {
		n = c->sides[i / 2]->wait(c->sets[i / 2][i % 2], ev, TAKEN_MOST,
					  0, 0);
		if (n)
			printf("# %s: a wait after all was read gives %d\n",
			       c->sides[i / 2]->name, n);
		calm = calm && !n;
	}
	return calm;
}

bool crowd_drain(struct crowd *c)
{
	char buf[64];
	unsigned int posts;
	int i;

	for (i = 0; i < FILES; i++) {
		struct posted *f = &c->files[i];

		for (posts = 0; posts < f->posts; posts++) {
			if (read(f->rfd, buf, post_size(f)) < 0)
				err(2, "read");
		}
	}
	return is_calm(c);
}

static void add_stop(struct crowd *c, int side, int set)
{
	struct epoll_event ev = { .events = EPOLLIN };

	ev.data.u64 = DATA_STOP;
	must(c->sides[side]->ctl(c->sets[side][set], EPOLL_CTL_ADD, c->stop,
				 &ev, 0), "ADD");
}

static void crowd_open(struct crowd *c, struct rng *rng)
{
	int i, side, set;

	c->stop = eventfd(0, EFD_CLOEXEC);
	for (i = 0; i < FILES; i++)
		make_file(c, i, rng);
	for (side = 0; side < 2; side++) {
		for (set = 0; set < 2; set++) {
			c->sets[side][set] = c->sides[side]->open();
			add_stop(c, side, set);
		}
		for (i = 0; i < FILES; i++) {
			enum mode mode = c->files[i].mode;

			if (!crowd_watches(c, side, i))
				continue;
			must(change(c, side, 0, EPOLL_CTL_ADD, i,
				    mode_events[mode]), "ADD");
			if (mode == MODE_EXCLUSIVE)
				must(change(c, side, 1, EPOLL_CTL_ADD, i,
					    mode_events[mode]), "ADD");
		}
	}
	pthread_barrier_init(&c->begin, NULL, PRODUCERS + 1);
	pthread_barrier_init(&c->end, NULL, PRODUCERS + 1);
}

static void crowd_close(struct crowd *c)
{
	int i;

	for (i = 0; i < FILES; i++) {
		close(c->files[i].rfd);
		if (c->files[i].wfd != c->files[i].rfd)
			close(c->files[i].wfd);
	}
	for (i = 0; i < 4; i++)
		close(c->sets[i / 2][i % 2]);
	close(c->stop);
	pthread_barrier_destroy(&c->begin);
	pthread_barrier_destroy(&c->end);
}

/* Waiters 0 and 1 of a side have its first set, the others its second. */
static void waiter_start(struct waiter *h, struct crowd *c, int i,
			 uint64_t seed)
{
	h->crowd = c;
	h->side = i & 1;
	h->set = c->sets[h->side][i / 2 == 2];
	rng_seed(&h->rng, seed * 64 + i);
	if (pthread_create(&h->thread, NULL, wait_for_all, h))
		errx(2, "no thread");
}

void crowd_begin(struct crowd *c, uint64_t seed, struct rng *rng)
{
	int i;

	crowd_open(c, rng);
	for (i = 0; i < WAITERS; i++)
		waiter_start(&c->waiters[i], c, i, seed);
	for (i = 0; i < PRODUCERS; i++) {
		struct producer *p = &c->producers[i];

		p->crowd = c;
		p->which = i;
		if (pthread_create(&p->thread, NULL, produce, p))
			errx(2, "no thread");
	}
}

void crowd_end(struct crowd *c, bool good)
{
	uint64_t one = 1;
	int i;

	atomic_store(&c->over, true);
	pthread_barrier_wait(&c->begin);
	if (write(c->stop, &one, sizeof(one)) < 0)
		err(2, "write");
	for (i = 0; i < PRODUCERS; i++)
		pthread_join(c->producers[i].thread, NULL);
	for (i = 0; good && i < WAITERS; i++)
		pthread_join(c->waiters[i].thread, NULL);
	if (good)
		crowd_close(c);
}

void crowd_post(struct crowd *c)
{
	pthread_barrier_wait(&c->begin);
	pthread_barrier_wait(&c->end);
}

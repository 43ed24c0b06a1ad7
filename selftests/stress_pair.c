// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the stress program that looks for lost wake-ups.
 *
 * A process of three threads has one set.  The producer makes some files
 * readable and waits until each has been read.  The consumer reads only the
 * files that EP_POLL names.  The third thread replaces, removes and adds the
 * same files all the time, in a way that never makes an event unwanted.  So a
 * file that stays unread is a wake-up that was lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

#define PAIR_FDS	512
#define PAIR_FILES	FILE_INOTIFY

struct pair_file {
	enum file_kind kind;
	int rfd;
	int wfd;
	unsigned long posted;
	unsigned long seen;
};

struct pair {
	int set;
	void *map;
	uint64_t seed;
	atomic_bool stop;
	struct pair_file files[PAIR_FILES];
	int nfiles;
	/* Guards posted and seen of all files. */
	pthread_mutex_t lock;
	pthread_cond_t seen;
	unsigned long rounds;
	unsigned long swaps;
	double worst;
};

double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

unsigned int rng_below(struct rng *rng, unsigned int limit)
{
	return (rng_next(rng) >> 16) % limit;
}

void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream)
{
	rng->state = seed * 0x100000001b3 + stream;
	rng_next(rng);
}

static struct pair_file *pair_find(struct pair *p, int fd)
{
	int i;

	for (i = 0; i < p->nfiles; i++) {
		if (p->files[i].rfd == fd)
			return &p->files[i];
	}
	return NULL;
}

static bool pair_all_seen(struct pair *p)
{
	int i;

	for (i = 0; i < p->nfiles; i++) {
		if (p->files[i].seen < p->files[i].posted)
			return false;
	}
	return true;
}

/* What can be told about the files that nobody was told of. */
static void pair_report_lost(struct pair *p)
{
	struct evpoll ev = { .ep_timeout = 0 };
	int i, late;

	for (i = 0; i < p->nfiles; i++) {
		struct pair_file *f = &p->files[i];
		struct pollfd q = { .fd = f->rfd, .events = POLLIN };
		struct pollfd is = { .fd = f->rfd };

		if (f->seen >= f->posted)
			continue;
		poll(&q, 1, 0);
		late = ioctl(p->set, EP_ISPOLLED, &is);
		printf("# lost: %s, posted %lu, seen %lu, poll %#x, in the set %d, events %#x\n",
		       file_kind_name(f->kind), f->posted, f->seen, q.revents,
		       late, is.events);
	}
	late = ioctl(p->set, EP_POLL, &ev);
	printf("# lost: EP_POLL without waiting now returns %d\n", late);
	fflush(stdout);
}

static void *consumer(void *arg)
{
	struct evpoll ev = { .ep_timeout = -1 };
	struct pair *p = arg;
	int i, n;

	while (!atomic_load(&p->stop)) {
		const struct pollfd *res;

		n = ioctl(p->set, EP_POLL, &ev);
		if (n <= 0) {
			printf("# EP_POLL without a time-out gave %d: %s\n", n,
			       strerror(errno));
			_exit(1);
		}
		res = (void *)((char *)p->map + ev.ep_resoff);
		for (i = 0; i < n; i++) {
			struct pair_file *f = pair_find(p, res[i].fd);
			unsigned int posts;

			if (!f)
				continue;
			posts = file_drain(f->kind, f->rfd);
			pthread_mutex_lock(&p->lock);
			f->seen += posts;
			pthread_cond_signal(&p->seen);
			pthread_mutex_unlock(&p->lock);
		}
	}
	return NULL;
}

static void pair_write(int set, int fd, short events)
{
	struct pollfd req = { .fd = fd, .events = events };

	if (write(set, &req, sizeof(req)) != sizeof(req)) {
		printf("# an fd could not be added: %s\n", strerror(errno));
		_exit(1);
	}
}

/* Another set on the same file, which comes and goes. */
static void churn_other_set(struct pair_file *f, bool remove)
{
	int fds[2];

	if (file_make(FILE_DEVEPOLL, fds))
		return;
	if (!ioctl(fds[0], EP_ALLOC, 8)) {
		pair_write(fds[0], f->rfd, POLLIN | POLLHUP);
		if (remove)
			pair_write(fds[0], f->rfd, POLLREMOVE);
	}
	close(fds[0]);
}

static void churn_other_file(struct pair *p, struct rng *rng)
{
	int fds[2];

	if (file_make(rng_below(rng, FILE_KINDS_POLLABLE), fds))
		return;
	pair_write(p->set, fds[0], POLLIN | POLLHUP | POLLERR);
	if (rng_below(rng, 4) == 0)
		pair_write(p->set, fds[0], POLLREMOVE);
	close(fds[0]);
	if (fds[1] != fds[0])
		close(fds[1]);
}

static void churn_epoll(struct pair *p)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	if (ep < 0)
		return;
	epoll_ctl(ep, EPOLL_CTL_ADD, p->set, &ev);
	epoll_wait(ep, &ev, 1, 0);
	close(ep);
}

static void churn_once(struct pair *p, struct rng *rng)
{
	struct pair_file *f = &p->files[rng_below(rng, p->nfiles)];
	struct pollfd swap[2] = {
		{ .fd = f->rfd, .events = POLLREMOVE },
		{ .fd = f->rfd, .events = POLLIN },
	};
	struct pollfd q = { .fd = p->set, .events = POLLIN };

	switch (rng_below(rng, 8)) {
	case 0:
	case 1:
		if (write(p->set, swap, sizeof(swap)) != sizeof(swap))
			_exit(1);
		break;
	case 2:
		pair_write(p->set, f->rfd, POLLIN | POLLRDNORM);
		break;
	case 3:
		close(dup(f->rfd));
		break;
	case 4:
		churn_other_set(f, rng_below(rng, 2));
		break;
	case 5:
		poll(&q, 1, 0);
		break;
	case 6:
		churn_other_file(p, rng);
		break;
	default:
		churn_epoll(p);
		break;
	}
}

static void *churn(void *arg)
{
	struct pair *p = arg;
	struct rng rng;

	rng_seed(&rng, p->seed, 2);
	while (!atomic_load(&p->stop)) {
		pthread_rwlock_rdlock(closing_lock);
		churn_once(p, &rng);
		pthread_rwlock_unlock(closing_lock);
		p->swaps++;
	}
	return NULL;
}

/* Posts to some files and waits until all have been read. */
static bool producer_round(struct pair *p, struct rng *rng)
{
	uint64_t which = rng_next(rng);
	struct timespec until;
	double start = now_seconds();
	int i, err = 0;

	pthread_mutex_lock(&p->lock);
	for (i = 0; i < p->nfiles; i++) {
		struct pair_file *f = &p->files[i];

		if (which & (1 << i))
			f->posted += file_post(f->kind, f->wfd);
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STRESS_BOUND_SECONDS;
	while (!err && !pair_all_seen(p))
		err = pthread_cond_clockwait(&p->seen, &p->lock,
					     CLOCK_MONOTONIC, &until);
	if (!pair_all_seen(p)) {
		pair_report_lost(p);
		return false;
	}
	pthread_mutex_unlock(&p->lock);
	if (now_seconds() - start > p->worst)
		p->worst = now_seconds() - start;
	p->rounds++;
	return true;
}

static bool pair_open(struct pair *p)
{
	int fds[2];
	int kind;

	if (file_make(FILE_DEVEPOLL, fds) ||
	    ioctl(fds[0], EP_ALLOC, PAIR_FDS))
		return false;
	p->set = fds[0];
	p->map = mmap(NULL, EP_MAP_SIZE(PAIR_FDS), PROT_READ, MAP_SHARED,
		      p->set, 0);
	if (p->map == MAP_FAILED)
		return false;
	for (kind = 0; kind < PAIR_FILES; kind++) {
		struct pair_file *f = &p->files[p->nfiles];
		int err = file_make(kind, fds);

		if (err) {
			printf("# no %s: %s\n", file_kind_name(kind),
			       strerror(-err));
			continue;
		}
		*f = (struct pair_file){
			.kind = kind, .rfd = fds[0], .wfd = fds[1],
		};
		pair_write(p->set, f->rfd, POLLIN);
		p->nfiles++;
	}
	return p->nfiles >= 8;
}

int pair_run(uint64_t seed, unsigned int seconds)
{
	struct pair p = { .seed = seed };
	double until = now_seconds() + seconds;
	pthread_t threads[2];
	struct rng rng;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Should anything sleep for ever, the signal ends this process. */
	alarm(seconds + 2 * STRESS_BOUND_SECONDS);
	pthread_mutex_init(&p.lock, NULL);
	pthread_cond_init(&p.seen, NULL);
	rng_seed(&rng, seed, 1);
	if (!pair_open(&p)) {
		printf("# a set could not be made ready: %s\n",
		       strerror(errno));
		return 1;
	}
	if (pthread_create(&threads[0], NULL, consumer, &p) ||
	    pthread_create(&threads[1], NULL, churn, &p))
		return 1;
	while (now_seconds() < until) {
		if (!producer_round(&p, &rng))
			return 1;
	}
	atomic_store(&p.stop, true);
	/* The last event is what lets the consumer see the end. */
	file_post(p.files[0].kind, p.files[0].wfd);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("# pair: %lu rounds, %lu changes beside them, worst round %.3f s\n",
	       p.rounds, p.swaps, p.worst);
	fflush(stdout);
	return p.rounds ? 0 : 1;
}

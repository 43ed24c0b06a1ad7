// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the stress program that looks for lost wake-ups.
 *
 * A process of some threads has one set.  The producer makes some files
 * readable and waits until each has been read.  The consumers read only the
 * files that their waits name.  The last thread replaces, removes and adds the
 * same files all the time, in a way that never makes an event unwanted.  So a
 * file that stays unread is a wake-up that was lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "core/helpers.h"
#include "torture/stress_pair.h"

struct consumer {
	struct pair *p;
	unsigned int nr;
	pthread_t thread;
	atomic_bool done;
};

const struct pair_face *const pair_faces[] = {
	&pair_classic, &pair_extended, &pair_nested,
};

const unsigned int nr_pair_faces = sizeof(pair_faces) / sizeof(pair_faces[0]);

double now_seconds(void)
{
	return now_ns() / 1e9;
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

/* Prints what is known of files that were not reported. */
static void pair_report_lost(struct pair *p)
{
	int i;

	for (i = 0; i < p->nfiles; i++) {
		struct pair_file *f = &p->files[i];
		struct pollfd q = { .fd = f->rfd, .events = POLLIN };

		if (f->seen >= f->posted)
			continue;
		poll(&q, 1, 0);
		printf("# lost (%s): %s, posted %lu, seen %lu, poll %#x\n",
		       p->face->name, file_kind_name(f->kind), f->posted,
		       f->seen, q.revents);
		p->face->report(p, f);
	}
	fflush(stdout);
}

static void must(struct pair *p, bool ok, const char *what)
{
	if (ok)
		return;
	printf("# %s: %s: %s\n", p->face->name, what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

static void consume(struct pair *p, struct pair_file *f)
{
	unsigned int posts = file_drain(f->kind, f->rfd);

	must(p, p->face->rearm(p, f), "a file can't be armed again");
	pthread_mutex_lock(&p->lock);
	f->seen += posts;
	pthread_cond_signal(&p->seen);
	pthread_mutex_unlock(&p->lock);
}

static void *consumer_run(void *arg)
{
	struct consumer *consumer = arg;
	struct pair *p = consumer->p;
	struct pair_file *f;
	int fds[PAIR_FDS];
	int i, n;

	while (!atomic_load(&p->stop)) {
		n = p->face->wait(p, consumer->nr, fds, PAIR_FDS);
		must(p, n >= 0, "a wait failed");
		for (i = 0; i < n; i++) {
			f = pair_find(p, fds[i]);
			if (f)
				consume(p, f);
		}
	}
	atomic_store(&consumer->done, true);
	return NULL;
}

static void churn_other_file(struct pair *p, struct rng *rng)
{
	int fds[2];

	if (file_make(rng_below(rng, FILE_KINDS_POLLABLE), fds))
		return;
	p->face->mix(p, fds[0], rng);
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
	struct pollfd q = { .fd = p->set, .events = POLLIN };

	switch (rng_below(rng, 8)) {
	case 0:
	case 1:
		must(p, p->face->swap(p, f), "a file can't be put back");
		break;
	case 2:
		must(p, p->face->change(p, f), "a file can't be changed");
		break;
	case 3:
		close(dup(f->rfd));
		break;
	case 4:
		p->face->visit(f, rng);
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
		atomic_fetch_add(&p->swaps, 1);
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

	if (!p->face->open(p))
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
		/* Each time another way to watch, for another kind. */
		must(p, p->face->add(p, f, kind + p->seed),
		     "a file can't be added");
		p->nfiles++;
	}
	for (kind = 0; kind < PAIR_ENDS; kind++) {
		if (file_make(FILE_EVENTFD, fds))
			return false;
		p->ends[kind].rfd = fds[0];
		p->ends[kind].wfd = fds[1];
		must(p, p->face->add(p, &p->ends[kind], 0),
		     "an fd for the end can't be added");
	}
	return p->nfiles >= 8;
}

/* In a set of 2001 one thread may take the event that ends all of them. */
static void consumers_join(struct pair *p, struct consumer *consumers)
{
	unsigned int i, end;

	for (i = 0; i < p->face->consumers; i++) {
		while (!atomic_load(&consumers[i].done)) {
			for (end = 0; end < PAIR_ENDS; end++)
				file_post(FILE_EVENTFD, p->ends[end].wfd);
			sched_yield();
		}
		pthread_join(consumers[i].thread, NULL);
	}
}

int pair_run(const struct pair_face *face, uint64_t seed, unsigned int seconds)
{
	static struct consumer consumers[CONSUMERS_MOST];
	struct pair p = { .face = face, .seed = seed };
	double until = now_seconds() + seconds;
	pthread_t churner;
	struct rng rng;
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Should anything sleep for ever, the signal ends this process. */
	alarm(seconds + 2 * STRESS_BOUND_SECONDS);
	pthread_mutex_init(&p.lock, NULL);
	pthread_cond_init(&p.seen, NULL);
	rng_seed(&rng, seed, 1);
	must(&p, pair_open(&p), "a set could not be made ready");
	for (i = 0; i < face->consumers; i++) {
		consumers[i].p = &p;
		consumers[i].nr = i;
		if (pthread_create(&consumers[i].thread, NULL, consumer_run,
				   &consumers[i]))
			return 1;
	}
	if (pthread_create(&churner, NULL, churn, &p))
		return 1;
	while (now_seconds() < until) {
		if (!producer_round(&p, &rng))
			return 1;
	}
	atomic_store(&p.stop, true);
	consumers_join(&p, consumers);
	pthread_join(churner, NULL);
	printf("# pair (%s): %lu rounds, %lu changes beside them, worst round %.3f s\n",
	       face->name, p.rounds, atomic_load(&p.swaps), p.worst);
	fflush(stdout);
	return p.rounds ? 0 : 1;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the stress program in which threads do everything to everything
 * at once.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "torture/stress_world.h"

#define THREADS		7

static pthread_t threads[THREADS];
static pthread_barrier_t all_there;
static atomic_bool stopping;
static struct chaos_verdict *verdict;

void chaos_interrupt(struct rng *rng)
{
	pthread_kill(threads[rng_below(rng, THREADS)], SIGUSR1);
}

static struct operation *pick_operation(struct rng *rng)
{
	unsigned int i, total = 0, at;

	for (i = 0; i < nr_operations; i++)
		total += operations[i].weight;
	at = rng_below(rng, total);
	for (i = 0; at >= operations[i].weight; i++)
		at -= operations[i].weight;
	return &operations[i];
}

static void *chaos_thread(void *arg)
{
	struct rng *rng = arg;

	pthread_barrier_wait(&all_there);
	while (!atomic_load(&stopping)) {
		struct operation *op = pick_operation(rng);

		pthread_rwlock_rdlock(closing_lock);
		op->run(rng);
		pthread_rwlock_unlock(closing_lock);
		atomic_fetch_add(&op->done, 1);
	}
	return NULL;
}

static void *tracer_thread(void *arg)
{
	while (!atomic_load(&stopping))
		verdict->tracer_toggles += tracer_toggle(arg);
	return NULL;
}

static void ignore_signal(int sig)
{
	(void)sig;
}

static bool is_one_idle(void)
{
	unsigned int i;

	for (i = 0; i < nr_operations; i++)
		if (!atomic_load(&operations[i].done))
			return true;
	return false;
}

/* A debug kernel on a busy machine runs few operations, and a rare one late. */
static void await_operations(void)
{
	unsigned int i;

	if (!is_one_idle())
		return;
	alarm(STRESS_MORE_SECONDS + 2 * STRESS_BOUND_SECONDS);
	for (i = 0; i < STRESS_MORE_SECONDS && is_one_idle(); i++)
		sleep(1);
	printf("# chaos: %u s more, until each operation had run\n", i);
}

static void chaos_summary(void)
{
	unsigned int i;

	for (i = 0; i < nr_operations; i++) {
		printf("# chaos: %s %lu\n", operations[i].name,
		       atomic_load(&operations[i].done));
		verdict->idle_operations += !operations[i].done;
	}
	verdict->bad_results = bad_results;
	verdict->bad_errors = bad_errors;
}

void chaos_run(uint64_t seed, unsigned int seconds, struct chaos_verdict *v)
{
	static struct rng rngs[THREADS + 2];
	struct sigaction sa = { .sa_handler = ignore_signal };
	pthread_t tracer;
	int i;

	verdict = v;
	for (i = 0; i < THREADS + 2; i++)
		rng_seed(&rngs[i], seed, 100 + i);
	sigaction(SIGUSR1, &sa, NULL);
	pthread_barrier_init(&all_there, NULL, THREADS + 1);
	if (!world_open(&rngs[THREADS]))
		exit(1);
	for (i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, chaos_thread, &rngs[i]))
			exit(1);
	}
	if (v->has_tracer &&
	    pthread_create(&tracer, NULL, tracer_thread, &rngs[THREADS + 1]))
		exit(1);
	pthread_barrier_wait(&all_there);
	sleep(seconds);
	await_operations();
	atomic_store(&stopping, true);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (v->has_tracer)
		pthread_join(tracer, NULL);
	world_close();
	chaos_summary();
}

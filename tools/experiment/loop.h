/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loop of ephttpd: events resume connections, which are coroutines.
 */
#ifndef EXPERIMENT_LOOP_H
#define EXPERIMENT_LOOP_H

#include <pcl.h>
#include <stdbool.h>

struct engine;

/* Why a coroutine runs. */
enum wake {
	WAKE_EVENT,
	WAKE_TURN,	/* it had yielded to others */
	WAKE_LOST,	/* its fd can't be watched */
};

/**
 * struct task - a coroutine and the fd that it lives for
 * @fd: non-blocking
 * @routine: on @stack
 * @wants: the events that it waits for
 * @told: the events that the engine was told
 * @wake: why it runs now
 * @done: it has come to its end; the loop takes it from here
 */
struct task {
	int fd;
	coroutine_t routine;
	void *stack;
	short wants;
	short told;
	enum wake wake;
	bool done;
	struct task *next_turn;
};

/**
 * struct loop_counts - what the experiment looks at
 */
struct loop_counts {
	unsigned long waits;
	unsigned long events;
	unsigned long accepted;
	unsigned long refused;	/* no room for one more connection */
	unsigned long closed;
	unsigned long answers;	/* 200 */
	unsigned long rejects;	/* 4xx and 5xx */
};

extern struct loop_counts loop_counts;

/**
 * struct loop_options - how the loop works
 * @engine: by what
 * @maxfds: all fds are below
 * @listen_fd: where new connections come from
 * @stop_fd: the loop ends when it is readable
 */
struct loop_options {
	const struct engine *engine;
	int maxfds;
	int listen_fd;
	int stop_fd;
};

/* Runs until it is stopped; ends the program if it can't go on. */
void loop_run(const struct loop_options *options);

/*
 * Makes a coroutine of @run for task->fd and runs it until it waits.  False
 * where there is no memory or the fd can't be watched; nothing is left then.
 */
bool loop_start(struct task *task, void (*run)(void *));

/* For the coroutine: sleep until one of @events, or something else. */
enum wake loop_wait(struct task *task, short events);

/* For the coroutine: let others run first. */
enum wake loop_step_back(struct task *task);

#endif /* EXPERIMENT_LOOP_H */

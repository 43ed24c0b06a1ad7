// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of ephttpd: events resume connections, which are coroutines.
 *
 * Only the loop calls coroutines, and they only return to it.
 */
#define _GNU_SOURCE
#include "loop.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "accept_again.h"
#include "conn.h"
#include "engine.h"

#define STACK_SIZE	8192	/* of a coroutine */

struct loop_counts loop_counts;

static const struct loop_options *options;
static const struct engine *engine;
static struct engine_set *set;
static struct task **tasks;		/* by fd */
static struct task *first_turn, *last_turn;
static int spare_fd = -1;	/* given up for a moment when fds run out */

static void free_routine(struct task *task)
{
	tasks[task->fd] = NULL;
	co_delete(task->routine);
	free(task->stack);
}

static void run_task(struct task *task, enum wake wake)
{
	task->wake = wake;
	task->wants = 0;
	co_call(task->routine);
	if (!task->done)
		return;
	engine->remove(set, task->fd);
	free_routine(task);
	conn_close(task);
}

bool loop_start(struct task *task, void (*run)(void *))
{
	/* An edge must be reported whatever the task waits for. */
	task->told = engine->level ? POLLIN : POLLIN | POLLOUT;
	task->stack = malloc(STACK_SIZE);
	if (!task->stack)
		return false;
	task->routine = co_create(run, task, task->stack, STACK_SIZE);
	if (!task->routine)
		goto err_stack;
	if (engine->add(set, task->fd, task->told))
		goto err_routine;
	tasks[task->fd] = task;
	run_task(task, WAKE_EVENT);
	return true;

err_routine:
	co_delete(task->routine);
err_stack:
	free(task->stack);
	return false;
}

enum wake loop_wait(struct task *task, short events)
{
	if (engine->level && task->told != events) {
		if (engine->change(set, task->fd, events))
			return WAKE_LOST;
		task->told = events;
	}
	task->wants = events;
	co_resume();
	return task->wake;
}

enum wake loop_step_back(struct task *task)
{
	task->next_turn = NULL;
	if (first_turn)
		last_turn->next_turn = task;
	else
		first_turn = task;
	last_turn = task;
	co_resume();
	return task->wake;
}

/* Tasks that yield again have to wait for the next time. */
static void run_turns(void)
{
	struct task *task = first_turn, *next;

	for (first_turn = NULL; task; task = next) {
		next = task->next_turn;
		run_task(task, WAKE_TURN);
	}
}

static void accept_all(void)
{
	int fd;

	for (;;) {
		fd = accept4(options->listen_fd, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0) {
			if (!accept_again(options->listen_fd, &spare_fd,
					  &loop_counts.refused))
				return;
			continue;
		}
		if (fd < options->maxfds && conn_open(fd)) {
			loop_counts.accepted++;
			continue;
		}
		if (fd >= options->maxfds)
			close(fd);
		loop_counts.refused++;
	}
}

/* False when it is time to end. */
static bool handle(const struct pollfd *event)
{
	struct task *task;

	if (event->fd == options->stop_fd)
		return false;
	if (event->fd == options->listen_fd) {
		if (event->revents & POLLNVAL)
			errx(1, "engine %s can't watch the listening socket",
			     engine->name);
		accept_all();
		return true;
	}
	task = tasks[event->fd];
	if (!task || !task->wants)
		return true;
	if (event->revents & POLLNVAL)
		run_task(task, WAKE_LOST);
	else if (event->revents & (task->wants | POLLERR | POLLHUP))
		run_task(task, WAKE_EVENT);
	return true;
}

static void watch_own(int fd)
{
	int err = engine->add(set, fd, POLLIN);

	if (err)
		errx(1, "engine %s can't watch fd %d: %s", engine->name, fd,
		     strerror(-err));
}

void loop_run(const struct loop_options *given)
{
	const struct pollfd *events = NULL;
	bool going = true;
	int i, nr;

	options = given;
	engine = options->engine;
	tasks = calloc(options->maxfds, sizeof(struct task *));
	if (!tasks)
		err(1, "no room for %d connections", options->maxfds);
	spare_fd = open_spare();
	if (spare_fd < 0)
		err(1, "/dev/null");
	set = engine_open(engine, options->maxfds);
	watch_own(options->listen_fd);
	watch_own(options->stop_fd);
	while (going) {
		run_turns();
		nr = engine->wait(set, &events, first_turn ? 0 : -1);
		if (nr == -EINTR)
			continue;
		if (nr < 0)
			errx(1, "engine %s: %s", engine->name, strerror(-nr));
		loop_counts.waits++;
		loop_counts.events += nr;
		for (i = 0; going && i < nr; i++)
			going = handle(&events[i]);
	}
	engine->close(set);
}

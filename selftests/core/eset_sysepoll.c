// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the extended interface over the kernel's epoll, and what the
 * tests of both share.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/eset.h"

static int sys_open(struct eset *set)
{
	set->fd = epoll_create1(EPOLL_CLOEXEC);
	return set->fd < 0 ? -errno : 0;
}

static int sys_adopt(struct eset *set, int fd)
{
	set->fd = fd;
	return 0;
}

static int sys_ctl(struct eset *set, int op, int fd, uint32_t events,
		   uint64_t data)
{
	struct epoll_event event = { .events = events, .data.u64 = data };

	return epoll_ctl(set->fd, op, fd, &event) ? -errno : 0;
}

static int sys_wait(struct eset *set, struct epoll_event *out, int max, int ms)
{
	int n = epoll_pwait(set->fd, out, max, ms, NULL);

	return n < 0 ? -errno : n;
}

static int sys_pwait2(struct eset *set, struct epoll_event *out, int max,
		      const struct timespec *timeout, const sigset_t *mask)
{
	int n = epoll_pwait2(set->fd, out, max, timeout, mask);

	return n < 0 ? -errno : n;
}

static void sys_close(struct eset *set)
{
	if (set->fd >= 0)
		close(set->fd);
	set->fd = -1;
}

const struct eset_ops eset_sysepoll = {
	.name		= "epoll",
	.traits		= REPORTS_STALE | TAKES_EPOLL_IN,
	.wait_syscall	= SYS_epoll_pwait,
	.pwait2_syscall	= SYS_epoll_pwait2,
	.open		= sys_open,
	.adopt		= sys_adopt,
	.ctl		= sys_ctl,
	.wait		= sys_wait,
	.pwait2		= sys_pwait2,
	.close		= sys_close,
};

int eset_wait(struct eset *set, struct epoll_event *out, int max, int ms)
{
	if (max > 0)
		memset(out, 0xa5, max * sizeof(*out));
	return set->ops->wait(set, out, max, ms);
}

int eset_pwait2(struct eset *set, struct epoll_event *out, int max,
		const struct timespec *timeout, const sigset_t *mask)
{
	if (max > 0)
		memset(out, 0xa5, max * sizeof(*out));
	return set->ops->pwait2(set, out, max, timeout, mask);
}

int eset_wait_one(struct eset *set, int fd, int ms)
{
	struct epoll_event out[2];
	int n = eset_wait(set, out, 2, ms);

	if (n < 0)
		return n;
	if (n == 0)
		return -ENOMSG;
	if (n > 1 || out[0].data.u64 != (uint64_t)fd)
		return -EBADMSG;
	return out[0].events;
}

int eset_drain(struct eset *set)
{
	struct epoll_event out[1000];

	return eset_wait(set, out, 1000, 0);
}

uint32_t events_of(const struct epoll_event *out, int n, uint64_t data)
{
	int i;

	for (i = 0; i < n; i++)
		if (out[i].data.u64 == data)
			return out[i].events;
	return 0;
}

static long ewaiter_call(void *arg)
{
	struct ewaiter *w = arg;

	return eset_wait(&w->set, w->out, w->max, w->ms);
}

int ewaiter_launch(struct ewaiter *w, const struct eset *set, int max, int ms)
{
	w->set = *set;
	w->ms = ms;
	w->max = max;
	return task_start(&w->task, ewaiter_call, w);
}

int ewaiter_start(struct ewaiter *w, const struct eset *set, int ms)
{
	return ewaiter_launch(w, set, WAITER_ROOM, ms) ?:
	       task_await_sleep(&w->task, set->ops->wait_syscall);
}

long ewaiter_join(struct ewaiter *w)
{
	return task_join(&w->task);
}

int ewaiters_done(struct ewaiter *w, int n)
{
	int i, done = 0;

	for (i = 0; i < n; i++)
		done += atomic_load(&w[i].task.done);
	return done;
}

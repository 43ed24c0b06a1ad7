/* SPDX-License-Identifier: GPL-2.0 */
/* The waits of epoll and of libdevepoll, here and in other threads. */
#ifndef SELFTESTS_LIB_WAITS_H
#define SELFTESTS_LIB_WAITS_H

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "library/lib_calls.h"

/* The ways to wait: for this many milliseconds, or without limit. */
enum way { WAIT, PWAIT, PWAIT_MASK, PWAIT2, NR_WAYS };

static const char * const way_names[] = {
	"wait", "pwait", "pwait with a mask", "pwait2",
};

static inline long wait_by(const struct calls *calls, enum way way, int set,
			   struct epoll_event *out, int ms,
			   const sigset_t *mask)
{
	const struct timespec time = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000,
	};

	memset(out, 0x5a, sizeof(*out));
	switch (way) {
	case WAIT:
		return result_of(calls->wait(set, out, 1, ms));
	case PWAIT:
		return result_of(calls->pwait(set, out, 1, ms, NULL));
	case PWAIT_MASK:
		return result_of(calls->pwait(set, out, 1, ms, mask));
	default:
		return result_of(calls->pwait2(set, out, 1,
					       ms < 0 ? NULL : &time, mask));
	}
}

static inline int add(const struct calls *calls, int set, int fd,
		      uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return calls->ctl(set, EPOLL_CTL_ADD, fd, &event);
}

/* Any of the calls that may implement a wait. */
static inline bool sleeps_in_a_wait(pid_t tid)
{
	return sleeps_in(tid, SYS_epoll_wait) ||
	       sleeps_in(tid, SYS_epoll_pwait) ||
	       sleeps_in(tid, SYS_epoll_pwait2) ||
	       sleeps_in(tid, SYS_FADVISE) || sleeps_in(tid, SYS_ioctl);
}

struct wait_task {
	const struct calls *calls;
	enum way way;
	int set;
	int ms;
	struct task task;
	struct epoll_event out;
	sigset_t mask;
	int type_after;
};

static inline long wait_call(void *arg)
{
	struct wait_task *w = arg;
	long ret;

	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	ret = wait_by(w->calls, w->way, w->set, &w->out, w->ms, &w->mask);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &w->type_after);
	return ret;
}

static inline int wait_task_start(struct wait_task *w,
				  const struct calls *calls, enum way way,
				  int set, int ms)
{
	int ret;

	*w = (struct wait_task){
		.calls = calls, .way = way, .set = set, .ms = ms,
		.type_after = -1,
	};
	sigemptyset(&w->mask);
	ret = task_start(&w->task, wait_call, w);
	if (ret)
		return ret;
	return await(sleeps_in_a_wait(w->task.tid)) ? 0 : -ETIMEDOUT;
}

#endif /* SELFTESTS_LIB_WAITS_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that make one call, such as a wait on a set; and waiting until a
 * thread sleeps, instead of for a time.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "core/helpers.h"

long status_field(pid_t tid, const char *name)
{
	char path[64], line[256];
	long ret = -ENOENT;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	status = fopen(path, "re");
	if (!status)
		return -errno;
	while (fgets(line, sizeof(line), status))
		if (!strncmp(line, name, strlen(name)) &&
		    line[strlen(name)] == ':')
			ret = strtol(line + strlen(name) + 1, NULL, 10);
	fclose(status);
	return ret;
}

bool is_realtime(void)
{
	struct utsname uts;

	/* Newer kernels have no /sys/kernel/realtime. */
	return !uname(&uts) && strstr(uts.version, "PREEMPT_RT");
}

static char state_of(pid_t tid)
{
	char path[64], line[512], *end;
	char state = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	stat = fopen(path, "re");
	if (!stat)
		return 0;
	if (fgets(line, sizeof(line), stat)) {
		end = strrchr(line, ')');
		if (end)
			state = end[2];
	}
	fclose(stat);
	return state;
}

/*
 * Its /proc/TID/syscall, whose reader waits until the thread has left its CPU;
 * false if it runs, or is in another state.
 */
static bool read_syscall(pid_t tid, char state, char line[256])
{
	char path[64];
	FILE *file;
	bool got;

	if (state_of(tid) != state)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	got = fgets(line, 256, file) && strncmp(line, "running", 7);
	fclose(file);
	return got;
}

static bool is_in(pid_t tid, char state, long syscall)
{
	char line[256];
	long nr;

	return read_syscall(tid, state, line) &&
	       sscanf(line, "%ld ", &nr) == 1 && nr == syscall;
}

bool sleeps(pid_t tid)
{
	char line[256];

	return read_syscall(tid, 'S', line);
}

bool sleeps_in(pid_t tid, long syscall)
{
	return is_in(tid, 'S', syscall);
}

bool blocks_in(pid_t tid, long syscall)
{
	return is_in(tid, 'D', syscall);
}

bool idles_in(pid_t tid, long syscall)
{
	return is_in(tid, 'I', syscall);
}

int await_sleep(pid_t tid, long syscall)
{
	return await(sleeps_in(tid, syscall)) ? 0 : -ETIMEDOUT;
}

void pause_briefly(void)
{
	struct timespec ts = { .tv_nsec = 200000 };

	nanosleep(&ts, NULL);
}

bool can_use_threads(void)
{
	int word = 0;

	return syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1) == 0;
}

static void *task_main(void *arg)
{
	struct task *task = arg;

	atomic_store(&task->tid, syscall(SYS_gettid));
	task->ret = task->call(task->arg);
	atomic_store(&task->done, true);
	return NULL;
}

int task_start(struct task *task, long (*call)(void *arg), void *arg)
{
	int ret;

	*task = (struct task){ .call = call, .arg = arg };
	ret = pthread_create(&task->thread, NULL, task_main, task);
	if (ret)
		return -ret;
	return await(atomic_load(&task->tid)) ? 0 : -ETIMEDOUT;
}

int task_await_sleep(struct task *task, long syscall)
{
	int err = await_sleep(task->tid, syscall);

	task->asleep_in = syscall;
	task->switches = status_field(task->tid, "voluntary_ctxt_switches");
	return err ?: task->switches < 0 ? task->switches : 0;
}

bool task_undisturbed(const struct task *task)
{
	return sleeps_in(task->tid, task->asleep_in) &&
	       status_field(task->tid, "voluntary_ctxt_switches") ==
	       task->switches;
}

long task_join(struct task *task)
{
	struct timespec end;
	int ret;

	clock_gettime(CLOCK_REALTIME, &end);
	/* Not until TEST_SECONDS, so that the test can say what hangs. */
	end.tv_sec += slowness() > 1 ? 100 : 30;
	ret = pthread_timedjoin_np(task->thread, NULL, &end);
	return ret ? -ret : task->ret;
}

static long waiter_call(void *arg)
{
	struct waiter *w = arg;

	return set_wait(&w->set, w->out, WAITER_ROOM, w->ms);
}

int waiter_launch(struct waiter *w, const struct set *set, int ms)
{
	w->set = *set;
	w->ms = ms;
	memset(w->out, 0x5a, sizeof(w->out));
	return task_start(&w->task, waiter_call, w);
}

int waiter_start(struct waiter *w, const struct set *set, int ms)
{
	return waiter_launch(w, set, ms) ?:
	       task_await_sleep(&w->task, set->ops->wait_syscall);
}

long waiter_join(struct waiter *w)
{
	return task_join(&w->task);
}

bool waiter_stays(struct waiter *w)
{
	uint64_t end = now_ns() + 60 * NSEC_PER_MSEC;

	while (now_ns() < end) {
		if (atomic_load(&w->task.done))
			return false;
		pause_briefly();
	}
	return true;
}

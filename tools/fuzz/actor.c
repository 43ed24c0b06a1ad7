// SPDX-License-Identifier: GPL-2.0
/* The processes and threads that run the operations. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define PAGE		4096
#define FIRST_USER	1001
/* Where the memory of op_results() begins. */
#define RESULTS		(PAGE / 2)

const struct verb verbs[] = {
	{ "open", do_open, 20, false },
	{ "close", do_close, 8, false },
	{ "dup", do_dup, 4, false },
	{ "poke", do_poke, 12, false },
	{ "read", do_read, 4, false },
	{ "pass", do_pass, 4, false },
	{ "receive", do_receive, 4, false },
	{ "fork", do_fork, 2, false },
	{ "exec", do_exec, 1, false },
	{ "kill", do_kill, 2, false },
	{ "limit", do_limit, 1, false },
	{ "fail", do_fail, 4, false },
	{ "pause", do_pause, 2, false },
	{ "signals", do_signals, 2, false },
	{ "write", do_write, 8, true },
	{ "classic", do_classic, 8, true },
	{ "devpoll", do_devpoll, 6, true },
	{ "ctl", do_ctl, 12, true },
	{ "wait", do_wait, 10, true },
	{ "epoll_ctl", do_epoll_ctl, 8, true },
	{ "epoll_wait", do_epoll_wait, 6, true },
	{ "many", do_many, 2, true },
	{ "signal", do_signal, 4, true },
	{ "info", do_info, 4, true },
	{ "reopen", do_reopen, 3, true },
	{ "poll", do_poll, 4, false },
	{ "epoll", do_epoll, 4, false },
	{ "raw", do_raw, 3, true },
	{ "ring", do_ring, 6, true },
	{ "ring_wait", do_ring_wait, 6, true },
	{ "map", do_map, 8, true },
	{ "unmap", do_unmap, 3, false },
	{ "touch", do_touch, 2, false },
	{ "word", do_word, 5, false },
	{ "uring_open", do_uring_open, 4, false },
	{ "uring_command", do_uring_command, 8, true },
	{ "uring_enter", do_uring_enter, 5, true },
	{ "uring_close", do_uring_close, 2, false },
};

const unsigned int nr_verbs = sizeof(verbs) / sizeof(verbs[0]);

/* The threads of this process. */
static struct actor actors[THREADS];
static __thread sigjmp_buf *rescue;
/* A page that can only be read. */
static uint8_t *fixed;
/* The fds from here on are not the fuzzer's. */
static int first_free;

void futex_wait(atomic_uint *word, uint32_t value, long ms)
{
	struct timespec time = {
		.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000,
	};

	syscall(SYS_futex, word, FUTEX_WAIT, value, ms < 0 ? NULL : &time);
}

void futex_wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 64);
}

int slot_fd(unsigned int slot)
{
	static const int odd[] = { -1, 0, 0x7fffffff, 1 << 20, -2, 1000 };

	slot %= 256;
	if (slot >= 256 - sizeof(odd) / sizeof(odd[0]))
		return odd[255 - slot];
	if (slot >= 128)
		return MANY_FIRST + slot % MANY;
	return SLOT_FIRST + slot % SLOTS;
}

long slot_put(long fd, unsigned int slot)
{
	long to = SLOT_FIRST + slot % SLOTS;

	if (fd < 0)
		return -errno;
	if (fd == to)
		return to;
	to = dup3(fd, to, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
	close(fd);
	return to < 0 ? -errno : to;
}

static void *memory_at(struct actor *a, const struct op *op, size_t at,
		       const void *from, size_t size, bool wrong)
{
	uint8_t *to = a->memory + at;

	switch (wrong ? OP_MEMORY(op) : 0) {
	case MEMORY_ENDS:
		size -= op->z % (size + 1);
		to = a->memory + 2 * PAGE - size;
		break;
	case MEMORY_MAPPED:
		/* Device memory, to which nobody but the kernel may write. */
		return (void *)((op->z % MAPS + 1) * (1UL << 32));
	case MEMORY_BAD:
		return op->z & 2 ? fixed :
		       (void *)(op->z & 4 ? 0xffff888000000000UL : 0UL);
	}
	if (from)
		memcpy(to, from, size);
	return to;
}

void *op_memory(struct actor *a, const struct op *op, const void *from,
		size_t size)
{
	return memory_at(a, op, 0, from, size, op->z & 1);
}

void *op_results(struct actor *a, const struct op *op, size_t size)
{
	return memory_at(a, op, RESULTS, NULL, size, !(op->z & 1));
}

uint32_t op_events(const struct op *op)
{
	static const uint32_t bits[] = {
		EPOLLIN, EPOLLOUT, EPOLLET, EPOLLONESHOT, EPOLLRDHUP, EPOLLPRI,
		EPOLLEXCLUSIVE, EPOLLWAKEUP, EPOLLRDNORM, EPOLLWRNORM,
		EPOLLRDBAND, EPOLLWRBAND, EPOLLHUP, EPOLLERR, EPOLLMSG, 0x20,
	};
	uint32_t events = 0;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		if (op->x & 1 << i)
			events |= bits[i];
	}
	return events;
}

int op_timeout(const struct op *op)
{
	static const int ms[] = { 0, 0, 0, 1, 2, -1, 0, -7 };

	return ms[op->z >> 2 & 7];
}

long door(int fd, uintptr_t offset, uint64_t len, int advice)
{
	long ret = syscall(SYS_fadvise64, fd, offset, len, advice);

	return ret < 0 ? -errno : ret;
}

long ask(const struct op *op, unsigned int request, uintptr_t arg)
{
	int fd = slot_fd(op->set);
	long ret;

	if (op->who & OP_SHORT)
		return door(fd, arg, 0, request);
	ret = ioctl(fd, request, arg);
	return ret < 0 ? -errno : ret;
}

bool survives(void (*access)(void *arg), void *arg)
{
	sigjmp_buf place;
	bool ok = false;

	rescue = &place;
	if (!sigsetjmp(place, 1)) {
		access(arg);
		ok = true;
	}
	rescue = NULL;
	return ok;
}

static void on_fault(int signo)
{
	if (rescue)
		siglongjmp(*rescue, 1);
	signal(signo, SIG_DFL);
}

static void on_interrupt(int signo)
{
	(void)signo;
}

/* Makes an allocation in the next operation fail, if it calls the device. */
static void set_failure(struct actor *a, unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n), tries = 100;

	/* This too may be what fails. */
	while (pwrite(a->fail_nth, text, len, 0) != len && tries--)
		;
}

long do_fail(struct actor *a, const struct op *op)
{
	(void)a;
	(void)op;
	return 0;
}

void ops_run(struct actor *a, unsigned int from, unsigned int to)
{
	unsigned int fail = 0;
	long ret;

	for (a->at = from; a->at < to; a->at++) {
		const struct op op = control->ops[a->at];
		const struct verb *verb = &verbs[op.verb % nr_verbs];

		if (OP_ACTOR(&op) != a->nr)
			continue;
		control->at[a->nr] = a->at;
		if (fail && verb->fails && a->fail_nth >= 0)
			set_failure(a, fail);
		ret = verb->run(a, &op);
		if (fail && verb->fails && a->fail_nth >= 0)
			set_failure(a, 0);
		fail = verb->run == do_fail ? 1 + op.z % 24 : 0;
		if (control->verbose)
			dprintf(2, "%u%s: %s set %u fd %u x %#x y %u z %u who %#x: %ld\n",
				a->nr, a->child ? " (child)" : "", verb->name,
				op.set, op.fd, op.x, op.y, op.z, op.who, ret);
	}
}

static void thread_init(struct actor *a, unsigned int nr)
{
	a->nr = nr;
	a->memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (a->memory == MAP_FAILED)
		err(2, "mmap");
	mprotect(a->memory + 2 * PAGE, PAGE, PROT_NONE);
	a->fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	control->tid[nr] = gettid();
}

static void await_work(unsigned int nr)
{
	while (!control->busy[nr])
		futex_wait(&control->busy[nr], 0, -1);
}

static void end_work(unsigned int nr)
{
	control->busy[nr] = 0;
	futex_wake(&control->busy[nr]);
}

static void *second_main(void *arg)
{
	struct actor *a = arg;

	thread_init(a, a->nr);
	for (;;) {
		await_work(a->nr);
		ops_run(a, 0, control->nr);
		end_work(a->nr);
	}
	return NULL;
}

static void clear_up(void)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		uring_end(&actors[i]);
		tasks_end(&actors[i]);
	}
	maps_end();
	close_range(first_free, ~0U, 0);
	signals_end();
}

/* Root stays what it is; the others become users, whom /proc still obeys. */
static void become_user(unsigned int nr)
{
	if (nr && (setgroups(0, NULL) || setgid(FIRST_USER + nr) ||
		   setuid(FIRST_USER + nr)))
		err(2, "setuid");
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void set_signals(void)
{
	struct sigaction fault = {
		.sa_handler = on_fault, .sa_flags = SA_NODEFER,
	};
	struct sigaction interrupt = { .sa_handler = on_interrupt };
	sigset_t all;
	int i;

	for (i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigfillset(&all);
	sigdelset(&all, SIGUSR1);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigaction(SIGUSR1, &interrupt, NULL);
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGBUS, &fault, NULL);
}

void process_run(unsigned int nr)
{
	unsigned int first = nr * THREADS;
	pthread_t thread;

	become_user(nr);
	set_signals();
	fixed = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	thread_init(&actors[0], first);
	actors[1].nr = first + 1;
	if (pthread_create(&thread, NULL, second_main, &actors[1]))
		errx(2, "pthread_create");
	while (!control->tid[first + 1])
		sched_yield();
	first_free = dup(0);
	close(first_free);
	for (;;) {
		await_work(first);
		ops_run(&actors[0], 0, control->nr);
		while (control->busy[first + 1])
			futex_wait(&control->busy[first + 1], 1, -1);
		clear_up();
		end_work(first);
		control->ends++;
		futex_wake(&control->ends);
	}
}

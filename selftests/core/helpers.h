/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests share: pairs of connected files, waiting for a state instead
 * of for a time, and threads that wait on a set.
 */
#ifndef SELFTESTS_HELPERS_H
#define SELFTESTS_HELPERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "core/backend.h"

/* Newer architectures lack these calls; the C library makes others instead. */
#ifndef SYS_poll
#define SYS_poll	SYS_ppoll
#define SYS_epoll_wait	SYS_epoll_pwait
#define SYS_pause	SYS_ppoll
#endif

/*
 * A debug kernel is some 25 times slower: limits grow there by slowness(),
 * which DEVEPOLL_SLOW=1 in the environment or kmemleak turns on.
 */
int slowness(void);

/* The harness gives a test 30 s, which is not much on such a kernel. */
#define TEST_SECONDS	120
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT TEST_SECONDS

#define NSEC_PER_MSEC	1000000ULL
uint64_t now_ns(void);

/* Drops root's rights; 0 or -errno. */
int become(uid_t uid);

int cpus_online(void);
int pin_to_cpu(int cpu);
int count_fds(void);
int raise_fd_limit(unsigned int n);

/* The number that the next file will get: it is higher if a file was leaked. */
int next_fd(void);

/*
 * Pairs: fds[0] is watched, fds[1] makes it ready.  All are non-blocking and
 * close-on-exec; 0 or -errno.
 */
int pipe_pair(int fds[2]);
int unix_pair(int fds[2], int type);
int tcp_pair(int fds[2]);
int tcp_listener(uint16_t *port);
int eventfd_new(void);

/* Puts one byte there, or takes one away; 0 or -errno. */
int put_byte(int fd);
int take_byte(int fd);
/* Writes until it would block, reads until it is empty. */
int fill(int fd);
int empty(int fd);
/* An eventfd that is not readable, and one that was never written. */
int eventfd_post(int fd);
int eventfd_take(int fd);

/* Passes @fd through a unix socket; the received number or -errno. */
int send_fd(int socket, int fd);
int receive_fd(int socket);

/* Writes @text to the file at @path; 0 or -errno. */
int write_text(const char *path, const char *text);

/* What poll(2) reports of @fd now, at most @mask and errors. */
short poll_now(int fd, short mask);

/* For task_start(): waits until poll(2) reports what can be read of *@fd. */
long poll_for_input(void *fd);

/* Has the kernel PREEMPT_RT, where threads do most of what interrupts do? */
bool is_realtime(void);

/* The field @name of /proc/@tid/status, or -errno. */
long status_field(pid_t tid, const char *name);

/* Is the thread asleep, and off its CPU? */
bool sleeps(pid_t tid);
/* Is it asleep in this system call? */
bool sleeps_in(pid_t tid, long syscall);
/* Does it sleep there so that no signal wakes it? */
bool blocks_in(pid_t tid, long syscall);
/* Does it sleep there as an idle kernel thread does, whom nothing wakes? */
bool idles_in(pid_t tid, long syscall);
/* Waits until it is asleep; 0 or -ETIMEDOUT. */
int await_sleep(pid_t tid, long syscall);
/* Waits for a condition; false after a long while. */
#define await(condition) ({						\
	uint64_t __end = now_ns() + 20000 * NSEC_PER_MSEC * slowness();	\
	bool __met;							\
									\
	while (!(__met = (condition)) && now_ns() < __end)		\
		pause_briefly();					\
	__met;								\
})
void pause_briefly(void);

/*
 * A woken thread that has not come within this time may be given up: another
 * one is woken too.
 */
#define GIVEN_UP_NS	(8 * NSEC_PER_MSEC)

/* May one have been given up that was woken at @start? */
static inline bool may_be_given_up(uint64_t start)
{
	return now_ns() - start >= GIVEN_UP_NS;
}

/*
 * Whether threads can wait for one another: a 32-bit program needs a kernel
 * with CONFIG_COMPAT_32BIT_TIME for that.
 */
bool can_use_threads(void);
#define NEEDS_THREADS() do {						\
	if (!can_use_threads())						\
		SKIP(return, "no futex(2) for 32 bit");			\
} while (0)

/* A thread that makes one call. */
struct task {
	long (*call)(void *arg);
	void *arg;
	pthread_t thread;
	atomic_int tid;
	atomic_bool done;
	long ret;
	long asleep_in;		/* the system call */
	long switches;		/* when it was asleep there */
};

/* Starts it, and waits only for its thread id; 0 or -errno. */
int task_start(struct task *task, long (*call)(void *arg), void *arg);
/* Waits until it is asleep in this system call; 0 or -errno. */
int task_await_sleep(struct task *task, long syscall);
/* Has it slept, undisturbed, since task_await_sleep()? */
bool task_undisturbed(const struct task *task);
/* Waits for its end; what its call returned, or -ETIMEDOUT. */
long task_join(struct task *task);

/* A thread in one wait on a set. */
#define WAITER_ROOM 64

struct waiter {
	struct task task;
	struct set set;		/* a copy: the fd and the mapping are shared */
	int ms;
	struct pollfd out[WAITER_ROOM];
};

/* Starts it, without and with waiting until it sleeps; 0 or -errno. */
int waiter_launch(struct waiter *w, const struct set *set, int ms);
int waiter_start(struct waiter *w, const struct set *set, int ms);
/* What its wait returned, or -ETIMEDOUT. */
long waiter_join(struct waiter *w);
/* Does it stay asleep for a while, however often it looks? */
bool waiter_stays(struct waiter *w);

/*
 * Calls modprobe for a driver of the running kernel; 0 if that succeeds.
 * $DEVEPOLL_MODULES is where drivers are, as in its option -d.
 */
int driver(const char *options, const char *name);

/* Waits for a child; its exit status, 128 + signal, or -errno. */
int reap(pid_t pid);

#endif /* SELFTESTS_HELPERS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fuzzer of the module that is guided by which of its blocks run.
 *
 * libFuzzer makes the inputs and keeps those that reach something new.  An
 * input is a list of operations.  Each is for one of six actors: two threads in
 * each of three processes, of root and of two users without privileges.  All
 * actors run their operations at the same time, and then everything they made
 * is removed.
 *
 * main.c	libFuzzer's side: the coverage, and the processes
 * mutate.c	how inputs are changed, in whole operations
 * actor.c	the processes and threads, and what they leave behind
 * files.c	files of every type, and what happens to them
 * tasks.c	forks, signals, limits, fds that are passed
 * old.c	the interface of 2001, and /dev/poll
 * sets.c	the extended interface, and signal sets
 * maps.c	mappings, and the word of the ring
 * uring.c	io_uring commands
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fuzz_limits.h"

enum {
	PROCESSES = 3, THREADS = 2, ACTORS = PROCESSES * THREADS,
	/* The fuzzer's own fds have lower numbers. */
	SLOT_FIRST = 64, SLOTS = 16, MANY_FIRST = SLOT_FIRST + SLOTS,
	MANY = 64,
	/* Where mappings are made: a number of places, and their size. */
	MAPS = 4, MAP_ROOM = 1 << 20,
};

/**
 * struct op - one operation
 * @verb: which, an index of verbs[]
 * @who: the actor, and how: OP_*
 * @set: the slot of the set
 * @fd: the other slot
 * @x: events, or a number
 * @y: which form of the operation
 * @z: a number
 */
struct op {
	uint8_t verb;
	uint8_t who;
	uint8_t set;
	uint8_t fd;
	uint16_t x;
	uint8_t y;
	uint8_t z;
};

#define OPS_MOST	(FUZZ_MOST / sizeof(struct op))

/* In op.who: the actor, by the fadvise entry, what is wrong with the memory. */
#define OP_ACTOR(op)	(((op)->who & 7) % ACTORS)
#define OP_SHORT	0x08
#define OP_MEMORY(op)	((op)->who >> 5)

/* What the memory of an argument is; the first ones are in order. */
enum {
	MEMORY_GOOD = 4, MEMORY_ENDS, MEMORY_MAPPED, MEMORY_BAD,
};

struct uring;

/**
 * struct actor - a thread that runs operations
 * @nr: which
 * @at: the operation that it runs
 * @child: it runs in a process that an operation has forked
 * @memory: two pages for arguments, with nothing after them
 * @fail_nth: fd with which its allocations fail, or -1
 * @uring: its io_uring
 * @children: processes that it has forked
 * @nr_children: how many
 */
struct actor {
	unsigned int nr;
	unsigned int at;
	bool child;
	uint8_t *memory;
	int fail_nth;
	struct uring *uring;
	pid_t children[OPS_MOST];
	unsigned int nr_children;
};

/**
 * struct verb - what an operation does
 * @name: for people
 * @run: does it; returns what the call did
 * @weight: how often it is tried at random
 * @fails: calls of the device, in which allocations may be made to fail
 */
struct verb {
	const char *name;
	long (*run)(struct actor *a, const struct op *op);
	unsigned int weight;
	bool fails;
};

extern const struct verb verbs[];
extern const unsigned int nr_verbs;

/**
 * struct control - what the processes share
 * @ops: the input
 * @nr: how many operations
 * @busy: for each actor, whether it has something to do
 * @ends: changes when a process is done
 * @tid: the threads
 * @at: which operation each runs
 * @inbox: for each process, sockets to read from and to write to
 * @verbose: print each operation
 */
struct control {
	struct op ops[OPS_MOST];
	unsigned int nr;
	atomic_uint busy[ACTORS];
	atomic_uint ends;
	pid_t tid[ACTORS];
	atomic_uint at[ACTORS];
	int inbox[PROCESSES][2];
	bool verbose;
};

extern struct control *control;

/* actor.c: the life of a process; does not return. */
void process_run(unsigned int nr) __attribute__((noreturn));
void ops_run(struct actor *a, unsigned int from, unsigned int to);
void futex_wait(atomic_uint *word, uint32_t value, long ms);
void futex_wake(atomic_uint *word);

/* The number of a slot; the last values of @slot are no slots. */
int slot_fd(unsigned int slot);
/* Moves a new fd to a slot; returns its number, or an error of the call. */
long slot_put(long fd, unsigned int slot);
/* Memory with a copy of @from, as the operation wants it. */
void *op_memory(struct actor *a, const struct op *op, const void *from,
		size_t size);
/* The same for results; other memory than that of op_memory(). */
void *op_results(struct actor *a, const struct op *op, size_t size);
/* EPOLL* bits of op.x, and milliseconds of op.z. */
uint32_t op_events(const struct op *op);
int op_timeout(const struct op *op);
/* ioctl(), or the fadvise entry. */
long ask(const struct op *op, unsigned int request, uintptr_t arg);
long door(int fd, uintptr_t offset, uint64_t len, int advice);
/* Runs @access, which may fault; false if it did. */
bool survives(void (*access)(void *arg), void *arg);

/* uring.c: closes the actor's io_uring. */
void uring_end(struct actor *a);
/* maps.c: removes what an input has mapped. */
void maps_end(void);
/* tasks.c: ends processes, takes back limits, and empties the queue. */
void tasks_end(struct actor *a);
void signals_end(void);

#define OPERATION(name) long name(struct actor *a, const struct op *op)

OPERATION(do_open);
OPERATION(do_close);
OPERATION(do_dup);
OPERATION(do_poke);
OPERATION(do_read);
OPERATION(do_pass);
OPERATION(do_receive);
OPERATION(do_fork);
OPERATION(do_exec);
OPERATION(do_kill);
OPERATION(do_limit);
OPERATION(do_fail);
OPERATION(do_pause);
OPERATION(do_signals);
OPERATION(do_write);
OPERATION(do_classic);
OPERATION(do_devpoll);
OPERATION(do_ctl);
OPERATION(do_wait);
OPERATION(do_epoll_ctl);
OPERATION(do_epoll_wait);
OPERATION(do_many);
OPERATION(do_signal);
OPERATION(do_info);
OPERATION(do_reopen);
OPERATION(do_poll);
OPERATION(do_epoll);
OPERATION(do_raw);
OPERATION(do_ring);
OPERATION(do_ring_wait);
OPERATION(do_map);
OPERATION(do_unmap);
OPERATION(do_touch);
OPERATION(do_word);
OPERATION(do_uring_open);
OPERATION(do_uring_command);
OPERATION(do_uring_enter);
OPERATION(do_uring_close);

/* sets.c: arguments in the actor's memory, also for uring.c. */
void *ctl_argument(struct actor *a, const struct op *op);
void *wait_argument(struct actor *a, const struct op *op);

#endif /* FUZZ_H */

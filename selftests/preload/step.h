/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A call that is made again and again, and interrupted at each of its
 * instructions in turn: by the trap flag of x86, in the handler of SIGTRAP.
 */
#ifndef SELFTESTS_STEP_H
#define SELFTESTS_STEP_H

#if defined(__x86_64__) || defined(__i386__)

#define HAS_STEPS	1

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG	0x100L

#ifdef __x86_64__
#define read_flags	__builtin_ia32_readeflags_u64
#define write_flags	__builtin_ia32_writeeflags_u64
#define STEP_AT		REG_RIP
#else
#define read_flags	__builtin_ia32_readeflags_u32
#define write_flags	__builtin_ia32_writeeflags_u32
#define STEP_AT		REG_EIP
#endif

#define MAX_STEPS	4096

/* The instructions that were interrupted before. */
static long known_steps[MAX_STEPS];
static int nr_known_steps;
static void (*step_handler)(void);
static volatile bool step_handled;

static bool is_known_step(long at)
{
	int i;

	for (i = 0; i < nr_known_steps; i++) {
		if (known_steps[i] == at)
			return true;
	}
	return nr_known_steps == MAX_STEPS;
}

static void step(int signal, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const long at = registers[STEP_AT];

	(void)signal;
	(void)info;
	if (is_known_step(at))
		return;
	known_steps[nr_known_steps++] = at;
	registers[REG_EFL] &= ~TRAP_FLAG;
	step_handled = true;
	step_handler();
}

/* The compiler must not move anything across this. */
static __attribute__((noinline)) void trap_each_step(bool on)
{
	const long flags = read_flags() & ~TRAP_FLAG;

	write_flags(on ? flags | TRAP_FLAG : flags);
	atomic_signal_fence(memory_order_seq_cst);
}

/*
 * The handler runs with all signals blocked, before the first instruction that it
 * has not run before yet.
 */
static inline void steps_begin(void (*handler)(void))
{
	struct sigaction action = {
		.sa_sigaction = step, .sa_flags = SA_SIGINFO,
	};

	sigfillset(&action.sa_mask);
	sigaction(SIGTRAP, &action, NULL);
	step_handler = handler;
	step_handled = false;
	trap_each_step(true);
}

/* True if the handler has run. */
static inline bool steps_end(void)
{
	trap_each_step(false);
	return step_handled;
}

static sigjmp_buf step_left;

static inline void leave_by_jump(int signal)
{
	(void)signal;
	siglongjmp(step_left, 1);
}

static inline void raise_signal(void)
{
	raise(SIGUSR1);
}

/*
 * The handler of a signal leaves a close by siglongjmp(3), at the next
 * instruction or as soon as the signal is not blocked; false if none is left.
 */
static inline bool close_is_left(int fd)
{
	signal(SIGUSR1, leave_by_jump);
	if (sigsetjmp(step_left, 1))
		return true;
	steps_begin(raise_signal);
	close(fd);
	return steps_end();
}

#endif

#endif /* SELFTESTS_STEP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * On PREEMPT_RT, where the hook's locks sleep: ftrace calls the hook with
 * preemption off if another tracer has the same function.  Then the function
 * makes a detour after ftrace has returned to it: it goes to dep_detour(),
 * which does the hook's work, and on from there to where it would have gone.
 */
#ifndef DEVEPOLL_DETOUR_H
#define DEVEPOLL_DETOUR_H

#include <linux/ftrace.h>
#include <linux/preempt.h>

#include "core/compat.h"
#include "core/realtime.h"

/* So that ftrace lets the hook change where the function goes on. */
#define DEP_DETOUR_FLAGS (DEP_LOCKS_SLEEP ? FTRACE_OPS_FL_IPMODIFY : 0)

#ifdef CONFIG_PREEMPT_RT
void dep_detour(void);
/* Where the function goes on; written by the self-test at load. */
extern unsigned long dep_detour_back;

/**
 * dep_detour_learn() - remember where the hooked function goes on
 * @fregs: the registers that the hook got
 */
static __always_inline void dep_detour_learn(struct ftrace_regs *fregs)
{
	dep_detour_back = ftrace_regs_get_instruction_pointer(fregs);
}

/**
 * dep_detour_take() - leave the hook's work to a detour, if need be
 * @fregs: the registers that the hook got
 *
 * Return: true if dep_detour() will do it.
 */
static __always_inline bool dep_detour_take(struct ftrace_regs *fregs)
{
	if (preemptible())
		return false;
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)dep_detour);
	return true;
}
#else
static __always_inline void dep_detour_learn(struct ftrace_regs *fregs)
{
}

static __always_inline bool dep_detour_take(struct ftrace_regs *fregs)
{
	return false;
}
#endif

#endif /* DEVEPOLL_DETOUR_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * With PREEMPT_RT the hook's locks sleep, but ftrace calls the hook with
 * preemption off if another tracer has the same function.  Then the hook makes
 * the function go on in dep_detour(), which does the work with preemption on
 * and jumps back.
 */
#ifndef DEVEPOLL_DETOUR_H
#define DEVEPOLL_DETOUR_H

#include <linux/ftrace.h>

#include "core/compat.h"
#include "core/realtime.h"
#include "files/table.h"

/* So that ftrace lets the hook change where the function goes on. */
#define DEP_DETOUR_FLAGS (DEP_LOCKS_SLEEP ? FTRACE_OPS_FL_IPMODIFY : 0)

#if defined(CONFIG_PREEMPT_RT) && !defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
#error "devepoll needs CONFIG_DYNAMIC_FTRACE_WITH_ARGS with PREEMPT_RT"
#endif

/* What follows is defined with PREEMPT_RT only. */
void dep_detour(void);
/* Where the function goes on. */
extern unsigned long dep_detour_back;

void dep_detour_file_gone(struct file *file);
void dep_detour_flush(void);

/**
 * dep_detour_try() - make the detour once, at load
 * @fregs: the registers that the hook got
 * @ip: the address of the function's call of ftrace
 */
static __always_inline void dep_detour_try(struct ftrace_regs *fregs,
					   unsigned long ip)
{
	if (!DEP_LOCKS_SLEEP)
		return;
	dep_detour_back = ip + MCOUNT_INSN_SIZE;
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)dep_detour);
}

/**
 * dep_detour_take() - do the hook's work, or have the detour do it
 * @fregs: the registers that the hook got
 * @file: the file that is released
 */
static __always_inline void dep_detour_take(struct ftrace_regs *fregs,
					    struct file *file)
{
	if (!DEP_LOCKS_SLEEP)
		dep_watch_file_gone(file);
	else if (preemptible())
		dep_detour_file_gone(file);
	else
		ftrace_regs_set_instruction_pointer(fregs,
						    (unsigned long)dep_detour);
}

#endif /* DEVEPOLL_DETOUR_H */

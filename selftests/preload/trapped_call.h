/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arguments and the result of a system call that a filter has turned into
 * SIGSYS, in the context of the handler.
 */
#ifndef SELFTESTS_TRAPPED_CALL_H
#define SELFTESTS_TRAPPED_CALL_H

#include <ucontext.h>

#ifdef __aarch64__

static inline long trapped_arg(const ucontext_t *uc, int i)
{
	return uc->uc_mcontext.regs[i];
}

static inline void trapped_return(ucontext_t *uc, long ret)
{
	uc->uc_mcontext.regs[0] = ret;
}

#elif defined(__riscv)

static inline long trapped_arg(const ucontext_t *uc, int i)
{
	return uc->uc_mcontext.__gregs[REG_A0 + i];
}

static inline void trapped_return(ucontext_t *uc, long ret)
{
	uc->uc_mcontext.__gregs[REG_A0] = ret;
}

#else

#ifdef __LP64__
#define TRAPPED_ARGS { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 }
#define TRAPPED_RESULT	REG_RAX
#else
#define TRAPPED_ARGS { REG_EBX, REG_ECX, REG_EDX, REG_ESI, REG_EDI, REG_EBP }
#define TRAPPED_RESULT	REG_EAX
#endif

static inline long trapped_arg(const ucontext_t *uc, int i)
{
	static const int args[] = TRAPPED_ARGS;

	return uc->uc_mcontext.gregs[args[i]];
}

static inline void trapped_return(ucontext_t *uc, long ret)
{
	uc->uc_mcontext.gregs[TRAPPED_RESULT] = ret;
}

#endif

#endif /* SELFTESTS_TRAPPED_CALL_H */

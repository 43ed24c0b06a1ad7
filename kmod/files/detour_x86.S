/* SPDX-License-Identifier: GPL-2.0 */
/* See detour.h. */
#include <linux/linkage.h>
#include <asm/ibt.h>
#include <asm/unwind_hints.h>

/*
 * ftrace returns here instead of into the hooked function, whose stack and
 * argument (%rdi, the file) are as at its entry.
 */
SYM_FUNC_START(dep_detour)
	ENDBR
	push	%rdi
	call	dep_detour_file_gone
	pop	%rdi
	/* A jump to an address in memory would need a retpoline. */
	push	dep_detour_back(%rip)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(dep_detour)

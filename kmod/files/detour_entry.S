/* SPDX-License-Identifier: GPL-2.0 */
/* See detour.h. */
#include <linux/linkage.h>
#include <asm/ibt.h>
#include <asm/unwind_hints.h>

/*
 * Entered in place of what follows the hooked function's call of ftrace, with
 * its argument, the file, and its stack.
 */
SYM_FUNC_START(dep_detour)
	ENDBR
	push	%rdi
	call	dep_detour_file_gone
	pop	%rdi
	/* A jump to an address in memory would need a thunk. */
	push	dep_detour_back(%rip)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(dep_detour)

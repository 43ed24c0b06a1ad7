/* SPDX-License-Identifier: GPL-2.0 */
/* See detour.h. */
#include <linux/linkage.h>
#include <asm/assembler.h>

/*
 * ftrace returns here instead of into the hooked function, whose stack, return
 * address (x30) and argument (x0, the file) are as at its entry.
 */
SYM_FUNC_START(dep_detour)
	stp	x29, x30, [sp, #-32]!
	mov	x29, sp
	str	x0, [sp, #16]
	bl	dep_detour_file_gone
	ldr	x0, [sp, #16]
	ldp	x29, x30, [sp], #32
	ldr_l	x16, dep_detour_back
	/* A br would need a landing pad there, which a return does not. */
	ret	x16
SYM_FUNC_END(dep_detour)

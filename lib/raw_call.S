/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * raw_call() for i386, where the sixth argument is passed in the frame pointer.
 * A thread can be canceled in this function, and its stack unwound from there.
 * Each push is therefore described to the unwinder, which inline assembly can't
 * do.
 */
#include "branch.h"

#ifdef __i386__

	.macro save register
	pushl	%\register
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset \register, 0
	.endm

	.macro restore register
	popl	%\register
	.cfi_adjust_cfa_offset -4
	.cfi_restore \register
	.endm

	.text
	.globl	devepoll_raw_call
	.hidden	devepoll_raw_call
	.type	devepoll_raw_call, @function
devepoll_raw_call:
	.cfi_startproc
	BRANCH_TARGET
	save	ebp
	save	edi
	save	esi
	save	ebx
	movl	20(%esp), %eax
	movl	24(%esp), %ebx
	movl	28(%esp), %ecx
	movl	32(%esp), %edx
	movl	36(%esp), %esi
	movl	40(%esp), %edi
	movl	44(%esp), %ebp
	int	$0x80
	restore	ebx
	restore	esi
	restore	edi
	restore	ebp
	ret
	.cfi_endproc
	.size	devepoll_raw_call, . - devepoll_raw_call

#endif

	.section .note.GNU-stack, "", %progbits

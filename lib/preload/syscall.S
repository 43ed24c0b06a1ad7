/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * syscall() of the preload library for x86-64, arm64 and riscv64.  A child of
 * clone(2) can return from it on a stack of its own, which on x86-64 contains only
 * a return address at its top, and on the others nothing.  This function therefore has no
 * stack frame when it makes the call.
 */
#include <sys/syscall.h>

#include "branch.h"

#ifdef __x86_64__

	/* A jump leaves the arguments in their registers. */
	.macro epolls number
	cmpq	$\number, %rdi
	je	devepoll_syscall_of_epoll
	.endm

	.text
	.p2align 4
	.globl	syscall
	.type	syscall, @function
syscall:
	.cfi_startproc
	BRANCH_TARGET
	epolls	SYS_epoll_wait
	epolls	SYS_epoll_ctl
	epolls	SYS_epoll_pwait
	epolls	SYS_epoll_pwait2
	epolls	SYS_epoll_create1
	epolls	SYS_epoll_create
	epolls	SYS_close
	epolls	SYS_close_range
	epolls	SYS_dup2
	epolls	SYS_dup3
	/* The three numbers of io_uring are consecutive. */
	leaq	-SYS_io_uring_setup(%rdi), %rax
	cmpq	$SYS_io_uring_register - SYS_io_uring_setup, %rax
	jbe	devepoll_syscall_of_epoll
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8, %r10
	movq	%r9, %r8
	movq	8(%rsp), %r9
	syscall
	cmpq	$-4095, %rax
	jae	1f
	ret
1:	movq	%rax, %rdi
	jmp	devepoll_syscall_failed
	.cfi_endproc
	.size	syscall, . - syscall

#elif defined(__aarch64__)

	/* A branch leaves the arguments in their registers. */
	.macro epolls number
	cmp	x0, #\number
	b.eq	devepoll_syscall_of_epoll
	.endm

	.text
	.p2align 4
	.globl	syscall
	.type	syscall, %function
syscall:
	.cfi_startproc
	BRANCH_TARGET
	epolls	SYS_epoll_ctl
	epolls	SYS_epoll_pwait
	epolls	SYS_epoll_pwait2
	epolls	SYS_epoll_create1
	epolls	SYS_close
	epolls	SYS_close_range
	epolls	SYS_dup3
	/* The three numbers of io_uring are consecutive. */
	sub	x8, x0, #SYS_io_uring_setup
	cmp	x8, #SYS_io_uring_register - SYS_io_uring_setup
	b.ls	devepoll_syscall_of_epoll
	mov	x8, x0
	mov	x0, x1
	mov	x1, x2
	mov	x2, x3
	mov	x3, x4
	mov	x4, x5
	mov	x5, x6
	svc	#0
	/* From -4095 on, the sum carries. */
	cmn	x0, #4095
	b.cs	devepoll_syscall_failed
	ret
	.cfi_endproc
	.size	syscall, . - syscall

#elif defined(__riscv)

	/* A tail call leaves the arguments in their registers. */
	.macro epolls number
	li	t0, \number
	beq	a0, t0, 1f
	.endm

	.text
	.p2align 2
	.globl	syscall
	.type	syscall, @function
syscall:
	.cfi_startproc
	epolls	SYS_epoll_ctl
	epolls	SYS_epoll_pwait
	epolls	SYS_epoll_pwait2
	epolls	SYS_epoll_create1
	epolls	SYS_close
	epolls	SYS_close_range
	epolls	SYS_dup3
	/* The three numbers of io_uring are consecutive. */
	addi	t0, a0, -SYS_io_uring_setup
	li	t1, SYS_io_uring_register - SYS_io_uring_setup
	bleu	t0, t1, 1f
	mv	a7, a0
	mv	a0, a1
	mv	a1, a2
	mv	a2, a3
	mv	a3, a4
	mv	a4, a5
	mv	a5, a6
	ecall
	li	t0, -4095
	bgeu	a0, t0, 2f
	ret
1:	tail	devepoll_syscall_of_epoll
2:	tail	devepoll_syscall_failed
	.cfi_endproc
	.size	syscall, . - syscall

#endif

	.section .note.GNU-stack, "", %progbits

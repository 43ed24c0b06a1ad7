/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * For assembly: the note that an object keeps to the protection of branches,
 * which the linker drops from a library if one object lacks it, and
 * BRANCH_TARGET, which begins a function that is called by pointer.  Both follow
 * the options of the compiler, as for C: -fcf-protection on x86,
 * -mbranch-protection on arm64.
 */
#ifndef DEVEPOLL_BRANCH_H
#define DEVEPOLL_BRANCH_H

#if defined(__CET__)

#include <cet.h>
#define BRANCH_TARGET	_CET_ENDBR

#elif defined(__ARM_FEATURE_BTI_DEFAULT) || defined(__ARM_FEATURE_PAC_DEFAULT)

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define BRANCH_TARGET	hint #34	/* bti c */
#define NOTE_BTI	1
#else
#define BRANCH_TARGET
#define NOTE_BTI	0
#endif
#ifdef __ARM_FEATURE_PAC_DEFAULT
/* No function here stores its return address. */
#define NOTE_PAC	2
#else
#define NOTE_PAC	0
#endif

	.pushsection .note.gnu.property, "a"
	.p2align 3
	.long	4		/* length of the name */
	.long	16		/* length of what follows it */
	.long	5		/* NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.long	0xc0000000	/* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
	.long	4
	.long	NOTE_BTI | NOTE_PAC
	.long	0
	.popsection

#else
#define BRANCH_TARGET
#endif

#endif /* DEVEPOLL_BRANCH_H */

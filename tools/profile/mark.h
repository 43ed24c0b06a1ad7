/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks in the code of the guest that tools/profile/plugin.c knows: long no-ops
 * with an operand that no compiler makes.
 */
#ifndef PROFILE_MARK_H
#define PROFILE_MARK_H

#define MARK_SIZE	8

/* nopl 0x013ca55a(%rax,%rax) and nopl 0x023ca55a(%rax,%rax) */
static const unsigned char mark_of_begin[MARK_SIZE] = {
	0x0f, 0x1f, 0x84, 0x00, 0x5a, 0xa5, 0x3c, 0x01,
};

static const unsigned char mark_of_end[MARK_SIZE] = {
	0x0f, 0x1f, 0x84, 0x00, 0x5a, 0xa5, 0x3c, 0x02,
};

static inline void mark_begin(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x5a, 0xa5, 0x3c, 0x01" :
		     : : "memory");
}

static inline void mark_end(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x5a, 0xa5, 0x3c, 0x02" :
		     : : "memory");
}

#endif /* PROFILE_MARK_H */

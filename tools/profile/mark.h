/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks in the code of the guest that tools/profile/plugin.c knows: long no-ops
 * with an operand that no compiler makes.
 */
#ifndef PROFILE_MARK_H
#define PROFILE_MARK_H

/* nopl with a displacement of 32 bits, of which the last byte follows */
#define MARK_BYTES	0x0f, 0x1f, 0x84, 0x00, 0x5a, 0xa5, 0x3c
#define MARK_BEGIN	0x01
#define MARK_END	0x02

#define mark_begin()							\
	asm volatile(".byte 0x0f,0x1f,0x84,0x00,0x5a,0xa5,0x3c,0x01" : : : "memory")
#define mark_end()							\
	asm volatile(".byte 0x0f,0x1f,0x84,0x00,0x5a,0xa5,0x3c,0x02" : : : "memory")

#endif /* PROFILE_MARK_H */

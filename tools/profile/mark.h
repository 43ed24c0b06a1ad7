/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks in the code of the guest that plugins know: long no-ops with an operand
 * that no compiler makes, nopl 0xNN3ca55a(%rax,%rax), where NN is the mark.
 */
#ifndef PROFILE_MARK_H
#define PROFILE_MARK_H

#include <string.h>

#define MARK_SIZE	8

/* Count from here, to there. */
#define MARK_BEGIN	0x01
#define MARK_END	0x02
/* Write what was counted since the last such mark. */
#define MARK_RECORD	0x03
/* Other work has filled the caches that belong to one processor. */
#define MARK_COLD	0x04
/* Look for the marks above from now on, and follow the caches. */
#define MARK_START	0x05
/* Look for MARK_START only, as at the beginning. */
#define MARK_STOP	0x06

#define MARK_TEXT_(nr)	#nr
#define MARK_TEXT(nr)	MARK_TEXT_(nr)
#define MARK(nr) \
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x5a, 0xa5, 0x3c, " \
		     MARK_TEXT(nr) : : : "memory")

static inline void mark_begin(void)
{
	MARK(MARK_BEGIN);
}

static inline void mark_end(void)
{
	MARK(MARK_END);
}

/* Which mark is an instruction of @size bytes?  0 if it is none. */
static inline int mark_of(const unsigned char *bytes, size_t size)
{
	static const unsigned char begins[MARK_SIZE - 1] = {
		0x0f, 0x1f, 0x84, 0x00, 0x5a, 0xa5, 0x3c,
	};

	if (size != MARK_SIZE || memcmp(bytes, begins, sizeof(begins)))
		return 0;
	return bytes[MARK_SIZE - 1];
}

#endif /* PROFILE_MARK_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kinds of instructions that cost more than others.
 */
#ifndef CYCLES_KIND_H
#define CYCLES_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum kind {
	KIND_OTHER,
	KIND_LOCKED,
	KIND_SYSCALL,
	KIND_IRET,
	/* Of tools/profile/mark.h: see insn_kind() */
	KIND_MARK,
};

/* Of an instruction of x86-64 as far as the counts need it. */
static inline enum kind kind_of(const unsigned char *bytes, size_t size)
{
	size_t i = 0;
	bool memory;

	for (; i < size; i++) {
		if (bytes[i] == 0xf0)
			return KIND_LOCKED;
		/* Other prefixes: of segments, sizes and repetition */
		if (!memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf2\xf3",
			    bytes[i], 10))
			break;
	}
	if (i < size && (bytes[i] & 0xf0) == 0x40)
		i++;
	if (i + 1 >= size)
		return i < size && bytes[i] == 0xcf ? KIND_IRET : KIND_OTHER;
	memory = bytes[i + 1] >> 6 != 3;
	/* xchg with memory locks without a prefix. */
	if ((bytes[i] == 0x86 || bytes[i] == 0x87) && memory)
		return KIND_LOCKED;
	if (bytes[i] == 0x0f && bytes[i + 1] == 0x05)
		return KIND_SYSCALL;
	return bytes[i] == 0xcf ? KIND_IRET : KIND_OTHER;
}

#endif /* CYCLES_KIND_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What the fuzzer and its part of the module have in common. */
#ifndef FUZZ_LIMITS_H
#define FUZZ_LIMITS_H

/* Counters of basic blocks, one byte each. */
#define COVER_BLOCKS	(1 << 14)

/* The largest input, in bytes. */
#define FUZZ_MOST	384

#endif /* FUZZ_LIMITS_H */

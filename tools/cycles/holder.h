/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which processors of a guest have a cache line of data.  A line travels if a
 * processor reads what another one has written since, or writes what another one
 * has read or written since.  Caches are without limit here: a line stays where
 * it was used.
 */
#ifndef CYCLES_HOLDER_H
#define CYCLES_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "line.h"

/* The memory of a guest may have 4 GiB. */
#define LINES		(1ULL << (32 - LINE_SHIFT))

/*
 * The processor that executes uses a line by the instruction @insn.  Does the line
 * travel for it?  *@taken says whether no other one has the line from now on that
 * had it before.
 */
bool holder_use(const void *insn, uint64_t line, bool store, bool *taken);

#endif /* CYCLES_HOLDER_H */

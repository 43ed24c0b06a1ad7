// SPDX-License-Identifier: GPL-2.0
/* Which processors have a line: see holder.h. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "holder.h"
#include "processor.h"

/*
 * The last load for which a line travelled: an instruction that adds to memory
 * loads and stores, but a processor gets the line for both.
 */
struct load {
	const void *insn;
	uint64_t line;
};

/* Who has each line: a bit for each processor, and whether it was written. */
#define WRITTEN		(1 << PROCESSORS)
static uint8_t holders[LINES];

static struct load last;

/* Whether the line travels to the processor whose bit is @me. */
static bool load_travels(uint8_t *holder, uint8_t me)
{
	bool travels = !(*holder & me) && *holder & WRITTEN;

	if (!(*holder & me))
		*holder = (*holder & ~WRITTEN) | me;
	return travels;
}

static bool store_travels(uint8_t *holder, uint8_t me)
{
	bool travels = *holder & ~(WRITTEN | me);

	*holder = WRITTEN | me;
	return travels;
}

bool holder_use(const void *insn, uint64_t line, bool store, bool *taken)
{
	bool got = last.insn == insn && last.line == line, travels;
	uint8_t me = 1 << processor_now();

	if (line >= LINES)
		abort();
	last.insn = NULL;
	if (store) {
		*taken = store_travels(&holders[line], me);
		return *taken && !got;
	}
	*taken = false;
	travels = load_travels(&holders[line], me);
	if (travels)
		last = (struct load) { .insn = insn, .line = line };
	return travels;
}

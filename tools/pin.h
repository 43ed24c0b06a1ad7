/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that stays on one processor.  Needs _GNU_SOURCE.
 */
#ifndef TOOLS_PIN_H
#define TOOLS_PIN_H

#include <err.h>
#include <sched.h>

/* The calling thread runs on this processor only, or the program ends. */
static inline void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
}

#endif /* TOOLS_PIN_H */

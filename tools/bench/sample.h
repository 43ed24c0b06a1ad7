/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measuring the cost of a piece of code: the counter and the median.
 */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The time stamp counter, or the virtual counter of arm64.  Under QEMU's -icount
 * shift=0 it counts the guest's instructions, one by one; on a real machine, ticks.
 */
static inline uint64_t counter_read(void)
{
#ifdef __aarch64__
	uint64_t now;

	asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r" (now) : : "memory");
	return now;
#else
	uint32_t lo, hi;

	asm volatile("lfence\n\trdtsc" : "=a" (lo), "=d" (hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
#endif
}

/*
 * One series of samples.  The median of single calls is what a call costs; a
 * sum would hold the timer interrupts, too.
 */
struct series {
	int n;
	uint64_t began;
	uint64_t samples[2048];
};

void series_clear(struct series *s);

static inline void series_begin(struct series *s)
{
	s->began = counter_read();
}

static inline void series_end(struct series *s)
{
	uint64_t now = counter_read();

	s->samples[s->n++ % 2048] = now - s->began;
}

/* Makes one sample of all from number @from on. */
void series_join(struct series *s, int from);

/* The median, without what reading the counter twice costs. */
double series_median(struct series *s);

/* Learns what reading the counter costs.  Call it before all others. */
void counter_calibrate(void);

/* What counter_calibrate() found; it is subtracted everywhere. */
unsigned int counter_overhead(void);

/* Does the counter count instructions, to the last one? */
bool counter_is_exact(void);

#endif /* BENCH_SAMPLE_H */

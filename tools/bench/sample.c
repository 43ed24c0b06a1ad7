// SPDX-License-Identifier: GPL-2.0
/*
 * Measuring the cost of a piece of code: the counter and the median.
 */
#include "sample.h"

#include <stdlib.h>

#define LOOPS		1000
#define CALIBRATIONS	101

/* Counts a register down to 0, by two instructions a round. */
#ifdef __aarch64__
#define COUNT_DOWN	"1:\n\tsubs %w0, %w0, #1\n\tb.ne 1b"
#else
#define COUNT_DOWN	"1:\n\tdec %0\n\tjnz 1b"
#endif

static unsigned int overhead;

void series_clear(struct series *s)
{
	s->n = 0;
}

void series_join(struct series *s, int from)
{
	int i;

	for (i = from + 1; i < s->n; i++)
		s->samples[from] += s->samples[i] - overhead;
	s->n = from + 1;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t raw_median(struct series *s)
{
	int n = s->n < 2048 ? s->n : 2048;

	qsort(s->samples, n, sizeof(s->samples[0]), compare);
	return s->samples[n / 2];
}

double series_median(struct series *s)
{
	return (double)raw_median(s) - overhead;
}

void counter_calibrate(void)
{
	static struct series s;
	int i;

	series_clear(&s);
	for (i = 0; i < CALIBRATIONS; i++) {
		series_begin(&s);
		series_end(&s);
	}
	overhead = raw_median(&s);
}

unsigned int counter_overhead(void)
{
	return overhead;
}

bool counter_is_exact(void)
{
	static struct series s;
	int i;

	series_clear(&s);
	for (i = 0; i < CALIBRATIONS; i++) {
		int loops = LOOPS;

		series_begin(&s);
		asm volatile(COUNT_DOWN : "+r" (loops) : : "cc");
		series_end(&s);
	}
	/* The register may be loaded inside or outside of what is counted. */
	return series_median(&s) >= 2 * LOOPS &&
	       series_median(&s) <= 2 * LOOPS + 1;
}

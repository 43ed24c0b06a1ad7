/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes the n-th allocation, or copy from or to user memory, of this thread
 * fail.
 */
#ifndef SELFTESTS_FAILNTH_H
#define SELFTESTS_FAILNTH_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No call has nearly so many points of failure. */
#define MOST_POINTS	2000

static inline void failnth_set_knob(const char *name, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, value, strlen(value)) < 0)
		fprintf(stderr, "# %s can't be set\n", name);
	close(fd);
}

/* The fd for the other functions, or -ENOSYS if the kernel can't do it. */
static inline int failnth_open(void)
{
	int fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -ENOSYS;
	/* Fail allocations that may sleep, too; print no stack each time. */
	failnth_set_knob("failslab/ignore-gfp-wait", "N");
	failnth_set_knob("failslab/verbose", "0");
	failnth_set_knob("fail_page_alloc/ignore-gfp-wait", "N");
	failnth_set_knob("fail_page_alloc/ignore-gfp-highmem", "N");
	failnth_set_knob("fail_page_alloc/min-order", "0");
	failnth_set_knob("fail_page_alloc/verbose", "0");
	failnth_set_knob("fail_usercopy/verbose", "0");
	return fd;
}

/* Makes the n-th point of failure from here on fail; none if @n is 0. */
static inline void failnth_arm(int fd, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	/* This too may be what fails. */
	while (pwrite(fd, text, len, 0) != len)
		;
}

/* Was that point reached?  A failure to read means that it was not hit. */
static inline bool failnth_disarm(int fd)
{
	char text[16] = "";
	bool hit;

	hit = pread(fd, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0;
	failnth_arm(fd, 0);
	return hit;
}

/* How many points were reached, of the @n that it was armed with; disarms. */
static inline int failnth_points(int fd, int n)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) > 0)
		n -= atoi(text);
	failnth_arm(fd, 0);
	return n;
}

/* What a test works on; each test defines it. */
struct world;

/*
 * Calls with the n-th failure, for each n until there is no such point.  @check
 * decides whether a result is right, and undoes what was done; it is told
 * whether a failure was hit.  Returns the number of points, or -1 after a wrong
 * result.
 */
static inline int failnth_walk(int fd, struct world *w,
			       int (*call)(struct world *w),
			       bool (*check)(struct world *w, int ret,
					     bool hit))
{
	int n, ret;
	bool hit;

	for (n = 1; n < MOST_POINTS; n++) {
		failnth_arm(fd, n);
		ret = call(w);
		hit = failnth_disarm(fd);
		if (!check(w, ret, hit)) {
			printf("# failure %d: result %d\n", n, ret);
			return -1;
		}
		if (!hit)
			return n - 1;
	}
	return -1;
}

#endif /* SELFTESTS_FAILNTH_H */

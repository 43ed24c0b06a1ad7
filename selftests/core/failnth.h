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
#include <sys/utsname.h>
#include <unistd.h>

#include "core/helpers.h"

/* No call has nearly so many points of failure. */
#define MOST_POINTS	2000

static inline void failnth_set_knob(const char *name, const char *value)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", name);
	err = write_text(path, value);
	if (err && err != -ENOENT)
		fprintf(stderr, "# %s can't be set\n", name);
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

/* Does the first copy to user memory fail?  It does if failures are made. */
static inline bool failnth_works(int fd)
{
	struct utsname name;
	int ret;

	failnth_arm(fd, 1);
	ret = uname(&name);
	failnth_arm(fd, 0);
	return ret && errno == EFAULT;
}

/*
 * Calls with the n-th failure, for each n until there is no such point.  @check
 * decides whether a result is right, and undoes what was done; it is told
 * whether a failure was hit.  Returns the number of points, or -1 after a wrong
 * result.
 */
static inline int failnth_try(int fd, struct world *w,
			      int (*call)(struct world *w),
			      bool (*check)(struct world *w, int ret, bool hit))
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

/* The same for a call that some failure must hit: never returns 0. */
static inline int failnth_walk(int fd, struct world *w, const char *name,
			       int (*call)(struct world *w),
			       bool (*check)(struct world *w, int ret,
					     bool hit))
{
	int points = failnth_try(fd, w, call, check);

	printf("# %s: %d points of failure\n", name, points);
	return points ?: -1;
}

/*
 * The same for a call that has nothing that could fail, or does not mind: it
 * succeeds each time, though failures are made before and after.
 */
static inline bool failnth_spares(int fd, struct world *w, const char *name,
				  int (*call)(struct world *w),
				  bool (*check)(struct world *w, int ret,
						bool hit))
{
	bool works = failnth_works(fd);
	int points = failnth_try(fd, w, call, check);

	printf("# %s: %d points, none of which matters\n", name, points);
	return works && points >= 0 && failnth_works(fd);
}

/* The same for a world whose member fail_nth is that fd. */
#define walk(w, call, check)						\
	failnth_walk((w)->fail_nth, w, #call, call, check)
#define spares(w, call, check)						\
	failnth_spares((w)->fail_nth, w, #call, call, check)

#endif /* SELFTESTS_FAILNTH_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of limits share. */
#ifndef SELFTESTS_LIMITS_H
#define SELFTESTS_LIMITS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/helpers.h"

#define WATCHES_FILE	"/sys/module/devepoll/parameters/max_user_watches"

#define PAGE		((long)getpagesize())
/* Pages that the kernel holds for each page of one set. */
#define PARTS		3

static inline long read_number(const char *path)
{
	FILE *f = fopen(path, "re");
	long n = -1;

	if (!f)
		return -errno;
	if (fscanf(f, "%ld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

static inline int write_number(const char *path, long n)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld\n", n);
	return write_text(path, text);
}

/* Adds the numbers first .. first + n - 1, gives how many took effect. */
static inline int add_range(int set, int first, int n)
{
	struct pollfd *batch = calloc(n, sizeof(*batch));
	int i, ret;

	for (i = 0; i < n; i++)
		batch[i] = (struct pollfd){ .fd = first + i, .events = POLLIN };
	ret = dep_write(set, batch, n);
	free(batch);
	return ret < 0 ? ret : ret / (int)sizeof(*batch);
}

/* Makes the numbers first .. first + n - 1 name the file. */
static inline int dup_range(int fd, int first, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (dup3(fd, first + i, O_CLOEXEC) < 0)
			return -errno;
	}
	return 0;
}

static inline int new_set(int fds)
{
	int fd = dep_open();

	if (fd >= 0 && dep_alloc(fd, fds)) {
		close(fd);
		return -1;
	}
	return fd;
}

#endif /* SELFTESTS_LIMITS_H */

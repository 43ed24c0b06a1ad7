/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameter of the module that closes and opens the fast path.  Tests
 * leave it as they find it: all others may run without it, too.
 */
#ifndef SELFTESTS_FADVISE_PARAM_H
#define SELFTESTS_FADVISE_PARAM_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FADVISE_PARAM	"/sys/module/devepoll/parameters/fadvise"

/* 'Y' or 'N', or 0 if it can't be read. */
static inline char fadvise_param(void)
{
	int fd = open(FADVISE_PARAM, O_RDONLY | O_CLOEXEC);
	char value;

	if (fd < 0)
		return 0;
	if (read(fd, &value, 1) != 1)
		value = 0;
	close(fd);
	return value;
}

/* 0 or -errno. */
static inline int set_fadvise_param(char value)
{
	int fd = open(FADVISE_PARAM, O_WRONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, &value, 1) == 1 ? 0 : -errno;
	close(fd);
	return ret;
}

#endif /* SELFTESTS_FADVISE_PARAM_H */

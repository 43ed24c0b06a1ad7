/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameter of the module that closes and opens the fadvise entry.  Tests
 * leave it as they find it: all others may run without it, too.
 */
#ifndef SELFTESTS_FADVISE_PARAM_H
#define SELFTESTS_FADVISE_PARAM_H

#include <fcntl.h>
#include <unistd.h>

#include "core/helpers.h"

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
	const char text[] = { value, 0 };

	return write_text(FADVISE_PARAM, text);
}

#endif /* SELFTESTS_FADVISE_PARAM_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers of the command line.
 */
#ifndef EXPERIMENT_NUMBER_H
#define EXPERIMENT_NUMBER_H

#include <err.h>
#include <errno.h>
#include <stdlib.h>

/* The number that @text is; ends the program, with status 2, if it is none. */
static inline long number_of(const char *what, const char *text, long least,
			     long most)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < least || n > most)
		errx(2, "%s: '%s' is not a number from %ld to %ld", what, text,
		     least, most);
	return n;
}

#endif /* EXPERIMENT_NUMBER_H */

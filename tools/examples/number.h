/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers on the command lines of the programs in this tree.
 */
#ifndef EXAMPLES_NUMBER_H
#define EXAMPLES_NUMBER_H

#include <err.h>
#include <errno.h>
#include <stdlib.h>

/**
 * number_of() - the number that a text is
 * @what: it is, for the message
 * @text: decimal
 * @least: that it may be
 * @most: that it may be
 *
 * If it is none, says so and exits with status 2.
 *
 * Return: the number.
 */
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

#endif /* EXAMPLES_NUMBER_H */

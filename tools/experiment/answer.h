/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few answers of ephttpd, which are created once.
 */
#ifndef EXPERIMENT_ANSWER_H
#define EXPERIMENT_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

struct request;

struct answer {
	const char *data;
	size_t len;
	bool last;	/* the connection ends with it */
	bool good;	/* 200 */
};

/* @msgsize is the length of a body; false where there is no memory. */
bool answer_init(size_t msgsize);

/* What belongs to a request that was read, good or bad. */
const struct answer *answer_to(const struct request *req);

/* For a request that was not read to its end: 431. */
const struct answer *answer_status(int status);

#endif /* EXPERIMENT_ANSWER_H */

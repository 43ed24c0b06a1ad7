/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to a server, and the expected answers.
 */
#ifndef PROOF_QUERY_H
#define PROOF_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* How many files an HTTP server must have: see query_write_files(). */
#define QUERY_FILES	64

/**
 * struct text - bytes that grow
 * @data: where they are
 * @len: how many
 * @room: how many fit
 */
struct text {
	char *data;
	size_t len;
	size_t room;
};

/**
 * struct query - one question
 * @who: number of the connection; no two have the same
 * @nr: number of the question on it; an odd one wants back what was stored by
 *	the one before it
 */
struct query {
	unsigned int who;
	unsigned int nr;
};

/**
 * struct protocol - how to speak to a kind of server
 * @name: its name
 * @ask: write the question, and the right answer
 * @has_header: a header comes before the answer, all of which is not known
 */
struct protocol {
	const char *name;
	void (*ask)(struct text *out, struct text *right,
		    const struct query *query);
	bool has_header;
};

const struct protocol *query_protocol(const char *name);
ssize_t query_check(const struct protocol *protocol, const struct text *in,
		    const struct text *right);
void query_write_files(const char *dir);
void text_reserve(struct text *text, size_t more);

#endif /* PROOF_QUERY_H */

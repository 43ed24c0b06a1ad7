/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading the head of an HTTP/1.x request.
 */
#ifndef EXAMPLES_REQUEST_H
#define EXAMPLES_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

struct request {
	int status;		/* 200, or why the request is rejected */
	bool head;		/* the answer has no body */
	bool keep;		/* the connection lives on after the answer */
};

/*
 * Finds the end of a head in the @len bytes at @buf, of which *@scanned are
 * known not to contain it.  Returns the head's length, or 0 and moves *@scanned
 * on when there is no end yet.
 */
size_t request_end(const char *buf, size_t len, size_t *scanned);

/* Reads the complete head of @len bytes at @head. */
void request_parse(const char *head, size_t len, struct request *req);

#endif /* EXAMPLES_REQUEST_H */

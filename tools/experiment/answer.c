// SPDX-License-Identifier: GPL-2.0
/*
 * The few answers of ephttpd, which are created once.
 */
#define _GNU_SOURCE
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <request.h>

#define HEAD_MOST	256

/* By whether there is a body, and whether the connection goes on. */
static struct answer good[2][2];

static struct rejection {
	int status;
	const char *reason;
	struct answer answer;
} rejections[] = {
	{ .status = 400, .reason = "Bad Request" },
	{ .status = 431, .reason = "Request Header Fields Too Large" },
	{ .status = 501, .reason = "Not Implemented" },
	{ .status = 505, .reason = "HTTP Version Not Supported" },
};

#define NR_REJECTIONS	(sizeof(rejections) / sizeof(rejections[0]))

/* The text of an answer with a body of @msgsize bytes. */
static char *make(struct answer *answer, int status, const char *reason,
		  size_t msgsize, bool last)
{
	static const char line[] = "The same answer to every request.\n";
	char *data = malloc(HEAD_MOST + msgsize);
	size_t i, head;

	if (!data)
		return NULL;
	head = snprintf(data, HEAD_MOST,
			"HTTP/1.1 %d %s\r\n"
			"Content-Type: text/plain\r\n"
			"Content-Length: %zu\r\n"
			"Connection: %s\r\n\r\n",
			status, reason, msgsize, last ? "close" : "keep-alive");
	for (i = 0; i < msgsize; i++)
		data[head + i] = line[i % (sizeof(line) - 1)];
	if (msgsize)
		data[head + msgsize - 1] = '\n';
	*answer = (struct answer){
		.data = data,
		.len = head + msgsize,
		.last = last,
		.good = status == 200,
	};
	return data;
}

bool answer_init(size_t msgsize)
{
	size_t i;
	int last;

	for (last = 0; last < 2; last++) {
		if (!make(&good[1][last], 200, "OK", msgsize, last))
			return false;
		/* What HEAD asks for is the same without its body. */
		good[0][last] = good[1][last];
		good[0][last].len -= msgsize;
	}
	for (i = 0; i < NR_REJECTIONS; i++)
		if (!make(&rejections[i].answer, rejections[i].status,
			  rejections[i].reason, 0, true))
			return false;
	return true;
}

const struct answer *answer_status(int status)
{
	size_t i;

	for (i = 1; i < NR_REJECTIONS; i++)
		if (rejections[i].status == status)
			return &rejections[i].answer;
	return &rejections[0].answer;
}

const struct answer *answer_to(const struct request *req)
{
	if (req->status == 200)
		return &good[!req->head][!req->keep];
	return answer_status(req->status);
}

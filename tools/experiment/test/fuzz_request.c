// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the parser of the servers with request heads that are broken in every
 * way; built with the sanitizers for addresses and undefined behaviour.  Prints
 * TAP.
 *
 * fuzz_request [ROUNDS [SEED]] prints the seed and, on a failure, the head.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <request.h>

#define HEAD_MAX	600
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Heads are put together from these, and then bytes are changed. */
static const char * const pieces[] = {
	"GET / HTTP/1.1\r\n", "HEAD / HTTP/1.1\r\n", "GET / HTTP/1.0\r\n",
	"GET", " ", "/", "HTTP/1.1", "HTTP/9.9", "\r\n", "\n", "\r", "\r\n\r\n",
	"Host: a\r\n", "Host:", "Connection: close\r\n", "Connection:",
	"keep-alive", ",", ":", "\t", "Content-Length: 0\r\n",
	"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "x", "\0",
	" : ", "\xff", "POST",
};

static unsigned int seed;
static char head[HEAD_MAX];
static size_t head_len;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

static void make_head(void)
{
	unsigned int i, nr = below(20) + 1;

	head_len = 0;
	for (i = 0; i < nr; i++) {
		const char *piece = pieces[below(ARRAY_SIZE(pieces))];
		size_t len = *piece ? strlen(piece) : 1;

		if (head_len + len > HEAD_MAX)
			break;
		memcpy(head + head_len, piece, len);
		head_len += len;
	}
	for (i = below(4); i > 2 && head_len; i--)
		head[below(head_len)] = below(256);
}

/* Each look has memory of just its size, so that a step beyond is seen. */
static char *copy(size_t len)
{
	char *data = malloc(len ? len : 1);

	if (!data)
		err(1, "malloc");
	memcpy(data, head, len);
	return data;
}

/* The end is found at the same place however the head arrives. */
static bool end_is_found(size_t *end)
{
	size_t scanned = 0, len = 0, at = 0;
	char *whole = copy(head_len);

	*end = request_end(whole, head_len, &scanned);
	free(whole);
	for (scanned = 0; !at && len < head_len;) {
		char *part;

		len += below(7) + 1;
		if (len > head_len)
			len = head_len;
		part = copy(len);
		at = request_end(part, len, &scanned);
		free(part);
		if (scanned > len)
			return false;
	}
	return at == *end && *end <= head_len;
}

static bool is_known(int status)
{
	return status == 200 || status == 400 || status == 501 || status == 505;
}

/* Only what can be answered is: the first words and a Host decide. */
static bool answer_makes_sense(size_t len)
{
	char *data = copy(len);
	struct request req;
	bool ok;

	memset(&req, 0xa5, sizeof(req));
	request_parse(data, len, &req);
	ok = is_known(req.status);
	if (req.status == 200)
		ok = !memchr(data, '\0', len) &&
		     !strncmp(data, req.head ? "HEAD " : "GET ",
			      req.head ? 5 : 4);
	free(data);
	return ok;
}

static void show(void)
{
	size_t i;

	printf("# ");
	for (i = 0; i < head_len; i++)
		printf(head[i] > ' ' && head[i] < 127 ? "%c" : "\\x%02x",
		       (unsigned char)head[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	long i, rounds = argc > 1 ? atol(argv[1]) : 200000;
	long whole = 0, good = 0;
	bool ok = true;
	size_t end;

	seed = argc > 2 ? atoi(argv[2]) : time(NULL);
	printf("TAP version 13\n1..2\n# seed %u\n", seed);
	fflush(stdout);
	for (i = 0; ok && i < rounds; i++) {
		struct request req;

		make_head();
		ok = end_is_found(&end);
		if (!ok || !end)
			continue;
		whole++;
		ok = answer_makes_sense(end);
		request_parse(head, end, &req);
		good += req.status == 200;
	}
	if (!ok)
		show();
	printf("%sok 1 - broken_heads_are_parsed_without_harm\n",
	       ok ? "" : "not ");
	/* Otherwise the heads would prove nothing. */
	printf("%sok 2 - many_heads_were_whole_and_some_good\n",
	       whole > rounds / 20 && good > rounds / 2000 ? "" : "not ");
	printf("# %ld heads, %ld of them whole, %ld good\n", i, whole, good);
	return !ok || whole <= rounds / 20 || good <= rounds / 2000;
}

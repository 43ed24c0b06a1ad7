// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to redis, memcached, HTTP and echo servers, and the correct answers,
 * which depend only on the numbers of the connection and of the request.
 */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query.h"

#define PERIOD	677

/* Now and then more than a socket takes at once. */
static size_t value_size(unsigned int seed)
{
	if (seed % 32 == 31)
		return 300 * 1000 + seed % 1000;
	return 1 + seed * 37 % 1200;
}

/**
 * text_reserve() - make room
 * @text: the text
 * @more: for so many bytes at its end
 */
void text_reserve(struct text *text, size_t more)
{
	if (text->room - text->len >= more)
		return;
	text->room = 2 * text->room + more;
	text->data = realloc(text->data, text->room);
	if (!text->data)
		err(1, "memory");
}

static void text_print(struct text *text, const char *format, ...)
{
	va_list args;
	int len;

	text_reserve(text, 256);
	va_start(args, format);
	len = vsnprintf(text->data + text->len, 256, format, args);
	va_end(args);
	text->len += len;
}

static void text_value(struct text *text, unsigned int seed)
{
	size_t size = value_size(seed), at = seed % PERIOD;

	text_reserve(text, size);
	while (size--) {
		text->data[text->len++] = 'a' + at * at % 26;
		if (++at == PERIOD)
			at = 0;
	}
}

/* What question and answer are about: a pair of questions has one value. */
static unsigned int seed_of(const struct query *query)
{
	return query->who * 7 + query->nr / 2;
}

static bool is_get(const struct query *query)
{
	return query->nr % 2;
}

static void redis_ask(struct text *out, struct text *right,
		      const struct query *query)
{
	unsigned int seed = seed_of(query);
	char key[32];
	int len = snprintf(key, sizeof(key), "proof:%u", query->who);

	if (is_get(query)) {
		text_print(out, "*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n", len, key);
		text_print(right, "$%zu\r\n", value_size(seed));
		text_value(right, seed);
		text_print(right, "\r\n");
		return;
	}
	text_print(out, "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%zu\r\n", len, key,
		   value_size(seed));
	text_value(out, seed);
	text_print(out, "\r\n");
	text_print(right, "+OK\r\n");
}

static void memcached_ask(struct text *out, struct text *right,
			  const struct query *query)
{
	unsigned int seed = seed_of(query);

	if (is_get(query)) {
		text_print(out, "get proof:%u\r\n", query->who);
		text_print(right, "VALUE proof:%u 7 %zu\r\n", query->who,
			   value_size(seed));
		text_value(right, seed);
		text_print(right, "\r\nEND\r\n");
		return;
	}
	text_print(out, "set proof:%u 7 0 %zu\r\n", query->who,
		   value_size(seed));
	text_value(out, seed);
	text_print(out, "\r\n");
	text_print(right, "STORED\r\n");
}

static void http_ask(struct text *out, struct text *right,
		     const struct query *query)
{
	unsigned int file = seed_of(query) % QUERY_FILES;

	text_print(out, "GET /%u HTTP/1.1\r\nHost: proof\r\n\r\n", file);
	text_value(right, file);
}

/* tools/go/rate says the same to everybody. */
static void go_ask(struct text *out, struct text *right,
		   const struct query *query)
{
	(void)query;
	text_print(out, "GET / HTTP/1.1\r\nHost: proof\r\n\r\n");
	text_print(right, "hello, world\n");
}

static void echo_ask(struct text *out, struct text *right,
		     const struct query *query)
{
	text_value(out, seed_of(query));
	text_value(right, seed_of(query));
}

/* How long a good header is; 0 if more has to come; -1 if it is not good. */
static ssize_t check_header(const struct text *in, const struct text *right)
{
	static const char status[] = "HTTP/1.1 200 OK\r\n";
	size_t len = sizeof(status) - 1;
	char length[64], *end;

	if (memcmp(in->data, status, in->len < len ? in->len : len))
		return -1;
	end = memmem(in->data, in->len, "\r\n\r\n", 4);
	if (!end)
		return 0;
	end += 4;
	snprintf(length, sizeof(length), "\r\nContent-Length: %zu\r\n",
		 right->len);
	if (!memmem(in->data, end - in->data, length, strlen(length)))
		return -1;
	return end - in->data;
}

/**
 * query_check() - look at what has come of an answer
 * @protocol: the protocol
 * @in: what has come
 * @right: what protocol->ask() said must come
 *
 * Return: how many bytes the answer has, if it is all there and right;
 * 0 if more has to come;
 * -1 if it is wrong.
 */
ssize_t query_check(const struct protocol *protocol, const struct text *in,
		    const struct text *right)
{
	ssize_t header = 0;
	size_t len;

	if (protocol->has_header) {
		header = check_header(in, right);
		if (header <= 0)
			return header;
	}
	len = in->len - header;
	if (len > right->len)
		len = right->len;
	if (memcmp(in->data + header, right->data, len))
		return -1;
	return len == right->len ? (ssize_t)(header + len) : 0;
}

/**
 * query_write_files() - make the files that an HTTP server is asked for
 * @dir: where
 */
void query_write_files(const char *dir)
{
	struct text text = { 0 };
	char path[4096];
	unsigned int i;
	FILE *file;

	for (i = 0; i < QUERY_FILES; i++) {
		text.len = 0;
		text_value(&text, i);
		snprintf(path, sizeof(path), "%s/%u", dir, i);
		file = fopen(path, "w");
		if (!file || fwrite(text.data, text.len, 1, file) != 1 ||
		    fclose(file))
			err(1, "%s", path);
	}
	free(text.data);
}

static const struct protocol protocols[] = {
	{ .name = "redis", .ask = redis_ask },
	{ .name = "memcached", .ask = memcached_ask },
	{ .name = "nginx", .ask = http_ask, .has_header = true },
	{ .name = "node", .ask = http_ask, .has_header = true },
	{ .name = "tokio", .ask = http_ask, .has_header = true },
	{ .name = "go", .ask = go_ask, .has_header = true },
	{ .name = "echo", .ask = echo_ask },
};

/**
 * query_protocol() - find a protocol
 * @name: name of a server
 *
 * Return: the protocol, or NULL.
 */
const struct protocol *query_protocol(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(protocols) / sizeof(*protocols); i++) {
		if (!strcmp(protocols[i].name, name))
			return &protocols[i];
	}
	return NULL;
}

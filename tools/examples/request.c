// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the head of an HTTP/1.x request.
 */
#include "request.h"

#include <string.h>
#include <strings.h>

/* A piece of the head; it is not terminated. */
struct span {
	const char *at;
	size_t len;
};

struct headers {
	int hosts;
	bool body;
	bool close;
	bool keep_alive;
};

static bool span_is(struct span s, const char *word)
{
	return s.len == strlen(word) && !strncasecmp(s.at, word, s.len);
}

static struct span span_trim(struct span s)
{
	while (s.len && (*s.at == ' ' || *s.at == '\t')) {
		s.at++;
		s.len--;
	}
	while (s.len && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
		s.len--;
	return s;
}

/* Cuts @rest at the first @sep; without one, all of @rest is the piece. */
static struct span span_cut(struct span *rest, char sep)
{
	const char *end = memchr(rest->at, sep, rest->len);
	struct span piece = *rest;

	if (!end) {
		rest->at += rest->len;
		rest->len = 0;
		return piece;
	}
	piece.len = end - rest->at;
	rest->at = end + 1;
	rest->len -= piece.len + 1;
	return piece;
}

/* A line ends in LF, with or without CR before it. */
static struct span span_line(struct span *rest)
{
	struct span line = span_cut(rest, '\n');

	if (line.len && line.at[line.len - 1] == '\r')
		line.len--;
	return line;
}

size_t request_end(const char *buf, size_t len, size_t *scanned)
{
	size_t i;

	for (i = *scanned; i < len; i++) {
		if (buf[i] != '\n')
			continue;
		if (i + 1 < len && buf[i + 1] == '\n')
			return i + 2;
		if (i + 2 < len && buf[i + 1] == '\r' && buf[i + 2] == '\n')
			return i + 3;
		if (i + 2 >= len)
			break;
	}
	*scanned = i;
	return 0;
}

static void read_connection(struct span value, struct headers *h)
{
	while (value.len) {
		struct span option = span_trim(span_cut(&value, ','));

		if (span_is(option, "close"))
			h->close = true;
		else if (span_is(option, "keep-alive"))
			h->keep_alive = true;
	}
}

/* False when the line is no header at all. */
static bool read_header(struct span line, struct headers *h)
{
	struct span name, value = line;

	if (!memchr(line.at, ':', line.len))
		return false;
	name = span_cut(&value, ':');
	if (!name.len || memchr(name.at, ' ', name.len) ||
	    memchr(name.at, '\t', name.len))
		return false;

	value = span_trim(value);
	if (span_is(name, "Host"))
		h->hosts++;
	else if (span_is(name, "Connection"))
		read_connection(value, h);
	else if (span_is(name, "Transfer-Encoding"))
		h->body = true;
	else if (span_is(name, "Content-Length") && !span_is(value, "0"))
		h->body = true;
	return true;
}

void request_parse(const char *head, size_t len, struct request *req)
{
	struct span method, target, version, line, rest = { head, len };
	struct headers h = { 0 };

	*req = (struct request){ .status = 400 };
	if (memchr(head, '\0', len))
		return;

	version = span_line(&rest);
	method = span_cut(&version, ' ');
	target = span_cut(&version, ' ');
	if (!method.len || !target.len || version.len != 8 ||
	    strncmp(version.at, "HTTP/", 5))
		return;

	for (line = span_line(&rest); line.len; line = span_line(&rest))
		if (!read_header(line, &h))
			return;

	if (span_is(version, "HTTP/1.1")) {
		if (h.hosts != 1)
			return;
		req->keep = !h.close;
	} else if (span_is(version, "HTTP/1.0")) {
		req->keep = h.keep_alive && !h.close;
	} else {
		req->status = 505;
		return;
	}

	/* A body would be taken for the next request: it is not read at all. */
	req->head = method.len == 4 && !memcmp(method.at, "HEAD", 4);
	if (!req->head && (method.len != 3 || memcmp(method.at, "GET", 3)))
		req->status = 501;
	else if (!h.body)
		req->status = 200;
}

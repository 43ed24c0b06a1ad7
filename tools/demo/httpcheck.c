// SPDX-License-Identifier: GPL-2.0
/*
 * Tests an example server with good, odd and hostile HTTP clients; prints TAP.
 *
 * httpcheck PORT FILE writes every byte of the server's answers to FILE, so
 * that two servers can be compared.  The server must use small socket buffers
 * (-b 16384); otherwise, its writes never block.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../examples/client.h"
#include "../examples/number.h"

#define GET		"GET / HTTP/1.1\r\nHost: check\r\n\r\n"
#define GET_FIRST	"GET / HTTP/1.1\r\nHo"
#define GET_LAST	"st: check\r\n\r\n"
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PIPELINED	100
#define FLOOD		6000

static int port;
static FILE *transcript;
static char buf[1 << 16];
static size_t answer_len;	/* of the answer to GET */

static int dial(int bufsize)
{
	return client_dial(port, bufsize, bufsize);
}

static bool say(int fd, const char *text)
{
	return client_say(fd, text, strlen(text));
}

/* Reads exactly @len bytes into buf. */
static bool hear_n(int fd, size_t len)
{
	ssize_t n = recv(fd, buf, len, MSG_WAITALL);

	if (n > 0)
		fwrite(buf, 1, n, transcript);
	return n == (ssize_t)len;
}

/* Reads to the end of the connection; -1 when it ended with an error. */
static ssize_t hear_all(int fd)
{
	ssize_t n, len = 0;

	do {
		n = recv(fd, buf + len, sizeof(buf) - 1 - len, 0);
		if (n > 0)
			len += n;
	} while (n > 0);
	buf[len] = '\0';
	fwrite(buf, 1, len, transcript);
	return n < 0 ? -1 : len;
}

/* Sends @text; the answer must begin with @status and end the connection. */
static bool answered_and_closed(const char *text, const char *status)
{
	int fd = dial(0);
	bool ok = say(fd, text) && hear_all(fd) > 0 &&
		  !strncmp(buf, status, strlen(status));

	close(fd);
	return ok;
}

static bool still_answers(int fd)
{
	return say(fd, GET) && hear_n(fd, answer_len);
}

static bool fresh_client_is_served(void)
{
	int fd = dial(0);
	bool ok = still_answers(fd);

	close(fd);
	return ok;
}

/* The first answer of all tells how long an answer is. */
static bool request_is_answered(void)
{
	static const char get[] = "GET / HTTP/1.1\r\nHost: check\r\n"
				  "Connection: close\r\n\r\n";
	int fd = dial(0);
	const char *body;
	ssize_t len;

	say(fd, get);
	len = hear_all(fd);
	close(fd);
	if (len <= 0 || strncmp(buf, "HTTP/1.1 200 OK\r\n", 17))
		return false;
	body = strstr(buf, "\r\n\r\n");
	if (!body || len - (body + 4 - buf) != 128)
		return false;
	answer_len = len + strlen("keep-alive") - strlen("close");
	return true;
}

static bool connection_is_kept(void)
{
	int i, fd = dial(0);
	bool ok = true;

	for (i = 0; ok && i < 10; i++)
		ok = still_answers(fd);
	close(fd);
	return ok;
}

static bool byte_by_byte_is_answered(void)
{
	int i, one = 1, fd = dial(0);
	bool ok = true;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (i = 0; ok && GET[i]; i++)
		ok = client_say(fd, &GET[i], 1);
	ok = ok && hear_n(fd, answer_len);
	close(fd);
	return ok;
}

static bool half_request_may_close(void)
{
	int fd = dial(0);
	bool ok = say(fd, GET_FIRST);

	close(fd);
	return ok && fresh_client_is_served();
}

static bool half_request_may_reset(void)
{
	int fd = dial(0);
	bool ok = say(fd, GET_FIRST);

	client_reset(fd);
	return ok && fresh_client_is_served();
}

static bool resets_at_once_do_no_harm(void)
{
	int i;

	for (i = 0; i < 100; i++)
		client_reset(dial(0));
	return fresh_client_is_served();
}

static bool reset_with_answers_unread_does_no_harm(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		int fd = dial(0);

		if (!say(fd, GET GET GET GET GET GET GET GET))
			return false;
		client_reset(fd);
	}
	return fresh_client_is_served();
}

static bool pipelined_requests_are_all_answered(void)
{
	static char text[PIPELINED * sizeof(GET)];
	int i, fd = dial(0);
	bool ok;

	for (i = 0; i < PIPELINED; i++)
		memcpy(text + i * strlen(GET), GET, strlen(GET));
	ok = say(fd, text);
	for (i = 0; ok && i < PIPELINED; i++)
		ok = hear_n(fd, answer_len);
	ok = ok && still_answers(fd);
	close(fd);
	return ok;
}

/* Sends as much of the flood as it can without waiting. */
static size_t send_some(int fd, size_t sent)
{
	const size_t len = strlen(GET), total = FLOOD * len;

	while (sent < total) {
		size_t at = sent % len;
		ssize_t n = send(fd, GET + at, len - at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			break;
		sent += n;
	}
	return sent;
}

/*
 * A client that does not read blocks the server's writes, and then its own:
 * only when both are stuck does it begin to read.
 */
static bool client_that_reads_late_gets_all(void)
{
	const size_t total = FLOOD * strlen(GET), due = FLOOD * answer_len;
	size_t sent = 0, got = 0;
	struct pollfd pfd = { .fd = dial(4096), .events = POLLIN | POLLOUT };

	do {
		sent = send_some(pfd.fd, sent);
		pfd.events = POLLOUT;
	} while (sent < total && poll(&pfd, 1, 500) > 0);
	if (sent == total)
		return false;		/* nobody was ever stuck */

	while (got < due) {
		ssize_t n;

		pfd.events = POLLIN | (sent < total ? POLLOUT : 0);
		if (poll(&pfd, 1, PATIENCE_MS) <= 0)
			break;
		sent = send_some(pfd.fd, sent);
		n = recv(pfd.fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (!n || (n < 0 && errno != EAGAIN))
			break;
		if (n > 0)
			got += n;
	}
	fprintf(transcript, "%zu bytes\n", got);
	if (got == due && !still_answers(pfd.fd))
		got = 0;
	close(pfd.fd);
	return got == due;
}

static bool oversized_head_is_refused(void)
{
	static char text[20000];
	size_t at = sprintf(text, "GET / HTTP/1.1\r\nHost: check\r\nCookie: ");

	memset(text + at, 'x', sizeof(text) - 1 - at);
	return answered_and_closed(text, "HTTP/1.1 431 ");
}

static bool endless_line_is_refused(void)
{
	static char text[100000];

	memset(text, 'x', sizeof(text) - 1);
	return answered_and_closed(text, "HTTP/1.1 431 ");
}

static bool garbage_is_refused(void)
{
	return answered_and_closed("\x16\x03\x01\x02 hello\n\n", "HTTP/1.1 400 ");
}

static bool missing_host_is_refused(void)
{
	return answered_and_closed("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 ");
}

static bool body_is_not_taken_for_a_request(void)
{
	return answered_and_closed("GET / HTTP/1.1\r\nHost: check\r\n"
				   "Content-Length: 38\r\n\r\n" GET,
				   "HTTP/1.1 400 ") &&
	       !strstr(buf, "200 OK");
}

static bool unknown_method_is_refused(void)
{
	return answered_and_closed("POST / HTTP/1.1\r\nHost: check\r\n"
				   "Content-Length: 5\r\n\r\nhello",
				   "HTTP/1.1 501 ");
}

static bool unknown_version_is_refused(void)
{
	return answered_and_closed("GET / HTTP/9.9\r\nHost: check\r\n\r\n",
				   "HTTP/1.1 505 ");
}

static bool http_1_0_ends_after_one(void)
{
	return answered_and_closed("GET / HTTP/1.0\r\n\r\n",
				   "HTTP/1.1 200 ");
}

static bool half_closed_client_is_answered(void)
{
	int fd = dial(0);
	bool ok = say(fd, GET) && !shutdown(fd, SHUT_WR) &&
		  hear_all(fd) == (ssize_t)answer_len;

	close(fd);
	return ok;
}

static bool head_has_no_body(void)
{
	int fd = dial(0);
	bool ok = say(fd, "HEAD / HTTP/1.1\r\nHost: check\r\n\r\n") &&
		  hear_n(fd, answer_len - 128) && still_answers(fd);

	close(fd);
	return ok;
}

static const struct check {
	const char *name;
	bool (*run)(void);
} checks[] = {
#define CHECK(name) { #name, name }
	CHECK(request_is_answered),
	CHECK(connection_is_kept),
	CHECK(byte_by_byte_is_answered),
	CHECK(half_request_may_close),
	CHECK(half_request_may_reset),
	CHECK(resets_at_once_do_no_harm),
	CHECK(reset_with_answers_unread_does_no_harm),
	CHECK(pipelined_requests_are_all_answered),
	CHECK(client_that_reads_late_gets_all),
	CHECK(oversized_head_is_refused),
	CHECK(endless_line_is_refused),
	CHECK(garbage_is_refused),
	CHECK(missing_host_is_refused),
	CHECK(body_is_not_taken_for_a_request),
	CHECK(unknown_method_is_refused),
	CHECK(unknown_version_is_refused),
	CHECK(http_1_0_ends_after_one),
	CHECK(half_closed_client_is_answered),
	CHECK(head_has_no_body),
};

int main(int argc, char **argv)
{
	const int n = ARRAY_SIZE(checks);
	int i, waiting, failed = 0;

	if (argc != 3)
		errx(2, "usage: httpcheck PORT FILE");
	port = number_of("PORT", argv[1], 1, 65535);
	transcript = fopen(argv[2], "w");
	if (!transcript)
		err(1, "%s", argv[2]);
	setvbuf(stdout, NULL, _IOLBF, 0);

	/* One client says the first half now and the second half at the end. */
	printf("1..%d\n", n + 1);
	waiting = dial(0);
	say(waiting, GET_FIRST);
	for (i = 0; i < n; i++) {
		bool ok = checks[i].run();

		fputc('\n', transcript);
		failed += !ok;
		printf("%sok %d - %s\n", ok ? "" : "not ", i + 1,
		       checks[i].name);
	}
	if (!say(waiting, GET_LAST) || !hear_n(waiting, answer_len)) {
		printf("not ");
		failed++;
	}
	printf("ok %d - other_half_is_answered_at_last\n", n + 1);
	if (fclose(transcript))
		err(1, "%s", argv[2]);
	return failed ? 1 : 0;
}

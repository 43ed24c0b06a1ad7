// SPDX-License-Identifier: GPL-2.0
/*
 * Tests ephttpd with slow, broken and hostile clients, in addition to those of
 * httpcheck; prints TAP.
 *
 * hostile slow PORT SEED needs a server with --timeout 2 --bufsize 16384, and
 * hostile broken PORT SEED needs one with --maxfds 64 and a timeout of a
 * minute.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../clock.h"
#include "client.h"
#include "number.h"

#define GET		"GET / HTTP/1.1\r\nHost: hostile\r\n\r\n"
#define HALF		"GET / HTTP/1.1\r\nHost: hos"
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define TIMEOUT_MS	2000
#define MAXFDS		64
#define BODY		128

static int port;
static unsigned int seed;
static char buf[1 << 16];

static int dial(void)
{
	return client_dial(port, 0, 0);
}

/* One request, one whole answer. */
static bool is_served(int fd)
{
	size_t len = 0, head;
	const char *body;
	ssize_t n;

	if (!client_say(fd, GET, strlen(GET)))
		return false;
	do {
		n = recv(fd, buf + len, 1024 - len, 0);
		if (n <= 0)
			return false;
		len += n;
		buf[len] = '\0';
		body = strstr(buf, "\r\n\r\n");
		head = body ? body + 4 - buf : 0;
	} while (!body || len < head + BODY);
	return !strncmp(buf, "HTTP/1.1 200 ", 13) && len == head + BODY;
}

static bool fresh_client_is_served(void)
{
	int fd = dial();
	bool ok = is_served(fd);

	close(fd);
	return ok;
}

/* Reads to the end; whether it came, with whatever before it. */
static bool ends(int fd)
{
	ssize_t n;

	do {
		n = recv(fd, buf, sizeof(buf), 0);
	} while (n > 0);
	return !n || errno == ECONNRESET;
}

/* Sends as many requests as go without waiting, from where it stopped. */
static void send_requests(int fd)
{
	static size_t sent;
	ssize_t n;

	do {
		size_t at = sent % strlen(GET);

		n = send(fd, GET + at, strlen(GET) - at,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			sent += n;
	} while (n > 0);
}

/* Says nothing, half a request, that and a byte at a time, never listens. */
enum { SILENT, HALVED, TRICKLING, DEAF, NR_SLOW };
static const char * const slow[] = { "silent", "halved", "trickling", "deaf" };

/* True as long as it is connected. */
static bool goes_on(int fd, int kind)
{
	struct pollfd pfd = { .fd = fd, .events = POLLRDHUP };

	if (kind == TRICKLING)
		send(fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (kind == DEAF)
		send_requests(fd);
	poll(&pfd, 1, 0);
	return !(pfd.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static bool slow_clients_are_dropped_in_time(void)
{
	int fds[NR_SLOW], kind, left = NR_SLOW;
	long began = now_ms(), now;
	bool ok = true;

	for (kind = 0; kind < NR_SLOW; kind++)
		fds[kind] = client_dial(port, kind == DEAF ? 4096 : 0, 0);
	client_say(fds[HALVED], HALF, strlen(HALF));
	client_say(fds[TRICKLING], HALF, strlen(HALF));
	do {
		poll(NULL, 0, 100);
		now = now_ms();
		for (kind = 0; kind < NR_SLOW; kind++) {
			if (fds[kind] < 0 || goes_on(fds[kind], kind))
				continue;
			printf("# %s: %ld ms\n", slow[kind], now - began);
			/* With its window shut TCP itself may end the deaf. */
			ok = ok && (kind == DEAF ||
				    now - began >= TIMEOUT_MS - 100);
			close(fds[kind]);
			fds[kind] = -1;
			left--;
		}
		ok = ok && fresh_client_is_served();
	} while (ok && left && now - began < PATIENCE_MS);
	if (left)
		printf("# %d of %d are still connected\n", left, NR_SLOW);
	return ok && !left;
}

static bool half_request_is_told_why(void)
{
	int fd = dial();
	bool ok = client_say(fd, HALF, strlen(HALF)) &&
		  recv(fd, buf, 64, 0) > 13 &&
		  !strncmp(buf, "HTTP/1.1 408 ", 13) && ends(fd);

	close(fd);
	return ok;
}

static bool busy_client_is_kept_beyond_the_time(void)
{
	long began = now_ms();
	int fd = dial();
	bool ok = true;

	while (ok && now_ms() - began < TIMEOUT_MS + 500) {
		ok = is_served(fd);
		poll(NULL, 0, 100);
	}
	close(fd);
	return ok;
}

static bool full_server_refuses_and_serves_on(void)
{
	int fds[2 * MAXFDS], i, served = 0, again = 0;
	bool ok;

	for (i = 0; i < 2 * MAXFDS; i++) {
		fds[i] = dial();
		if (is_served(fds[i])) {
			served++;
			continue;
		}
		close(fds[i]);
		fds[i] = -1;
	}
	/* Those that were in are still served, and places become free. */
	for (i = 0; i < 2 * MAXFDS; i++) {
		if (fds[i] < 0)
			continue;
		again += is_served(fds[i]);
		close(fds[i]);
	}
	printf("# %d served, %d of them again\n", served, again);
	ok = served > MAXFDS / 2 && served < MAXFDS && again == served;
	for (i = 0; ok && i < 100; i++)
		if (fresh_client_is_served())
			return true;
	return false;
}

/* Whether the server goes on after a client that leaves in this way. */
static bool survives_end(size_t len, bool by_reset, bool is_read)
{
	int fd = dial();
	/* The served client came later, so the bytes have been read by then. */
	bool ok = client_say(fd, GET, len) &&
		  (!is_read || fresh_client_is_served());

	if (by_reset)
		client_reset(fd);
	else
		close(fd);
	ok = ok && fresh_client_is_served();
	if (!ok)
		printf("# %s after %zu bytes%s\n", by_reset ? "reset" : "close",
		       len, is_read ? " that are read" : "");
	return ok;
}

static bool end_after_every_byte_does_no_harm(void)
{
	bool ok = true;
	size_t len;
	int way;

	for (len = 0; ok && len <= strlen(GET); len++)
		for (way = 0; ok && way < 4; way++)
			ok = survives_end(len, way & 1, way & 2);
	return ok;
}

static bool reset_inside_every_answer_does_no_harm(void)
{
	int i;

	for (i = 0; i < 40; i++) {
		int fd = dial();

		client_say(fd, GET GET GET GET, 4 * strlen(GET));
		recv(fd, buf, 1 + i * 20, MSG_WAITALL);
		client_reset(fd);
	}
	return fresh_client_is_served();
}

/* Bytes of any kind, or a request with some bytes changed. */
static size_t make_noise(char *text)
{
	size_t i, len = rand_r(&seed) % 300 + 1;

	if (rand_r(&seed) & 1) {
		for (i = 0; i < len; i++)
			text[i] = rand_r(&seed);
		return len;
	}
	len = strlen(GET);
	memcpy(text, GET, len);
	for (i = rand_r(&seed) % 4; i < 4; i++)
		text[rand_r(&seed) % len] = rand_r(&seed);
	return len;
}

static bool noise_is_survived(void)
{
	char noise[300];
	int i;

	for (i = 0; i < 100; i++) {
		int fd = dial();

		client_say(fd, noise, make_noise(noise));
		shutdown(fd, SHUT_WR);
		if (!ends(fd)) {
			printf("# noise %d does not end: %s\n", i,
			       strerror(errno));
			return false;
		}
		close(fd);
	}
	return fresh_client_is_served();
}

/* It goes on after its rejection, far beyond what the server throws away. */
static bool endless_request_is_cut_off(void)
{
	static char block[32768];
	struct timeval soon = { .tv_sec = 5 };
	int i, fd = dial();
	bool cut = false;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	memset(block, 'x', sizeof(block));
	for (i = 0; !cut && i < 256; i++)
		cut = send(fd, block, sizeof(block), MSG_NOSIGNAL) < 0;
	close(fd);
	return cut && fresh_client_is_served();
}

/* Sends requests and reads answers as fast as it can. */
static void greedy_client(void)
{
	static char text[100 * sizeof(GET)];
	int i, fd = dial();
	const size_t len = strlen(GET);

	for (i = 0; i < 100; i++)
		memcpy(text + i * len, GET, len);
	if (fork() == 0) {
		while (recv(fd, buf, sizeof(buf), 0) > 0)
			;
		_exit(0);
	}
	while (send(fd, text, 100 * len, MSG_NOSIGNAL) > 0)
		;
	_exit(0);
}

static bool greedy_client_leaves_room_for_others(void)
{
	pid_t pid = fork();
	bool ok = true;
	int i;

	if (!pid) {
		setpgid(0, 0);
		greedy_client();
	}
	setpgid(pid, pid);
	for (i = 0; ok && i < 20; i++) {
		poll(NULL, 0, 10);
		ok = fresh_client_is_served();
	}
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return ok;
}

static const struct check {
	const char *name;
	bool (*run)(void);
	bool slow;
} checks[] = {
#define CHECK(name, slow) { #name, name, slow }
	CHECK(slow_clients_are_dropped_in_time, true),
	CHECK(half_request_is_told_why, true),
	CHECK(busy_client_is_kept_beyond_the_time, true),
	CHECK(full_server_refuses_and_serves_on, false),
	CHECK(end_after_every_byte_does_no_harm, false),
	CHECK(reset_inside_every_answer_does_no_harm, false),
	CHECK(noise_is_survived, false),
	CHECK(endless_request_is_cut_off, false),
	CHECK(greedy_client_leaves_room_for_others, false),
};

int main(int argc, char **argv)
{
	int count = 0, failed = 0;
	bool is_slow;
	size_t i;

	if (argc != 4)
		errx(2, "usage: hostile slow|broken PORT SEED");
	is_slow = !strcmp(argv[1], "slow");
	if (!is_slow && strcmp(argv[1], "broken"))
		errx(2, "neither slow nor broken: %s", argv[1]);
	port = number_of("PORT", argv[2], 1, 65535);
	seed = number_of("SEED", argv[3], 0, INT_MAX);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# seed %u\n", seed);
	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		bool ok;

		if (checks[i].slow != is_slow)
			continue;
		ok = checks[i].run();
		failed += !ok;
		printf("%sok %d - %s\n", ok ? "" : "not ", ++count,
		       checks[i].name);
	}
	printf("1..%d\n", count);
	return failed ? 1 : 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A client that asks a server the same two small questions again and again on each
 * of its connections, so that the client itself costs little, and marks what a
 * plugin of QEMU is to count (tools/profile/mark.h).
 *
 * usage: client SERVER PORT CONNECTIONS WARM ROUNDS WINDOWS
 *
 * WARM answers come before the plugin follows the caches, and FILLING more before
 * it counts.  Then come WINDOWS windows, each with a record of its own, of ROUNDS
 * rounds of an answer for each connection.  A wrong answer ends the program.
 *
 * It waits with poll(2), so that it does not depend on what is measured.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../examples/number.h"
#include "../profile/mark.h"
#include "../proof/query.h"

#define FILLING		100
#define SILENCE_MS	30000
/* The connection, as query.h has it, whose questions are asked: its value is small. */
#define WHO		5
#define QUESTIONS	2

static struct {
	struct text out;
	struct text right;
} questions[QUESTIONS];

struct conn {
	struct text in;
	unsigned int nr;
};

static const struct protocol *protocol;
static struct conn *conns;
static struct pollfd *fds;
static unsigned int n_conns;

static void make_questions(void)
{
	struct query query = { .who = WHO };

	for (; query.nr < QUESTIONS; query.nr++)
		protocol->ask(&questions[query.nr].out,
			      &questions[query.nr].right, &query);
}

static void ask(unsigned int i)
{
	const struct text *out = &questions[conns[i].nr].out;

	conns[i].in.len = 0;
	if (send(fds[i].fd, out->data, out->len, 0) != (ssize_t)out->len)
		err(1, "send");
}

static void open_conn(unsigned int i, int port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		err(1, "connection to port %d", port);
	fds[i] = (struct pollfd) { .fd = fd, .events = POLLIN };
	text_reserve(&conns[i].in, 16384);
	ask(i);
}

/* Reads; if the answer is there, asks the next question.  Is it? */
static bool is_answered(unsigned int i)
{
	struct conn *conn = &conns[i];
	ssize_t n = recv(fds[i].fd, conn->in.data + conn->in.len,
			 conn->in.room - conn->in.len, 0);

	if (n <= 0)
		err(1, "recv");
	conn->in.len += n;
	n = query_check(protocol, &conn->in, &questions[conn->nr].right);
	if (n < 0 || (n && (size_t)n != conn->in.len))
		errx(1, "a wrong answer: %.60s", conn->in.data);
	if (!n)
		return false;
	conn->nr = (conn->nr + 1) % QUESTIONS;
	ask(i);
	return true;
}

/* Until so many answers have come; each round of answers begins with a mark. */
static void run(unsigned long answers, bool marked)
{
	unsigned long found = 0;
	unsigned int i;

	while (found < answers) {
		if (poll(fds, n_conns, SILENCE_MS) <= 0)
			errx(1, "no answer");
		for (i = 0; i < n_conns; i++) {
			if (!fds[i].revents || !is_answered(i))
				continue;
			found++;
			if (marked && found < answers && !(found % n_conns))
				mark_begin();
		}
	}
}

int main(int argc, char **argv)
{
	long warm, rounds, windows;
	unsigned int i;

	if (argc != 7)
		errx(2, "usage: client SERVER PORT CONNECTIONS WARM ROUNDS WINDOWS");
	protocol = query_protocol(argv[1]);
	if (!protocol)
		errx(2, "there is no server '%s'", argv[1]);
	n_conns = number_of("CONNECTIONS", argv[3], 1, 1000);
	warm = number_of("WARM", argv[4], 1, 1 << 30);
	rounds = number_of("ROUNDS", argv[5], 1, 1 << 30);
	windows = number_of("WINDOWS", argv[6], 1, 1000);
	conns = calloc(n_conns, sizeof(*conns));
	fds = calloc(n_conns, sizeof(*fds));
	if (!conns || !fds)
		err(1, "calloc");
	make_questions();
	for (i = 0; i < n_conns; i++)
		open_conn(i, number_of("PORT", argv[2], 1, 65535));
	run(warm, false);
	MARK(MARK_START);
	run(FILLING, false);
	while (windows--) {
		mark_begin();
		run(rounds * n_conns, true);
		mark_end();
		MARK(MARK_RECORD);
	}
	MARK(MARK_STOP);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What wake-ups name and what is so: edges are reported as by epoll where both
 * differ, also to a program that trusts wake-ups, and from a ring.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "epoll/named.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif

FIXTURE(named) {
	struct named set;
};

NAMED_VARIANTS(named);

FIXTURE_SETUP(named)
{
	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(0, named_open(&self->set, variant->how));
}

FIXTURE_TEARDOWN(named)
{
	named_close(&self->set);
}

static int so_error(int fd)
{
	socklen_t length = sizeof(int);
	int err = -1;

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &length);
	return err;
}

/* A listener of loopback; its address, or -errno. */
static int listen_at(struct sockaddr_in *at, int protocol)
{
	socklen_t length = sizeof(*at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, protocol);

	*at = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	if (fd < 0 || bind(fd, (struct sockaddr *)at, length) ||
	    listen(fd, 0) || getsockname(fd, (struct sockaddr *)at, &length))
		return -errno;
	return fd;
}

static int disconnect(int fd)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	return connect(fd, &none, sizeof(none)) ? -errno : 0;
}

TEST_F(named, listener_that_is_shut_down_has_no_error)
{
	static const int protocols[] = { 0, IPPROTO_MPTCP };
	struct sockaddr_in at;
	unsigned int i;
	int fd;

	for (i = 0; i < 2; i++) {
		fd = listen_at(&at, protocols[i]);
		if (i && (fd == -EPROTONOSUPPORT || fd == -ENOPROTOOPT))
			continue;
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, named_add(&self->set, fd, EPOLLIN));
		EXPECT_EQ(-ENOMSG, named_told(&self->set, fd, 0));
		ASSERT_EQ(0, shutdown(fd, SHUT_RD));
		EXPECT_EQ(EPOLLHUP, named_told(&self->set, fd, 0) & ~EPOLLIN);
		EXPECT_EQ(0, so_error(fd));
		ASSERT_EQ(0, close(fd));
	}
}

TEST_F(named, socket_that_disconnects_has_hung_up)
{
	int fds[2];

	ASSERT_EQ(0, tcp_pair(fds));
	ASSERT_EQ(0, named_add(&self->set, fds[0],
			       EPOLLIN | EPOLLOUT | EPOLLRDHUP));
	EXPECT_EQ(EPOLLOUT, named_told(&self->set, fds[0], 0));
	ASSERT_EQ(0, disconnect(fds[0]));
	EXPECT_EQ(poll_now(fds[0], POLLIN | POLLOUT | POLLRDHUP),
		  named_told(&self->set, fds[0], 0));
	EXPECT_TRUE(poll_now(fds[0], 0) & POLLHUP);
}

/* Asks for the time at which a segment was acknowledged. */
static int stamp_a_byte(int fds[2])
{
	/* SOF_TIMESTAMPING_TX_ACK, _OPT_TSONLY and _SOFTWARE */
	const int stamps = (1 << 9) | (1 << 11) | (1 << 4);

	if (setsockopt(fds[0], SOL_SOCKET, SO_TIMESTAMPING, &stamps,
		       sizeof(stamps)))
		return -errno;
	return put_byte(fds[0]) ?: await(poll_now(fds[0], 0) & POLLERR) ?
	       0 : -ETIME;
}

TEST_F(named, hang_up_after_an_error_that_was_not_taken_is_no_secret)
{
	const uint32_t asked = EPOLLIN | EPOLLRDHUP;
	int fds[2], late;

	for (late = 0; late < 2; late++) {
		ASSERT_EQ(0, tcp_pair(fds));
		if (!late)
			ASSERT_EQ(0, named_add(&self->set, fds[0], asked));
		ASSERT_EQ(0, stamp_a_byte(fds));
		/* It says EPOLLERR, and waits to be taken. */
		if (late)
			ASSERT_EQ(0, named_add(&self->set, fds[0], asked));
		named_look(&self->set);
		ASSERT_EQ(0, disconnect(fds[0]));
		named_look(&self->set);
		EXPECT_EQ(poll_now(fds[0], POLLIN | POLLRDHUP),
			  named_told(&self->set, fds[0], 0));
		EXPECT_TRUE(poll_now(fds[0], 0) & POLLHUP);
		ASSERT_EQ(0, close(fds[0]));
		ASSERT_EQ(0, close(fds[1]));
	}
}

TEST_F(named, error_queue_is_urgent_where_this_was_asked_for)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), yes = 1;

	/* Nobody is there. */
	at.sin_port = htons(9);
	ASSERT_EQ(0, connect(fd, (struct sockaddr *)&at, sizeof(at)));
	ASSERT_EQ(0, setsockopt(fd, SOL_IP, IP_RECVERR, &yes, sizeof(yes)));
	ASSERT_EQ(0, setsockopt(fd, SOL_SOCKET, SO_SELECT_ERR_QUEUE, &yes,
				sizeof(yes)));
	ASSERT_EQ(0, named_add(&self->set, fd, EPOLLIN | EPOLLPRI));
	ASSERT_EQ(1, send(fd, "", 1, 0));
	ASSERT_TRUE(await(poll_now(fd, POLLPRI) == (POLLPRI | POLLERR)));
	EXPECT_EQ(EPOLLPRI | EPOLLERR, named_told(&self->set, fd, 10000));
}

TEST_F(named, part_of_a_page_that_is_read_makes_no_room)
{
	static char page[4096];
	int fds[2];

	ASSERT_EQ(0, pipe2(fds, O_NONBLOCK));
	ASSERT_EQ(4096, fcntl(fds[1], F_SETPIPE_SZ, 4096));
	ASSERT_EQ(0, named_add(&self->set, fds[1], EPOLLOUT));
	EXPECT_EQ(EPOLLOUT, named_told(&self->set, fds[1], 0));
	ASSERT_EQ(4096, write(fds[1], page, 4096));
	ASSERT_EQ(2048, read(fds[0], page, 2048));
	EXPECT_EQ(0, poll_now(fds[1], POLLOUT));
	EXPECT_EQ(-ENOMSG, named_told(&self->set, fds[1], 0));
	ASSERT_EQ(2048, read(fds[0], page, 2048));
	EXPECT_EQ(EPOLLOUT, named_told(&self->set, fds[1], 0));
}

/* Both ends of a terminal that hands out input by five characters. */
static int open_terminal(int *master, int *slave)
{
	struct termios termios;
	char name[64];

	*master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (*master < 0 || grantpt(*master) || unlockpt(*master) ||
	    ptsname_r(*master, name, sizeof(name)))
		return -errno;
	*slave = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (*slave < 0 || tcgetattr(*slave, &termios))
		return -errno;
	cfmakeraw(&termios);
	termios.c_cc[VMIN] = 5;
	return tcsetattr(*slave, TCSANOW, &termios) ? -errno : 0;
}

TEST_F(named, less_input_than_a_terminal_waits_for_is_none)
{
	int master, slave;

	ASSERT_EQ(0, open_terminal(&master, &slave));
	ASSERT_EQ(0, named_add(&self->set, slave, EPOLLIN));
	ASSERT_EQ(3, write(master, "123", 3));
	/* A worker moves it. */
	ASSERT_TRUE(await(queued_input(slave) == 3));
	EXPECT_EQ(-ENOMSG, named_told(&self->set, slave, 0));
	ASSERT_EQ(2, write(master, "45", 2));
	EXPECT_EQ(EPOLLIN, named_told(&self->set, slave, 10000));
}

TEST_F(named, packet_mode_of_a_terminal_is_urgent)
{
	int master, slave, yes = 1;

	ASSERT_EQ(0, open_terminal(&master, &slave));
	ASSERT_EQ(0, ioctl(master, TIOCPKT, &yes));
	ASSERT_EQ(0, named_add(&self->set, master, EPOLLIN | EPOLLPRI));
	EXPECT_EQ(-ENOMSG, named_told(&self->set, master, 0));
	/* The wake-up of the first names EPOLLIN alone, the second nothing. */
	ASSERT_EQ(0, tcflow(slave, TCOOFF));
	EXPECT_EQ(POLLIN | POLLPRI, poll_now(master, POLLIN | POLLPRI));
	EXPECT_EQ(EPOLLIN | EPOLLPRI, named_told(&self->set, master, 0));
	ASSERT_EQ(0, tcflush(slave, TCIFLUSH));
	EXPECT_EQ(EPOLLIN | EPOLLPRI, named_told(&self->set, master, 0));
}

/* A bound socket of datagrams, and one that is connected to it. */
static int unix_server(struct sockaddr_un *at, const char *name)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memset(at, 0, sizeof(*at));
	at->sun_family = AF_UNIX;
	snprintf(at->sun_path + 1, sizeof(at->sun_path) - 1,
		 "devepoll-named-%d-%s", getpid(), name);
	return bind(fd, (struct sockaddr *)at, sizeof(*at)) ? -errno : fd;
}

TEST_F(named, room_at_a_former_peer_is_none)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	int other = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	struct sockaddr_un first_at, full_at;
	int first, full;
	char byte;

	first = unix_server(&first_at, "first");
	full = unix_server(&full_at, "full");
	ASSERT_LE(0, first);
	ASSERT_LE(0, full);
	ASSERT_EQ(0, connect(fd, (struct sockaddr *)&first_at,
			     sizeof(first_at)));
	ASSERT_EQ(1, send(fd, "a", 1, 0));
	ASSERT_EQ(0, connect(other, (struct sockaddr *)&full_at,
			     sizeof(full_at)));
	while (send(other, "b", 1, 0) == 1)
		;
	ASSERT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, connect(fd, (struct sockaddr *)&full_at,
			     sizeof(full_at)));
	ASSERT_EQ(0, named_add(&self->set, fd, EPOLLOUT));
	EXPECT_EQ(-ENOMSG, named_told(&self->set, fd, 0));
	ASSERT_EQ(1, recv(first, &byte, 1, 0));
	EXPECT_EQ(0, poll_now(fd, POLLOUT));
	EXPECT_EQ(-ENOMSG, named_told(&self->set, fd, 0));
}

/*
 * What follows are the files that are trusted though their wake-ups can say
 * what is not so: see Documentation/ring.rst.
 */

TEST_F(named, eventfd_to_which_zero_is_added_is_told_to_who_trusts)
{
	uint64_t zero = 0;
	int fd = eventfd_new();

	ASSERT_EQ(0, named_add(&self->set, fd, EPOLLIN));
	ASSERT_EQ(8, write(fd, &zero, 8));
	EXPECT_EQ(0, poll_now(fd, POLLIN));
	EXPECT_EQ(named_trusts(&self->set) ? EPOLLIN : -ENOMSG,
		  named_told(&self->set, fd, 0));
}

TEST_F(named, urgent_byte_is_told_as_data_to_who_trusts)
{
	int fds[2];

	ASSERT_EQ(0, tcp_pair(fds));
	ASSERT_EQ(0, named_add(&self->set, fds[0], EPOLLIN));
	ASSERT_EQ(1, send(fds[1], "u", 1, MSG_OOB));
	ASSERT_TRUE(await(poll_now(fds[0], POLLPRI)));
	EXPECT_EQ(0, poll_now(fds[0], POLLIN));
	EXPECT_EQ(named_trusts(&self->set) ? EPOLLIN : -ENOMSG,
		  named_told(&self->set, fds[0], named_trusts(&self->set) ?
			     10000 : 0));
}

/* Whoever asks for it learns what is so. */
TEST_F(named, urgent_byte_is_no_data)
{
	int fds[2];

	ASSERT_EQ(0, tcp_pair(fds));
	ASSERT_EQ(0, named_add(&self->set, fds[0], EPOLLIN | EPOLLPRI));
	ASSERT_EQ(1, send(fds[1], "u", 1, MSG_OOB));
	ASSERT_TRUE(await(poll_now(fds[0], POLLPRI)));
	EXPECT_EQ(EPOLLPRI, named_told(&self->set, fds[0], 10000));
}

TEST_F(named, larger_buffer_of_a_connection_that_is_made_is_told_to_who_trusts)
{
	int listener, first, fd, size = 65536;
	struct sockaddr_in at;

	listener = listen_at(&at, 0);
	ASSERT_LE(0, listener);
	/* The only one for which there is room. */
	first = socket(AF_INET, SOCK_STREAM, 0);
	ASSERT_EQ(0, connect(first, (struct sockaddr *)&at, sizeof(at)));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	ASSERT_EQ(-1, connect(fd, (struct sockaddr *)&at, sizeof(at)));
	ASSERT_EQ(EINPROGRESS, errno);
	ASSERT_EQ(0, named_add(&self->set, fd, EPOLLOUT));
	ASSERT_EQ(0, setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size,
				sizeof(size)));
	EXPECT_EQ(0, poll_now(fd, POLLOUT));
	EXPECT_EQ(named_trusts(&self->set) ? EPOLLOUT : -ENOMSG,
		  named_told(&self->set, fd, 0));
}

/*
 * A datagram of UDP whose checksum is wrong, to the port of @at.  One that is
 * short would be dropped when it comes.
 */
static int send_damaged(const struct sockaddr_in *at)
{
	const uint16_t packet[100] = { at->sin_port, at->sin_port,
				       htons(sizeof(packet)), htons(0x1234) };
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
	long ret = sendto(fd, packet, sizeof(packet), 0,
			  (const struct sockaddr *)at, sizeof(*at));

	close(fd);
	return ret == sizeof(packet) ? 0 : -errno;
}

TEST_F(named, damaged_datagram_is_told_to_who_trusts)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(at);
	/* poll() checks it only if a read would wait. */
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	ASSERT_EQ(0, bind(fd, (struct sockaddr *)&at, length));
	ASSERT_EQ(0, getsockname(fd, (struct sockaddr *)&at, &length));
	ASSERT_EQ(0, named_add(&self->set, fd, EPOLLIN));
	ASSERT_EQ(0, send_damaged(&at));
	if (named_trusts(&self->set)) {
		EXPECT_EQ(EPOLLIN, named_told(&self->set, fd, 10000));
		EXPECT_EQ(0, poll_now(fd, POLLIN));
	} else {
		EXPECT_EQ(-ENOMSG, named_told(&self->set, fd, 20));
	}
}

TEST_F(named, mark_shows_who_is_trusted)
{
	int fds[2], master, slave, event = eventfd_new();

	if (!named_trusts(&self->set))
		SKIP(return, "nobody is");
	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, open_terminal(&master, &slave));
	ASSERT_EQ(0, named_add(&self->set, event, EPOLLIN));
	ASSERT_EQ(0, named_add(&self->set, fds[0], EPOLLIN));
	ASSERT_EQ(0, named_add(&self->set, slave, EPOLLIN));
	ASSERT_EQ(0, named_add(&self->set, master, EPOLLIN));
	EXPECT_TRUE(named_is_marked(&self->set, event));
	EXPECT_TRUE(named_is_marked(&self->set, fds[0]));
	EXPECT_FALSE(named_is_marked(&self->set, slave));
	/* A change does not make it another file. */
	ASSERT_EQ(0, named_mod(&self->set, slave, EPOLLIN | EPOLLOUT));
	EXPECT_FALSE(named_is_marked(&self->set, slave));
	ASSERT_EQ(0, named_mod(&self->set, event, EPOLLIN));
	EXPECT_TRUE(named_is_marked(&self->set, event));
}

TEST_HARNESS_MAIN

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Another process that shares a set, with a table of files of its own: it
 * follows orders, one after the other.
 */
#ifndef SELFTESTS_STRANGER_H
#define SELFTESTS_STRANGER_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/helpers.h"

/* The first three are those of epoll_ctl(2). */
enum stranger_verb {
	STRANGER_ADD = EPOLL_CTL_ADD,
	STRANGER_DEL = EPOLL_CTL_DEL,
	STRANGER_MOD = EPOLL_CTL_MOD,
	STRANGER_WAIT = 16,	/* for the event with these data */
	STRANGER_HAS,
	STRANGER_ADOPT,		/* the set that came by this number */
	/* these are the same for all */
	STRANGER_NAME,		/* let the number name an eventfd of its own */
	STRANGER_TAKE,		/* or the file that stranger_give() sends */
	STRANGER_CLOSE,
	STRANGER_POST,
};

struct order {
	int verb;
	int number;
	uint32_t events;
	uint64_t data;
};

struct stranger {
	pid_t pid;
	int socket;
};

/* Makes a number name what @fd names, and closes @fd; 0 or -errno. */
static inline int name_file(int number, int fd)
{
	int err = 0;

	if (fd < 0)
		return fd;
	if (fd == number)
		return 0;
	if (dup3(fd, number, O_CLOEXEC) != number)
		err = -errno;
	close(fd);
	return err;
}

static inline int stranger_obey(int socket, const struct order *order,
				int (*act)(void *arg, const struct order *),
				void *arg)
{
	switch (order->verb) {
	case STRANGER_NAME:
		return name_file(order->number, eventfd_new());
	case STRANGER_TAKE:
		return name_file(order->number, receive_fd(socket));
	case STRANGER_CLOSE:
		return close(order->number) ? -errno : 0;
	case STRANGER_POST:
		return eventfd_post(order->number);
	}
	return act(arg, order);
}

/* Starts one that calls @act for its orders; 0 or -errno. */
static inline int stranger_start(struct stranger *stranger,
				 int (*act)(void *arg, const struct order *),
				 void *arg)
{
	struct order order;
	int ends[2], answer;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	stranger->pid = fork();
	if (stranger->pid < 0)
		return -errno;
	stranger->socket = ends[0];
	if (stranger->pid) {
		close(ends[1]);
		return 0;
	}
	close(ends[0]);
	while (read(ends[1], &order, sizeof(order)) == sizeof(order)) {
		answer = stranger_obey(ends[1], &order, act, arg);
		if (write(ends[1], &answer, sizeof(answer)) < 0)
			break;
	}
	_exit(0);
}

static inline int stranger_tell(struct stranger *stranger,
				const struct order *order)
{
	return write(stranger->socket, order, sizeof(*order)) < 0 ? -errno : 0;
}

static inline int stranger_answer(struct stranger *stranger)
{
	int answer;

	return read(stranger->socket, &answer, sizeof(answer)) ==
	       sizeof(answer) ? answer : -EPIPE;
}

/* Gives an order; returns its result. */
static inline int stranger_does(struct stranger *stranger, int verb,
				int number, uint32_t events, uint64_t data)
{
	const struct order order = { verb, number, events, data };
	int err = stranger_tell(stranger, &order);

	return err ? err : stranger_answer(stranger);
}

/* Gives it a file, under a number. */
static inline int stranger_give(struct stranger *stranger, int number, int fd)
{
	const struct order order = { .verb = STRANGER_TAKE, .number = number };
	int err = stranger_tell(stranger, &order);

	if (!err)
		err = send_fd(stranger->socket, fd);
	return err ? err : stranger_answer(stranger);
}

/*
 * Lets it end, and does not wait for it as a child: it is still known.  0 or
 * -errno.
 */
static inline int stranger_leave(struct stranger *stranger)
{
	siginfo_t info;

	if (shutdown(stranger->socket, SHUT_WR) ||
	    waitid(P_PID, stranger->pid, &info, WEXITED | WNOWAIT))
		return -errno;
	return 0;
}

/* Lets it end, and waits for that; 0 if it did as it should. */
static inline int stranger_end(struct stranger *stranger)
{
	close(stranger->socket);
	return reap(stranger->pid);
}

#endif /* SELFTESTS_STRANGER_H */

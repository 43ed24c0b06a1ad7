/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two forms that epoll had in 2002, each used by a file that is written
 * like the programs of that time.
 */
#ifndef SELFTESTS_LIB2002_H
#define SELFTESTS_LIB2002_H

#include <poll.h>

struct form {
	int (*create)(int maxfds);
	int (*ctl)(int epfd, int op, int fd, unsigned int events);
	/* copies what it finds, at most @room events */
	int (*wait)(int epfd, struct pollfd *out, int room, int timeout);
	/* where it finds them, if no place is given */
	int (*wait_in_place)(int epfd, struct pollfd const **events,
			     int timeout);
};

extern const struct form first_form;
extern const struct form second_form;

#endif /* SELFTESTS_LIB2002_H */

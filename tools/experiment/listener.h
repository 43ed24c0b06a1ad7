/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The listening socket of ephttpd.
 */
#ifndef EXPERIMENT_LISTENER_H
#define EXPERIMENT_LISTENER_H

/**
 * listener_open() - listen at a port of 127.0.0.1
 * @port: in: the port, 0 for any; out: the port
 * @bufsize: of the sockets' buffers, 0 for the kernel's choice
 *
 * Ends the program where the port is in use, and says so.
 *
 * Return: the socket.
 */
int listener_open(int *port, int bufsize);

/*
 * The next connection, or -1 if there is none now.  If fds run out, connections
 * are closed at once.
 */
int listener_accept(int listen_fd, int maxfds);

/* To be called once before listener_accept(). */
void listener_init(void);

#endif /* EXPERIMENT_LISTENER_H */

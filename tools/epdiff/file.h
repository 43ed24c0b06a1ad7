/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files on which sequences operate: their kinds, and the operations.
 *
 * After a function that changes a file has returned, the state of the file does
 * not change by itself any more, because the sides poll it one after the other
 * and must see the same state.  This is always true for pipes, unix sockets and
 * eventfds.  For ptys, timers and TCP, the functions wait until the kernel has
 * finished its asynchronous work (settle.h).
 */
#ifndef EPDIFF_FILE_H
#define EPDIFF_FILE_H

#include <stdbool.h>
#include <stdint.h>

enum file_kind {
	FILE_PIPE, FILE_FIFO, FILE_STREAM, FILE_DGRAM, FILE_SEQPACKET,
	FILE_TCP, FILE_EVENTFD, FILE_SEMAPHORE, FILE_TIMERFD, FILE_PTY,
	FILE_PTYPACKET, FILE_LISTENER, FILE_SYSCTL,
	/* What can't be watched, and what the device does not watch. */
	FILE_REGULAR, FILE_PATH, FILE_EPOLL,
	FILE_KINDS,
};

#define FILE_KINDS_POLLABLE	FILE_REGULAR

/* The most writes that wait for a reader, where that is bounded. */
#define FILE_QUEUED_MOST	16
/* Clients that a listener may have. */
#define FILE_CLIENTS		4

/**
 * struct file - one open file of a world
 * @kind: enum file_kind
 * @end: 0 or 1, of those with two ends
 * @refs: slots that name it; 0: not in use
 * @peer: index of the other end; itself where there is none
 * @serial: unlike that of any other file of the world, never 0
 * @queued: writes of this end that the other may not have read
 * @full: a TCP end that was filled and not yet drained
 * @clients: numbers of a listener's clients, oldest first
 * @nclients: how many
 */
struct file {
	uint8_t kind;
	uint8_t end;
	uint8_t refs;
	uint8_t peer;
	uint32_t serial;
	uint16_t queued;
	bool full;
	uint8_t nclients;
	int16_t clients[FILE_CLIENTS];
};

/* The name of a kind, and the kind of a name or -1. */
const char *file_kind_name(unsigned int kind);
int file_kind_find(const char *name);

/* Whether a kind has two ends. */
bool file_kind_is_pair(unsigned int kind);

/*
 * Whether polling such a file consumes the event that it reports: then each
 * side has an open file of its own.
 */
static inline bool file_kind_forgets(unsigned int kind)
{
	return kind == FILE_SYSCTL;
}

/**
 * file_make() - open a file and, if it has one, its other end
 * @kind: enum file_kind
 * @fds: out: the numbers; the second is that of the other end, or of a second
 *	open of a file that forgets, else -1
 *
 * Return: 0, or -1 with errno
 */
int file_make(unsigned int kind, int fds[2]);

/*
 * What a kind does.  @fd is a number of @f; @peer_fd one of the other end, or
 * -1 if that is closed.
 */
void file_write(struct file *f, int fd, int peer_fd, unsigned int n);
void file_fill(struct file *f, int fd, int peer_fd);
void file_read(struct file *f, struct file *peer, int fd, int peer_fd,
	       unsigned int n);
void file_drain(struct file *f, struct file *peer, int fd, int peer_fd);
void file_urgent(struct file *f, int fd, int peer_fd);
void file_shut(struct file *f, int fd, int peer_fd, int how);

/* Whether closing or shutting down this end now has a defined outcome. */
bool file_may_end(const struct file *f);

/* The last number of a file is closed. */
void file_ended(struct file *f, struct file *peer, int peer_fd);

#endif /* EPDIFF_FILE_H */

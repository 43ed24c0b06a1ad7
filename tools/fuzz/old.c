// SPDX-License-Identifier: GPL-2.0
/* The interface of 2001, and /dev/poll. */
#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/devepoll.h>
#include <linux/devpoll.h>

#include "fuzz.h"

#define ENTRIES	4

/* For both devices: in their events, POLLREMOVE has two values. */
long do_write(struct actor *a, const struct op *op)
{
	struct pollfd entries[ENTRIES];
	unsigned int i, n = 1 + op->y % ENTRIES;
	size_t size = n * sizeof(entries[0]);
	short events = op->x;

	if (op->y & 4)
		events = POLLREMOVE | DP_SOLARIS_POLLREMOVE;
	else if (op->y & 8)
		events = op_events(op);
	for (i = 0; i < n; i++) {
		entries[i].fd = slot_fd(op->fd + i);
		entries[i].events = events;
		entries[i].revents = op->z;
	}
	if (op->y == 255)
		size += op->z % 8;
	return write(slot_fd(op->set), op_memory(a, op, entries, size), size);
}

long do_classic(struct actor *a, const struct op *op)
{
	struct evpoll poll = { .ep_timeout = op_timeout(op) };
	struct evpoll32 poll32 = { .ep_timeout = op_timeout(op) };
	struct evpoll_packed packed = { .ep_timeout = op_timeout(op) };
	struct pollfd entry = { .fd = slot_fd(op->fd), .events = op->x };
	int nr = op->x & 0x8000 ? -op->z : op->x & 0x4000 ? op->z * 64 :
							     1 + op->z % 4;

	switch (op->y % 8) {
	case 0:
	case 1:
		return ask(op, EP_ALLOC, nr);
	case 2:
		return ask(op, EP_POLL32, (uintptr_t)
			   op_memory(a, op, &poll32, sizeof(poll32)));
	case 3:
		return ask(op, EP_POLL_PACKED, (uintptr_t)
			   op_memory(a, op, &packed, sizeof(packed)));
	case 4:
		return ask(op, EP_FREE, 0);
	case 5:
		return ask(op, EP_ISPOLLED, (uintptr_t)
			   op_memory(a, op, &entry, sizeof(entry)));
	default:
		return ask(op, EP_POLL, (uintptr_t)
			   op_memory(a, op, &poll, sizeof(poll)));
	}
}

long do_devpoll(struct actor *a, const struct op *op)
{
	unsigned int nr = 1 + op->x % 64;
	void *results = op_results(a, op, nr * sizeof(struct pollfd));
	struct pollfd entry = { .fd = slot_fd(op->fd), .events = op->x };
	struct dvpoll poll = {
		.dp_fds = op->y & 8 ? NULL : results, .dp_nfds = nr,
		.dp_timeout = op_timeout(op),
	};
	struct dvpoll32 poll32 = {
		.dp_fds = op->y & 8 ? 0 : (uintptr_t)results, .dp_nfds = nr,
		.dp_timeout = op_timeout(op),
	};
	const uint64_t mask = op->x;
	struct dvpoll_solaris solaris = {
		.dp_fds = (uintptr_t)results, .dp_nfds = nr,
		.dp_timeout = op_timeout(op),
		.dp_setp = op->y & 16 ? (uintptr_t)&mask : 0,
	};
	static const unsigned int requests[] = {
		DP_SOLARIS_ISPOLLED, DP_ISPOLLED,
	};

	switch (op->y % 8) {
	case 0:
		return ask(op, DP_ALLOC, op->x & 0x8000 ? -1 : (int)nr);
	case 1:
		return ask(op, DP_POLL32, (uintptr_t)
			   op_memory(a, op, &poll32, sizeof(poll32)));
	case 2:
		return ask(op, DP_FREE, 0);
	case 3:
		return ask(op, requests[op->x & 1], (uintptr_t)
			   op_memory(a, op, &entry, sizeof(entry)));
	case 4:
		return ask(op, DP_SOLARIS_POLL, (uintptr_t)
			   op_memory(a, op, &solaris, sizeof(solaris)));
	case 5:
		return ask(op, DP_SOLARIS_PPOLL, (uintptr_t)
			   op_memory(a, op, &solaris, sizeof(solaris)));
	default:
		return ask(op, DP_POLL, (uintptr_t)
			   op_memory(a, op, &poll, sizeof(poll)));
	}
}

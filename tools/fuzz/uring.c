// SPDX-License-Identifier: GPL-2.0
/* Requests as commands of an io_uring; each actor has one ring at a time. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <linux/devepoll.h>

#include "fuzz.h"
#include "core/raw_ring.h"

#define ENTRIES		8
#define BUFFERS		4
#define BUFFER_SIZE	64
#define GROUP		1

/* What older headers don't know. */
#define SETUP_SINGLE_ISSUER	(1U << 12)
#define SETUP_DEFER_TASKRUN	(1U << 13)
#define COMMAND_MULTISHOT	(1U << 1)

struct uring {
	struct raw_ring raw;
	uint8_t buffers[BUFFERS * BUFFER_SIZE];
	unsigned int queued;
};

long do_uring_open(struct actor *a, const struct op *op)
{
	static const unsigned int flags[] = {
		0, IORING_SETUP_SQE128, IORING_SETUP_CQE32,
		SETUP_SINGLE_ISSUER | SETUP_DEFER_TASKRUN,
		SETUP_SINGLE_ISSUER, IORING_SETUP_COOP_TASKRUN,
		IORING_SETUP_IOPOLL, IORING_SETUP_R_DISABLED,
	};
	static struct uring urings[THREADS];
	struct uring *uring = &urings[a->nr % THREADS];
	long err;

	if (a->uring)
		return -EBUSY;
	err = raw_ring_open(&uring->raw, flags[op->y & 7], ENTRIES);
	/* It leaves what it could not map. */
	if (err == -ENOMEM)
		raw_ring_close(&uring->raw);
	if (err)
		return err;
	uring->queued = 0;
	a->uring = uring;
	return 0;
}

static struct io_uring_sqe *next(struct uring *uring, const struct op *op)
{
	struct io_uring_sqe *sqe;

	if (uring->queued == ENTRIES)
		return NULL;
	sqe = raw_ring_next(&uring->raw);
	sqe->fd = slot_fd(op->set);
	sqe->user_data = op->z % 4;
	/* In a worker; linked to the next; after all before. */
	if (op->x & 0x8000)
		sqe->flags |= IOSQE_ASYNC;
	if (op->x & 0x4000)
		sqe->flags |= IOSQE_IO_LINK;
	if (op->x & 0x2000)
		sqe->flags |= IOSQE_IO_DRAIN;
	return sqe;
}

static void *cancel_argument(struct actor *a, const struct op *op)
{
	const struct devepoll_cancel cancel = {
		.cookie = op->z % 4, .flags = op->z == 255,
	};

	return op_memory(a, op, &cancel, sizeof(cancel));
}

static void fill_command(struct actor *a, const struct op *op,
			 struct io_uring_sqe *sqe)
{
	struct devepoll_event event = {
		.fd = slot_fd(op->fd), .events = op_events(op), .data = a->at,
	};
	uint64_t address, cookie = 0;
	struct devepoll_command command;

	sqe->opcode = IORING_OP_URING_CMD;
	switch (op->who >> 3 & 3) {
	case 0:
		sqe->off = DEVEPOLL_EPOLL_CTL(1 + op->y % 3);
		if (op->y % 3 == 1)
			event = (struct devepoll_event) { .fd = event.fd };
		memcpy(&sqe->addr3, &event, sizeof(event));
		return;
	case 1:
		if (op->y & 0x40) {
			sqe->off = DEVEPOLL_CANCEL;
			address = (uintptr_t)cancel_argument(a, op);
			break;
		}
		sqe->off = DEVEPOLL_CTL;
		address = (uintptr_t)ctl_argument(a, op);
		break;
	default:
		sqe->off = DEVEPOLL_WAIT;
		address = (uintptr_t)wait_argument(a, op);
		cookie = op->z % 4;
		if (op->who & 8) {
			((struct devepoll_wait_args *)a->memory)->events = 0;
			sqe->rw_flags = COMMAND_MULTISHOT;
			sqe->flags |= IOSQE_BUFFER_SELECT;
			sqe->buf_group = GROUP;
		}
	}
	command = (struct devepoll_command) { address, cookie };
	memcpy(&sqe->addr3, &command, sizeof(command));
}

static void fill_other(struct actor *a, const struct op *op,
		       struct io_uring_sqe *sqe)
{
	switch (op->y >> 4 & 7) {
	case 0:
		sqe->opcode = IORING_OP_POLL_ADD;
		sqe->poll32_events = POLLIN | (op->y & 1 ? POLLOUT : 0);
		sqe->len = op->y & 2 ? IORING_POLL_ADD_MULTI : 0;
		break;
	case 1:
		sqe->opcode = IORING_OP_ASYNC_CANCEL;
		sqe->addr = op->y % 4;
		sqe->cancel_flags = op->y & 4 ? IORING_ASYNC_CANCEL_ALL : 0;
		break;
	case 2:
		sqe->opcode = IORING_OP_CLOSE;
		break;
	case 3:
		sqe->opcode = IORING_OP_POLL_REMOVE;
		sqe->addr = op->y % 4;
		break;
	default:
		sqe->opcode = IORING_OP_PROVIDE_BUFFERS;
		sqe->fd = BUFFERS;
		sqe->addr = (uintptr_t)a->uring->buffers;
		sqe->len = op->y & 1 ? BUFFER_SIZE : 8;
		sqe->buf_group = GROUP;
	}
}

long do_uring_command(struct actor *a, const struct op *op)
{
	struct io_uring_sqe *sqe = a->uring ? next(a->uring, op) : NULL;

	if (!sqe)
		return -EBUSY;
	if (op->y & 8)
		fill_other(a, op, sqe);
	else
		fill_command(a, op, sqe);
	raw_ring_push(&a->uring->raw);
	a->uring->queued++;
	if (op->x & 0x1000)
		return 0;
	a->uring->queued = 0;
	return raw_ring_enter(a->uring->raw.fd, ENTRIES, 0);
}

long do_uring_enter(struct actor *a, const struct op *op)
{
	unsigned int i;
	long ret;

	if (!a->uring)
		return -EBUSY;
	a->uring->queued = 0;
	ret = raw_ring_enter(a->uring->raw.fd, ENTRIES, op->y & 1);
	for (i = 0; i < op->z % 16U; i++)
		raw_ring_take(&a->uring->raw, NULL);
	return ret;
}

void uring_end(struct actor *a)
{
	if (a->uring)
		raw_ring_close(&a->uring->raw);
	a->uring = NULL;
}

long do_uring_close(struct actor *a, const struct op *op)
{
	(void)op;
	uring_end(a);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* The extended interface, signal sets, and sets of epoll and of poll(). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/devepoll.h>

#include "../clock.h"
#include "fuzz.h"

#define CHANGES		4
#define EVENTS		8
/* Where arguments that arguments point to are, behind those themselves. */
#define CHANGES_AT	512
#define MASK_AT		1024

/* What Linux 6.9 has for epoll, too. */
struct busy_params {
	uint32_t usecs;
	uint16_t budget;
	uint8_t prefer;
	uint8_t pad;
};

#define EPIOCSPARAMS	_IOW(0x8a, 1, struct busy_params)
#define EPIOCGPARAMS	_IOR(0x8a, 2, struct busy_params)

static unsigned int put_changes(struct actor *a, const struct op *op)
{
	struct devepoll_change *changes = (void *)(a->memory + CHANGES_AT);
	unsigned int i, n = 1 + (op->y >> 4) % CHANGES;

	memset(changes, 0, CHANGES * sizeof(*changes));
	for (i = 0; i < n; i++) {
		changes[i].op = op->y & 3 ? op->y & 3 : DEVEPOLL_ADD;
		changes[i].fd = slot_fd(op->fd + i);
		if (changes[i].op == DEVEPOLL_DEL)
			continue;
		changes[i].flags = op->y >> 2 & 3;
		changes[i].events = op_events(op);
		if (changes[i].flags & DEVEPOLL_TRUST && op->z & 2)
			changes[i].events |= EPOLLET;
		changes[i].data = a->at;
	}
	return n;
}

void *ctl_argument(struct actor *a, const struct op *op)
{
	struct devepoll_ctl ctl = {
		.changes = (uintptr_t)a->memory + CHANGES_AT,
		.change_size = sizeof(struct devepoll_change) + op->z / 128 * 8,
		.flags = op->z == 255,
	};

	ctl.nr = put_changes(a, op);
	return op_memory(a, op, &ctl, sizeof(ctl));
}

/* One of them by the short form. */
static long change_one(struct actor *a, const struct op *op)
{
	const struct devepoll_change *ch = (void *)(a->memory + CHANGES_AT);
	struct epoll_event event;
	uintptr_t at = 0;

	put_changes(a, op);
	event = (struct epoll_event) {
		.events = ch->events, .data.u64 = ch->data,
	};
	if (ch->op != DEVEPOLL_DEL || op->z == 1)
		at = (uintptr_t)op_memory(a, op, &event, sizeof(event));
	return door(slot_fd(op->set), at,
		    DEVEPOLL_CHANGE_LEN(ch->fd, ch->flags) |
		    (uint64_t)(op->z == 2) << 34, DEVEPOLL_CHANGE(ch->op));
}

long do_ctl(struct actor *a, const struct op *op)
{
	if (op->z < 64)
		return change_one(a, op);
	return ask(op, DEVEPOLL_CTL, (uintptr_t)ctl_argument(a, op));
}

static int64_t timeout_of(const struct op *op)
{
	int64_t ns = op_timeout(op) * 1000000LL;

	if (!(op->y & DEVEPOLL_WAIT_ABSTIME) || ns <= 0)
		return ns;
	return ns + now_ns();
}

/* A mask under which signals end the wait, or none. */
static uintptr_t put_mask(struct actor *a, const struct op *op, uint32_t *size)
{
	const uint64_t mask = op->z & 0x80 ? 0 : ~0ULL << SIGUSR1;

	if (!(op->z & 0x40))
		return 0;
	*size = op->z == 255 ? 4 : 8;
	memcpy(a->memory + MASK_AT, &mask, sizeof(mask));
	return (uintptr_t)a->memory + MASK_AT;
}

void *wait_argument(struct actor *a, const struct op *op)
{
	struct devepoll_wait_args args = {
		.max_events = 1 + op->x % EVENTS,
		.min_events = op->x >> 4 & 3,
		.timeout = timeout_of(op),
		.flags = op->y & 7,
	};

	args.sigmask = put_mask(a, op, &args.sigsetsize);
	args.events = op->y & DEVEPOLL_WAIT_MAPPED ?
		      (op->x >> 6 & 7) * sizeof(struct devepoll_event) :
		      (uintptr_t)op_results(a, op, args.max_events *
					    sizeof(struct devepoll_event));
	if (op->y & 0x80) {
		args.nr_changes = put_changes(a, op);
		args.changes = (uintptr_t)a->memory + CHANGES_AT;
		args.change_size = sizeof(struct devepoll_change);
	}
	return op_memory(a, op, &args, sizeof(args));
}

long do_wait(struct actor *a, const struct op *op)
{
	return ask(op, DEVEPOLL_WAIT, (uintptr_t)wait_argument(a, op));
}

/* By the fadvise entry alone. */
long do_epoll_ctl(struct actor *a, const struct op *op)
{
	struct epoll_event event = {
		.events = op_events(op), .data.u64 = a->at,
	};
	int change = op->y & 3 ? op->y & 3 : DEVEPOLL_ADD;

	return door(slot_fd(op->set),
		    (uintptr_t)op_memory(a, op, &event, sizeof(event)),
		    slot_fd(op->fd), DEVEPOLL_EPOLL_CTL(change));
}

long do_epoll_wait(struct actor *a, const struct op *op)
{
	unsigned int max = 1 + op->x % EVENTS;
	uint64_t len = DEVEPOLL_EPOLL_WAIT_LEN(max, op_timeout(op));

	if (op->y & 1)
		return door(slot_fd(op->set), (op->x >> 6 & 7) *
			    sizeof(struct devepoll_event), len, DEVEPOLL_TAKE);
	return door(slot_fd(op->set), (uintptr_t)
		    op_results(a, op, max * sizeof(struct epoll_event)), len,
		    DEVEPOLL_EPOLL_WAIT);
}

/* Many numbers of one file, in one call. */
long do_many(struct actor *a, const struct op *op)
{
	struct devepoll_change changes[MANY] = {};
	struct devepoll_ctl ctl = {
		.changes = (uintptr_t)changes, .nr = 1 + op->z % MANY,
		.change_size = sizeof(changes[0]),
	};
	int from = slot_fd(op->fd);
	unsigned int i;

	(void)a;
	for (i = 0; i < ctl.nr; i++) {
		changes[i].op = op->y & 3 ? op->y & 3 : DEVEPOLL_ADD;
		changes[i].fd = MANY_FIRST + i;
		changes[i].events = changes[i].op == DEVEPOLL_DEL ? 0 :
				    op_events(op);
		if (op->y & 4)
			dup2(from, MANY_FIRST + i);
	}
	return ask(op, DEVEPOLL_CTL, (uintptr_t)&ctl);
}

long do_signal(struct actor *a, const struct op *op)
{
	static const int signals[] = { 0, SIGIO, SIGUSR1, SIGUSR2, SIGKILL };
	struct devepoll_signal signal = {
		.signo = op->y % 16 < 5 ? signals[op->y % 16] :
					  SIGRTMIN + op->y % 4,
		.flags = op->x & 1,
	};

	return ask(op, DEVEPOLL_SIGNAL,
		   (uintptr_t)op_memory(a, op, &signal, sizeof(signal)));
}

static long read_fdinfo(const struct op *op)
{
	char name[64], text[4096];
	int fd;
	long n;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", slot_fd(op->set));
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, 1 + op->x % sizeof(text));
	close(fd);
	return n;
}

long do_info(struct actor *a, const struct op *op)
{
	struct devepoll_features features;
	struct devepoll_stats stats;
	struct busy_params params = {
		.usecs = op->z, .budget = op->z, .prefer = op->z & 1,
		.pad = op->z == 255,
	};
	struct devepoll_spin spin = {
		.usecs = op->z - 1, .reserved = op->z == 255,
	};

	switch (op->y % 7) {
	case 0:
		return ask(op, DEVEPOLL_FEATURES, (uintptr_t)
			   op_results(a, op, sizeof(features)));
	case 1:
		return ask(op, DEVEPOLL_STATS, (uintptr_t)
			   op_results(a, op, sizeof(stats)));
	case 2:
		return ask(op, EPIOCSPARAMS, (uintptr_t)
			   op_memory(a, op, &params, sizeof(params)));
	case 3:
		return ask(op, EPIOCGPARAMS, (uintptr_t)
			   op_results(a, op, sizeof(params)));
	case 4:
		return ask(op, DEVEPOLL_SPIN, (uintptr_t)
			   op_memory(a, op, &spin, sizeof(spin)));
	default:
		return read_fdinfo(op);
	}
}

long do_reopen(struct actor *a, const struct op *op)
{
	static const int modes[] = { O_RDWR, O_RDONLY, O_WRONLY, 3 };
	unsigned int rights = (op->y >> 3 & 7) * DEVEPOLL_REOPEN_NEST;

	(void)a;
	if (op->y & 64)
		return slot_put(ask(op, DEVEPOLL_NEW, modes[op->y & 3] |
				    (op->y & 4 ? O_CLOEXEC : 0) |
				    (op->y & 8 ? O_EXCL : 0)), op->fd);
	return slot_put(ask(op, DEVEPOLL_REOPEN, modes[op->y & 3] | rights |
			    (op->y & 4 ? O_CLOEXEC : 0)), op->fd);
}

long do_poll(struct actor *a, const struct op *op)
{
	struct pollfd fds[] = {
		{ .fd = slot_fd(op->set), .events = op->x },
		{ .fd = slot_fd(op->fd), .events = op->x },
	};

	(void)a;
	return poll(fds, 1 + op->y % 2, op_timeout(op));
}

/* A set of epoll around one of ours, or inside it. */
long do_epoll(struct actor *a, const struct op *op)
{
	struct epoll_event events[EVENTS] = { { .events = op_events(op) } };

	(void)a;
	if (op->y & 4)
		return epoll_wait(slot_fd(op->fd), events, EVENTS,
				  op_timeout(op));
	return epoll_ctl(slot_fd(op->fd), 1 + op->y % 3, slot_fd(op->set),
			 events);
}

/* Requests of any number, with sizes that are not known yet. */
long do_raw(struct actor *a, const struct op *op)
{
	struct op bytes[OPS_MOST];
	unsigned int size = op->z % sizeof(bytes);

	memcpy(bytes, control->ops, sizeof(bytes));
	return ask(op, _IOC(op->x >> 14, op->y & 0x80 ? op->x : EP_IOC_MAGIC,
			    op->y & 0x3f, size),
		   (uintptr_t)op_memory(a, op, bytes, size));
}

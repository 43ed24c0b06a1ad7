// SPDX-License-Identifier: GPL-2.0
/* Changes to the interest lists, made on both sides and compared. */
#include <limits.h>
#include <string.h>

#include <linux/devepoll.h>

#include "lockstep.h"

#define HELD_MOST	16

/* Changes that the reference side has made and the device has yet to make. */
static struct change held[HELD_MOST];
static int nheld;

static const int verb_ctl[OP_VERBS] = {
	[OP_ADD] = EPOLL_CTL_ADD,
	[OP_MOD] = EPOLL_CTL_MOD,
	[OP_DEL] = EPOLL_CTL_DEL,
};

/* The target is in the low half, so that data are unlike in one set. */
static uint64_t op_data(const struct op *op)
{
	return (uint64_t)op->data << 32 |
	       (op->fd + (own.is_other ? OTHER_DATA : 0u));
}

static int side_ctl(struct world *w, const struct op *op, int side)
{
	struct epoll_event ev = { .events = op->events };

	ev.data.u64 = op_data(op);
	return w->sides[side]->ctl(set_fd(op->set, side), verb_ctl[op->verb],
				   target_fd(op->fd, side), &ev, op->entry);
}

/* The model follows the reference side. */
static void note(struct world *w, const struct op *op, int result)
{
	struct member *m = world_member(w, op->set, op->fd);

	if (result)
		return;
	m->in = op->verb != OP_DEL;
	if (op->verb == OP_ADD)
		m->foreign = own.is_child;
	if (!m->in)
		return;
	m->events = op->events;
	m->data = op_data(op);
	own.added[op->set] |= 1u << op->fd;
}

static void judge(struct world *w, const struct change *change, int result)
{
	int results[2];

	w->tally.changes++;
	if (w->dev < 0) {
		if (result == change->result)
			return;
	} else if (intended_result(w, change, result)) {
		return;
	}
	results[w->ref] = change->result;
	results[!w->ref] = result;
	differ(w, "%s of %d in set %u: %s gives %d, %s gives %d",
	       op_name(change->op.verb), change->op.fd, change->op.set,
	       w->sides[0]->name, results[0], w->sides[1]->name, results[1]);
}

static void fill_changes(struct devepoll_change *out)
{
	int i;

	for (i = 0; i < nheld; i++) {
		const struct op *op = &held[i].op;

		out[i] = (struct devepoll_change){
			.op = verb_ctl[op->verb],
			.fd = op->fd,
			.result = INT_MAX,
		};
		if (op->verb != OP_DEL) {
			out[i].events = op->events;
			out[i].data = op_data(op);
		}
	}
}

static void judge_held(struct world *w, const struct devepoll_change *changes)
{
	int i;

	for (i = 0; i < nheld; i++)
		judge(w, &held[i], changes[i].result);
	nheld = 0;
}

static void fill_held(struct world *w, struct devepoll_change *changes)
{
	int i;

	fill_changes(changes);
	for (i = 0; i < nheld; i++)
		changes[i].fd = target_fd(held[i].op.fd, w->dev);
}

void change_flush(struct world *w)
{
	struct devepoll_change changes[HELD_MOST];
	const struct op *last;
	int ret;

	if (!nheld)
		return;
	last = &held[nheld - 1].op;
	fill_held(w, changes);
	ret = w->sides[w->dev]->change(set_fd(last->set, w->dev), changes,
				       nheld, last->entry);
	if (ret != nheld)
		differ(w, "%d changes in one call give %d", nheld, ret);
	judge_held(w, changes);
}

bool change_holds(unsigned int set)
{
	return nheld && held[0].op.set == set;
}

int change_flush_and_wait(struct world *w, struct epoll_event *out, int max,
			  unsigned int entry)
{
	struct devepoll_change changes[HELD_MOST];
	int ret;

	fill_held(w, changes);
	ret = w->sides[w->dev]->change_wait(set_fd(held[0].op.set, w->dev),
					    changes, nheld, out, max, entry);
	w->tally.rode += nheld;
	judge_held(w, changes);
	return ret;
}

static struct change change_of(struct world *w, const struct op *op, int result)
{
	struct change change = { .op = *op, .result = result };

	note(w, op, result);
	intended_made(w, &change);
	return change;
}

static void hold(struct world *w, const struct op *op)
{
	held[nheld] = change_of(w, op, side_ctl(w, op, w->ref));
	nheld++;
	if (!op->hold || nheld == HELD_MOST)
		change_flush(w);
}

void change_play(struct world *w, const struct op *given)
{
	const struct op *op;
	struct change change;
	int results[2], i;
	struct op other;
	bool alone;

	/* It has no sets to put into others. */
	if (own.is_other && given->fd >= SLOTS)
		return;
	op = intended_change(w, given, &other);
	if (!op)
		return;
	alone = op->entry == ENTRY_EPOLL_CTL ||
		(op->verb == OP_MOD && set_is_member(w, op->set));
	if (alone || !change_holds(op->set))
		change_flush(w);
	if (w->dev >= 0 && !alone && (op->hold || nheld)) {
		hold(w, op);
		return;
	}
	for (i = 0; i < 2; i++)
		results[op->first ^ i] = side_ctl(w, op, op->first ^ i);
	change = change_of(w, op, results[w->ref]);
	judge(w, &change, results[!w->ref]);
	if (op->verb == OP_MOD && !change.result)
		intended_modified(w, op->set, 0);
}

static int side_odd(struct world *w, const struct op *op, int side)
{
	struct epoll_event ev = { .events = op->events & EVENTS_KNOWN };
	struct epoll_event *evp = &ev;
	int set = set_fd(op->set, side), verb = EPOLL_CTL_ADD;
	int fd = target_fd(op->fd, side);
	unsigned int entry = op->entry;

	switch ((unsigned int)op->n % ODDS) {
	case ODD_VERB:
	case ODD_VERB_ZERO:
		verb = op->n % ODDS == ODD_VERB ? 7 : 0;
		/* At the entry of epoll_ctl() it is no request at all. */
		entry &= 1;
		break;
	case ODD_NO_EVENT_ADD:
		evp = NULL;
		break;
	case ODD_NO_EVENT_MOD:
		verb = EPOLL_CTL_MOD;
		evp = NULL;
		break;
	case ODD_NO_EVENT_DEL:
		verb = EPOLL_CTL_DEL;
		evp = NULL;
		fd = -1;
		break;
	case ODD_FD_NEGATIVE:
		fd = -1 - op->fd;
		break;
	case ODD_FD_HUGE:
		fd = INT_MAX - op->fd;
		break;
	default:
		fd = set;
		verb = 1 + op->fd % 3;
	}
	return w->sides[side]->ctl(set, verb, fd, evp, entry);
}

void change_play_odd(struct world *w, const struct op *op)
{
	int results[2], i;

	for (i = 0; i < 2; i++)
		results[op->first ^ i] = side_odd(w, op, op->first ^ i);
	w->tally.changes++;
	if (results[0] != results[1])
		differ(w, "odd change %d of %d in set %u: %s gives %d, %s gives %d",
		       op->n, op->fd, op->set, w->sides[0]->name, results[0],
		       w->sides[1]->name, results[1]);
}

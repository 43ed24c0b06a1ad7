// SPDX-License-Identifier: GPL-2.0
/* The intended differences between the device and epoll, one row each. */
#include <errno.h>
#include <poll.h>

#include "lockstep.h"
#include "settle.h"
#include "ways.h"
#include "world.h"

const struct intended_row intended_rows[INTENDED_NR] = {
	[INTENDED_STALE] = {
		"stale", "A number that is closed while its file lives on",
		"the epoll side makes a DEL of the number just before the close",
	},
	[INTENDED_STALE_DEL] = {
		"stale-del", "DEL of a number that was closed",
		"a DEL of a stale number may give 0 on the device; if a child that has ended added the number, the process that closed it makes no DEL",
	},
	[INTENDED_STALE_NESTED] = {
		"stale-nested", "A number that is closed while its file lives on",
		"a stale item wakes outer instances until it is dropped: in a nested instance, both sides make a DEL of it",
	},
	[INTENDED_STALE_FORKED] = {
		"stale-forked", "A number that another process has added",
		"a child can't recognize stale items of its parent: the device side makes a DEL of them before the fork",
	},
	[INTENDED_REVIVED] = {
		"revived", "A number that names the same file again",
		"the device side makes a DEL of the stale item before its number is used again",
	},
	[INTENDED_FOREIGN] = {
		"foreign", "A number that another process has added",
		"the file table in which it is looked up depends on the process that waits: both sides make a DEL of it before the close",
	},
	[INTENDED_EPOLL_MEMBER] = {
		"epoll-member", "An in-tree epoll fd as a member",
		"ADD gives ELOOP on the device; the epoll side makes a DEL of it afterwards",
	},
	[INTENDED_SET_KEY] = {
		"set-key", "A set that another set watches without EPOLLIN",
		"the wake-up of epoll names EPOLLIN, and that of the device names nothing: EPOLLIN is always requested as well",
	},
	[INTENDED_SET_MOD] = {
		"set-mod", "MOD of a member of a nested set",
		"whether an outer edge is reported depends on what the ready lists still hold: a MOD of the inner instance in the outer one reports it on both sides",
	},
	[INTENDED_SET_LATE] = {
		"set-late", "A set in another set",
		"a worker may wake the outer instances, so each operation waits for the workers",
	},
	[INTENDED_WAYS] = {
		"ways", "Paths from a file through nested sets",
		"an ADD that could exceed the limits of epoll is left out",
	},
	[INTENDED_UNKNOWN_BITS] = {
		"unknown-bits", "Unknown bits of events",
		"DEVEPOLL_CTL must give EINVAL; the results of epoll_ctl() on both sides are compared",
	},
	[INTENDED_KEPT] = {
		"kept", "A file that forgets an event when it is polled",
		"both sides wait for its event before another operation polls the file",
	},
};

static void met(struct world *w, enum intended which)
{
	w->tally.intended[which]++;
}

/* Takes a number out of a set, on one side by the other's rules. */
static void side_del(struct world *w, int side, unsigned int set,
		     unsigned int slot)
{
	struct epoll_event none = { 0 };
	int ret;

	ret = w->sides[side]->ctl(set_fd(set, side), EPOLL_CTL_DEL,
				  target_fd(slot, side), &none, 0);
	if (ret)
		differ(w, "%s has no item to DEL before the close of %u in set %u: %d",
		       w->sides[side]->name, slot, set, ret);
}

void intended_settle(struct world *w)
{
	unsigned int set, outer, members;

	for (set = 0; w->dev >= 0 && set < SETS; set++) {
		members = 0;
		for (outer = 0; outer < SETS; outer++)
			members += w->members[outer][SLOTS + set].in;
		if (members) {
			met(w, INTENDED_SET_LATE);
			settle_workers();
			return;
		}
	}
}

static void drop_stale(struct world *w, unsigned int set, unsigned int slot,
		       enum intended why)
{
	struct epoll_event none = { 0 };
	int ret;

	w->members[set][slot].stale = 0;
	met(w, why);
	ret = w->sides[w->dev]->ctl(set_fd(set, w->dev), EPOLL_CTL_DEL,
				    target_fd(slot, w->dev), &none, 0);
	if (ret && ret != -ENOENT && ret != -EBADF && ret != -EPERM)
		differ(w, "DEL of the stale %u in set %u gives %d", slot, set,
		       ret);
}

static void drop_all_stale(struct world *w, unsigned int set, enum intended why)
{
	unsigned int slot;

	for (slot = 0; slot < SLOTS; slot++) {
		if (w->members[set][slot].stale)
			drop_stale(w, set, slot, why);
	}
}

void intended_close(struct world *w, unsigned int slot)
{
	uint32_t serial = w->files[w->slots[slot]].serial;
	unsigned int set;

	for (set = 0; set < SETS; set++) {
		struct member *m = &w->members[set][slot];

		if (!m->in)
			continue;
		m->in = false;
		side_del(w, w->ref, set, slot);
		if (w->dev < 0) {
			/* These would still count as paths. */
			side_del(w, !w->ref, set, slot);
		} else if (m->foreign || set_is_member(w, set)) {
			side_del(w, w->dev, set, slot);
			met(w, m->foreign ? INTENDED_FOREIGN :
					    INTENDED_STALE_NESTED);
		} else {
			m->stale = serial;
			met(w, INTENDED_STALE);
		}
	}
}

void intended_fork(struct world *w)
{
	unsigned int set;

	for (set = 0; w->dev >= 0 && set < SETS; set++)
		drop_all_stale(w, set, INTENDED_STALE_FORKED);
}

void intended_open(struct world *w, unsigned int slot, uint32_t serial)
{
	unsigned int set;

	for (set = 0; w->dev >= 0 && set < SETS; set++) {
		if (w->members[set][slot].stale == serial)
			drop_stale(w, set, slot, INTENDED_REVIVED);
	}
}

void intended_gone(struct world *w, uint32_t serial)
{
	unsigned int set, slot;

	for (set = 0; set < SETS; set++) {
		for (slot = 0; slot < SLOTS; slot++) {
			if (w->members[set][slot].stale == serial)
				w->members[set][slot].stale = 0;
		}
	}
}

/* The device's own form of a change refuses unknown bits. */
static void check_unknown_bits(struct world *w, const struct op *op)
{
	struct epoll_event ev = { .events = op->events };
	int ret;

	ret = w->sides[w->dev]->ctl(set_fd(op->set, w->dev),
				    op->verb == OP_ADD ? EPOLL_CTL_ADD :
							 EPOLL_CTL_MOD,
				    target_fd(op->fd, w->dev), &ev, 0);
	if (ret != -EINVAL)
		differ(w, "unknown bits %#x give %d", op->events, ret);
}

static bool slot_forgets(struct world *w, unsigned int slot)
{
	struct file *f = slot_file(w, slot);

	return f && file_kind_forgets(f->kind);
}

/* Not by slot_file(): a process that has closed its number shares the set. */
static bool member_forgets(const struct world *w, unsigned int set,
			   unsigned int slot)
{
	return w->members[set][slot].in && w->slots[slot] >= 0 &&
	       file_kind_forgets(w->files[w->slots[slot]].kind);
}

/* Compares what files that forget have to report in a set and its members. */
static void take_news_of(struct world *w, struct op *round, unsigned int set,
			 uint32_t *done)
{
	unsigned int target;
	bool any = false;

	if (*done & 1u << set)
		return;
	*done |= 1u << set;
	/* From inside: polling an outer set consumes what inner ones have. */
	for (target = SLOTS; target < TARGETS; target++) {
		if (w->members[set][target].in)
			take_news_of(w, round, target - SLOTS, done);
	}
	for (target = 0; target < SLOTS; target++)
		any |= member_forgets(w, set, target);
	if (!any)
		return;
	met(w, INTENDED_KEPT);
	round->set = set;
	wait_play_rounds(w, round);
}

static void take_news(struct world *w, const struct op *op)
{
	struct op round = { .verb = OP_ROUNDS, .first = op->first, .n = -1 };
	uint32_t done = 0;
	unsigned int set;

	change_flush(w);
	for (set = 0; set < SETS; set++)
		take_news_of(w, &round, set, &done);
	w->news = false;
}

/* A set must not report later what it does not ask for now. */
static void forget_news(unsigned int slot)
{
	struct pollfd fd = { .events = POLLPRI };
	int side;

	for (side = 0; side < 2; side++) {
		fd.fd = target_fd(slot, side);
		poll(&fd, 1, 0);
	}
}

static bool set_has_sets(const struct world *w, unsigned int set)
{
	unsigned int inner;

	for (inner = SLOTS; inner < TARGETS; inner++) {
		if (w->members[set][inner].in)
			return true;
	}
	return false;
}

void intended_ask(struct world *w, const struct op *op)
{
	bool asks = false;

	if (w->dev < 0)
		return;
	switch (op->verb) {
	case OP_ADD:
	case OP_MOD:
		asks = op->fd >= SLOTS || set_is_member(w, op->set) ||
		       slot_forgets(w, op->fd);
		break;
	case OP_WAIT:
	case OP_ROUNDS:
		asks = set_has_sets(w, op->set);
		break;
	case OP_FAULT:
	case OP_ASK:
		asks = true;
		break;
	}
	if (asks && w->news)
		take_news(w, op);
	if ((op->verb == OP_ADD || op->verb == OP_MOD) &&
	    op->fd < SLOTS && slot_forgets(w, op->fd))
		forget_news(op->fd);
}

const struct op *intended_change(struct world *w, const struct op *op,
				 struct op *other)
{
	*other = *op;
	if (ways_are_too_many(w, op)) {
		met(w, INTENDED_WAYS);
		return NULL;
	}
	/* It can always be read: then its report comes with that event. */
	if (op->fd < SLOTS && slot_forgets(w, op->fd))
		other->events &= ~(EPOLLIN | EPOLLOUT | EPOLLRDNORM |
				   EPOLLWRNORM);
	if (w->dev < 0)
		return other;
	if (op->verb == OP_DEL && own.closed & 1u << op->fd &&
	    op->fd < SLOTS && w->members[op->set][op->fd].in &&
	    w->members[op->set][op->fd].foreign) {
		/* Its owner is gone: the device takes it out, epoll can't. */
		met(w, INTENDED_STALE_DEL);
		return NULL;
	}
	if (op->verb == OP_DEL)
		return other;
	if (op->fd >= SLOTS && !(op->events & EPOLLIN)) {
		other->events |= EPOLLIN;
		met(w, INTENDED_SET_KEY);
	}
	if (op->fd >= SLOTS && op->verb == OP_ADD)
		drop_all_stale(w, op->fd - SLOTS, INTENDED_STALE_NESTED);
	if (op->events & ~EVENTS_KNOWN) {
		other->entry = ENTRY_EPOLL_CTL;
		other->hold = 0;
		met(w, INTENDED_UNKNOWN_BITS);
		check_unknown_bits(w, op);
	}
	return other;
}

void intended_made(struct world *w, struct change *change)
{
	const struct op *op = &change->op;
	struct member *m = world_member(w, op->set, op->fd);
	struct file *f;

	if (w->dev < 0)
		return;
	f = op->fd < SLOTS ? slot_file(w, op->fd) : NULL;
	change->is_epoll = f && f->kind == FILE_EPOLL;
	change->stale = m->stale;
	if (op->verb == OP_DEL || (op->verb == OP_ADD && !change->result))
		m->stale = 0;
	if (change->is_epoll && op->verb == OP_ADD && !change->result) {
		w->sides[w->ref]->ctl(set_fd(op->set, w->ref), EPOLL_CTL_DEL,
				      target_fd(op->fd, w->ref), NULL, 0);
		m->in = false;
	}
}

void intended_modified(struct world *w, unsigned int set, unsigned int depth)
{
	unsigned int outer;
	int side;

	for (outer = 0; w->dev >= 0 && outer < SETS && depth < SETS; outer++) {
		struct member *m = &w->members[outer][SLOTS + set];
		struct epoll_event ev = { .events = m->events & EVENTS_KNOWN };

		if (!m->in)
			continue;
		met(w, INTENDED_SET_MOD);
		ev.data.u64 = m->data;
		for (side = 0; side < 2; side++)
			w->sides[side]->ctl(set_fd(outer, side), EPOLL_CTL_MOD,
					    set_fd(set, side), &ev, 0);
		intended_modified(w, outer, depth + 1);
	}
}

bool intended_result(struct world *w, const struct change *change, int result)
{
	const struct op *op = &change->op;

	if (change->is_epoll && op->verb == OP_ADD) {
		if (result == -ELOOP)
			met(w, INTENDED_EPOLL_MEMBER);
		/* Another error may come first. */
		return result == -ELOOP ||
		       (change->result && result == change->result);
	}
	if (result == change->result)
		return true;
	if (change->stale && op->verb == OP_DEL && !result &&
	    (change->result == -EBADF || change->result == -ENOENT ||
	     change->result == -EPERM)) {
		met(w, INTENDED_STALE_DEL);
		return true;
	}
	return false;
}

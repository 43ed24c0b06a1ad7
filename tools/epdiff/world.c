// SPDX-License-Identifier: GPL-2.0
/* Creation and removal of slots, files and instances. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "settle.h"
#include "world.h"

struct own own;

int target_fd(unsigned int target, int side)
{
	if (target < SLOTS)
		return (side && own.twins & 1u << target ? TWIN_FD : SLOT_FD) +
		       target;
	return SET_FD + side * SET_FD_STEP + target - SLOTS;
}

void differ(struct world *w, const char *format, ...)
{
	struct verdict *v = &w->verdict;
	va_list args;

	if (v->found)
		return;
	v->found = true;
	v->at = w->at;
	va_start(args, format);
	vsnprintf(v->text, sizeof(v->text), format, args);
	va_end(args);
}

/* Gives a file that was just opened the number that it is to have. */
static void move_fd(int from, int to)
{
	if (dup3(from, to, O_CLOEXEC) < 0)
		err(2, "dup3");
	close(from);
}

static void set_open(struct world *w, unsigned int set)
{
	int side, fd;

	for (side = 0; side < 2; side++) {
		fd = w->sides[side]->open();
		if (fd < 0)
			err(2, "no set of %s", w->sides[side]->name);
		move_fd(fd, set_fd(set, side));
	}
}

void world_begin(struct world *w)
{
	unsigned int set;
	int side;

	memset(w->files, 0, sizeof(w->files));
	memset(w->slots, -1, sizeof(w->slots));
	memset(w->members, 0, sizeof(w->members));
	memset(&own, 0, sizeof(own));
	w->serials = 0;
	w->news = false;
	w->at = 0;
	w->dev = -1;
	w->ref = 0;
	for (side = 0; side < 2; side++) {
		if (w->sides[side]->start)
			w->sides[side]->start();
		if (w->sides[side]->is_device &&
		    !w->sides[!side]->is_device) {
			w->dev = side;
			w->ref = !side;
		}
	}
	for (set = 0; set < SETS; set++)
		set_open(w, set);
	w->tally.worlds++;
}

void world_end(struct world *w)
{
	int i;

	for (i = 0; i < SLOTS; i++) {
		struct file *f = &w->files[i];

		f->full = false;
		while (f->nclients)
			close(f->clients[--f->nclients]);
	}
	close_range(SLOT_FD, TWIN_FD + SLOTS, 0);
}

bool slot_is_open(struct world *w, unsigned int slot)
{
	return slot_file(w, slot) || own.made & 1u << slot;
}

struct member *world_member(struct world *w, unsigned int set,
			    unsigned int target)
{
	return own.is_other && target < SLOTS ? &own.members[set][target] :
						&w->members[set][target];
}

void world_become_other(void)
{
	memset(&own, 0, sizeof(own));
	own.is_other = true;
	own.closed = ~0u;
	close_range(SLOT_FD, SLOT_FD + SLOTS - 1, 0);
	close_range(TWIN_FD, TWIN_FD + SLOTS - 1, 0);
}

/* The slot of OP_OTHER names nothing any more, and no set has its file. */
static void other_closes(unsigned int slot)
{
	unsigned int set;

	if (!(own.made & 1u << slot))
		return;
	own.made &= ~(1u << slot);
	for (set = 0; set < SETS; set++)
		own.members[set][slot].in = false;
	close(target_fd(slot, 0));
}

static void other_makes(unsigned int slot)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		err(2, "eventfd");
	other_closes(slot);
	move_fd(fd, target_fd(slot, 0));
	own.made |= 1u << slot;
}

bool set_is_member(const struct world *w, unsigned int set)
{
	unsigned int outer;

	for (outer = 0; outer < SETS; outer++) {
		if (w->members[outer][SLOTS + set].in)
			return true;
	}
	return false;
}

struct file *slot_file(struct world *w, unsigned int slot)
{
	if (slot >= SLOTS || w->slots[slot] < 0 || own.closed & 1u << slot)
		return NULL;
	return &w->files[w->slots[slot]];
}

int peer_fd(struct world *w, const struct file *f)
{
	int slot;

	for (slot = 0; slot < SLOTS; slot++) {
		if (slot_file(w, slot) == file_peer(w, f) &&
		    f != file_peer(w, f))
			return target_fd(slot, 0);
	}
	return -1;
}

static int file_new(struct world *w, unsigned int kind, unsigned int end)
{
	int i;

	for (i = 0; w->files[i].refs; i++)
		;
	w->files[i] = (struct file){
		.kind = kind, .end = end, .peer = i, .serial = ++w->serials,
	};
	return i;
}

static void slot_name(struct world *w, unsigned int slot, int file)
{
	w->slots[slot] = file;
	w->files[file].refs++;
}

/* Before the slot gets another file: the number of side 0 is left alone. */
static void twin_close(unsigned int slot)
{
	if (own.twins & 1u << slot)
		close(target_fd(slot, 1));
	own.twins &= ~(1u << slot);
}

/*
 * A slot is about to be closed, by close() or by a file that gets its number.
 * Return: the file, for slot_closed(); NULL if it was not open.
 */
static struct file *slot_closing(struct world *w, unsigned int slot)
{
	struct file *f = slot_file(w, slot);

	if (f && f->refs > 1)
		intended_close(w, slot);
	return f;
}

static void slot_closed(struct world *w, unsigned int slot, struct file *f)
{
	int peer = peer_fd(w, f);
	unsigned int set;

	twin_close(slot);
	w->slots[slot] = -1;
	if (--f->refs)
		return;
	for (set = 0; set < SETS; set++)
		w->members[set][slot].in = false;
	intended_gone(w, f->serial);
	file_ended(f, file_peer(w, f), peer);
	/* The index may be another file's when the other end looks. */
	file_peer(w, f)->peer = file_peer(w, f) - w->files;
}

/* Whether a slot may be closed, and is, if it is open. */
static bool may_close(struct world *w, unsigned int slot)
{
	struct file *f = slot_file(w, slot);

	return !f || file_may_end(f);
}

void world_make(struct world *w, unsigned int kind, unsigned int slot,
		unsigned int other)
{
	bool pair = file_kind_is_pair(kind);
	struct file *old[2] = { 0 };
	int fds[2], files[2];

	if (own.is_other) {
		other_makes(slot);
		return;
	}
	if (own.is_child || (pair && slot == other) || !may_close(w, slot) ||
	    (pair && !may_close(w, other)))
		return;
	if (file_make(kind, fds))
		err(2, "no %s", file_kind_name(kind));
	/* One after the other: an old one can be the other end of the other. */
	old[0] = slot_closing(w, slot);
	move_fd(fds[0], target_fd(slot, 0));
	if (old[0])
		slot_closed(w, slot, old[0]);
	files[0] = file_new(w, kind, 0);
	slot_name(w, slot, files[0]);
	if (file_kind_forgets(kind)) {
		own.twins |= 1u << slot;
		move_fd(fds[1], target_fd(slot, 1));
	}
	if (!pair)
		return;
	old[1] = slot_closing(w, other);
	move_fd(fds[1], target_fd(other, 0));
	if (old[1])
		slot_closed(w, other, old[1]);
	files[1] = file_new(w, kind, 1);
	slot_name(w, other, files[1]);
	w->files[files[0]].peer = files[1];
	w->files[files[1]].peer = files[0];
}

/* What a child added it takes out before it closes the number. */
static void child_removes(struct world *w, unsigned int slot)
{
	struct epoll_event none = { 0 };
	unsigned int set;
	int side;

	for (set = 0; set < SETS; set++) {
		if (!(own.added[set] & 1u << slot) || !w->members[set][slot].in)
			continue;
		for (side = 0; side < 2; side++)
			w->sides[side]->ctl(set_fd(set, side), EPOLL_CTL_DEL,
					    target_fd(slot, side), &none, 0);
		w->members[set][slot].in = false;
	}
}

void world_close(struct world *w, unsigned int slot, bool reset)
{
	struct linger hard = { .l_onoff = 1 };
	struct file *f = slot_file(w, slot);

	if (own.is_other)
		other_closes(slot);
	if (!f || !may_close(w, slot))
		return;
	if (own.is_child) {
		child_removes(w, slot);
		twin_close(slot);
		own.closed |= 1u << slot;
		close(target_fd(slot, 0));
		return;
	}
	slot_closing(w, slot);
	if (reset && f->kind == FILE_TCP)
		setsockopt(target_fd(slot, 0), SOL_SOCKET, SO_LINGER, &hard,
			   sizeof(hard));
	close(target_fd(slot, 0));
	slot_closed(w, slot, f);
}

void world_dup(struct world *w, unsigned int slot, unsigned int to)
{
	struct file *f = slot_file(w, slot), *old;

	/* It is random which of two numbers of a file that forgets reports. */
	if (!f || own.is_child || slot == to || !may_close(w, to) ||
	    slot_file(w, to) == f || file_kind_forgets(f->kind))
		return;
	intended_open(w, to, f->serial);
	old = slot_closing(w, to);
	if (dup3(target_fd(slot, 0), target_fd(to, 0), O_CLOEXEC) < 0)
		err(2, "dup3");
	if (old)
		slot_closed(w, to, old);
	slot_name(w, to, f - w->files);
}

void world_renew(struct world *w, unsigned int set)
{
	unsigned int other;

	if (own.is_child || own.is_other)
		return;
	close(set_fd(set, 0));
	close(set_fd(set, 1));
	memset(w->members[set], 0, sizeof(w->members[set]));
	for (other = 0; other < SETS; other++)
		w->members[other][SLOTS + set].in = false;
	set_open(w, set);
}

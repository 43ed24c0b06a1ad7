// SPDX-License-Identifier: GPL-2.0
/*
 * Waits on both sides, and the comparison of their results.
 *
 * Neither side promises an order, so the results are compared as multisets.  If
 * a wait did not return all events, only the number of events must be equal,
 * because the sides may have returned different ones.  Both sides then wait
 * until they have returned all events.  All ready items are reported before a
 * level-triggered item is reported again, so the first item that appears twice
 * shows that the round is complete.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lockstep.h"

#define PAGE_BYTES	4096
#define ROUND_CALLS	(2 * EVENTS_MOST)

/**
 * struct taken - what came of one or more waits on one side
 * @ret: of the last wait, the number of events or -errno
 * @n: events so far
 * @again: one has come twice, so all have come
 * @changed: one has come twice with different events
 * @ev: the events, each once
 */
struct taken {
	int ret;
	int n;
	bool again;
	bool changed;
	struct epoll_event ev[2 * EVENTS_MOST];
};

static int by_data(const void *a, const void *b)
{
	const struct epoll_event *x = a, *y = b;

	if (x->data.u64 != y->data.u64)
		return x->data.u64 < y->data.u64 ? -1 : 1;
	return x->events < y->events ? -1 : x->events > y->events;
}

static bool same_events(struct taken h[2])
{
	int i;

	if (h[0].n != h[1].n)
		return false;
	qsort(h[0].ev, h[0].n, sizeof(h[0].ev[0]), by_data);
	qsort(h[1].ev, h[1].n, sizeof(h[1].ev[0]), by_data);
	for (i = 0; i < h[0].n; i++) {
		if (by_data(&h[0].ev[i], &h[1].ev[i]))
			return false;
	}
	return true;
}

static int describe(char *text, size_t size, const struct taken *h)
{
	char names[128];
	size_t len;
	int i;

	len = snprintf(text, size, "%d", h->ret);
	for (i = 0; i < h->n && len + 160 < size; i++) {
		const struct epoll_event *ev = &h->ev[i];
		unsigned int target = (uint32_t)ev->data.u64 % OTHER_DATA;
		bool is_other = (uint32_t)ev->data.u64 >= OTHER_DATA;

		len += snprintf(text + len, size - len, " {fd=%s%u data=%u %s}",
				is_other ? "other " : target < SLOTS ? "" : "s",
				target < SLOTS ? target : target - SLOTS,
				(uint32_t)(ev->data.u64 >> 32),
				events_text(ev->events, names, sizeof(names)));
	}
	return len;
}

static void differ_wait(struct world *w, const struct op *op,
			const char *what, const struct taken h[2])
{
	char text[2][1200];

	describe(text[0], sizeof(text[0]), &h[0]);
	describe(text[1], sizeof(text[1]), &h[1]);
	differ(w, "%s of set %u%s\n#   %s: %s\n#   %s: %s",
	       op_name(op->verb), op->set, what, w->sides[0]->name, text[0],
	       w->sides[1]->name, text[1]);
}

/* Adds results to what has come already. */
static void gather(struct taken *h, const struct epoll_event *ev, int n)
{
	int i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < h->n; j++) {
			if (h->ev[j].data.u64 == ev[i].data.u64)
				break;
		}
		if (j < h->n) {
			h->again = true;
			h->changed |= h->ev[j].events != ev[i].events;
		} else if (h->n < 2 * EVENTS_MOST) {
			h->ev[h->n++] = ev[i];
		}
	}
}

/* Poisoned, or as if nobody had touched it: then the kernel's copy faults. */
static struct epoll_event *wait_room(bool untouched)
{
	static struct epoll_event *room;

	if (!room) {
		room = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room == MAP_FAILED)
			abort();
	}
	if (untouched)
		madvise(room, PAGE_BYTES, MADV_DONTNEED);
	else
		memset(room, 0xa5, EVENTS_MOST * sizeof(*room));
	return room;
}

static void side_wait(struct world *w, const struct op *op, int side,
		      struct taken *h, int max, int ms)
{
	struct epoll_event *ev = wait_room(op->n & 1);

	if (side == w->dev && change_holds(op->set))
		h->ret = change_flush_and_wait(w, ev, max, op->entry);
	else
		h->ret = w->sides[side]->wait(set_fd(op->set, side), ev, max,
					      ms, op->entry);
	if (h->ret > 0)
		gather(h, ev, h->ret);
}

/* Waits on one side until all that is ready has come. */
static void side_round(struct world *w, const struct op *op, int side,
		       struct taken *h, int max)
{
	int calls;

	for (calls = 0; calls < ROUND_CALLS; calls++) {
		if (h->again || h->ret < max)
			return;
		side_wait(w, op, side, h, max, 0);
	}
	h->ret = -EOVERFLOW;
}

static void count(struct world *w, const struct taken h[2])
{
	w->tally.waits++;
	w->tally.fruitful += h[0].ret > 0;
	w->tally.events += h[0].n;
}

static void complete_round(struct world *w, const struct op *op,
			   struct taken h[2], int max)
{
	int i;

	for (i = 0; i < 2; i++)
		side_round(w, op, op->first ^ i, &h[op->first ^ i], max);
	if (!same_events(h))
		differ_wait(w, op, ", until all have come", h);
	if (h[0].changed || h[1].changed)
		differ_wait(w, op, h[0].changed ?
			    ": the first says two things of one fd" :
			    ": the second says two things of one fd", h);
}

static void both_wait(struct world *w, const struct op *op,
		      struct taken h[2], int max)
{
	int i;

	memset(h, 0, 2 * sizeof(*h));
	for (i = 0; i < 2; i++)
		side_wait(w, op, op->first ^ i, &h[op->first ^ i], max, op->ms);
	count(w, h);
	if (h[0].ret != h[1].ret)
		differ_wait(w, op, "", h);
	else if (h[0].again || h[1].again)
		differ_wait(w, op, ": one fd twice in one result", h);
}

/* Limits that are not valid, for some values of n. */
static int odd_limit(int n)
{
	static const int limits[] = { 0, -1, -2147483647 - 1, 2147483647 };

	return n < 0 ? limits[-n % 4] : n % (EVENTS_MOST + 1);
}

void wait_play(struct world *w, const struct op *op)
{
	int max = odd_limit(op->n);
	struct taken h[2];

	if (op->ms || max <= 0 || max > EVENTS_MOST)
		change_flush(w);
	both_wait(w, op, h, max);
	if (w->verdict.found || h[0].ret < 0)
		return;
	if (h[0].ret < max) {
		if (!same_events(h))
			differ_wait(w, op, "", h);
		return;
	}
	w->tally.partial++;
	if (same_events(h))
		return;
	w->tally.reordered++;
	complete_round(w, op, h, max);
}

void wait_play_rounds(struct world *w, const struct op *op)
{
	int max = 1 + (unsigned int)op->n % EVENTS_MOST;
	struct taken h[2];

	both_wait(w, op, h, max);
	if (!w->verdict.found && h[0].ret >= 0)
		complete_round(w, op, h, max);
}

/* Memory for @room events, and none behind it. */
static struct epoll_event *short_room(int room)
{
	static char *pages;

	if (!pages) {
		pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED ||
		    mprotect(pages + PAGE_BYTES, PAGE_BYTES, PROT_NONE))
			abort();
	}
	return (void *)(pages + PAGE_BYTES -
			room * sizeof(struct epoll_event));
}

static void side_fault(struct world *w, const struct op *op, int side,
		       struct taken *h, int room)
{
	struct epoll_event *ev = short_room(room);

	memset(ev, 0xa5, room * sizeof(*ev));
	h->ret = w->sides[side]->wait_raw(set_fd(op->set, side), ev,
					  EVENTS_MOST, op->entry);
	if (h->ret > 0)
		gather(h, ev, h->ret > room ? room : h->ret);
}

void wait_play_fault(struct world *w, const struct op *op)
{
	int room = (unsigned int)op->n % 8, i;
	struct taken h[2];

	memset(h, 0, sizeof(h));
	for (i = 0; i < 2; i++)
		side_fault(w, op, op->first ^ i, &h[op->first ^ i], room);
	count(w, h);
	if (h[0].ret != h[1].ret) {
		differ_wait(w, op, "", h);
		return;
	}
	if (same_events(h))
		return;
	if (h[0].ret < room) {
		differ_wait(w, op, "", h);
		return;
	}
	/* As many as fit, but others: see to it that none was lost. */
	w->tally.reordered++;
	h[0].ret = EVENTS_MOST;
	h[1].ret = EVENTS_MOST;
	complete_round(w, op, h, EVENTS_MOST);
}

void wait_play_ask(struct world *w, const struct op *op)
{
	struct pollfd pfds[2];
	int i;

	for (i = 0; i < 2; i++) {
		struct pollfd *pfd = &pfds[op->first ^ i];

		*pfd = (struct pollfd){
			.fd = set_fd(op->set, op->first ^ i),
			.events = POLLIN | POLLOUT | POLLPRI | POLLRDNORM,
		};
		poll(pfd, 1, 0);
	}
	w->tally.waits++;
	if (pfds[0].revents != pfds[1].revents)
		differ(w, "poll() of set %u: %s %#x, %s %#x", op->set,
		       w->sides[0]->name, pfds[0].revents, w->sides[1]->name,
		       pfds[1].revents);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Items of a pass whose file is not polled: trusted, closed and stale ones, and
 * numbers of /dev/poll that name no file.  Read pass.c first.
 */
#include <linux/poll.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/holds.h"
#include "core/host.h"
#include "core/item.h"
#include "core/trace.h"
#include "set/interest.h"
#include "set/pass.h"
#include "set/results.h"

/**
 * dep_pass_put_back() - put an item back on the ready list
 * @pass: the pass that took it; its instance is locked
 * @item: the item
 *
 * It comes to the tail of the list, or to its head if this pass comes again.
 */
void dep_pass_put_back(struct dep_pass *pass, struct dep_item *item)
{
	struct dep_instance *inst = pass->inst;

	dep_item_list(item);
	if (!pass->err)
		return;
	item->pass = 0;
	list_move(&item->ready, &inst->ready);
}

/**
 * dep_pass_take_other() - fill in an item whose file is not polled
 * @pass: the pass; its instance is locked
 * @item: the item, off the ready list
 * @ask: what to fill in; its @revents are what the keys told
 * @stale: the number does not name the file any more
 *
 * Return: false if there is no event, so that its place is free.
 */
bool dep_pass_take_other(struct dep_pass *pass, struct dep_item *item,
			 struct dep_ask *ask, bool stale)
{
	struct dep_results *results = pass->results;

	if (item->mode & DEP_MODE_STAY) {
		ask->kind = ASK_NVAL;
		ask->revents = (__force u16)EPOLLNVAL;
		return true;
	}
	if (item->mode & DEP_MODE_CLOSED) {
		/* It is on the list of who may have an event of it. */
		if (pass->inst->readers && dep_reader_holds(item))
			return false;
		ask->kind = ASK_CLOSED;
		ask->revents = DEVEPOLL_CLOSED;
		return true;
	}
	if (stale) {
		trace_devepoll_close(item);
		pass->inst->stats.closes++;
		dep_item_unhook(item);
		ask->kind = ASK_STALE;
		/* It comes again when it is closed. */
		ask->revents = 0;
		return true;
	}
	if (!ask->revents)
		return false;
	if (results && item->mode & DEP_MODE_ONESHOT)
		WRITE_ONCE(item->events, 0);
	item->chosen = 0;
	ask->kind = ASK_TOLD;
	return true;
}

/**
 * dep_pass_take_spent() - fill in a one-shot item that an event has disabled
 * @pass: the pass; its instance is locked
 * @item: the item, off the ready list
 * @ask: what to fill in
 *
 * The event was in the ring, from where the pass has it: it must not be lost,
 * even if it is over.
 *
 * Return: as dep_pass_take_other().
 */
bool dep_pass_take_spent(struct dep_pass *pass, struct dep_item *item,
			 struct dep_ask *ask)
{
	if (item->mode & DEP_MODE_HELD && pass->results)
		dep_reader_take(item);
	*ask = (struct dep_ask) {
		.item = item,
		.data = item->data,
		.fd = item->fd,
		.kind = ASK_TOLD,
		.revents = item->revents,
		.chosen = item->chosen,
	};
	item->revents = 0;
	item->chosen = 0;
	return ask->revents;
}

/**
 * dep_pass_settle_other() - decide about an item whose file was not polled
 * @pass: the pass; its instance is locked
 * @ask: the item, which has no file or may have gone with its file
 */
void dep_pass_settle_other(struct dep_pass *pass, const struct dep_ask *ask)
{
	struct dep_instance *inst = pass->inst;
	struct dep_item *item = ask->item;

	switch (ask->kind) {
	case ASK_NVAL:
		/* M is held, so nobody has removed it. */
		if (ask->sent)
			dep_item_list(item);
		else
			dep_pass_put_back(pass, item);
		break;
	case ASK_TOLD:
		if (ask->sent || !dep_item_is_open(inst, item, ask->fd))
			break;
		WRITE_ONCE(item->events, ask->events);
		item->revents |= ask->revents;
		item->chosen |= ask->chosen;
		dep_pass_put_back(pass, item);
		break;
	case ASK_CLOSED:
		if (!ask->sent)
			dep_pass_put_back(pass, item);
		break;
	}
}

/**
 * dep_pass_drop() - free an item that has left the set
 * @pass: the pass
 * @ask: the item, which the pass owns
 *
 * Context: process, with nothing held but dep_instance.mtx.
 */
void dep_pass_drop(struct dep_pass *pass, struct dep_ask *ask)
{
	struct dep_item *item = ask->item;
	bool tell;

	if (ask->kind == ASK_CLOSED) {
		if (ask->sent)
			dep_item_discard(item);
		return;
	}
	tell = !ask->sent && item->mode & DEP_MODE_TELL_CLOSED;
	if (tell) {
		item->pass = 0;
		pass->over = false;
	}
	dep_item_drop(item, tell);
}

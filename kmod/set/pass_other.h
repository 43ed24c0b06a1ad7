/* SPDX-License-Identifier: GPL-2.0 */
/* Items of a pass whose file is not polled. */
#ifndef DEVEPOLL_PASS_OTHER_H
#define DEVEPOLL_PASS_OTHER_H

#include <linux/types.h>

#include "core/ask.h"
#include "core/instance.h"

/* The kinds of items in a pass. */
enum ask_kind {
	/* its file is polled, and a reference on that keeps the item */
	ASK_FILE,
	/* has no file to poll, and stays in the set */
	ASK_NVAL,
	/* the same as ASK_FILE, but its file is no longer ours */
	ASK_POSTED,
	/* trusted, and its keys said what happened; may go at any moment */
	ASK_TOLD,
	/* gets its last event; the pass owns it */
	ASK_CLOSED,
	/* its number names another file: unhooked, and owned by the pass */
	ASK_STALE,
};

void dep_pass_put_back(struct dep_pass *pass, struct dep_item *item);
bool dep_pass_take_other(struct dep_pass *pass, struct dep_item *item,
			 struct dep_ask *ask, bool stale);
bool dep_pass_take_spent(struct dep_item *item, struct dep_ask *ask);
bool dep_pass_finds(const struct dep_instance *inst, const struct dep_ask *ask);
void dep_pass_settle_other(struct dep_pass *pass, const struct dep_ask *ask);
void dep_pass_drop(struct dep_pass *pass, struct dep_ask *ask);

#endif /* DEVEPOLL_PASS_OTHER_H */

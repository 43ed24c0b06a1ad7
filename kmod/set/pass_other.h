/* SPDX-License-Identifier: GPL-2.0 */
/* Items of a pass whose file is not polled. */
#ifndef DEVEPOLL_PASS_OTHER_H
#define DEVEPOLL_PASS_OTHER_H

#include <linux/types.h>

#include "core/ask.h"
#include "core/instance.h"

void dep_pass_put_back(struct dep_pass *pass, struct dep_item *item);
bool dep_pass_take_other(struct dep_pass *pass, struct dep_item *item,
			 struct dep_ask *ask, bool stale);
bool dep_pass_take_spent(struct dep_pass *pass, struct dep_item *item,
			 struct dep_ask *ask);
void dep_pass_settle_other(struct dep_pass *pass, const struct dep_ask *ask);
void dep_pass_drop(struct dep_pass *pass, struct dep_ask *ask);

#endif /* DEVEPOLL_PASS_OTHER_H */

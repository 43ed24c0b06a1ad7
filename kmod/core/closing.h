/* SPDX-License-Identifier: GPL-2.0 */
/* Items that wait for their last event. */
#ifndef DEVEPOLL_CLOSING_H
#define DEVEPOLL_CLOSING_H

struct dep_item;

struct dep_leaf *dep_item_close(struct dep_item *item);

#endif /* DEVEPOLL_CLOSING_H */

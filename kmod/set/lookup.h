/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finding the item of an fd number.
 */
#ifndef DEVEPOLL_LOOKUP_H
#define DEVEPOLL_LOOKUP_H

#include "core/instance.h"

struct dep_item *dep_interest_find_among(struct dep_instance *inst,
					 const struct file *file, int fd);
struct dep_item *dep_interest_find(struct dep_instance *inst,
				   const struct file *file, int fd);
bool dep_interest_query(struct dep_instance *inst, int fd, u16 *events,
			u64 *data);

#endif /* DEVEPOLL_LOOKUP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Waiting for events and taking them, in one call. */
#ifndef DEVEPOLL_COLLECT_H
#define DEVEPOLL_COLLECT_H

#include "core/instance.h"
#include "set/results.h"
#include "set/waiting.h"

int dep_collect_try(struct dep_results *results, struct dep_instance *inst,
		    u32 min, u32 *seen);
int dep_collect_rest(struct dep_results *results, struct dep_instance *inst);
int dep_collect_wait(struct dep_waiting *waiting, struct dep_instance *inst,
		     struct dep_results *results);
int dep_collect_next(struct dep_waiting *waiting, struct dep_instance *inst,
		     struct dep_results *results, u32 seen);

#endif /* DEVEPOLL_COLLECT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting for events, and whose turn it is to take them.
 */
#ifndef DEVEPOLL_HARVEST_H
#define DEVEPOLL_HARVEST_H

#include <linux/ktime.h>

#include "instance.h"

/**
 * struct dep_harvest - one call that waits for events
 * @turn: the turn in which it began
 * @timeout_ms: how long it may wait; 0 not at all, negative for ever
 * @deadline: when to give up; KTIME_MAX never, 0 at once or not known yet
 */
struct dep_harvest {
	u64 turn;
	int timeout_ms;
	ktime_t deadline;
};

void dep_harvest_begin(struct dep_harvest *harvest, struct dep_instance *inst,
		       int timeout_ms);
int dep_harvest_wait(struct dep_harvest *harvest, struct dep_instance *inst);
bool dep_harvest_may_take(const struct dep_harvest *harvest,
			  const struct dep_instance *inst);
void dep_harvest_taken(struct dep_instance *inst);
void dep_harvest_pass(struct dep_instance *inst);
void dep_harvest_wake_all(struct dep_instance *inst);

#endif /* DEVEPOLL_HARVEST_H */

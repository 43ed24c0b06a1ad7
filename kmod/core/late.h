/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timer of a relay.
 */
#ifndef DEVEPOLL_LATE_H
#define DEVEPOLL_LATE_H

#include <linux/hrtimer.h>

enum hrtimer_restart dep_late_tick(struct hrtimer *timer);

#endif /* DEVEPOLL_LATE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* DEVEPOLL_TAKE. */
#ifndef DEVEPOLL_TAKE_H
#define DEVEPOLL_TAKE_H

#include <linux/types.h>

struct file;

int dep_take_events(struct file *file, u64 offset, u64 length);

#endif /* DEVEPOLL_TAKE_H */

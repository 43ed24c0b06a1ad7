/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of watches: from a file to the callbacks of all sets that watch it.
 */
#ifndef DEVEPOLL_TABLE_H
#define DEVEPOLL_TABLE_H

#include <linux/init.h>
#include <linux/types.h>

#include "files/bucket.h"

struct dep_item;
struct file;

void dep_watch_file_gone(struct file *file);
int dep_watch_attach(struct dep_item *item, u16 *ready);
void dep_watch_detach(struct dep_item *item);

int __init dep_watch_init(void);
void dep_watch_exit(void);

#endif /* DEVEPOLL_TABLE_H */

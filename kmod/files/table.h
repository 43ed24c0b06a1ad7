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

bool dep_watch_is_there(const struct file *file);
void dep_watch_file_gone(struct file *file);
int dep_watch_attach(struct dep_item *item, u16 *ready);
void dep_watch_detach(struct dep_item *item);

/**
 * dep_watch_exists() - does a file have a watch?
 * @file: the file
 *
 * Return: true if it has one now; it may have none, or another one, at once.
 */
static inline bool dep_watch_exists(const struct file *file)
{
	return dep_watch_maybe(file) && dep_watch_is_there(file);
}

int __init dep_watch_init(void);
void dep_watch_exit(void);

#endif /* DEVEPOLL_TABLE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of watches: from a file to the callbacks of all sets that watch it.
 */
#ifndef DEVEPOLL_TABLE_H
#define DEVEPOLL_TABLE_H

#include <linux/init.h>

#include "files/bucket.h"

bool dep_watch_is_there(const struct file *file);
void dep_watch_file_gone(struct file *file);
int dep_watch_attach(struct dep_item *item);
void dep_watch_detach(struct dep_item *item);

/**
 * dep_watch_exists() - does a file have a watch?
 * @file: the file, for which dep_watch_maybe() is true; the caller has a
 *	reference on it
 *
 * The answer is only a hint: it can be stale at once, and the mark that it
 * reads without a lock may belong to another file in the bucket.
 *
 * Return: true if it seems to have one.
 */
static inline bool dep_watch_exists(const struct file *file)
{
	const struct dep_bucket *bucket = dep_watch_bucket(file);

	return READ_ONCE(bucket->joined) == dep_bucket_mark(file) ||
	       dep_watch_is_there(file);
}

int __init dep_watch_init(void);
void dep_watch_exit(void);

#endif /* DEVEPOLL_TABLE_H */

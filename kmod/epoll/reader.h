/* SPDX-License-Identifier: GPL-2.0 */
/* Waits by an open that may not change the set. */
#ifndef DEVEPOLL_READER_H
#define DEVEPOLL_READER_H

#include <linux/types.h>

struct dep_results;
struct file;

int dep_reader_begin(const struct file *file, struct dep_results *results);
bool dep_reader_has(unsigned int request);
int dep_reader_request(struct file *file, u64 offset, u64 length,
		       unsigned int request);

#endif /* DEVEPOLL_READER_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Releases of files whose last reference was ours. */
#ifndef DEVEPOLL_FPUT_H
#define DEVEPOLL_FPUT_H

#include <linux/init.h>
#include <linux/types.h>

struct file;

void dep_fput_by_worker(struct file *file);
void dep_fput_by_caller(struct file *file, bool ends);

int __init dep_fput_init(void);
void dep_fput_exit(void);

#endif /* DEVEPOLL_FPUT_H */

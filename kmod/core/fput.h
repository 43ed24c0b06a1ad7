/* SPDX-License-Identifier: GPL-2.0 */
/* Releases of files by workers. */
#ifndef DEVEPOLL_FPUT_H
#define DEVEPOLL_FPUT_H

#include <linux/init.h>

struct file;

void dep_fput_by_worker(struct file *file);

int __init dep_fput_init(void);
void dep_fput_exit(void);

#endif /* DEVEPOLL_FPUT_H */

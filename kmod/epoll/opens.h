/* SPDX-License-Identifier: GPL-2.0 */
/* Opens that a set gives. */
#ifndef DEVEPOLL_OPENS_H
#define DEVEPOLL_OPENS_H

#include <linux/fs.h>
#include <linux/init.h>

long dep_opens_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
void __init dep_opens_init(struct file_operations *fops,
			   int (*fadvise_other)(struct file *file,
						loff_t offset, loff_t length,
						int request));

#endif /* DEVEPOLL_OPENS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What device.c calls for requests and operations on the files of a set. */
#ifndef DEVEPOLL_HANDLERS_H
#define DEVEPOLL_HANDLERS_H

#include <linux/types.h>

#include "core/instance.h"

struct file;
struct inode;
struct seq_file;
struct vm_area_struct;

long dep_busy_params_ioctl(struct dep_instance *inst, unsigned int cmd,
			   unsigned long arg);
void dep_fdinfo_show(struct seq_file *seq, struct file *file);
long dep_features_ioctl(unsigned int cmd, unsigned long arg);
int dep_mapping_map(struct file *file, struct vm_area_struct *vma);
long dep_new(struct file *file, unsigned long flags);
long dep_reopen(struct file *file, unsigned long flags);
int dep_reopen_release(struct inode *inode, struct file *file);
long dep_spin_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif /* DEVEPOLL_HANDLERS_H */

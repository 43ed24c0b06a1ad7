/* SPDX-License-Identifier: GPL-2.0 */
/* Further opens of a set, which may have less access than the first. */
#ifndef DEVEPOLL_REOPEN_H
#define DEVEPOLL_REOPEN_H

struct file;
struct inode;

long dep_reopen(struct file *file, unsigned long flags);
int dep_reopen_release(struct inode *inode, struct file *file);

#endif /* DEVEPOLL_REOPEN_H */

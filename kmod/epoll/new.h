/* SPDX-License-Identifier: GPL-2.0 */
/* Another set from an open of the node, without its path. */
#ifndef DEVEPOLL_NEW_H
#define DEVEPOLL_NEW_H

struct file;

long dep_new(struct file *file, unsigned long flags);

#endif /* DEVEPOLL_NEW_H */

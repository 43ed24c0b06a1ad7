/* SPDX-License-Identifier: GPL-2.0 */
/* DEVEPOLL_SPIN: looking for an event before a wait sleeps. */
#ifndef DEVEPOLL_FACES_SPIN_H
#define DEVEPOLL_FACES_SPIN_H

struct file;

long dep_spin_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif /* DEVEPOLL_FACES_SPIN_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What /proc/PID/fdinfo tells about a set. */
#ifndef DEVEPOLL_FDINFO_H
#define DEVEPOLL_FDINFO_H

struct file;
struct seq_file;

void dep_fdinfo_show(struct seq_file *seq, struct file *file);

#endif /* DEVEPOLL_FDINFO_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What can be seen of a set from outside. */
#ifndef DEVEPOLL_STATS_H
#define DEVEPOLL_STATS_H

#include <linux/init.h>
#include <linux/types.h>

struct dep_instance;
struct seq_file;

void __init dep_stats_init(void);
void dep_stats_exit(void);
void dep_stats_join(struct dep_instance *inst);
void dep_stats_leave(struct dep_instance *inst);
long dep_stats_get(struct dep_instance *inst, void __user *arg, size_t size);
void dep_stats_show(struct dep_instance *inst, struct seq_file *seq);

#endif /* DEVEPOLL_STATS_H */

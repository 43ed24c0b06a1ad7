/* SPDX-License-Identifier: GPL-2.0 */
/* Adding a file to the interest list. */
#ifndef DEVEPOLL_ADD_H
#define DEVEPOLL_ADD_H

#include <linux/types.h>

struct dep_instance;
struct file;

int dep_interest_add(struct dep_instance *inst, struct file *file, int fd,
		     u16 events, u32 mode, u64 data);
int dep_interest_add_fd(struct dep_instance *inst, int fd, u16 events, u32 mode,
			u64 data);
int dep_interest_add_told(struct dep_instance *inst, int fd, u16 events,
			  u32 mode, u64 data);
int dep_interest_add_locking(struct dep_instance *inst, int fd, u16 events,
			     u32 mode, u64 data);

#endif /* DEVEPOLL_ADD_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Sets in sets: which set is in which, so that no cycle is made. */
#ifndef DEVEPOLL_NEST_H
#define DEVEPOLL_NEST_H

#include <linux/fs.h>
#include <linux/poll.h>

struct dep_instance;
struct dep_nest;

/*
 * Polls a set that is in another one.  This is dep_ready_poll(), which polls
 * files, and so may come back here.
 */
extern __poll_t (*dep_nest_poll)(const struct file *inner, unsigned int depth,
				 bool removes, bool waits);

struct dep_nest *dep_nest_link(struct dep_instance *outer,
			       struct dep_instance *inner);
void dep_nest_cut(struct dep_nest *nest);
void dep_nest_free(struct dep_nest *nest);

#endif /* DEVEPOLL_NEST_H */

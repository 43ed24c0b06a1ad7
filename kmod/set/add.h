/* SPDX-License-Identifier: GPL-2.0 */
/* Adding a file to the interest list. */
#ifndef DEVEPOLL_ADD_H
#define DEVEPOLL_ADD_H

struct dep_change;
struct dep_instance;
struct file;

int dep_interest_add(struct dep_instance *inst, struct file *file,
		     const struct dep_change *ch);
int dep_interest_add_fd(struct dep_instance *inst, const struct dep_change *ch);

#endif /* DEVEPOLL_ADD_H */

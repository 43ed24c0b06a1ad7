/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of 2001.
 */
#ifndef DEVEPOLL_CLASSIC_H
#define DEVEPOLL_CLASSIC_H

struct dep_interface;
struct dep_instance;

extern struct dep_interface dep_classic_interface;

long dep_classic_poll(struct dep_instance *inst, unsigned long arg);

#endif /* DEVEPOLL_CLASSIC_H */

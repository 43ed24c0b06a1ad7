/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of 2001.
 */
#ifndef DEVEPOLL_CLASSIC_H
#define DEVEPOLL_CLASSIC_H

struct dep_face;
struct dep_instance;

extern struct dep_face dep_classic_face;

long dep_classic_poll(struct dep_instance *inst, unsigned long arg);

#endif /* DEVEPOLL_CLASSIC_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* The workqueues in which signal sets poll their files. */
#ifndef DEVEPOLL_PERSON_QUEUE_H
#define DEVEPOLL_PERSON_QUEUE_H

struct dep_person;

int dep_person_queue_get(struct dep_person *person);
void dep_person_queue_put(struct dep_person *person);

#endif /* DEVEPOLL_PERSON_QUEUE_H */

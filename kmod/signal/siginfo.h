/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Siginfos of our own: one for each watched file, at most once in the queue of
 * its recipient.
 */
#ifndef DEVEPOLL_SIGINFO_H
#define DEVEPOLL_SIGINFO_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "core/item.h"
#include "core/person.h"
#include "signal/compat.h"

struct pid;
struct task_struct;

/**
 * struct dep_recipient - a process or a thread, and the signal that it gets
 * @refs: one for each set that signals it, whoever made the set, and for each
 *	siginfo of these
 * @node: under the lock of siginfo.c: in its table
 * @signo: const: the signal
 * @thread: const: the thread, or NULL if it is the process
 * @process: const: the process, or NULL
 * @queued: S: siginfos that were queued; most of those that have been taken
 *	since come first
 */
struct dep_recipient {
	refcount_t refs;
	struct hlist_node node;
	int signo;
	struct task_struct *thread;
	struct pid *process;
	struct list_head queued;
};

/**
 * struct dep_sender - the user who asked for signals
 * @uid: the real one
 * @euid: the effective one
 */
struct dep_sender {
	kuid_t uid;
	kuid_t euid;
};

struct dep_recipient *dep_recipient_get(int signo, bool thread);
void dep_recipient_put(struct dep_recipient *to);

/**
 * struct dep_siginfo - the siginfo of one item
 * @extra: the part that the item knows
 * @entry: S: the entry in the recipient's queue
 * @retired: S: the item has gone; never queue the entry again
 * @peer: S: in dep_recipient.queued, from the time it is queued until somebody
 *	sees that it was taken; otherwise empty
 * @refs: one for the item, and one for each task that is sending it
 * @to: const: the recipient
 * @from: const: the user who asked for signals
 * @person: const: the person for whom it counts
 * @fd: const: the number
 * @item: const: the item; not to be dereferenced once it is unhooked
 * @due: L: in dep_onesig.due, or empty
 * @rcu: for freeing it after the last reference has gone
 */
struct dep_siginfo {
	struct dep_extra extra;
	struct dep_sigqueue entry;
	bool retired;
	struct list_head peer;
	refcount_t refs;
	struct dep_recipient *to;
	struct dep_sender from;
	struct dep_person *person;
	int fd;
	struct dep_item *item;
	struct list_head due;
	struct rcu_head rcu;
};

struct dep_siginfo *dep_siginfo_new(struct dep_recipient *to,
				    struct dep_sender from,
				    struct dep_person *person, int fd);
void dep_siginfo_put(struct dep_siginfo *info);
bool dep_siginfo_send(struct dep_siginfo *info, u16 events);

int __init dep_siginfo_cache_init(void);
void dep_siginfo_cache_exit(void);

#endif /* DEVEPOLL_SIGINFO_H */

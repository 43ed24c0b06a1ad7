/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Siginfos of our own: one of a watched file, at most once in the queue of
 * whoever is told.
 */
#ifndef DEVEPOLL_SIGINFO_H
#define DEVEPOLL_SIGINFO_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "compat.h"

struct dep_item;
struct pid;
struct task_struct;

/**
 * struct dep_recipient - who is told, and by which signal
 * @refs: the set and each of its siginfos
 * @signo: const: the signal
 * @thread: const: the thread, or NULL if it is the process
 * @process: const: the process, or NULL
 * @uid: const: the real user who asked for signals
 * @euid: const: the effective one
 */
struct dep_recipient {
	refcount_t refs;
	int signo;
	struct task_struct *thread;
	struct pid *process;
	kuid_t uid;
	kuid_t euid;
};

/**
 * struct dep_siginfo - the siginfo of one item
 * @entry: S: what stands in the recipient's queue
 * @retired: S: the item has gone, never queue it again
 * @refs: the item, and whoever sends it this moment
 * @to: const: the recipient
 * @fd: const: the number
 * @item: const: the item; not to be looked into once it is unhooked
 * @due: L: in dep_onesig.due, or empty
 * @rcu: when nobody has it any more
 */
struct dep_siginfo {
	struct dep_sigqueue entry;
	bool retired;
	refcount_t refs;
	struct dep_recipient *to;
	int fd;
	struct dep_item *item;
	struct list_head due;
	struct rcu_head rcu;
};

struct dep_recipient *dep_recipient_new(int signo, bool thread);
void dep_recipient_put(struct dep_recipient *to);

struct dep_siginfo *dep_siginfo_new(struct dep_recipient *to, int fd);
void dep_siginfo_put(struct dep_siginfo *info);
bool dep_siginfo_send(struct dep_siginfo *info, u16 events);
void dep_siginfo_retire(struct dep_siginfo *info);

int __init dep_siginfo_cache_init(void);
void dep_siginfo_cache_exit(void);

#endif /* DEVEPOLL_SIGINFO_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recipient of signals: a process or a thread, and the signal that it gets.
 */
#ifndef DEVEPOLL_RECIPIENT_H
#define DEVEPOLL_RECIPIENT_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct pid;
struct sigpending;
struct task_struct;

/**
 * struct dep_recipient - a process or a thread, and the signal that it gets
 * @refs: one for each set that signals it, whoever made the set, and for each
 *	siginfo of these
 * @node: under the lock of recipient.c: in its table
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

struct task_struct *dep_recipient_task(const struct dep_recipient *to);
bool dep_recipient_takes(const struct dep_recipient *to,
			 struct task_struct *task, struct dep_sender from);
bool dep_recipient_is_emptying(const struct dep_recipient *to,
			       const struct task_struct *task);
struct sigpending *dep_recipient_queue(const struct dep_recipient *to,
				       struct task_struct *task);
void dep_recipient_notify(const struct dep_recipient *to,
			  struct task_struct *task);

#endif /* DEVEPOLL_RECIPIENT_H */

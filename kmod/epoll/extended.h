/* SPDX-License-Identifier: GPL-2.0 */
/* The extended interface: changes with results, and waits with more options. */
#ifndef DEVEPOLL_EXTENDED_H
#define DEVEPOLL_EXTENDED_H

#include <linux/signal.h>
#include <linux/types.h>

#include <linux/devepoll.h>

#include "set/results.h"
#include "set/waiting.h"

/**
 * struct dep_wait_call - a DEVEPOLL_WAIT that was checked
 * @args: its argument
 * @user: the argument's address
 * @waiting: how to wait
 * @results: where the events go
 * @masked: there is a signal mask
 * @sigset: the mask
 */
struct dep_wait_call {
	struct devepoll_wait_args args;
	struct devepoll_wait_args __user *user;
	struct dep_waiting waiting;
	struct dep_results results;
	bool masked;
	sigset_t sigset;
};

int dep_extended_prepare(struct file *file, unsigned int cmd,
			 unsigned long arg, struct dep_wait_call *call);
int dep_extended_change(struct dep_instance *inst, struct dep_wait_call *call,
			bool whole);
int dep_extended_refuse(struct dep_instance *inst);
long dep_extended_ioctl(struct file *file, unsigned int cmd,
			unsigned long arg);

#endif /* DEVEPOLL_EXTENDED_H */

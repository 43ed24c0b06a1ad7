/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a call of the extended interface, or of /dev/poll, writes its events.
 */
#ifndef DEVEPOLL_RESULTS_H
#define DEVEPOLL_RESULTS_H

#include <linux/eventpoll.h>
#include <linux/poll.h>
#include <linux/types.h>

#include <linux/devepoll.h>

struct dep_instance;
struct dep_pass;
struct dep_waiter;

/**
 * enum dep_layout - the form in which an event is written
 * @DEP_LAYOUT_EVENT: struct devepoll_event
 * @DEP_LAYOUT_EPOLL: struct epoll_event; never in mapped pages
 * @DEP_LAYOUT_POLLFD: struct pollfd, whose events are the item's data
 * @DEP_LAYOUT_RING: slots of the ring, one by one under L; no array
 */
enum dep_layout {
	DEP_LAYOUT_EVENT,
	DEP_LAYOUT_EPOLL,
	DEP_LAYOUT_POLLFD,
	DEP_LAYOUT_RING,
};

/**
 * struct dep_results - the events of one call
 * @kernel: the array in mapped pages, or NULL
 * @user: otherwise the array in user memory; access_ok() holds
 * @layout: the form of its elements
 * @max: length of the array
 * @nr: how many events are written
 * @pass: the pass over the ready list that this call makes; 0 before
 * @again: the call has polled files already, and their answers count
 * @only_waits: the open by which it waits may not change the set
 * @counted: the pass in which it counted what is ready, or 0
 * @by_ring: an io_uring command, whose caller may hold a lock of the ring
 * @waiter: the caller, once it has found nothing and may sleep; otherwise NULL
 * @collect: takes events instead of dep_ready_collect(), unless @again; or NULL
 */
struct dep_results {
	void *kernel;
	void __user *user;
	enum dep_layout layout;
	u32 max;
	u32 nr;
	u32 pass;
	bool again;
	bool only_waits;
	u32 counted;
	bool by_ring;
	struct dep_waiter *waiter;
	int (*collect)(struct dep_instance *inst, struct dep_results *results);
};

/**
 * dep_layout_size() - the size of one event
 * @layout: the form in which it is written
 *
 * Return: bytes.
 */
static inline size_t dep_layout_size(enum dep_layout layout)
{
	switch (layout) {
	case DEP_LAYOUT_EPOLL:
		return sizeof(struct epoll_event);
	case DEP_LAYOUT_POLLFD:
		return sizeof(struct pollfd);
	default:
		return sizeof(struct devepoll_event);
	}
}

void dep_results_send(struct dep_pass *pass);

#endif /* DEVEPOLL_RESULTS_H */

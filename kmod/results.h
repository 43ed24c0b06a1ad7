/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a call of the extended interface writes its events.
 */
#ifndef DEVEPOLL_RESULTS_H
#define DEVEPOLL_RESULTS_H

#include <linux/eventpoll.h>
#include <linux/types.h>

#include <linux/devepoll.h>

/**
 * struct dep_results - the events of one call
 * @kernel: an array of struct devepoll_event in mapped pages, or NULL
 * @user: else: the array in user memory; access_ok()
 * @epoll: @user is an array of struct epoll_event
 * @max: length of the array
 * @nr: how many are written
 * @pass: the pass over the list of asks that this call makes; 0 before
 */
struct dep_results {
	struct devepoll_event *kernel;
	void __user *user;
	bool epoll;
	u32 max;
	u32 nr;
	u32 pass;
};

/**
 * dep_results_size() - the size of one event
 * @results: the events
 *
 * Return: bytes.
 */
static inline size_t dep_results_size(const struct dep_results *results)
{
	return results->epoll ? sizeof(struct epoll_event) :
				sizeof(struct devepoll_event);
}

#endif /* DEVEPOLL_RESULTS_H */

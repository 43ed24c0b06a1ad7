/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a call of the extended interface writes its events.
 */
#ifndef DEVEPOLL_RESULTS_H
#define DEVEPOLL_RESULTS_H

#include <linux/errno.h>
#include <linux/eventpoll.h>
#include <linux/types.h>
#include <linux/uaccess.h>

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

static inline int dep_results_put_user(struct dep_results *results, u64 data,
				       u32 events, int fd)
{
	struct devepoll_event __user *to = results->user;
	struct epoll_event __user *to_epoll = results->user;

	to += results->nr;
	to_epoll += results->nr;
	if (!user_write_access_begin(results->user + results->nr *
				     dep_results_size(results),
				     dep_results_size(results)))
		return -EFAULT;
	if (results->epoll) {
		unsafe_put_user((__force __poll_t)events, &to_epoll->events,
				efault);
		unsafe_put_user(data, &to_epoll->data, efault);
	} else {
		unsafe_put_user(data, &to->data, efault);
		unsafe_put_user(events, &to->events, efault);
		unsafe_put_user(fd, &to->fd, efault);
	}
	user_write_access_end();
	return 0;

efault:
	user_write_access_end();
	return -EFAULT;
}

/**
 * dep_results_put() - write one event
 * @results: the events; there is room
 * @data: what the program gets back
 * @events: what is ready
 * @fd: the number
 *
 * Context: any of the calling process; does not sleep.
 * Return: 0, or -EFAULT if the memory is not there this moment.
 */
static inline int dep_results_put(struct dep_results *results, u64 data,
				  u32 events, int fd)
{
	int err = 0;

	if (results->kernel) {
		results->kernel[results->nr] = (struct devepoll_event) {
			.data = data,
			.events = events,
			.fd = fd,
		};
	} else {
		pagefault_disable();
		err = dep_results_put_user(results, data, events, fd);
		pagefault_enable();
	}
	results->nr += !err;
	return err;
}

#endif /* DEVEPOLL_RESULTS_H */

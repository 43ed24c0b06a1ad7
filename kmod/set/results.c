// SPDX-License-Identifier: GPL-2.0
/*
 * Writing the events that a pass found: to mapped pages or to user memory, in
 * one of the layouts.
 */
#include <linux/poll.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "set/results.h"

static void mark_sent(struct dep_pass *pass, struct dep_ask *ask)
{
	pass->results->nr++;
	pass->found++;
	ask->sent = true;
}

/* Writes one event to user memory; a fault jumps to efault. */
#define put_user_event(ask, to, layout)					\
do {									\
	if ((layout) == DEP_LAYOUT_EPOLL) {				\
		struct epoll_event __user *__to = (to);			\
									\
		unsafe_put_user((__force __poll_t)(ask)->revents,	\
				&__to->events, efault);			\
		unsafe_put_user((ask)->data, &__to->data, efault);	\
	} else if ((layout) == DEP_LAYOUT_POLLFD) {			\
		struct pollfd __user *__to = (to);			\
									\
		unsafe_put_user((ask)->fd, &__to->fd, efault);		\
		unsafe_put_user((ask)->data, &__to->events, efault);	\
		unsafe_put_user((ask)->revents, &__to->revents,		\
				efault);				\
	} else {							\
		struct devepoll_event __user *__to = (to);		\
									\
		unsafe_put_user((ask)->data, &__to->data, efault);	\
		unsafe_put_user((ask)->revents, &__to->events, efault);	\
		unsafe_put_user((ask)->fd, &__to->fd, efault);		\
	}								\
} while (0)

/*
 * Writes until it meets memory that is not there: nothing sleeps here.  @layout
 * is a constant, so that it is not tested for each event.
 */
static __always_inline int send_user(struct dep_pass *pass,
				     enum dep_layout layout)
{
	struct dep_results *results = pass->results;
	struct dep_ask *ask, *end = pass->asks + pass->nr;
	size_t size = dep_layout_size(layout);
	void __user *to = results->user + results->nr * size;

	if (!user_write_access_begin(to, pass->nr * size))
		return -EFAULT;
	for (ask = pass->asks; ask < end; ask++) {
		if (!ask->revents)
			continue;
		put_user_event(ask, to, layout);
		to += size;
		mark_sent(pass, ask);
	}
	user_write_access_end();
	return 0;

efault:
	user_write_access_end();
	return -EFAULT;
}

static int send_any_user(struct dep_pass *pass)
{
	switch (pass->results->layout) {
	case DEP_LAYOUT_EPOLL:
		return send_user(pass, DEP_LAYOUT_EPOLL);
	case DEP_LAYOUT_POLLFD:
		return send_user(pass, DEP_LAYOUT_POLLFD);
	case DEP_LAYOUT_RING:
		/* With L held: dep_pass_run(). */
		return 0;
	default:
		return send_user(pass, DEP_LAYOUT_EVENT);
	}
}

static void send_kernel(struct dep_pass *pass)
{
	struct dep_results *results = pass->results;
	struct dep_ask *ask, *end = pass->asks + pass->nr;
	struct devepoll_event *to = results->kernel;

	for (ask = pass->asks; ask < end; ask++) {
		if (!ask->revents)
			continue;
		to[results->nr] = (struct devepoll_event) {
			.data = ask->data,
			.events = ask->revents,
			.fd = ask->fd,
		};
		mark_sent(pass, ask);
	}
}

/* The same in the layout of /dev/poll. */
static noinline void send_slots(struct dep_pass *pass)
{
	struct dep_results *results = pass->results;
	struct dep_ask *ask, *end = pass->asks + pass->nr;
	struct pollfd *to = results->kernel;

	for (ask = pass->asks; ask < end; ask++) {
		if (!ask->revents)
			continue;
		to[results->nr] = (struct pollfd) {
			.fd = ask->fd,
			.events = ask->data,
			.revents = ask->revents,
		};
		mark_sent(pass, ask);
	}
}

/**
 * dep_results_send() - hand out the events that a pass found
 * @pass: the pass; has results
 *
 * If user memory is not there at the moment, @pass->err is set to -EFAULT, and
 * the events from there on are not sent.
 *
 * Context: process, dep_instance.mtx held; does not sleep.
 */
void dep_results_send(struct dep_pass *pass)
{
	if (pass->results->kernel) {
		if (unlikely(pass->results->layout == DEP_LAYOUT_POLLFD))
			send_slots(pass);
		else
			send_kernel(pass);
	} else {
		pagefault_disable();
		pass->err = send_any_user(pass);
		pagefault_enable();
	}
}

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

/* The same to mapped pages. */
static __always_inline int send_kernel(struct dep_pass *pass,
				       enum dep_layout layout)
{
	struct dep_results *results = pass->results;
	struct dep_ask *ask, *end = pass->asks + pass->nr;
	struct devepoll_event *events = results->kernel;
	struct pollfd *slots = results->kernel;

	for (ask = pass->asks; ask < end; ask++) {
		if (!ask->revents)
			continue;
		if (layout == DEP_LAYOUT_POLLFD)
			slots[results->nr] = (struct pollfd) {
				.fd = ask->fd,
				.events = ask->data,
				.revents = ask->revents,
			};
		else
			events[results->nr] = (struct devepoll_event) {
				.data = ask->data,
				.events = ask->revents,
				.fd = ask->fd,
			};
		mark_sent(pass, ask);
	}
	return 0;
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
	void *kernel = pass->results->kernel;

	pagefault_disable();
	switch (pass->results->layout) {
	case DEP_LAYOUT_EPOLL:
		pass->err = send_user(pass, DEP_LAYOUT_EPOLL);
		break;
	case DEP_LAYOUT_POLLFD:
		pass->err = kernel ? send_kernel(pass, DEP_LAYOUT_POLLFD) :
				     send_user(pass, DEP_LAYOUT_POLLFD);
		break;
	case DEP_LAYOUT_EVENT:
		pass->err = kernel ? send_kernel(pass, DEP_LAYOUT_EVENT) :
				     send_user(pass, DEP_LAYOUT_EVENT);
		break;
	case DEP_LAYOUT_RING:
		/* With L held: dep_pass_run(). */
		break;
	}
	pagefault_enable();
}

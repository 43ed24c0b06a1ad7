// SPDX-License-Identifier: GPL-2.0
/*
 * Busy polling: a call that sleeps first polls the network device that feeds
 * the set's sockets, for the time that the program has set.  Meanwhile it is a
 * waiter in the queue like any sleeper: others wake it for an event, or because
 * the set was freed, and expect it to take events only from then on.
 *
 * epoll learns from each wake-up which queue of which device (NAPI instance)
 * feeds the socket.  Here a wake-up does nothing for this: a call that knows no
 * queue looks for a socket that has one, among a few files of the set, and the
 * next call continues there.  A queue that brought nothing is forgotten.
 */
#include <linux/ktime.h>
#include <linux/net.h>
#include <linux/sched/signal.h>
#include <net/busy_poll.h>
#include <net/sock.h>

#include "core/compat.h"
#include "core/fput.h"
#include "core/item.h"
#include "core/limits.h"
#include "spin/spin.h"

/* One call that polls: what ends it. */
struct busy_call {
	const struct dep_waiter *waiter;
	ktime_t until;
};

static bool busy_is_over(void *arg, unsigned long start)
{
	const struct busy_call *call = arg;

	return dep_spin_was_woken(call->waiter) || signal_pending(current) ||
	       ktime_compare(ktime_get(), call->until) >= 0;
}

/* The queue that feeds a file, or 0. */
static unsigned int busy_queue_of(struct file *file)
{
	const struct socket *sock = sock_from_file(file);
	const struct sock *sk = sock ? READ_ONCE(sock->sk) : NULL;
	unsigned int queue = sk ? READ_ONCE(sk->sk_napi_id) : 0;

	/* Smaller numbers are those of processors. */
	return queue >= MIN_NAPI_ID ? queue : 0;
}

/*
 * Looks at the first file from a number on; false if there is none.  @fd is set
 * to its number, and @queue to the queue that feeds it.
 */
static bool busy_look(struct dep_instance *inst, unsigned int *fd,
		      unsigned int *queue)
{
	struct file *file = NULL;
	struct dep_item *item;

	spin_lock_irq(&inst->lock);
	item = dep_fdmap_next(&inst->interest, fd);
	/* It may be buried, and its last reference may be gone. */
	if (item && item->file && dep_file_get(item->file))
		file = item->file;
	spin_unlock_irq(&inst->lock);
	if (!file)
		return item;
	*queue = busy_queue_of(file);
	if (unlikely(!dep_file_put_not_last(file)))
		dep_fput_by_caller(file, false);
	return true;
}

/* The queue of the first of the next few files that has one, or 0. */
static unsigned int busy_find_queue(struct dep_instance *inst,
				    struct dep_busy *busy)
{
	unsigned int fd = READ_ONCE(busy->next), queue = 0, looks;
	/* After the last file, the search begins again, once. */
	bool again = fd;

	for (looks = 0; looks < DEP_BUSY_LOOKS && !queue; looks++) {
		if (busy_look(inst, &fd, &queue)) {
			fd++;
		} else if (again) {
			again = false;
			fd = 0;
		} else {
			break;
		}
	}
	WRITE_ONCE(busy->next, fd);
	return queue;
}

/**
 * dep_busy_poll() - poll the network device of a set
 * @inst: the instance
 * @busy: the set's parameters, with dep_busy_is_on()
 * @waiter: the caller, who was queued when it found nothing
 * @deadline: when the call gives up; KTIME_MAX: never
 *
 * Ends when the waiter is woken; when the time of the set, or that of the call,
 * has passed; and when a signal is pending.  The caller finds out which.
 *
 * Context: process, with nothing held; may call cond_resched().
 * Return: false if there was nothing to poll.
 */
bool dep_busy_poll(struct dep_instance *inst, struct dep_busy *busy,
		   const struct dep_waiter *waiter, ktime_t deadline)
{
	unsigned int queue = READ_ONCE(busy->queue);
	struct busy_call call = { .waiter = waiter };

	if (!queue)
		queue = busy_find_queue(inst, busy);
	/* napi_busy_loop() polls once before it calls busy_is_over(). */
	if (!queue || dep_spin_was_woken(waiter))
		return false;
	call.until = min(deadline,
			 ktime_add_us(ktime_get(), READ_ONCE(busy->usecs)));
	napi_busy_loop(queue, busy_is_over, &call, READ_ONCE(busy->prefer),
		       READ_ONCE(busy->budget) ?: BUSY_POLL_BUDGET);
	WRITE_ONCE(busy->queue, dep_spin_was_woken(waiter) ? queue : 0);
	return true;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The entries that a watch has in the wait queues of its file: how ->poll()
 * puts them there, and how they leave.
 */
#include <linux/slab.h>

#include "files/bucket.h"
#include "files/waitqueue.h"
#include "files/wakeup.h"

static struct dep_further_wait *further_of(struct dep_wait *wait)
{
	return container_of(wait, struct dep_further_wait, wait);
}

/*
 * RCU keeps a wait queue alive that POLLFREE is just taking away.  A spin lock,
 * which switches preemption off, is enough.
 */
static void waits_assert_heads(void)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(),
			 "a wait-queue head may be freed");
}

/*
 * Waits for wake functions of the wait queue of an entry, and takes the entry
 * off it, if it @leaves: then no wake function runs for it.
 */
static __always_inline void wait_lock_head(struct dep_wait *wait, bool leaves)
{
	wait_queue_head_t *head;

	/* Pairs with the release in watch_wake_last(). */
	head = smp_load_acquire(&wait->head);
	if (head) {
		spin_lock_irq(&head->lock);
		if (leaves)
			__remove_wait_queue(head, &wait->entry);
		spin_unlock_irq(&head->lock);
	}
}

/**
 * dep_watch_disarm() - take all entries of a watch off their wait queues
 * @watch: the watch
 *
 * When it returns, no wake function of the watch is running, or will run.
 *
 * Context: process; dep_bucket.lock held, or nobody can find the watch and the
 * caller has a reference on the file, and rcu_read_lock(): so its wait queues
 * don't go away.
 */
void dep_watch_disarm(struct dep_watch *watch)
{
	struct dep_wait *wait;

	waits_assert_heads();
	for (wait = &watch->wait; wait; wait = wait->next)
		wait_lock_head(wait, true);
}

/**
 * dep_watch_flush() - wait for wake functions that are running
 * @watch: the watch
 *
 * A wake function that has found the watch's only item uses it without
 * dep_watch.lock.  When this returns, none has an item that was taken off the
 * list before.  An entry that is queued meanwhile does not matter: its item is
 * on the list already.
 *
 * Context: process; dep_bucket.lock held, and the watch is in the table, so
 * that its wait queues exist.
 */
void dep_watch_flush(struct dep_watch *watch)
{
	struct dep_wait *wait;

	waits_assert_heads();
	for (wait = &watch->wait; wait; wait = wait->next)
		wait_lock_head(wait, false);
}

static __always_inline void wait_arm(struct dep_wait *wait,
				     wait_queue_head_t *head)
{
	spin_lock_irq(&head->lock);
	__add_wait_queue(head, &wait->entry);
	/* Not before it is there: pairs with dep_watch_queue_on(). */
	smp_store_release(&wait->head, head);
	spin_unlock_irq(&head->lock);
}

/**
 * struct further_request - a request for one more entry of a watch
 * @person: for whom it counts
 * @exempt: they need not leave anything to others
 * @fresh: an entry that is in no watch, or NULL; taken if all others are used
 */
struct further_request {
	struct dep_person *person;
	bool exempt;
	struct dep_further_wait *fresh;
};

/*
 * Puts the watch into a wait queue, unless it is there.  If all its entries are
 * in others, it takes a fresh one; -EAGAIN if there is none.
 */
static int watch_wait_on(struct dep_watch *watch, wait_queue_head_t *head,
			 struct further_request *request)
{
	struct dep_wait *wait, *tail, *spare = NULL;
	u32 most = DEP_HEADS_PER_FILE, used = 0, own = 0;
	wait_queue_head_t *other;

	for (wait = &watch->wait; wait; wait = wait->next) {
		/* Pairs with the release in watch_wake_last(). */
		other = smp_load_acquire(&wait->head);
		if (other == head)
			return 0;
		if (!other && !spare)
			spare = wait;
		used += !!other;
		/* The first, which every watch has, counts for nobody. */
		if (other && wait != &watch->wait)
			own += further_of(wait)->person == request->person;
		tail = wait;
	}
	if (used >= most ||
	    (!request->exempt && !dep_person_may_take(own, used, most)))
		return -ENOSPC;
	if (!spare) {
		if (!request->fresh)
			return -EAGAIN;
		spare = &request->fresh->wait;
		request->fresh = NULL;
		dep_wait_init(spare, dep_watch_wake_further, watch);
		tail->next = spare;
	} else if (spare != &watch->wait) {
		dep_person_put(further_of(spare)->person);
	}
	if (spare != &watch->wait)
		further_of(spare)->person = dep_person_hold(request->person);
	wait_arm(spare, head);
	return 0;
}

/* The same under B, if the watch is in the table. */
static int arming_wait_on(struct dep_arming *arming, wait_queue_head_t *head,
			  struct further_request *request)
{
	struct dep_watch *watch = arming->watch;
	struct dep_bucket *bucket;
	int err;

	if (likely(!arming->shared))
		return watch_wait_on(watch, head, request);
	bucket = dep_watch_bucket(dep_watch_file(watch));
	spin_lock(&bucket->lock);
	err = watch_wait_on(watch, head, request);
	spin_unlock(&bucket->lock);
	return err;
}

/* A wait queue in which the watch is not, unless as one of its further ones. */
static noinline void arming_queue_on(struct dep_arming *arming,
				     wait_queue_head_t *head)
{
	struct dep_instance *inst = container_of(arming, struct dep_instance,
						 arming);
	struct further_request request = { .person = inst->person };
	int err;

	for (;;) {
		err = arming_wait_on(arming, head, &request);
		if (err == -EAGAIN) {
			/* Its second wait queue, or one for who polls it. */
			request.fresh = kmem_cache_alloc(dep_wait_cache,
							 GFP_KERNEL);
			if (request.fresh)
				continue;
			err = -ENOMEM;
		}
		if (err != -ENOSPC || request.exempt ||
		    !dep_person_is_exempt())
			break;
		request.exempt = true;
	}
	if (request.fresh)
		kmem_cache_free(dep_wait_cache, request.fresh);
	arming->err = err;
}

/* Called by ->poll() for each wait queue of the file. */
void dep_watch_queue_on(struct file *file, wait_queue_head_t *head,
			poll_table *table)
{
	struct dep_arming *arming;
	wait_queue_head_t *known;
	struct dep_wait *first;

	arming = container_of(table, struct dep_arming, table);
	first = &arming->watch->wait;
	/* It takes B if this is not the queue that the watch is in. */
	if (arming->shared)
		might_lock(&dep_watch_bucket(file)->lock);
	/* Without B: see the banner.  Pairs with the release in wait_arm(). */
	known = smp_load_acquire(&first->head);
	if (known == head)
		return;
	/* In no wait queue yet, and unknown to everybody else? */
	if (likely(!known && !arming->shared && !first->next))
		wait_arm(first, head);
	else if (!arming->err)
		arming_queue_on(arming, head);
}

/* A set has to know who polls it, even if it is queued on already. */
static void watch_queue_not(struct file *file, wait_queue_head_t *head,
			    poll_table *table)
{
}

/**
 * dep_watch_is_arming() - is this ->poll() called to queue a watch?
 * @table: the argument of ->poll(), or NULL
 *
 * Return: true if it is; then dep_instance.mtx of the set that adds is held.
 */
bool dep_watch_is_arming(const poll_table *table)
{
	return table && (table->_qproc == dep_watch_queue_on ||
			 table->_qproc == watch_queue_not);
}

/**
 * dep_watch_arm_more() - the rare half of dep_watch_arm()
 * @item: an attached item that asks for events with which its file was not
 *	polled yet, so that the watch is queued for them; or whose file is a set
 * @ready: out: what ->poll() answered, also if this fails
 *
 * Context: as dep_watch_arm().
 * Return: as dep_watch_arm().
 */
int dep_watch_arm_more(struct dep_item *item, u16 *ready)
{
	poll_table table __uninitialized;
	int answer;

	if (!(item->events & ~*dep_item_armed(item))) {
		init_poll_funcptr(&table, watch_queue_not);
		table._key = dep_item_key(item);
		*ready = (__force u16)vfs_poll(item->file, &table);
		return 0;
	}
	/* The item keeps the watch. */
	answer = dep_watch_queue(item, dep_item_watch(item), true);
	if (answer < 0) {
		*ready = item->inst->arming.answer;
		return answer;
	}
	*ready = answer;
	*dep_item_armed(item) |= item->events;
	return 0;
}

/**
 * dep_waits_free() - free the entries of a watch beyond its first
 * @watch: a disarmed watch
 */
void dep_waits_free(struct dep_watch *watch)
{
	struct dep_wait *wait, *next;

	for (wait = watch->wait.next; wait; wait = next) {
		next = wait->next;
		dep_person_put(further_of(wait)->person);
		kmem_cache_free(dep_wait_cache, further_of(wait));
	}
}

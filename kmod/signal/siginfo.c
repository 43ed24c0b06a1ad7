// SPDX-License-Identifier: GPL-2.0
/*
 * Siginfos of our own in the queues of signals: how they are sent, added to,
 * taken back and freed.  Read the banner of instance.h first.
 *
 * The kernel's own function, send_sig_info(), allocates an entry for each
 * signal and fails at RLIMIT_SIGPENDING.  Here each item has one entry, made
 * like those of POSIX timers: a task that takes such an entry from a queue
 * unlinks it, copies it and leaves it to its owner.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/slab.h>

#include "core/limits.h"
#include "signal/recipient.h"
#include "signal/siginfo.h"

static struct kmem_cache *siginfo_cache;

static unsigned long siginfo_most = DEP_SIGNALS_DEFAULT;
module_param_named(max_signals, siginfo_most, ulong, 0644);
MODULE_PARM_DESC(max_signals, "most fds in all signal sets together (default 4194304)");

/* How many are not freed yet; the module stays until none is left. */
static atomic_long_t siginfo_alive = ATOMIC_LONG_INIT(0);

/**
 * dep_siginfo_cache_init() - make the cache of siginfos
 *
 * Return: 0, or -ENOMEM.
 */
int __init dep_siginfo_cache_init(void)
{
	siginfo_cache = kmem_cache_create("devepoll_siginfo",
					  sizeof(struct dep_siginfo), 0,
					  SLAB_ACCOUNT, NULL);
	return siginfo_cache ? 0 : -ENOMEM;
}

/**
 * dep_siginfo_cache_exit() - wait for the last siginfo, and destroy the cache
 *
 * Context: process; sleeps for as long as a queue of signals has one.
 */
void dep_siginfo_cache_exit(void)
{
	while (atomic_long_read(&siginfo_alive))
		rcu_barrier();
	/* The callback of the last one may still be returning. */
	rcu_barrier();
	kmem_cache_destroy(siginfo_cache);
}

/*
 * Calls @apply with S held, unless the recipient has gone for good: then its
 * queue has been emptied, or is being emptied.
 */
static bool siginfo_apply(struct dep_siginfo *info, u16 events,
			  bool (*apply)(struct dep_siginfo *info,
					struct task_struct *task, u16 events))
{
	const struct dep_recipient *to = info->to;
	struct sighand_struct *sighand;
	struct task_struct *task;
	bool locked = false, ret = false;
	unsigned long flags;

	rcu_read_lock();
	while (!locked && (task = dep_recipient_task(to))) {
		sighand = rcu_dereference(task->sighand);
		if (!sighand) {
			/*
			 * Pairs with the unlock after it was set to NULL: so we
			 * see the task that has the number of the process now.
			 */
			smp_acquire__after_ctrl_dep();
			if (to->thread)
				break;
			cpu_relax();
			continue;
		}
		/* SLAB_TYPESAFE_BY_RCU: another process may have it by now. */
		spin_lock_irqsave(&sighand->siglock, flags);
		locked = sighand == rcu_access_pointer(task->sighand);
		if (locked)
			ret = apply(info, task, events);
		spin_unlock_irqrestore(&sighand->siglock, flags);
	}
	rcu_read_unlock();
	return ret;
}

/* The code of the most urgent event, as F_SETSIG reports it. */
static int siginfo_code(int signo, u16 events)
{
	/* Other codes have a meaning of their own with these signals. */
	if (signo != SIGPOLL && sig_specific_sicodes(signo))
		return SI_SIGIO;
	if (events & (__force u16)EPOLLHUP)
		return POLL_HUP;
	if (events & (__force u16)EPOLLERR)
		return POLL_ERR;
	if (events & (__force u16)(EPOLLPRI | EPOLLRDBAND))
		return POLL_PRI;
	if (events & (__force u16)(EPOLLIN | EPOLLRDNORM | EPOLLRDHUP))
		return POLL_IN;
	if (events & (__force u16)EPOLLMSG)
		return POLL_MSG;
	return POLL_OUT;
}

/*
 * Forgets siginfos that were taken from the queue: the first ones, since most
 * signals are taken in the order of the queue, and @most of them at most.
 */
static void siginfo_forget_taken(struct dep_recipient *to, unsigned int most)
{
	struct dep_siginfo *peer, *next;

	list_for_each_entry_safe(peer, next, &to->queued, peer) {
		if (!list_empty(&peer->entry.queue.list) || !most--)
			return;
		list_del_init(&peer->peer);
	}
}

/* True if the siginfo was not in the queue. */
static bool siginfo_queue(struct dep_siginfo *info, struct task_struct *task,
			  u16 events)
{
	struct sigqueue *queue = &info->entry.queue;
	struct dep_recipient *to = info->to;
	struct sigpending *pending;
	bool idle;

	if (info->retired || !dep_recipient_takes(to, task, info->from))
		return false;
	idle = list_empty(&queue->list);
	if (idle) {
		clear_siginfo(&queue->info);
		queue->info.si_signo = to->signo;
		queue->info.si_fd = info->fd;
	}
	queue->info.si_band |= events;
	queue->info.si_code = siginfo_code(to->signo, queue->info.si_band);
	if (!idle)
		return false;

	pending = dep_recipient_queue(to, task);
	dep_sigqueue_enter(&info->entry);
	list_add_tail(&queue->list, &pending->list);
	/* Two for each one added: the taken ones never pile up in the list. */
	siginfo_forget_taken(to, 2);
	list_move_tail(&info->peer, &to->queued);
	sigaddset(&pending->signal, to->signo);
	dep_recipient_notify(to, task);
	return true;
}

/* Is another of ours queued?  Also true if there are too many to tell. */
static bool siginfo_has_own_peer(struct dep_recipient *to)
{
	siginfo_forget_taken(to, DEP_PEER_SEARCH);
	return !list_empty(&to->queued);
}

/* Or one of somebody else?  Also true if the queue is too long to tell. */
static bool siginfo_has_other_peer(int signo, const struct sigpending *pending)
{
	const struct sigqueue *peer;
	unsigned int left = DEP_PEER_SEARCH;

	list_for_each_entry(peer, &pending->list, list) {
		if (peer->info.si_signo == signo || !left--)
			return true;
	}
	return false;
}

/*
 * Takes the siginfo back from the queue; it is never queued again.
 *
 * Unless it is a real-time signal, the signal itself stays pending: somebody
 * else may have sent it meanwhile, which leaves no trace while one is pending.
 */
static bool siginfo_unqueue(struct dep_siginfo *info, struct task_struct *task,
			    u16 events)
{
	struct sigpending *pending = dep_recipient_queue(info->to, task);
	struct sigqueue *queue = &info->entry.queue;
	int signo = info->to->signo;

	lockdep_assert_held(&rcu_dereference_raw(task->sighand)->siglock);
	info->retired = true;
	list_del_init(&info->peer);
	/* The kernel removes it from the queue; see siginfo_free_rcu(). */
	if (DEP_SIGQUEUE_IS_COUNTED &&
	    dep_recipient_is_emptying(info->to, task))
		return false;
	if (list_empty(&queue->list))
		return false;
	list_del_init(&queue->list);
	dep_sigqueue_leave(&info->entry);
	if (signo >= SIGRTMIN &&
	    !siginfo_has_own_peer(info->to) &&
	    !siginfo_has_other_peer(signo, pending))
		sigdelset(&pending->signal, signo);
	return true;
}

/* Charges one more to the person and to all; false if that is too many. */
static bool siginfo_charge(struct dep_person *person)
{
	unsigned long most = min_t(unsigned long, LONG_MAX,
				   READ_ONCE(siginfo_most));
	unsigned long used = atomic_long_inc_return(&siginfo_alive) - 1;
	unsigned long own = atomic_long_inc_return(&person->signals) - 1;

	if (dep_person_may_take(own, used, most) ||
	    (used < most && dep_person_is_exempt()))
		return true;
	atomic_long_dec(&person->signals);
	atomic_long_dec(&siginfo_alive);
	return false;
}

/*
 * A recipient that has gone may have been emptying its queue when the siginfo
 * was retired.  It did so with interrupts off, and the grace period has waited
 * for it; or the entry counts the queue's reference.  Then the queue may also
 * be that of a thread which was exiting, and keeps it until it is reaped: so
 * the entry is taken back now.
 */
static void siginfo_free_rcu(struct rcu_head *rcu)
{
	struct dep_siginfo *info = container_of(rcu, struct dep_siginfo, rcu);

	if (!dep_sigqueue_is_free(&info->entry)) {
		siginfo_apply(info, 0, siginfo_unqueue);
		call_rcu(&info->rcu, siginfo_free_rcu);
		return;
	}
	WARN_ON_ONCE(!list_empty(&info->entry.queue.list));
	WARN_ON_ONCE(!list_empty(&info->due));
	/* It may still be a peer in the list of a recipient that has gone. */
	dep_recipient_put(info->to);
	atomic_long_dec(&info->person->signals);
	dep_person_put(info->person);
	kmem_cache_free(siginfo_cache, info);
	atomic_long_dec(&siginfo_alive);
}

/**
 * dep_siginfo_put() - drop a reference on a siginfo
 * @info: the siginfo; the last reference is dropped after it was retired
 *
 * Context: any.
 */
void dep_siginfo_put(struct dep_siginfo *info)
{
	if (refcount_dec_and_test(&info->refs))
		call_rcu(&info->rcu, siginfo_free_rcu);
}

/**
 * dep_siginfo_send() - queue a siginfo, or add to the one that is queued
 * @info: a siginfo on which the caller has a reference
 * @events: the events that happened
 *
 * Context: any, with none of the spin locks of the banner held.
 * Return: true if it was queued; false if it was in the queue already, or the
 * recipient has gone, ignores the signal or may not be sent one.
 */
bool dep_siginfo_send(struct dep_siginfo *info, u16 events)
{
	return siginfo_apply(info, events, siginfo_queue);
}

/*
 * Called when the item is freed: takes the siginfo back from the queue for good
 * and drops the item's reference.  Any context, no spin lock of the banner
 * held.
 */
static void siginfo_retire(struct dep_extra *extra)
{
	struct dep_siginfo *info = container_of(extra, struct dep_siginfo,
						extra);

	siginfo_apply(info, 0, siginfo_unqueue);
	dep_siginfo_put(info);
}

/**
 * dep_siginfo_new() - make the siginfo of an item
 * @to: the recipient; lives at least until this returns
 * @from: the user who asked for signals
 * @person: the person for whom it counts; the caller has a reference
 * @fd: the number
 *
 * Context: process; sleeps.
 * Return: the siginfo, with one reference, which is the caller's; or an
 * ERR_PTR:
 * -ENOSPC: over parameter max_signals, or the person's share of it;
 * -ENOMEM: no memory.
 */
struct dep_siginfo *dep_siginfo_new(struct dep_recipient *to,
				    struct dep_sender from,
				    struct dep_person *person, int fd)
{
	struct dep_siginfo *info;

	if (!siginfo_charge(person))
		return ERR_PTR(-ENOSPC);
	info = kmem_cache_zalloc(siginfo_cache, GFP_KERNEL);
	if (!info) {
		atomic_long_dec(&person->signals);
		atomic_long_dec(&siginfo_alive);
		return ERR_PTR(-ENOMEM);
	}
	info->extra.charge = DEP_SIGNAL_CHARGE;
	info->extra.retire = siginfo_retire;
	dep_sigqueue_init(&info->entry);
	refcount_set(&info->refs, 1);
	refcount_inc(&to->refs);
	info->to = to;
	info->from = from;
	info->person = dep_person_hold(person);
	info->fd = fd;
	INIT_LIST_HEAD(&info->peer);
	INIT_LIST_HEAD(&info->due);
	return info;
}

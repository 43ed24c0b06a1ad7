// SPDX-License-Identifier: GPL-2.0
/*
 * Siginfos of our own in the queues of signals: how they are sent, added to,
 * taken back and freed.  Read the banner of instance.h first.
 *
 * The kernel's own function, send_sig_info(), allocates an entry for each
 * signal and fails at RLIMIT_SIGPENDING.  Here each item has one entry, made
 * like those of POSIX timers: a task that takes such an entry from a queue
 * unlinks it, copies it and leaves it to its owner.
 *
 * All sets that send the same signal to the same process or thread share a
 * recipient.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "core/limits.h"
#include "signal/siginfo.h"

/* Innermost, with interrupts off: an interrupt may drop the last reference. */
static DEFINE_SPINLOCK(recipients_lock);
static DEFINE_HASHTABLE(recipients, 10);

/* The bucket for a thread or a process, and a signal. */
static struct hlist_head *recipients_of(const struct dep_recipient *to)
{
	unsigned long who = to->thread ? (unsigned long)to->thread :
					 (unsigned long)to->process;

	return &recipients[hash_long(who + to->signo, HASH_BITS(recipients))];
}

static struct dep_recipient *recipient_find(const struct dep_recipient *like)
{
	struct dep_recipient *to;

	lockdep_assert_held(&recipients_lock);
	hlist_for_each_entry(to, recipients_of(like), node) {
		if (to->thread == like->thread &&
		    to->process == like->process && to->signo == like->signo)
			return to;
	}
	return NULL;
}

static void recipient_free(struct dep_recipient *to)
{
	if (to->thread)
		put_task_struct(to->thread);
	put_pid(to->process);
	kfree(to);
}

/**
 * dep_recipient_get() - make the caller a recipient
 * @signo: the signal
 * @thread: the signal goes to the calling thread; otherwise to its process
 *
 * Context: process; may sleep for memory.
 * Return: the recipient, with a reference for the caller, or NULL without
 * memory.
 */
struct dep_recipient *dep_recipient_get(int signo, bool thread)
{
	struct dep_recipient *to, *old;

	to = kmalloc(sizeof(*to), GFP_KERNEL_ACCOUNT);
	if (!to)
		return NULL;
	refcount_set(&to->refs, 1);
	to->signo = signo;
	to->thread = thread ? get_task_struct(current) : NULL;
	to->process = thread ? NULL : get_pid(task_tgid(current));
	INIT_LIST_HEAD(&to->queued);

	spin_lock_irq(&recipients_lock);
	old = recipient_find(to);
	if (old)
		refcount_inc(&old->refs);
	else
		hlist_add_head(&to->node, recipients_of(to));
	spin_unlock_irq(&recipients_lock);
	if (!old)
		return to;
	recipient_free(to);
	return old;
}

/**
 * dep_recipient_put() - drop a reference on a recipient
 * @to: the recipient
 *
 * Context: any.
 */
void dep_recipient_put(struct dep_recipient *to)
{
	unsigned long flags;
	bool last;

	if (refcount_dec_not_one(&to->refs))
		return;
	/* Not found any more once it has no reference. */
	spin_lock_irqsave(&recipients_lock, flags);
	last = refcount_dec_and_test(&to->refs);
	if (last)
		hlist_del(&to->node);
	spin_unlock_irqrestore(&recipients_lock, flags);
	if (last)
		recipient_free(to);
}

/*
 * The thread, or one through which the process is reached; NULL if the process
 * has gone.  Called under rcu_read_lock.
 */
static struct task_struct *recipient_task(const struct dep_recipient *to)
{
	return to->thread ?: pid_task(to->process, PIDTYPE_TGID);
}

/* A thread that exits takes no signal any more. */
static bool recipient_is_exiting(const struct dep_recipient *to,
				 const struct task_struct *task)
{
	return to->thread && task->flags & PF_EXITING;
}

/*
 * May the owner of the queue be emptying it, so that it must not be touched?  S
 * is held.  Since 7.2 a thread that exits takes its queue apart without S, soon
 * after it has set PF_EXITING.  In the kernels before, a thread that has ended
 * keeps its queue until it is reaped; then it has no sighand.
 */
static bool recipient_is_emptying(const struct dep_recipient *to,
				  const struct task_struct *task)
{
	if (!recipient_is_exiting(to, task))
		return false;
	/* Pairs with the full barriers of exit_mm(), which comes between. */
	return !smp_load_acquire(&task->exit_state);
}

/* S is held, which keeps the sighand. */
static struct sighand_struct *task_sighand(struct task_struct *task)
{
	struct sighand_struct *sighand = rcu_dereference_raw(task->sighand);

	lockdep_assert_held(&sighand->siglock);
	return sighand;
}

/* The queue of signals; S is held. */
static struct sigpending *recipient_queue(const struct dep_recipient *to,
					  struct task_struct *task)
{
	return to->thread ? &task->pending : &task->signal->shared_pending;
}

/* The rule of F_SETSIG: the program may run as another user by now. */
static bool task_allows(struct task_struct *task, struct dep_sender from)
{
	const struct cred *cred = __task_cred(task);

	return uid_eq(from.euid, GLOBAL_ROOT_UID) ||
	       uid_eq(from.euid, cred->suid) || uid_eq(from.euid, cred->uid) ||
	       uid_eq(from.uid, cred->suid) || uid_eq(from.uid, cred->uid);
}

/* The rule by which the kernel drops a signal that can be ignored. */
static bool task_ignores(struct task_struct *task, int signo)
{
	struct k_sigaction *action = &task_sighand(task)->action[signo - 1];
	__sighandler_t handler = action->sa.sa_handler;

	return (handler == SIG_IGN ||
		(handler == SIG_DFL &&
		 (sig_kernel_ignore(signo) ||
		  task->signal->flags & SIGNAL_UNKILLABLE))) &&
	       !sigismember(&task->blocked, signo) &&
	       !sigismember(&task->real_blocked, signo) && !task->ptrace;
}

/*
 * May it be sent the signal, and does it want it?  Not if it is exiting,
 * ignores the signal, or runs as another user.  S is held.
 */
static bool recipient_takes(const struct dep_recipient *to,
			    struct task_struct *task, struct dep_sender from)
{
	return !recipient_is_exiting(to, task) &&
	       !(task->signal->flags & SIGNAL_GROUP_EXIT) &&
	       !task_ignores(task, to->signo) && task_allows(task, from);
}

/* Would the task take the signal off the queue once it is woken? */
static bool task_wants(struct task_struct *task, int signo)
{
	return !sigismember(&task->blocked, signo) &&
	       !(task->flags & PF_EXITING) &&
	       !task_is_stopped_or_traced(task) && !task_sigpending(task);
}

static void task_notify(struct task_struct *task)
{
	struct wait_queue_entry entry = { .private = task };

	set_tsk_thread_flag(task, TIF_SIGPENDING);
	/*
	 * Only from sleeps that a signal may interrupt.  wake_up_state() would
	 * do it, but modules can't call it.
	 */
	if (!default_wake_function(&entry, TASK_INTERRUPTIBLE, 0, NULL))
		kick_process(task);
}

/*
 * Wakes a thread for a signal that was queued; S is held.  A thread that has a
 * signal to handle already is not woken again: it looks at all signals before
 * it returns to user space or sleeps.
 */
static void recipient_notify(const struct dep_recipient *to,
			     struct task_struct *task)
{
	struct task_struct *thread;

	wake_up(&task_sighand(task)->signalfd_wqh);
	if (task_wants(task, to->signo)) {
		task_notify(task);
		return;
	}
	if (to->thread)
		return;
	list_for_each_entry_rcu(thread, &task->signal->thread_head,
				thread_node) {
		if (task_wants(thread, to->signo)) {
			task_notify(thread);
			return;
		}
	}
}

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
	while (!locked && (task = recipient_task(to))) {
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

	if (info->retired || !recipient_takes(to, task, info->from))
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

	pending = recipient_queue(to, task);
	dep_sigqueue_enter(&info->entry);
	list_add_tail(&queue->list, &pending->list);
	/* Two for each one added: the taken ones never pile up in the list. */
	siginfo_forget_taken(to, 2);
	list_move_tail(&info->peer, &to->queued);
	sigaddset(&pending->signal, to->signo);
	recipient_notify(to, task);
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
	struct sigpending *pending = recipient_queue(info->to, task);
	struct sigqueue *queue = &info->entry.queue;
	int signo = info->to->signo;

	lockdep_assert_held(&rcu_dereference_raw(task->sighand)->siglock);
	info->retired = true;
	list_del_init(&info->peer);
	/* The kernel removes it from the queue; see siginfo_free_rcu(). */
	if (DEP_SIGQUEUE_IS_COUNTED &&
	    recipient_is_emptying(info->to, task))
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

static void siginfo_uncharge(struct dep_person *person)
{
	atomic_long_dec(&person->signals);
	atomic_long_dec(&siginfo_alive);
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
	siginfo_uncharge(person);
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
		siginfo_uncharge(person);
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Siginfos of our own in the queues of signals: sending, adding up, taking
 * back, freeing.  Read the banner of instance.h first.
 *
 * The kernel's own way, send_sig_info(), allocates an entry for each signal and
 * fails at RLIMIT_SIGPENDING.  Here each item has one entry for good, made as
 * those of POSIX timers are: whoever takes such an entry from a queue unlinks
 * it, copies it and leaves it to its owner.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "siginfo.h"

static struct kmem_cache *siginfo_cache;

/* How many are not freed yet; the module stays until none is left. */
static atomic_long_t siginfo_alive = ATOMIC_LONG_INIT(0);

int __init dep_siginfo_cache_init(void)
{
	siginfo_cache = kmem_cache_create("devepoll_siginfo",
					  sizeof(struct dep_siginfo), 0,
					  SLAB_ACCOUNT, NULL);
	return siginfo_cache ? 0 : -ENOMEM;
}

void dep_siginfo_cache_exit(void)
{
	while (atomic_long_read(&siginfo_alive))
		rcu_barrier();
	/* The last one's callback may be on its last instructions. */
	rcu_barrier();
	kmem_cache_destroy(siginfo_cache);
}

/**
 * dep_recipient_new() - name the caller as the one who is told
 * @signo: the signal
 * @thread: the calling thread; else its process
 *
 * Return: the recipient, one reference on which is the caller's, or NULL
 * without memory.
 */
struct dep_recipient *dep_recipient_new(int signo, bool thread)
{
	struct dep_recipient *to;

	to = kmalloc(sizeof(*to), GFP_KERNEL_ACCOUNT);
	if (!to)
		return NULL;
	refcount_set(&to->refs, 1);
	to->signo = signo;
	to->thread = thread ? get_task_struct(current) : NULL;
	to->process = thread ? NULL : get_pid(task_tgid(current));
	to->uid = current_uid();
	to->euid = current_euid();
	return to;
}

/**
 * dep_recipient_put() - drop a reference on a recipient
 * @to: the recipient
 *
 * Context: any.
 */
void dep_recipient_put(struct dep_recipient *to)
{
	if (!refcount_dec_and_test(&to->refs))
		return;
	if (to->thread)
		put_task_struct(to->thread);
	put_pid(to->process);
	kfree(to);
}

/* The thread, or one through which the process is reached. */
static struct task_struct *recipient_task(const struct dep_recipient *to)
{
	return to->thread ?: pid_task(to->process, PIDTYPE_TGID);
}

/* A thread that ends takes its queue apart, in newer kernels without S. */
static bool recipient_is_exiting(const struct dep_recipient *to,
				 const struct task_struct *task)
{
	return to->thread && task->flags & PF_EXITING;
}

/* S is held, which keeps it. */
static struct sighand_struct *task_sighand(struct task_struct *task)
{
	struct sighand_struct *sighand = rcu_dereference_raw(task->sighand);

	lockdep_assert_held(&sighand->siglock);
	return sighand;
}

static struct sigpending *recipient_queue(const struct dep_recipient *to,
					  struct task_struct *task)
{
	return to->thread ? &task->pending : &task->signal->shared_pending;
}

/* The rule of F_SETSIG: the program may run for another user by now. */
static bool recipient_allows(const struct dep_recipient *to,
			     struct task_struct *task)
{
	const struct cred *cred = __task_cred(task);

	return uid_eq(to->euid, GLOBAL_ROOT_UID) ||
	       uid_eq(to->euid, cred->suid) || uid_eq(to->euid, cred->uid) ||
	       uid_eq(to->uid, cred->suid) || uid_eq(to->uid, cred->uid);
}

static bool task_ignores(struct task_struct *task, int signo)
{
	struct k_sigaction *action = &task_sighand(task)->action[signo - 1];

	return action->sa.sa_handler == SIG_IGN &&
	       !sigismember(&task->blocked, signo) &&
	       !sigismember(&task->real_blocked, signo) && !task->ptrace;
}

/* Would it take the signal off the queue once it is woken? */
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
	/* Only out of sleeps that a signal may end. */
	if (!default_wake_function(&entry, TASK_INTERRUPTIBLE, 0, NULL))
		kick_process(task);
}

/*
 * Who has a signal to look at already needs no telling: before it returns to
 * its program, or sleeps, it looks at all.
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

/*
 * Calls @apply with S held, unless the recipient has gone for good: then its
 * queue has been emptied, or is so this moment.
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
			 * Pairs with the unlock after it was set to NULL: who
			 * has the number of the process now is seen.
			 */
			smp_acquire__after_ctrl_dep();
			if (to->thread)
				break;
			cpu_relax();
			continue;
		}
		/* Its memory may serve another process, but as the same. */
		spin_lock_irqsave(&sighand->siglock, flags);
		locked = sighand == rcu_access_pointer(task->sighand);
		if (locked)
			ret = apply(info, task, events);
		spin_unlock_irqrestore(&sighand->siglock, flags);
	}
	rcu_read_unlock();
	return ret;
}

/* The most urgent of the events, as F_SETSIG would tell it. */
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

/* True if it was not in the queue. */
static bool siginfo_queue(struct dep_siginfo *info, struct task_struct *task,
			  u16 events)
{
	struct sigqueue *queue = &info->entry.queue;
	const struct dep_recipient *to = info->to;
	struct sigpending *pending;
	bool idle;

	if (info->retired || recipient_is_exiting(to, task) ||
	    task->signal->flags & SIGNAL_GROUP_EXIT ||
	    task_ignores(task, to->signo) || !recipient_allows(to, task))
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
	sigaddset(&pending->signal, to->signo);
	recipient_notify(to, task);
	return true;
}

/*
 * Is another one of the same signal in the queue?  Most likely next to it; so
 * the whole queue is walked only where it holds other signals.
 */
static bool siginfo_has_peer(const struct sigqueue *queue,
			     const struct sigpending *pending)
{
	const struct sigqueue *peer;

	if (queue->list.next != &pending->list &&
	    list_next_entry(queue, list)->info.si_signo == queue->info.si_signo)
		return true;
	if (queue->list.prev != &pending->list &&
	    list_prev_entry(queue, list)->info.si_signo == queue->info.si_signo)
		return true;
	list_for_each_entry(peer, &pending->list, list) {
		if (peer != queue &&
		    peer->info.si_signo == queue->info.si_signo)
			return true;
	}
	return false;
}

/* Takes it back from the queue; from now on it is never queued again. */
static bool siginfo_unqueue(struct dep_siginfo *info, struct task_struct *task,
			    u16 events)
{
	struct sigpending *pending = recipient_queue(info->to, task);
	struct sigqueue *queue = &info->entry.queue;

	lockdep_assert_held(&task_sighand(task)->siglock);
	info->retired = true;
	/* It is let go there; see siginfo_free_rcu(). */
	if (DEP_SIGQUEUE_IS_COUNTED && recipient_is_exiting(info->to, task))
		return false;
	if (list_empty(&queue->list))
		return false;
	if (!siginfo_has_peer(queue, pending))
		sigdelset(&pending->signal, queue->info.si_signo);
	list_del_init(&queue->list);
	dep_sigqueue_leave(&info->entry);
	return true;
}

/**
 * dep_siginfo_new() - make the siginfo of an item
 * @to: who is told; lives at least until this returns
 * @fd: the number
 *
 * Return: the siginfo, on which the caller has the one reference, or NULL
 * without memory.
 */
struct dep_siginfo *dep_siginfo_new(struct dep_recipient *to, int fd)
{
	struct dep_siginfo *info;

	info = kmem_cache_zalloc(siginfo_cache, GFP_KERNEL);
	if (!info)
		return NULL;
	atomic_long_inc(&siginfo_alive);
	dep_sigqueue_init(&info->entry);
	refcount_set(&info->refs, 1);
	refcount_inc(&to->refs);
	info->to = to;
	info->fd = fd;
	INIT_LIST_HEAD(&info->due);
	return info;
}

/*
 * A recipient that has gone may have been emptying its queue when the siginfo
 * was retired: with interrupts off, so the grace period has waited for it; or
 * the entry counts that the queue has let it go.
 */
static void siginfo_free_rcu(struct rcu_head *rcu)
{
	struct dep_siginfo *info = container_of(rcu, struct dep_siginfo, rcu);

	if (!dep_sigqueue_is_free(&info->entry)) {
		call_rcu(&info->rcu, siginfo_free_rcu);
		return;
	}
	WARN_ON_ONCE(!list_empty(&info->entry.queue.list));
	WARN_ON_ONCE(!list_empty(&info->due));
	dep_recipient_put(info->to);
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
 * @events: what happened
 *
 * Context: any, with none of the spin locks of the banner held.
 * Return: true if it was queued; false if it was in the queue already, or the
 * recipient has gone, ignores the signal or may not be sent one.
 */
bool dep_siginfo_send(struct dep_siginfo *info, u16 events)
{
	return siginfo_apply(info, events, siginfo_queue);
}

/**
 * dep_siginfo_retire() - take a siginfo back from the queue, and for good
 * @info: the siginfo of an item that is unhooked, or NULL; the reference of
 *	the item goes
 *
 * Context: any, with none of the spin locks of the banner held.
 */
void dep_siginfo_retire(struct dep_siginfo *info)
{
	if (!info)
		return;
	siginfo_apply(info, 0, siginfo_unqueue);
	dep_siginfo_put(info);
}

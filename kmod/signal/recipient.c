// SPDX-License-Identifier: GPL-2.0
/*
 * Recipients of signals.  All sets that send the same signal to the same
 * process or thread share one.  Here a recipient is made, found, asked whether
 * it wants the signal, and woken.  Read the banner of instance.h first.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "signal/recipient.h"

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

/**
 * dep_recipient_task() - find the task of a recipient
 * @to: the recipient
 *
 * Context: under rcu_read_lock.
 * Return: the thread, or one through which the process is reached; NULL if the
 * process has gone.
 */
struct task_struct *dep_recipient_task(const struct dep_recipient *to)
{
	return to->thread ?: pid_task(to->process, PIDTYPE_TGID);
}

/* A thread that exits takes no signal any more. */
static bool recipient_is_exiting(const struct dep_recipient *to,
				 const struct task_struct *task)
{
	return to->thread && task->flags & PF_EXITING;
}

/**
 * dep_recipient_is_emptying() - may the owner of the queue be emptying it?
 * @to: the recipient
 * @task: dep_recipient_task(), S is held
 *
 * Since 7.2 a thread that exits takes its queue apart without S, soon after it
 * has set PF_EXITING.  In the kernels before, a thread that has ended keeps its
 * queue until it is reaped; then it has no sighand.
 *
 * Return: true if it may; then the queue must not be touched.
 */
bool dep_recipient_is_emptying(const struct dep_recipient *to,
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

/**
 * dep_recipient_queue() - find the queue of signals
 * @to: the recipient
 * @task: dep_recipient_task(), S is held
 *
 * Return: the queue of the thread, or that of the process.
 */
struct sigpending *dep_recipient_queue(const struct dep_recipient *to,
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

/**
 * dep_recipient_takes() - may it be sent the signal, and does it want it?
 * @to: the recipient
 * @task: dep_recipient_task(), S is held
 * @from: the user who asked for signals
 *
 * Return: false if it is exiting, ignores the signal, or runs as another user.
 */
bool dep_recipient_takes(const struct dep_recipient *to,
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

/**
 * dep_recipient_notify() - wake a thread for a signal that was queued
 * @to: the recipient
 * @task: dep_recipient_task(), S is held
 *
 * A thread that has a signal to handle already is not woken again: it looks at
 * all signals before it returns to user space or sleeps.
 */
void dep_recipient_notify(const struct dep_recipient *to,
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

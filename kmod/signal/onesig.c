// SPDX-License-Identifier: GPL-2.0
/*
 * One signal per fd: the sink that turns events into signals, and the request
 * that makes a set a signal set.  Read the banner of instance.h first.
 *
 * Sending a signal takes locks that are outside those under which the sink is
 * filled, so the sink only puts the item on a list.  In the place of a sleeping
 * task there is a waiter that is never done: woken for the first event, it
 * sends what is due, in the interrupt that wakes it.  A worker continues if
 * there is much to send, and polls the files that need it.  Either one of these
 * two is under way, or the waiter is queued.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/percpu_counter.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include <linux/devepoll.h>

#include "core/instance.h"
#include "core/interface.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/person.h"
#include "core/relay.h"
#include "core/waiter.h"
#include "epoll/request.h"
#include "epoll/write.h"
#include "files/filekind.h"
#include "set/ready.h"
#include "signal/siginfo.h"

static_assert(offsetof(struct devepoll_signal, flags) == 4);
static_assert(DEVEPOLL_SIGNAL == 0x40085013);

/**
 * struct dep_onesig - the part of an instance that only a signal set has
 * @waiter: L: starts the sending when it is woken
 * @due: L: siginfos to be sent, their events in dep_item.revents
 * @stopping: L: the set is being closed; the waiter is not queued again
 * @inst: const: the instance
 * @to: const: the recipient
 * @from: const: the user who asked for signals
 * @queued: const: its person has a queue for @work
 * @work: polls files, and sends what an interrupt left to send
 */
struct dep_onesig {
	struct dep_waiter waiter;
	struct list_head due;
	bool stopping;
	struct dep_instance *inst;
	struct dep_recipient *to;
	struct dep_sender from;
	bool queued;
	struct work_struct work;
};

static struct dep_siginfo *onesig_info(const struct dep_item *item)
{
	return container_of(dep_lone_of(item)->extra, struct dep_siginfo,
			    extra);
}

static void onesig_post(struct dep_instance *inst, struct dep_item *item,
			u16 events)
{
	struct dep_siginfo *info = onesig_info(item);

	lockdep_assert_held(&inst->lock);
	item->revents |= events;
	if (!list_empty(&info->due))
		return;
	list_add_tail(&info->due, &inst->onesig->due);
	WRITE_ONCE(inst->pending, inst->pending + 1);
}

static void onesig_forget(struct dep_instance *inst, struct dep_item *item)
{
	struct dep_siginfo *info = onesig_info(item);

	lockdep_assert_held(&inst->lock);
	item->revents = 0;
	if (list_empty(&info->due))
		return;
	list_del_init(&info->due);
	WRITE_ONCE(inst->pending, inst->pending - 1);
}

/*
 * Gives a new item its siginfo.  The caller has a reference on the file.
 *
 * -EPERM: a file of FUSE or a device of CUSE;
 * -ENOSPC: over parameter max_signals, or the person's share of it;
 * -ENOMEM: no memory.
 */
static int onesig_join(struct dep_item *item)
{
	struct dep_onesig *onesig = item->inst->onesig;
	struct dep_siginfo *info;

	lockdep_assert_held(&item->inst->mtx);
	if (dep_file_is_fuse(item->file))
		return -EPERM;
	info = dep_siginfo_new(onesig->to, onesig->from, item->inst->person,
			       item->fd);
	if (IS_ERR(info))
		return PTR_ERR(info);
	info->item = item;
	dep_lone_of(item)->extra = &info->extra;
	percpu_counter_add(&item->inst->user->epoll_watches,
			   info->extra.charge - 1);
	return 0;
}

static const struct dep_sink onesig_sink = {
	.needs_poll = DEP_NEEDS_POLL,
	.post = onesig_post,
	.forget = onesig_forget,
	.join = onesig_join,
};

/* Takes the next siginfo that is due, and its events; NULL if there is none. */
static struct dep_siginfo *onesig_take(struct dep_onesig *onesig, u16 *events)
{
	struct dep_siginfo *info;

	info = list_first_entry_or_null(&onesig->due, struct dep_siginfo, due);
	if (!info)
		return NULL;
	/* It is due, and so hooked. */
	*events = info->item->revents & info->item->events;
	onesig_forget(onesig->inst, info->item);
	/* The caller drops L now, after which the item may go. */
	refcount_inc(&info->refs);
	return info;
}

/**
 * struct onesig_load - the sending that a processor does in interrupts
 * @last: when it was last updated, in ns of local_clock()
 * @debt: how much more time has gone to sending than to other things, in ns
 */
struct onesig_load {
	u64 last;
	u64 debt;
};

static DEFINE_PER_CPU(struct onesig_load, onesig_load);

/*
 * May this interrupt send?  One event may be for thousands of sets, and the
 * process that gets a signal may have thousands of threads and of tasks that
 * wait on its signalfds.
 */
static bool onesig_may_send(bool has_sent)
{
	struct onesig_load *load = this_cpu_ptr(&onesig_load);
	u64 now = local_clock();
	u64 past = now - load->last;

	load->last = now;
	if (has_sent)
		load->debt += past;
	else
		load->debt -= min(load->debt, past);
	return load->debt < DEP_SEND_NS;
}

/* Sends DEP_SEND_BATCH signals at most.  False if there is more to do. */
static bool onesig_send(struct dep_onesig *onesig, bool in_interrupt)
{
	struct dep_instance *inst = onesig->inst;
	unsigned int left = DEP_SEND_BATCH;
	struct dep_siginfo *info;
	unsigned long flags;
	bool done, sent;
	u16 events;

	spin_lock_irqsave(&inst->lock, flags);
	while (left && (info = onesig_take(onesig, &events))) {
		spin_unlock_irqrestore(&inst->lock, flags);
		sent = events && dep_siginfo_send(info, events);
		dep_siginfo_put(info);
		spin_lock_irqsave(&inst->lock, flags);
		inst->stats.taken += sent;
		left--;
		if (in_interrupt && !onesig_may_send(true))
			left = 0;
	}
	done = !dep_instance_has_work(inst);
	/* The next event finds the waiter there, or waits for L. */
	if (done && !onesig->stopping)
		dep_waiter_queue(inst, &onesig->waiter);
	spin_unlock_irqrestore(&inst->lock, flags);
	return done;
}

/* Called by the relay, with nothing held. */
static void onesig_wake(struct dep_waiter *waiter)
{
	struct dep_onesig *onesig;

	onesig = container_of(waiter, struct dep_onesig, waiter);
	/* The relay's worker has other sets to serve. */
	if (in_task() || !onesig_may_send(false) || !onesig_send(onesig, true))
		queue_work(onesig->inst->person->works, &onesig->work);
}

static void onesig_work(struct work_struct *work)
{
	struct dep_onesig *onesig;

	onesig = container_of(work, struct dep_onesig, work);
	/* dep_ready_ask() posts the events that are sent below. */
	if (dep_ready_may_ask(onesig->inst))
		dep_ready_ask(onesig->inst, true);
	/* Other works are waiting for a worker, too. */
	if (!onesig_send(onesig, false))
		queue_work(onesig->inst->person->works, &onesig->work);
}

static bool signal_is_usable(int signo)
{
	if (!valid_signal(signo) || !signo)
		return false;
	return signo >= SIGRTMIN ||
	       !(sig_kernel_only(signo) || sig_kernel_stop(signo) ||
		 signo == SIGCONT ||
		 rt_sigmask(signo) & (rt_sigmask(SIGSEGV) | rt_sigmask(SIGBUS) |
				      rt_sigmask(SIGILL) | rt_sigmask(SIGTRAP) |
				      rt_sigmask(SIGFPE) | rt_sigmask(SIGSYS)));
}

/* How many persons have a queue; the lock guards theirs, too. */
static unsigned int queues_nr;
static DEFINE_MUTEX(queues_lock);

/*
 * Takes a reference on the queue of a person, which is *@own from now on if there
 * is none yet; -EAGAIN if that is NULL.
 */
static int queue_join(struct dep_person *person, struct workqueue_struct **own)
{
	int err = 0;

	mutex_lock(&queues_lock);
	if (!person->works && !*own) {
		err = -EAGAIN;
	} else if (!person->works && queues_nr >= DEP_PERSON_QUEUES &&
		   !dep_person_is_exempt()) {
		err = -ENOSPC;
	} else {
		if (!person->works) {
			queues_nr++;
			swap(person->works, *own);
		}
		person->nr_signal_sets++;
	}
	mutex_unlock(&queues_lock);
	return err;
}

/*
 * Finds or makes the queue of a person, who stays until queue_put().  ->poll() may
 * sleep for as long as the file's owner likes, so each person can only fill a
 * queue of their own.
 *
 * -ENOSPC: too many persons have one, and the caller is not root;
 * -ENOMEM: no memory.
 */
static int queue_get(struct dep_person *person)
{
	struct workqueue_struct *own = NULL;
	int err = queue_join(person, &own);

	if (err != -EAGAIN)
		return err;
	/* Not under the lock: others need it to close their sets. */
	own = alloc_workqueue("devepoll_ask", WQ_UNBOUND, DEP_PERSON_WORKS);
	if (!own)
		return -ENOMEM;
	err = queue_join(person, &own);
	if (own)
		destroy_workqueue(own);
	return err;
}

/* Drops it; nothing of the caller is queued there any more. */
static void queue_put(struct dep_person *person)
{
	struct workqueue_struct *works = NULL;

	mutex_lock(&queues_lock);
	if (!--person->nr_signal_sets) {
		swap(person->works, works);
		queues_nr--;
	}
	mutex_unlock(&queues_lock);
	if (works)
		destroy_workqueue(works);
}

static void onesig_destroy(struct dep_onesig *onesig)
{
	if (onesig->queued)
		queue_put(onesig->inst->person);
	if (onesig->to)
		dep_recipient_put(onesig->to);
	kfree(onesig);
}

static struct dep_onesig *onesig_new(struct dep_instance *inst,
				     const struct devepoll_signal *args)
{
	struct dep_onesig *onesig;
	int err;

	onesig = kzalloc(sizeof(*onesig), GFP_KERNEL_ACCOUNT);
	if (!onesig)
		return ERR_PTR(-ENOMEM);
	onesig->inst = inst;
	onesig->to = dep_recipient_get(args->signo, args->flags &
				       DEVEPOLL_SIGNAL_THREAD);
	err = onesig->to ? queue_get(inst->person) : -ENOMEM;
	onesig->queued = !err;
	if (err) {
		onesig_destroy(onesig);
		return ERR_PTR(err);
	}
	onesig->from.uid = current_uid();
	onesig->from.euid = current_euid();
	INIT_LIST_HEAD(&onesig->waiter.link);
	onesig->waiter.wake = onesig_wake;
	INIT_LIST_HEAD(&onesig->due);
	INIT_WORK(&onesig->work, onesig_work);
	return onesig;
}

/* Makes the set a signal set, if it is nothing else yet. */
static int onesig_begin(struct dep_instance *inst, struct dep_onesig *onesig)
{
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	if (inst->extended || inst->classic || inst->onesig) {
		mutex_unlock(&inst->mtx);
		return -EBUSY;
	}
	spin_lock_irq(&inst->lock);
	inst->sink = &onesig_sink;
	inst->room = dep_max_fds;
	dep_waiter_queue(inst, &onesig->waiter);
	/* Others read it without a lock. */
	smp_store_release(&inst->onesig, onesig);
	spin_unlock_irq(&inst->lock);
	mutex_unlock(&inst->mtx);
	return 0;
}

static long onesig_make(struct file *file, unsigned int cmd, void __user *arg)
{
	struct dep_instance *inst = file->private_data;
	struct devepoll_signal args __aligned(8);
	struct dep_onesig *onesig;
	int err;

	err = dep_words_from_user((u64 *)&args, sizeof(args), arg,
				  _IOC_SIZE(cmd));
	if (err)
		return err;
	if (args.flags & ~DEVEPOLL_SIGNAL_THREAD ||
	    !signal_is_usable(args.signo))
		return -EINVAL;
	/* An io_uring worker never receives a signal. */
	if (args.flags & DEVEPOLL_SIGNAL_THREAD &&
	    current->flags & (PF_IO_WORKER | PF_KTHREAD))
		return -EINVAL;
	/* Checked again later; this saves making a queue in vain. */
	if (READ_ONCE(inst->settled) || READ_ONCE(inst->classic) ||
	    READ_ONCE(inst->onesig))
		return -EBUSY;
	onesig = onesig_new(inst, &args);
	if (IS_ERR(onesig))
		return PTR_ERR(onesig);
	err = onesig_begin(inst, onesig);
	if (err)
		onesig_destroy(onesig);
	return err;
}

/* Sleeps until nothing of it is under way. */
static void onesig_stop(struct dep_instance *inst)
{
	struct dep_onesig *onesig = inst->onesig;

	if (!onesig)
		return;
	might_sleep();
	spin_lock_irq(&inst->lock);
	onesig->stopping = true;
	dep_waiter_unqueue(inst, &onesig->waiter);
	spin_unlock_irq(&inst->lock);
	dep_relay_leave(inst);
	/* After everything that queues it. */
	cancel_work_sync(&onesig->work);
	WARN_ON_ONCE(!list_empty(&onesig->due));
	onesig_destroy(onesig);
}

static const struct dep_request onesig_requests[] = {
	{ DEVEPOLL_SIGNAL, true, FMODE_WRITE, onesig_make },
	{ },
};

/* The interface of 2001 has the same, and for its own sets, too. */
static ssize_t onesig_write(struct file *file, const char __user *buf,
			    size_t count, loff_t *pos)
{
	struct dep_instance *inst = file->private_data;

	return READ_ONCE(inst->onesig) ?
		       dep_write_pollfds(inst, buf, count) : -EINVAL;
}

static const char *onesig_describe(const struct dep_instance *inst)
{
	return READ_ONCE(inst->onesig) ? "signal" : NULL;
}

DEP_INTERFACE_TABLE(signal) = {
	.name = "signal",
	.features = DEVEPOLL_FEATURE_SIGNAL,
	.init = dep_siginfo_cache_init,
	.exit = dep_siginfo_cache_exit,
	.requests = onesig_requests,
	.write = onesig_write,
	.stop = onesig_stop,
	.describe = onesig_describe,
};

// SPDX-License-Identifier: GPL-2.0
/*
 * The relay: wake-ups that can't be done in the wake function, because whoever
 * is woken takes locks of his own, are done a moment later by the processor on
 * which the event has happened.  Read the banner of instance.h first.
 *
 * One event may be for thousands of sets, with hundreds of epoll sets around
 * each.  So there is one queue for each processor, not one for each set: an
 * interrupt takes sets from it until its time is over and leaves the rest to a
 * worker of the same processor, which yields to others like any thread of
 * normal priority.  Who causes the events has to share his own processor with
 * it, and nobody else's.  Only where the worker gets no processor at all, since
 * a task of real time has it, another one helps out anywhere, for a small part
 * of the time.
 *
 * Sets stand in lanes, by whose they are (person.h), which are served in turn:
 * so nobody waits behind all the sets of another user.
 */
#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/wait_bit.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/limits.h"
#include "core/relay.h"
#include "core/waiter.h"

DEFINE_PER_CPU(struct dep_relay, dep_relays);
static struct workqueue_struct *relay_queue;
/* One at a time. */
static struct workqueue_struct *relay_help_queue;

static void lanes_init(struct dep_lanes *lanes)
{
	unsigned int i;

	for (i = 0; i < DEP_RELAY_LANES; i++)
		INIT_LIST_HEAD(&lanes->lane[i]);
}

static void lanes_move(struct dep_lanes *from, struct dep_lanes *to)
{
	unsigned int i;

	for_each_set_bit(i, &from->filled, DEP_RELAY_LANES)
		list_splice_tail_init(&from->lane[i], &to->lane[i]);
	to->filled |= from->filled;
	from->filled = 0;
}

/*
 * Takes the next set, the sets of no user twice in a row while there are
 * others; NULL if there is none.  It is served from now on.
 */
static struct dep_instance *relay_take(struct dep_relay *relay,
				       struct dep_lanes *lanes)
{
	struct dep_instance *inst = NULL;
	unsigned long flags;

	spin_lock_irqsave(&relay->lock, flags);
	while (lanes->filled && !inst) {
		unsigned int i = find_next_bit_wrap(&lanes->filled,
						    DEP_RELAY_LANES,
						    lanes->turn + 1);

		lanes->turn = i;
		inst = list_first_entry_or_null(&lanes->lane[i],
						struct dep_instance, in_relay);
		if (inst) {
			list_del_init(&inst->in_relay);
			atomic_inc(&inst->serving);
			relay->served += lanes == &relay->rest;
		}
		if (list_empty(&lanes->lane[i]))
			__clear_bit(i, &lanes->filled);
	}
	spin_unlock_irqrestore(&relay->lock, flags);
	return inst;
}

/* The last touch: pairs with dep_relay_leave(). */
static void relay_served(struct dep_instance *inst)
{
	/* Looks at nothing but the address. */
	if (atomic_dec_and_test(&inst->serving))
		wake_up_var(&inst->serving);
}

/* Leaves a set that was taken to the worker. */
static void relay_put_off(struct dep_relay *relay, struct dep_instance *inst)
{
	unsigned long flags;

	spin_lock_irqsave(&relay->lock, flags);
	dep_lanes_add(&relay->rest, &inst->in_relay, inst->lane);
	spin_unlock_irqrestore(&relay->lock, flags);
	relay_served(inst);
}

/* Wakes commands of rings, so many at most.  False if there are more. */
static bool relay_wake_commands(struct dep_instance *inst, unsigned long *flags)
{
	unsigned int left = DEP_WAKE_BATCH;

	lockdep_assert_held(&inst->lock);
	for (; left && !list_empty(&inst->woken); left--) {
		struct dep_waiter *waiter;

		waiter = list_first_entry(&inst->woken, struct dep_waiter,
					  link);
		/* Off the list: nobody else has it now. */
		list_del_init(&waiter->link);
		spin_unlock_irqrestore(&inst->lock, *flags);
		waiter->wake(waiter);
		spin_lock_irqsave(&inst->lock, *flags);
	}
	return list_empty(&inst->woken);
}

/*
 * Wakes who waits for a set that was taken, outside of any lock of the file
 * that woke us.
 */
static void relay_serve(struct dep_relay *relay, struct dep_instance *inst)
{
	unsigned long flags;
	__poll_t wake;
	bool polled;

	spin_lock_irqsave(&inst->lock, flags);
	if (inst->owed && dep_instance_has_work(inst))
		dep_instance_wake(inst);
	inst->owed = false;
	/* What comes from now on comes too late for this time. */
	inst->relay = NULL;
	wake = inst->poll_wake;
	inst->poll_wake = 0;
	if (!relay_wake_commands(inst, &flags))
		dep_instance_relay(inst);
	polled = inst->polled;
	/* Who comes later sets polled again, after it has queued itself. */
	inst->polled = waitqueue_active(&inst->poll_queue);
	spin_unlock_irqrestore(&inst->lock, flags);

	/*
	 * io_uring and AIO take a key for the answer, so name it only if there
	 * is an event, and not if a file has to be asked first.
	 */
	if (polled && (READ_ONCE(inst->pending) || wake))
		wake_up_poll(&inst->poll_queue, EPOLLIN | EPOLLRDNORM | wake);
	else if (polled)
		wake_up(&inst->poll_queue);
	relay_served(inst);
}

/* Are there more to be woken than so many, be they on the queue or sets? */
static bool instance_has_pollers(struct dep_instance *inst, u32 most)
{
	wait_queue_head_t *queue = &inst->poll_queue;
	wait_queue_entry_t *entry;
	unsigned long flags;
	u32 nr = 0;

	if (READ_ONCE(inst->nr_outer) > most)
		return true;
	spin_lock_irqsave(&queue->lock, flags);
	list_for_each_entry(entry, &queue->head, entry) {
		if (++nr > most)
			break;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return nr > most;
}

/* May an interrupt serve this set, though its time may be over? */
static bool relay_may_serve(struct dep_instance *inst, bool time)
{
	/* Commands of rings: they sleep, so they can't see that it is late. */
	if (!time && !list_empty(&inst->woken))
		return false;
	return !READ_ONCE(inst->polled) ||
	       !instance_has_pollers(inst, time ? DEP_POLLERS_AT_ONCE :
						  DEP_RELAY_POLLERS);
}

/*
 * May the interrupt serve another set?  What it has done is paid back by the
 * time that passes, a part of it.  @most is how much the last set counts as at
 * most, 0 if there was none.  Where the clock of the processor is not stable it
 * stands still when the tick is overdue, as it may be after a walk over
 * thousands of items: then a set counts as DEP_RELAY_SET_NS.  A debt has a
 * limit, since it may be none: the host of a virtual machine may have run
 * something else.
 */
static bool relay_has_time(struct dep_relay *relay, u64 most)
{
	u64 now = local_clock();
	u64 past = now - relay->last;

	relay->last = now;
	if (most)
		relay->debt = min(relay->debt +
				  (past ? min(past, most) : DEP_RELAY_SET_NS),
				  (u64)DEP_RELAY_DEBT_NS);
	else
		relay->debt -= min(relay->debt, past / DEP_RELAY_SHARE);
	return relay->debt < DEP_RELAY_NS;
}

/* The timer is to be set, since nobody has done so. */
static bool relay_begins_ticking(struct dep_relay *relay)
{
	bool begins = !relay->ticking;

	lockdep_assert_held(&relay->lock);
	relay->ticking = true;
	return begins;
}

static void relay_set_timer(struct dep_relay *relay)
{
	/* Those of several processors must not meet on one. */
	hrtimer_start(&relay->timer, ns_to_ktime(DEP_LATE_NS),
		      HRTIMER_MODE_REL_PINNED);
}

/* What the interrupt leaves is for the worker, and the timer sees to that. */
static void relay_call_worker(struct dep_relay *relay)
{
	u64 now = ktime_get_ns();
	unsigned long flags;
	bool work, tick;

	spin_lock_irqsave(&relay->lock, flags);
	work = !relay->working;
	relay->working = true;
	if (work) {
		relay->moved = now;
		relay->seen = relay->served;
	}
	tick = relay_begins_ticking(relay);
	spin_unlock_irqrestore(&relay->lock, flags);
	if (work)
		queue_work_on(relay->cpu, relay_queue, &relay->work);
	if (tick)
		relay_set_timer(relay);
}

static void relay_interrupt(struct irq_work *irq)
{
	struct dep_relay *relay = container_of(irq, struct dep_relay, irq);
	unsigned int least = DEP_RELAY_LEAST;
	bool time = relay_has_time(relay, 0), rest;
	struct dep_instance *inst;
	unsigned long flags;
	u64 most;

	while ((time || least) && (inst = relay_take(relay, &relay->fresh))) {
		least -= !!least;
		/* A signal set has a budget of its own. */
		most = READ_ONCE(inst->onesig) ? DEP_RELAY_SET_NS : U64_MAX;
		if (relay_may_serve(inst, time))
			relay_serve(relay, inst);
		else
			relay_put_off(relay, inst);
		time = relay_has_time(relay, most);
	}

	spin_lock_irqsave(&relay->lock, flags);
	relay->raised = false;
	lanes_move(&relay->fresh, &relay->rest);
	rest = relay->rest.filled;
	spin_unlock_irqrestore(&relay->lock, flags);
	if (rest)
		relay_call_worker(relay);
}

/*
 * Serves the next set of those that an interrupt has left; false if there is
 * none.  A real-time task must not take the processor from us while we have a
 * set that no other worker can find.
 */
static bool relay_serve_next(struct dep_relay *relay)
{
	struct dep_instance *inst;

	preempt_disable();
	inst = relay_take(relay, &relay->rest);
	if (inst)
		relay_serve(relay, inst);
	preempt_enable();
	return inst;
}

/* Runs on the same processor, unless that goes offline. */
static void relay_work(struct work_struct *work)
{
	struct dep_relay *relay = container_of(work, struct dep_relay, work);
	unsigned int left = DEP_WAKE_BATCH;
	bool more;

	while (left-- && relay_serve_next(relay))
		cond_resched();

	spin_lock_irq(&relay->lock);
	more = relay->rest.filled;
	relay->working = more;
	spin_unlock_irq(&relay->lock);
	if (more)
		queue_work_on(relay->cpu, relay_queue, &relay->work);
}

/* Does a part of its work, on another processor. */
static void relay_help(struct work_struct *work)
{
	struct dep_relay *relay = container_of(work, struct dep_relay, help);
	u64 end = ktime_get_ns() + DEP_RELAY_HELP_NS;

	while (relay_serve_next(relay)) {
		if (ktime_get_ns() >= end)
			break;
		cond_resched();
	}
}

/* Wakes another one in the place of those who are late. */
static void relay_look(struct dep_relay *relay, struct dep_instance *inst,
		       u64 now)
{
	unsigned long flags;

	spin_lock_irqsave(&inst->lock, flags);
	if (dep_waiter_give_up(inst) && dep_instance_has_work(inst))
		dep_instance_wake(inst);
	/* Work may be off the list only because files are asked this moment. */
	if (inst->nr_waiters && inst->awaited) {
		spin_lock(&relay->lock);
		inst->late_at = now + DEP_LATE_NS;
		dep_lanes_add(&relay->late, &inst->in_late, inst->lane);
		spin_unlock(&relay->lock);
	} else {
		inst->late = NULL;
	}
	spin_unlock_irqrestore(&inst->lock, flags);
	relay_served(inst);
}

/* The set of a lane that is due first, or NULL. */
static struct dep_instance *relay_late_of(struct dep_relay *relay,
					  unsigned int lane)
{
	lockdep_assert_held(&relay->lock);
	return list_first_entry_or_null(&relay->late.lane[lane],
					struct dep_instance, in_late);
}

/*
 * Takes the next set that is due, the sets of no user twice in a row while
 * others are; NULL if none is.
 */
static struct dep_instance *relay_take_late(struct dep_relay *relay, u64 now)
{
	struct dep_lanes *lanes = &relay->late;
	struct dep_instance *inst;
	unsigned int i;

	for (i = 0; i < DEP_RELAY_LANES; i++) {
		lanes->turn = (lanes->turn + 1) % DEP_RELAY_LANES;
		inst = relay_late_of(relay, lanes->turn);
		if (inst && inst->late_at <= now) {
			list_del_init(&inst->in_late);
			atomic_inc(&inst->serving);
			return inst;
		}
	}
	return NULL;
}

/*
 * Is there work that the worker, which had time enough, has not begun?  Each
 * time that this is so it is true only once.
 */
static bool relay_needs_help(struct dep_relay *relay, u64 now)
{
	lockdep_assert_held(&relay->lock);
	if (!relay->rest.filled)
		return false;
	if (relay->seen == relay->served && now - relay->moved < DEP_LATE_NS)
		return false;
	if (relay->seen != relay->served) {
		relay->seen = relay->served;
		relay->moved = now;
		return false;
	}
	relay->moved = now;
	return true;
}

/* When there is something to look at again; never, if there is nothing. */
static u64 relay_next_tick(struct dep_relay *relay)
{
	u64 next = relay->rest.filled ? relay->moved + DEP_LATE_NS : U64_MAX;
	struct dep_instance *inst;
	unsigned int i;

	for (i = 0; i < DEP_RELAY_LANES; i++) {
		inst = relay_late_of(relay, i);
		if (inst)
			next = min(next, inst->late_at);
	}
	return next;
}

static enum hrtimer_restart relay_tick(struct hrtimer *timer)
{
	struct dep_relay *relay = container_of(timer, struct dep_relay, timer);
	u64 now = ktime_get_ns(), begun = local_clock(), next;
	unsigned int left = DEP_WAKE_BATCH;
	struct dep_instance *inst;
	unsigned long flags;
	bool help;

	spin_lock_irqsave(&relay->lock, flags);
	help = relay_needs_help(relay, now);
	while (left-- && (inst = relay_take_late(relay, now))) {
		spin_unlock_irqrestore(&relay->lock, flags);
		relay_look(relay, inst, now);
		spin_lock_irqsave(&relay->lock, flags);
		if (local_clock() - begun > DEP_RELAY_NS)
			break;
	}
	next = relay_next_tick(relay);
	relay->ticking = next != U64_MAX;
	spin_unlock_irqrestore(&relay->lock, flags);
	if (help)
		queue_work(relay_help_queue, &relay->help);
	if (next == U64_MAX)
		return HRTIMER_NORESTART;
	/* An interrupt has done enough: the rest is looked at a bit later. */
	next = max(next, now + DEP_LATE_PAUSE_NS);
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

/**
 * dep_relay_watch() - see to it that who was woken comes
 * @inst: the instance, locked; others sleep on, and it is not watched yet
 *
 * If he gets no processor the next one is woken.
 */
void dep_relay_watch(struct dep_instance *inst)
{
	/* Interrupts are off. */
	struct dep_relay *relay = this_cpu_ptr(&dep_relays);
	u64 now = ktime_get_ns();
	bool tick;

	lockdep_assert_held(&inst->lock);
	inst->late = relay;
	spin_lock(&relay->lock);
	inst->late_at = now + DEP_LATE_NS;
	dep_lanes_add(&relay->late, &inst->in_late, inst->lane);
	tick = relay_begins_ticking(relay);
	spin_unlock(&relay->lock);
	if (tick)
		relay_set_timer(relay);
}

/* Takes a set off a list of a relay, if nobody has taken it this moment. */
static void relay_unlist(struct dep_relay **relay, struct list_head *place)
{
	if (!*relay)
		return;
	spin_lock(&(*relay)->lock);
	if (list_empty(place)) {
		spin_unlock(&(*relay)->lock);
		return;
	}
	list_del_init(place);
	spin_unlock(&(*relay)->lock);
	*relay = NULL;
}

static bool relay_forget(struct dep_instance *inst)
{
	bool gone;

	spin_lock_irq(&inst->lock);
	relay_unlist(&inst->relay, &inst->in_relay);
	relay_unlist(&inst->late, &inst->in_late);
	gone = !inst->relay && !inst->late && !atomic_read(&inst->serving);
	spin_unlock_irq(&inst->lock);
	return gone;
}

/**
 * dep_relay_leave() - take a set out of the relay, and wait for who serves it
 * @inst: the instance; nothing adds it again
 *
 * Context: process; sleeps.
 */
void dep_relay_leave(struct dep_instance *inst)
{
	might_sleep();
	/* Who serves it may put it back. */
	while (!relay_forget(inst))
		wait_var_event(&inst->serving, !atomic_read(&inst->serving));
}

/**
 * dep_relay_init() - make the relays
 *
 * Return: 0, or -ENOMEM.
 */
int __init dep_relay_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct dep_relay *relay = per_cpu_ptr(&dep_relays, cpu);

		spin_lock_init(&relay->lock);
		lanes_init(&relay->fresh);
		lanes_init(&relay->rest);
		init_irq_work(&relay->irq, relay_interrupt);
		INIT_WORK(&relay->work, relay_work);
		INIT_WORK(&relay->help, relay_help);
		lanes_init(&relay->late);
		dep_hrtimer_setup(&relay->timer, relay_tick, CLOCK_MONOTONIC,
				  HRTIMER_MODE_REL_PINNED);
		relay->cpu = cpu;
	}
	relay_queue = alloc_workqueue("devepoll_relay",
				      WQ_PERCPU | WQ_CPU_INTENSIVE, 1);
	relay_help_queue = alloc_workqueue("devepoll_help", WQ_UNBOUND, 1);
	if (relay_queue && relay_help_queue)
		return 0;
	if (relay_queue)
		destroy_workqueue(relay_queue);
	if (relay_help_queue)
		destroy_workqueue(relay_help_queue);
	return -ENOMEM;
}

/**
 * dep_relay_exit() - wait for the relays; no set is left
 *
 * Context: process; sleeps.
 */
void dep_relay_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		irq_work_sync(&per_cpu_ptr(&dep_relays, cpu)->irq);
		hrtimer_cancel(&per_cpu_ptr(&dep_relays, cpu)->timer);
	}
	/* After what queues it. */
	destroy_workqueue(relay_queue);
	destroy_workqueue(relay_help_queue);
}

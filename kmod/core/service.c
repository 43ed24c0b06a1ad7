// SPDX-License-Identifier: GPL-2.0
/*
 * The service of the relays.  The wake function can't wake pollers, which take
 * locks of their own when they are woken; so the processor on which the event
 * happened wakes them a moment later.  relay.c has the queues.  Read the banner
 * of instance.h first.
 *
 * One event may be for thousands of sets, with hundreds of epoll sets around
 * each.  So there is one queue for each processor, not one for each set: an
 * interrupt takes sets from it until its time is used up, and leaves the rest
 * to a worker of the same processor, which yields to others like any thread of
 * normal priority.  So this work takes time only from the processor of the task
 * that causes the events.  Only if the worker gets no processor at all, because
 * a real-time task has it, another worker helps out on any processor, for a
 * small part of the time.
 *
 * Each person has a lane of sets, and the lanes are served in turn: so no set
 * waits behind all the sets of another user.  Nested sets multiply what one
 * event costs here, so each person owes the time that their sets took, and the
 * sets wait while that is too much (lane.h).
 *
 * The timer of a relay checks whether waiters that were woken have come,
 * whether persons who owed time have waited long enough, and whether the worker
 * gets a processor.
 */
#include <linux/sched/clock.h>

#include "core/compat.h"
#include "core/readers.h"
#include "core/realtime.h"
#include "core/relay.h"
#include "core/waiter.h"

/* Wakes other waiters in the place of those that are late. */
static void late_look(struct dep_relay *relay, struct dep_instance *inst,
		      u64 now)
{
	unsigned long flags;

	spin_lock_irqsave(&inst->lock, flags);
	if (dep_waiter_give_up(inst) && dep_instance_has_work(inst))
		dep_instance_wake(inst);
	/* The list may lack items only because their files are being polled. */
	if (inst->nr_waiters && inst->awaited) {
		spin_lock(&relay->lock);
		dep_relay_add_late(relay, inst, now);
		spin_unlock(&relay->lock);
	} else {
		inst->late = NULL;
	}
	spin_unlock_irqrestore(&inst->lock, flags);
	dep_relay_served(inst);
}

/* The lane whose turn is first, or NULL. */
static struct dep_lane *late_first(struct dep_relay *relay)
{
	lockdep_assert_held(&relay->lock);
	return rb_entry_safe(rb_first_cached(&relay->late), struct dep_lane,
			     in_late);
}

/*
 * Takes the next set that is due, or returns NULL.  No person has two turns in
 * a row while others have sets that are due.
 */
static struct dep_instance *late_take(struct dep_relay *relay, u64 now)
{
	struct dep_lane *lane = late_first(relay);
	struct dep_instance *inst;

	if (!lane || lane->late_at > now)
		return NULL;
	inst = list_first_entry(&lane->late, struct dep_instance, in_late);
	list_del_init(&inst->in_late);
	dep_relay_settle_late(relay, lane, now);
	atomic_inc(&inst->serving);
	return inst;
}

/* Lets the lanes go on whose persons have waited long enough for their debt. */
static void late_end_pauses(struct dep_relay *relay, u64 now)
{
	struct dep_lane *lane, *next;

	lockdep_assert_held(&relay->lock);
	list_for_each_entry_safe(lane, next, &relay->owing, rest.turn) {
		if (lane->until > now)
			break;
		list_move_tail(&lane->rest.turn, &relay->rest);
	}
}

/*
 * Has the worker taken no set for DEP_LATE_NS, though there are some?  True
 * only once in each such time.
 */
static bool late_needs_help(struct dep_relay *relay, u64 now)
{
	bool serves = relay->seen != relay->served;

	lockdep_assert_held(&relay->lock);
	if (list_empty(&relay->rest) ||
	    (!serves && now - relay->moved < DEP_LATE_NS))
		return false;
	relay->seen = relay->served;
	relay->moved = now;
	return !serves;
}

/*
 * Must the worker be queued, since there is work and it is not running or queued?
 * Then the caller queues it.
 */
static bool relay_wants_worker(struct dep_relay *relay, u64 now)
{
	lockdep_assert_held(&relay->lock);
	if (relay->working || list_empty(&relay->rest))
		return false;
	relay->working = true;
	relay->moved = now;
	relay->seen = relay->served;
	return true;
}

/* When the timer has to look again; U64_MAX if never. */
static u64 late_next(struct dep_relay *relay)
{
	u64 next = U64_MAX;
	struct dep_lane *lane = late_first(relay);

	if (lane)
		next = lane->late_at;
	if (!list_empty(&relay->rest))
		next = min(next, relay->moved + DEP_LATE_NS);
	lane = list_first_entry_or_null(&relay->owing, struct dep_lane,
					rest.turn);
	if (lane)
		next = min(next, lane->until);
	return next;
}

/*
 * The timer of a relay, in a hard interrupt; it is restarted if it has to look
 * again.
 */
static enum hrtimer_restart late_tick(struct hrtimer *timer)
{
	struct dep_relay *relay = container_of(timer, struct dep_relay, timer);
	u64 now = ktime_get_ns(), begun = local_clock(), next;
	unsigned int left = DEP_WAKE_BATCH;
	struct dep_instance *inst;
	unsigned long flags;
	bool help, work;

	spin_lock_irqsave(&relay->lock, flags);
	help = late_needs_help(relay, now);
	late_end_pauses(relay, now);
	work = relay_wants_worker(relay, now);
	while (left-- && (inst = late_take(relay, now))) {
		spin_unlock_irqrestore(&relay->lock, flags);
		late_look(relay, inst, now);
		spin_lock_irqsave(&relay->lock, flags);
		if (local_clock() - begun > DEP_RELAY_NS)
			break;
	}
	next = late_next(relay);
	relay->ticking = next != U64_MAX;
	spin_unlock_irqrestore(&relay->lock, flags);
	if (work)
		queue_work_on(relay->cpu, dep_relay_queue, &relay->work);
	if (help)
		queue_work(dep_relay_helpers, &relay->help);
	if (next == U64_MAX)
		return HRTIMER_NORESTART;
	/* One interrupt does no more: the rest is checked a bit later. */
	next = max(next, now + DEP_LATE_PAUSE_NS);
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

/* Adds to the debt of a set's person, and lets go of the set, which was taken. */
static void relay_settle(struct dep_relay *relay, struct dep_instance *inst,
			 u64 owed)
{
	unsigned long flags;

	if (owed) {
		spin_lock_irqsave(&relay->lock, flags);
		dep_lane_charge(dep_relay_lane(relay, inst), owed);
		spin_unlock_irqrestore(&relay->lock, flags);
	}
	dep_relay_served(inst);
}

/* Leaves the sets of all lanes to the worker. */
static void relay_put_off_all(struct dep_relay *relay)
{
	struct dep_lane *lane, *next;

	lockdep_assert_held(&relay->lock);
	list_for_each_entry_safe(lane, next, &relay->fresh, fresh.turn) {
		list_splice_tail_init(&lane->fresh.sets, &lane->rest.sets);
		list_del_init(&lane->fresh.turn);
		/* It may have a turn already, or owe time. */
		if (list_empty(&lane->rest.turn))
			list_add_tail(&lane->rest.turn, &relay->rest);
	}
}

/* Leaves a set that was taken to the worker. */
static void relay_put_off(struct dep_relay *relay, struct dep_instance *inst)
{
	unsigned long flags;

	spin_lock_irqsave(&relay->lock, flags);
	dep_queue_add(&dep_relay_lane(relay, inst)->rest, &inst->in_relay,
		      &relay->rest);
	spin_unlock_irqrestore(&relay->lock, flags);
}

/* Wakes at most DEP_WAKE_BATCH io_uring commands; false if there are more. */
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
 * io_uring and AIO take a key for the answer, so name one only if there is an
 * event, and not if a file has to be polled first.  As epoll does, name EPOLLIN
 * alone, unless a poller wants EPOLLRDNORM without EPOLLIN: then name both with
 * @wake, and otherwise nothing, so that all pollers poll the set.
 */
static void relay_wake_pollers(struct dep_instance *inst, __poll_t wake)
{
	bool named = dep_instance_has_events(inst) || wake;

	if (named && likely(!READ_ONCE(inst->polled_oddly)))
		wake_up_poll(&inst->poll_queue, EPOLLIN | wake);
	else if (wake)
		wake_up_poll(&inst->poll_queue, EPOLLIN | EPOLLRDNORM | wake);
	else
		wake_up(&inst->poll_queue);
}

/*
 * Wakes those who wait for a set that was taken, outside of any lock of the
 * file that woke us.
 */
static void relay_serve(struct dep_instance *inst)
{
	unsigned long flags;
	__poll_t wake;
	bool polled;

	spin_lock_irqsave(&inst->lock, flags);
	if (inst->owed) {
		/* First: listing may find a free slot set, and set this. */
		inst->owed = false;
		if (dep_instance_readers(inst))
			dep_readers_list_freed(inst);
		if (dep_instance_has_work(inst))
			dep_instance_wake(inst);
	}
	/* An event from now on adds the set again. */
	inst->relay = NULL;
	wake = inst->poll_wake;
	inst->poll_wake = 0;
	if (!relay_wake_commands(inst, &flags) || inst->owed)
		dep_instance_relay(inst);
	polled = inst->polled;
	/* A later poller sets polled again after it has queued itself. */
	WRITE_ONCE(inst->polled, waitqueue_active(&inst->poll_queue));
	spin_unlock_irqrestore(&inst->lock, flags);

	if (polled)
		relay_wake_pollers(inst, wake);
}

/* Are there more pollers than @most, be they on the queue or sets? */
static bool instance_has_pollers(struct dep_instance *inst, u32 most)
{
	wait_queue_head_t *queue = &inst->poll_queue;
	wait_queue_entry_t *entry;
	unsigned long flags;
	u32 nr = 0;

	if (READ_ONCE(inst->nesting.nr_outer) > most)
		return true;
	spin_lock_irqsave(&queue->lock, flags);
	list_for_each_entry(entry, &queue->head, entry) {
		if (++nr > most)
			break;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return nr > most;
}

/* May an interrupt serve this set, even if its time is used up? */
static bool relay_may_serve(struct dep_instance *inst, bool time)
{
	/* A command sleeps: no program can see that it is woken late. */
	if (!time && !list_empty(&inst->woken))
		return false;
	return !READ_ONCE(inst->polled) ||
	       !instance_has_pollers(inst, time ? DEP_POLLERS_AT_ONCE :
						  DEP_RELAY_POLLERS);
}

/*
 * What an interrupt has used since it last read the clock; at most @most counts
 * for a set.  If the clock of the processor is not stable, it stands still when
 * the tick is overdue, as it may be after a walk over thousands of items; then
 * a set counts as DEP_RELAY_SET_NS.
 */
static u64 relay_spent(struct dep_relay *relay, u64 most)
{
	u64 now = local_clock();
	u64 past = now - relay->last;

	relay->last = now;
	return past ? min(past, most) : DEP_RELAY_SET_NS;
}

/*
 * May the interrupt serve another set?  What it has used is paid back by a part
 * of the time that passes.  A debt has a limit, since it may be wrong: see
 * dep_lane_charge().
 */
static bool relay_has_time(struct dep_relay *relay, u64 spent)
{
	relay->debt = min(relay->debt + spent, (u64)DEP_RELAY_DEBT_NS);
	return relay->debt < DEP_RELAY_NS;
}

/* An interrupt begins: the time that has passed pays. */
static void relay_pay_back(struct dep_relay *relay)
{
	u64 now = local_clock();

	relay->debt -= min(relay->debt, (now - relay->last) / DEP_RELAY_SHARE);
	relay->last = now;
}

/* Leaves the rest to the worker, and makes the timer check on the worker. */
static void relay_call_worker(struct dep_relay *relay)
{
	u64 now = ktime_get_ns();
	unsigned long flags;
	bool work, tick;

	spin_lock_irqsave(&relay->lock, flags);
	work = relay_wants_worker(relay, now);
	tick = dep_relay_begins_ticking(relay);
	spin_unlock_irqrestore(&relay->lock, flags);
	if (work)
		queue_work_on(relay->cpu, dep_relay_queue, &relay->work);
	if (tick)
		dep_relay_set_timer(relay);
}

/* Takes the first set of a queue, which has one, and begins to serve it. */
static struct dep_instance *relay_take_from(struct dep_relay *relay,
					    struct dep_queue *queue,
					    struct list_head *turns)
{
	struct dep_instance *inst;

	lockdep_assert_held(&relay->lock);
	inst = list_first_entry(&queue->sets, struct dep_instance, in_relay);
	list_del_init(&inst->in_relay);
	/* All other queues have their turns before this one. */
	list_move_tail(&queue->turn, turns);
	dep_queue_settle(queue);
	atomic_inc(&inst->serving);
	return inst;
}

/*
 * Takes the next set for the interrupt, or returns NULL.  It takes no set of the
 * person who had the last one while others have some.  @owes: this person owes
 * time, so the interrupt must not serve it.  The set is being served from now
 * on, until dep_relay_served().
 */
static struct dep_instance *relay_take(struct dep_relay *relay, bool *owes)
{
	struct dep_instance *inst = NULL;
	struct dep_queue *queue;
	unsigned long flags;

	spin_lock_irqsave(&relay->lock, flags);
	queue = list_first_entry_or_null(&relay->fresh, struct dep_queue, turn);
	if (queue) {
		inst = relay_take_from(relay, queue, &relay->fresh);
		*owes = dep_lane_owes(dep_relay_lane(relay, inst), relay->last);
	}
	spin_unlock_irqrestore(&relay->lock, flags);
	return inst;
}

static void relay_interrupt(struct irq_work *irq)
{
	struct dep_relay *relay = container_of(irq, struct dep_relay, irq);
	unsigned int least = DEP_RELAY_LEAST;
	struct dep_instance *inst;
	unsigned long flags;
	u64 most, spent, free = DEP_OWE_FREE_NS;
	bool time, rest, owes;

	relay_pay_back(relay);
	time = relay_has_time(relay, 0);
	while ((time || least) &&
	       (inst = relay_take(relay, &owes))) {
		if (least)
			least--;
		/* A signal set has a budget of its own. */
		most = READ_ONCE(inst->onesig) ? DEP_RELAY_SET_NS : U64_MAX;
		if (!owes && relay_may_serve(inst, time))
			relay_serve(inst);
		else
			relay_put_off(relay, inst);
		spent = relay_spent(relay, most);
		time = relay_has_time(relay, spent);
		relay_settle(relay, inst, spent - min(spent, free));
		free -= min(spent, free);
	}

	spin_lock_irqsave(&relay->lock, flags);
	relay->raised = false;
	relay_put_off_all(relay);
	rest = !list_empty(&relay->rest) || !list_empty(&relay->owing);
	spin_unlock_irqrestore(&relay->lock, flags);
	if (rest)
		relay_call_worker(relay);
}

/* The first lane whose person owes nothing; the others have to wait. */
static struct dep_lane *relay_first_lane(struct dep_relay *relay, u64 now)
{
	struct dep_lane *lane;

	lockdep_assert_held(&relay->lock);
	while (!list_empty(&relay->rest)) {
		lane = list_first_entry(&relay->rest, struct dep_lane,
					rest.turn);
		if (!dep_lane_owes(lane, now))
			return lane;
		lane->until = ktime_get_ns() + DEP_OWE_PAUSE_NS;
		list_move_tail(&lane->rest.turn, &relay->owing);
	}
	return NULL;
}

/* As relay_take(), for a worker: takes no set of a person who owes time. */
static struct dep_instance *relay_take_rest(struct dep_relay *relay, u64 now)
{
	struct dep_instance *inst = NULL;
	struct dep_lane *lane;
	unsigned long flags;

	spin_lock_irqsave(&relay->lock, flags);
	lane = relay_first_lane(relay, now);
	if (lane) {
		inst = relay_take_from(relay, &lane->rest, &relay->rest);
		relay->served++;
	}
	spin_unlock_irqrestore(&relay->lock, flags);
	return inst;
}

/*
 * Serves the next of the sets that an interrupt has left; false if there is
 * none.  Where locks don't sleep, no real-time task takes the processor from
 * us while we have a set that no other worker can find.
 */
static bool relay_serve_next(struct dep_relay *relay)
{
	struct dep_instance *inst;
	u64 begun;

	dep_pin();
	begun = local_clock();
	inst = relay_take_rest(relay, begun);
	if (inst) {
		relay_serve(inst);
		relay_settle(relay, inst, local_clock() - begun);
	}
	dep_unpin();
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
	more = !list_empty(&relay->rest);
	relay->working = more;
	spin_unlock_irq(&relay->lock);
	if (more)
		queue_work_on(relay->cpu, dep_relay_queue, &relay->work);
}

/* Does a part of the worker's work, on another processor. */
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

/**
 * dep_service_init() - make the relays
 *
 * Return: 0, or -ENOMEM.
 */
int __init dep_service_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct dep_relay *relay = per_cpu_ptr(&dep_relays, cpu);

		spin_lock_init(&relay->lock);
		INIT_LIST_HEAD(&relay->fresh);
		INIT_LIST_HEAD(&relay->rest);
		INIT_LIST_HEAD(&relay->owing);
		init_irq_work(&relay->irq, relay_interrupt);
		INIT_WORK(&relay->work, relay_work);
		INIT_WORK(&relay->help, relay_help);
		relay->late = RB_ROOT_CACHED;
		dep_hrtimer_setup(&relay->timer, late_tick, CLOCK_MONOTONIC,
				  HRTIMER_MODE_REL_PINNED);
		relay->cpu = cpu;
	}
	dep_relay_queue = alloc_workqueue("devepoll_relay",
				      WQ_PERCPU | WQ_CPU_INTENSIVE, 1);
	dep_relay_helpers = alloc_workqueue("devepoll_help", WQ_UNBOUND, 1);
	if (dep_relay_queue && dep_relay_helpers)
		return 0;
	if (dep_relay_queue)
		destroy_workqueue(dep_relay_queue);
	if (dep_relay_helpers)
		destroy_workqueue(dep_relay_helpers);
	return -ENOMEM;
}

/**
 * dep_service_exit() - wait for the relays; no set is left
 *
 * Context: process; sleeps.
 */
void dep_service_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		irq_work_sync(&per_cpu_ptr(&dep_relays, cpu)->irq);
		hrtimer_cancel(&per_cpu_ptr(&dep_relays, cpu)->timer);
	}
	/* After everything that queues works. */
	destroy_workqueue(dep_relay_queue);
	destroy_workqueue(dep_relay_helpers);
}

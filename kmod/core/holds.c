// SPDX-License-Identifier: GPL-2.0
/*
 * Readers: the threads that may still have an event of a closed fd in use.
 *
 * DEVEPOLL_CLOSED means that no thread has an earlier event of the fd in use.
 * Another thread may have taken one just before the close, and be anywhere
 * between its return from the kernel and its last use of the object.  So the
 * set remembers who took what, and holds the last event back.
 *
 * A reader is a thread that has taken an event of an fd that reports its close
 * (DEP_MODE_HELD).  It is out until it waits for this set again, by whatever
 * call, steps back by a request, executes another program, or ends.  The kernel
 * does not see what a program takes out of a ring; there, each slot set is a
 * reader.  It is out from when the kernel finds that it was taken until the
 * program has given it back, or its owner sleeps (DEVEPOLL_WAIT_SPARE).
 *
 * Each hand-out has a number from the set's clock, and a reader has the number
 * of its hand-out.  Each item has a span, from the least to the largest number
 * of the hand-outs that had its events (struct dep_told).  So each reader that
 * may hold an event of an item has a number in the item's span; other readers
 * may have one there, too, which only costs a delay.  A reader that never comes
 * back thus holds back the items whose span includes its number: those that it
 * has taken, and some that were in use when it took them.  Nothing that was
 * added later is among them.
 *
 * When a pass meets a closed item, the item waits in the list of one reader of
 * its span.  When that reader comes back, the item returns to the ready list,
 * and the next pass that meets it looks for another reader of its span.  The
 * span of a closed item does not grow and numbers only rise, so the item waits
 * for each reader once.
 *
 * The order: a pass gives its items their numbers, and makes its caller a
 * reader, before it lets go of M; and only a pass hands a last event out, so it
 * sees all readers of earlier passes.  A close may come while a pass has events
 * that it is writing.  Then the last event goes to the ready list, and the pass
 * may meet it: its caller gets both, the last event behind the other.
 *
 * With a ring: dep_item_close() first looks at the word, after the slot of the
 * item was cleared (barrier: smp_mb()).  Either the slot set was taken before,
 * and is out; or whoever takes it later finds the slot cleared.
 *
 * A set without such fds has no readers, and its waits have no test for them:
 * dep_instance.plain takes the place of .settled there.
 *
 * tools/models/reader.pml is the model of this, and giveback.pml of slot sets.
 */
#include <linux/pid.h>
#include <linux/slab.h>

#include "core/compat.h"
#include "core/holds.h"
#include "core/readers.h"
#include "core/relay.h"
#include "core/waiter.h"

static bool hold_is_earlier(struct rb_node *node, const struct rb_node *than)
{
	return rb_entry(node, struct dep_hold, node)->clock <
	       rb_entry(than, struct dep_hold, node)->clock;
}

/* From now on, the events of @hold may be in use. */
static void hold_begin(struct dep_readers *readers, struct dep_hold *hold,
		       u64 clock)
{
	hold->clock = clock;
	rb_add(&hold->node, &readers->out, hold_is_earlier);
}

static struct dep_told *told_of(struct dep_item *item)
{
	return container_of(dep_lone_of(item), struct dep_told, lone);
}

/* Somebody gets an event of the item by the hand-out with this number. */
static void told_widen(struct dep_item *item, u64 clock)
{
	struct dep_told *told = told_of(item);

	told->first = min(told->first, clock);
	told->last = max(told->last, clock);
}

/* The first that was handed out at @clock or later, or NULL. */
static struct rb_node *readers_from(const struct dep_readers *readers,
				    u64 clock)
{
	struct rb_node *node = readers->out.rb_node, *found = NULL;

	while (node) {
		if (rb_entry(node, struct dep_hold, node)->clock < clock) {
			node = node->rb_right;
		} else {
			found = node;
			node = node->rb_left;
		}
	}
	return found;
}

/*
 * One of those that may have an event of a closed item, or NULL.  A call that
 * takes events in several passes has not returned: it does not count for what
 * it takes itself.
 */
static struct dep_hold *readers_find(const struct dep_readers *readers,
				     const struct dep_told *told)
{
	struct rb_node *node = readers_from(readers, told->first);
	struct dep_hold *hold;

	if (node && readers->taker && node == &readers->taker->hold.node)
		node = rb_next(node);
	if (!node)
		return NULL;
	hold = rb_entry(node, struct dep_hold, node);
	return hold->clock <= told->last ? hold : NULL;
}

static struct dep_reader *readers_find_thread(const struct dep_readers *readers,
					      const struct pid *pid)
{
	struct rb_node *node = readers->threads.rb_node;

	while (node) {
		struct dep_reader *reader;

		reader = rb_entry(node, struct dep_reader, by_pid);
		if (reader->pid == pid)
			return reader;
		node = pid < reader->pid ? node->rb_left : node->rb_right;
	}
	return NULL;
}

static bool reader_is_less(struct rb_node *node, const struct rb_node *than)
{
	return rb_entry(node, struct dep_reader, by_pid)->pid <
	       rb_entry(than, struct dep_reader, by_pid)->pid;
}

static void reader_enter(struct dep_readers *readers, struct dep_reader *reader)
{
	reader->pid = get_pid(task_pid(current));
	reader->program = current->self_exec_id;
	rb_add(&reader->by_pid, &readers->threads, reader_is_less);
	list_add_tail(&reader->entry, &readers->all);
	readers->nr++;
}

/**
 * dep_reader_provide() - make sure that the caller can become a reader
 * @inst: the instance, with readers
 *
 * To be decided before events are taken.
 *
 * Context: process, dep_instance.mtx held.
 * Return: 0, or -ENOMEM.
 */
int dep_reader_provide(struct dep_instance *inst)
{
	struct dep_readers *readers = inst->readers;

	lockdep_assert_held(&inst->mtx);
	/* Only a call that holds M takes the idle one. */
	if (readers->spare || READ_ONCE(readers->idle))
		return 0;
	readers->spare = kmalloc(sizeof(*readers->spare), GFP_KERNEL_ACCOUNT);
	if (!readers->spare)
		return -ENOMEM;
	dep_hold_init(&readers->spare->hold);
	return 0;
}

/**
 * dep_reader_begins() - a call begins to take events
 * @inst: the instance, locked, with readers, and one to spare
 *
 * A call may take events in several passes.
 *
 * Context: process, dep_instance.mtx held.
 */
void dep_reader_begins(struct dep_instance *inst)
{
	struct dep_readers *readers = inst->readers;

	lockdep_assert_held(&inst->lock);
	dep_readers_list_freed(inst);
	if (!readers->spare) {
		readers->spare = readers->idle;
		WRITE_ONCE(readers->idle, NULL);
	}
	readers->taker = readers_find_thread(readers, task_pid(current));
	readers->taking = readers->taker ? readers->taker->hold.clock :
					   ++readers->clock;
	readers->taken = false;
}

/**
 * dep_reader_ends() - a call has taken events
 * @inst: the instance, locked
 * @nr: how many the call has by now: with none it does not return
 *
 * Context: process, dep_instance.mtx held since dep_reader_begins().
 */
void dep_reader_ends(struct dep_instance *inst, u32 nr)
{
	struct dep_readers *readers = inst->readers;

	lockdep_assert_held(&inst->lock);
	if (readers->taken && nr && !readers->taker) {
		reader_enter(readers, readers->spare);
		hold_begin(readers, &readers->spare->hold, readers->taking);
		readers->spare = NULL;
	}
	readers->taker = NULL;
	readers->taking = 0;
}

/**
 * dep_reader_take() - the caller of a pass gets an event
 * @item: the item, with DEP_MODE_HELD; its instance is locked
 *
 * Context: process, dep_instance.mtx held since dep_reader_begins(); without
 * that, as in a pass for the ring, this does nothing.
 */
void dep_reader_take(struct dep_item *item)
{
	struct dep_readers *readers = item->inst->readers;

	lockdep_assert_held(&item->inst->lock);
	if (!readers->taking)
		return;
	told_widen(item, readers->taking);
	readers->taken = true;
}

/**
 * dep_reader_post() - a slot of the ring gets an event
 * @item: the item, with DEP_MODE_HELD; its instance is locked
 */
void dep_reader_post(struct dep_item *item)
{
	struct dep_readers *readers = item->inst->readers;

	lockdep_assert_held(&item->inst->lock);
	if (item->mode & DEP_MODE_CLOSED)
		return;
	told_widen(item, readers->filling);
	readers->posted = true;
}

/**
 * dep_reader_holds() - may somebody else have an event of a closed item?
 * @item: the item, off the ready list; its instance is locked
 *
 * Return: true if so: then it is held back, and comes to the ready list later.
 */
bool dep_reader_holds(struct dep_item *item)
{
	struct dep_readers *readers = item->inst->readers;
	struct dep_hold *hold;

	lockdep_assert_held(&item->inst->lock);
	if (!(item->mode & DEP_MODE_HELD))
		return false;
	hold = readers_find(readers, told_of(item));
	if (!hold)
		return false;
	list_add_tail(&item->ready, &hold->held);
	hold->nr_held++;
	readers->nr_held++;
	dep_readers_watch(readers);
	return true;
}

/**
 * dep_reader_comes_back() - the caller has no event of the set in use
 * @inst: the instance, with readers, not locked
 *
 * Context: process.
 * Return: true if closed items were listed because of it.
 */
bool dep_reader_comes_back(struct dep_instance *inst)
{
	struct dep_readers *readers = inst->readers;
	struct dep_reader *reader;
	bool listed = false;
	LIST_HEAD(ended);

	spin_lock_irq(&inst->lock);
	reader = readers_find_thread(readers, task_pid(current));
	if (reader) {
		dep_reader_leave(readers, reader, &listed);
		if (readers->idle) {
			list_add(&reader->entry, &ended);
		} else {
			/* Not the last reference: the caller has it. */
			put_pid(reader->pid);
			WRITE_ONCE(readers->idle, reader);
		}
	}
	/* One each time, so that readers that have ended can't pile up. */
	listed |= dep_readers_look(readers, 1, &ended);
	spin_unlock_irq(&inst->lock);
	dep_readers_free_ended(&ended);
	return listed;
}

/**
 * dep_reader_steps_back() - the same, but the caller does not wait
 * @inst: the instance, not locked; it has readers
 *
 * Context: process.
 */
void dep_reader_steps_back(struct dep_instance *inst)
{
	if (!dep_reader_comes_back(inst))
		return;
	spin_lock_irq(&inst->lock);
	dep_instance_wake(inst);
	spin_unlock_irq(&inst->lock);
}

/* Nobody has an event of a slot set any more. */
static void readers_free_set(struct dep_readers *readers, struct dep_hold *hold)
{
	struct dep_instance *inst = readers->inst;

	if (RB_EMPTY_NODE(&hold->node))
		return;
	rb_erase(&hold->node, &readers->out);
	RB_CLEAR_NODE(&hold->node);
	if (!hold->nr_held)
		return;
	/* The caller may be taking items off the ready list. */
	list_splice_tail_init(&hold->held, &readers->freed);
	readers->nr_freed += hold->nr_held;
	hold->nr_held = 0;
	inst->owed = true;
	dep_instance_relay(inst);
}

/**
 * dep_reader_switch() - another slot set is being filled
 * @inst: the instance, locked, whose readers have slot sets
 * @from: the slot set that the program has taken
 * @to: the one that it has given back
 *
 * Context: any.
 */
void dep_reader_switch(struct dep_instance *inst, u32 from, u32 to)
{
	struct dep_readers *readers = inst->readers;

	lockdep_assert_held(&inst->lock);
	to = array_index_nospec(to, inst->ring->nr_sets);
	/* If @from is out already, the kernel missed that it was given back. */
	readers_free_set(readers, &readers->sets[from]);
	if (readers->posted)
		hold_begin(readers, &readers->sets[from], readers->filling);
	readers_free_set(readers, &readers->sets[to]);
	readers->filling = ++readers->clock;
	readers->posted = false;
}

/**
 * dep_reader_gives_back() - the owner of a slot set has no event in use
 * @inst: the instance, locked, with a ring
 * @set: the number of the slot set, less than dep_ring.nr_sets
 */
void dep_reader_gives_back(struct dep_instance *inst, u32 set)
{
	struct dep_readers *readers = inst->readers;

	lockdep_assert_held(&inst->lock);
	if (!readers || !readers->sets)
		return;
	set = array_index_nospec(set, inst->ring->nr_sets);
	readers_free_set(readers, &readers->sets[set]);
}

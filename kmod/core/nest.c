// SPDX-License-Identifier: GPL-2.0
/*
 * Sets in sets.  A cycle of sets would wake itself for ever, and polling one
 * would never end.  So each item whose file is a set of ours has an edge here.
 * The edge is made before the item, and is refused if it would close a cycle or
 * make a chain too long.
 *
 * One lock guards all edges, so two threads that close a cycle from both ends
 * can't miss each other.  An edge goes when its item is unhooked, which the
 * hook does before an inner set can be freed.  So every set that an edge leads
 * to exists while the lock is held.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "core/instance.h"
#include "core/nest.h"

/**
 * struct dep_nest - one set in another
 * @in_outer: in dep_nesting.inner of the outer set
 * @in_inner: in dep_nesting.outer of the inner set
 * @outer: const: the outer set
 * @inner: const: the inner set
 */
struct dep_nest {
	struct list_head in_outer;
	struct list_head in_inner;
	struct dep_instance *outer;
	struct dep_instance *inner;
};

__poll_t (*dep_nest_poll)(const struct file *inner, unsigned int depth,
			  bool removes, bool waits) __ro_after_init;

/* All edges; nests nothing, and is taken under L. */
static DEFINE_SPINLOCK(nest_lock);

/* Number of the last search. */
static u64 nest_search;

/**
 * struct nest_walk - a search from one set in one direction
 * @down: towards the sets inside; otherwise towards the sets around
 * @target: the set that must not be found
 * @budget: how many more edges the search may look at
 */
struct nest_walk {
	bool down;
	const struct dep_instance *target;
	u32 budget;
};

static int nest_height(struct dep_instance *inst, struct nest_walk *walk);

/* The height that one edge adds to the set at which it starts. */
static int nest_step(struct list_head *edge, struct nest_walk *walk)
{
	struct dep_instance *next;
	int height;

	if (!walk->budget)
		return -ELOOP;
	walk->budget--;
	if (walk->down)
		next = list_entry(edge, struct dep_nest, in_outer)->inner;
	else
		next = list_entry(edge, struct dep_nest, in_inner)->outer;
	height = nest_height(next, walk);
	return height < 0 ? height : height + 1;
}

/*
 * The length of the longest chain of sets in one direction, without this one.
 * There is no cycle yet and no chain is longer than DEP_NEST_MOST, so this
 * recurses no deeper.
 */
static int nest_height(struct dep_instance *inst, struct nest_walk *walk)
{
	struct list_head *edges = walk->down ? &inst->nesting.inner :
					       &inst->nesting.outer;
	struct list_head *edge;
	int height = 0, step;

	lockdep_assert_held(&nest_lock);
	if (inst == walk->target)
		return -ELOOP;
	if (inst->nesting.visited == nest_search)
		return inst->nesting.height;
	list_for_each(edge, edges) {
		step = nest_step(edge, walk);
		if (step < 0)
			return step;
		height = max(height, step);
	}
	inst->nesting.visited = nest_search;
	inst->nesting.height = height;
	return height;
}

static int nest_check(struct dep_instance *outer, struct dep_instance *inner)
{
	struct nest_walk walk = {
		.down = true,
		.target = outer,
		.budget = DEP_NEST_EDGES,
	};
	int below, above;

	/* Not per open: one wake-up of the set is for all sets around it. */
	if (inner->nesting.nr_outer >= DEP_ITEMS_PER_FILE)
		return -ENOSPC;
	nest_search++;
	below = nest_height(inner, &walk);
	if (below < 0)
		return below;
	nest_search++;
	walk.down = false;
	walk.target = inner;
	above = nest_height(outer, &walk);
	if (above < 0)
		return above;
	return below + above + 2 > DEP_NEST_MOST ? -ELOOP : 0;
}

/**
 * dep_nest_link() - put a set into another
 * @outer: the outer set
 * @inner: the inner set; the caller has a reference on its file
 *
 * Context: process; sleeps.
 * Return: the edge, owned by the item; or an ERR_PTR:
 * -ELOOP: a cycle, a chain of more than DEP_NEST_MOST sets, or too many sets to
 * search;
 * -ENOSPC: the inner set is in DEP_ITEMS_PER_FILE sets;
 * -ENOMEM: no memory.
 */
struct dep_nest *dep_nest_link(struct dep_instance *outer,
			       struct dep_instance *inner)
{
	struct dep_nest *nest;
	int err;

	nest = kmalloc(sizeof(*nest), GFP_KERNEL_ACCOUNT);
	if (!nest)
		return ERR_PTR(-ENOMEM);
	nest->outer = outer;
	nest->inner = inner;

	spin_lock_irq(&nest_lock);
	err = nest_check(outer, inner);
	if (!err) {
		list_add_tail(&nest->in_outer, &outer->nesting.inner);
		list_add_tail(&nest->in_inner, &inner->nesting.outer);
		WRITE_ONCE(inner->nesting.nr_outer,
			   inner->nesting.nr_outer + 1);
	}
	spin_unlock_irq(&nest_lock);
	if (err) {
		kfree(nest);
		return ERR_PTR(err);
	}
	return nest;
}

/**
 * dep_nest_cut() - take a set out of another
 * @nest: the edge; it may have been cut already
 *
 * Context: any but an interrupt; may be called under L.
 */
void dep_nest_cut(struct dep_nest *nest)
{
	unsigned long flags;

	spin_lock_irqsave(&nest_lock, flags);
	if (!list_empty(&nest->in_inner)) {
		list_del_init(&nest->in_outer);
		list_del_init(&nest->in_inner);
		WRITE_ONCE(nest->inner->nesting.nr_outer,
			   nest->inner->nesting.nr_outer - 1);
	}
	spin_unlock_irqrestore(&nest_lock, flags);
}

/**
 * dep_nest_free() - free an edge, or none
 * @nest: the edge, cut or not, or NULL
 */
void dep_nest_free(struct dep_nest *nest)
{
	if (!nest)
		return;
	dep_nest_cut(nest);
	kfree(nest);
}

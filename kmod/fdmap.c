// SPDX-License-Identifier: GPL-2.0
/*
 * The map from fd numbers to items: growing, erasing, walking.
 */
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "charge.h"
#include "fdmap.h"
#include "limits.h"

static struct kmem_cache *leaf_cache;

int __init dep_fdmap_cache_init(void)
{
	leaf_cache = kmem_cache_create("devepoll_leaf", sizeof(struct dep_leaf),
				       0, SLAB_ACCOUNT, NULL);
	return leaf_cache ? 0 : -ENOMEM;
}

void dep_fdmap_cache_exit(void)
{
	kmem_cache_destroy(leaf_cache);
}

/**
 * dep_fdmap_erase() - take an item out
 * @map: the map; L is held
 * @fd: its number
 *
 * One empty leaf may stay, so that a set of one fd does not allocate at each
 * add.
 *
 * Return: a leaf that is not needed any more, for dep_fdmap_free_leaf() once L
 * is released; or NULL.
 */
struct dep_leaf *dep_fdmap_erase(struct dep_fdmap *map, unsigned int fd)
{
	u32 nr = fd >> DEP_LEAF_SHIFT;
	struct dep_leaf *leaf = map->leaves[nr], *spare;

	leaf->items[fd % DEP_LEAF_SIZE] = NULL;
	if (--leaf->used || map->spare == nr)
		return NULL;
	spare = map->leaves[map->spare];
	if (spare && !spare->used)
		map->leaves[map->spare] = NULL;
	else
		spare = NULL;
	map->spare = nr;
	return spare;
}

/**
 * dep_fdmap_free_leaf() - free what dep_fdmap_erase() returned
 * @leaf: the leaf, or NULL
 */
void dep_fdmap_free_leaf(struct dep_leaf *leaf)
{
	if (leaf)
		kmem_cache_free(leaf_cache, leaf);
}

/**
 * dep_fdmap_next() - find the first item from a number on
 * @map: the map; L is held
 * @fd: in: the first number; out: the number of the item
 *
 * Return: the item, or NULL if there is none.
 */
struct dep_item *dep_fdmap_next(const struct dep_fdmap *map, unsigned int *fd)
{
	unsigned int nr = *fd;

	while (nr >> DEP_LEAF_SHIFT < map->nr_leaves) {
		struct dep_leaf *leaf = map->leaves[nr >> DEP_LEAF_SHIFT];

		if (!leaf || !leaf->used) {
			nr = (nr | (DEP_LEAF_SIZE - 1)) + 1;
			continue;
		}
		if (leaf->items[nr % DEP_LEAF_SIZE]) {
			*fd = nr;
			return leaf->items[nr % DEP_LEAF_SIZE];
		}
		nr++;
	}
	return NULL;
}

static unsigned long leaves_pages(u32 nr_leaves)
{
	return PFN_UP(nr_leaves * sizeof(struct dep_leaf *));
}

/* Makes the array of leaves long enough for leaf @nr. */
static int fdmap_extend(struct dep_fdmap *map, u32 nr, spinlock_t *lock,
			struct user_struct *user)
{
	u32 old_nr = map->nr_leaves, new_nr = roundup_pow_of_two(nr + 1);
	unsigned long more = leaves_pages(new_nr) - leaves_pages(old_nr);
	struct dep_leaf **leaves, **old;
	int err;

	err = dep_charge_pages(user, more);
	if (err)
		return err;
	leaves = kvcalloc(new_nr, sizeof(*leaves), GFP_KERNEL_ACCOUNT);
	if (!leaves) {
		dep_uncharge_pages(user, more);
		return -ENOMEM;
	}
	/* Bounded by DEP_MAX_FD: a quarter of a megabyte at the very most. */
	spin_lock_irq(lock);
	old = map->leaves;
	if (old)
		memcpy(leaves, old, old_nr * sizeof(*leaves));
	map->leaves = leaves;
	map->nr_leaves = new_nr;
	spin_unlock_irq(lock);
	kvfree(old);
	return 0;
}

/**
 * dep_fdmap_grow() - make room for a number
 * @map: the map; L is not held, M is
 * @fd: the number
 * @lock: L
 * @user: who pays
 *
 * The room may be gone again before it is used: try, grow, try again.
 *
 * Return: 0;
 * -ENOSPC: the number is too large;
 * -ENOMEM: no memory, or RLIMIT_MEMLOCK forbids it.
 */
int dep_fdmap_grow(struct dep_fdmap *map, unsigned int fd, spinlock_t *lock,
		   struct user_struct *user)
{
	u32 nr = fd >> DEP_LEAF_SHIFT;
	struct dep_leaf *leaf;
	int err;

	if (fd > DEP_MAX_FD)
		return -ENOSPC;
	if (nr >= map->nr_leaves) {
		err = fdmap_extend(map, nr, lock, user);
		if (err)
			return err;
	}
	leaf = kmem_cache_zalloc(leaf_cache, GFP_KERNEL);
	if (!leaf)
		return -ENOMEM;
	spin_lock_irq(lock);
	if (!map->leaves[nr])
		swap(map->leaves[nr], leaf);
	spin_unlock_irq(lock);
	if (leaf)
		kmem_cache_free(leaf_cache, leaf);
	return 0;
}

/**
 * dep_fdmap_destroy() - free a map without items
 * @map: the map; nobody else sees it
 * @user: who paid
 */
void dep_fdmap_destroy(struct dep_fdmap *map, struct user_struct *user)
{
	u32 nr;

	for (nr = 0; nr < map->nr_leaves; nr++) {
		if (map->leaves[nr])
			kmem_cache_free(leaf_cache, map->leaves[nr]);
	}
	kvfree(map->leaves);
	dep_uncharge_pages(user, leaves_pages(map->nr_leaves));
	*map = (struct dep_fdmap) {};
}

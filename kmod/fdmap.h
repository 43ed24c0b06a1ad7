/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From an fd number to its item: what the interest set is looked up in.
 *
 * Fd numbers are small and dense, so this is an array in leaves: an add costs
 * a store, where a tree would walk.  Leaves come with their first item and go
 * when they are empty, so scattered numbers cost no more than their items do.
 */
#ifndef DEVEPOLL_FDMAP_H
#define DEVEPOLL_FDMAP_H

#include <linux/bits.h>
#include <linux/nospec.h>
#include <linux/types.h>

struct dep_item;
struct user_struct;

#define DEP_LEAF_SHIFT	6
#define DEP_LEAF_SIZE	BIT(DEP_LEAF_SHIFT)

/**
 * struct dep_leaf - the items of some consecutive numbers
 * @items: L: the items
 * @used: L: how many there are
 */
struct dep_leaf {
	struct dep_item *items[DEP_LEAF_SIZE];
	u32 used;
};

/**
 * struct dep_fdmap - all leaves of an instance
 * @leaves: L (replaced under M+L): by number; NULL where there is no item
 * @nr_leaves: L (changed under M+L): length of @leaves
 * @spare: L: the one leaf that may stay though it is empty
 */
struct dep_fdmap {
	struct dep_leaf **leaves;
	u32 nr_leaves;
	u32 spare;
};

/**
 * dep_fdmap_find() - find the item of a number
 * @map: the map; L is held
 * @fd: the number, any value
 *
 * Return: the item, or NULL.
 */
static inline struct dep_item *dep_fdmap_find(const struct dep_fdmap *map,
					      unsigned int fd)
{
	u32 nr = fd >> DEP_LEAF_SHIFT;
	struct dep_leaf *leaf;

	if (nr >= map->nr_leaves)
		return NULL;
	leaf = map->leaves[array_index_nospec(nr, map->nr_leaves)];
	return leaf ? leaf->items[fd % DEP_LEAF_SIZE] : NULL;
}

/**
 * dep_fdmap_insert() - put an item at its number
 * @map: the map; L is held
 * @fd: the number, at which there is none
 * @item: the item
 *
 * Return: true, or false if dep_fdmap_grow() has to make room first.
 */
static inline bool dep_fdmap_insert(struct dep_fdmap *map, unsigned int fd,
				    struct dep_item *item)
{
	u32 nr = fd >> DEP_LEAF_SHIFT;
	struct dep_leaf *leaf;

	if (nr >= map->nr_leaves)
		return false;
	leaf = map->leaves[array_index_nospec(nr, map->nr_leaves)];
	if (!leaf)
		return false;
	leaf->items[fd % DEP_LEAF_SIZE] = item;
	leaf->used++;
	return true;
}

struct dep_leaf *dep_fdmap_erase(struct dep_fdmap *map, unsigned int fd);
void dep_fdmap_free_leaf(struct dep_leaf *leaf);
struct dep_item *dep_fdmap_next(const struct dep_fdmap *map, unsigned int *fd);
int dep_fdmap_grow(struct dep_fdmap *map, unsigned int fd, spinlock_t *lock,
		   struct user_struct *user);
void dep_fdmap_destroy(struct dep_fdmap *map, struct user_struct *user);

int __init dep_fdmap_cache_init(void);
void dep_fdmap_cache_exit(void);

#endif /* DEVEPOLL_FDMAP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The map from fd numbers to items, in which the interest list is looked up.
 *
 * Fd numbers are small and dense.  So this is an array, in leaves of 64 items
 * and branches of 64 leaves: an add costs a store, where a tree would have to
 * be walked.  Leaves and branches are made with their first item and freed when
 * they are empty, so a large number costs no more than a small one, except a
 * page.  The first few numbers of a set are searched one by one, and need no
 * leaf: many sets have no more.
 *
 * If processes that share the set name different files by the same number, the
 * number has several items: they are linked by dep_lone.peer.
 */
#ifndef DEVEPOLL_FDMAP_H
#define DEVEPOLL_FDMAP_H

#include <linux/bits.h>
#include <linux/container_of.h>
#include <linux/nospec.h>

#include "core/limits.h"

struct user_struct;

#define DEP_LEAF_SHIFT	6
#define DEP_LEAF_SIZE	BIT(DEP_LEAF_SHIFT)
/* How many numbers a branch covers. */
#define DEP_BRANCH_FDS	(DEP_LEAF_SIZE * DEP_LEAF_SIZE)

/**
 * struct dep_leaf - the items of some consecutive numbers, or a branch
 * @items: L: the first item of each number, which is the one added last
 * @leaves: L: of a branch: its leaves, NULL where there is no item
 * @used: L: how many there are, with all items of each number
 * @next: the owner's, once it is out of the map: what to free with it, or NULL
 */
struct dep_leaf {
	union {
		struct dep_item *items[DEP_LEAF_SIZE];
		struct dep_leaf *leaves[DEP_LEAF_SIZE];
	};
	union {
		u32 used;
		struct dep_leaf *next;
	};
};

extern struct kmem_cache *dep_leaf_cache;

/* How many numbers need no leaf. */
#define DEP_FDMAP_FEW	4

/**
 * struct dep_few - one of the first numbers of a set
 * @item: L: its first item, or NULL
 * @fd: L: the number
 * @used: L: how many items it has; 0 if this place is free
 */
struct dep_few {
	struct dep_item *item;
	unsigned int fd;
	u32 used;
};

/**
 * struct dep_fdmap - all leaves of an instance
 * @branches: L (replaced under M+L): by number; NULL where there is no leaf
 * @nr_branches: L (changed under M+L): length of @branches
 * @spare: L: the number of the one leaf that may stay although it is empty
 * @nr_tables: L: how many leaves and branches there are
 * @charged: L: how many of the user's watches they count as
 * @few: L: the items, as long as @nr_branches is 0; places in use come first
 */
struct dep_fdmap {
	struct dep_leaf **branches;
	u32 nr_branches;
	u32 spare;
	u32 nr_tables;
	u32 charged;
	struct dep_few few[DEP_FDMAP_FEW];
};

/**
 * dep_fdmap_leaf() - find the leaf of a number
 * @map: the map; L is held
 * @fd: the number, any value
 *
 * Return: the leaf, or NULL if there is none.
 */
static inline struct dep_leaf *dep_fdmap_leaf(const struct dep_fdmap *map,
					      unsigned int fd)
{
	u32 nr = fd / DEP_BRANCH_FDS;
	struct dep_leaf *branch;

	if (nr >= map->nr_branches)
		return NULL;
	branch = map->branches[array_index_nospec(nr, map->nr_branches)];
	return branch ? branch->leaves[(fd >> DEP_LEAF_SHIFT) % DEP_LEAF_SIZE] :
			NULL;
}

struct dep_item *dep_fdmap_find_few(const struct dep_fdmap *map,
				    unsigned int fd);
struct dep_item **dep_fdmap_enter_few(struct dep_fdmap *map, unsigned int fd);
struct dep_item **dep_fdmap_place_few(struct dep_fdmap *map, unsigned int fd);
void dep_fdmap_close_gap(struct dep_fdmap *map, struct dep_few *gap);
struct dep_leaf *dep_fdmap_spare(struct dep_fdmap *map, u32 nr);

/**
 * dep_fdmap_find_in() - find the first item of a number whose leaf is known
 * @map: the map; L is held
 * @leaf: dep_fdmap_leaf() of the number
 * @fd: the number, any value
 *
 * Return: the item, or NULL.
 */
static inline struct dep_item *dep_fdmap_find_in(const struct dep_fdmap *map,
						 const struct dep_leaf *leaf,
						 unsigned int fd)
{
	if (likely(leaf))
		return leaf->items[fd % DEP_LEAF_SIZE];
	return map->nr_branches ? NULL : dep_fdmap_find_few(map, fd);
}

/**
 * dep_fdmap_find() - find the first item of a number
 * @map: the map; L is held
 * @fd: the number, any value
 *
 * Return: the item, or NULL.
 */
static inline struct dep_item *dep_fdmap_find(const struct dep_fdmap *map,
					      unsigned int fd)
{
	return dep_fdmap_find_in(map, dep_fdmap_leaf(map, fd), fd);
}

/**
 * dep_fdmap_enter() - count an item, and find the place where to put it
 * @map: the map; L is held
 * @fd: the number, any value
 *
 * The caller puts it before the first item of the number, or calls
 * dep_fdmap_erase().
 *
 * Return: where the first item of the number stands, or NULL if
 * dep_fdmap_grow() has to make room first; then nothing is counted.
 */
static inline struct dep_item **dep_fdmap_enter(struct dep_fdmap *map,
						unsigned int fd)
{
	struct dep_leaf *leaf = dep_fdmap_leaf(map, fd);

	if (unlikely(!leaf))
		return map->nr_branches ? NULL : dep_fdmap_enter_few(map, fd);
	leaf->used++;
	return &leaf->items[fd % DEP_LEAF_SIZE];
}

/**
 * dep_fdmap_place() - find the place of a number that has an item
 * @map: the map; L is held
 * @leaf: dep_fdmap_leaf() of the number
 * @fd: the number
 *
 * Return: where its first item stands.
 */
static inline struct dep_item **dep_fdmap_place(struct dep_fdmap *map,
						struct dep_leaf *leaf,
						unsigned int fd)
{
	return likely(leaf) ? &leaf->items[fd % DEP_LEAF_SIZE] :
			      dep_fdmap_place_few(map, fd);
}

/**
 * dep_fdmap_erase() - discount an item that was taken off its number
 * @map: the map; L is held
 * @leaf: dep_fdmap_leaf() of the number
 * @fd: the number
 * @place: dep_fdmap_place() of the number
 *
 * One empty leaf may stay, so that a set with one fd does not allocate at each
 * add.
 *
 * Return: memory that is not needed any more, for dep_fdmap_free_leaf() once L
 * is released; or NULL.
 */
static inline struct dep_leaf *dep_fdmap_erase(struct dep_fdmap *map,
					       struct dep_leaf *leaf,
					       unsigned int fd,
					       struct dep_item **place)
{
	struct dep_few *few;

	if (likely(leaf))
		return --leaf->used ? NULL :
		       dep_fdmap_spare(map, fd >> DEP_LEAF_SHIFT);
	few = container_of(place, struct dep_few, item);
	if (!--few->used && few < map->few + DEP_FDMAP_FEW - 1 && few[1].used)
		dep_fdmap_close_gap(map, few);
	return NULL;
}

void dep_fdmap_recharge(struct dep_fdmap *map, u32 charge,
			struct user_struct *user);

/**
 * dep_fdmap_settle() - charge for tables of scattered numbers, or uncharge
 * @map: the map, after an item was put in or taken out; L is held
 * @nr_items: how many items it has
 * @user: who pays
 */
static inline void dep_fdmap_settle(struct dep_fdmap *map, u32 nr_items,
				    struct user_struct *user)
{
	u32 free = DEP_TABLES_FREE + nr_items / DEP_TABLES_FREE_FDS;
	u32 charge = 0;

	if (unlikely(map->nr_tables > free))
		charge = (map->nr_tables - free) * DEP_TABLE_CHARGE;
	if (unlikely(charge != map->charged))
		dep_fdmap_recharge(map, charge, user);
}

void dep_fdmap_free_leaf(struct dep_leaf *leaf);
struct dep_item *dep_fdmap_next(const struct dep_fdmap *map, unsigned int *fd);
int dep_fdmap_grow(struct dep_fdmap *map, unsigned int fd, spinlock_t *lock);
void dep_fdmap_destroy(struct dep_fdmap *map);

#endif /* DEVEPOLL_FDMAP_H */

// SPDX-License-Identifier: GPL-2.0
/* The map from fd numbers to items: growing, erasing, walking. */
#include <linux/percpu_counter.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "core/fdmap.h"

/*
 * Where a number stands among the first few, or would be put: the first place
 * without an item; NULL if there is none.
 */
static __always_inline struct dep_few *fdmap_few(const struct dep_fdmap *map,
						 unsigned int fd)
{
	const struct dep_few *few = map->few;

	while (few->used && few->fd != fd) {
		if (++few == map->few + DEP_FDMAP_FEW)
			return NULL;
	}
	return (struct dep_few *)few;
}

/* dep_fdmap_find() in a map without leaves. */
struct dep_item *dep_fdmap_find_few(const struct dep_fdmap *map,
				    unsigned int fd)
{
	const struct dep_few *few = fdmap_few(map, fd);

	return few ? few->item : NULL;
}

/* dep_fdmap_enter() in a map without leaves. */
struct dep_item **dep_fdmap_enter_few(struct dep_fdmap *map, unsigned int fd)
{
	struct dep_few *few = fdmap_few(map, fd);

	if (!few || unlikely(fd > DEP_MAX_FD))
		return NULL;
	few->fd = fd;
	few->used++;
	return &few->item;
}

/* Puts the last of the first few where a place became free before it. */
void dep_fdmap_close_gap(struct dep_fdmap *map, struct dep_few *gap)
{
	struct dep_few *last = gap + 1, *end = map->few + DEP_FDMAP_FEW;

	while (last + 1 < end && last[1].used)
		last++;
	*gap = *last;
	*last = (struct dep_few) {};
}

/* Takes an empty leaf out, and its branch too if that becomes empty. */
static struct dep_leaf *fdmap_cut(struct dep_fdmap *map, u32 nr)
{
	struct dep_leaf **stem = &map->branches[nr >> DEP_LEAF_SHIFT];
	struct dep_leaf *branch = *stem, *leaf = NULL;

	swap(branch->leaves[nr % DEP_LEAF_SIZE], leaf);
	leaf->next = NULL;
	map->nr_tables--;
	if (!--branch->used) {
		*stem = NULL;
		branch->next = NULL;
		map->nr_tables--;
		leaf->next = branch;
	}
	return leaf;
}

/* Keeps this empty leaf, and gives up the one that was kept until now. */
struct dep_leaf *dep_fdmap_spare(struct dep_fdmap *map, u32 nr)
{
	u32 old = map->spare;
	struct dep_leaf *leaf;

	if (old == nr)
		return NULL;
	map->spare = nr;
	leaf = dep_fdmap_leaf(map, old << DEP_LEAF_SHIFT);
	return leaf && !leaf->used ? fdmap_cut(map, old) : NULL;
}

/* dep_fdmap_place() in a map without leaves. */
struct dep_item **dep_fdmap_place_few(struct dep_fdmap *map, unsigned int fd)
{
	return &fdmap_few(map, fd)->item;
}

/**
 * dep_fdmap_free_leaf() - free what dep_fdmap_erase() returned
 * @leaf: the leaf, with what is linked to it, or NULL
 */
void dep_fdmap_free_leaf(struct dep_leaf *leaf)
{
	struct dep_leaf *next;

	for (; leaf; leaf = next) {
		next = leaf->next;
		kmem_cache_free(dep_leaf_cache, leaf);
	}
}

/* The lowest of the first few numbers that is not below @fd. */
static struct dep_item *fdmap_next_few(const struct dep_fdmap *map,
				       unsigned int *fd)
{
	const struct dep_few *few, *next = NULL;

	for (few = map->few; few < map->few + DEP_FDMAP_FEW; few++) {
		if (few->used && few->fd >= *fd &&
		    (!next || few->fd < next->fd))
			next = few;
	}
	if (!next)
		return NULL;
	*fd = next->fd;
	return next->item;
}

/**
 * dep_fdmap_next() - find the next number that has items
 * @map: the map; L is held
 * @fd: in: the number to start from; out: the number found
 *
 * Return: its first item, or NULL if there is none.
 */
struct dep_item *dep_fdmap_next(const struct dep_fdmap *map, unsigned int *fd)
{
	struct dep_leaf *branch, *leaf;
	unsigned int nr = *fd;

	if (!map->nr_branches)
		return fdmap_next_few(map, fd);

	while (nr / DEP_BRANCH_FDS < map->nr_branches) {
		branch = map->branches[nr / DEP_BRANCH_FDS];
		leaf = branch ? branch->leaves[(nr >> DEP_LEAF_SHIFT) %
					       DEP_LEAF_SIZE] : NULL;
		if (leaf && leaf->items[nr % DEP_LEAF_SIZE]) {
			*fd = nr;
			return leaf->items[nr % DEP_LEAF_SIZE];
		}
		if (!branch)
			nr |= DEP_BRANCH_FDS - 1;
		else if (!leaf || !leaf->used)
			nr |= DEP_LEAF_SIZE - 1;
		nr++;
	}
	return NULL;
}

/* The rare half of dep_fdmap_settle(). */
void dep_fdmap_recharge(struct dep_fdmap *map, u32 charge,
			struct user_struct *user)
{
	percpu_counter_add(&user->epoll_watches, (s64)charge - map->charged);
	map->charged = charge;
}

/* Makes the array of branches long enough for branch @nr. */
static int fdmap_extend(struct dep_fdmap *map, u32 nr, spinlock_t *lock)
{
	u32 old_nr = map->nr_branches, new_nr = roundup_pow_of_two(nr + 1);
	struct dep_leaf **branches, **old;

	/* Too small to be charged to the user. */
	BUILD_BUG_ON((DEP_MAX_FD / DEP_BRANCH_FDS + 1) * sizeof(*branches) >
		     PAGE_SIZE);
	branches = kcalloc(new_nr, sizeof(*branches), GFP_KERNEL_ACCOUNT);
	if (!branches)
		return -ENOMEM;
	spin_lock_irq(lock);
	old = map->branches;
	if (old)
		memcpy(branches, old, old_nr * sizeof(*branches));
	map->branches = branches;
	map->nr_branches = new_nr;
	spin_unlock_irq(lock);
	kfree(old);
	return 0;
}

/* Puts a leaf into the map, and its branch if it needs one. */
static void fdmap_plant(struct dep_fdmap *map, u32 nr, struct dep_leaf **leaf,
			struct dep_leaf **branch)
{
	struct dep_leaf **stem = &map->branches[nr >> DEP_LEAF_SHIFT];
	u32 slot = nr % DEP_LEAF_SIZE;

	if (!*stem && *branch) {
		swap(*stem, *branch);
		map->nr_tables++;
	}
	/* It has gone since the caller looked; the caller tries again. */
	if (!*stem)
		return;
	if (!(*stem)->leaves[slot]) {
		swap((*stem)->leaves[slot], *leaf);
		(*stem)->used++;
		map->nr_tables++;
	}
}

/* Makes the leaf of a number. */
static int fdmap_sprout(struct dep_fdmap *map, unsigned int fd,
			spinlock_t *lock)
{
	struct dep_leaf *leaf, *branch = NULL;
	u32 nr = fd / DEP_BRANCH_FDS;
	bool bare;
	int err;

	if (nr >= map->nr_branches) {
		err = fdmap_extend(map, nr, lock);
		if (err)
			return err;
	}
	bare = !READ_ONCE(map->branches[nr]);
	leaf = kmem_cache_zalloc(dep_leaf_cache, GFP_KERNEL);
	if (leaf && bare)
		branch = kmem_cache_zalloc(dep_leaf_cache, GFP_KERNEL);
	err = !leaf || (bare && !branch) ? -ENOMEM : 0;
	if (!err) {
		spin_lock_irq(lock);
		fdmap_plant(map, fd >> DEP_LEAF_SHIFT, &leaf, &branch);
		spin_unlock_irq(lock);
	}
	dep_fdmap_free_leaf(leaf);
	dep_fdmap_free_leaf(branch);
	return err;
}

static void branch_free(struct dep_leaf *branch)
{
	u32 nr;

	for (nr = 0; nr < DEP_LEAF_SIZE; nr++) {
		if (branch->leaves[nr])
			kmem_cache_free(dep_leaf_cache, branch->leaves[nr]);
	}
	kmem_cache_free(dep_leaf_cache, branch);
}

/**
 * dep_fdmap_destroy() - free the leaves of a map, but no item
 * @map: the map; nobody else can reach it
 */
void dep_fdmap_destroy(struct dep_fdmap *map)
{
	u32 nr;

	for (nr = 0; nr < map->nr_branches; nr++) {
		if (map->branches[nr])
			branch_free(map->branches[nr]);
	}
	kfree(map->branches);
	*map = (struct dep_fdmap) {};
}

/*
 * Swaps a map without leaves for one that has leaves for all its numbers.  L is
 * held.
 */
static void fdmap_replace(struct dep_fdmap *map, struct dep_fdmap *fresh)
{
	const struct dep_few *few = map->few;
	struct dep_leaf *leaf;
	u32 i;

	for (i = 0; i < DEP_FDMAP_FEW && few->used; i++, few++) {
		leaf = dep_fdmap_leaf(fresh, few->fd);
		leaf->items[few->fd % DEP_LEAF_SIZE] = few->item;
		leaf->used += few->used;
	}
	fresh->charged = map->charged;
	swap(*map, *fresh);
}

/* Makes the first leaves: for this number, and for the first few. */
static int fdmap_take_root(struct dep_fdmap *map, unsigned int fd,
			   spinlock_t *lock)
{
	struct dep_fdmap fresh = { .spare = fd >> DEP_LEAF_SHIFT };
	struct dep_few before[DEP_FDMAP_FEW];
	int err;
	u32 i;

	spin_lock_irq(lock);
	memcpy(before, map->few, sizeof(before));
	spin_unlock_irq(lock);
	err = fdmap_sprout(&fresh, fd, lock);
	for (i = 0; i < DEP_FDMAP_FEW && !err; i++) {
		if (before[i].used && !dep_fdmap_leaf(&fresh, before[i].fd))
			err = fdmap_sprout(&fresh, before[i].fd, lock);
	}
	spin_lock_irq(lock);
	/* If an item has left, its leaf may be in vain: the caller retries. */
	if (!err && !memcmp(before, map->few, sizeof(before)))
		fdmap_replace(map, &fresh);
	spin_unlock_irq(lock);
	dep_fdmap_destroy(&fresh);
	return err;
}

/**
 * dep_fdmap_grow() - make room for a number
 * @map: the map; L is not held, M is
 * @fd: the number
 * @lock: L
 *
 * The room may be gone again before it is used: try, grow, try again.
 *
 * Return: 0;
 * -ENOSPC: the number is too large;
 * -ENOMEM: no memory.
 */
int dep_fdmap_grow(struct dep_fdmap *map, unsigned int fd, spinlock_t *lock)
{
	if (fd > DEP_MAX_FD)
		return -ENOSPC;
	return map->nr_branches ? fdmap_sprout(map, fd, lock) :
				  fdmap_take_root(map, fd, lock);
}

// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A look at the entries of a ring of io_uring.
 *
 * As a rule, a ring that had entries stays mapped until the program closes its
 * number: to map it anew would cost more than all else.  Each number has a
 * slot, which it shares with others, and a slot keeps one ring, that of the
 * last look.  Whoever takes the slot from KEPT_IDLE to KEPT_BUSY owns its ring;
 * a close of the number meanwhile leaves KEPT_DROPPED, and the owner unmaps the
 * ring.  Before a close looks at the slot, it changes the slot's count of
 * closes.  Whoever has mapped a ring puts it into the slot only if the count,
 * read again after the number was written there, is what it was before.  A
 * close drops the ring before and after the system call, so that no ring is
 * kept under a number that was closed, even if another thread enters the ring
 * meanwhile.  tools/models/kept.pml is a model of this; all of it needs the
 * order of memory_order_seq_cst, which is that of atomics here by default.
 *
 * A mapping keeps its ring alive.  A child of fork(2) has neither the mappings
 * nor the slots, so that it keeps no ring of its parent alive.  As a handler
 * might fork, signals are blocked during a look.  They are also blocked while a
 * close unmaps a ring: a handler might leave the close by siglongjmp(3).
 *
 * If the program closes a ring in a way that the library does not see, the ring
 * stays until its slot is needed or the process ends.  If its number gets
 * another ring then, the look finds that the kernel has taken nothing from the
 * kept one since the last look, and maps the ring of the number.
 *
 * The kernel does not report the offsets in the mapping of an existing ring.
 * They are the same for all rings of one size and kind, so the library
 * remembers these shapes.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "entry.h"
#include "preload/guess.h"
#include "preload/uring_view.h"

/* Older headers lack it. */
#define SETUP_NO_SQARRAY	(1U << 16)

/*
 * An element of @shapes does not change once its @stage is past ADDING.  While
 * that is ADDED, other threads compare their shapes with it, but do not use it;
 * it stays ADDED if the shape can't be told from another one.  @hints has the
 * shape of the last ring that was created with an fd number; several numbers
 * share an element.
 */
#define MAX_SHAPES	64
enum { ADDING, ADDED, READY };
static struct shape shapes[MAX_SHAPES];
static atomic_uchar stage[MAX_SHAPES];
static atomic_bool ambiguous[MAX_SHAPES];
static atomic_uint nr_shapes;
static atomic_uchar hints[256];

static atomic_uchar *hint(int fd)
{
	return &hints[(unsigned int)fd % (sizeof(hints) / sizeof(*hints))];
}

static bool is_ready(unsigned int number)
{
	return atomic_load_explicit(&stage[number], memory_order_acquire) ==
	       READY;
}

/*
 * A ring contains its sizes, but not its offsets.  Rings of two shapes with the
 * same sizes can't be told apart, so the library does not inspect them.
 */
static bool is_ambiguous(const struct shape *shape)
{
	unsigned int i, nr = atomic_load(&nr_shapes);
	bool found = false;

	for (i = 0; i < nr && i < MAX_SHAPES; i++) {
		if (atomic_load(&stage[i]) == ADDING ||
		    shapes[i].entries != shape->entries ||
		    shapes[i].cq_entries != shape->cq_entries ||
		    !memcmp(&shapes[i], shape, sizeof(*shape)))
			continue;
		found = true;
		if (!preload_sets_expected())
			atomic_store(&ambiguous[i], true);
	}
	return found;
}

/*
 * The index of a shape; or MAX_SHAPES if there are too many shapes, or if rings
 * of this shape would be mistaken for others that the library inspects.
 */
static unsigned int remember(const struct shape *shape)
{
	unsigned int i, nr = atomic_load_explicit(&nr_shapes,
						  memory_order_relaxed);
	bool hidden;

	for (i = 0; i < nr && i < MAX_SHAPES; i++) {
		if (!is_ready(i) || memcmp(&shapes[i], shape, sizeof(*shape)))
			continue;
		/* Rings from before the first set made it ambiguous. */
		return preload_sets_expected() && atomic_load(&ambiguous[i]) ?
			       MAX_SHAPES : i;
	}
	hidden = is_ambiguous(shape);
	if (nr >= MAX_SHAPES || (hidden && preload_sets_expected()))
		return MAX_SHAPES;
	/* Two threads may add the same shape twice. */
	i = atomic_fetch_add(&nr_shapes, 1);
	if (i >= MAX_SHAPES)
		return MAX_SHAPES;
	shapes[i] = *shape;
	atomic_store(&ambiguous[i], hidden);
	/* Pairs with the load in is_ambiguous(). */
	atomic_store(&stage[i], ADDED);
	/* Of two threads that add such shapes, one sees that of the other here. */
	if (!hidden && is_ambiguous(shape)) {
		if (preload_sets_expected())
			return MAX_SHAPES;
		atomic_store(&ambiguous[i], true);
	}
	/* Pairs with the load in is_ready(). */
	atomic_store_explicit(&stage[i], READY, memory_order_release);
	return i;
}

/**
 * devepoll_uring_remember() - note the shape of a ring that was created
 * @fd: the ring
 * @flags: as passed to io_uring_setup(2)
 * @p: what that returned
 *
 * Return: true if the entries of the ring can be found.
 */
bool devepoll_uring_remember(int fd, unsigned int flags,
			     const struct io_uring_params *p)
{
	unsigned int number;
	struct shape shape;

	/* Shapes are compared as bytes. */
	memset(&shape, 0, sizeof(shape));
	shape.sq = p->sq_off;
	shape.cq_entries_at = p->cq_off.ring_entries;
	shape.entries = p->sq_entries;
	shape.cq_entries = p->cq_entries;
	/* The other flags do not affect the offsets. */
	shape.flags = flags & (IORING_SETUP_SQE128 | SETUP_NO_SQARRAY |
			       IORING_SETUP_IOPOLL);
	number = remember(&shape);
	if (number >= MAX_SHAPES)
		return false;
	atomic_store_explicit(hint(fd), number, memory_order_relaxed);
	return true;
}

enum { KEPT_NOT, KEPT_IDLE, KEPT_BUSY, KEPT_DROPPED };

struct kept {
	atomic_int state;
	atomic_int fd;
	atomic_uint closes;
	/* The head of the ring at the last look. */
	uint32_t head;
	struct view view;
};

#define NR_KEPT		16
#define KEPT_SIZE	4096
_Static_assert(NR_KEPT * sizeof(struct kept) <= KEPT_SIZE, "one page");

/* In a page that the kernel zeroes in a child of fork(2); NULL if it can't. */
static _Atomic(struct kept *)kept_page;
/* A filter refuses madvise(2): then each look maps the ring. */
static atomic_bool keeps_none;

static struct kept *kept_slots(void)
{
	struct kept *page = atomic_load_explicit(&kept_page,
						 memory_order_acquire);
	struct kept *first = NULL;
	int err;

	if (page || atomic_load(&keeps_none))
		return page;
	page = raw_map(NULL, KEPT_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, &err);
	if (!page)
		return NULL;
	if (raw_call(SYS_madvise, (long)page, KEPT_SIZE, MADV_WIPEONFORK, 0, 0,
		     0))
		atomic_store(&keeps_none, true);
	else if (atomic_compare_exchange_strong(&kept_page, &first, page))
		return page;
	raw_unmap(page, KEPT_SIZE);
	return first;
}

static bool kept_goes(struct kept *kept, int from, int to)
{
	return atomic_compare_exchange_strong(&kept->state, &from, to);
}

static void unmap(const struct view *view)
{
	raw_unmap(view->sqes, view->sqes_size);
	raw_unmap(view->ring, view->ring_size);
}

/* Ends a ring that was dropped; whoever calls this owns its slot. */
static void kept_end(struct kept *kept)
{
	unmap(&kept->view);
	atomic_store(&kept->state, KEPT_NOT);
}

/* The owner of a slot is done with its ring. */
static void kept_return(struct kept *kept)
{
	if (!kept_goes(kept, KEPT_BUSY, KEPT_IDLE))
		kept_end(kept);
}

/* With signals blocked: a siglongjmp(3) out of this would lose the slot. */
static bool kept_drop_idle(struct kept *kept)
{
	const uint64_t signals = entry_block_signals();
	const bool idle = kept_goes(kept, KEPT_IDLE, KEPT_DROPPED);

	if (idle)
		kept_end(kept);
	entry_set_signals(signals);
	return idle;
}

static bool kept_drop(struct kept *kept, unsigned int first, unsigned int last)
{
	unsigned int fd;
	int state;

	atomic_fetch_add(&kept->closes, 1);
	/* A look that writes one of these numbers later sees the count. */
	fd = atomic_load(&kept->fd);
	if (fd < first || fd > last)
		return true;
	state = atomic_load(&kept->state);
	if (state == KEPT_NOT || state == KEPT_DROPPED)
		return true;
	/* Otherwise it has changed just now: try once more. */
	return kept_drop_idle(kept) ||
	       kept_goes(kept, KEPT_BUSY, KEPT_DROPPED);
}

/**
 * devepoll_uring_view_drop() - the program closes numbers
 * @first: the first
 * @last: the last
 *
 * No later look takes a ring that is kept under one of them.  If a look has one
 * just now, that look unmaps it.
 */
void devepoll_uring_view_drop(unsigned int first, unsigned int last)
{
	struct kept *kept = atomic_load_explicit(&kept_page,
						 memory_order_acquire);
	unsigned int i, nr = last - first;

	if (!kept)
		return;
	for (i = 0; i <= nr && i < NR_KEPT; i++) {
		while (!kept_drop(&kept[(first + i) % NR_KEPT], first, last))
			;
	}
}

/* A child of fork(2) does not get it, unless another thread forks just now. */
static void *map(int fd, size_t size, uint64_t offset)
{
	void *address;
	int err;

	address = raw_map(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_POPULATE, fd, offset, &err);
	if (address && raw_call(SYS_madvise, (long)address, size, MADV_DONTFORK,
				0, 0, 0))
		atomic_store(&keeps_none, true);
	return address;
}

static size_t ring_size(const struct shape *shape)
{
	uint32_t end = shape->sq.ring_entries;

	if (!(shape->flags & SETUP_NO_SQARRAY))
		return shape->sq.array +
		       shape->entries * (size_t)sizeof(uint32_t);
	if (shape->cq_entries_at > end)
		end = shape->cq_entries_at;
	return end + sizeof(uint32_t);
}

/* Map the ring if it has this shape. */
static bool map_as(struct view *view, int fd, const struct shape *shape)
{
	view->shape = shape;
	view->ring_size = ring_size(shape);
	view->sqes = NULL;
	view->ring = map(fd, view->ring_size, IORING_OFF_SQ_RING);
	if (!view->ring)
		return false;
	if (read_word(view, shape->sq.ring_entries) == shape->entries &&
	    read_word(view, shape->cq_entries_at) == shape->cq_entries)
		return true;
	raw_unmap(view->ring, view->ring_size);
	return false;
}

/* Other files must not be mapped, because reading them could be fatal. */
static bool is_ring(int fd)
{
	long ret = raw_call(SYS_io_uring_enter, fd, 0, 0, 0, 0, 0);

	return ret == 0 || ret == -EBADFD;
}

static bool map_ring(struct view *view, int fd)
{
	unsigned int nr = atomic_load_explicit(&nr_shapes,
					       memory_order_relaxed);
	unsigned int likely_one = atomic_load_explicit(hint(fd),
						       memory_order_relaxed);
	unsigned int i, n;

	if (!nr || !is_ring(fd))
		return false;
	for (i = 0; i <= nr && i <= MAX_SHAPES; i++) {
		n = i ? i - 1 : likely_one;
		if ((!i || n != likely_one) && is_ready(n) &&
		    !atomic_load(&ambiguous[n]) && map_as(view, fd, &shapes[n]))
			return true;
	}
	return false;
}

static bool is_pending(const struct view *view)
{
	return read_word(view, view->shape->sq.head) !=
	       read_word(view, view->shape->sq.tail);
}

/* Take the ring that is kept under a number, if it has pending entries. */
static bool open_kept(struct view *view, struct kept *kept, int fd)
{
	uint32_t head;

	if (!kept_goes(kept, KEPT_IDLE, KEPT_BUSY))
		return false;
	head = read_word(&kept->view, kept->view.shape->sq.head);
	if (atomic_load(&kept->fd) == fd && is_pending(&kept->view) &&
	    head != kept->head) {
		kept->head = head;
		*view = kept->view;
		return true;
	}
	/* It is not, or may not be, the ring of this number now. */
	atomic_store(&kept->state, KEPT_DROPPED);
	kept_return(kept);
	return false;
}

/* Keep the ring, unless its number was closed meanwhile; true if it is kept. */
static bool keep(struct view *view, unsigned int closes)
{
	struct kept *kept = view->kept;

	if (!kept || atomic_load(&keeps_none) ||
	    !kept_goes(kept, KEPT_NOT, KEPT_BUSY))
		return false;
	kept->view = *view;
	kept->head = read_word(view, view->shape->sq.head);
	atomic_store(&kept->fd, view->fd);
	if (atomic_load(&kept->closes) != closes)
		atomic_store(&kept->state, KEPT_DROPPED);
	return true;
}

/**
 * devepoll_uring_view_open() - map a ring, and its entries if any are pending
 * @view: out: the ring
 * @fd: the ring
 *
 * Return: true if it has pending entries; false if it has none, if it is no
 * ring, or if its entries can't be found.
 */
bool devepoll_uring_view_open(struct view *view, int fd)
{
	struct kept *kept = kept_slots();
	const struct shape *shape;
	unsigned int closes = 0;

	if (kept) {
		kept += (unsigned int)fd % NR_KEPT;
		if (open_kept(view, kept, fd))
			return true;
		closes = atomic_load(&kept->closes);
	}
	if (!map_ring(view, fd))
		return false;
	view->fd = fd;
	view->kept = kept;
	shape = view->shape;
	/* A ring with IORING_SETUP_IOPOLL can't contain changes. */
	if (!(shape->flags & IORING_SETUP_IOPOLL) && is_pending(view)) {
		view->sqes_size = shape->entries * sqe_size(shape);
		view->sqes = map(fd, view->sqes_size, IORING_OFF_SQES);
	}
	if (view->sqes) {
		if (!keep(view, closes))
			view->kept = NULL;
		return true;
	}
	raw_unmap(view->ring, view->ring_size);
	return false;
}

/**
 * devepoll_uring_view_close() - end a look at a ring
 * @view: from devepoll_uring_view_open()
 */
void devepoll_uring_view_close(struct view *view)
{
	if (view->kept)
		kept_return(view->kept);
	else
		unmap(view);
}

/**
 * devepoll_uring_view_entry() - find an entry
 * @view: from devepoll_uring_view_open()
 * @place: where it is, counted from the first entry ever
 *
 * Return: the entry, or NULL if there is none.
 */
struct io_uring_sqe *devepoll_uring_view_entry(const struct view *view,
					       uint32_t place)
{
	const struct shape *shape = view->shape;
	uint32_t at = place & (shape->entries - 1);

	if (!(shape->flags & SETUP_NO_SQARRAY))
		at = read_word(view, shape->sq.array + at * sizeof(uint32_t));
	if (at >= shape->entries)
		return NULL;
	return (void *)((char *)view->sqes + at * sqe_size(shape));
}

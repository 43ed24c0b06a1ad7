// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * io_uring under the preload library: when the program enters a ring,
 * IORING_OP_EPOLL_CTL entries for instances of the device become commands of
 * the device, which do the same and complete with the same results.
 *
 * This library keeps no list of rings, just as it keeps none of instances.  It
 * maps a ring only while it inspects the ring, so the ring disappears when the
 * program closes it, under any number and in any process.  The kernel does not
 * report the offsets in the mapping of an existing ring.  They are the same for
 * all rings of one size and kind, so the library remembers these shapes.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/io_uring.h>

#include "entry.h"
#include "uring.h"

/* Older headers lack these. */
#define SETUP_NO_MMAP		(1U << 14)
#define SETUP_REGISTERED_ONLY	(1U << 15)
#define SETUP_NO_SQARRAY	(1U << 16)
#define SETUP_HYBRID_IOPOLL	(1U << 17)
#define SETUP_CQE_MIXED		(1U << 18)
#define ENTER_REGISTERED_RING	(1U << 4)
#define REGISTER_RING_FDS	20
#define REGISTER_RESIZE_RINGS	33
#define REGISTER_USE_REGISTERED	(1U << 31)

/* The flags of rings whose entries the library can find. */
#define SETUP_FAMILIAR	((SETUP_CQE_MIXED << 1) - 1 - IORING_SETUP_SQPOLL - \
			 SETUP_NO_MMAP - SETUP_REGISTERED_ONLY)

/* The offset of the bytes of a command in an entry. */
#define SQE_COMMAND	48

/* The size of the page that holds only the lock. */
#define LOCK_SIZE	4096

/* An fd that an entry names as an instance, and whether it is the device. */
struct named {
	int fd;
	bool ours;
};

/* The size and kind of a ring, and the offsets in its mapping. */
struct shape {
	struct io_sqring_offsets sq;
	uint32_t cq_entries_at;
	uint32_t entries;
	uint32_t cq_entries;
	uint32_t flags;
};

/*
 * An element of @shapes does not change once its @ready is set.  @hints has the
 * shape of the last ring that was created with an fd number; several numbers
 * share an element.
 */
#define MAX_SHAPES	64
static struct shape shapes[MAX_SHAPES];
static atomic_bool ready[MAX_SHAPES];
static atomic_bool unclear[MAX_SHAPES];
static atomic_uint nr_shapes;
static atomic_uchar hints[256];

static atomic_bool sets_expected;

/* A ring during its inspection. */
struct view {
	const struct shape *shape;
	char *ring;
	size_t ring_size;
	struct io_uring_sqe *sqes;
	size_t sqes_size;
};

/**
 * devepoll_uring_expect_sets() - note that the process has an instance now
 *
 * Before this call, no ring can contain an entry for the device.
 */
void devepoll_uring_expect_sets(void)
{
	atomic_store_explicit(&sets_expected, true, memory_order_relaxed);
}

static bool are_sets_expected(void)
{
	return atomic_load_explicit(&sets_expected, memory_order_relaxed);
}

static atomic_uchar *hint(int fd)
{
	return &hints[(unsigned int)fd % (sizeof(hints) / sizeof(*hints))];
}

/*
 * A ring contains its sizes, but not its offsets.  Rings of two shapes with the
 * same sizes can't be told apart, so the library does not inspect them.
 */
static bool is_unclear(unsigned int nr, const struct shape *shape)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < nr && i < MAX_SHAPES; i++) {
		if (!atomic_load_explicit(&ready[i], memory_order_acquire) ||
		    shapes[i].entries != shape->entries ||
		    shapes[i].cq_entries != shape->cq_entries)
			continue;
		found = true;
		if (!are_sets_expected())
			atomic_store(&unclear[i], true);
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
		if (atomic_load_explicit(&ready[i], memory_order_acquire) &&
		    !memcmp(&shapes[i], shape, sizeof(*shape)))
			return i;
	}
	hidden = is_unclear(nr, shape);
	if (nr >= MAX_SHAPES || (hidden && are_sets_expected()))
		return MAX_SHAPES;
	/* Two threads may add the same shape twice. */
	i = atomic_fetch_add_explicit(&nr_shapes, 1, memory_order_relaxed);
	if (i >= MAX_SHAPES)
		return MAX_SHAPES;
	shapes[i] = *shape;
	atomic_store(&unclear[i], hidden);
	/* Pairs with the acquire loads of ready[]. */
	atomic_store_explicit(&ready[i], true, memory_order_release);
	return i;
}

static unsigned int remember_ring(const struct io_uring_params *params,
				  unsigned int flags)
{
	struct shape shape;

	/* Shapes are compared as bytes. */
	memset(&shape, 0, sizeof(shape));
	shape.sq = params->sq_off;
	shape.cq_entries_at = params->cq_off.ring_entries;
	shape.entries = params->sq_entries;
	shape.cq_entries = params->cq_entries;
	/* The other flags do not affect the offsets. */
	shape.flags = flags & (IORING_SETUP_SQE128 | SETUP_NO_SQARRAY |
			       IORING_SETUP_IOPOLL);
	return remember(&shape);
}

/**
 * devepoll_uring_setup() - io_uring_setup(2)
 * @entries: as for io_uring_setup(2)
 * @params: as for io_uring_setup(2)
 *
 * Once the process has an instance of the device, the call refuses a ring whose
 * entries the library can't see before the kernel takes them.
 *
 * Return: as io_uring_setup(2), or
 * -EPERM: the kernel would poll the ring by itself;
 * -EINVAL: the entries of the ring can't be found for another reason;
 * -ENOMEM: there are too many kinds of rings, or the ring can't be told apart
 * from another kind.
 */
long devepoll_uring_setup(unsigned int entries, void *params)
{
	struct io_uring_params *p = params;
	unsigned int number, flags;
	long fd;

	if (!devepoll_entry_readable(p, sizeof(*p)))
		return raw_call(SYS_io_uring_setup, entries, (long)p, 0, 0, 0,
				0);
	flags = p->flags;
	if (are_sets_expected() && flags & IORING_SETUP_SQPOLL)
		return -EPERM;
	if (are_sets_expected() && flags & ~SETUP_FAMILIAR)
		return -EINVAL;
	fd = raw_call(SYS_io_uring_setup, entries, (long)p, 0, 0, 0, 0);
	if (fd < 0 || flags & ~SETUP_FAMILIAR)
		return fd;
	number = remember_ring(p, flags);
	if (number < MAX_SHAPES) {
		atomic_store_explicit(hint(fd), number, memory_order_relaxed);
		return fd;
	}
	if (!are_sets_expected())
		return fd;
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return -ENOMEM;
}

static void *map_with(int flags, int fd, size_t size, uint64_t offset)
{
#ifdef __LP64__
	long ret = raw_call(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, flags,
			    fd, offset);
#else
	long ret = raw_call(SYS_mmap2, 0, size, PROT_READ | PROT_WRITE, flags,
			    fd, offset >> 12);
#endif
	return ret < 0 && ret >= -4095 ? NULL : (void *)ret;
}

static void *map(int fd, size_t size, uint64_t offset)
{
	return map_with(MAP_SHARED | MAP_POPULATE, fd, size, offset);
}

static void *map_memory(size_t size)
{
	return map_with(MAP_PRIVATE | MAP_ANONYMOUS, -1, size, 0);
}

static void unmap(void *address, size_t size)
{
	if (address)
		raw_call(SYS_munmap, (long)address, size, 0, 0, 0, 0);
}

static _Atomic uint32_t *word(const struct view *view, uint32_t at)
{
	return (_Atomic uint32_t *)(view->ring + at);
}

static uint32_t read_word(const struct view *view, uint32_t at)
{
	return atomic_load_explicit(word(view, at), memory_order_acquire);
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

static size_t sqe_size(const struct shape *shape)
{
	return sizeof(struct io_uring_sqe) <<
	       !!(shape->flags & IORING_SETUP_SQE128);
}

/* Map the ring if it has this shape. */
static bool map_as(struct view *view, int fd, const struct shape *shape)
{
	view->shape = shape;
	view->ring_size = ring_size(shape);
	view->ring = map(fd, view->ring_size, IORING_OFF_SQ_RING);
	if (!view->ring)
		return false;
	if (read_word(view, shape->sq.ring_entries) == shape->entries &&
	    read_word(view, shape->cq_entries_at) == shape->cq_entries)
		return true;
	unmap(view->ring, view->ring_size);
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
		if ((!i || n != likely_one) &&
		    atomic_load_explicit(&ready[n], memory_order_acquire) &&
		    !atomic_load(&unclear[n]) && map_as(view, fd, &shapes[n]))
			return true;
	}
	return false;
}

static struct io_uring_sqe *entry(const struct view *view, uint32_t place)
{
	const struct shape *shape = view->shape;
	uint32_t at = place & (shape->entries - 1);

	if (!(shape->flags & SETUP_NO_SQARRAY))
		at = read_word(view, shape->sq.array + at * sizeof(uint32_t));
	if (at >= shape->entries)
		return NULL;
	return (void *)((char *)view->sqes + at * sqe_size(shape));
}

static bool is_change(const struct io_uring_sqe *sqe)
{
	/* Pairs with the release store in translate(). */
	return __atomic_load_n(&sqe->opcode, __ATOMIC_ACQUIRE) ==
	       IORING_OP_EPOLL_CTL;
}

static bool is_ours(struct named *named, int fd)
{
	if (named->fd != fd)
		*named = (struct named) {
			.fd = fd,
			.ours = devepoll_entry_is_device(fd),
		};
	return named->ours;
}

/* Turn a change into a command, unless the kernel should report an error. */
static void translate(struct io_uring_sqe *sqe, size_t size,
		      struct named *named)
{
	const struct epoll_event *event = (void *)(uintptr_t)sqe->addr;
	const struct io_uring_sqe old = *sqe;
	struct devepoll_event change = { .fd = old.off };
	struct io_uring_sqe made;
	int op = old.len;

	if (op < EPOLL_CTL_ADD || op > EPOLL_CTL_MOD || old.ioprio ||
	    old.buf_index || old.splice_fd_in ||
	    old.flags & IOSQE_BUFFER_SELECT || !is_ours(named, old.fd))
		return;
	if (op != EPOLL_CTL_DEL) {
		if (!devepoll_entry_readable(event, sizeof(*event)))
			return;
		change.data = event->data.u64;
		change.events = event->events;
	}
	memset(&made, 0, sizeof(made));
	made.opcode = old.opcode;
	/* The fd of an instance is never an index of a registered file. */
	made.flags = old.flags & ~IOSQE_FIXED_FILE;
	made.fd = old.fd;
	made.cmd_op = DEVEPOLL_EPOLL_CTL(op);
	made.user_data = old.user_data;
	made.personality = old.personality;
	memcpy((char *)&made + SQE_COMMAND, &change, sizeof(change));
	memcpy(sqe, &made, sizeof(made));
	memset((char *)sqe + sizeof(made), 0, size - sizeof(made));
	/*
	 * This store comes last: until then, another thread that enters the
	 * ring sees a change, and waits for this thread.  Pairs with
	 * is_change().
	 */
	__atomic_store_n(&sqe->opcode, IORING_OP_URING_CMD, __ATOMIC_RELEASE);
}

/*
 * Two threads may enter one ring at once, and all pending entries must be
 * translated before either calls the kernel.
 *
 * The lock belongs to the memory that the threads share, whatever the IDs of
 * their processes are.  It lies in a page that the kernel zeroes in a child of
 * fork(2), which does not have the thread that held it.  If a filter of system
 * calls refuses that, the child can wait for ever.
 */
static _Atomic(atomic_int *)lock_page;

static atomic_int *looking(void)
{
	atomic_int *page = atomic_load_explicit(&lock_page,
						memory_order_acquire);
	atomic_int *first = NULL;

	if (page)
		return page;
	page = map_memory(LOCK_SIZE);
	if (!page)
		return NULL;
	raw_call(SYS_madvise, (long)page, LOCK_SIZE, MADV_WIPEONFORK, 0, 0, 0);
	if (atomic_compare_exchange_strong(&lock_page, &first, page))
		return page;
	unmap(page, LOCK_SIZE);
	return first;
}

/* Signals are blocked: a handler that enters a ring would wait for this. */
static bool look_begin(uint64_t *signals)
{
	atomic_int *lock = looking();
	const uint64_t all = ~0ULL;

	if (!lock)
		return false;
	raw_call(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, (long)&all,
		 (long)signals, KERNEL_SIGSET_SIZE, 0, 0);
	while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
		raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	return true;
}

static void look_end(const uint64_t *signals)
{
	atomic_store_explicit(looking(), 0, memory_order_release);
	raw_call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)signals, 0,
		 KERNEL_SIGSET_SIZE, 0, 0);
}

/* Translate all pending entries, because another thread may submit ours. */
static void translate_pending(const struct view *view)
{
	struct named named = { .fd = -1 };
	struct io_uring_sqe *sqe;
	uint32_t place, tail;
	uint64_t signals;
	bool any = false;

	place = read_word(view, view->shape->sq.head);
	tail = read_word(view, view->shape->sq.tail);
	if (tail - place > view->shape->entries)
		return;
	for (; !any && place != tail; place++) {
		sqe = entry(view, place);
		any = sqe && is_change(sqe);
	}
	if (!any || !look_begin(&signals))
		return;

	for (place = read_word(view, view->shape->sq.head); place != tail &&
	     tail - place <= view->shape->entries; place++) {
		sqe = entry(view, place);
		if (sqe && is_change(sqe))
			translate(sqe, sqe_size(view->shape), &named);
	}
	look_end(&signals);
}

static void look(int fd)
{
	struct view view;

	if (!map_ring(&view, fd))
		return;
	/* A ring with IORING_SETUP_IOPOLL can't contain changes. */
	if (!(view.shape->flags & IORING_SETUP_IOPOLL) &&
	    read_word(&view, view.shape->sq.head) !=
	    read_word(&view, view.shape->sq.tail)) {
		view.sqes_size = view.shape->entries * sqe_size(view.shape);
		view.sqes = map(fd, view.sqes_size, IORING_OFF_SQES);
		if (view.sqes)
			translate_pending(&view);
		unmap(view.sqes, view.sqes_size);
	}
	unmap(view.ring, view.ring_size);
}

/**
 * devepoll_uring_enter() - io_uring_enter(2)
 * @fd: as for io_uring_enter(2)
 * @to_submit: as for io_uring_enter(2)
 * @min_complete: as for io_uring_enter(2)
 * @flags: as for io_uring_enter(2)
 * @arg: as for io_uring_enter(2)
 * @size: as for io_uring_enter(2)
 *
 * Return: as io_uring_enter(2).
 */
long devepoll_uring_enter(int fd, unsigned int to_submit,
			  unsigned int min_complete, unsigned int flags,
			  const void *arg, size_t size)
{
	if (to_submit && are_sets_expected() &&
	    !(flags & ENTER_REGISTERED_RING))
		look(fd);
	return raw_call(SYS_io_uring_enter, fd, to_submit, min_complete, flags,
			(long)arg, size);
}

/**
 * devepoll_uring_register() - io_uring_register(2)
 * @fd: as for io_uring_register(2)
 * @opcode: as for io_uring_register(2)
 * @arg: as for io_uring_register(2)
 * @nr: as for io_uring_register(2)
 *
 * The call refuses what would hide a ring from the library, in the same way as
 * a kernel that does not support it: entering the ring with another number than
 * its fd, and changing its size.
 *
 * Return: as io_uring_register(2), or
 * -EINVAL: the call is refused.
 */
long devepoll_uring_register(int fd, unsigned int opcode, void *arg,
			     unsigned int nr)
{
	unsigned int what = opcode & ~REGISTER_USE_REGISTERED;

	if (are_sets_expected() &&
	    (what == REGISTER_RING_FDS || what == REGISTER_RESIZE_RINGS))
		return -EINVAL;
	return raw_call(SYS_io_uring_register, fd, opcode, (long)arg, nr, 0,
			0);
}

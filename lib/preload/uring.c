// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * io_uring under the preload library: when the program enters a ring,
 * IORING_OP_EPOLL_CTL entries for instances of the device become commands of
 * the device, which do the same and complete with the same results.
 *
 * A ring disappears when the program closes it, under any number and in any
 * process: see uring_view.c.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "entry.h"
#include "preload/guess.h"
#include "preload/uring.h"
#include "preload/uring_view.h"

/* Older headers lack these. */
#define SETUP_NO_MMAP		(1U << 14)
#define SETUP_REGISTERED_ONLY	(1U << 15)
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
	unsigned int flags;
	long fd;

	if (!devepoll_entry_readable(p, sizeof(*p)))
		return raw_call(SYS_io_uring_setup, entries, (long)p, 0, 0, 0,
				0);
	flags = p->flags;
	if (preload_sets_expected() && flags & IORING_SETUP_SQPOLL)
		return -EPERM;
	if (preload_sets_expected() && flags & ~SETUP_FAMILIAR)
		return -EINVAL;
	fd = raw_call(SYS_io_uring_setup, entries, (long)p, 0, 0, 0, 0);
	if (fd < 0)
		return fd;
	/* If the number had another ring, the program closed that unseen. */
	devepoll_uring_view_drop(fd, fd);
	if (flags & ~SETUP_FAMILIAR)
		return fd;
	if (devepoll_uring_remember(fd, flags, p) ||
	    !preload_sets_expected())
		return fd;
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return -ENOMEM;
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

	if (!is_epoll_op(op) || old.ioprio || old.buf_index ||
	    old.splice_fd_in || old.flags & IOSQE_BUFFER_SELECT ||
	    !is_ours(named, old.fd))
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

/* A futex: a thread that finds it held sleeps in the kernel. */
enum { LOCK_FREE, LOCK_HELD, LOCK_AWAITED };

static atomic_int *look_lock(void)
{
	atomic_int *page = atomic_load_explicit(&lock_page,
						memory_order_acquire);
	atomic_int *first = NULL;
	int err;

	if (page)
		return page;
	page = raw_map(NULL, LOCK_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, &err);
	if (!page)
		return NULL;
	raw_call(SYS_madvise, (long)page, LOCK_SIZE, MADV_WIPEONFORK, 0, 0, 0);
	if (atomic_compare_exchange_strong(&lock_page, &first, page))
		return page;
	raw_unmap(page, LOCK_SIZE);
	return first;
}

/* With signals blocked: a handler that enters a ring would wait for this. */
static bool look_begin(void)
{
	atomic_int *lock = look_lock();
	int state = LOCK_FREE;

	if (!lock)
		return false;
	if (atomic_compare_exchange_strong_explicit(lock, &state, LOCK_HELD,
						    memory_order_acquire,
						    memory_order_relaxed))
		return true;
	while (atomic_exchange_explicit(lock, LOCK_AWAITED,
					memory_order_acquire))
		raw_call(SYS_futex, (long)lock, FUTEX_WAIT_PRIVATE,
			 LOCK_AWAITED, 0, 0, 0);
	return true;
}

static void look_end(void)
{
	atomic_int *lock = look_lock();

	if (atomic_exchange_explicit(lock, LOCK_FREE, memory_order_release) ==
	    LOCK_AWAITED)
		raw_call(SYS_futex, (long)lock, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/* Translate all pending entries, because another thread may submit ours. */
static void translate_pending(const struct view *view)
{
	struct named named = { .fd = -1 };
	struct io_uring_sqe *sqe;
	uint32_t place, tail;
	bool any = false;

	place = read_word(view, view->shape->sq.head);
	tail = read_word(view, view->shape->sq.tail);
	if (tail - place > view->shape->entries)
		return;
	for (; !any && place != tail; place++) {
		sqe = devepoll_uring_view_entry(view, place);
		any = sqe && is_change(sqe);
	}
	if (!any || !look_begin())
		return;

	for (place = read_word(view, view->shape->sq.head); place != tail &&
	     tail - place <= view->shape->entries; place++) {
		sqe = devepoll_uring_view_entry(view, place);
		if (sqe && is_change(sqe))
			translate(sqe, sqe_size(view->shape), &named);
	}
	look_end();
}

static void look(int fd)
{
	const uint64_t signals = entry_block_signals();
	struct view view;

	if (devepoll_uring_view_open(&view, fd)) {
		translate_pending(&view);
		devepoll_uring_view_close(&view);
	}
	entry_set_signals(signals);
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
	if (to_submit && preload_sets_expected() &&
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

	if (preload_sets_expected() &&
	    (what == REGISTER_RING_FDS || what == REGISTER_RESIZE_RINGS))
		return -EINVAL;
	return raw_call(SYS_io_uring_register, fd, opcode, (long)arg, nr, 0,
			0);
}

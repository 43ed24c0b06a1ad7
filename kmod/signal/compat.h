/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernels in the queues of signals; read core/compat.h
 * first.
 */
#ifndef DEVEPOLL_SIGNAL_COMPAT_H
#define DEVEPOLL_SIGNAL_COMPAT_H

#include <linux/list.h>
#include <linux/signal_types.h>
#ifdef DEP_HAVE_SIGQUEUE_REF
#include <linux/posix-timers.h>
#endif

/* Without it nothing drops the queue's reference on a siginfo of ours. */
#if defined(DEP_HAVE_SIGQUEUE_REF) && !defined(CONFIG_POSIX_TIMERS)
#error "devepoll needs CONFIG_POSIX_TIMERS"
#endif

/*
 * An entry in a queue of signals that, like those of POSIX timers, is not freed
 * by the kernel.  Since 6.13 the queue has a reference on it, which lies where
 * struct k_itimer has it, and on 7.2 and 7.3 an exiting thread empties its
 * queue with no lock held.  Up to 6.12 the entry is just unlinked, with siglock
 * held or interrupts off.
 */
#ifdef DEP_HAVE_SIGQUEUE_REF
#define DEP_SIGQUEUE_IS_COUNTED true
struct dep_sigqueue {
	struct sigqueue queue;
	rcuref_t refs;
};

static_assert(offsetof(struct dep_sigqueue, refs) -
	      offsetof(struct dep_sigqueue, queue) ==
	      offsetof(struct k_itimer, rcuref) -
	      offsetof(struct k_itimer, sigq));

static inline void dep_sigqueue_init_refs(struct dep_sigqueue *entry)
{
	rcuref_init(&entry->refs, 1);
}

/* Called when we put the entry into a queue. */
static inline void dep_sigqueue_enter(struct dep_sigqueue *entry)
{
	WARN_ON_ONCE(!rcuref_get(&entry->refs));
}

/* Called when we take the entry off, instead of the kernel. */
static inline void dep_sigqueue_leave(struct dep_sigqueue *entry)
{
	/* The first reference is always ours, so the kernel frees nothing. */
	WARN_ON_ONCE(rcuref_put(&entry->refs));
}

/* Has every queue let it go?  The caller puts it into none any more. */
static inline bool dep_sigqueue_is_free(struct dep_sigqueue *entry)
{
	if (rcuref_read(&entry->refs) != 1)
		return false;
	/* Pairs with the release in rcuref_put(). */
	smp_acquire__after_ctrl_dep();
	return true;
}
#else
#define DEP_SIGQUEUE_IS_COUNTED false
struct dep_sigqueue {
	struct sigqueue queue;
};

static inline void dep_sigqueue_init_refs(struct dep_sigqueue *entry) { }
static inline void dep_sigqueue_enter(struct dep_sigqueue *entry) { }
static inline void dep_sigqueue_leave(struct dep_sigqueue *entry) { }

static inline bool dep_sigqueue_is_free(struct dep_sigqueue *entry)
{
	return true;
}
#endif

static inline void dep_sigqueue_init(struct dep_sigqueue *entry)
{
	INIT_LIST_HEAD(&entry->queue.list);
	entry->queue.flags = SIGQUEUE_PREALLOC;
	entry->queue.ucounts = NULL;
	dep_sigqueue_init_refs(entry);
}

#endif /* DEVEPOLL_SIGNAL_COMPAT_H */

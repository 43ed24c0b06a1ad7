/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every bound of the module.
 */
#ifndef DEVEPOLL_LIMITS_H
#define DEVEPOLL_LIMITS_H

#include <linux/devepoll.h>
#include <linux/ktime.h>

/* Fds in one set: the default and the most of parameter max_fds. */
#define DEP_MAX_FDS_DEFAULT	MAX_FDS_IN_EVENTPOLL
#define DEP_MAX_FDS_MOST	(1024 * 1024)

/*
 * Items of one watched file in all instances, and wait-queue heads of one file.
 * They bound the work of a wake-up, and of the close, with interrupts or
 * preemption off.  Of both, a person must leave as many to others as they have.
 * Most files have one head; a signalfd has one per process that adds it.
 */
#define DEP_ITEMS_PER_FILE	4096
#define DEP_HEADS_PER_FILE	4096

/*
 * Items of one fd number in one set, each of another file.  They are searched
 * with interrupts off.
 */
#define DEP_ITEMS_PER_NUMBER	64

/* Of what all users share, one part in so many is left to root. */
#define DEP_ROOT_PART		16

/*
 * The largest fd number that can be watched.  The kernel's own limit,
 * fs.nr_open, is 1048576 unless root raises it.
 */
#define DEP_MAX_FD		(2 * 1024 * 1024 - 1)

/*
 * Tables of 64 pointers find a set's fds by their numbers.  DEP_TABLES_FREE of
 * them are free, and one for every DEP_TABLES_FREE_FDS fds.  Each further
 * table, in a set with scattered numbers, counts as DEP_TABLE_CHARGE watches,
 * since it takes no more memory than these.
 */
#define DEP_TABLES_FREE		2
#define DEP_TABLES_FREE_FDS	8
#define DEP_TABLE_CHARGE	3

/*
 * Entries that one write() handles between two calls of cond_resched().  They
 * lie on the stack, which current kernels clear first.
 */
#define DEP_WRITE_BATCH		16

/*
 * Further opens of one set.  Each is a file of its own, so it may have as many
 * items, and as many epoll sets around it, as any other file; and one wake-up
 * of the set is for all of them.
 */
#define DEP_OPENS_MOST		8

/*
 * Sets in sets: how many may form one chain, as with in-tree epoll, and how
 * many edges the searches of one ADD may look at, with interrupts off.
 */
#define DEP_NEST_MOST		5
#define DEP_NEST_EDGES		1024

/*
 * Items that a set allocates at once: one in so many of those that it has, and
 * so many at most.
 */
#define DEP_HOSTS_AHEAD_PART	4
#define DEP_HOSTS_AHEAD_MOST	32

/* Items that a waiter polls between two holds of the instance's lock. */
#define DEP_ASK_BATCH		16

/* The same, on the fast path of epoll_wait(2). */
#define DEP_FAST_BATCH		32

/* Items that are taken out of a set that is cleared in one hold of its lock. */
#define DEP_CLEAR_BATCH		16

/* Items that a waiter looks at in one such hold. */
#define DEP_LOOK_BATCH		64

/* Files in which a call that polls network devices searches for a socket. */
#define DEP_BUSY_LOOKS		32

/* After so many looks in vain, a set's calls look at every 64th sleep only. */
#define DEP_SPIN_MISSES		6

/* Owners of a set among which the calling process is searched for, under L. */
#define DEP_OWNERS_SEARCHED	8

/* How long a process that was found alive counts as alive, in jiffies. */
#define DEP_OWNER_LIVES		(HZ / 10)

/* Buffers that a multishot command fills before it lets others have a turn. */
#define DEP_URING_SHOTS		16

/*
 * Pollers of a set, and sets around it, that are woken in the interrupt that
 * follows an event.  If there are more, a worker wakes them a little later.
 */
#define DEP_POLLERS_AT_ONCE	8

/*
 * How long the relay of a processor wakes pollers of all sets in interrupts.
 * Once this budget is spent, the relay regains 1/DEP_RELAY_SHARE of the time
 * that passes.  A worker does the rest.
 * One set is never divided: its cost is bounded by what epoll allows its
 * pollers to cost.
 */
#define DEP_RELAY_NS		(50 * NSEC_PER_USEC)
#define DEP_RELAY_SHARE		4
#define DEP_RELAY_DEBT_NS	(4 * DEP_RELAY_NS)

/*
 * So many sets are served even when the time is used up, if each has no more
 * than so many pollers.  So a task that causes an event finds it in all sets of
 * a chain right after, as with epoll, whatever other tasks did.
 */
#define DEP_RELAY_LEAST		DEP_NEST_MOST
#define DEP_RELAY_POLLERS	2

/*
 * What a set counts as where the clock does not advance.  A signal set, which
 * has DEP_SEND_NS, counts as no more.
 */
#define DEP_RELAY_SET_NS	(5 * NSEC_PER_USEC)

/*
 * How often the relay checks whether a waiter that was woken has come; if not,
 * it wakes the next one at the second check.  A timer checks DEP_WAKE_BATCH
 * sets at most, for DEP_RELAY_NS, and continues after DEP_LATE_PAUSE_NS; so a
 * waiter that does not come is given up after 8 to 20 ms.
 */
#define DEP_LATE_NS		(8 * NSEC_PER_MSEC)
#define DEP_LATE_PAUSE_NS	(2 * NSEC_PER_MSEC)

/*
 * If the worker of a relay gets no processor for DEP_LATE_NS, another worker
 * does its work on any processor, for DEP_RELAY_HELP_NS, and again after each
 * further DEP_LATE_NS: a sixteenth of the time at most.
 */
#define DEP_RELAY_HELP_NS	(DEP_LATE_NS / 16)

/*
 * How much time the relay of a processor takes for the sets of one person, but
 * for root's: DEP_OWE_FREE_NS in each interrupt, DEP_OWE_NS at once, and then
 * one part in DEP_OWE_SHARE of the processor's time.  A write() costs its caller
 * little, and the sets in sets that one user builds multiply what it costs the
 * relay, which no cgroup is charged for.  The sets of who owes more wait for
 * DEP_OWE_PAUSE_NS.
 */
#define DEP_OWE_FREE_NS		(10 * NSEC_PER_USEC)
#define DEP_OWE_NS		(8 * NSEC_PER_MSEC)
#define DEP_OWE_SHARE		20
#define DEP_OWE_PAUSE_NS	(8 * NSEC_PER_MSEC)

/* How often the memory for one result may vanish after it was faulted in. */
#define DEP_FAULTS_MOST		64

/* io_uring commands woken by one interrupt, or sleepers in one hold of L. */
#define DEP_WAKE_BATCH		64

/*
 * Sets with waiters, and commands that may not come, that one event looks at to
 * find a waiter for an exclusive fd.
 */
#define DEP_CHOICE_LOOKS	256

/* Signal sets of one person that poll their files at the same time. */
#define DEP_PERSON_WORKS	32

/*
 * Files that workers release at the same time, in total and for one person; the
 * total is WQ_MAX_ACTIVE of old kernels.  A part of it is left to root.
 */
#define DEP_FPUT_TOTAL		512
#define DEP_FPUT_MOST		16

/*
 * Persons who have signal sets at the same time: each has a workqueue.  Root is
 * not refused.
 */
#define DEP_PERSON_QUEUES	256

/*
 * Signals that one interrupt, or one run of its worker, sends for one set; and
 * how long a processor may send in interrupts.
 */
#define DEP_SEND_BATCH		32
#define DEP_SEND_NS		(2 * NSEC_PER_MSEC)

/* Watches of all signal sets together: parameter max_signals. */
#define DEP_SIGNALS_DEFAULT	(4 * 1024 * 1024)

/*
 * How many watches one watch of a signal set counts as.  Each may stand in a
 * queue of signals, which the kernel takes apart with tasklist_lock held.
 */
#define DEP_SIGNAL_CHARGE	4

/*
 * Entries of a queue that are searched, with interrupts off, to find out
 * whether a real-time signal still waits there.
 */
#define DEP_PEER_SEARCH		65536

/* Pages of mapped results of one set. */
#define DEP_AREA_PAGES_MOST	1024

/* The watch table: pages of memory for each bucket, and bounds of its size. */
#define DEP_PAGES_PER_BUCKET	2
#define DEP_BUCKET_BITS_LEAST	10
#define DEP_BUCKET_BITS_MOST	20

/* Watches of one user take at most this share of low memory, as in epoll. */
#define DEP_WATCH_MEMORY_SHARE	25

/*
 * How often a waiter checks that the thread that reads the page set it waits
 * for is still alive.
 */
#define DEP_READER_CHECK_NS	(10 * NSEC_PER_MSEC)

/*
 * While a closed item is held back, it is checked whether readers have ended:
 * first after DEP_READERS_SOON, and then each time after twice as long, up to
 * DEP_READERS_PAUSE, in jiffies; DEP_READERS_LOOKED of them at a time.
 */
#define DEP_READERS_SOON	(HZ / 20)
#define DEP_READERS_PAUSE	(10 * HZ)
#define DEP_READERS_LOOKED	256

/* Readers that hold something back, as fdinfo shows them. */
#define DEP_READERS_SHOWN	16

/* The parameters of these names. */
extern unsigned int dep_max_fds;
extern unsigned long dep_max_user_watches;

#endif /* DEVEPOLL_LIMITS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every bound of the module.
 */
#ifndef DEVEPOLL_LIMITS_H
#define DEVEPOLL_LIMITS_H

#include <linux/devepoll.h>
#include <linux/ktime.h>

/* Fds in one interest set: the default and the most of parameter max_fds. */
#define DEP_MAX_FDS_DEFAULT	MAX_FDS_IN_EVENTPOLL
#define DEP_MAX_FDS_MOST	(1024 * 1024)

/*
 * Items of one watched file, over all instances, and wait-queue heads of one
 * file: the work of a wake-up, and of the close, with interrupts or preemption
 * off.  Most files have one head; a signalfd has one per process that adds it.
 */
#define DEP_ITEMS_PER_FILE	4096
#define DEP_HEADS_PER_FILE	4096

/*
 * Items of one fd number in one set, each of another file: they are looked
 * through with interrupts off.
 */
#define DEP_ITEMS_PER_NUMBER	64

/*
 * Of what all share the last part is root's: one of so many.
 */
#define DEP_ROOT_PART		16

/*
 * The largest fd number that can be watched.  The kernel's own limit,
 * fs.nr_open, is 1048576 unless root raises it.
 */
#define DEP_MAX_FD		(2 * 1024 * 1024 - 1)

/*
 * The tables of 64 that find a set's fds by their numbers.  Those that a set
 * with scattered numbers has beside so many, and one for so many fds, count as
 * watches, so many each: they take no more memory than these.
 */
#define DEP_TABLES_FREE		2
#define DEP_TABLES_FREE_FDS	8
#define DEP_TABLE_CHARGE	2

/*
 * Entries that one write() handles between two looks at the scheduler.  They
 * stand on the stack, which kernels of today clear first.
 */
#define DEP_WRITE_BATCH		16

/*
 * Further opens of one set.  Each is a file, so it may have as many items, and
 * as many epoll sets around it, as any; and one wake-up of the set is for all.
 */
#define DEP_OPENS_MOST		8

/*
 * Sets in sets: how many may stand in one chain, as with in-tree epoll, and
 * how many edges the searches of one ADD look at, with interrupts off.
 */
#define DEP_NEST_MOST		5
#define DEP_NEST_EDGES		1024

/* Items that a waiter asks between two holds of the instance's lock. */
#define DEP_ASK_BATCH		16

/* Items that it looks at in one such hold. */
#define DEP_LOOK_BATCH		64

/* Buffers that a multishot command fills before others have their turn. */
#define DEP_URING_SHOTS		16

/*
 * Who polls a set, or is a set around it, and is woken in the interrupt that
 * follows an event; if there are more, a worker wakes them a little later.
 */
#define DEP_POLLERS_AT_ONCE	8

/*
 * How long the relay of a processor wakes pollers of all sets in interrupts,
 * and then one part in so many of its time; a worker does the rest.  One set is
 * not divided: it costs what its pollers are allowed to cost by epoll.
 */
#define DEP_RELAY_NS		(50 * NSEC_PER_USEC)
#define DEP_RELAY_SHARE		4
#define DEP_RELAY_DEBT_NS	(4 * DEP_RELAY_NS)

/*
 * So many sets are served even when the time is over, if no more than so many
 * poll each: who causes an event finds it right after in all sets of a chain,
 * as with epoll, whatever others did.
 */
#define DEP_RELAY_LEAST		DEP_NEST_MOST
#define DEP_RELAY_POLLERS	2

/*
 * What a set counts as where the clock stands still; a signal set, which has
 * DEP_SEND_NS, counts as no more.
 */
#define DEP_RELAY_SET_NS	(5 * NSEC_PER_USEC)

/*
 * How often it is looked whether a waiter that was woken has come: if not,
 * the next is woken at the second look.  A timer looks at DEP_WAKE_BATCH sets
 * at most, for DEP_RELAY_NS, and goes on after DEP_LATE_PAUSE_NS; so who does
 * not come is given up after 8 to 20 ms.
 */
#define DEP_LATE_NS		(8 * NSEC_PER_MSEC)
#define DEP_LATE_PAUSE_NS	(2 * NSEC_PER_MSEC)

/*
 * If the worker of a relay gets no processor for DEP_LATE_NS, another one does
 * its work on any processor, for so long, and again after as much time: it
 * takes no more than a sixteenth of that.
 */
#define DEP_RELAY_HELP_NS	(DEP_LATE_NS / 16)

/* Users whose sets a relay can tell apart, a power of two. */
#define DEP_RELAY_LANES		16

/* How often memory for one result may go after it was faulted in. */
#define DEP_FAULTS_MOST		64

/* Commands of rings that one interrupt wakes, or sleepers in one hold of L. */
#define DEP_WAKE_BATCH		64

/* Signal sets of one person that ask their files at the same time. */
#define DEP_ASKS_MOST		32

/*
 * Files that a worker releases at the same time: so many of one user, or of
 * those whose number leaves the same rest; WQ_MAX_ACTIVE is 512 on old kernels.
 */
#define DEP_FPUT_USERS		32
#define DEP_FPUT_MOST		16

/*
 * Persons who have signal sets at the same time: each has a queue of workers.
 * Root is not refused.
 */
#define DEP_ASKS_PERSONS	256

/*
 * Signals that one interrupt sends for one set, or a worker between two looks
 * around; and how long a processor may send in interrupts.
 */
#define DEP_SEND_BATCH		32
#define DEP_SEND_NS		(2 * NSEC_PER_MSEC)

/* Watches of all signal sets together, parameter max_signals. */
#define DEP_SIGNALS_DEFAULT	(4 * 1024 * 1024)

/*
 * Watches that one of a signal set counts as.  Each may stand in a queue of
 * signals, which the kernel takes apart with its lock of all tasks held.
 */
#define DEP_SIGNAL_CHARGE	4

/*
 * Entries of a queue that are looked at, with interrupts off, to find out
 * whether a real-time signal still waits there.
 */
#define DEP_PEER_SEARCH		65536

/* Pages of mapped results of one set. */
#define DEP_AREA_PAGES_MOST	1024

/* The watch table: one bucket for so many pages of memory, within bounds. */
#define DEP_PAGES_PER_BUCKET	8
#define DEP_BUCKET_BITS_LEAST	10
#define DEP_BUCKET_BITS_MOST	18

/* Watches of one user take at most this part of low memory, as epoll's do. */
#define DEP_WATCH_MEMORY_SHARE	25

/*
 * How often a waiter looks whether the thread that reads the page set it
 * waits for still lives.
 */
#define DEP_READER_CHECK_NS	(10 * NSEC_PER_MSEC)

#endif /* DEVEPOLL_LIMITS_H */

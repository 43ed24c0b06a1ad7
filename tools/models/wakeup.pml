/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The early return of the wake function: watch_may_return() in
 * kmod/files/wakeup.c.  Banner of kmod/core/instance.h, Handshakes with the
 * outside.
 *
 * A file has kinds of data, as bits.  Its wake-ups post them to a page set; the
 * program takes the page set, by a request, and then reads the data of the
 * kinds that it was told.  Later it asks for more kinds.  A poller, like an epoll
 * around the set, sleeps until something new has happened.
 *
 * The wake function looks at three words without a lock: the events asked for,
 * whose page set the pending bits belong to, and those bits.  So each is read
 * in a step of its own, and what the barriers order is the order of steps here.
 * When nothing moves any more, all data that was asked for has been read, and
 * the poller has been woken for each event after which it began to sleep.
 *
 * FAULT plants a fault that the search must find:
 *  1	the wake function reads the pending bits before the file has its data:
 *	no smp_mb() in dep_watch_wake()
 *  2	the program reads the data before its page set is taken: no smp_mb()
 *	in pages_take()
 *  3	a change polls the file before it asks for more: no smp_mb() in
 *	write_change()
 *  4	the pending bits are read before the page set: no smp_rmb() in
 *	watch_may_return()
 *  5	a post writes the page set before the pending bits: no smp_wmb() in
 *	pages_post()
 *  6	a poller is not looked for
 *  7	a wake-up that returns early takes any pending bit for the one it has
 */
#ifndef FAULT
#define FAULT 0
#endif

#define EVENTS	3

/* What the file has. */
byte data;

/* The item and its instance, changed under the lock. */
bit lock;
byte events = 1;
byte pending;
byte item_set = 9;
byte set = 0;		/* pages.snapshot */
byte nr_pending;
bit polled;

/* What is in the page sets; more can't be taken than there are events. */
byte slot[EVENTS + 4];

bit asleep;
/* For the check: something happened since the poller fell asleep. */
bit owed;

inline acquire() { atomic { !lock -> lock = 1 } }

/* pages_post(), locked */
inline post(k)
{
	if
	:: item_set != set ->
#if FAULT == 5
		item_set = set;
		pending = k;
#else
		pending = k;
		/* smp_wmb() */
		item_set = set;
#endif
		slot[set] = k;
		nr_pending = 1
	:: else ->
		d_step {
			pending = pending | k;
			slot[set] = slot[set] | k
		}
	fi
}

inline look()
{
	/* watch_may_return(); what has not been read yet makes it go on. */
	wanted = events & k;
#if FAULT == 4
	had = pending;
	same = (item_set == set);
#else
	same = (item_set == set);
	/* smp_rmb() */
	had = pending;
#endif
#if FAULT == 6
	early = (!wanted || (same && (wanted & ~had) == 0));
#elif FAULT == 7
	early = (!wanted || (same && had && !polled));
#else
	early = (!wanted || (same && (wanted & ~had) == 0 && !polled));
#endif
}

inline wake()
{
#if FAULT != 1
	look();
#endif
	if
	:: early -> skip
	:: else ->
		acquire();
		wanted = events & k;
		if
		:: wanted -> post(wanted)
		:: else
		fi;
		d_step {
			if
			:: wanted && polled ->
				polled = 0;
				asleep = 0;
				owed = 0
			:: else
			fi;
			lock = 0
		}
	fi
}

/* The file: data, and then a wake-up with its kind as the key. */
active proctype file()
{
	byte n, k, wanted, had;
	bit same, early;

	for (n : 1 .. EVENTS) {
		if
		:: k = 1
		:: k = 2
		fi;
#if FAULT == 1
		look();
#endif
		d_step {
			data = data | k;
			/* This kind is asked for in any case. */
			owed = owed | (asleep && k == 1)
		};
		/* smp_mb() */
		wake()
	}
}

/* The program reads data of the kinds that it was told. */
inline read_data(k) { d_step { data = data & ~k } }

active proctype program()
{
	byte mine, k, ready;
	bit asked;

end:	do
	:: nr_pending ->
		acquire();
#if FAULT == 2
		/* What it is about to take it reads too early. */
		read_data(slot[set]);
#endif
		d_step {
			mine = set;
			nr_pending = 0;
			set++
		};
		lock = 0;
		/* smp_mb() */
#if FAULT != 2
		k = slot[mine];
		read_data(k)
#endif
	:: !asked && !nr_pending ->
		asked = 1;
		acquire();
#if FAULT == 3
		ready = data & 3;
		events = 3;
#else
		events = 3;
		/* smp_mb(), and then ->poll() */
		ready = data & 3;
#endif
		if
		:: ready -> post(ready)
		:: else
		fi;
		lock = 0
	od
}

/* poll(2) of the device, or a set around it: it wants to hear of new events. */
active proctype poller()
{
	acquire();
	d_step {
		polled = 1;
		asleep = 1;
		lock = 0
	}
}

init {
	/* Nothing moves any more. */
	timeout -> assert(!(data & events) && !nr_pending && !owed)
}

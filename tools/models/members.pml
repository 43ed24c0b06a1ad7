/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a wake function finds the only item of a watch without its lock:
 * kmod/files/bucket.h and wakeup.c.  Banner of kmod/core/instance.h, Handshakes
 * with the outside.
 *
 * Item 0 is alone on a watch.  Items 1 and 2 join and poll the file; item 0 leaves
 * once there is another, and is freed; and the file wakes the watch.  Whoever
 * stays is told of the event, by the wake function or by a poll; nobody touches
 * item 0 once it was freed; and nobody takes an item for one of another's set.
 *
 * FAULT plants a fault that the search must find:
 *  1	the wake function looks for the set before it looks for the item
 *  2	an item that leaves is freed without waiting for wake functions
 *  3	an item polls the file before it is on the watch
 *  4	the item that is left is told of as the only one without such a wait
 *  5	an item that joins lets the first one pass for the only one
 */
#ifndef FAULT
#define FAULT 0
#endif

/* Locks: the banner's numbers 3, 4 and 5. */
bit B, H, W;

byte first = 0;		/* dep_watch.first */
byte sole = 1;		/* dep_watch.sole: the number of the item, and 1 */
byte nr = 1;		/* dep_watch.nr_items */
byte next[3] = {0, 1, 2};	/* dep_item.link.next */
bit there[3] = {1, 0, 0};
bit told[3];
bit event;
byte ended;

#define lock(l)		atomic { !l -> l = 1 }
#define unlock(l)	l = 0

/* dep_watch_detach(), others stay */
active proctype leaver()
{
	byte prev;

	atomic { nr > 1 && !B -> B = 1 };
	lock(W);
	prev = 0;
	do
	:: next[prev] != 0 -> prev = next[prev]
	:: else -> break
	od;
	if
	:: first == 0 -> first = next[0]
	:: else
	fi;
	next[prev] = next[0];
	nr--;
	unlock(W);
#if FAULT == 4
	if
	:: nr == 1 -> sole = first + 1
	:: else
	fi;
#endif
#if FAULT != 2
	lock(H);
	unlock(H);
#endif
#if FAULT != 4
	if
	:: nr == 1 -> sole = first + 1
	:: else
	fi;
#endif
	unlock(B);
	there[0] = 0;
	ended++
}

/* watch_join(), and then the poll */
proctype joiner(byte me)
{
	byte last;

#if FAULT == 3
	told[me] = event;
#endif
	there[me] = 1;
	lock(B);
	lock(W);
#if FAULT != 5
	sole = 0;
#endif
	last = first;
	do
	:: next[last] != first -> last = next[last]
	:: else -> break
	od;
	next[me] = first;
	next[last] = me;
	nr++;
	unlock(W);
	unlock(B);
#if FAULT != 3
	told[me] = told[me] | event;
#endif
	ended++
}

/* dep_watch_wake() */
active proctype waker()
{
	byte only, set, item;

	event = 1;
	lock(H);
#if FAULT == 1
	set = sole;
	only = first;
#else
	only = first;
	set = sole;
#endif
	if
	:: set ->
		assert(there[only]);
		assert(set == only + 1);
		told[only] = 1
	:: else ->
		lock(W);
		item = first;
		do
		:: assert(there[item]);
		   told[item] = 1;
		   item = next[item];
		   if
		   :: item == first -> break
		   :: else
		   fi
		od;
		unlock(W)
	fi;
	unlock(H);
	ended++
}

/* All four have ended. */
active proctype check()
{
	atomic { run joiner(1); run joiner(2) };
	(ended == 4);
	assert(told[1]);
	assert(told[2])
}

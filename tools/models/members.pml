/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a wake function finds the only item of a watch without its lock:
 * kmod/files/members.h and wakeup.c.  Banner of kmod/core/instance.h, Handshakes
 * with the outside.
 *
 * Items 0 and 1 are on a watch.  At the same time item 0 leaves and is freed,
 * item 2 joins and polls the file, and the file wakes the watch.  Item 1 is told
 * of the event, and so is item 2, by the wake function or by its poll; and
 * nobody touches item 0 once it was freed.
 *
 * FAULT plants a fault that the search must find:
 *  1	an item that leaves is made a ring by itself
 *  2	an item that leaves is freed without waiting for wake functions
 *  3	an item polls the file before it is on the watch
 */
#ifndef FAULT
#define FAULT 0
#endif

/* Locks: the banner's numbers 4 and 5. */
bit H, W;

byte first = 0;		/* dep_watch.first */
byte next[3] = {1, 0, 2};	/* dep_item.link.next */
bit there[3] = {1, 1, 0};
bit told[3];
bit event;
byte ended;

#define lock(l)		atomic { !l -> l = 1 }
#define unlock(l)	l = 0

/* dep_watch_detach(), others stay */
active proctype leaver()
{
	byte prev;

	lock(W);
	prev = (next[1] == 0 -> 1 : 2);
	if
	:: first == 0 -> first = next[0]
	:: else
	fi;
	next[prev] = next[0];
#if FAULT == 1
	next[0] = 0;
#endif
	unlock(W);
#if FAULT != 2
	lock(H);
	unlock(H);
#endif
	there[0] = 0;
	ended++
}

/* watch_join(), and then the poll */
active proctype joiner()
{
	byte last;

#if FAULT == 3
	told[2] = event;
#endif
	there[2] = 1;
	lock(W);
	last = first;
	do
	:: next[last] != first -> last = next[last]
	:: else -> break
	od;
	next[2] = first;
	next[last] = 2;
	unlock(W);
#if FAULT != 3
	told[2] = told[2] | event;
#endif
	ended++
}

/* dep_watch_wake() */
active proctype waker()
{
	byte only, item;

	event = 1;
	lock(H);
	only = first;
	assert(there[only]);
	if
	:: next[only] == only -> told[only] = 1
	:: else ->
		lock(W);
		item = first;
		do
		:: told[item] = 1;
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

/* All three have ended. */
active proctype check()
{
	(ended == 3);
	assert(told[1]);
	assert(told[2])
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How an add sees without the bucket's lock that the watch is in the wait queue
 * already: kmod/files/waitqueue.c and table.c.  Banner of kmod/core/instance.h,
 * Handshakes with the outside.
 *
 * Item 2 is on a watch that is in the table, but in no wait queue yet, or no
 * longer.  At the same time items 0 and 1 of other sets join the watch and poll
 * the file, item 2 leaves, and the file wakes its wait queue.  Items 0 and 1 are
 * told of the event, by the wake function or by their poll; and nobody touches
 * the watch once it was freed.
 *
 * With POLLFREE the watch is in a wait queue at first, whose owner then frees
 * it, and its memory becomes another wait queue of the same file.  A poll that
 * names a wait queue keeps it.  The event is one of the second wait queue, and
 * told to whoever polls the file after that.
 *
 * FAULT plants a fault that the search must find:
 *  1	dep_wait.head is set before the entry is in the wait queue
 *  2	an item polls the file before it is on the watch
 *  3	the file is polled before the watch is looked at
 *  4	an item does not count before its file is polled
 *  5	the entry leaves the wait queue, and dep_wait.head stays (POLLFREE)
 */
#ifndef FAULT
#define FAULT 0
#endif

/* Locks: the banner's numbers 3, 4 and 5. */
bit B, H, W;

bit watch_there = 1;
bit in_table = 1;
byte nr_items = 1;
bit on[3];		/* the items on the watch, but for item 2 */
bit told[2];
bit event;
byte ended;

#ifdef POLLFREE
bit queued = 1;		/* the entry is in the wait queue */
bit head = 1;		/* dep_wait.head is this address */
bit dying, another;
#else
bit queued;
bit head;
#endif
byte polling;

#define lock(l)		atomic { !l -> l = 1 }
#define unlock(l)	l = 0

/* arming_queue_on(), with B, and wait_arm() */
inline queue_on_locked()
{
	lock(B);
	assert(watch_there);
	if
	:: head
	:: else ->
#if FAULT == 1
		head = 1;
#endif
		lock(H);
		queued = 1;
		head = 1;
		unlock(H)
	fi;
	unlock(B)
}

/* watch_join() */
inline join(i)
{
	lock(B);
	joined = in_table;
	if
	:: joined ->
#if FAULT != 4
		nr_items++;
#endif
		lock(W);
		on[i] = 1;
		unlock(W)
	:: else
	fi;
	unlock(B)
}

/* ->poll() names the wait queue, and answers. */
inline poll(i)
{
#ifdef POLLFREE
	atomic { !dying || another -> polling++; late = another };
#else
	late = 1;
#endif
#if FAULT == 3
	answer = event;
#endif
	assert(watch_there);
	if
	:: head
	:: else -> queue_on_locked()
	fi;
#if FAULT != 3
	answer = event;
#endif
#ifdef POLLFREE
	polling--;
#endif
	told[i] = told[i] | answer
}

/* dep_watch_attach(): the set's M and the caller's reference are held. */
proctype adder(byte i)
{
	bit joined, answer, late = 1;

#if FAULT == 2
	poll(i);
	join(i);
#else
	join(i);
	if
	:: joined -> poll(i)
	:: else
	fi;
#endif
	/* It makes a watch of its own; or it has polled the first wait queue. */
	if
	:: !joined || !late -> told[i] = 1
	:: else
	fi;
	ended++
}

/* dep_watch_detach() of item 2 */
active proctype leaver()
{
	bit last;

	lock(B);
	nr_items--;
	last = !nr_items;
	if
	:: last && head -> lock(H); queued = 0; unlock(H)
	:: else
	fi;
	if
	:: last -> in_table = 0
	:: else
	fi;
	unlock(B);
	if
	:: last -> watch_there = 0
	:: else
	fi;
	ended++
}

/* The file, and dep_watch_wake() */
active proctype waker()
{
	byte i;

#ifdef POLLFREE
	(another);
#endif
	event = 1;
	lock(H);
	if
	:: queued ->
		assert(watch_there);
		lock(W);
		for (i : 0 .. 1) {
			told[i] = told[i] | on[i]
		}
		unlock(W)
	:: else
	fi;
	unlock(H);
	ended++
}

#ifdef POLLFREE
/* The owner of the wait queue, and watch_wake_last() */
active proctype freer()
{
	atomic { !polling -> dying = 1 };
	lock(H);
	if
	:: queued ->
		queued = 0;
#if FAULT != 5
		head = 0
#endif
	:: else
	fi;
	unlock(H);
	another = 1;
	ended++
}
#endif

init {
	atomic {
		run adder(0);
		run adder(1)
	};
#ifdef POLLFREE
	(ended == 5);
#else
	(ended == 4);
#endif
	assert(told[0]);
	assert(told[1])
}

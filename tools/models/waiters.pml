/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is woken for the events of a set: kmod/core/waiter.c and waiter.h, the wait
 * of kmod/set/waiting.c with the passes of kmod/set/ready.c, and the timer of
 * kmod/core/service.c that wakes others in the place of waiters that do not come.
 *
 * Three tasks wait for the same set, again and again: two for one event, with room
 * for one and for two, and one for two events at least.  Each item has one event.
 * If nothing can happen any more, no task sleeps though there are as many events as
 * it waits for; if all come that were woken, no waiter counts as coming; and who has
 * left its wait is in no queue.
 *
 * What is done under dep_instance.lock is one step; dep_instance.mtx is a lock.  A
 * pass takes all its items in one step, and deals with them in another; a real one
 * drops the lock after each batch.  How an event meets a waiter that is about to sleep
 * is in wakeup.pml.  Left out are the fast paths, commands of io_uring, waits for a
 * ring, several waiters that want several events, the relay that wakes later, further
 * events of an item, removed items, and time: the timer may run as soon as it is set,
 * and a sleep may end by its timeout at any time.
 *
 * Without a further name, each waiter that is woken comes.  With ENDS, one task may
 * leave its wait, because its time is over, by a signal, or since its memory
 * can't be written, which leaves the events on the list.  With STAYS, one that was
 * woken may never get a processor.  With LEVEL, the items are level-triggered, and
 * the program reads each event after its wait.
 *
 * With CHANGES, some items are listed though their files have no event.
 *
 * FAULT plants a fault that the search must find:
 *  1	the end of a pass wakes nobody for what it leaves
 *  2	who takes nothing does not pass on what it was woken for (ENDS)
 *  3	who takes nothing still counts as coming (ENDS)
 *  4	a waiter that is queued while others come does not set the timer (STAYS)
 *  5	a wake-up does not set the timer (STAYS)
 *  6	the timer gives up a waiter, but not its room (STAYS)
 *  7	who was given up and comes is subtracted once more
 *  8	a further event does not look whether it makes enough for a waiter that
 *	wants several
 *  9	a waiter sleeps though something was listed since it looked
 * 10	the timer ends while woken waiters have not come (STAYS)
 * 11	who wants several events counts as coming while it counts them
 * 12	the timer looks, and wakes nobody (STAYS)
 * 13	the timer goes on after all woken waiters have come (STAYS)
 * 14	the timer ends while nothing is listed (STAYS)
 * 15	the end of a count wakes nobody
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef ITEMS
#define ITEMS 3
#endif
#define TASKS 3
#define MIN(t) (t == 2 -> 2 : 1)
#define ROOM(t) (t == 0 -> 1 : 2)

/* dep_instance.mtx; a pass of it has items off the list (.ask_seq) */
bit mtx;

/* The items: on the list; their file has the event; a pass has them. */
bit listed[ITEMS];
bit live[ITEMS];
byte nr_ready;

/* dep_instance.nr_waiters, .awaited, .coming, and those of the last check */
byte nr_waiters;
byte awaited;
byte awaited_old;
byte coming;
byte coming_old;
/* dep_instance.late */
bit late;

/* struct dep_waiter; @age is how many checks there were since it was woken */
bit queued[TASKS];
byte rank[TASKS];
bit kicked[TASKS];
byte age[TASKS];

/* What a task does. */
bit stays;
bit ended;

/* Scratch, of one step each. */
hidden byte s, best, idle;

#define HAS_WORK (nr_ready > 0)
#define LACKS_ROOM (nr_ready > coming)

inline unqueue(t) {
	queued[t] = 0;
	nr_waiters--;
	s = 0;
	do
	:: s < TASKS ->
		if
		:: queued[s] && rank[s] > rank[t] -> rank[s]--
		:: else
		fi;
		s++
	:: else -> break
	od;
	rank[t] = 0;
}

/* waiter_kick() */
inline kick(t) {
	kicked[t] = 1;
	age[t] = 0;
	unqueue(t);
	awaited++;
	coming = coming + ROOM(t);
	if
	:: nr_waiters && FAULT != 5 -> late = 1
	:: else
	fi;
}

/* dep_instance_wake() */
inline wake() {
	best = TASKS;
	s = 0;
	do
	:: s < TASKS ->
		if
		:: queued[s] && (MIN(s) == 1 || MIN(s) <= nr_ready) ->
			if
			:: best == TASKS -> best = s
			:: best < TASKS && rank[s] < rank[best] -> best = s
			:: else
			fi
		:: else
		fi;
		s++
	:: else -> break
	od;
	if
	:: best < TASKS -> kick(best)
	:: else
	fi;
}

/* dep_waiter_came() */
inline came(t) {
	if
	:: kicked[t] ->
		kicked[t] = 0;
		if
		:: age[t] > 1 && FAULT != 7
		:: else ->
			assert(awaited > 0 && coming >= ROOM(t));
			awaited--;
			coming = coming - ROOM(t);
			if
			:: age[t] == 1 ->
				assert(awaited_old > 0 && coming_old >= ROOM(t));
				awaited_old--;
				coming_old = coming_old - ROOM(t)
			:: else
			fi
		fi;
		age[t] = 0
	:: else
	fi;
}

/* dep_waiter_back() */
inline back(t) {
	if
	:: kicked[t] -> came(t)
	:: !kicked[t] && queued[t] -> unqueue(t)
	:: else
	fi;
}

/* dep_waiter_queue() */
inline queue(t) {
	came(t);
	queued[t] = 1;
	rank[t] = nr_waiters;
	nr_waiters++;
	if
	:: awaited && FAULT != 4 -> late = 1
	:: else
	fi;
}

/* dep_instance_arrived(), after an item was listed */
inline arrived() {
	if
	:: nr_waiters && (idle || (LACKS_ROOM && (coming > 0 ||
		(FAULT != 8 && queued[2] && MIN(2) <= nr_ready)))) -> wake()
	:: else
	fi;
}

inline list(i) {
	if
	:: !listed[i] ->
		listed[i] = 1;
		nr_ready++
	:: else
	fi;
}

inline unlist(i) {
	listed[i] = 0;
	nr_ready--;
}

/* ready_end() */
inline end_pass() {
	if
	:: FAULT != 1 && LACKS_ROOM && nr_waiters -> wake()
	:: else
	fi;
	mtx = 0;
}

/* A change may list an item whose file has nothing. */
active proctype files() {
	byte i;
	bit event;

	do
	:: i < ITEMS ->
		if
		:: event = 1
#ifdef CHANGES
		:: event = 0
#endif
		fi;
		d_step {
			idle = !HAS_WORK;
			live[i] = event;
			list(i);
			arrived();
		}
		i++
	:: else -> break
	od
}

/* late_look() */
active proctype timer() {
	byte t;

end:	do
	:: late ->
		d_step {
			idle = awaited_old > 0;
			awaited = awaited - awaited_old;
			awaited_old = awaited;
			if
			:: FAULT != 6 ->
				coming = coming - coming_old;
				coming_old = coming
			:: else
			fi;
			t = 0;
			do
			:: t < TASKS ->
				if
				:: kicked[t] && age[t] < 2 -> age[t]++
				:: else
				fi;
				t++
			:: else -> break
			od;
			t = 0;
			if
			:: idle && HAS_WORK && FAULT != 12 -> wake()
			:: else
			fi;
			if
			:: FAULT == 13 -> late = nr_waiters > 0
			:: FAULT == 14 -> late = nr_waiters && awaited && HAS_WORK
			:: else -> late = nr_waiters && awaited && FAULT != 10
			fi;
			/* Otherwise it would run for ever, and nobody would look. */
			assert(!late || awaited)
		}
	od
}

active [TASKS] proctype task() {
	byte me = _pid - 2;
	byte i, n, seen, room;
	bit woken, off[ITEMS], leaves, fails;

wait:	/* dep_collect_wait(), then dep_collect_next(), unless it has no more of it */
	if
	:: true
	:: goto over
	fi;
	woken = 0;
again:	/* dep_collect_try() */
	seen = 0;
	/* dep_ready_may_ask() */
	if
	:: !woken && !HAS_WORK && !mtx -> goto look
	:: else
	fi;
	if
	:: MIN(me) == 1 || leaves -> goto collect
	:: else
	fi;

	/* dep_ready_count(): asks the items, and puts back those with an event. */
	d_step {
		!mtx -> mtx = 1;
		i = 0;
		do
		:: i < ITEMS ->
			off[i] = listed[i];
			if
			:: listed[i] -> unlist(i)
			:: else
			fi;
			i++
		:: else -> i = 0; break
		od
	}
	d_step {
		n = 0;
		do
		:: i < ITEMS ->
			if
			:: off[i] && live[i] -> list(i); n++
			:: else
			fi;
			off[i] = 0;
			i++
		:: else -> i = 0; break
		od;
		if
		:: FAULT == 15 -> mtx = 0
		:: else -> end_pass()
		fi;
		seen = n;
		n = 0
	}
	if
	:: seen < MIN(me) -> goto look
	:: else -> seen = 0
	fi;

collect: skip;	/* collect_once(): the first ones that there is room for */
	d_step {
		!mtx -> mtx = 1;
		back(me);
		i = 0;
		room = ROOM(me);
		do
		:: i < ITEMS ->
			if
			:: listed[i] && room > 0 ->
				off[i] = 1;
				room--;
				unlist(i)
			:: else
			fi;
			i++
		:: else -> i = 0; room = 0; break
		od
	}
#ifdef ENDS
	if
	:: !ended -> ended = 1; leaves = 1; fails = 1
	:: true
	fi;
#endif
	d_step {
		n = 0;
		do
		:: i < ITEMS ->
			if
			:: off[i] && live[i] ->
				if
				:: fails -> list(i); off[i] = 0
				:: else ->
					n++;
#ifdef LEVEL
					list(i)
#else
					live[i] = 0
#endif
				fi
			:: else -> off[i] = 0
			fi;
			i++
		:: else -> i = 0; break
		od;
		end_pass()
	}
	if
	:: fails && n == 0 -> goto nothing
	:: leaves && n == 0 -> goto nothing
	:: !leaves && n == 0 -> n = 0; goto look
	:: else
	fi;
	/* The program reads what it got. */
	d_step {
		n = 0;
		do
		:: i < ITEMS ->
			if
			:: off[i] -> live[i] = 0; off[i] = 0
			:: else
			fi;
			i++
		:: else -> i = 0; break
		od
	}
	if
	:: !leaves -> goto wait
	:: leaves -> goto over
	fi;

look:	/* collect_look() */
	if
	:: leaves -> goto nothing
	:: else
	fi;
	atomic {
		if
#ifdef ENDS
		:: !ended -> ended = 1; leaves = 1; woken = 0; goto again
#endif
		:: FAULT != 9 && nr_ready != seen -> woken = 0; goto again
		:: FAULT == 9 || nr_ready == seen -> queue(me)
		fi
	}
	/* dep_waiting_sleep() */
end_sleep:
	atomic {
		if
		:: !queued[me] -> woken = 1
#ifdef ENDS
		:: queued[me] && !ended -> ended = 1; leaves = 1; woken = 0
#endif
		fi
	}
#ifdef STAYS
	if
	:: woken && !stays ->
		stays = 1;
end_stays:	false
	:: true
	fi;
#endif
	/* collect_back() */
	d_step {
		if
		:: MIN(me) > 1 && FAULT != 11 -> back(me)
		:: else
		fi
	}
	goto again;

nothing: skip;
	d_step {
		if
		:: FAULT != 3 -> back(me)
		:: else
		fi
	}
	d_step {
		if
		:: FAULT != 2 && HAS_WORK && LACKS_ROOM -> wake()
		:: else
		fi
	}
over:	assert(!queued[me] && !kicked[me])
}

#if ITEMS == 3
#define READY (live[0] + live[1] + live[2])
#else
#define READY (live[0] + live[1])
#endif

active proctype monitor() {
end:	timeout ->
	assert(stays || (!awaited && !coming));
	assert(!queued[0] || !READY);
	assert(!queued[1] || !READY);
	assert(!queued[2] || READY < 2);
}

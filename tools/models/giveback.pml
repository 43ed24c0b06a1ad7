/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slot sets as readers (kmod/core/holds.c, kmod/ring/ring.c): the last event
 * of a closed fd is handed out when no consumer of the ring can have an earlier
 * one in use, and it is handed out.  ring.pml has the exchange itself, and
 * reader.pml the threads that wait by a call.
 *
 * One fd, whose keys are trusted, gets two events and is closed.  Two consumers
 * take from the ring.  Who has got an event uses the object, until it gives its
 * slot set back, by an exchange or by a call that names it; who gets the last
 * event frees the object.  With ENDS one of them ends after its first event, and
 * its slot set is reclaimed.
 *
 * Each access to memory that both sides use is a step, between which the others
 * run.  The barriers in the code enforce the order that the steps have here.
 * The clock stands still if nothing was posted: its numbers are only compared.
 * When nothing moves any more, and no check is due, the object has been freed.
 *
 * SPINNERS is the number of consumers that only look at the word; the others
 * sleep when it is 0.  FAULT plants a fault that the search must find:
 *  1	a slot set that was taken is not out
 *  2	a store that clears the slot of a closed item is seen late, as without
 *	the barrier behind it
 *  3	the span does not grow by a later slot set
 *  4	a call that names the slot set of its caller does not free it
 *  5	what a slot set has held back stays where it is when that is freed
 *  6	nobody asks consumers that spin for what they have given back
 *  7	a pass hands out the last event without looking
 *  8	a consumer names its slot set before it has dealt with its events
 *  9	a slot set that was reclaimed still counts as out
 * 10	a post does not say that its slot set has an event that counts
 * 11	a close waits for a slot set that is not out
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef SPINNERS
#define SPINNERS 0
#endif

#define CONSUMERS	2
#define SETS		(CONSUMERS + 1)
#ifndef EVENTS
#define EVENTS		2
#endif
#define NOBODY		7

#define EVENT		1
#define LAST		2

/* The word, which is written in one step each time. */
byte word_set;
bit word_count;
bit word_ask;

/* Slot sets of one slot each. */
byte slot[SETS];

/* The kernel's own, guarded by lock. */
bit lock;
byte want_set;
bit want_count;
bit want_ask;
bit asleep[CONSUMERS];
/* The item: its slot is in the set being filled; on the ready list; its span. */
bit pending;
bit listed;
bit closed;
byte first = NOBODY, last;
/* dep_readers: the numbers of what is out, or 0 */
byte out[SETS];
byte clock = 1;
bit posted;
/* The closed item: the slot set that holds it back; in dep_readers.freed */
byte held = NOBODY;
bit let_go;
bit owed;

/* For the program. */
bit freed;
byte given = NOBODY;

#if FAULT == 2
byte late = NOBODY;

active proctype store()
{
end:	d_step { late != NOBODY -> slot[late] = slot[late] & LAST }
}
#endif

#define word_is(s, c, a) (word_set == s && word_count == c && word_ask == a)
#define as_expected	word_is(want_set, want_count, want_ask)
#define in_span(s)	(out[s] && first <= out[s] && out[s] <= last)

inline acquire() { atomic { !lock -> lock = 1 } }

/* readers_free_set() */
inline free_set(s)
{
	if
	:: out[s] ->
		out[s] = 0;
		if
		:: held == s && FAULT != 5 ->
			held = NOBODY;
			let_go = 1;
			owed = 1
		:: else
		fi
	:: else
	fi
}

/* dep_ring_switch(), dep_reader_switch(): the word names another set. */
inline switch_step()
{
	free_set(want_set);
	if
	:: posted && FAULT != 1 -> out[want_set] = clock
	:: else
	fi;
	if
	:: posted -> clock++
	:: else
	fi;
	free_set(word_set);
	posted = 0;
	want_set = word_set;
	want_count = 0;
	want_ask = word_ask;
	pending = 0
}

/* dep_ring_sync() */
inline sync_step()
{
	if
	:: !as_expected -> switch_step()
	:: else
	fi
}

inline sync() { d_step { sync_step() } }

/* dep_ring_flag() */
inline flag()
{
	sync();
	if
	:: want_ask -> skip
	:: else ->
		word_ask = 1;
		d_step {
			if
			:: word_is(want_set, want_count, 1) -> want_ask = 1
			:: else -> switch_step()
			fi
		}
	fi
}

/* One try of dep_ring_append(): the word is as expected, or was. */
inline try(k)
{
	if
	:: done || want_count -> skip
	:: else ->
		slot[want_set] = k;
		d_step {
			if
			:: as_expected ->
				word_count = 1;
				want_count = 1;
				pending = 1;
				done = 1
			:: else -> switch_step()
			fi
		}
	fi
}

/* ring_put_item(), with the lock held; what finds no slot is listed */
inline post(k)
{
	done = 0;
	sync();
	if
	:: pending ->
		slot[want_set] = slot[want_set] | k;
		d_step {
			sync_step();
			done = pending
		}
	:: else
	fi;
	try(k);
	try(k);
	if
	:: done && k == EVENT ->
		/* dep_reader_post() */
		d_step {
			if
			:: FAULT != 3 || first == NOBODY -> last = clock
			:: else
			fi;
			if
			:: first == NOBODY -> first = clock
			:: else
			fi;
			posted = (FAULT != 10)
		}
	:: done && k == LAST -> skip
	:: else ->
		listed = 1;
		flag()
	fi
}

/* readers_find() */
inline find()
{
	if
	:: in_span(0) -> who = 0
	:: !in_span(0) && in_span(1) -> who = 1
	:: !in_span(0) && !in_span(1) && in_span(2) -> who = 2
	:: else -> who = NOBODY
	fi
}

/* One sleeper is woken, if there was nothing for it before. */
inline wake()
{
	d_step {
		if
		:: idle && asleep[0] -> asleep[0] = 0
		:: idle && !asleep[0] && asleep[1] -> asleep[1] = 0
		:: else
		fi
	}
}

/* dep_readers_list_freed() */
inline list_freed()
{
	if
	:: let_go ->
		let_go = 0;
		listed = 1;
		flag()
	:: else
	fi
}

/* ring_forget(): the slot stays, without events; other fds may have some, too */
inline forget()
{
	sync();
	if
	:: pending ->
#if FAULT == 2
		late = want_set;
#else
		slot[want_set] = 0;
#endif
		pending = 0;
		if
		:: skip
		:: d_step {
			/* the end of ring_forget() */
			if
			:: as_expected -> word_count = 0; want_count = 0
			:: else -> switch_step()
			fi
		   }
		fi
	:: else
	fi
}

/* dep_item_unhook(), dep_item_close() */
inline close_item()
{
	listed = 0;
	forget();
	closed = 1;
	/* A pass would do this, too. */
	d_step {
		sync_step();
		find()
	}
#if FAULT == 11
	who = (first == NOBODY -> NOBODY : 0);
#endif
	if
	:: who != NOBODY -> held = who
	:: else ->
		listed = 1;
		flag()
	fi
}

active proctype program()
{
	byte n, who;
	bit done, idle;

	for (n : 1 .. EVENTS) {
		acquire();
		idle = !(want_count && as_expected) && !listed;
		post(EVENT);
		wake();
		lock = 0
	}
	acquire();
	idle = !(want_count && as_expected) && !listed;
	close_item();
	wake();
	lock = 0
}

/* relay_serve() */
active proctype relay()
{
	bit idle = 1;

end:	do
	:: owed ->
		acquire();
		owed = 0;
		list_freed();
		wake();
		lock = 0
	od
}

/* readers_check(): time passes */
active proctype check()
{
end:	do
	:: timeout && held != NOBODY && !word_ask && FAULT != 6 ->
		acquire();
		flag();
		lock = 0
	od
}

/* A pass, with the lock held. */
inline pass()
{
	d_step {
		sync_step();
		if
		:: want_ask -> word_ask = 0; want_ask = 0
		:: else
		fi
	};
	if
	:: !listed -> skip
	:: listed && !closed ->
		listed = 0;
		post(EVENT)
	:: listed && closed ->
		listed = 0;
		find();
#if FAULT == 7
		who = NOBODY;
#endif
		if
		:: who != NOBODY -> held = who
		:: else -> post(LAST)
		fi
	fi;
	if
	:: listed -> flag()
	:: else
	fi
}

/*
 * DEVEPOLL_RING_WAIT with DEVEPOLL_WAIT_SPARE, by which a consumer comes back:
 * ring_come_back() and wait_for_ring().  Who spins has a timeout of 0.
 */
inline ring_wait()
{
	acquire();
	sync();
	d_step {
		if
		:: FAULT != 4 -> free_set(spare)
		:: else
		fi
	};
	list_freed();
	lock = 0;
	asked = 0;
	acquire();
	do
	:: sync();
	   if
	   :: listed && !asked -> pass(); asked = 1
	   :: (!listed || asked) && (want_count || me < SPINNERS) -> break
	   :: else ->
		if
		:: listed -> skip
		:: else ->
			d_step {
				asleep[me] = 1;
				lock = 0
			};
			!asleep[me];
			acquire()
		fi;
		asked = 0
	   fi
	od;
	/* dep_ring_end_call() */
	if
	:: listed -> flag()
	:: else
	fi;
	lock = 0
}

proctype consumer(byte me; bit ends)
{
	byte spare = me + 1, old, k, who;
	bit n, asks, asked, done;

end:	do
	:: word_count || word_ask ->
		/* Another may have been faster: then there is nothing. */
		d_step {
			old = word_set;
			n = word_count;
			asks = word_ask;
			word_set = spare;
			word_count = 0;
			word_ask = 0;
			spare = old;
			k = 0
		};
		if
		:: n -> k = slot[spare]
		:: else
		fi;
#if FAULT == 8
		if
		:: k == EVENT -> ring_wait()
		:: else
		fi;
#endif
		assert(!k || !freed);
		if
		:: k == LAST -> freed = 1
		:: k == EVENT && ends -> given = spare; break
		:: else
		fi;
		if
		:: asks -> ring_wait()
		:: else
		fi
	:: me >= SPINNERS && !word_count && !word_ask -> ring_wait()
	od
}

/* DEVEPOLL_RING_RECLAIM, when the program finds that a consumer has ended */
active proctype reclaim()
{
end:	given != NOBODY;
	acquire();
	sync();
	d_step {
		if
		:: FAULT != 9 -> free_set(given)
		:: else
		fi
	};
	lock = 0
}

init {
	atomic {
		run consumer(0, 0);
#ifdef ENDS
		run consumer(1, 1)
#else
		run consumer(1, 0)
#endif
	}
	/* Nothing moves any more. */
	timeout && (held == NOBODY || word_ask || FAULT == 6) -> assert(freed)
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the preload library keeps a ring of io_uring mapped between two looks:
 * lib/preload/uring_view.c, with one slot.
 *
 * One thread looks twice at the ring that number 0 names, another one looks once
 * at that of number 1, which shares the slot.  At the same time the program
 * closes number 0, and another thread creates a ring that gets this number.
 * Nobody uses a ring that is not mapped, each mapping is unmapped once, and no
 * look that begins after the close has returned, or after the new ring was
 * created, sees the old one.  At the end the old ring is not mapped, and of the
 * others only the one that the slot has.
 *
 * FAULT plants a fault that the search must find:
 *  1	nobody drops a ring after the system call that closes its number
 *  2	a look keeps its ring although the count of closes has changed
 *  3	a look reads the count again before it writes the number
 *  4	a close does not count
 *  5	a close leaves a ring that a look has just now
 *  6	a look returns its ring without an exchange
 *  7	a look does not take the slot for itself
 *  8	a close does not try again if the slot has become idle meanwhile
 */
#ifndef FAULT
#define FAULT 0
#endif

#define OLD	1
#define OTHER	2
#define NEW	3

/* The ring that each number names */
byte names[2];
/* How often each ring is mapped */
byte mapped[4];

/* struct kept; these are the values of its state. */
mtype = { NOT, IDLE, BUSY, DROPPED };
mtype state = NOT;
byte fd;
byte closes;
byte view;

bit closed, created;
byte ended;

/* kept_goes() */
inline goes(from, to)
{
	atomic {
		went = state == from;
		if
		:: went -> state = to
		:: else
		fi
	}
}

inline unmap(ring)
{
	d_step {
		assert(mapped[ring]);
		mapped[ring]--
	}
}

/* kept_return() */
inline give_back()
{
#if FAULT == 6
	went = state != DROPPED;
	if
	:: went -> state = IDLE
	:: else
	fi;
#else
	goes(BUSY, IDLE);
#endif
	if
	:: went
	:: else ->
		unmap(view);
		state = NOT
	fi
}

/* devepoll_uring_view_drop() of number 0, and kept_drop() with what it calls */
inline drop()
{
#if FAULT != 4
	closes++;
#endif
	do
	:: fd != 0 -> break
	:: else ->
		if
		:: state == NOT || state == DROPPED -> break
		:: else
		fi;
		goes(IDLE, DROPPED);
		if
		:: went ->
			unmap(view);
			state = NOT;
			break
		:: else
		fi;
#if FAULT == 5
		break;
#endif
		goes(BUSY, DROPPED);
		if
		:: went -> break
		:: else
		fi;
#if FAULT == 8
		break;
#endif
	od
}

/* open_kept(); it need not believe what it finds. */
inline open_kept(number)
{
#if FAULT == 7
	went = state == IDLE;
#else
	goes(IDLE, BUSY);
#endif
	if
	:: went && fd == number ->
		ring = view;
		kept = 1
	:: went ->
		state = DROPPED;
		give_back()
	:: !went
	fi
}

/* keep() */
inline keep(number)
{
	goes(NOT, BUSY);
	if
	:: went ->
		kept = 1;
		view = ring;
#if FAULT == 3
		changed = closes != count;
		fd = number;
#else
		fd = number;
		changed = closes != count;
#endif
		if
		:: changed && FAULT != 2 -> state = DROPPED
		:: else
		fi
	:: else
	fi
}

/* devepoll_uring_view_open() and devepoll_uring_view_close() */
proctype looker(byte number, looks)
{
	bit went, kept, changed, late;
	byte ring, count, look;

	for (look : 1 .. looks) {
		ring = 0;
		kept = 0;
		late = closed || created;
		open_kept(number);
		if
		:: !kept ->
			count = closes;
			atomic {
				ring = names[number];
				mapped[ring]++
			};
			if
			:: ring -> keep(number)
			:: else
			fi
		:: else
		fi;
		if
		:: ring ->
			assert(mapped[ring]);
			assert(ring != OLD || !late);
			if
			:: kept -> give_back()
			:: else -> unmap(ring)
			fi
		:: else
		fi
	}
	ended++
}

proctype closer()
{
	bit went;

	drop();
	names[0] = 0;
#if FAULT != 1
	drop();
#endif
	closed = 1;
	ended++
}

proctype creator()
{
	bit went;

	atomic { !names[0] -> names[0] = NEW };
#if FAULT != 1
	drop();
#endif
	created = 1;
	ended++
}

init {
	atomic {
		names[0] = OLD;
		names[1] = OTHER;
		run closer();
		run creator();
		run looker(1, 1);
		run looker(0, 2)
	};
	(ended == 4);
	assert(state == NOT || state == IDLE);
	assert(!mapped[OLD]);
	assert(mapped[OTHER] + mapped[NEW] == (state == IDLE));
	assert(state == NOT || mapped[view])
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readers (kmod/core/holds.c): the last event of a closed fd is handed out
 * when no thread can have an earlier one in use, and it is handed out.
 *
 * Three threads wait on a set with one fd, whose keys are trusted, so that its
 * file may be closed while a pass writes its event.  The fd gets two events and
 * is closed.  A thread that has got an event uses the object; the thread that
 * gets the last event frees it.  One thread ends after its first event, instead
 * of waiting again, and a check finds that out.
 *
 * "Nobody sleeps for ever" is the end state: who sleeps while the object is not
 * freed, with nothing on the list, makes it an invalid one.
 *
 * Planted faults, which must be found, by FAULT:
 *  1  a thread that took an event does not become a reader
 *  2  it becomes one after it has let go of M
 *  3  the span of an item does not grow by a later hand-out
 *  4  what a thread held back is not listed when it comes back
 *  5  a pass does not look for readers, but the close does
 *  6  what a thread held back is listed, and not looked at again
 *  7  nobody looks for threads that have ended
 *  8  a call that takes nothing leaves its caller a reader
 *  9  a thread counts as back when its call returns
 */
#ifndef FAULT
#define FAULT 0
#endif

#define THREADS 3
#define NOBODY 255

/* L is an atomic step; M is this. */
bool mutex;

byte clock;
/* out[t]: number of what thread t has in use, or 0 */
byte out[THREADS];
bool ended[THREADS];
/* the item */
bool closed, pending, listed;
byte first = NOBODY, last;
/* whose list the closed item is in */
byte held = NOBODY;
bool passed;	/* it was held back once */
bool freed;

/* A reader whose number is in the span, or NOBODY. */
inline find(who) {
	who = NOBODY;
	if
	:: first != NOBODY && out[0] >= first && out[0] <= last && out[0] ->
		who = 0
	:: else -> if
		:: first != NOBODY && out[1] >= first && out[1] <= last &&
		   out[1] -> who = 1
		:: else -> if
			:: first != NOBODY && out[2] >= first &&
			   out[2] <= last && out[2] -> who = 2
			:: else
			fi
		fi
	fi
}

inline leave(t) {
	out[t] = 0;
	if
	:: held == t ->
		held = NOBODY;
		if
		:: FAULT != 4 -> listed = true
		:: else
		fi
	:: else
	fi
}

proctype thread(byte t; bool ends) {
	byte number, who;
	bool event, told;

	do
	:: atomic {
		/* comes back */
		leave(t)
	   }
	   /* sleeps: a waiter that found nothing */
	   if
	   :: freed -> break
	   :: listed
	   fi;
	   atomic { !mutex -> mutex = true; clock++; number = clock }
	   event = false;
	   told = false;
	   atomic {
		if
		:: listed && !closed ->
			listed = false;
			event = pending;
			pending = false;
			if
			:: event && (FAULT != 3 || first == NOBODY) ->
				if
				:: first == NOBODY -> first = number
				:: else
				fi;
				last = number
			:: else
			fi
		:: listed && closed ->
			listed = false;
			find(who);
			if
			:: FAULT == 5 || (FAULT == 6 && passed) -> who = NOBODY
			:: else
			fi;
			if
			:: who != NOBODY -> held = who; passed = true
			:: else -> told = true
			fi
		:: else
		fi
	   }
	   /* It writes the event; the file may be closed. */
	   atomic {
		if
		:: FAULT == 2 -> mutex = false
		:: else
		fi
	   }
	   atomic {
		if
		:: (event || FAULT == 8) && FAULT != 1 -> out[t] = number
		:: else
		fi;
		if
		:: FAULT != 2 -> mutex = false
		:: else
		fi;
		if
		:: FAULT == 9 -> leave(t)
		:: else
		fi
	   }
	   if
	   :: FAULT == 8 && !event && !told ->
		/* sleeps on in the same call */
		if
		:: freed -> break
		:: listed
		fi
	   :: else
	   fi;
	   if
	   :: event -> assert(!freed)
	   :: else
	   fi;
	   if
	   :: told -> assert(!freed); freed = true
	   :: else
	   fi;
	   if
	   :: event && ends -> ended[t] = true; break
	   :: else
	   fi
	od
}

/* Looks for threads that have ended. */
proctype check(byte t) {
	end: atomic { ended[t] && FAULT != 7 -> leave(t) }
}

proctype program() {
	byte nr = 0, who;

	do
	:: nr < 2 -> atomic { pending = true; listed = true; nr++ }
	:: atomic {
		closed = true;
		pending = false;
		listed = false;
		find(who);
		if
		:: who != NOBODY -> held = who; passed = true
		:: else -> listed = true
		fi
	   }
	   break
	od
}

init {
	atomic {
		run thread(0, true);
		run thread(1, false);
		run thread(2, false);
		run check(0);
		run program()
	}
}

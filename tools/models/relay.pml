/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a set gets into a relay, is served, and ends: kmod/core/relay.c, relay.h
 * and service.c, device_poll() and device_release() in kmod/device.c, and the
 * unload of the module.
 *
 * Files wake set 0, and set 1 if there are two, on the processor of the relay.
 * Each wake-up has the relay wake the pollers of the set, or a waiter
 * (dep_instance.owed), and may make the timer check on a waiter.  A poller waits
 * until it has seen all events of its set, or gives up, set 0 being the one
 * where it may.  Then the set is closed: first nothing adds it to a relay any
 * more, then it leaves the relay, then it is freed.  After the last one, the
 * module is unloaded.  Nobody touches a set that was freed, nothing of the module
 * runs once it is unloaded, no poller sleeps for ever, and every close ends.
 *
 * The interrupt, the timer, the worker and the helper of the relay run at the
 * same time, which on one processor they do only in part.  What is done under
 * the lock of the relay is one step, since everything there has that lock.
 * Persons are left out, but a set may have to wait for its person's debt, and
 * times: each of the four may stop, or not, wherever its time may be used up.
 *
 * Without a further name, persons may owe, and a poller waits until it has seen
 * all events.  With LATE, it may give up, the timer checks on waiters, and the
 * interrupt serves all sets itself; with OWE, the relay wakes waiters, commands
 * among them; with HELP, there is the helper, too.
 *
 * FAULT plants a fault that the search must find:
 *  1	a set leaves without waiting for the relay that serves it
 *  2	who takes a set counts itself after it has dropped the relay's lock, and
 *	the close looks at this count alone
 *  3	who serves a set lets go of it before it wakes the pollers
 *  4	a set that is being served can be added again only after its pollers were
 *	woken
 *  5	the interrupt is over only a step after it has looked for sets
 *  6	a set that was served is not looked for in the relay again
 *  7	the close does not look whether the timer has the set (LATE)
 *  8	the unload ends the worker's queue before the interrupt and the timer
 *  9	the unload does not cancel the timer
 * 10	the last one to serve a set wakes the close before it has let go
 * 11	the timer does not look at sets whose person owes
 * 12	a poller tells that it is there before it is queued
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef SETS
#define SETS 1
#endif
#ifndef EVENTS
#define EVENTS 2
#endif

bit loaded = 1;

/* The relay.  Where a set is: dep_instance.in_relay. */
mtype = { NOWHERE, FRESH, REST, OWING };
mtype place[SETS] = NOWHERE;
bit in_late[SETS];
bit raised, working, ticking;

/* What the kernel has of it: irq_work, hrtimer and works. */
bit irq_pending, irq_busy;
bit timer_set, timer_busy;
bit work_pending, work_busy;
bit help_pending, help_busy;
bit queue_gone;

/* The sets: dep_instance.lock, .relay, .late, .owed, .polled, .serving */
bit lock[SETS];
bit relay[SETS];
bit late[SETS];
bit owed[SETS];
bit polled[SETS];
byte serving[SETS];
bit there[SETS];
/* An item is on the watch of a file, and a wake function uses it. */
bit hooked[SETS];
bit waking[SETS];
/* What a poller looks for, and whether it sleeps, and is in the queue. */
byte events[SETS];
bit queued[SETS];
bit asleep[SETS];
bit polls[SETS];
/* The close sleeps until nobody serves the set. */
bit closing[SETS];

byte freed;

#if SETS > 1
#define any(x)	(place[0] == x || place[1] == x)
#define any_late (in_late[0] || in_late[1])
#else
#define any(x)	(place[0] == x)
#define any_late (in_late[0])
#endif

inline acquire(s) { atomic { !lock[s] -> assert(there[s]); lock[s] = 1 } }
inline release(s) { assert(there[s]); lock[s] = 0 }

inline queue_work() { d_step { assert(loaded && !queue_gone); work_pending = 1 } }

/* dep_instance_relay(), locked */
inline add(s)
{
	if
	:: relay[s]
	:: else ->
		d_step {
			relay[s] = 1;
			assert(place[s] == NOWHERE);
			place[s] = FRESH;
			had = raised;
			raised = 1
		};
		if
		:: had
		:: else -> irq_pending = 1
		fi
	fi
}

/* dep_relay_watch(), locked */
inline watch(s)
{
	d_step {
		late[s] = 1;
		assert(!in_late[s]);
		in_late[s] = 1;
		had = ticking;
		ticking = 1
	};
	if
	:: had
	:: else -> timer_set = 1
	fi
}

/* dep_relay_served(): the set may be gone with the first step. */
inline served(s)
{
#if FAULT == 10
	last = (serving[s] == 1);
	if
	:: last -> closing[s] = 0
	:: else
	fi;
	serving[s]--;
#else
	atomic { serving[s]--; last = !serving[s] };
	if
	:: last -> closing[s] = 0
	:: else
	fi;
#endif
	last = 0
}

/* wake_up() of the queue of pollers */
inline wake_pollers(s)
{
	d_step {
		assert(there[s]);
		if
		:: queued[s] ->
			queued[s] = 0;
			asleep[s] = 0
		:: else
		fi
	}
}

/* relay_serve() */
inline serve(s)
{
	atomic {
		acquire(s);
		owed[s] = 0;
#if FAULT != 4
		relay[s] = 0
#endif
	};
	/* relay_wake_commands(), if there are any */
	if
#ifdef OWE
	:: release(s); acquire(s)
#endif
	:: true
	fi;
	if
	:: owed[s] -> add(s)
	:: else
	fi;
	atomic {
		was = polled[s];
		polled[s] = queued[s];
		release(s)
	};
#if FAULT == 3
	served(s);
#endif
	if
	:: was -> wake_pollers(s)
	:: else
	fi;
#if FAULT == 4
	atomic { acquire(s); relay[s] = 0; release(s) };
#endif
	was = 0
#if FAULT != 3
	;
	/* relay_settle() */
	assert(there[s]);
	served(s)
#endif
}

/* relay_take_from(): s is SETS if there is none. */
inline take(s, from)
{
	d_step {
		s = 0;
		do
		:: s < SETS && place[s] != from -> s++
		:: else -> break
		od;
		if
		:: s < SETS ->
			assert(there[s]);
			place[s] = NOWHERE;
#if FAULT != 2
			serving[s]++
#endif
		:: else
		fi
	}
#if FAULT == 2
	;
	if
	:: s < SETS -> serving[s]++
	:: else
	fi
#endif
}

/* relay_interrupt() */
proctype interrupt()
{
	bit had, was, last, work;
	byte s;

end:	do
	:: atomic {
			irq_pending ->
			assert(loaded);
			irq_pending = 0;
			irq_busy = 1
		};
		do
		:: take(s, FRESH);
			if
			:: s == SETS -> break
			:: s < SETS -> serve(s)
#ifndef LATE
			:: s < SETS ->
				/* relay_put_off(), and relay_settle() */
				d_step {
					assert(there[s]);
					place[s] = REST
				};
				served(s)
#endif
			fi
#ifndef LATE
		/* Its time is used up. */
		:: break
#endif
		od;
		s = 0;
#if FAULT == 5
		work = any(FRESH);
#endif
		d_step {
			raised = 0;
#if FAULT == 5
			if
			:: work
#else
			if
			:: skip
#endif
			->
				do
				:: s < SETS && place[s] == FRESH ->
					place[s] = REST;
					s++
				:: s < SETS && place[s] != FRESH -> s++
				:: s == SETS -> break
				od
#if FAULT == 5
			:: else
#endif
			fi;
			s = 0;
			was = (any(REST) || any(OWING))
		};
		if
		:: was ->
			/* relay_call_worker() */
			d_step {
				work = (!working && any(REST));
				working = working | work;
				had = ticking;
				ticking = 1
			};
			if
			:: work -> queue_work()
			:: else
			fi;
			if
			:: had
			:: else -> timer_set = 1
			fi
		:: else
		fi;
		atomic { assert(loaded); had = 0; was = 0; work = 0; irq_busy = 0 }
	od
}

/* relay_serve_next(); s is SETS if there is none. */
inline serve_next()
{
	/* relay_first_lane(): a person may owe time. */
	if
	:: d_step {
		s = 0;
		do
		:: s < SETS && place[s] != REST -> s++
		:: else -> break
		od;
		if
		:: s < SETS -> place[s] = OWING
		:: else
		fi
	}
	:: true
	fi;
	take(s, REST);
	if
	:: s < SETS -> serve(s)
	:: else
	fi
}

/* relay_work() */
proctype worker()
{
	bit had, was, last;
	byte s;

end:	do
	:: atomic {
			work_pending ->
			assert(loaded);
			work_pending = 0;
			work_busy = 1
		};
		do
		:: serve_next();
			if
			:: s == SETS -> break
			:: else
			fi
		:: break
		od;
		s = 0;
		d_step { was = any(REST); working = was };
		if
		:: was -> queue_work()
		:: else
		fi;
		atomic { assert(loaded); was = 0; work_busy = 0 }
	od
}

#ifdef HELP
/* relay_help() */
proctype helper()
{
	bit had, was, last;
	byte s;

end:	do
	:: atomic {
			help_pending ->
			assert(loaded);
			help_pending = 0;
			help_busy = 1
		};
		do
		:: serve_next();
			if
			:: s == SETS -> break
			:: else
			fi
		:: break
		od;
		atomic { assert(loaded); s = 0; help_busy = 0 }
	od
}
#endif

/* late_look() */
inline late_look()
{
	acquire(s);
	/* Another waiter is woken, which may be a command. */
	if
	:: owed[s] = 1; add(s)
	:: true
	fi;
	/* Others sleep, and a waiter that was woken has not come. */
	if
	:: d_step { assert(!in_late[s]); in_late[s] = 1 }
	:: late[s] = 0
	fi;
	release(s);
	served(s)
}

/* late_tick() */
proctype timer()
{
	bit had, last, work, help, again;
	byte s;

end:	do
	:: atomic {
			timer_set ->
			assert(loaded);
			timer_set = 0;
			timer_busy = 1
		};
		/* late_needs_help() */
		if
#ifdef HELP
		:: any(REST) -> help = 1
#endif
		:: true
		fi;
		/* late_end_pauses(), and relay_wants_worker() */
		d_step {
			s = 0;
			do
			:: s < SETS && place[s] == OWING ->
				place[s] = REST;
				s++
			:: s < SETS && place[s] != OWING -> s++
			:: s == SETS -> break
			od;
			work = (!working && any(REST));
			working = working | work
		};
		do
		:: d_step {
			any_late ->
			s = 0;
			do
			:: s < SETS && !in_late[s] -> s++
			:: else -> break
			od;
			assert(there[s]);
			in_late[s] = 0;
			serving[s]++
		};
			late_look()
		:: break
		od;
		s = 0;
		d_step {
#if FAULT == 11
			again = (any_late || any(REST));
#else
			again = (any_late || any(REST) || any(OWING));
#endif
			ticking = again
		};
		if
		:: work -> queue_work()
		:: else
		fi;
		if
		:: help ->
			d_step { assert(!queue_gone); help_pending = 1 }
		:: else
		fi;
		/* HRTIMER_RESTART */
		atomic {
			assert(loaded);
			timer_set = timer_set | again;
			timer_busy = 0;
			work = 0;
			help = 0;
			again = 0
		}
	od
}

/* A file, whose wake function posts events to the set. */
proctype waker(byte s)
{
	bit had;
	byte n;

	for (n : 1 .. EVENTS) {
		atomic {
			if
			:: hooked[s] -> waking[s] = 1
			:: else -> goto out
			fi
		};
		atomic { acquire(s); events[s]++ };
		/* dep_instance_owe(), or a waiter is kicked while others sleep. */
		if
#ifdef OWE
		:: owed[s] = 1; add(s)
#endif
#ifdef LATE
		:: !late[s] -> watch(s)
#endif
		:: true
		fi;
		/* dep_instance_wake_pollers() */
		if
		:: polled[s] -> add(s)
		:: else
		fi;
		atomic { release(s); waking[s] = 0 }
	}
out:	skip
}

/* Somebody who polls the set: device_poll(), and then a sleep. */
proctype poller(byte s)
{
	byte seen;

	do
	:: seen == EVENTS -> break
	:: seen < EVENTS ->
#if FAULT != 12
		/* poll_wait() */
		atomic { queued[s] = 1; asleep[s] = 1 };
#endif
		atomic { acquire(s); polled[s] = 1; release(s) };
#if FAULT == 12
		atomic { queued[s] = 1; asleep[s] = 1 };
#endif
		/* dep_ready_poll() */
		if
		:: events[s] > seen ->
			/* It returns, and leaves the queue. */
			atomic { seen = events[s]; queued[s] = 0; asleep[s] = 0 }
		:: else ->
#ifdef LATE
			!asleep[s] || true;
#else
			!asleep[s];
#endif
			if
			:: asleep[s] -> break
			:: else
			fi
		fi
	od;
	/* It leaves the queue, and its reference on the file goes. */
	atomic { asleep[s] = 0; queued[s] = 0; polls[s] = 0 }
}

/* device_release() */
proctype closer(byte s)
{
	bit gone;

	!polls[s];
	/* dep_interest_clear(), which waits for wake functions */
	atomic { !waking[s] -> hooked[s] = 0 };
	/* dep_relay_leave() */
	do
	:: acquire(s);
		/* relay_forget(), and relay_unlist() for both places */
		d_step {
			if
			:: place[s] != NOWHERE ->
				place[s] = NOWHERE;
				relay[s] = 0
			:: else
			fi;
#if FAULT == 7
			late[s] = 0
#else
			if
			:: in_late[s] ->
				in_late[s] = 0;
				late[s] = 0
			:: else
			fi
#endif
		};
#if FAULT == 1
		gone = (!relay[s] && !late[s]);
#elif FAULT == 2
		gone = !serving[s];
#else
		gone = (!relay[s] && !late[s] && !serving[s]);
#endif
		release(s);
		if
		:: gone -> break
		:: else
		fi;
		/* wait_var_event() */
		closing[s] = 1;
		if
		:: !serving[s]
		:: else -> !closing[s]
		fi;
		closing[s] = 0;
#if FAULT == 6
		!serving[s];
		break
#endif
	od;
	/* dep_instance_free() */
	assert(!lock[s]);
	atomic { there[s] = 0; freed++ }
}

/* dep_service_exit() */
proctype unload()
{
	freed == SETS;
#if FAULT == 8
	!work_pending && !work_busy;
	queue_gone = 1;
#endif
	/* irq_work_sync() */
	!irq_pending && !irq_busy;
#if FAULT != 9
	/* hrtimer_cancel() */
	atomic { !timer_busy -> timer_set = 0 };
#endif
	/* destroy_workqueue() of both */
	!work_pending && !work_busy;
	queue_gone = 1;
	!help_pending && !help_busy;
	loaded = 0
}

init {
	byte s;

	atomic {
		for (s : 0 .. SETS - 1) {
			there[s] = 1;
			hooked[s] = 1;
			polls[s] = 1;
			run waker(s);
			run poller(s);
			run closer(s)
		}
		run interrupt();
		run worker();
#ifdef HELP
		run helper();
#endif
		run timer();
		run unload()
	}
}

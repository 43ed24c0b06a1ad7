/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The exchange of the ring: kmod/ring/ring.c and kmod/ring/ring_ioctl.c on the
 * one side, consumers as linux/devepoll.h describes them on the other.
 *
 * Each access to memory that both sides use is a step, between which the others
 * run.  The barriers in the code enforce the order that the steps have here.
 * A file has kinds of data, as bits; who finds an event of a kind reads it.
 * When nothing moves any more all data has been read; and at no moment do two
 * consumers own one slot set.
 *
 * SPINNERS is the number of consumers that only look at the word; the others
 * sleep when it is 0.  FAULT plants a fault that the search must find:
 *  1	the second try of a post stores the word instead of exchanging it
 *  2	an event that joins its slot does not look whether that was taken
 *  3	the word is exchanged before the slot is written
 *  4	a call sleeps without another look under the lock
 *  5	what finds no slot is listed, but the word does not say so
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef SPINNERS
#define SPINNERS 0
#endif

#define CONSUMERS	2
#define SETS		(CONSUMERS + 1)
#define FILES		2
#ifndef EVENTS
#define EVENTS 2
#endif
#define NOBODY		7

/* The word, which is written in one step each time. */
byte word_set;
bit word_count;
bit word_ask;

/* Slot sets of one slot each: whose it is, and its events. */
bit slot_file[SETS];
byte slot_bits[SETS];

/* What the files have. */
byte data[FILES];

/* The kernel's own, guarded by lock. */
bit lock;
byte want_set;
bit want_count;
bit want_ask;
/* dep_item.snapshot is dep_ring.gen, which bits stand for here. */
bit pending[FILES];
bit listed[FILES];
bit asleep[CONSUMERS];

/* For the check alone. */
byte owner[SETS];

#define word_is(s, c, a) (word_set == s && word_count == c && word_ask == a)
#define as_expected	word_is(want_set, want_count, want_ask)
#define nothing_listed	(!listed[0] && !listed[1])

inline acquire() { atomic { !lock -> lock = 1 } }

/* dep_ring_load(), and dep_ring_taken() if the word is not what was expected. */
inline sync_step()
{
	seen_set = word_set;
	seen_count = word_count;
	seen_ask = word_ask;
	if
	:: !as_expected ->
		want_set = seen_set;
		want_count = 0;
		want_ask = seen_ask;
		pending[0] = 0;
		pending[1] = 0
	:: else
	fi
}

inline sync() { d_step { sync_step() } }

inline posted(f)
{
	word_set = want_set;
	word_count = 1;
	word_ask = want_ask;
	want_count = 1;
	pending[f] = 1;
	done = 1
}

inline write_slot(f, k)
{
	d_step {
		slot_file[want_set] = f;
		slot_bits[want_set] = k
	}
}

inline compare_and_exchange(f)
{
	d_step {
		if
		:: word_is(seen_set, seen_count, seen_ask) -> posted(f)
		:: else
		fi
	}
}

/* One try of dep_ring_append(); @last: the second. */
inline try(f, k, last)
{
	if
	:: done || want_count -> skip
	:: else ->
#if FAULT != 3
		write_slot(f, k);
#endif
#if FAULT == 1
		if
		:: last -> d_step { posted(f) }
		:: else -> compare_and_exchange(f)
		fi;
#else
		compare_and_exchange(f);
#endif
		if
		:: done ->
#if FAULT == 3
			write_slot(f, k)
#else
			skip
#endif
		:: else ->
			d_step {
				seen_set = word_set;
				seen_count = word_count;
				seen_ask = word_ask;
				want_set = seen_set;
				want_count = 0;
				want_ask = seen_ask;
				pending[0] = 0;
		pending[1] = 0
			}
		fi
	fi
}

/* ring_flag() */
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
			:: else -> sync_step()
			fi
		}
	fi
}

/* ring_post() of event @k, with the lock held */
inline post(f, k)
{
	done = 0;
	sync();
	if
	:: pending[f] ->
		slot_bits[want_set] = slot_bits[want_set] | k;
#if FAULT == 2
		done = 1
#else
		d_step {
			sync_step();
			done = pending[f]
		}
#endif
	:: else
	fi;
	try(f, k, 0);
	try(f, k, 1);
	if
	:: done -> skip
	:: else ->
		listed[f] = 1;
#if FAULT != 5
		flag()
#endif
	fi
}

/* dep_instance_arrived(): one sleeper, if there was nothing for it before. */
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

/* Wake-ups, with a key and without. */
active proctype producer()
{
	byte seen_set, n, f, k;
	bit seen_count, seen_ask, done, idle;

	for (n : 1 .. EVENTS) {
		d_step { f = 0; k = 1 };
		if
		:: skip
		:: k = 2
		:: f = 1
		fi;
		data[f] = data[f] | k;
		acquire();
		/* dep_instance_has_work() */
		idle = !(want_count && as_expected) && nothing_listed;
		if
		:: post(f, k)
		:: f == 1 -> listed[f] = 1; flag()
		fi;
		wake();
		lock = 0
	}
}

/* A pass that posts; the mutex is left out, since the lock is held throughout */
inline ask_file(f)
{
	if
	:: listed[f] ->
		listed[f] = 0;
		if
		:: data[f] -> k = data[f]; post(f, k)
		:: else
		fi
	:: else
	fi
}

inline ask()
{
	acquire();
	sync();
	d_step {
		if
		:: word_is(seen_set, seen_count, seen_ask) && want_ask ->
			word_ask = 0;
			want_ask = 0
		:: else
		fi
	};
	ask_file(0);
	ask_file(1);
	if
	:: !nothing_listed -> flag()
	:: else
	fi;
	lock = 0
}

/* Reads what the slot says. */
inline read_slot()
{
	d_step {
		f = slot_file[spare];
		k = slot_bits[spare]
	};
	data[f] = data[f] & ~k
}

proctype consumer(byte me)
{
	byte seen_set, f, k, spare = me + 1, old;
	bit seen_count, seen_ask, done, n, asks;

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
			owner[spare] = NOBODY;
			spare = old;
			assert(owner[spare] == NOBODY);
			owner[spare] = me
		};
		if
		:: n -> read_slot()
		:: else
		fi;
		if
		:: asks -> ask()
		:: else
		fi
	:: me >= SPINNERS && !word_count && !word_ask ->
#if FAULT == 4
		sync();
		acquire();
#else
		acquire();
		sync();
#endif
		if
		:: !nothing_listed -> lock = 0; ask()
		:: nothing_listed && want_count -> lock = 0
		:: else ->
			d_step {
				asleep[me] = 1;
				lock = 0
			};
			!asleep[me]
		fi
	od
}

init {
	atomic {
		owner[0] = NOBODY;
		owner[1] = 0;
		owner[2] = 1;
		run consumer(0);
		run consumer(1)
	}
	/* Nothing moves any more. */
	timeout -> assert(!data[0] && !data[1])
}

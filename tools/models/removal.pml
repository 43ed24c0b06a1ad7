/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How items of one file end: kmod/files/table.c, waitqueue.c and wakeup.c,
 * kmod/core/item.c and host.c, and kmod/set/interest.c.  Banner of
 * kmod/core/instance.h, Removal paths.
 *
 * Set 0 and set 1 watch a file by item 0 and item 1.  At the same time the
 * program removes item 0, set 1 is closed, the last descriptor of the file is
 * closed, and the file wakes the watch.  Beside these, one more thing happens:
 * with ASK, a pass over set 0 takes a temporary reference on the file to poll
 * it; with ADD, a thread that has a reference adds item 2 to set 0; with
 * POLLFREE, the wait queue goes before the file.  With LONE, there is no set 1
 * and no item 1: item 0 is told of the close, and a waiter takes that last event
 * and frees the item, while item 2 is added.  Nobody touches what was freed,
 * nothing is freed twice, and at the end all is gone.
 *
 * Watch 0 lies in the host of item 0, and watch 1 in that of item 2, which may
 * have no room for it.
 *
 * Each access without a lock is a step.  FAULT plants a fault that the search
 * must find:
 *  1	who unhooks an item does not look whether another has
 *  2	the watch leaves the table before it leaves the wait queue
 *  3	an item is freed without waiting for wake functions that use it (ADD)
 *  4	a temporary reference revives a file that is being released (ASK)
 *  5	a temporary reference is taken after the set was unlocked (ASK)
 *  6	the hook frees the watch although an item of another is on it
 *  7	a set is freed though it was seen empty without its lock
 *  8	a file is added without a reference on it (ADD)
 *  9	an entry is taken off a wait queue outside of RCU (POLLFREE)
 * 10	the entry is given back before it has left the queue (POLLFREE)
 * 11	an item takes its host along although others are on the watch in it
 * 12	the hook tells of a close, but not that the host is shared (LONE)
 * 13	who joins a watch does not tell that its host is shared (LONE)
 * 14	a watch takes its host along although the item in it is in use (LONE)
 * 15	the hook frees items before it has ended the watch in one of them (LONE)
 * 16	a pass that has dropped its reference does not look its item up (ASK)
 */
#ifdef LONE
#define ADD
#endif
#ifndef FAULT
#define FAULT 0
#endif

#define ITEMS	3
#define NONE	9
#define set_of(i)	(i == 1 -> 1 : 0)
#define host_of(i)	(i == 2 -> 1 : 0)
#define is_watch(x)	(watch_there[x] && host_there[x])
#define is_item(i)	(item_there[i] && (!hosted[i] || host_there[host_of(i)]))

/* Locks: the banner's numbers 1 (of set 0), 3, 4, 5 and 6. */
bit M, B, H, W, L[2];

byte file_count = 1;
bit file_gone;
bit head_gone;

/* Watch 0 is there at first; watch 1 is what is added. */
bit watch_there[2];
bit queued[2];		/* its entry is in the wait queue */
bit head_known[2];	/* dep_wait.head */
byte nr_items[2];
byte table = 0;		/* the watch that the bucket has */

/* A host is there, and how many share it: dep_watch.users. */
bit host_there[2];
byte users[2];

bit item_there[ITEMS];
bit hosted[ITEMS];
bit closed;		/* item 0 has a last event */
bit hooked[ITEMS];
byte listed_on[ITEMS];	/* the watch on whose list it is */
byte watch_of[ITEMS];

bit set_there[2];
byte nr_hooked[2];

/* Who reads under RCU. */
bit reading[5];
byte running = 0;

#define lock(l)		atomic { !l -> l = 1 }
#define unlock(l)	l = 0
#define lock_set(s)	atomic { !L[s] -> L[s] = 1; assert(set_there[s]) }
#define lock_head	atomic { !H -> assert(!head_gone); H = 1 }

/* dep_item_unhook(), the set locked */
inline unhook(i)
{
	d_step {
		assert(is_item(i));
#if FAULT == 1
		mine = 1;
#else
		mine = hooked[i];
#endif
		if
		:: mine -> hooked[i] = 0; nr_hooked[set_of(i)]--
		:: else
		fi
	}
}

/* One of those who share a host leaves it. */
inline leave(h)
{
	d_step {
		assert(host_there[h] && users[h]);
		users[h]--;
		host_there[h] = (users[h] != 0)
	}
}

/* dep_item_free() */
inline free_item(i)
{
	d_step {
		assert(is_item(i));
		item_there[i] = 0;
#if FAULT == 11
		alone = 1;
#else
		alone = !users[host_of(i)]
#endif
	};
	if
	:: hosted[i] && alone -> host_there[host_of(i)] = 0
	:: hosted[i] && !alone -> leave(host_of(i))
	:: else
	fi
}

/* watch_end() */
inline free_watch(x)
{
	d_step {
		assert(is_watch(x) && !queued[x]);
		watch_there[x] = 0;
		alone = !users[x]
	};
	if
#if FAULT == 14
	:: 1 -> host_there[x] = 0
#else
	:: alone -> skip
	:: !alone -> leave(x)
#endif
	fi
}

/* dep_host_share(), under B */
inline share(x)
{
	d_step {
		assert(is_watch(x));
		if
		:: !users[x] -> users[x] = 2
		:: else
		fi
	}
}

/* wait_lock_head(); a spin lock is an RCU reader, too. */
inline disarm(x)
{
#if FAULT != 9
	reading[me] = 1;
#endif
	known = head_known[x];
	if
	:: known ->
		lock_head;
		queued[x] = 0;
		unlock(H)
	:: else
	fi;
#if FAULT != 9
	reading[me] = 0
#endif
}

/* dep_watch_detach() and dep_item_free() */
inline drop(i)
{
	lock(B);
	w = watch_of[i];
	if
	:: w != NONE ->
		assert(is_watch(w));
		nr_items[w]--;
		last = !nr_items[w];
		if
		:: last && table == w ->
#if FAULT == 2
			table = NONE;
			disarm(w)
#else
			disarm(w);
			table = NONE
#endif
		:: last && table != w
		:: !last ->
			lock(W);
			listed_on[i] = NONE;
			unlock(W);
#if FAULT != 3
			/* dep_watch_flush() */
			if
			:: table == w ->
				reading[me] = 1;
				known = head_known[w];
				if
				:: known -> lock_head; unlock(H)
				:: else
				fi;
				reading[me] = 0
			:: else
			fi
#else
			skip
#endif
		fi
	:: else -> last = 0
	fi;
	unlock(B);
	if
	:: last -> listed_on[i] = NONE; free_watch(w)
	:: else
	fi;
	free_item(i)
}

inline gone(i)
{
	if
	:: listed_on[i] == w ->
		lock_set(set_of(i));
		unhook(i);
		if
		:: mine ->
			listed_on[i] = NONE;
#ifdef LONE
			if
			:: i == 0 ->
				/* dep_item_close() */
#if FAULT != 12
				share(w);
#endif
				closed = 1
			:: else -> free_later[i] = 1
			fi
#else
			free_later[i] = 1
#endif
		:: else
		fi;
		unlock(L[set_of(i)]);
		if
		:: mine ->
			d_step {
				assert(is_watch(w));
				nr_items[w]--;
				last = !nr_items[w]
			}
		:: else
		fi
	:: else
	fi
}

inline free_gone()
{
	for (n : 0 .. ITEMS - 1) {
		if
		:: free_later[n] -> free_item(n)
		:: else
		fi
	}
}

/* dep_watch_file_gone(), and then ->release */
inline release()
{
	if
	:: table != NONE ->
		lock(B);
		w = table;
		last = 0;
		if
		:: w != NONE ->
			disarm(w);
			table = NONE;
			gone(0);
			gone(1);
			gone(2)
		:: else
		fi;
		unlock(B);
#if FAULT == 6
		last = (w != NONE);
#endif
#if FAULT == 15
		free_gone();
#endif
		if
		:: last -> free_watch(w)
		:: else
		fi;
#if FAULT != 15
		free_gone()
#endif
	:: else
	fi;
	/* The driver waits for its own wake-ups. */
	atomic {
		!H -> file_gone = 1;
#ifndef POLLFREE
		head_gone = 1;
#endif
		assert(!queued[0] && !queued[1])
	}
}

inline put_file()
{
	d_step {
		assert(!file_gone);
		file_count--;
		final = !file_count
	};
	if
	:: final -> release()
	:: else
	fi
}

#define locals							\
	byte w, n;						\
	bit mine, last, final, known, alone, free_later[ITEMS]

/* close(2) of the last descriptor */
proctype closer(byte me)
{
	locals;

	put_file();
	running--
}

/* DEVEPOLL_DEL */
proctype remover(byte me)
{
	locals;

	lock(M);
	lock_set(0);
	if
	:: hooked[0] -> unhook(0)
	:: else -> mine = 0
	fi;
	unlock(L[0]);
	if
	:: mine -> drop(0)
	:: else
	fi;
	unlock(M);
	running--
}

/* device_release() of set 1 */
proctype set_closer(byte me)
{
	locals;

#if FAULT == 7
	if
	:: !nr_hooked[1] -> goto seen
	:: else
	fi;
#endif
	/* What the hook unhooked is seen to be gone under the lock. */
	lock_set(1);
	if
	:: hooked[1] -> unhook(1)
	:: else -> mine = 0
	fi;
	unlock(L[1]);
	if
	:: mine -> drop(1)
	:: else
	fi;
#if FAULT == 7
seen:	skip;
#endif
	d_step { assert(!L[1]); set_there[1] = 0 };
	running--
}

#ifdef LONE
/* A waiter of set 0 takes the last event. */
proctype waiter(byte me)
{
	bit got, alone;

	lock(M);
	lock_set(0);
	got = closed;
	closed = 0;
	unlock(L[0]);
	if
	:: got -> free_item(0)
	:: else
	fi;
	unlock(M);
	running--
}
#endif

/* A pass over the ready list of set 0 */
proctype asker(byte me)
{
	locals;
	bit got, keep;

	lock(M);
	lock_set(0);
	got = hooked[0];
#if FAULT == 5
	unlock(L[0]);
#endif
	if
	:: got ->
		d_step {
			assert(!file_gone);
#if FAULT != 4
			got = file_count;
#endif
			file_count = file_count + got
		}
	:: else
	fi;
#if FAULT != 5
	unlock(L[0]);
#endif
	if
	:: got ->
		/* ->poll() */
		assert(!file_gone);
		/* The reference keeps the item: M is held. */
		assert(is_item(0) && hooked[0]);
		/* dep_file_put_not_last() */
		d_step {
			keep = (file_count == 1);
			file_count = file_count - !keep
		};
		/* What it settles now may have gone with the file. */
		lock_set(0);
		if
#if FAULT == 16
		:: !keep ->
#else
		:: !keep && hooked[0] ->
#endif
			assert(is_item(0))
		:: else
		fi;
		unlock(L[0])
	:: else
	fi;
	unlock(M);
	/* The last one goes with nothing held: dep_last_leave(). */
	if
	:: got && keep -> put_file()
	:: else
	fi;
	running--
}

inline notify(i)
{
	lock_set(set_of(i));
	assert(is_item(i));
	unlock(L[set_of(i)])
}

/* The wake function, the wait queue locked */
inline wake(x)
{
	d_step {
		assert(is_watch(x));
		only = NONE;
		n = 0;
		if :: listed_on[0] == x -> only = 0; n++ :: else fi;
		if :: listed_on[1] == x -> only = 1; n++ :: else fi;
		if :: listed_on[2] == x -> only = 2; n++ :: else fi
	};
	if
	:: n == 1 -> notify(only)
	:: else ->
		lock(W);
		assert(is_watch(x));
		if :: listed_on[0] == x -> notify(0) :: else fi;
		if :: listed_on[1] == x -> notify(1) :: else fi;
		if :: listed_on[2] == x -> notify(2) :: else fi;
		unlock(W)
	fi
}

inline wake_queue()
{
	if :: queued[0] -> wake(0) :: else fi;
	if :: queued[1] -> wake(1) :: else fi
}

proctype waker(byte me)
{
	byte only, n;

	if
	:: atomic { !H && !head_gone -> H = 1 };
		wake_queue();
		unlock(H)
	:: head_gone
	fi;
	running--
}

#ifdef POLLFREE
inline last_wake(x)
{
	if
	:: queued[x] ->
		wake(x);
#if FAULT == 10
		head_known[x] = 0;
		assert(is_watch(x));
		queued[x] = 0
#else
		queued[x] = 0;
		assert(is_watch(x));
		head_known[x] = 0
#endif
	:: else
	fi
}

/* The owner of the wait queue frees it after a grace period. */
proctype owner(byte me)
{
	byte only, n;

	lock_head;
	last_wake(0);
	last_wake(1);
	unlock(H);
	for (n : 0 .. 4) {
		!reading[n]
	};
	atomic { !H -> head_gone = 1 };
	running--
}
#endif

#ifdef ADD
/* DEVEPOLL_ADD of the same file by another number */
proctype adder(byte me)
{
	locals;
	bit done;

	atomic {
		if
		:: file_count ->
#if FAULT != 8
			file_count++
#endif
		:: else -> running--; goto end
		fi
	};
	lock(M);
	lock_set(0);
	d_step {
		/* dep_watch_exists(), a moment ago */
		hosted[2] = (table == NONE);
		host_there[1] = hosted[2];
		item_there[2] = 1;
		hooked[2] = 1;
		nr_hooked[0]++
	};
	unlock(L[0]);
	do
	:: done -> break
	:: else ->
		/* watch_join() */
		lock(B);
		w = table;
		if
		:: w != NONE ->
			lock(W);
#if FAULT != 13
			share(w);
#endif
			d_step {
				assert(is_watch(w));
				nr_items[w]++;
				watch_of[2] = w;
				listed_on[2] = w;
				done = 1
			};
			unlock(W)
		:: else
		fi;
		unlock(B);
		if
		:: done -> skip
		:: else ->
			d_step {
				if
				:: !hosted[2] ->
					host_there[1] = 1;
					users[1] = 1
				:: else
				fi;
				watch_there[1] = 1;
				nr_items[1] = 1;
				listed_on[2] = 1;
				head_known[1] = 1
			};
			lock_head;
			queued[1] = 1;
			unlock(H);
			lock(B);
			if
			:: table == NONE ->
				watch_of[2] = 1;
				table = 1;
				done = 1
			:: table != NONE -> skip
			fi;
			unlock(B);
			if
			:: done -> skip
			:: else ->
				/* watch_drop() */
				disarm(1);
				listed_on[2] = NONE;
				free_watch(1)
			fi
		fi
	od;
	unlock(M);
#if FAULT != 8
	put_file();
#endif
	running--;
end:	skip
}
#endif

init {
	bit alone;

	atomic {
		host_there[0] = 1;
		hosted[0] = 1;
		watch_there[0] = 1;
		queued[0] = 1;
		head_known[0] = 1;
		nr_items[0] = 1;
		item_there[0] = 1;
		hooked[0] = 1;
		listed_on[0] = 0;
		listed_on[1] = NONE;
		listed_on[2] = NONE;
		watch_of[0] = 0;
		watch_of[1] = NONE;
#ifndef LONE
		users[0] = 2;
		nr_items[0] = 2;
		item_there[1] = 1;
		hooked[1] = 1;
		listed_on[1] = 0;
		watch_of[1] = 0;
		nr_hooked[1] = 1;
#endif
		watch_of[2] = NONE;
		set_there[0] = 1;
		set_there[1] = 1;
		nr_hooked[0] = 1;
		running = 5;
		run closer(0);
		run remover(1);
#ifdef LONE
		run waiter(2);
#else
		run set_closer(2);
#endif
		run waker(3);
#ifdef ADD
		run adder(4)
#elif defined(POLLFREE)
		run owner(4)
#elif defined(ASK)
		run asker(4)
#else
		running--
#endif
	};
	!running;
	/* The close of set 0 */
	if
	:: closed -> free_item(0)
	:: else
	fi;
	assert(!host_there[0] && !host_there[1]);
	assert(!item_there[0] && !item_there[1] && !item_there[2]);
	assert(!watch_there[0] && !watch_there[1]);
	assert(file_gone && table == NONE && !nr_hooked[0])
}

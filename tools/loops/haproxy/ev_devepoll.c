// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A poller of HAProxy for /dev/epoll.  Build HAProxy with it as EXTRA_OBJS; it
 * is then preferred to epoll, where the device is there.
 *
 * Each thread has a set.  What a turn changes goes into an array, and the wait
 * makes the changes.  Until then, another thread may close one of these fds, and
 * the number may become a file that this thread does not poll: the change then
 * fails, or adds an fd whose first event has it removed.  An fd that the process
 * has closed leaves all sets by itself, even if another process has the file, so
 * there is nothing to do at a close.
 *
 * HAProxy opens the first set before it changes its root directory.  The others,
 * and those of its children, are made from that one, without a path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <haproxy/activity.h>
#include <haproxy/api.h>
#include <haproxy/clock.h>
#include <haproxy/fd.h>
#include <haproxy/global.h>
#include <haproxy/ticks.h>

#include <devepoll_events.h>

/* More of them than this in a turn take another call. */
#define MAX_PENDING	256
/* The result of a change that was not tried. */
#define UNTRIED		1
#define NS_OF_MS	INT64_C(1000000)

#define WHEN_READABLE	((uint32_t)(EPOLLIN | EPOLLRDHUP))

static int sets[MAX_THREADS];
static THREAD_LOCAL struct devepoll_event *events;
static THREAD_LOCAL struct devepoll_change pending[MAX_PENDING];
static THREAD_LOCAL unsigned int nr_pending;

/*
 * Sees to the changes that failed, and leaves those that are to be tried again.
 * An fd that can't be watched for want of memory is left to HAProxy's timeouts.
 */
static void settle(void)
{
	unsigned int i, nr = nr_pending;

	nr_pending = 0;
	for (i = 0; i < nr; i++) {
		struct devepoll_change *change = &pending[i];

		if (change->result == -ENOENT && change->op == DEVEPOLL_MOD)
			change->op = DEVEPOLL_ADD;
		else if (change->result == -EEXIST)
			change->op = DEVEPOLL_MOD;
		else if (change->result != UNTRIED)
			continue;
		change->result = UNTRIED;
		pending[nr_pending++] = *change;
	}
}

static void change_later(unsigned int op, int fd, uint32_t wanted)
{
	while (nr_pending == MAX_PENDING) {
		devepoll_events_update(sets[tid], pending, nr_pending, NULL);
		settle();
	}
	pending[nr_pending++] = (struct devepoll_change){
		.op = op,
		.fd = fd,
		.events = wanted,
		.result = UNTRIED,
	};
}

static void mark(unsigned long *mask, int set)
{
	if (set && !(*mask & tid_bit))
		_HA_ATOMIC_OR(mask, tid_bit);
	else if (!set && *mask & tid_bit)
		_HA_ATOMIC_AND(mask, ~tid_bit);
}

/* What this thread polls the fd for. */
static uint32_t polled(int fd)
{
	const struct polled_mask *mask = &polled_mask[fd];

	return (mask->poll_recv & tid_bit ? WHEN_READABLE : 0) |
	       (mask->poll_send & tid_bit ? (uint32_t)EPOLLOUT : 0);
}

/*
 * What it is to poll the fd for.  An fd that stays in the set anyway, and is not
 * known to be readable, is polled for that, too: HAProxy will want it soon.
 */
static uint32_t wanted(int fd, uint32_t now)
{
	const unsigned int state = fdtab[fd].state;
	uint32_t mask = 0;

	if (!(fdtab[fd].thread_mask & tid_bit))
		return 0;
	if (state & FD_EV_ACTIVE_R ||
	    (!(state & FD_EV_READY_R) && (now || state & FD_EV_ACTIVE_W)))
		mask |= WHEN_READABLE;
	if (state & FD_EV_ACTIVE_W)
		mask |= EPOLLOUT;
	return mask;
}

static void update(int fd)
{
	const uint32_t now = polled(fd);
	uint32_t mask, edge = 0;

	if (fdtab[fd].state & FD_ET_POSSIBLE) {
		/* Once, for both directions, until it is closed. */
		mask = WHEN_READABLE | EPOLLOUT;
		edge = EPOLLET;
	} else {
		mask = wanted(fd, now);
	}
	if (mask == now)
		return;
	mark(&polled_mask[fd].poll_recv, mask & EPOLLIN);
	mark(&polled_mask[fd].poll_send, mask & EPOLLOUT);
	change_later(!mask ? DEVEPOLL_DEL : now ? DEVEPOLL_MOD : DEVEPOLL_ADD, fd,
		     mask | edge);
}

/* An fd of which HAProxy says that something has changed. */
static void look_at(int fd)
{
	if (fdtab[fd].owner)
		update(fd);
	else
		activity[tid].poll_drop_fd++;
}

static void look_at_own(void)
{
	int i, fd;

	for (i = 0; i < fd_nbupdt; i++) {
		fd = fd_updt[i];
		/* A reference, so that the number stays the same file. */
		if (!fd_grab_tgid(fd, 1)) {
			activity[tid].poll_drop_fd++;
			continue;
		}
		_HA_ATOMIC_AND(&fdtab[fd].update_mask, ~tid_bit);
		look_at(fd);
		fd_drop_tgid(fd);
	}
	fd_nbupdt = 0;
}

/* The list of fds that several threads are to look at. */
static void look_at_shared(void)
{
	int fd = update_list.first, last = fd;

	while (fd != -1) {
		if (fd == -2) {
			/* This entry is just being changed. */
			fd = last;
			continue;
		}
		if (fd <= -3) {
			/* It has left the list, and says what followed it. */
			fd = -4 - fd;
			if (fd == -1)
				break;
		}
		if (!fd_grab_tgid(fd, 1)) {
			activity[tid].poll_drop_fd++;
		} else {
			if (fdtab[fd].update_mask & tid_bit) {
				done_update_polling(fd);
				look_at(fd);
			}
			fd_drop_tgid(fd);
		}
		fd = fdtab[fd].update.next;
	}
}

static void report(struct poller *poller, const struct devepoll_event *event)
{
	const uint32_t got = event->events;

	/* Somebody else's, under a number that was ours. */
	if (!polled(event->fd)) {
		change_later(DEVEPOLL_DEL, event->fd, 0);
		return;
	}
	if (got & EPOLLRDHUP && !(poller->flags & HAP_POLL_F_RDHUP))
		_HA_ATOMIC_OR(&poller->flags, HAP_POLL_F_RDHUP);
	fd_update_events(event->fd,
			 (got & EPOLLIN ? FD_EV_READY_R : 0) |
			 (got & EPOLLOUT ? FD_EV_READY_W : 0) |
			 (got & EPOLLRDHUP ? FD_EV_SHUT_R : 0) |
			 (got & EPOLLHUP ? FD_EV_SHUT_RW : 0) |
			 (got & EPOLLERR ? FD_EV_ERR_RW : 0));
}

/* Changes, and waits for @ms.  A call with a change that fails does not sleep. */
static int change_and_wait(int ms)
{
	unsigned int nr_failed;
	int n;

	do {
		n = devepoll_events_update_wait(sets[tid], pending, nr_pending,
						&nr_failed, events,
						global.tune.maxpollevents,
						ms * NS_OF_MS);
		settle();
	} while (!n && nr_failed);
	return n;
}

static void set_poll(struct poller *poller, int expires, int wake)
{
	int wait, turn, n, i;

	look_at_own();
	look_at_shared();
	thread_idle_now();
	thread_harmless_now();
	wait = wake ? 0 : compute_poll_timeout(expires);
	turn = global.tune.options & GTUNE_BUSY_POLLING ? 0 : wait;
	clock_entering_poll();
	do {
		n = change_and_wait(turn);
		clock_update_date(turn, n);
	} while (!n && turn < wait &&
		 !(tick_isset(expires) && tick_is_expired(expires, now_ms)));
	if (n)
		activity[tid].poll_io++;
	clock_leaving_poll(wait, n);
	thread_harmless_end();
	thread_idle_end();
	if (sleeping_thread_mask & tid_bit)
		_HA_ATOMIC_AND(&sleeping_thread_mask, ~tid_bit);
	for (i = 0; i < n; i++)
		report(poller, &events[i]);
}

/* A set, from another one if there is one. */
static int set_new(int other)
{
	return other < 0 ? devepoll_events_open(0) :
	       devepoll_events_request(other, DEVEPOLL_NEW,
				       (void *)(O_RDWR | O_CLOEXEC));
}

static void set_end(int thread)
{
	if (sets[thread] >= 0)
		close(sets[thread]);
	sets[thread] = -1;
}

static int thread_begin(void)
{
	int fd;

	events = calloc(global.tune.maxpollevents, sizeof(*events));
	if (!events)
		return 0;
	if (tid)
		sets[tid] = set_new(sets[0]);
	if (sets[tid] < 0) {
		ha_free(&events);
		return 0;
	}
	/* Whatever is polled is to be polled by this set. */
	for (fd = 0; fd < global.maxsock; fd++)
		updt_fd_polling(fd);
	return 1;
}

static void thread_end(void)
{
	if (tid)
		set_end(tid);
	ha_free(&events);
	nr_pending = 0;
}

static int set_init(struct poller *poller)
{
	sets[tid] = set_new(-1);
	if (sets[tid] < 0) {
		poller->pref = 0;
		return 0;
	}
	hap_register_per_thread_init(thread_begin);
	hap_register_per_thread_deinit(thread_end);
	return 1;
}

static void set_term(struct poller *poller)
{
	set_end(tid);
	poller->pref = 0;
}

static int set_test(struct poller *poller)
{
	const int set = set_new(-1);

	if (set >= 0)
		close(set);
	return set >= 0;
}

/* The child's own; the other process keeps the old one. */
static int set_fork(struct poller *poller)
{
	const int set = set_new(sets[tid]);

	set_end(tid);
	sets[tid] = set;
	return set >= 0;
}

static void set_register(void)
{
	int i;

	if (nbpollers >= MAX_POLLERS)
		return;
	for (i = 0; i < MAX_THREADS; i++)
		sets[i] = -1;
	pollers[nbpollers++] = (struct poller){
		.name = "devepoll",
		.pref = 400,
		.flags = HAP_POLL_F_ERRHUP,
		.test = set_test,
		.init = set_init,
		.term = set_term,
		.poll = set_poll,
		.fork = set_fork,
	};
}

INITCALL0(STG_REGISTER, set_register);

// SPDX-License-Identifier: GPL-2.0
/* What the threads of the stress program's chaos do to extended sets. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture/stress_extended.h"

#define BATCH		24

struct extended_set extended_sets[EXTENDED_SETS];

static const int change_results[] = {
	EBADF, EEXIST, ENOENT, EPERM, EINVAL, ELOOP, ENOSPC, ENOMEM, 0,
};

static const int no_errors[] = { 0 };

static bool set_open(struct extended_set *s)
{
	int fds[2];
	void *map;

	if (file_make(FILE_DEVEPOLL, fds))
		return false;
	extended_take(fds[0], NULL, 1, 0);
	map = mmap(NULL, MAP_SIZE, PROT_READ, MAP_SHARED, fds[0],
		   DEVEPOLL_MAP_EVENTS);
	s->map = map == MAP_FAILED ? NULL : map;
	atomic_store(&s->fd, fds[0]);
	return true;
}

static void set_unmap_events(struct extended_set *s)
{
	if (s->map)
		munmap(s->map, MAP_SIZE);
	s->map = NULL;
}

bool extended_world_open(void)
{
	int i;

	for (i = 0; i < EXTENDED_SETS; i++) {
		pthread_rwlock_init(&extended_sets[i].map_lock, NULL);
		if (!set_open(&extended_sets[i]))
			return false;
	}
	return true;
}

void extended_world_close(void)
{
	int i;

	for (i = 0; i < EXTENDED_SETS; i++) {
		set_unmap_events(&extended_sets[i]);
		close(atomic_load(&extended_sets[i].fd));
	}
}

int extended_ctl(int set, struct devepoll_change *changes, unsigned int nr)
{
	struct devepoll_ctl ctl = {
		.changes = (uintptr_t)changes,
		.nr = nr,
		.change_size = sizeof(*changes),
	};

	return ioctl(set, DEVEPOLL_CTL, &ctl);
}

int extended_take(int set, struct devepoll_event *out, unsigned int max,
		  int64_t timeout)
{
	struct devepoll_wait_args args = {
		.events = (uintptr_t)out,
		.max_events = max,
		.timeout = timeout,
	};

	return ioctl(set, DEVEPOLL_WAIT, &args);
}

static uint32_t any_events(struct rng *rng)
{
	static const uint32_t masks[] = {
		EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLOUT, 0,
		EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLRDBAND,
		EPOLLRDNORM | EPOLLWRNORM, EPOLLHUP | EPOLLERR,
		EPOLLIN | EPOLLWAKEUP,
	};
	static const uint32_t modes[] = {
		0, 0, EPOLLET, EPOLLET, EPOLLONESHOT, EPOLLET | EPOLLONESHOT,
		EPOLLEXCLUSIVE, EPOLLEXCLUSIVE | EPOLLET, 1U << 12,
	};

	return masks[rng_below(rng, sizeof(masks) / sizeof(masks[0]))] |
	       modes[rng_below(rng, sizeof(modes) / sizeof(modes[0]))];
}

/* A file of the table, a set of ours or, now and then, something else. */
static int any_member(struct rng *rng)
{
	switch (rng_below(rng, 16)) {
	case 0:
	case 1:
		return atomic_load(&any_extended(rng)->fd);
	case 2:
		return rng_below(rng, 2) ? 0x7fffffff : -5;
	default:
		return slot_peek(rng);
	}
}

void extended_fill(struct rng *rng, struct devepoll_change *changes,
		   unsigned int nr)
{
	static const uint16_t ops[] = {
		DEVEPOLL_ADD, DEVEPOLL_ADD, DEVEPOLL_ADD, DEVEPOLL_MOD,
		DEVEPOLL_MOD, DEVEPOLL_DEL,
	};
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct devepoll_change *c = &changes[i];

		c->op = ops[rng_below(rng, sizeof(ops) / sizeof(ops[0]))];
		c->fd = any_member(rng);
		c->events = any_events(rng);
		c->flags = 0;
		if (c->op != DEVEPOLL_DEL)
			c->flags = rng_below(rng, 4);
		if (!(c->events & EPOLLET))
			c->flags &= ~DEVEPOLL_TRUST;
		c->data = data_of(c->fd);
		c->result = 0x5a5a5a5a;
	}
	if (rng_below(rng, 64) == 0)
		changes[0].op = rng_next(rng);
}

static void check_changes(const struct extended_set *s,
			  const struct devepoll_change *changes, int tried)
{
	int i;

	for (i = 0; i < tried; i++) {
		errno = -changes[i].result;
		if (changes[i].result)
			check_call(s, "a change", change_results);
	}
}

void op_extended_change(struct rng *rng)
{
	unsigned int n = 1 + rng_below(rng, BATCH);
	struct extended_set *s = any_extended(rng);
	struct devepoll_change changes[BATCH];
	int ret;

	extended_fill(rng, changes, n);
	ret = extended_ctl(atomic_load(&s->fd), changes, n);
	if (ret < 0)
		check_call(s, "DEVEPOLL_CTL", no_errors);
	else if (is_kept(s) && (unsigned int)ret != n)
		bad_result("changes left out", ret, n);
	check_changes(s, changes, ret);
}

/* epoll's own calls, through the fadvise entry. */
void op_extended_fadvise(struct rng *rng)
{
	struct extended_set *s = any_extended(rng);
	int fd = any_member(rng), op = 1 + rng_below(rng, 3);
	struct epoll_event event = {
		.events = any_events(rng), .data.u64 = data_of(fd),
	};
	struct epoll_event out[16];

	if (rng_below(rng, 2)) {
		if (syscall(SYS_fadvise64, atomic_load(&s->fd), &event, fd,
			    DEVEPOLL_EPOLL_CTL(op)) < 0)
			check_call(s, "epoll_ctl", change_results);
	} else if (syscall(SYS_fadvise64, atomic_load(&s->fd), out,
			   DEVEPOLL_EPOLL_WAIT_LEN(16, rng_below(rng, 3)),
			   DEVEPOLL_EPOLL_WAIT) < 0) {
		check_call(s, "epoll_wait", wait_errors);
	}
}

/* A set with some files, as a file of the table. */
static void make_inner(struct rng *rng)
{
	struct devepoll_change changes[BATCH];
	int fds[2];

	if (file_make(FILE_DEVEPOLL, fds))
		return;
	extended_fill(rng, changes, BATCH);
	extended_ctl(fds[0], changes, BATCH);
	slot_put(rng, fds[0]);
}

/* Sets in sets, both ways at once; what would close a cycle is refused. */
void op_extended_nest(struct rng *rng)
{
	int outer = atomic_load(&any_extended(rng)->fd);
	int inner = atomic_load(&any_extended(rng)->fd);
	struct devepoll_change change = {
		.op = rng_below(rng, 3) ? DEVEPOLL_ADD : DEVEPOLL_DEL,
		.fd = inner,
		.events = EPOLLIN | (rng_below(rng, 2) ? EPOLLET : 0),
		.data = data_of(inner),
	};
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int fds[2];

	extended_ctl(outer, &change, 1);
	if (rng_below(rng, 2))
		make_inner(rng);
	if (rng_below(rng, 4) || file_make(FILE_EPOLL, fds))
		return;
	/* In-tree epoll may watch a set, but not be in one. */
	epoll_ctl(fds[0], EPOLL_CTL_ADD, outer, &event);
	change.op = DEVEPOLL_ADD;
	change.fd = fds[0];
	if (extended_ctl(outer, &change, 1) == 1 && !change.result)
		bad_result("an epoll file became a member", outer, fds[0]);
	epoll_wait(fds[0], &event, 1, rng_below(rng, 2));
	close(fds[0]);
}

void op_extended_query(struct rng *rng)
{
	struct extended_set *s = any_extended(rng);
	int set = atomic_load(&s->fd);
	struct pollfd q = { .fd = set, .events = POLLIN };
	struct devepoll_stats stats;
	char text[512], path[64];
	int fd;

	if (ioctl(set, DEVEPOLL_STATS, &stats))
		check_call(s, "DEVEPOLL_STATS", no_errors);
	poll(&q, 1, rng_below(rng, 2));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", set);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, text, sizeof(text)) > 0)
		;
	if (fd >= 0)
		close(fd);
}

/* Closes a set while others use it, and makes another. */
void op_extended_reopen(struct rng *rng)
{
	unsigned int nr = 1 + rng_below(rng, EXTENDED_SETS - 1);
	struct extended_set *s = &extended_sets[nr];
	bool before = rng_below(rng, 2);

	pthread_rwlock_wrlock(&s->map_lock);
	if (before)
		set_unmap_events(s);
	close(atomic_exchange(&s->fd, -1));
	set_unmap_events(s);
	set_open(s);
	pthread_rwlock_unlock(&s->map_lock);
}

/* Adds a number and closes it, while the file lives on under another one. */
void op_extended_stale(struct rng *rng)
{
	struct extended_set *s = any_extended(rng);
	int from = slot_peek(rng), fd;
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = rng_below(rng, 2),
		.events = any_events(rng) & ~EPOLLEXCLUSIVE & ~(1U << 12),
	};

	fd = from < 0 ? -1 : fcntl(from, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return;
	change.fd = fd;
	change.data = data_of(fd);
	extended_ctl(atomic_load(&s->fd), &change, 1);
	if (rng_below(rng, 2))
		close(fd);
	else
		slot_put(rng, fd);
}

/* Ended by the parent's signal, most often while it waits. */
static void child_wait(int set)
{
	struct devepoll_event out[8];

	while (extended_take(set, out, 8, DEVEPOLL_FOREVER) >= 0)
		;
	pause();
}

void extended_child(struct rng *rng, unsigned int what)
{
	struct extended_set *s = any_extended(rng);
	struct devepoll_change changes[BATCH];
	struct devepoll_event out[8];
	int set = atomic_load(&s->fd);
	int i;

	extended_fill(rng, changes, BATCH);
	extended_ctl(set, changes, BATCH);
	if (rng_below(rng, 2))
		extended_rings(rng);
	switch (what) {
	case 0:
	case 4:
		break;
	case 1:
		for (i = 0; i < SLOTS; i++)
			close(atomic_load(&slots[i]));
		extended_take(set, out, 8, 0);
		break;
	case 2:
		execl("/bin/true", "true", NULL);
		break;
	case 3:
		extended_take(set, out, 8, 0);
		close_range(3, ~0U, 0);
		break;
	default:
		child_wait(set);
	}
}

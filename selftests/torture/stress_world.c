// SPDX-License-Identifier: GPL-2.0
/* The files and sets of the stress program's chaos. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "torture/stress_extended.h"
#include "torture/stress_world.h"

struct set sets[SETS];
atomic_int slots[SLOTS];
int scm[2];

atomic_ulong bad_results;
atomic_ulong bad_errors;

static const int may_be_mapped[] = { EBUSY, 0 };

void bad_result(const char *what, long a, long b)
{
	if (atomic_fetch_add(&bad_results, 1) < 20)
		printf("# bad result: %s (%#lx, %#lx)\n", what, a, b);
}

void check_errno(const struct set *s, const char *call, const int *allowed)
{
	int err = errno;

	if (s != &sets[0])
		return;
	for (; *allowed; allowed++) {
		if (*allowed == err)
			return;
	}
	if (atomic_fetch_add(&bad_errors, 1) < 20)
		printf("# bad errno: %s: %s\n", call, strerror(err));
}

int slot_take(struct rng *rng)
{
	return atomic_exchange(&slots[rng_below(rng, SLOTS)], -1);
}

int slot_peek(struct rng *rng)
{
	return atomic_load(&slots[rng_below(rng, SLOTS)]);
}

void slot_put(struct rng *rng, int fd)
{
	int old = atomic_exchange(&slots[rng_below(rng, SLOTS)], fd);

	if (old >= 0)
		close(old);
}

struct set *any_set(struct rng *rng)
{
	return &sets[rng_below(rng, SETS)];
}

void set_unmap(struct set *s)
{
	char *map = s->map;

	atomic_fetch_add(&s->generation, 1);
	s->map = NULL;
	if (map)
		munmap(map, s->len);
}

void set_map(struct set *s, struct rng *rng)
{
	unsigned int capacity = 16 + rng_below(rng, 2048);
	int fd = atomic_load(&s->fd);
	char *map;

	if (ioctl(fd, EP_ALLOC, capacity))
		check_errno(s, "EP_ALLOC", may_be_mapped);
	else if (capacity > s->capacity)
		s->capacity = capacity;
	map = mmap(NULL, EP_MAP_SIZE(s->capacity), PROT_READ, MAP_SHARED, fd,
		   0);
	if (map == MAP_FAILED)
		return;
	s->map = map;
	s->len = EP_MAP_SIZE(s->capacity);
	/* What was taken between unmapping and here is not in this one. */
	atomic_fetch_add(&s->generation, 1);
}

bool world_open(struct rng *rng)
{
	int i, fds[2];

	for (i = 0; i < SLOTS; i++)
		atomic_init(&slots[i], -1);
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, scm))
		return false;
	for (i = 0; i < SETS; i++) {
		pthread_rwlock_init(&sets[i].map_lock, NULL);
		pthread_mutex_init(&sets[i].wait_lock, NULL);
		if (file_make(FILE_DEVEPOLL, fds))
			return false;
		atomic_init(&sets[i].fd, fds[0]);
		set_map(&sets[i], rng);
	}
	return extended_world_open();
}

void world_close(void)
{
	int i;

	for (i = 0; i < SETS; i++) {
		set_unmap(&sets[i]);
		close(atomic_load(&sets[i].fd));
	}
	for (i = 0; i < SLOTS; i++) {
		if (atomic_load(&slots[i]) >= 0)
			close(atomic_load(&slots[i]));
	}
	extended_world_close();
	close(scm[0]);
	close(scm[1]);
}

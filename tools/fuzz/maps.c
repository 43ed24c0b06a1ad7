// SPDX-License-Identifier: GPL-2.0
/* Mappings, and the ring, whose word the program changes too. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/devepoll.h>

#include "fuzz.h"

#define PAGE	4096UL

/* Place 0 is the first: op_memory() uses them, too. */
static uint8_t *place(unsigned int nr)
{
	return (uint8_t *)((nr % MAPS + 1) * (1UL << 32));
}

/* Of what size the ring of op.y is. */
static struct devepoll_ring ring_of(const struct op *op)
{
	static const struct devepoll_ring rings[] = {
		{ .consumers = 1, .slots = 1 }, { .consumers = 1, .slots = 4 },
		{ .consumers = 2, .slots = 3 }, { .consumers = 3, .slots = 64 },
		{ .consumers = 1, .slots = 1024 }, { .slots = 1 },
		{ .consumers = 1, .slots = 0x7fffffff },
		{ .consumers = 0xffffffff, .slots = 2 },
	};

	return rings[op->y & 7];
}

long do_ring(struct actor *a, const struct op *op)
{
	struct devepoll_ring ring = ring_of(op);

	ring.flags = op->z == 255;
	return ask(op, DEVEPOLL_RING,
		   (uintptr_t)op_memory(a, op, &ring, sizeof(ring)));
}

long do_ring_wait(struct actor *a, const struct op *op)
{
	const uint64_t mask = 0;
	struct devepoll_ring_wait_args args = {
		.timeout = op_timeout(op) * 1000000LL,
		.sigmask = op->y & 2 ? (uintptr_t)&mask : 0,
		.sigsetsize = op->y & 2 ? 8 : 0,
		.flags = (op->y & 1) | (op->y & 4 ? DEVEPOLL_WAIT_SPARE : 0),
		.min_events = op->x & 3,
		.spare = op->z == 255 ? op->x : op->x >> 2 & 3,
	};

	return ask(op, DEVEPOLL_RING_WAIT,
		   (uintptr_t)op_memory(a, op, &args, sizeof(args)));
}

long do_map(struct actor *a, const struct op *op)
{
	struct devepoll_ring ring = ring_of(op);
	static const uint64_t offsets[] = {
		0, DEVEPOLL_MAP_EVENTS, DEVEPOLL_MAP_RING,
		DEVEPOLL_MAP_RING_SLOTS,
	};
	const size_t sizes[] = {
		EP_MAP_SIZE(1 + (op->x & 0x4000 ? op->z * 64 : op->z % 4)),
		(1 + op->z % 4) * PAGE, PAGE,
		DEVEPOLL_RING_SIZE(ring.consumers, ring.slots),
	};
	unsigned int which = op->x & 3;
	size_t size = sizes[op->x & 0x2000 ? op->z & 3 : which];
	void *at;

	(void)a;
	size = (size + PAGE - 1) & -PAGE;
	if (op->x & 0x1000)
		size = PAGE;
	if (size > MAP_ROOM)
		return -E2BIG;
	at = mmap(place(op->x >> 2), size, op->x & 0x800 ? PROT_READ :
		  PROT_READ | PROT_WRITE, MAP_FIXED |
		  (op->x & 0x400 ? MAP_PRIVATE : MAP_SHARED),
		  slot_fd(op->set), offsets[which]);
	return at == MAP_FAILED ? -errno : (long)size;
}

long do_unmap(struct actor *a, const struct op *op)
{
	uint8_t *at = place(op->x >> 2);
	size_t size = op->y & 1 ? PAGE : MAP_ROOM;
	void *to;

	(void)a;
	switch (op->y >> 1 & 7) {
	case 0:
		return mprotect(at, size, op->z % 8);
	case 1:
		return madvise(at, size, op->z % 32);
	case 2:
		to = mremap(at, PAGE, PAGE * (1 + op->z % 3), MREMAP_MAYMOVE |
			    MREMAP_FIXED, place(op->z));
		return to == MAP_FAILED ? -errno : 0;
	case 3:
		return msync(at, size, MS_SYNC);
	case 4:
		return mlock(at, size);
	default:
		return munmap(at + (op->z & 1) * PAGE, size);
	}
}

struct touch {
	uint8_t *at;
	uint64_t value;
	unsigned int how;
};

static void touch_memory(void *arg)
{
	struct touch *touch = arg;
	uint64_t *word = (void *)touch->at;

	switch (touch->how & 3) {
	case 0:
		touch->value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		break;
	case 1:
		touch->value = __atomic_exchange_n(word, touch->value,
						   __ATOMIC_SEQ_CST);
		break;
	case 2:
		__atomic_fetch_or(word, touch->value, __ATOMIC_SEQ_CST);
		break;
	default:
		__atomic_store_n(word, touch->value, __ATOMIC_RELEASE);
	}
}

static long touch(uint8_t *at, uint64_t value, unsigned int how)
{
	struct touch it = { .at = at, .value = value, .how = how };

	if (!survives(touch_memory, &it))
		return -EFAULT;
	return it.value;
}

long do_touch(struct actor *a, const struct op *op)
{
	(void)a;
	return touch(place(op->x >> 2) + (op->z & 3) * PAGE, op->y,
		     op->y & 1 ? 3 : 0);
}

/* What a consumer does to the word, and what none may do. */
long do_word(struct actor *a, const struct op *op)
{
	uint64_t value = (uint64_t)(op->z & 7) << DEVEPOLL_RING_SET_SHIFT;

	(void)a;
	if (op->y & 4)
		value |= op->x & 0x3ff;
	if (op->y & 8)
		value |= DEVEPOLL_RING_ASK;
	if (op->y & 16)
		value = ~0ULL << (op->z & 63);
	return touch(place(op->x >> 2), value, op->y & 4 ? op->y : 1);
}

void maps_end(void)
{
	unsigned int i;

	for (i = 0; i < MAPS; i++)
		munmap(place(i), MAP_ROOM);
}

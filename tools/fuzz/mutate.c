// SPDX-License-Identifier: GPL-2.0
/* How inputs are changed: in whole operations, and in fields of them. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
			       unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size,
				 const uint8_t *two, size_t two_size,
				 uint8_t *out, size_t most, unsigned int seed);

static unsigned int below(unsigned int *seed, unsigned int n)
{
	return rand_r(seed) / 7 % n;
}

static uint8_t any_verb(unsigned int *seed)
{
	unsigned int i, sum = 0;

	for (i = 0; i < nr_verbs; i++)
		sum += verbs[i].weight;
	sum = below(seed, sum);
	for (i = 0; sum >= verbs[i].weight; i++)
		sum -= verbs[i].weight;
	return i;
}

/* Few actors, slots and bits at a time, so that operations meet. */
static struct op any_op(unsigned int *seed, const struct op *near)
{
	struct op op = {
		.verb = any_verb(seed),
		.who = near && below(seed, 4) ? near->who & 7 :
						below(seed, ACTORS),
		.set = near && below(seed, 4) ? near->set : below(seed, 4),
		.fd = near && below(seed, 2) ? near->fd : below(seed, SLOTS),
		.x = 1 << below(seed, 12) | 1 << below(seed, 6),
		.y = below(seed, 3) ? below(seed, 12) : below(seed, 256),
		.z = below(seed, 2) ? below(seed, 8) : below(seed, 256),
	};

	if (!below(seed, 3))
		op.who |= OP_SHORT;
	if (!below(seed, 16))
		op.who |= below(seed, 8) << 5;
	return op;
}

static void change_field(unsigned int *seed, struct op *op)
{
	struct op other = any_op(seed, op);
	static const size_t bytes[] = {
		offsetof(struct op, verb), offsetof(struct op, who),
		offsetof(struct op, set), offsetof(struct op, fd),
		offsetof(struct op, y), offsetof(struct op, z),
	};
	unsigned int which = below(seed, 8);

	if (which == 7)
		LLVMFuzzerMutate((uint8_t *)op, sizeof(*op), sizeof(*op));
	else if (which == 6)
		op->x ^= 1 << below(seed, 16);
	else
		((uint8_t *)op)[bytes[which]] =
			((uint8_t *)&other)[bytes[which]];
}

static size_t mutate_once(struct op *ops, size_t nr, size_t most,
			  unsigned int *seed)
{
	size_t at = nr ? below(seed, nr) : 0, to;
	struct op op;

	switch (nr ? below(seed, 8) : 0) {
	case 0:
	case 1:
	case 2:
		if (nr == most)
			break;
		at = below(seed, nr + 1);
		op = any_op(seed, at ? &ops[at - 1] : NULL);
		memmove(&ops[at + 1], &ops[at], (nr - at) * sizeof(*ops));
		ops[at] = op;
		return nr + 1;
	case 3:
		if (nr == 1)
			break;
		memmove(&ops[at], &ops[at + 1], (nr - at - 1) * sizeof(*ops));
		return nr - 1;
	case 4:
		to = below(seed, nr);
		op = ops[at];
		ops[at] = ops[to];
		ops[to] = op;
		return nr;
	}
	change_field(seed, &ops[at]);
	return nr;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
			       unsigned int seed)
{
	size_t nr = size / sizeof(struct op), room = most / sizeof(struct op);
	struct op ops[OPS_MOST];
	unsigned int times = 1 + below(&seed, 4);

	if (room > OPS_MOST)
		room = OPS_MOST;
	if (nr > room)
		nr = room;
	memcpy(ops, data, nr * sizeof(*ops));
	while (times--)
		nr = mutate_once(ops, nr, room, &seed);
	memcpy(data, ops, nr * sizeof(*ops));
	return nr * sizeof(*ops);
}

/* The beginning of one, and the end of the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size,
				 const uint8_t *two, size_t two_size,
				 uint8_t *out, size_t most, unsigned int seed)
{
	size_t head = below(&seed, one_size / sizeof(struct op) + 1);
	size_t skip = below(&seed, two_size / sizeof(struct op) + 1);
	size_t tail = two_size / sizeof(struct op) - skip;
	size_t room = most / sizeof(struct op);

	if (head > room)
		head = room;
	if (tail > room - head)
		tail = room - head;
	memcpy(out, one, head * sizeof(struct op));
	memcpy(out + head * sizeof(struct op),
	       two + skip * sizeof(struct op), tail * sizeof(struct op));
	return (head + tail) * sizeof(struct op);
}

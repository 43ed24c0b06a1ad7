// SPDX-License-Identifier: GPL-2.0
/* Removing operations that a sequence does not need to show its difference. */
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "run.h"

struct shrinking {
	struct run *run;
	enum outcome outcome;
	double until;
	struct op ops[OPS_MOST];
	unsigned int n;
	struct verdict verdict;
};

static bool is_late(const struct shrinking *s)
{
	return now_seconds() > s->until;
}

/* Keeps a sequence if it still makes the same kind of difference. */
static bool try(struct shrinking *s, const struct op *ops, unsigned int n)
{
	struct world *w = &s->run->world;

	if (run_ops(s->run, ops, n) != s->outcome)
		return false;
	/* What comes after the difference goes, too. */
	if (w->verdict.at + 1 < n)
		n = w->verdict.at + 1;
	memmove(s->ops, ops, n * sizeof(*ops));
	s->n = n;
	s->verdict = w->verdict;
	return true;
}

static bool remove_pieces(struct shrinking *s, unsigned int size)
{
	static struct op less[OPS_MOST];
	unsigned int end = s->n;
	bool removed = false;

	while (end && !is_late(s)) {
		unsigned int begin = end > size ? end - size : 0;

		memcpy(less, s->ops, begin * sizeof(*less));
		memcpy(less + begin, s->ops + end,
		       (s->n - end) * sizeof(*less));
		removed |= try(s, less, s->n - (end - begin));
		end = begin < s->n ? begin : s->n;
	}
	return removed;
}

static void remove_all(struct shrinking *s)
{
	unsigned int size = s->n / 2;

	while (size && !is_late(s)) {
		if (!remove_pieces(s, size) || size > 1)
			size /= 2;
	}
}

static void simplify(struct shrinking *s)
{
	static struct op simpler[OPS_MOST];
	unsigned int i, way;
	int done;

	for (i = 0; i < s->n; i++) {
		for (way = 0, done = 0; done >= 0 && !is_late(s); way++) {
			if (i >= s->n)
				return;
			memcpy(simpler, s->ops, s->n * sizeof(*simpler));
			done = op_simpler(&simpler[i], way);
			if (done > 0)
				try(s, simpler, s->n);
		}
	}
}

void shrink(struct run *run, enum outcome outcome, double seconds)
{
	static struct shrinking s;
	struct world *w = &run->world;

	s.run = run;
	s.outcome = outcome;
	s.until = now_seconds() + seconds;
	s.n = w->verdict.at < w->nops ? w->verdict.at + 1 : w->nops;
	s.verdict = w->verdict;
	memcpy(s.ops, w->ops, s.n * sizeof(*s.ops));
	if (seconds > 0) {
		remove_all(&s);
		simplify(&s);
		remove_all(&s);
	}
	memcpy(w->ops, s.ops, s.n * sizeof(*s.ops));
	w->nops = s.n;
	w->verdict = s.verdict;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The measurements: each function fills in some rows for one back end.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <err.h>
#include <stdbool.h>

#include "backend.h"
#include "files.h"
#include "report.h"

#define WATCHED		1000
#define ROUNDS		101	/* of what can be repeated at once */
#define BATCH_ROUNDS	11	/* of what needs 1000 fds each time */

/* One way to watch, and the column of its figures. */
struct subject {
	const struct backend *be;
	enum column col;
};

static inline void must(bool ok, const struct subject *sub,
			const char *what)
{
	if (!ok)
		errx(1, "%s: %s failed", sub->be->name, what);
}

static inline struct set *watch_all(const struct subject *sub,
				    const struct files *files)
{
	struct set *set = sub->be->open(files->n);

	must(sub->be->add(set, files->in, files->n), sub, "adding");
	return set;
}

/* The call and the reader's loop, @ready of 1000 eventfds ready */
void measure_wait(const struct subject *sub, int ready);

/* write(2) to an eventfd that nobody watches; close(2) of such a one */
double measure_unwatched_write(void);
double measure_unwatched_close(void);

/* What watching an eventfd adds to a write(2) to it */
void measure_producer(const struct subject *sub, double unwatched);

/* Per fd: 1000 fds, @batch of them in one call */
void measure_add(const struct subject *sub, int batch);
void measure_first_add(const struct subject *sub);
void measure_modify(const struct subject *sub, int batch);
void measure_remove(const struct subject *sub, int batch);

/* close(2) of a watched eventfd, and of a set of 1000 per fd */
void measure_close(const struct subject *sub);
void measure_set_close(const struct subject *sub);

/* From the addition of an eventfd to its close and the last event, if any */
void measure_life(const struct subject *sub);

/* Two processes that wake each other; one that writes, waits and reads */
void measure_pingpong(const struct subject *sub);
void measure_cycle(const struct subject *sub);

/* The call and the reader's loop, one of @nfds ready; also poll(2)'s */
void measure_one_of(const struct subject *sub, int nfds);
void measure_poll_one_of(int nfds);

/* One eventfd in 1000 sets: its addition to each, its wake-up, its close */
void measure_in_sets(const struct subject *sub, double unwatched);

/* What the kernel keeps for each of @nfds fds, in one set and in a second */
void measure_memory(const struct subject *sub, int nfds);

#endif /* BENCH_MEASURE_H */

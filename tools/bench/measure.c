// SPDX-License-Identifier: GPL-2.0
/*
 * The measurements: each function fills in some rows for one back end.
 */
#include "measure.h"

#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"

#define WATCHED		1000
#define ROUNDS		101	/* of what can be repeated at once */
#define BATCH_ROUNDS	11	/* of what needs 1000 fds each time */

static struct series series;

static int *eventfds_open(int n)
{
	int i, *fds = calloc(n, sizeof(*fds));

	if (!fds)
		err(1, "calloc");
	for (i = 0; i < n; i++) {
		fds[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (fds[i] < 0)
			err(1, "eventfd %d of %d", i, n);
	}
	return fds;
}

static void eventfds_close(int *fds, int n)
{
	int i;

	for (i = 0; i < n; i++)
		close(fds[i]);
	free(fds);
}

static void signal_fd(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		err(1, "write to an eventfd");
}

static void clear_fd(int fd)
{
	uint64_t value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		err(1, "read from an eventfd");
}

static void must(bool ok, const struct subject *sub, const char *what)
{
	if (!ok)
		errx(1, "%s: %s failed", sub->be->name, what);
}

static struct set *watch_all(const struct subject *sub, const int *fds, int n)
{
	struct set *set = sub->be->open(n);

	must(sub->be->add(set, fds, n), sub, "adding");
	return set;
}

/* Level-triggered fds would be ready the next time, too. */
static void settle(const struct subject *sub, struct set *set, const int *fds,
		   int n, int step)
{
	int i;

	if (!sub->be->level)
		return;
	for (i = 0; i < n; i++)
		clear_fd(fds[i * step]);
	must(sub->be->wait(set, 0) == 0, sub, "reading all");
}

void measure_wait(const struct subject *sub, int ready)
{
	int *fds = eventfds_open(WATCHED);
	struct set *set = watch_all(sub, fds, WATCHED);
	int i, k, n, step = WATCHED / (ready + 1);

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		for (k = 0; k < ready; k++)
			signal_fd(fds[k * step]);
		series_begin(&series);
		n = sub->be->wait(set, 0);
		series_end(&series);
		must(n == ready, sub, "waiting for all that is ready");
		settle(sub, set, fds, ready, step);
	}
	report_value("A wait and its reading, k of 1000 fds ready", "wait_%d",
		     "k = %d", ready, sub->col, series_median(&series));
	sub->be->close(set);
	eventfds_close(fds, WATCHED);
}

double measure_unwatched_write(void)
{
	int i, *fds = eventfds_open(1);

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		series_begin(&series);
		signal_fd(fds[0]);
		series_end(&series);
	}
	eventfds_close(fds, 1);
	return series_median(&series);
}

double measure_unwatched_close(void)
{
	int i, *fds = eventfds_open(WATCHED);

	series_clear(&series);
	for (i = 0; i < WATCHED; i++) {
		series_begin(&series);
		close(fds[i]);
		series_end(&series);
	}
	free(fds);
	return series_median(&series);
}

void measure_producer(const struct subject *sub, double unwatched)
{
	const char *group = "What watching adds to a write to an eventfd";
	int i, *fds = eventfds_open(WATCHED);
	struct set *set = watch_all(sub, fds, WATCHED);

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		series_begin(&series);
		signal_fd(fds[i]);
		series_end(&series);
		must(sub->be->wait(set, 0) == 1, sub, "waiting for one");
		settle(sub, set, &fds[i], 1, 1);
	}
	report_value(group, "producer", "first event since the last wait", 0,
		     sub->col, series_median(&series) - unwatched);

	signal_fd(fds[0]);
	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		series_begin(&series);
		signal_fd(fds[0]);
		series_end(&series);
	}
	report_value(group, "producer_again", "one more while it is pending", 0,
		     sub->col, series_median(&series) - unwatched);
	sub->be->close(set);
	eventfds_close(fds, WATCHED);
}

typedef bool change_fn(struct set *set, const int *fds, int n);

/* Changes all fds once, @batch at a time: each call is a sample. */
static void change_all(const struct subject *sub, change_fn *change,
		       struct set *set, const int *fds, int batch)
{
	bool ok;
	int i;

	for (i = 0; i < WATCHED; i += batch) {
		series_begin(&series);
		ok = change(set, fds + i, batch);
		series_end(&series);
		must(ok, sub, "a change");
	}
}

/* What @change costs per fd, in a set that was full or empty before. */
static double change_cost(const struct subject *sub, change_fn *change,
			  bool full, int batch)
{
	int i, rounds = batch == WATCHED ? BATCH_ROUNDS : 1;
	int *fds = eventfds_open(WATCHED);

	series_clear(&series);
	for (i = 0; i < rounds; i++) {
		struct set *set = full ? watch_all(sub, fds, WATCHED)
				       : sub->be->open(WATCHED);

		change_all(sub, change, set, fds, batch);
		sub->be->close(set);
	}
	eventfds_close(fds, WATCHED);
	return series_median(&series) / batch;
}

void measure_add(const struct subject *sub, int batch)
{
	report_value("Adding, per fd", "add_%d", "%d at a time", batch,
		     sub->col, change_cost(sub, sub->be->add, false, batch));
}

void measure_modify(const struct subject *sub, int batch)
{
	report_value("Changing the events, per fd", "modify_%d",
		     "%d at a time", batch, sub->col,
		     change_cost(sub, sub->be->modify, true, batch));
}

void measure_remove(const struct subject *sub, int batch)
{
	report_value("Removing, per fd", "remove_%d", "%d at a time", batch,
		     sub->col, change_cost(sub, sub->be->remove, true, batch));
}

void measure_close(const struct subject *sub)
{
	int i, *fds = eventfds_open(WATCHED);
	struct set *set = watch_all(sub, fds, WATCHED);

	series_clear(&series);
	for (i = 0; i < WATCHED; i++) {
		series_begin(&series);
		close(fds[i]);
		series_end(&series);
	}
	report_value("Closing", "close_watched", "a watched eventfd", 0,
		     sub->col, series_median(&series));
	sub->be->close(set);
	free(fds);
}

void measure_set_close(const struct subject *sub)
{
	int i, *fds = eventfds_open(WATCHED);

	series_clear(&series);
	for (i = 0; i < BATCH_ROUNDS; i++) {
		struct set *set = watch_all(sub, fds, WATCHED);

		series_begin(&series);
		sub->be->close(set);
		series_end(&series);
	}
	report_value("Closing", "close_set", "a set of 1000, per fd", 0,
		     sub->col, series_median(&series) / WATCHED);
	eventfds_close(fds, WATCHED);
}

void measure_pingpong(const struct subject *sub)
{
	int i, *fds = eventfds_open(2);
	struct set *ping = watch_all(sub, &fds[0], 1);
	struct set *pong = watch_all(sub, &fds[1], 1);
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	while (!child) {
		sub->be->wait(ping, -1);
		if (sub->be->level)
			clear_fd(fds[0]);
		signal_fd(fds[1]);
	}

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		series_begin(&series);
		signal_fd(fds[0]);
		sub->be->wait(pong, -1);
		if (sub->be->level)
			clear_fd(fds[1]);
		series_end(&series);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	report_value("Whole cycles", "pingpong",
		     "two processes wake each other", 0, sub->col,
		     series_median(&series));
	sub->be->close(ping);
	sub->be->close(pong);
	eventfds_close(fds, 2);
}

void measure_cycle(const struct subject *sub)
{
	int i, n, *fds = eventfds_open(WATCHED);
	struct set *set = watch_all(sub, fds, WATCHED);

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		series_begin(&series);
		signal_fd(fds[i]);
		n = sub->be->wait(set, 0);
		clear_fd(fds[i]);
		series_end(&series);
		must(n == 1, sub, "waiting for one");
	}
	report_value("Whole cycles", "cycle", "write, wait, read", 0,
		     sub->col, series_median(&series));
	sub->be->close(set);
	eventfds_close(fds, WATCHED);
}

#define ONE_OF_GROUP	"A wait and its reading, one of N fds ready"
#define ONE_OF_ID	"one_of_%d"
#define ONE_OF_NAME	"N = %d"

void measure_one_of(const struct subject *sub, int nfds)
{
	int i, n, *fds = eventfds_open(nfds);
	struct set *set = watch_all(sub, fds, nfds);

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		signal_fd(fds[(i * 7919) % nfds]);
		series_begin(&series);
		n = sub->be->wait(set, 0);
		series_end(&series);
		must(n == 1, sub, "waiting for one");
		settle(sub, set, &fds[(i * 7919) % nfds], 1, 1);
	}
	report_value(ONE_OF_GROUP, ONE_OF_ID, ONE_OF_NAME, nfds, sub->col,
		     series_median(&series));
	sub->be->close(set);
	eventfds_close(fds, nfds);
}

static int poll_and_read(struct pollfd *pfds, int nfds)
{
	int i, left, n = poll(pfds, nfds, 0);

	for (i = 0, left = n; left > 0 && i < nfds; i++) {
		if (!pfds[i].revents)
			continue;
		consume(pfds[i].fd, pfds[i].revents);
		left--;
	}
	return n;
}

/* The ready fd is in the middle: poll has to look at half of them. */
void measure_poll_one_of(int nfds)
{
	int i, n, *fds = eventfds_open(nfds);
	struct pollfd *pfds = calloc(nfds, sizeof(*pfds));

	if (!pfds)
		err(1, "calloc");
	for (i = 0; i < nfds; i++)
		pfds[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	signal_fd(fds[nfds / 2]);

	series_clear(&series);
	for (i = 0; i < BATCH_ROUNDS; i++) {
		series_begin(&series);
		n = poll_and_read(pfds, nfds);
		series_end(&series);
		if (n != 1)
			errx(1, "poll: %d ready instead of one", n);
	}
	report_value(ONE_OF_GROUP, ONE_OF_ID, ONE_OF_NAME, nfds, COL_POLL,
		     series_median(&series));
	free(pfds);
	eventfds_close(fds, nfds);
}

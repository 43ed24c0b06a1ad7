// SPDX-License-Identifier: GPL-2.0
/*
 * The measurements: each function fills in some rows for one back end.
 */
#include "measure.h"

#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "policy.h"
#include "sample.h"

static struct series series;

/*
 * Level-triggered fds would be ready the next time, too; and files other than
 * eventfds hold what was written until it is read.
 */
static void settle(const struct subject *sub, struct set *set,
		   const struct files *files, int first, int n, int step)
{
	int i;

	if (!sub->be->level && files->in[0] == files->out[0])
		return;
	for (i = 0; i < n; i++)
		files_clear(files, first + i * step);
	if (sub->be->level)
		must(sub->be->wait(set, 0) == 0, sub, "reading all");
}

void measure_wait(const struct subject *sub, int ready)
{
	struct files *files = files_open(WATCHED);
	struct set *set = watch_all(sub, files);
	int i, k, n, step = WATCHED / (ready + 1);

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		for (k = 0; k < ready; k++)
			files_signal(files, k * step);
		series_begin(&series);
		n = sub->be->wait(set, 0);
		series_end(&series);
		must(n == ready, sub, "waiting for all that is ready");
		settle(sub, set, files, 0, ready, step);
	}
	report_value("A wait and its reading, k of 1000 fds ready", "wait_%d",
		     "k = %d", ready, sub->col, series_median(&series));
	sub->be->close(set);
	files_close(files);
}

double measure_unwatched_write(void)
{
	struct files *files = files_open(1);
	int i;

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		series_begin(&series);
		files_signal(files, 0);
		series_end(&series);
	}
	files_close(files);
	return series_median(&series);
}

double measure_unwatched_close(void)
{
	struct files *files = files_open(WATCHED);
	int i;

	series_clear(&series);
	for (i = 0; i < WATCHED; i++) {
		series_begin(&series);
		close(files->in[i]);
		series_end(&series);
	}
	files_close(files);
	return series_median(&series);
}

void measure_producer(const struct subject *sub, double unwatched)
{
	const char *group = "What watching adds to a write to an eventfd";
	struct files *files = files_open(WATCHED);
	int i;
	struct set *set = watch_all(sub, files);

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		series_begin(&series);
		files_signal(files, i);
		series_end(&series);
		must(sub->be->wait(set, 0) == 1, sub, "waiting for one");
		settle(sub, set, files, i, 1, 1);
	}
	report_value(group, "producer", "first event since the last wait", 0,
		     sub->col, series_median(&series) - unwatched);

	files_signal(files, 0);
	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		series_begin(&series);
		files_signal(files, 0);
		series_end(&series);
	}
	report_value(group, "producer_again", "one more while it is pending", 0,
		     sub->col, series_median(&series) - unwatched);
	sub->be->close(set);
	files_close(files);
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

/*
 * What @change costs per fd, in a set that was full or empty before.  About
 * every second call for ten fds gets new room for a cache, so that the median
 * call differs between builds: all calls of a round are one sample there.
 */
static double change_cost(const struct subject *sub, change_fn *change,
			  bool full, int batch)
{
	int i, rounds = batch == 1 ? 1 : BATCH_ROUNDS;
	struct files *files = files_open(WATCHED);

	series_clear(&series);
	for (i = 0; i < rounds; i++) {
		struct set *set = full ? watch_all(sub, files)
				       : sub->be->open(WATCHED);

		change_all(sub, change, set, files->in, batch);
		if (rounds > 1)
			series_join(&series, i);
		sub->be->close(set);
	}
	files_close(files);
	return series_median(&series) / (rounds > 1 ? WATCHED : 1);
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
	struct files *files = files_open(WATCHED);
	int i;
	struct set *set = watch_all(sub, files);

	series_clear(&series);
	for (i = 0; i < WATCHED; i++) {
		series_begin(&series);
		close(files->in[i]);
		series_end(&series);
	}
	report_value("Closing", "close_watched", "a watched eventfd", 0,
		     sub->col, series_median(&series));
	sub->be->close(set);
	files_close(files);
}

void measure_pingpong(const struct subject *sub)
{
	struct files *files = files_open(2);
	int i;
	struct set *ping = sub->be->open(1), *pong = sub->be->open(1);
	pid_t child;

	/* One set watches each eventfd, also where the child has its own. */
	must((sub->be->not_inherited ||
	      sub->be->add(ping, &files->in[0], 1)) &&
	     sub->be->add(pong, &files->in[1], 1), sub, "adding");
	policy_set(SCHED_FIFO);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child && sub->be->not_inherited) {
		ping = sub->be->open(1);
		must(sub->be->add(ping, &files->in[0], 1), sub, "adding");
	}
	while (!child) {
		sub->be->wait(ping, -1);
		if (sub->be->level)
			files_clear(files, 0);
		files_signal(files, 1);
	}

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		series_begin(&series);
		files_signal(files, 0);
		sub->be->wait(pong, -1);
		if (sub->be->level)
			files_clear(files, 1);
		series_end(&series);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	policy_set(SCHED_OTHER);
	report_value("Whole cycles", "pingpong",
		     "two processes wake each other", 0, sub->col,
		     series_median(&series));
	sub->be->close(ping);
	sub->be->close(pong);
	files_close(files);
}

void measure_cycle(const struct subject *sub)
{
	struct files *files = files_open(WATCHED);
	int i, n;
	struct set *set = watch_all(sub, files);

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		series_begin(&series);
		files_signal(files, i);
		n = sub->be->wait(set, 0);
		files_clear(files, i);
		series_end(&series);
		must(n == 1, sub, "waiting for one");
	}
	report_value("Whole cycles", "cycle", "write, wait, read", 0,
		     sub->col, series_median(&series));
	sub->be->close(set);
	files_close(files);
}

void measure_life(const struct subject *sub)
{
	struct files *files = files_open(ROUNDS);
	struct set *set = sub->be->open(ROUNDS);
	int i, n, last;

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		series_begin(&series);
		must(sub->be->add(set, &files->in[i], 1), sub, "adding");
		files_signal(files, i);
		n = sub->be->wait(set, 0);
		close(files->in[i]);
		/* With a ring, only a call tells what has been dealt with. */
		last = sub->be->wait(set, sub->be->tells_closed ? -1 : 0);
		series_end(&series);
		must(n == 1 && last == sub->be->tells_closed, sub,
		     "waiting for one, and for its close");
	}
	report_value("Whole cycles", "life", "add, write, wait, close, wait", 0,
		     sub->col, series_median(&series));
	sub->be->close(set);
	files_close(files);
}

#define ONE_OF_GROUP	"A wait and its reading, one of N fds ready"
#define ONE_OF_ID	"one_of_%d"
#define ONE_OF_NAME	"N = %d"

void measure_one_of(const struct subject *sub, int nfds)
{
	struct files *files = files_open(nfds);
	int i, n;
	struct set *set = watch_all(sub, files);

	series_clear(&series);
	for (i = 0; i < ROUNDS; i++) {
		files_signal(files, (i * 7919) % nfds);
		series_begin(&series);
		n = sub->be->wait(set, 0);
		series_end(&series);
		must(n == 1, sub, "waiting for one");
		settle(sub, set, files, (i * 7919) % nfds, 1, 1);
	}
	report_value(ONE_OF_GROUP, ONE_OF_ID, ONE_OF_NAME, nfds, sub->col,
		     series_median(&series));
	sub->be->close(set);
	files_close(files);
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
	struct files *files = files_open(nfds);
	int i, n;
	struct pollfd *pfds = calloc(nfds, sizeof(*pfds));

	if (!pfds)
		err(1, "calloc");
	for (i = 0; i < nfds; i++)
		pfds[i] = (struct pollfd){
			.fd = files->in[i], .events = POLLIN,
		};
	files_signal(files, nfds / 2);

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
	files_close(files);
}

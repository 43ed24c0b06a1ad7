// SPDX-License-Identifier: GPL-2.0
/*
 * Tests what engine.h promises for each engine; prints TAP.
 *
 * enginetest [ENGINE...] tests these engines, or all; it skips missing ones.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../clock.h"
#include "engine.h"
#include "looks.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MANY		300

static bool quiet_fd_is_not_told(void)
{
	struct pair pair = make_pair();
	bool ok = !engine->add(set, pair.ours, POLLIN) && silent(pair.ours);

	ok = ok && !engine->remove(set, pair.ours);
	drop_pair(pair);
	return ok;
}

static bool arrival_is_told(void)
{
	struct pair pair = make_pair();
	bool ok = !engine->add(set, pair.ours, POLLIN) && silent(pair.ours);
	int i;

	for (i = 0; ok && i < 3; i++) {
		say(pair.theirs);
		ok = comes(pair.ours, POLLIN);
		empty(pair.ours);
	}
	ok = ok && silent(pair.ours) && !engine->remove(set, pair.ours);
	drop_pair(pair);
	return ok;
}

static bool ready_at_add_is_told(void)
{
	struct pair pair = make_pair();
	bool ok;

	say(pair.theirs);
	ok = !engine->add(set, pair.ours, POLLIN) && comes(pair.ours, POLLIN);
	ok = ok && !engine->remove(set, pair.ours);
	drop_pair(pair);
	return ok;
}

/* Only a level-triggered engine reports again what was not read. */
static bool unread_is_told_again_by_level(void)
{
	struct pair pair = make_pair();
	bool ok = !engine->add(set, pair.ours, POLLIN);

	say(pair.theirs);
	ok = ok && comes(pair.ours, POLLIN);
	if (engine->level)
		ok = ok && comes(pair.ours, POLLIN);
	ok = ok && !engine->remove(set, pair.ours);
	drop_pair(pair);
	return ok;
}

static bool room_to_write_is_told(void)
{
	static char block[65536];
	struct pair pair = make_pair();
	bool ok = !engine->add(set, pair.ours, POLLIN | POLLOUT) &&
		  comes(pair.ours, POLLOUT);

	while (write(pair.ours, block, sizeof(block)) > 0)
		;
	ok = ok && silent(pair.ours);
	while (read(pair.theirs, block, sizeof(block)) > 0)
		;
	ok = ok && comes(pair.ours, POLLOUT);
	ok = ok && !engine->remove(set, pair.ours);
	drop_pair(pair);
	return ok;
}

static bool changed_events_count(void)
{
	struct pair pair = make_pair();
	bool ok;

	if (!engine->level) {
		drop_pair(pair);
		return true;
	}
	ok = !engine->add(set, pair.ours, POLLOUT) &&
	     comes(pair.ours, POLLOUT) &&
	     !engine->change(set, pair.ours, POLLIN) && silent(pair.ours);
	say(pair.theirs);
	ok = ok && comes(pair.ours, POLLIN) && !(told[pair.ours] & POLLOUT);
	ok = ok && !engine->remove(set, pair.ours);
	drop_pair(pair);
	return ok;
}

static bool hang_up_is_told(void)
{
	struct pair pair = make_pair();
	bool ok = !engine->add(set, pair.ours, POLLIN) && silent(pair.ours);

	close(pair.theirs);
	ok = ok && comes(pair.ours, POLLIN | POLLHUP);
	ok = ok && !engine->remove(set, pair.ours);
	close(pair.ours);
	return ok;
}

static bool removed_fd_is_silent(void)
{
	struct pair pair = make_pair();
	bool ok = !engine->add(set, pair.ours, POLLIN);

	say(pair.theirs);
	ok = ok && comes(pair.ours, POLLIN);
	empty(pair.ours);
	ok = ok && !engine->remove(set, pair.ours);
	say(pair.theirs);
	ok = ok && silent(pair.ours);
	drop_pair(pair);
	return ok;
}

static bool number_of_a_closed_fd_works_again(void)
{
	struct pair first = make_pair(), second;
	bool ok = !engine->add(set, first.ours, POLLIN) && silent(first.ours);

	ok = ok && !engine->remove(set, first.ours);
	close(first.ours);
	second = make_pair();
	ok = ok && second.ours == first.ours &&
	     !engine->add(set, second.ours, POLLIN) && silent(second.ours);
	say(second.theirs);
	ok = ok && comes(second.ours, POLLIN);
	ok = ok && !engine->remove(set, second.ours);
	close(first.theirs);
	drop_pair(second);
	return ok;
}

static bool fd_that_is_not_open_does_no_harm(void)
{
	struct pair pair = make_pair();
	int closed = dup(pair.ours), ret;
	bool ok;

	close(closed);
	ret = engine->add(set, closed, POLLIN);
	ok = !engine->add(set, pair.ours, POLLIN);
	/* select(2) can't say which of its fds is closed. */
	if (!strcmp(engine->name, "select"))
		ok = ok && look(0) == -EBADF;
	if (!ret)
		engine->remove(set, closed);
	say(pair.theirs);
	ok = ok && comes(pair.ours, POLLIN);
	ok = ok && !engine->remove(set, pair.ours);
	drop_pair(pair);
	return ok;
}

static bool time_out_is_not_early(void)
{
	int64_t from;
	int i;

	for (i = 0; i < 5; i++) {
		from = now_ns();
		if (!look(30) && now_ns() - from >= 29000000)
			return true;
	}
	return false;
}

static void ignore(int sig)
{
	(void)sig;
}

static bool signal_ends_the_wait(void)
{
	struct itimerval timer = {
		.it_value.tv_usec = 20000,
		.it_interval.tv_usec = 20000,
	};
	struct sigaction act = { .sa_handler = ignore };
	int nr;

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	nr = look(PATIENCE_MS);
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
	return nr == -EINTR;
}

/* Fills @pairs, writes to each, and checks which are reported. */
static bool all_are_told(struct pair *pairs, int nr)
{
	int i, round, seen = 0;

	for (i = 0; i < nr; i++) {
		pairs[i] = make_pair();
		if (engine->add(set, pairs[i].ours, POLLIN))
			return false;
	}
	look(0);
	memset(told, 0, sizeof(told));
	for (i = 0; i < nr; i++)
		say(pairs[i].theirs);
	for (round = 0; round < 5 * nr && seen < nr; round++) {
		look(PATIENCE_MS);
		for (i = 0, seen = 0; i < nr; i++)
			seen += !!(told[pairs[i].ours] & POLLIN);
	}
	for (i = 0; i < nr; i++) {
		engine->remove(set, pairs[i].ours);
		drop_pair(pairs[i]);
	}
	return seen == nr;
}

static bool many_are_all_told(void)
{
	static struct pair pairs[MANY];

	return all_are_told(pairs, MANY);
}

static bool full_queue_of_signals_loses_none(void)
{
	static struct pair pairs[MANY];
	struct rlimit old, few;
	bool ok;

	getrlimit(RLIMIT_SIGPENDING, &old);
	few = old;
	few.rlim_cur = 10;
	if (setrlimit(RLIMIT_SIGPENDING, &few))
		err(1, "RLIMIT_SIGPENDING");
	ok = all_are_told(pairs, MANY);
	setrlimit(RLIMIT_SIGPENDING, &old);
	return ok && arrival_is_told();
}

/* The caller walks over events while it changes the set. */
static bool events_stay_while_the_set_changes(void)
{
	struct pair a = make_pair(), b = make_pair(), c = make_pair();
	const struct pollfd *events = NULL;
	struct pollfd before;
	bool ok;
	int nr;

	say(a.theirs);
	ok = !engine->add(set, a.ours, POLLIN);
	nr = engine->wait(set, &events, PATIENCE_MS);
	ok = ok && nr == 1 && events->fd == a.ours;
	if (ok) {
		before = *events;
		say(b.theirs);
		ok = !engine->add(set, b.ours, POLLIN) &&
		     !engine->add(set, c.ours, POLLIN) &&
		     !engine->remove(set, a.ours) &&
		     events->fd == before.fd &&
		     events->revents == before.revents;
		ok = ok && comes(b.ours, POLLIN);
		ok = ok && !engine->remove(set, b.ours) &&
		     !engine->remove(set, c.ours);
	}
	drop_pair(a);
	drop_pair(b);
	drop_pair(c);
	return ok;
}

static const struct check {
	const char *name;
	bool (*run)(void);
} checks[] = {
#define CHECK(name) { #name, name }
	CHECK(quiet_fd_is_not_told),
	CHECK(arrival_is_told),
	CHECK(ready_at_add_is_told),
	CHECK(unread_is_told_again_by_level),
	CHECK(room_to_write_is_told),
	CHECK(changed_events_count),
	CHECK(hang_up_is_told),
	CHECK(removed_fd_is_silent),
	CHECK(number_of_a_closed_fd_works_again),
	CHECK(fd_that_is_not_open_does_no_harm),
	CHECK(time_out_is_not_early),
	CHECK(signal_ends_the_wait),
	CHECK(many_are_all_told),
	CHECK(full_queue_of_signals_loses_none),
	CHECK(events_stay_while_the_set_changes),
};

static int failed;
static int count;

static void result(bool ok, const char *name, const char *more)
{
	failed += !ok;
	printf("%sok %d - %s_%s%s\n", ok ? "" : "not ", ++count, engine->name,
	       name, more);
}

/* Each check has a set of its own. */
static void check_engine(void)
{
	char why[ENGINE_WHY] = "", skip[ENGINE_WHY + 16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		set = engine->open(MAXFDS, why);
		if (!set) {
			snprintf(skip, sizeof(skip), " # SKIP %s", why);
			result(true, checks[i].name, skip);
			continue;
		}
		result(checks[i].run(), checks[i].name, "");
		engine->close(set);
	}
}

int main(int argc, char **argv)
{
	struct rlimit lim = { .rlim_cur = MAXFDS, .rlim_max = MAXFDS };
	int i, nr;

	if (setrlimit(RLIMIT_NOFILE, &lim))
		err(1, "RLIMIT_NOFILE");
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (nr = 0; engine_at(nr); nr++)
		;
	if (argc > 1)
		nr = argc - 1;
	printf("TAP version 13\n1..%zu\n", nr * ARRAY_SIZE(checks));
	for (i = 0; i < nr; i++) {
		engine = argc > 1 ? engine_choose(argv[i + 1]) : engine_at(i);
		check_engine();
	}
	return failed ? 1 : 0;
}

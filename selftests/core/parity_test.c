// SPDX-License-Identifier: GPL-2.0
/*
 * What means the same on the device and on epoll: one script, run on both, must
 * have the same result.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

/* The objects of a script, by letter; each kind has its place. */
enum { THINGS = 8 };

enum kind {
	STREAM, DATAGRAM, PIPE_READ, PIPE_WRITE, EVENT, KINDS,
};

struct thing {
	enum kind kind;
	int fd;
	int peer;
	int kept;	/* a duplicate of fd, or -1 */
	bool added;
};

struct stage {
	struct set set;
	struct thing things[THINGS];
	char story[8192];
	size_t len;
};

static void tell(struct stage *stage, const char *text)
{
	size_t n = strlen(text);

	if (stage->len + n < sizeof(stage->story)) {
		memcpy(stage->story + stage->len, text, n + 1);
		stage->len += n;
	}
}

static int thing_open(struct thing *thing)
{
	int fds[2] = { -1, -1 }, ret = 0;

	switch (thing->kind) {
	case STREAM:
		ret = unix_pair(fds, SOCK_STREAM);
		break;
	case DATAGRAM:
		ret = unix_pair(fds, SOCK_DGRAM);
		break;
	case PIPE_READ:
		ret = pipe_pair(fds);
		break;
	case PIPE_WRITE:
		ret = pipe_pair(fds);
		thing->fd = fds[1];
		thing->peer = fds[0];
		thing->kept = -1;
		thing->added = false;
		return ret;
	default:
		fds[0] = eventfd_new();
		fds[1] = dup(fds[0]);
	}
	thing->fd = fds[0];
	thing->peer = fds[1];
	thing->kept = -1;
	thing->added = false;
	return ret;
}

static void thing_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int stage_open(struct stage *stage, const struct backend *ops)
{
	int i, ret;

	memset(stage, 0, sizeof(*stage));
	ret = set_open(&stage->set, ops, 64);
	for (i = 0; !ret && i < THINGS; i++) {
		stage->things[i].kind = i % KINDS;
		ret = thing_open(&stage->things[i]);
	}
	return ret;
}

static void stage_close(struct stage *stage)
{
	int i;

	for (i = 0; i < THINGS; i++) {
		thing_close(&stage->things[i].fd);
		thing_close(&stage->things[i].peer);
		thing_close(&stage->things[i].kept);
	}
	set_close(&stage->set);
}

static void post(int fd, enum kind kind)
{
	if (kind == EVENT)
		eventfd_post(fd);
	else
		put_byte(fd);
}

/* What is in the set, and in which order it is reported. */
static void take_all(struct stage *stage)
{
	struct pollfd out[WAITER_ROOM];
	int i, j, n = set_wait(&stage->set, out, WAITER_ROOM, 0);
	char text[64];

	if (n < 0) {
		snprintf(text, sizeof(text), "[%d]", n);
		tell(stage, text);
		return;
	}
	tell(stage, "[");
	for (i = 0; i < n; i++) {
		for (j = 0; j < THINGS; j++)
			if (stage->things[j].added &&
			    stage->things[j].fd == out[i].fd)
				break;
		snprintf(text, sizeof(text), "%s%c:%x", i ? " " : "",
			 j < THINGS ? 'a' + j : '?', out[i].revents & 0xffff);
		tell(stage, text);
	}
	tell(stage, "]");
}

#define ASK_IN	(POLLIN | POLLRDHUP | POLLHUP | POLLERR)
#define ASK_OUT	(POLLOUT | POLLHUP | POLLERR)

/*
 * One step: a letter for the operation and one for the object.  Add for input
 * or Output, Remove, Write by its peer, read by it (Drain), Get what came,
 * Fill, its peer Hangs up, Close, Keep a duplicate, Let it go, New file.  A dot
 * takes events.
 */
static void step(struct stage *stage, char verb, struct thing *thing)
{
	switch (verb) {
	case 'A':
	case 'O':
		if (thing->added || thing->fd < 0)
			break;
		thing->added = !set_add(&stage->set, thing->fd,
					verb == 'A' ? ASK_IN : ASK_OUT);
		tell(stage, thing->added ? "+" : "!");
		break;
	case 'R':
		if (!thing->added || thing->fd < 0)
			break;
		thing->added = false;
		tell(stage, set_remove(&stage->set, thing->fd) ? "!" : "-");
		break;
	case 'W':
		if (thing->peer >= 0 && thing->kind != PIPE_WRITE)
			post(thing->peer, thing->kind);
		break;
	case 'D':
		if (thing->peer >= 0 && thing->kind != PIPE_READ)
			empty(thing->peer);
		break;
	case 'G':
		if (thing->fd >= 0 && thing->kind != PIPE_WRITE)
			empty(thing->fd);
		break;
	case 'F':
		if (thing->fd >= 0 &&
		    (thing->kind == STREAM || thing->kind == PIPE_WRITE))
			fill(thing->fd);
		break;
	case 'H':
		thing_close(&thing->peer);
		break;
	case 'C':
		/* A number whose file lives on is not reused here. */
		if (thing->kept >= 0)
			break;
		thing_close(&thing->fd);
		thing->added = false;
		if (thing->kind == EVENT)
			thing_close(&thing->peer);
		break;
	case 'K':
		if (thing->kept < 0 && thing->fd >= 0)
			thing->kept = dup(thing->fd);
		break;
	case 'L':
		thing_close(&thing->kept);
		break;
	case 'N':
		if (thing->fd < 0 && thing->kept < 0) {
			thing_close(&thing->peer);
			thing_open(thing);
		}
		break;
	}
}

static void run(struct stage *stage, const char *script)
{
	for (; *script; script++) {
		if (*script == '.')
			take_all(stage);
		else if (*script >= 'A' && *script <= 'Z' && script[1])
			step(stage, *script, &stage->things[script[1] - 'a']);
	}
}

/* Letters: a stream, b datagram, c pipe end to read, d to write, e event… */
FIXTURE(parity) {
	struct stage device;
	struct stage epoll;
};

FIXTURE_VARIANT(parity) {
	const char *script;
	const char *story;
};

#define STORY(name, what, told)						\
	FIXTURE_VARIANT_ADD(parity, name) {				\
		.script = what, .story = told,				\
	}

STORY(nothing_happens, "AaAbAc..", "+++[][]");
STORY(ready_at_add, "WaWbWcWeAaAbAcAe..", "++++[a:1 b:1 c:1 e:1][]");
STORY(writable_at_add, "OaObOdOe.", "++++[a:4 b:4 d:4 e:4]");
STORY(each_arrival, "AaWa.Wa.Wa..", "+[a:1][a:1][a:1][]");
STORY(arrivals_join, "AaWaWaWa.", "+[a:1]");
STORY(order_of_arrival, "AaAbAcAeWeWaWcWeWb.", "++++[e:1 a:1 c:1 b:1]");
STORY(removed_and_back, "AaWa.Ra.Aa.RaGa.Aa.", "+[a:1]-[]+[a:1]-[]+[]");
STORY(removed_while_pending, "AaAbWaWbRa.", "++-[b:1]");
STORY(closed_while_pending, "AaAbWaWbCa.", "++[b:1]");
STORY(number_used_again, "AeWe.CeNeAe.We.", "+[e:1]+[][e:1]");
STORY(peer_hangs_up, "AaAcHa.Hc.", "++[a:2011][c:10]");
STORY(unread_when_peer_hangs_up, "AaAcWaWc.HaHc.", "++[a:1 c:1][a:2011 c:11]");
STORY(reader_goes, "Od.Fd.Hd.", "+[d:4][][d:8]");
STORY(room_comes_back, "FaOaFdOd.Da.Dd.", "++[][a:4][d:4]");
STORY(duplicate_keeps_it, "AaKaWa.LaWa.Ca.", "+[a:1][a:1][]");
STORY(write_side_is_not_read_side, "Oa.Fa.Wa.Da.", "+[a:4][][][a:4]");
STORY(event_is_read, "OeAb.We.Ge.", "++[e:4][][e:4]");

FIXTURE_SETUP(parity)
{
	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(0, stage_open(&self->epoll, &backend_sysepoll));
	ASSERT_EQ(0, stage_open(&self->device, &backend_devepoll));
}

FIXTURE_TEARDOWN(parity)
{
	stage_close(&self->device);
	stage_close(&self->epoll);
}

TEST_F(parity, tells_the_same_story)
{
	run(&self->epoll, variant->script);
	EXPECT_STREQ(variant->story, self->epoll.story);
	run(&self->device, variant->script);
	EXPECT_STREQ(variant->story, self->device.story);
}

/*
 * Random scripts, with a wait after each step, so that the order of removal and
 * causes that are gone at the wait make no difference.
 */
static void make_script(char *script, size_t steps, unsigned int *seed)
{
	static const char verbs[] = "AAAAOORRWWWWWWDDDGGGFFHCCNNNKL";
	size_t i;

	for (i = 0; i < steps; i++) {
		*script++ = verbs[rand_r(seed) % (sizeof(verbs) - 1)];
		*script++ = 'a' + rand_r(seed) % THINGS;
		*script++ = '.';
	}
	*script = 0;
}

TEST(random_scripts_tell_the_same_story)
{
	enum { SCRIPTS = 40, STEPS = 150 };
	const char *from = getenv("DEVEPOLL_SEED");
	unsigned int first = from ? strtoul(from, NULL, 0) : 20011026, seed;
	char script[3 * STEPS + 1];
	struct stage device, epoll;
	unsigned int i;

	signal(SIGPIPE, SIG_IGN);
	TH_LOG("seeds %u to %u", first, first + SCRIPTS - 1);
	for (i = 0; i < SCRIPTS; i++) {
		seed = first + i;
		make_script(script, STEPS, &seed);
		ASSERT_EQ(0, stage_open(&epoll, &backend_sysepoll));
		ASSERT_EQ(0, stage_open(&device, &backend_devepoll));
		run(&epoll, script);
		run(&device, script);
		ASSERT_STREQ(epoll.story, device.story)
			TH_LOG("seed %u, script %s", first + i, script);
		stage_close(&device);
		stage_close(&epoll);
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so with DEVEPOLL_FAIR: workers that watch one listening
 * socket take turns, and no connection is lost.  This program, started with a
 * word after "--go-on", does what the word says.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/fadvise_filter.h"
#include "core/fadvise_param.h"
#include "core/helpers.h"
#include "core/other_node.h"
#include "preload/preloaded.h"

#define WORKERS		4
#define CONNECTIONS	400
#define TRIES		10
/* No further try after this: the test may take 4 * TEST_SECONDS. */
#define TRIES_NS	(200 * 1000 * NSEC_PER_MSEC)

/* What a worker does with a connection that it was told of. */
enum deed {
	ACCEPTS,
	NEVER_ACCEPTS,	/* waits again at once */
	ENDS,
	PAUSES,		/* asks for no events any more, and stays away */
	STAYS_AWAY,
};

struct crew {
	uint16_t port;
	int listener;
	pid_t pids[WORKERS];
	int nr;
};

/* As asyncio has it: level-triggered, and as many as there are. */
static void accept_all(int listener, char name)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		if (write(fd, &name, 1) != 1)
			_exit(3);
		close(fd);
	}
}

static int work(int listener, int set, char name, enum deed deed)
{
	struct epoll_event event;

	for (;;) {
		if (epoll_wait(set, &event, 1, -1) != 1 ||
		    event.data.fd != listener)
			return 1;
		switch (deed) {
		case ACCEPTS:
			accept_all(listener, name);
			break;
		case NEVER_ACCEPTS:
			usleep(1000);
			break;
		case ENDS:
			return 0;
		case PAUSES:
			event.events = 0;
			if (epoll_ctl(set, EPOLL_CTL_MOD, listener, &event))
				return 2;
			pause();
			break;
		case STAYS_AWAY:
			pause();
			break;
		}
	}
}

/* Where a worker sleeps. */
static long wait_call(void)
{
	if (fadvise_param() == 'N')
		return SYS_ioctl;
	return SYS_FADVISE;
}

static int crew_begin(struct crew *crew)
{
	crew->nr = 0;
	crew->listener = tcp_listener(&crew->port);
	return crew->listener < 0 ||
	       fcntl(crew->listener, F_SETFL, O_NONBLOCK);
}

/* With a set of its own, or in @set; asleep when this returns. */
static int crew_add(struct crew *crew, int set, enum deed deed)
{
	const int name = crew->nr;
	bool device;
	pid_t pid = fork();

	if (!pid) {
		if (set < 0) {
			set = epoll_create1(EPOLL_CLOEXEC);
			if (add(set, crew->listener, EPOLLIN))
				_exit(4);
		}
		_exit(work(crew->listener, set, name, deed));
	}
	crew->pids[crew->nr++] = pid;
	device = !access(NODE, F_OK);
	return await_sleep(pid, device ? wait_call() : SYS_epoll_wait);
}

static void crew_end(struct crew *crew)
{
	int i;

	for (i = 0; i < crew->nr; i++) {
		kill(crew->pids[i], SIGKILL);
		reap(crew->pids[i]);
	}
	close(crew->listener);
}

static int client_begin(const struct crew *crew)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(crew->port),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (const void *)&to, sizeof(to)) ? -errno : fd;
}

/* The worker that answered, or -errno: -EAGAIN if none did in time. */
static int client_end(int fd, int ms)
{
	const struct timeval limit = {
		.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000,
	};
	char name = -1;
	int n;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	n = read(fd, &name, 1);
	n = n == 1 ? name : n < 0 ? -errno : -EPIPE;
	close(fd);
	return n;
}

static int ask(const struct crew *crew)
{
	return client_end(client_begin(crew), 20000);
}

/* --- What a program that was started anew does; its exit status. --- */

/* How often each worker answered; the status is max/min in percent, or 0. */
static int count(const char *what)
{
	int counts[WORKERS] = {}, i, name, min = CONNECTIONS, max = 0;
	struct crew crew;

	if (crew_begin(&crew))
		return 0;
	for (i = 0; i < WORKERS; i++) {
		if (crew_add(&crew, -1, ACCEPTS))
			return 0;
	}
	for (i = 0; i < CONNECTIONS; i++) {
		name = ask(&crew);
		if (name < 0 || name >= WORKERS)
			return 0;
		counts[name]++;
	}
	crew_end(&crew);
	fprintf(stderr, "# %d connections of %d workers, %s:", CONNECTIONS,
		WORKERS, what);
	for (i = 0; i < WORKERS; i++) {
		fprintf(stderr, " %d", counts[i]);
		min = counts[i] < min ? counts[i] : min;
		max = counts[i] > max ? counts[i] : max;
	}
	fputc('\n', stderr);
	if (!min || 100 * max / min > 255)
		return 255;
	return 100 * max / min;
}

/* The first worker does what it does, the second one accepts. */
static int find_another(enum deed deed, int nr)
{
	struct crew crew;
	int i, status = 0;

	if (crew_begin(&crew) || crew_add(&crew, -1, deed) ||
	    crew_add(&crew, -1, ACCEPTS))
		return 1;
	for (i = 0; i < nr && !status; i++)
		status = ask(&crew) != 1;
	crew_end(&crew);
	return status;
}

/* It has the first connection alone; the next one tells the other worker. */
static int find_another_later(void)
{
	struct crew crew;
	int fd, status;

	if (crew_begin(&crew) || crew_add(&crew, -1, STAYS_AWAY) ||
	    crew_add(&crew, -1, ACCEPTS))
		return 1;
	fd = client_begin(&crew);
	if (fd < 0 || await_sleep(crew.pids[0], SYS_pause))
		return 2;
	status = ask(&crew) != 1 || client_end(fd, 20000) != 1;
	crew_end(&crew);
	return status;
}

/* A set that was made before the workers were. */
static int share_a_set(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct crew crew;
	int i, set, status = 0;

	if (crew_begin(&crew))
		return 1;
	set = epoll_create1(EPOLL_CLOEXEC);
	if (add(set, crew.listener, EPOLLIN))
		return 2;
	for (i = 0; i < WORKERS; i++) {
		if (crew_add(&crew, set, ACCEPTS))
			return 3;
	}
	for (i = 0; i < 40 && !status; i++)
		status = ask(&crew) < 0;
	/* A change of the socket, while they wait. */
	event.data.fd = crew.listener;
	if (epoll_ctl(set, EPOLL_CTL_MOD, crew.listener, &event))
		return 4;
	for (i = 0; i < 40 && !status; i++)
		status = ask(&crew) < 0;
	crew_end(&crew);
	return status;
}

static int change(int set, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event event = { .events = events, .data.u64 = data };

	return epoll_ctl(set, EPOLL_CTL_MOD, fd, &event) ? -errno : 0;
}

/* The data of the event, or -1 if there is none. */
static int64_t data_of(int set)
{
	struct epoll_event event;

	if (epoll_wait(set, &event, 1, 0) != 1)
		return -1;
	return event.data.u64;
}

static int change_it(void)
{
	int set = epoll_create1(0), other = epoll_create1(0), fd;
	struct crew crew;

	if (crew_begin(&crew) || add(set, crew.listener, EPOLLIN) ||
	    add(other, crew.listener, EPOLLIN) ||
	    add(set, crew.listener, EPOLLIN) != -EEXIST)
		return 1;
	fd = client_begin(&crew);
	if (fd < 0 || ready(set) != crew.listener)
		return 2;
	if (change(set, crew.listener, 0, 1) || data_of(set) != -1)
		return 3;
	if (change(set, crew.listener, EPOLLIN, 2) || data_of(set) != 2 ||
	    data_of(set) != 2)
		return 4;
	/* Into what is not for this mode, and back. */
	if (change(set, crew.listener, EPOLLIN | EPOLLET, 3) ||
	    data_of(set) != 3 || data_of(set) != -1)
		return 5;
	if (change(set, crew.listener, EPOLLIN | EPOLLONESHOT, 4) ||
	    data_of(set) != 4 || data_of(set) != -1)
		return 6;
	if (change(set, crew.listener, EPOLLIN, 5) || data_of(set) != 5)
		return 7;
	if (change(set, crew.listener, EPOLLIN | EPOLLEXCLUSIVE, 5) != -EINVAL)
		return 8;
	if (epoll_ctl(set, EPOLL_CTL_DEL, crew.listener, NULL) ||
	    data_of(set) != -1 ||
	    change(set, crew.listener, EPOLLIN, 6) != -ENOENT)
		return 9;
	errno = 0;
	if (epoll_ctl(set, EPOLL_CTL_ADD, crew.listener, NULL) != -1 ||
	    errno != EFAULT)
		return 10;
	return ready(other) != crew.listener || !works(set);
}

static int wait_once(int set)
{
	struct epoll_event event;

	return epoll_wait(set, &event, 1, -1) != 1;
}

/* Any other file is for all sets: an eventfd, and a socket in another mode. */
static int wake_all(int fd, uint32_t events, int (*cause)(int arg), int arg)
{
	pid_t pids[2];
	int i, status = 0;

	for (i = 0; i < 2; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			int set = epoll_create1(0);

			_exit(add(set, fd, events) || wait_once(set));
		}
		if (await_sleep(pids[i], wait_call()))
			return 1;
	}
	if (cause(arg) < 0)
		return 2;
	for (i = 0; i < 2; i++)
		status |= reap(pids[i]);
	return status;
}

static struct crew some_crew;

static int connect_to_it(int arg)
{
	(void)arg;
	return client_begin(&some_crew);
}

static int leave_others_alone(void)
{
	int event = eventfd_new();

	return wake_all(event, EPOLLIN, eventfd_post, event) ||
	       crew_begin(&some_crew) ||
	       wake_all(some_crew.listener, EPOLLIN | EPOLLET, connect_to_it,
			0) ||
	       crew_begin(&some_crew) ||
	       wake_all(some_crew.listener, EPOLLIN | EPOLLONESHOT,
			connect_to_it, 0);
}

static int go_on(const char *word)
{
	if (!strcmp(word, "fair"))
		return count("/dev/epoll, DEVEPOLL_FAIR");
	if (!strcmp(word, "epoll"))
		return other_node(-1, 0) ? 0 : count("epoll");
	if (!strcmp(word, "never"))
		return find_another(NEVER_ACCEPTS, 20);
	if (!strcmp(word, "ends"))
		return find_another(ENDS, 2);
	if (!strcmp(word, "pauses"))
		return find_another(PAUSES, 2);
	if (!strcmp(word, "away"))
		return find_another_later();
	if (!strcmp(word, "share"))
		return share_a_set();
	if (!strcmp(word, "change"))
		return change_it();
	if (!strcmp(word, "others"))
		return leave_others_alone();
	return 111;
}

static __attribute__((constructor)) void begin(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "--go-on"))
		_exit(go_on(argv[2]));
	setenv("DEVEPOLL_FAIR", "1", 1);
}

static int run_self(const char *word)
{
	pid_t child = fork();

	if (!child) {
		execl("/proc/self/exe", "program", "--go-on", word, NULL);
		_exit(127);
	}
	return child < 0 ? -errno : reap(child);
}

FIXTURE(fair) { };

FIXTURE_SETUP(fair)
{
}

FIXTURE_TEARDOWN(fair)
{
}

TEST_F_TIMEOUT(fair, workers_take_turns, 4 * TEST_SECONDS)
{
	const uint64_t end = now_ns() + TRIES_NS;
	int tries, status = 0;

	/* On a busy machine, one may be late now and then. */
	for (tries = 0; tries < TRIES && (!tries || now_ns() < end) &&
	     (status < 100 || status > 120); tries++)
		status = run_self("fair");
	EXPECT_LE(100, status);
	EXPECT_GE(120, status);
	/* For comparison. */
	unsetenv("DEVEPOLL_FAIR");
	setenv("DEVEPOLL_NO_KEEP", "1", 1);
	EXPECT_LE(100, run_self("epoll"));
}

TEST_F(fair, connection_is_accepted_where_a_worker_never_does)
{
	EXPECT_EQ(0, run_self("never"));
}

TEST_F(fair, connection_of_a_worker_that_ends_is_accepted)
{
	EXPECT_EQ(0, run_self("ends"));
}

TEST_F(fair, connection_of_a_worker_that_pauses_is_accepted)
{
	EXPECT_EQ(0, run_self("pauses"));
}

TEST_F(fair, connection_of_a_worker_that_stays_away_is_accepted_with_the_next)
{
	EXPECT_EQ(0, run_self("away"));
}

TEST_F(fair, set_that_is_shared_serves_all)
{
	EXPECT_EQ(0, run_self("share"));
}

TEST_F(fair, socket_can_be_changed)
{
	EXPECT_EQ(0, run_self("change"));
}

TEST_F(fair, other_fds_are_for_all_sets)
{
	EXPECT_EQ(0, run_self("others"));
}

TEST_HARNESS_MAIN

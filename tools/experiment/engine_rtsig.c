// SPDX-License-Identifier: GPL-2.0
/*
 * The engine on queued signals: F_SETSIG, O_ASYNC and sigtimedwait(2).
 *
 * If the queue is full, the kernel sends a plain SIGIO instead.  The engine
 * then discards the queued signals, calls poll(2) once to find out what is
 * ready, and continues with signals.  Sockets and pipes send signals; few other
 * files do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine.h"
#include "signal_wait.h"
#include "watched.h"

struct engine_set {
	struct watched watched;
	sigset_t signals;
	struct pollfd *first;	/* ready when added, not yet reported */
	int nr_first;
	struct pollfd *told;	/* those that the last wait reported */
	struct pollfd event;
};

static int queued_signal(void)
{
	return SIGRTMIN + 2;
}

static void close_set(struct engine_set *set)
{
	watched_free(&set->watched);
	free(set->first);
	free(set->told);
	free(set);
}

static struct engine_set *open_set(int maxfds, char why[ENGINE_WHY])
{
	struct engine_set *set = calloc(1, sizeof(*set));

	if (!set || !watched_init(&set->watched, maxfds)) {
		engine_why(why, ENOMEM, "arrays");
		free(set);
		return NULL;
	}
	set->first = calloc(maxfds, sizeof(*set->first));
	set->told = calloc(maxfds, sizeof(*set->told));
	sigemptyset(&set->signals);
	sigaddset(&set->signals, queued_signal());
	sigaddset(&set->signals, SIGIO);
	errno = set->first && set->told ? 0 : ENOMEM;
	if (!errno)
		errno = pthread_sigmask(SIG_BLOCK, &set->signals, NULL);
	if (!errno)
		return set;
	engine_why(why, errno, "blocking signals");
	close_set(set);
	return NULL;
}

/* Signals report changes, so poll once for what is there already. */
static void ask(struct engine_set *set, int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	if (poll(&pfd, 1, 0) != 1)
		return;
	if (set->nr_first < set->watched.maxfds)
		set->first[set->nr_first++] = pfd;
}

static int start_signals(int fd)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = gettid() };
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETOWN_EX, &owner) ||
	    fcntl(fd, F_SETSIG, queued_signal()) ||
	    fcntl(fd, F_SETFL, flags | O_ASYNC))
		return -errno;
	return 0;
}

static int add(struct engine_set *set, int fd, short events)
{
	int err = watched_add(&set->watched, fd, events);

	if (err)
		return err;
	err = start_signals(fd);
	if (err)
		watched_remove(&set->watched, fd);
	else
		ask(set, fd, events);
	return err;
}

static int change(struct engine_set *set, int fd, short events)
{
	return watched_change(&set->watched, fd, events);
}

static int remove_fd(struct engine_set *set, int fd)
{
	int flags, err = watched_remove(&set->watched, fd);

	if (err)
		return err;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_ASYNC))
		return -errno;
	return 0;
}

/* Ignoring a pending signal discards all of its queue. */
static void empty_queue(void)
{
	struct sigaction none = { .sa_handler = SIG_IGN };
	struct sigaction usual = { .sa_handler = SIG_DFL };

	sigaction(queued_signal(), &none, NULL);
	sigaction(queued_signal(), &usual, NULL);
}

static int tell_first(struct engine_set *set, const struct pollfd **events)
{
	struct pollfd *first = set->first;
	int nr = set->nr_first;

	set->first = set->told;
	set->told = first;
	set->nr_first = 0;
	*events = first;
	return nr;
}

static int wait_events(struct engine_set *set, const struct pollfd **events,
		       int timeout)
{
	int sig;

	if (set->nr_first)
		return tell_first(set, events);

	sig = signal_wait(&set->signals, &set->event, timeout);
	if (sig <= 0)
		return sig;
	if (sig == SIGIO) {
		empty_queue();
		*events = set->watched.ready;
		return watched_poll(&set->watched, 0);
	}

	/* It may have been queued before its fd was removed. */
	if (!watched_has(&set->watched, set->event.fd))
		return 0;
	*events = &set->event;
	return 1;
}

const struct engine engine_rtsig = {
	.name = "rtsig",
	.what = "queued signals (F_SETSIG), poll(2) when the queue overflows",
	ENGINE_OPERATIONS,
};

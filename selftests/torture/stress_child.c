// SPDX-License-Identifier: GPL-2.0
/* What the children do that the stress program's chaos forks. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "torture/stress_extended.h"
#include "torture/stress_world.h"

static void child_add_all(int set)
{
	struct pollfd batch[SLOTS];
	int i;

	for (i = 0; i < SLOTS; i++) {
		batch[i].fd = atomic_load(&slots[i]);
		batch[i].events = POLLIN | POLLOUT | POLLHUP;
	}
	if (write(set, batch, sizeof(batch)) < 0)
		_exit(1);
}

/* Signalfds that the child adds wait on the child's signals, which end. */
static void child_work(unsigned int what, struct set *s)
{
	struct evpoll ev = { .ep_timeout = -1 };
	int fd = atomic_load(&s->fd);
	int i;

	child_add_all(fd);
	switch (what) {
	case 0:
		break;
	case 1:
		for (i = 0; i < SLOTS; i++)
			close(atomic_load(&slots[i]));
		break;
	case 2:
		execl("/bin/true", "true", NULL);
		break;
	case 3:
		if (s->map)
			munmap(s->map, s->len);
		ioctl(fd, EP_FREE);
		break;
	case 4:
		close_range(3, ~0U, 0);
		break;
	default:
		/* Ended by the parent's signal, most often while waiting. */
		while (ioctl(fd, EP_POLL, &ev) >= 0)
			;
		pause();
	}
}

void op_fork(struct rng *rng)
{
	unsigned int what = rng_below(rng, 8);
	struct set *s = &sets[1 + rng_below(rng, SETS - 1)];
	unsigned int delay = rng_below(rng, 5000);
	bool extended = rng_below(rng, 2);
	pid_t pid;

	pid = fork();
	if (pid < 0)
		return;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (extended)
			extended_child(rng, what);
		else
			child_work(what, s);
		_exit(0);
	}
	if (what > 4) {
		usleep(delay);
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

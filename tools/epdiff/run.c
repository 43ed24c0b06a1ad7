// SPDX-License-Identifier: GPL-2.0
/* Playing worlds in child processes. */
#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../clock.h"
#include "play.h"
#include "run.h"
#include "settle.h"

/* One world takes far less, on a debug kernel too. */
#define WORLD_SECONDS	120

struct run *run_new(const struct engine *const sides[2])
{
	struct run *run = mmap(NULL, sizeof(*run), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (run == MAP_FAILED)
		err(2, "mmap");
	run->world.sides[0] = sides[0];
	run->world.sides[1] = sides[1];
	return run;
}

static void play_random(struct run *run)
{
	struct world *w = &run->world;

	while (run->ops_left > 0 && !w->verdict.found &&
	       !(run->until && now_seconds() > run->until)) {
		alarm(WORLD_SECONDS);
		gen_begin(&run->gen, w, run->seed);
		world_play(w, gen_next, &run->gen);
		run->ops_left -= w->nops;
		run->seed++;
	}
}

static void play_ops(struct run *run)
{
	alarm(WORLD_SECONDS);
	world_play(&run->world, NULL, NULL);
}

static enum outcome judge(struct world *w, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
		differ(w, "%s hangs", op_name(w->ops[w->at].verb));
		return RUN_HANGS;
	}
	if (status) {
		differ(w, "%s: the process ends with status %#x",
		       op_name(w->ops[w->at].verb), status);
		return RUN_DIES;
	}
	return w->verdict.found ? RUN_DIFFERS : RUN_SAME;
}

static enum outcome run_child(struct run *run, void (*play)(struct run *run))
{
	int status;
	pid_t pid;

	run->world.verdict.found = false;
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		settle_open();
		play(run);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(2, "waitpid");
	return judge(&run->world, status);
}

enum outcome run_random(struct run *run)
{
	return run_child(run, play_random);
}

enum outcome run_ops(struct run *run, const struct op *ops, unsigned int n)
{
	memmove(run->world.ops, ops, n * sizeof(*ops));
	run->world.nops = n;
	return run_child(run, play_ops);
}

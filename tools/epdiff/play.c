// SPDX-License-Identifier: GPL-2.0
/* Playing a world: its operations, one after the other. */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep.h"
#include "play.h"

struct player {
	void (*next)(struct world *w, struct op *op, void *arg);
	void *arg;
};

static void play_until(struct world *w, const struct player *player,
		       unsigned int end);

/* A child does the next operations; it shares the world, the sets and fds. */
static void play_fork(struct world *w, const struct player *player, int n)
{
	unsigned int end = w->at + 1 + (n < 0 ? 0 : n);
	int status;
	pid_t pid;

	if (own.is_child || own.is_other)
		return;
	if (end > w->nops)
		end = w->nops;
	intended_fork(w);
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (pid == 0) {
		/* If the parent is ended for being late, so is the child. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		own.is_child = true;
		memset(own.added, 0, sizeof(own.added));
		w->at++;
		play_until(w, player, end);
		change_flush(w);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(2, "waitpid");
	if (status)
		differ(w, "the child ends with status %#x", status);
	/* The operation after the child's is next. */
	w->at--;
}

/*
 * The process of OP_OTHER, if there is one: it does so many operations each
 * time that it is told to, and rests in between.
 */
static struct {
	pid_t pid;
	int socket;
} other;

static void other_rests(struct world *w, const struct player *player,
			int socket)
{
	unsigned int end;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	world_become_other();
	while (read(socket, &end, sizeof(end)) == sizeof(end)) {
		play_until(w, player, end);
		change_flush(w);
		if (write(socket, &end, sizeof(end)) != sizeof(end))
			break;
	}
	_exit(0);
}

static void other_begin(struct world *w, const struct player *player)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		err(2, "socketpair");
	other.pid = fork();
	if (other.pid < 0)
		err(2, "fork");
	if (!other.pid) {
		close(ends[0]);
		other_rests(w, player, ends[1]);
	}
	close(ends[1]);
	other.socket = ends[0];
}

static void other_end(void)
{
	if (!other.pid)
		return;
	close(other.socket);
	waitpid(other.pid, NULL, 0);
	other.pid = 0;
}

/* A process that has the sets, and files of its own, does the next ones. */
static void play_other(struct world *w, const struct player *player, int n)
{
	unsigned int end = w->at + 1 + (n < 0 ? 0 : n);

	if (own.is_child || own.is_other)
		return;
	if (end > w->nops)
		end = w->nops;
	/* It can't recognize stale items, either. */
	intended_fork(w);
	if (!other.pid)
		other_begin(w, player);
	w->at++;
	if (write(other.socket, &end, sizeof(end)) != sizeof(end) ||
	    read(other.socket, &end, sizeof(end)) != sizeof(end))
		differ(w, "the other process is gone");
	/* The operation after its is next. */
	w->at--;
}

/* It has nothing but eventfds. */
static void play_other_file(const struct op *op)
{
	uint64_t count = 1;
	int fd = target_fd(op->fd, 0);
	ssize_t ret = 0;

	if (!(own.made & 1u << op->fd))
		return;
	if (op->verb == OP_WRITE)
		ret = write(fd, &count, sizeof(count));
	else if (op->verb == OP_READ || op->verb == OP_DRAIN)
		ret = read(fd, &count, sizeof(count));
	if (ret < 0 && errno != EAGAIN)
		err(2, "an eventfd");
}

static void play_file(struct world *w, const struct op *op)
{
	struct file *f = slot_file(w, op->fd), *peer;
	int fd, pfd;

	if (own.is_other)
		play_other_file(op);
	/* The clients of a listener are numbers of one process. */
	if (!f || (f->kind == FILE_LISTENER && own.is_child))
		return;
	peer = file_peer(w, f);
	fd = target_fd(op->fd, 0);
	pfd = peer_fd(w, f);
	switch (op->verb) {
	case OP_WRITE:
		w->news |= file_kind_forgets(f->kind);
		file_write(f, fd, pfd, op->n);
		break;
	case OP_FILL:
		file_fill(f, fd, pfd);
		break;
	case OP_READ:
		file_read(f, peer, fd, pfd, op->n);
		break;
	case OP_DRAIN:
		file_drain(f, peer, fd, pfd);
		break;
	case OP_URGENT:
		file_urgent(f, fd, pfd);
		break;
	default:
		file_shut(f, fd, pfd, op->n);
	}
}

static bool rides(const struct op *op)
{
	switch (op->verb) {
	case OP_ADD:
	case OP_MOD:
	case OP_DEL:
	case OP_WAIT:
		return change_holds(op->set);
	default:
		return false;
	}
}

static void play_op(struct world *w, const struct player *player,
		    const struct op *op)
{
	w->tally.ops[op->verb]++;
	if (!rides(op))
		change_flush(w);
	intended_ask(w, op);
	switch (op->verb) {
	case OP_MAKE:
		world_make(w, op->n, op->fd, op->to);
		break;
	case OP_CLOSE:
	case OP_RESET:
		world_close(w, op->fd, op->verb == OP_RESET);
		break;
	case OP_DUP:
		world_dup(w, op->fd, op->to);
		break;
	case OP_ADD:
	case OP_MOD:
	case OP_DEL:
		change_play(w, op);
		break;
	case OP_ODD:
		change_play_odd(w, op);
		break;
	case OP_WAIT:
		wait_play(w, op);
		break;
	case OP_ROUNDS:
		wait_play_rounds(w, op);
		break;
	case OP_FAULT:
		wait_play_fault(w, op);
		break;
	case OP_ASK:
		wait_play_ask(w, op);
		break;
	case OP_RENEW:
		/* It has the old one, which would live on. */
		if (!own.is_child && !own.is_other)
			other_end();
		world_renew(w, op->set);
		break;
	case OP_OTHER:
		play_other(w, player, op->n);
		break;
	case OP_FORK:
		play_fork(w, player, op->n);
		break;
	default:
		play_file(w, op);
	}
}

static void play_until(struct world *w, const struct player *player,
		       unsigned int end)
{
	for (; w->at < end && !w->verdict.found; w->at++) {
		struct op *op = &w->ops[w->at];

		if (player->next)
			player->next(w, op, player->arg);
		play_op(w, player, op);
		intended_settle(w);
	}
}

void world_play(struct world *w,
		void (*next)(struct world *w, struct op *op, void *arg),
		void *arg)
{
	struct player player = { .next = next, .arg = arg };

	world_begin(w);
	play_until(w, &player, w->nops);
	change_flush(w);
	other_end();
	world_end(w);
}

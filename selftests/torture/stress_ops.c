// SPDX-License-Identifier: GPL-2.0
/* What the threads of the stress program's chaos do. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "torture/stress_extended.h"
#include "torture/stress_world.h"

#define BATCH		24

static const int free_errors[] = { EBUSY, EINVAL, 0 };
static const int poll_errors[] = { EINVAL, EINTR, 0 };
static const int no_errors[] = { 0 };

static void op_make(struct rng *rng)
{
	int fds[2];

	if (file_make(rng_below(rng, FILE_KINDS), fds))
		return;
	slot_put(rng, fds[0]);
	if (fds[1] != fds[0])
		slot_put(rng, fds[1]);
}

static void op_close(struct rng *rng)
{
	int fd = slot_take(rng);

	if (fd >= 0)
		close(fd);
}

static void op_dup(struct rng *rng)
{
	int from = slot_peek(rng), to = -1, fd;

	if (from < 0)
		return;
	if (rng_below(rng, 2))
		to = slot_take(rng);
	fd = to < 0 ? fcntl(from, F_DUPFD_CLOEXEC, 0) :
		      dup3(from, to, O_CLOEXEC);
	if (fd >= 0)
		slot_put(rng, fd);
	else if (to >= 0)
		close(to);
}

static void fill_batch(struct rng *rng, struct pollfd *batch, int n)
{
	static const short masks[] = {
		POLLIN, POLLOUT, POLLIN | POLLOUT, POLLIN | POLLHUP,
		POLLERR | POLLHUP, 0, POLLPRI | POLLRDBAND | POLLIN,
		POLLIN | POLLRDNORM | POLLRDHUP, POLLREMOVE,
		POLLREMOVE | POLLIN, -1,
	};
	int i;

	for (i = 0; i < n; i++) {
		batch[i].fd = slot_peek(rng);
		batch[i].events = masks[rng_below(rng, sizeof(masks) /
						  sizeof(masks[0]))];
		batch[i].revents = rng_next(rng);
	}
	if (rng_below(rng, 16) == 0)
		batch[0].fd = rng_below(rng, 2) ? 0x7fffffff : -5;
}

static void op_change(struct rng *rng)
{
	int n = 1 + rng_below(rng, BATCH);
	struct set *s = any_set(rng);
	struct pollfd batch[BATCH];

	fill_batch(rng, batch, n);
	if (write(atomic_load(&s->fd), batch, n * sizeof(*batch)) < 0)
		check_errno(s, "write", no_errors);
}

static int set_poll(struct set *s, struct rng *rng, struct evpoll *ev)
{
	int n;

	ev->ep_timeout = rng_below(rng, 3) ? 0 : rng_below(rng, 10);
	n = ioctl(atomic_load(&s->fd), EP_POLL, ev);
	if (n < 0)
		check_errno(s, "EP_POLL", poll_errors);
	return n;
}

/* The result must be whole, in bounds, and stay as it is. */
static void check_results(struct set *s, const struct evpoll *ev, int n)
{
	static __thread struct pollfd copy[4096];
	const struct pollfd *res;
	int i;

	if ((ev->ep_resoff && ev->ep_resoff != s->len / 2) ||
	    (unsigned int)n > s->capacity) {
		bad_result("place or number", ev->ep_resoff, n);
		return;
	}
	res = (void *)(s->map + ev->ep_resoff);
	memcpy(copy, res, n * sizeof(*copy));
	for (i = 0; i < n; i++) {
		if (copy[i].fd < 0 || copy[i].fd > 4096)
			bad_result("fd", copy[i].fd, i);
		if (!copy[i].revents)
			bad_result("no event", copy[i].fd, copy[i].events);
		if (copy[i].revents & (POLLNVAL | POLLREMOVE))
			bad_result("events that can't be", copy[i].events,
				   copy[i].revents);
	}
	sched_yield();
	if (memcmp(copy, res, n * sizeof(*copy)))
		bad_result("a set handed out was changed", n, ev->ep_resoff);
}

static void op_wait_checked(struct rng *rng)
{
	struct set *s = &sets[0];
	unsigned int generation;
	struct evpoll ev;
	int n;

	pthread_mutex_lock(&s->wait_lock);
	generation = atomic_load(&s->generation);
	n = set_poll(s, rng, &ev);
	pthread_rwlock_rdlock(&s->map_lock);
	if (n > 0 && s->map && generation == atomic_load(&s->generation))
		check_results(s, &ev, n);
	pthread_rwlock_unlock(&s->map_lock);
	pthread_mutex_unlock(&s->wait_lock);
}

static void op_wait(struct rng *rng)
{
	struct evpoll ev;

	set_poll(&sets[1 + rng_below(rng, SETS - 1)], rng, &ev);
}

static void op_query(struct rng *rng)
{
	struct pollfd q = { .fd = slot_peek(rng) };
	struct set *s = any_set(rng);
	int fd = atomic_load(&s->fd);

	if (ioctl(fd, EP_ISPOLLED, &q) < 0)
		check_errno(s, "EP_ISPOLLED", no_errors);
	q.fd = fd;
	q.events = POLLIN;
	poll(&q, 1, rng_below(rng, 2));
}

static void op_remap(struct rng *rng)
{
	struct set *s = any_set(rng);

	pthread_rwlock_wrlock(&s->map_lock);
	set_unmap(s);
	if (rng_below(rng, 2)) {
		/* Succeeds unless a child still has the mapping. */
		if (!ioctl(atomic_load(&s->fd), EP_FREE))
			s->capacity = 0;
		else
			check_errno(s, "EP_FREE", free_errors);
	}
	set_map(s, rng);
	pthread_rwlock_unlock(&s->map_lock);
}

/* Closes a set while others use it, now and then before its mapping. */
static void op_reopen(struct rng *rng)
{
	struct set *s = &sets[1 + rng_below(rng, SETS - 1)];
	int fds[2];

	pthread_rwlock_wrlock(&s->map_lock);
	if (rng_below(rng, 2))
		set_unmap(s);
	close(atomic_exchange(&s->fd, -1));
	set_unmap(s);
	s->capacity = 0;
	if (!file_make(FILE_DEVEPOLL, fds)) {
		atomic_store(&s->fd, fds[0]);
		set_map(s, rng);
	}
	pthread_rwlock_unlock(&s->map_lock);
}

/* EP_FREE with all fds in the set, while other threads wait and write. */
static void op_free_mapped(struct rng *rng)
{
	struct set *s = any_set(rng);

	if (ioctl(atomic_load(&s->fd), EP_FREE) < 0)
		check_errno(s, "EP_FREE while mapped", free_errors);
}

static void op_io(struct rng *rng)
{
	char buf[64];
	int i, fd;

	for (i = 0; i < 8; i++) {
		fd = slot_peek(rng);
		if (fd < 0)
			continue;
		switch (rng_below(rng, 8)) {
		case 0:
			shutdown(fd, rng_below(rng, 3));
			break;
		case 1:
		case 2:
		case 3:
			if (read(fd, buf, sizeof(buf)) < 0)
				break;
			break;
		case 4:
			kill(getpid(), STRESS_SIGNAL);
			break;
		case 5:
			file_post(FILE_TIMERFD, fd);
			break;
		default:
			memset(buf, 0, sizeof(buf));
			buf[0] = 1;
			if (write(fd, buf, 8) < 0)
				break;
			break;
		}
	}
}

/* Sends a file over a socket, which now and then has the last reference. */
static void op_pass(struct rng *rng)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = {};
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int fd = slot_take(rng);

	if (fd < 0)
		return;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	sendmsg(scm[0], &msg, MSG_DONTWAIT);
	close(fd);
	if (rng_below(rng, 2))
		return;
	msg.msg_controllen = sizeof(control);
	if (recvmsg(scm[1], &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
		return;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	slot_put(rng, fd);
}

/* In-tree epoll watches a set; the other way round is refused. */
static void op_nest(struct rng *rng)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int set = atomic_load(&any_set(rng)->fd);
	struct pollfd req = { .events = POLLIN };
	int fds[2];

	if (file_make(FILE_EPOLL, fds))
		return;
	epoll_ctl(fds[0], EPOLL_CTL_ADD, set, &ev);
	req.fd = fds[0];
	if (write(set, &req, sizeof(req)) == sizeof(req) &&
	    set == atomic_load(&sets[0].fd))
		bad_result("an epoll file became a member", set, fds[0]);
	epoll_wait(fds[0], &ev, 1, 0);
	close(fds[0]);
}

struct operation operations[] = {
	{ .name = "make", .run = op_make, .weight = 16 },
	{ .name = "close", .run = op_close, .weight = 8 },
	{ .name = "dup", .run = op_dup, .weight = 6 },
	{ .name = "change", .run = op_change, .weight = 20 },
	{ .name = "wait, checked", .run = op_wait_checked, .weight = 12 },
	{ .name = "wait", .run = op_wait, .weight = 8 },
	{ .name = "query", .run = op_query, .weight = 3 },
	{ .name = "remap", .run = op_remap, .weight = 2 },
	{ .name = "reopen", .run = op_reopen, .weight = 2 },
	{ .name = "free", .run = op_free_mapped, .weight = 2 },
	{ .name = "io", .run = op_io, .weight = 24 },
	{ .name = "fork", .run = op_fork, .weight = 2 },
	{ .name = "pass", .run = op_pass, .weight = 4 },
	{ .name = "nest", .run = op_nest, .weight = 2 },
	{ .name = "signal", .run = chaos_interrupt, .weight = 3 },
	{ .name = "ext. change", .run = op_extended_change, .weight = 20 },
	{ .name = "ext. fadvise", .run = op_extended_fadvise, .weight = 12 },
	{ .name = "ext. wait", .run = op_extended_wait, .weight = 16 },
	{ .name = "ext. mapped", .run = op_extended_mapped, .weight = 8 },
	{ .name = "ext. nest", .run = op_extended_nest, .weight = 6 },
	{ .name = "ext. query", .run = op_extended_query, .weight = 3 },
	{ .name = "ext. reopen", .run = op_extended_reopen, .weight = 3 },
	{ .name = "ext. stale", .run = op_extended_stale, .weight = 4 },
};

const unsigned int nr_operations = sizeof(operations) / sizeof(operations[0]);

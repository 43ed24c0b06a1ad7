// SPDX-License-Identifier: GPL-2.0
/*
 * The engine on select(2), with sets of any size: the kernel has no FD_SETSIZE.
 *
 * As with select(2) in general, an error or a hang-up makes an fd readable.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>

#include "engine.h"

#define WORD_BITS	(8 * (int)sizeof(unsigned long))

struct engine_set {
	int maxfds;
	int nfds;		/* all fds of the set are below */
	size_t bytes;		/* of one bitmap */
	unsigned long *in;
	unsigned long *out;
	unsigned long *ready_in;
	unsigned long *ready_out;
	struct pollfd *ready;
};

static void close_set(struct engine_set *set)
{
	free(set->in);
	free(set->ready);
	free(set);
}

static struct engine_set *open_set(int maxfds, char why[ENGINE_WHY])
{
	struct engine_set *set = calloc(1, sizeof(*set));
	size_t words = (maxfds + WORD_BITS - 1) / WORD_BITS;

	if (!set) {
		engine_why(why, errno, "a set");
		return NULL;
	}
	set->maxfds = maxfds;
	set->bytes = words * sizeof(unsigned long);
	set->in = calloc(4, set->bytes);
	set->ready = calloc(maxfds, sizeof(*set->ready));
	if (!set->in || !set->ready) {
		engine_why(why, errno, "bitmaps");
		close_set(set);
		return NULL;
	}
	set->out = set->in + words;
	set->ready_in = set->out + words;
	set->ready_out = set->ready_in + words;
	return set;
}

static void put_bit(unsigned long *map, int fd, bool on)
{
	unsigned long bit = 1UL << fd % WORD_BITS;

	if (on)
		map[fd / WORD_BITS] |= bit;
	else
		map[fd / WORD_BITS] &= ~bit;
}

static bool get_bit(const unsigned long *map, int fd)
{
	return map[fd / WORD_BITS] >> fd % WORD_BITS & 1;
}

static bool has(const struct engine_set *set, int fd)
{
	return fd >= 0 && fd < set->nfds &&
	       (get_bit(set->in, fd) || get_bit(set->out, fd));
}

static void put(struct engine_set *set, int fd, short events)
{
	put_bit(set->in, fd, events & POLLIN);
	put_bit(set->out, fd, events & POLLOUT);
}

static int add(struct engine_set *set, int fd, short events)
{
	if (fd < 0 || fd >= set->maxfds)
		return -ENOSPC;
	if (has(set, fd))
		return -EEXIST;
	put(set, fd, events);
	if (fd >= set->nfds)
		set->nfds = fd + 1;
	return 0;
}

static int change(struct engine_set *set, int fd, short events)
{
	if (!has(set, fd))
		return -ENOENT;
	put(set, fd, events);
	return 0;
}

static int remove_fd(struct engine_set *set, int fd)
{
	if (!has(set, fd))
		return -ENOENT;
	put(set, fd, 0);
	while (set->nfds && !has(set, set->nfds - 1))
		set->nfds--;
	return 0;
}

static int collect(struct engine_set *set, int bits)
{
	int word, nr = 0;

	for (word = 0; bits > 0; word++) {
		unsigned long in = set->ready_in[word];
		unsigned long out = set->ready_out[word];
		unsigned long any = in | out;

		for (; any; any &= any - 1) {
			int bit = __builtin_ctzl(any);
			short events = 0;

			if (in >> bit & 1)
				events |= POLLIN;
			if (out >> bit & 1)
				events |= POLLOUT;
			set->ready[nr++] = (struct pollfd){
				.fd = word * WORD_BITS + bit,
				.revents = events,
			};
			bits -= (in >> bit & 1) + (out >> bit & 1);
		}
	}
	return nr;
}

static int wait_events(struct engine_set *set, const struct pollfd **events,
		       int timeout)
{
	struct timeval tv = {
		.tv_sec = timeout / 1000,
		.tv_usec = timeout % 1000 * 1000,
	};
	size_t used = (set->nfds + WORD_BITS - 1) / WORD_BITS *
		      sizeof(unsigned long);
	int bits;

	memcpy(set->ready_in, set->in, used);
	memcpy(set->ready_out, set->out, used);
	bits = select(set->nfds, (fd_set *)set->ready_in,
		      (fd_set *)set->ready_out, NULL,
		      timeout < 0 ? NULL : &tv);
	if (bits < 0)
		return -errno;
	*events = set->ready;
	return collect(set, bits);
}

const struct engine engine_select = {
	.name = "select",
	.what = "select(2) with large sets",
	.level = true,
	ENGINE_OPERATIONS,
};

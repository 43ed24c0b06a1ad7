/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets whose edges are reported in each of the ways that there are: by epoll,
 * after a poll, as wake-ups named them, and from a ring.
 */
#ifndef SELFTESTS_NAMED_H
#define SELFTESTS_NAMED_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "core/ring.h"

enum named_how {
	BY_EPOLL,
	POLLED,
	TRUSTED,
	FROM_RING,
};

/* The same test for each of them. */
#define NAMED_VARIANTS(name)						\
	FIXTURE_VARIANT(name) {						\
		enum named_how how;					\
	};								\
	FIXTURE_VARIANT_ADD(name, epoll) { .how = BY_EPOLL };		\
	FIXTURE_VARIANT_ADD(name, polled) { .how = POLLED };		\
	FIXTURE_VARIANT_ADD(name, trusted) { .how = TRUSTED };		\
	FIXTURE_VARIANT_ADD(name, ring) { .how = FROM_RING }

struct named {
	enum named_how how;
	struct ring ring;	/* or its set alone */
	struct consumer me;
};

static inline int named_open(struct named *named, enum named_how how)
{
	int err;

	named->how = how;
	if (how != FROM_RING)
		return eset_open(&named->ring.set, how == BY_EPOLL ?
				 &eset_sysepoll : &eset_devepoll);
	err = ring_open(&named->ring, 1, 16);
	consumer_init(&named->me, &named->ring, 0);
	return err;
}

static inline void named_close(struct named *named)
{
	if (named->how == FROM_RING)
		ring_close(&named->ring);
	else
		eset_close(&named->ring.set);
}

/* Does the program trust wake-ups? */
static inline bool named_trusts(const struct named *named)
{
	return named->how >= TRUSTED;
}

static inline int named_add(struct named *named, int fd, uint32_t events)
{
	if (named_trusts(named))
		return ring_add(&named->ring, fd, events);
	return eset_add(&named->ring.set, fd, events | EPOLLET);
}

static inline int named_mod(struct named *named, int fd, uint32_t events)
{
	if (named_trusts(named))
		return ring_mod(&named->ring, fd, events);
	return eset_mod(&named->ring.set, fd, events | EPOLLET);
}

/* Lets the kernel poll what it has to, where that does not take events. */
static inline void named_look(struct named *named)
{
	if (named->how == FROM_RING)
		ring_wait(&named->ring, 0);
}

/* The events of the one fd that is ready, or -ENOMSG if none is. */
static inline int named_told(struct named *named, int fd, int ms)
{
	int told;

	if (named->how != FROM_RING)
		return eset_wait_one(&named->ring.set, fd, ms);
	/* What is there already is not waited for. */
	told = consumer_take_one(&named->me, fd);
	if (told != -ENOMSG)
		return told;
	told = ring_wait(&named->ring, ms);
	return told < 0 ? told : consumer_take_one(&named->me, fd);
}

/* Does fdinfo say that the wake-ups of an fd are trusted? */
static inline bool named_is_marked(const struct named *named, int fd)
{
	char path[64], line[512], start[32];
	bool marked = false;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d",
		 named->ring.set.fd);
	snprintf(start, sizeof(start), "tfd: %8d ", fd);
	info = fopen(path, "r");
	while (info && fgets(line, sizeof(line), info)) {
		if (!strncmp(line, start, strlen(start)))
			marked = strstr(line, " trust");
	}
	if (info)
		fclose(info);
	return marked;
}

/* How much input waits in a file. */
static inline int queued_input(int fd)
{
	int bytes = -1;

	return ioctl(fd, FIONREAD, &bytes) ? -errno : bytes;
}

#endif /* SELFTESTS_NAMED_H */

// SPDX-License-Identifier: GPL-2.0
/* Extended sets for runs that look for lost events. */
#define _GNU_SOURCE
#include "core/lost.h"

int lost_set_open(struct lost *l)
{
	int err = esets_open(l->sets, l->way->sets, l->way->ops);

	l->fd = l->sets[0].fd;
	return err;
}

static int change(int set, uint16_t op, const struct lost_way *way, int fd,
		  uint64_t data, uint32_t events)
{
	/* The end is watched for its level. */
	const bool edge = op != DEVEPOLL_DEL && events & EPOLLET;
	const struct devepoll_change change = {
		.op = op,
		.flags = edge ? way->flags : 0,
		.fd = fd,
		.events = events,
		.data = data,
	};

	return dep_change(set, &change);
}

int lost_set_add(struct lost *l, int fd, uint64_t data, uint32_t events)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < l->way->sets && !err; i++)
		err = change(l->sets[i].fd, DEVEPOLL_ADD, l->way, fd, data,
			     events);
	return err;
}

int lost_set_del(struct lost *l, int fd)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < l->way->sets && !err; i++)
		err = change(l->sets[i].fd, DEVEPOLL_DEL, l->way, fd, 0, 0);
	return err;
}

int lost_set_take(struct eset *set, unsigned int consumer, uint64_t *data,
		  int ms)
{
	struct epoll_event out[LOST_OUT];
	int i, n = eset_wait(set, out, lost_room(consumer), ms);

	for (i = 0; i < n; i++)
		data[i] = out[i].data.u64;
	return n;
}

int lost_set_wait(struct lost *l, unsigned int consumer, uint64_t *data)
{
	return lost_set_take(&l->sets[consumer % l->way->sets], consumer, data,
			 -1);
}

int lost_set_arm(struct lost *l, int fd, uint64_t data)
{
	return change(l->fd, DEVEPOLL_MOD, l->way, fd, data, l->way->events);
}

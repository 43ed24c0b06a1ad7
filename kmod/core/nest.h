/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets in sets: which files are sets, and which set is in which, so that no
 * cycle is made.
 */
#ifndef DEVEPOLL_NEST_H
#define DEVEPOLL_NEST_H

#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/types.h>

struct dep_instance;
struct dep_nest;

/* The files that are sets; their operations are in one array. */
enum dep_file_kind {
	DEP_FILE_EPOLL,		/* an open of /dev/epoll */
	DEP_FILE_POLL,		/* an open of /dev/poll */
	DEP_FILE_REOPENED,	/* what DEVEPOLL_REOPEN returns */
	DEP_FILE_KINDS,
};

extern const struct file_operations *dep_instance_fops;

/**
 * dep_instance_of() - is a file a set of ours?
 * @file: a file that the caller has a reference on
 *
 * Return: the instance, which lives as long as the reference, or NULL.
 */
static inline struct dep_instance *dep_instance_of(const struct file *file)
{
	uintptr_t first = (uintptr_t)dep_instance_fops;
	uintptr_t size = DEP_FILE_KINDS * sizeof(*dep_instance_fops);

	if (likely((uintptr_t)file->f_op - first >= size))
		return NULL;
	return file->private_data;
}

/*
 * Polls a set that is in another one.  This is dep_ready_poll(), which polls
 * files, and so may come back here.
 */
extern __poll_t (*dep_nest_poll)(struct dep_instance *inner,
				 unsigned int depth);

struct dep_nest *dep_nest_link(struct dep_instance *outer,
			       struct dep_instance *inner);
void dep_nest_cut(struct dep_nest *nest);
void dep_nest_free(struct dep_nest *nest);

#endif /* DEVEPOLL_NEST_H */

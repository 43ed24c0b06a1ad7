/* SPDX-License-Identifier: GPL-2.0 */
/* Which files are sets, and what an open of a set may do. */
#ifndef DEVEPOLL_OPEN_H
#define DEVEPOLL_OPEN_H

#include <linux/fs.h>
#include <linux/types.h>

struct dep_instance;

/* What a further open for reading may do besides waiting. */
#define DEP_MAY_NEST		1	/* be put into another set */
#define DEP_MAY_MAP		2	/* map the results, and use a mapping */
#define DEP_MAY_REOPEN		4	/* make further opens */
#define DEP_MAY_ALL		(DEP_MAY_NEST | DEP_MAY_MAP | DEP_MAY_REOPEN)
#define DEP_READER_KINDS	(DEP_MAY_ALL + 1)

/* The files that are sets; their operations are in one array. */
enum dep_file_kind {
	DEP_FILE_EPOLL,		/* an open of /dev/epoll */
	DEP_FILE_POLL,		/* an open of /dev/poll */
	DEP_FILE_AS_EPOLL,	/* one of /dev/epoll with O_EXCL */
	DEP_FILE_REOPENED,	/* what DEVEPOLL_REOPEN returns */
	DEP_FILE_READER,	/* the same for reading, one for all rights */
	DEP_FILE_KINDS = DEP_FILE_READER + DEP_READER_KINDS,
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

static inline uintptr_t dep_instance_kind(const struct file *file)
{
	return ((uintptr_t)file->f_op - (uintptr_t)dep_instance_fops) /
	       sizeof(*dep_instance_fops);
}

/**
 * dep_instance_is_reader() - is this a further open for reading?
 * @file: an open of a set of ours
 *
 * Return: true if so.
 */
static inline bool dep_instance_is_reader(const struct file *file)
{
	return dep_instance_kind(file) >= DEP_FILE_READER;
}

/**
 * dep_instance_rights() - what may an open of a set do besides its requests?
 * @file: an open of a set of ours
 *
 * The rights of a further open for reading are told by the place of its
 * operations, so that no other open has to be asked.
 *
 * Return: DEP_MAY_*.
 */
static inline u32 dep_instance_rights(const struct file *file)
{
	return dep_instance_is_reader(file) ?
		       dep_instance_kind(file) - DEP_FILE_READER : DEP_MAY_ALL;
}

#endif /* DEVEPOLL_OPEN_H */

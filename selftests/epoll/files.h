/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set and some files that are not in it yet, each ready or not.
 */
#ifndef SELFTESTS_FILES_H
#define SELFTESTS_FILES_H

#include "core/eset.h"

#define FILES 10

/* Adds all files, with their index as data; 0 or -errno. */
static inline int add_all(struct eset *set, const int *files, uint32_t events)
{
	int i, ret = 0;

	for (i = 0; i < FILES && !ret; i++)
		ret = eset_ctl(set, EPOLL_CTL_ADD, files[i], events, i);
	return ret;
}

/* Makes all of them ready. */
static inline int post_all(const int *files)
{
	int i, ret = 0;

	for (i = 0; i < FILES && !ret; i++)
		ret = eventfd_post(files[i]);
	return ret;
}

/* The set is as in ESET_FIXTURE(), and the files are eventfds. */
#define FILES_FIXTURE(fixture)						\
	FIXTURE(fixture) {						\
		struct eset set;					\
		int events[FILES];					\
	};								\
	ESET_VARIANTS(fixture);						\
	FIXTURE_SETUP(fixture)						\
	{								\
		int i;							\
									\
		ASSERT_EQ(0, eset_open(&self->set, variant->ops))	\
			TH_LOG("no %s here", variant->ops->name);	\
		for (i = 0; i < FILES; i++) {				\
			self->events[i] = eventfd_new();		\
			ASSERT_LE(0, self->events[i]);			\
		}							\
	}								\
	FIXTURE_TEARDOWN(fixture)					\
	{								\
		eset_close(&self->set);					\
	}

#endif /* SELFTESTS_FILES_H */

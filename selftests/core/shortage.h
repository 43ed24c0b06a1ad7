/* SPDX-License-Identifier: GPL-2.0 */
/* A set of the extended interface whose calls fail on purpose. */
#ifndef SELFTESTS_SHORTAGE_H
#define SELFTESTS_SHORTAGE_H

#include <errno.h>
#include <unistd.h>

#include "core/eset.h"
#include "core/failnth.h"

#define NR	20	/* more than the kernel handles at a time */

struct world {
	int fail_nth;
	struct eset set;
	int fd;			/* what is added */
	int event;		/* in the set, one-shot, ready */
	int many[NR];
	uint32_t once;		/* 0, or EPOLLONESHOT, in changes of an edge */
	struct devepoll_change changes[NR];
	uint32_t failed;
};

FIXTURE(shortage) {
	struct world w;
};

FIXTURE_SETUP(shortage)
{
	int i;

	self->w.fail_nth = failnth_open();
	if (self->w.fail_nth == -ENOSYS)
		SKIP(return, "no fault injection in this kernel");
	ASSERT_LE(0, self->w.fail_nth);
	ASSERT_EQ(0, eset_open(&self->w.set, &eset_devepoll));
	self->w.event = eventfd_new();
	ASSERT_LE(0, self->w.event);
	ASSERT_EQ(0, eset_add(&self->w.set, self->w.event,
			      EPOLLOUT | EPOLLONESHOT));
	for (i = 0; i < NR; i++) {
		self->w.many[i] = eventfd_new();
		ASSERT_LE(0, self->w.many[i]);
	}
	self->w.fd = self->w.many[0];
}

FIXTURE_TEARDOWN(shortage)
{
	if (self->w.fail_nth < 0)
		return;
	eset_close(&self->w.set);
	close(self->w.fail_nth);
}

static inline bool is_clear(int ret, bool hit)
{
	return hit ? ret == -ENOMEM || ret == -EFAULT : !ret;
}

#endif /* SELFTESTS_SHORTAGE_H */

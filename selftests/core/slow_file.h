/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that is slow to answer whether it is ready: its poll() sleeps until
 * the test goes on.  Needs root and FUSE.
 */
#ifndef SELFTESTS_SLOW_FILE_H
#define SELFTESTS_SLOW_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fuse_reply.h"
#include "core/helpers.h"

/* The one file of a FUSE of our own, and the thread that answers for it. */
struct slow_file {
	struct task task;
	int fuse;
	int fd;
	char path[32];
	int anchor;
	uint64_t kh;		/* what the kernel knows it by */
	atomic_uint asked;	/* how often */
	atomic_uint answers;	/* how many of these may be answered */
	atomic_uint revents;	/* what the answer is */
	atomic_bool released;	/* the kernel has let go of the open file */
	bool consumes;		/* only the first poll reports an event */
};

static inline void slow_answer(struct slow_file *slow,
			       const struct fuse_in_header *in)
{
	const struct fuse_poll_in *poll = (void *)(in + 1);
	struct fuse_poll_out out = {};
	unsigned int nr;

	slow->kh = poll->kh;
	nr = atomic_fetch_add(&slow->asked, 1) + 1;
	while (atomic_load(&slow->answers) < nr)
		pause_briefly();
	out.revents = slow->consumes ? atomic_exchange(&slow->revents, 0) :
				       atomic_load(&slow->revents);
	fuse_reply(slow->fuse, in->unique, 0, &out, sizeof(out));
}

static inline long slow_serve(void *arg)
{
	static const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096,
	};
	static const struct fuse_attr_out attr = {
		.attr = { .ino = 1, .mode = S_IFREG | 0666, .nlink = 1 },
	};
	/* Or close() would wait for a poll that is not answered yet. */
	static const struct fuse_open_out open_out = {
		.open_flags = FOPEN_NOFLUSH,
	};
	static char buf[FUSE_MIN_READ_BUFFER + 4096];
	const struct fuse_in_header *in = (void *)buf;
	struct slow_file *slow = arg;
	int fuse = slow->fuse;

	/* Until the file system goes. */
	while (read(fuse, buf, sizeof(buf)) >= (ssize_t)sizeof(*in)) {
		switch (in->opcode) {
		case FUSE_INIT:
			fuse_reply(fuse, in->unique, 0, &init, sizeof(init));
			break;
		case FUSE_GETATTR:
			fuse_reply(fuse, in->unique, 0, &attr, sizeof(attr));
			break;
		case FUSE_OPEN:
			fuse_reply(fuse, in->unique, 0, &open_out,
				   sizeof(open_out));
			break;
		case FUSE_POLL:
			slow_answer(slow, in);
			break;
		case FUSE_RELEASE:
			fuse_reply(fuse, in->unique, 0, NULL, 0);
			atomic_store(&slow->released, true);
			break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
			break;
		default:
			fuse_reply(fuse, in->unique, -ENOSYS, NULL, 0);
		}
	}
	return 0;
}

/* Wakes the tasks that wait on the file, without a key. */
static inline int slow_stir(struct slow_file *slow)
{
	struct fuse_notify_poll_wakeup_out out = { .kh = slow->kh };

	return fuse_reply(slow->fuse, 0, FUSE_NOTIFY_POLL, &out, sizeof(out));
}

static inline int slow_mount(struct slow_file *slow)
{
	char options[128];

	strcpy(slow->path, "/tmp/slow-file-XXXXXX");
	slow->anchor = mkstemp(slow->path);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=100000,user_id=0,group_id=0", slow->fuse);
	if (slow->anchor < 0 || mount("test", slow->path, "fuse", 0, options))
		return -errno;
	atomic_store(&slow->answers, -1);
	return task_start(&slow->task, slow_serve, slow);
}

/* -EOPNOTSUPP if this is not root or there is no FUSE. */
static inline int slow_open(struct slow_file *slow)
{
	int err;

	if (geteuid())
		return -EOPNOTSUPP;
	driver("", "fuse");
	*slow = (struct slow_file){
		.fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC),
	};
	if (slow->fuse < 0)
		return -EOPNOTSUPP;
	err = slow_mount(slow);
	if (err)
		return err;
	slow->fd = open(slow->path, O_RDONLY | O_CLOEXEC);
	return slow->fd < 0 ? -errno : 0;
}

static inline long slow_close(struct slow_file *slow)
{
	long ret;

	close(slow->fd);
	ret = umount2(slow->path, MNT_DETACH) ? -errno :
						task_join(&slow->task);
	close(slow->fuse);
	close(slow->anchor);
	unlink(slow->path);
	return ret;
}

/* From now on it gives no answer, until slow_go_on(). */
static inline void slow_hold(struct slow_file *slow)
{
	atomic_store(&slow->answers, atomic_load(&slow->asked));
}

static inline bool slow_is_asked(struct slow_file *slow)
{
	return await(atomic_load(&slow->asked) > atomic_load(&slow->answers));
}

/* That answer says that nothing is ready; later ones say that everything is. */
static inline void slow_go_on(struct slow_file *slow, unsigned int later)
{
	atomic_fetch_add(&slow->answers, 1);
	if (!later)
		return;
	/* The next question replaces the sleep that should not happen. */
	slow_is_asked(slow);
	atomic_store(&slow->revents, later);
	atomic_store(&slow->answers, -1);
}

#endif /* SELFTESTS_SLOW_FILE_H */

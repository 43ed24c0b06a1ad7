/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The answers of a program that serves a file of FUSE.
 */
#ifndef SELFTESTS_FUSE_REPLY_H
#define SELFTESTS_FUSE_REPLY_H

#include <errno.h>
#include <linux/fuse.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Answers one question, with an error or a body; 0 or -errno. */
static inline int fuse_reply(int fuse, uint64_t unique, int err,
			     const void *body, size_t size)
{
	struct {
		struct fuse_out_header header;
		char body[256];
	} out = {
		.header = {
			.len = sizeof(out.header) + size,
			.error = err,
			.unique = unique,
		},
	};

	memcpy(out.body, body, size);
	return write(fuse, &out, out.header.len) < 0 ? -errno : 0;
}

#endif /* SELFTESTS_FUSE_REPLY_H */

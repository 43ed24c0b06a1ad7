/* SPDX-License-Identifier: GPL-2.0 */
/* A handler that counts signals. */
#ifndef SELFTESTS_HANDLED_H
#define SELFTESTS_HANDLED_H

#include <errno.h>
#include <signal.h>

#include "core/helpers.h"

static atomic_int handled;

static inline void handler(int sig)
{
	atomic_fetch_add(&handled, 1);
}

static inline int handle(int sig, void (*function)(int sig), int flags)
{
	struct sigaction action = { .sa_handler = function, .sa_flags = flags };

	atomic_store(&handled, 0);
	return sigaction(sig, &action, NULL);
}

#endif /* SELFTESTS_HANDLED_H */

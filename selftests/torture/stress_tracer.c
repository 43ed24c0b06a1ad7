// SPDX-License-Identifier: GPL-2.0
/*
 * Switches the function tracer on the function that the module hooks.  While
 * the kernel patches an instruction, a breakpoint stands there.  QEMU 7.2 with
 * one thread per processor sometimes goes on executing that breakpoint when it
 * is gone, and then the guest hangs for ever.  It can't happen if nobody
 * executes the patched function meanwhile.  So no file is closed while the
 * tracer is switched on or off for the function, and the tracer as a whole is
 * switched on before everything else and off after it, because that patches the
 * scheduler.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "torture/stress.h"

#define TRACEFS "/sys/kernel/tracing"
#define FIRST_WRITER PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP
#define HOOKED_FUNCTION "locks_remove_file"
/* An empty filter would mean all functions. */
#define QUIET_FUNCTION "vfs_fallocate"
/* Switching makes all others wait: leave them some time in between. */
#define PAUSE_USEC	500000

pthread_rwlock_t *closing_lock;

/* Before any fork. */
bool tracer_lock_init(void)
{
	pthread_rwlockattr_t attr;

	closing_lock = mmap(NULL, sizeof(*closing_lock), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (closing_lock == MAP_FAILED)
		return false;
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_rwlockattr_setkind_np(&attr, FIRST_WRITER);
	return !pthread_rwlock_init(closing_lock, &attr);
}

static bool tracefs_write_flags(const char *file, const char *text, int flags)
{
	char path[128];
	bool done;
	int fd;

	snprintf(path, sizeof(path), TRACEFS "/%s", file);
	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return done;
}

static bool tracefs_write(const char *file, const char *text)
{
	return tracefs_write_flags(file, text, O_TRUNC);
}

bool tracer_start(void)
{
	if (access(TRACEFS "/current_tracer", W_OK))
		mount("tracefs", TRACEFS, "tracefs", 0, NULL);
	return tracefs_write("set_ftrace_filter", QUIET_FUNCTION "\n") &&
	       tracefs_write("current_tracer", "function");
}

/* Waits for tasks that may be closing a file. */
static bool tracer_set(const char *file, const char *text, int flags)
{
	bool done;

	pthread_rwlock_wrlock(closing_lock);
	done = tracefs_write_flags(file, text, flags);
	pthread_rwlock_unlock(closing_lock);
	return done;
}

/* The filter switches the tracer on and off for the function. */
bool tracer_toggle(struct rng *rng)
{
	bool done;

	done = tracer_set("set_ftrace_filter", HOOKED_FUNCTION "\n", O_APPEND);
	usleep(rng_below(rng, PAUSE_USEC));
	if (rng_below(rng, 4) == 0)
		tracefs_write("tracing_on", rng_below(rng, 2) ? "1" : "0");
	done &= tracer_set("set_ftrace_filter", "!" HOOKED_FUNCTION "\n",
			   O_APPEND);
	usleep(rng_below(rng, PAUSE_USEC));
	return done;
}

void tracer_stop(void)
{
	tracefs_write("current_tracer", "nop");
	tracefs_write("set_ftrace_filter", "\n");
	tracefs_write("tracing_on", "1");
}

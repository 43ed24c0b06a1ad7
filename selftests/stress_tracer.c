// SPDX-License-Identifier: GPL-2.0
/*
 * Switches the function tracer on the function that the module hooks, and on
 * nothing else: recording command names would patch the scheduler each time,
 * and QEMU 7.2 sometimes goes on executing the breakpoint that was there during
 * the patch, for ever where interrupts are off.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "stress.h"

#define TRACEFS "/sys/kernel/tracing"
#define HOOKED_FUNCTION "locks_remove_file"

static bool tracefs_write(const char *file, const char *text)
{
	char path[128];
	bool done;
	int fd;

	snprintf(path, sizeof(path), TRACEFS "/%s", file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return done;
}

bool tracer_find(void)
{
	if (access(TRACEFS "/current_tracer", W_OK))
		mount("tracefs", TRACEFS, "tracefs", 0, NULL);
	return tracefs_write("options/record-cmd", "0") &&
	       tracefs_write("set_ftrace_filter", HOOKED_FUNCTION "\n");
}

bool tracer_toggle(struct rng *rng)
{
	bool on;

	if (rng_below(rng, 4) == 0)
		tracefs_write("tracing_on", rng_below(rng, 2) ? "1" : "0");
	on = tracefs_write("current_tracer", "function");
	usleep(rng_below(rng, 20000));
	return tracefs_write("current_tracer", "nop") && on;
}

void tracer_stop(void)
{
	tracefs_write("current_tracer", "nop");
	tracefs_write("set_ftrace_filter", "\n");
	tracefs_write("options/record-cmd", "1");
	tracefs_write("tracing_on", "1");
}

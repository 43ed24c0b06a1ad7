// SPDX-License-Identifier: GPL-2.0
/* Kinds of files to watch: those that tell that a resource is short. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "core/filetype.h"
#include "core/helpers.h"

/*
 * Two tasks that want one CPU for 200 ms of 2 s, more than the guest itself has
 * on a busy machine: pressure.  It is told again after 2 s, and tests expect that
 * there is nothing more before that; they need less if the tasks have ended.
 */
static int open_trigger(struct probe *probe, const char *path)
{
	static const char trigger[] = "some 200000 2000000";
	int ret = open_twice(probe, path, O_RDWR);

	if (ret)
		return ret;
	/* The newest trigger is checked first, so the twin's is the last. */
	if (write(probe->twin, trigger, sizeof(trigger)) < 0 ||
	    write(probe->fd, trigger, sizeof(trigger)) < 0)
		return -errno;
	return 0;
}

static int open_pressure(struct probe *probe)
{
	return open_trigger(probe, "/proc/pressure/cpu");
}

static int open_cgroup_pressure(struct probe *probe)
{
	char path[160];
	int ret = mount_cgroups(probe);

	if (ret)
		return ret;
	/* Of all groups. */
	snprintf(path, sizeof(path), "%s/cpu.pressure", probe->path);
	return open_trigger(probe, path);
}

static int make_pressure(struct probe *probe)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (probe->children[i])
			continue;
		probe->children[i] = fork();
		if (!probe->children[i]) {
			pin_to_cpu(0);
			for (;;)
				;
		}
	}
	return 0;
}

static void end_pressure(struct probe *probe)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (!probe->children[i])
			continue;
		kill(probe->children[i], SIGKILL);
		reap(probe->children[i]);
		probe->children[i] = 0;
	}
}

const struct filetype filetype_pressure = {
	.open = open_pressure,
	.close = end_pressure,
	.calm = end_pressure,
	.happenings = {
		{ "the CPU is short", make_pressure, POLLPRI },
	},
};

static void end_cgroup_pressure(struct probe *probe)
{
	end_pressure(probe);
	remove_folder(probe);
}

const struct filetype filetype_cgroup_pressure = {
	.open = open_cgroup_pressure,
	.close = end_cgroup_pressure,
	.calm = end_pressure,
	.happenings = {
		{ "the CPU is short", make_pressure, POLLPRI },
	},
};

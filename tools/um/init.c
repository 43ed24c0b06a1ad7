// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of a um kernel: loads the module, runs a program for each
 * back end, and ends the kernel.
 *
 * usage: init PROGRAM ROUNDS FDS BACKEND... [FDS BACKEND...]
 *
 * A line that begins with a colon says what the following ones are about.
 */
#include <ctype.h>
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../pin.h"

static void set_limit(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file || fprintf(file, "4000000\n") < 0 || fclose(file))
		err(1, "%s", path);
}

static void set_up(void)
{
	int fd;

	if (mount("proc", "/proc", "proc", 0, NULL) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL) ||
	    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL))
		err(1, "mount");
	fd = open("/devepoll.ko", O_RDONLY);
	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		err(1, "the module can't be loaded");
	close(fd);
	set_limit("/proc/sys/fs/file-max");
	set_limit("/proc/sys/fs/epoll/max_user_watches");
	set_limit("/sys/module/devepoll/parameters/max_user_watches");
}

static bool run(char *program, char *backend, char *fds, char *rounds)
{
	int status;
	pid_t pid;

	printf(": %s %s\n", backend, fds);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		/* On the host, a program stays where it begins. */
		pin(0);
		execl(program, program, backend, fds, rounds, NULL);
		err(1, "%s", program);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		err(1, "fork");
	return !status;
}

int main(int argc, char **argv)
{
	char *fds = NULL;
	bool ok = argc > 4;
	pid_t pid = fork();
	int i;

	/* A first process that exits would make the kernel panic. */
	if (pid) {
		waitpid(pid, NULL, 0);
		fflush(stdout);
		reboot(RB_POWER_OFF);
	}
	set_up();
	for (i = 3; ok && i < argc; i++) {
		/* The kernel adds root=. */
		if (strchr(argv[i], '='))
			continue;
		if (isdigit(argv[i][0]))
			fds = argv[i];
		else
			ok = run(argv[1], argv[i], fds, argv[2]);
	}
	printf(": %s\n", ok ? "end" : "failed");
	return 0;
}

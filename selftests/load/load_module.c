// SPDX-License-Identifier: GPL-2.0
/* How the module is loaded and unloaded, and what it leaves. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/helpers.h"
#include "load/load_module.h"

#define SET_FDS		512

int module_load_file(const char *path, const char *params)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return ret;
}

int module_load(const char *params)
{
	return module_load_file(getenv("DEVEPOLL_KO"), params);
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "devepoll", O_NONBLOCK) ? -errno : 0;
}

bool module_goes(void)
{
	return await(module_unload() == 0);
}

bool module_is_loaded(void)
{
	return access(MODULE_DIR, F_OK) == 0;
}

bool file_has(const char *path, const char *word)
{
	char line[256];
	bool found = false;
	FILE *f = fopen(path, "re");

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, word);
	if (f)
		fclose(f);
	return found;
}

bool matches(const char *pattern)
{
	glob_t g = {};
	bool found = glob(pattern, 0, NULL, &g) == 0;

	globfree(&g);
	return found;
}

/* A name may stay as a link to the cache that it was merged with. */
bool has_slab_caches(void)
{
	glob_t g = {};
	bool found = false;
	struct stat st;
	size_t i;

	glob("/sys/kernel/slab/devepoll*", 0, NULL, &g);
	for (i = 0; i < g.gl_pathc; i++)
		found |= !lstat(g.gl_pathv[i], &st) && S_ISDIR(st.st_mode);
	globfree(&g);
	return found || file_has("/proc/slabinfo", "devepoll");
}

int use_set(void)
{
	int event = eventfd_new(), fd = dep_open();
	struct evpoll evp = { .ep_timeout = 0 };
	char *map;
	int n = -1;

	if (event < 0 || fd < 0 || dep_alloc(fd, SET_FDS))
		goto out;
	map = dep_map(fd, EP_MAP_SIZE(SET_FDS));
	if (!map || map == MAP_FAILED)
		goto out;
	dep_write_one(fd, event, POLLIN);
	eventfd_post(event);
	n = dep_poll(fd, &evp);
	munmap(map, EP_MAP_SIZE(SET_FDS));
out:
	close(event);
	close(fd);
	return n;
}

int closed_files_that_left(void)
{
	struct pollfd pfd = { .events = POLLIN };
	int set = dep_open();
	int i, left = 0;

	if (set < 0 || dep_alloc(set, SET_FDS))
		return -1;
	for (i = 0; i < CLOSES; i++) {
		pfd.fd = eventfd_new();
		if (dep_write_one(set, pfd.fd, POLLIN) != sizeof(pfd) ||
		    dep_ispolled(set, &pfd) != 1)
			break;
		close(pfd.fd);
		left += dep_ispolled(set, &pfd) == 0;
	}
	close(set);
	return left;
}

int log_open(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (log >= 0)
		lseek(log, 0, SEEK_END);
	return log;
}

int log_new_lines(int log, const char *word)
{
	char record[8192];
	int found = 0;
	ssize_t n;

	while ((n = read(log, record, sizeof(record) - 1)) > 0) {
		record[n] = 0;
		if (strstr(record, "devepoll: ") && !strstr(record, "taints") &&
		    !strstr(record, "verification"))
			found += strstr(record, word) ? 1 : 100;
		if (strstr(record, "Call Trace") || strstr(record, "WARNING"))
			found += 1000;
	}
	return found;
}

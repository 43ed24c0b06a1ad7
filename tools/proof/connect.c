// SPDX-License-Identifier: GPL-2.0
/*
 * Opens connections to workers that share a listening socket, keeps them open,
 * and prints how many each worker has.
 *
 * usage: connect epoll|device NUMBER PORT PID...
 *
 * Each of the workers PID must have a set of this kind and none of the other.
 * A connection sends a request and has an answer before the next one is opened.
 * There is no time limit: the caller has one.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../examples/number.h"

#define POLL_US		200000
/* Of /proc/net/tcp. */
#define ESTABLISHED	1
#define REQUEST		"GET / HTTP/1.1\r\nHost: here\r\n\r\n"

static const char *const links[] = { "anon_inode:[eventpoll]", "/dev/epoll" };

/* What a worker has open. */
struct has {
	int sets[2];	/* as in links */
	int watched;	/* fds, in all sets */
};

static FILE *proc_open(int pid, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "re");
}

static int watched_of(int pid, const char *fd)
{
	char name[280], line[256];
	int nr = 0;
	FILE *info;

	snprintf(name, sizeof(name), "fdinfo/%s", fd);
	info = proc_open(pid, name);
	while (info && fgets(line, sizeof(line), info))
		nr += !strncmp(line, "tfd:", 4);
	if (info)
		fclose(info);
	return nr;
}

static DIR *fds_open(int pid)
{
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		err(1, "worker %d", pid);
	return dir;
}

/* Returns the next fd, as text, and what it is; NULL after the last. */
static const char *fd_next(DIR *dir, char *link, size_t size)
{
	struct dirent *entry;
	ssize_t length;

	while ((entry = readdir(dir))) {
		length = readlinkat(dirfd(dir), entry->d_name, link, size - 1);
		if (length < 0)
			continue;
		link[length] = '\0';
		return entry->d_name;
	}
	return NULL;
}

static struct has worker_has(int pid)
{
	DIR *dir = fds_open(pid);
	struct has has = {};
	const char *fd;
	char link[64];
	int i;

	while ((fd = fd_next(dir, link, sizeof(link)))) {
		for (i = 0; i < 2; i++) {
			if (strcmp(link, links[i]))
				continue;
			has.sets[i]++;
			has.watched += watched_of(pid, fd);
		}
	}
	closedir(dir);
	return has;
}

/* Reads the inodes of the connections to a port; returns how many there are. */
static int connections_of(unsigned int port, unsigned long *inodes, int most)
{
	FILE *file = fopen("/proc/net/tcp", "re");
	unsigned int local, state;
	unsigned long inode;
	char line[256];
	int nr = 0;

	if (!file)
		err(1, "/proc/net/tcp");
	while (nr < most && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*d: %*x:%x %*x:%*x %x %*s %*s %*s %*s %*s %lu",
			   &local, &state, &inode) == 3 &&
		    local == port && state == ESTABLISHED)
			inodes[nr++] = inode;
	}
	fclose(file);
	return nr;
}

/*
 * Counts the connections that a worker has.  It has other sockets, too: nginx
 * goes on to pass those of its younger workers while connections come.
 */
static int worker_connections(int pid, const unsigned long *inodes, int nr)
{
	DIR *dir = fds_open(pid);
	unsigned long inode;
	int count = 0, i;
	char link[64];

	while (fd_next(dir, link, sizeof(link))) {
		if (sscanf(link, "socket:[%lu]", &inode) != 1)
			continue;
		for (i = 0; i < nr && inodes[i] != inode; i++)
			;
		count += i < nr;
	}
	closedir(dir);
	return count;
}

static bool is_asleep(int pid)
{
	FILE *file = proc_open(pid, "stat");
	char state = 0;

	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		errx(1, "worker %d has ended", pid);
	fclose(file);
	return state == 'S';
}

/*
 * Returns while the worker waits for its first connection: it watches the
 * listening socket, and a pipe or socket of its own.
 */
static void await_worker(int pid, int kind)
{
	struct has has;

	for (;;) {
		has = worker_has(pid);
		if (has.sets[!kind])
			errx(1, "worker %d has %s", pid, links[!kind]);
		if (has.watched >= 2 && is_asleep(pid))
			return;
		usleep(POLL_US);
	}
}

static void open_one(int port)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[4096];

	if (fd < 0 || connect(fd, (const void *)&to, sizeof(to)))
		err(1, "a connection");
	if (write(fd, REQUEST, strlen(REQUEST)) != (ssize_t)strlen(REQUEST) ||
	    read(fd, answer, sizeof(answer)) <= 0)
		errx(1, "a connection had no answer");
}

int main(int argc, char **argv)
{
	int kind = argc > 1 && !strcmp(argv[1], "device");
	int number, port, workers = argc - 4, sum = 0, nr, i;
	unsigned long *inodes;
	int *counts, *pids;

	if (argc < 5 || (!kind && strcmp(argv[1], "epoll")))
		errx(2, "usage: connect epoll|device NUMBER PORT PID...");
	number = number_of("NUMBER", argv[2], 1, 60000);
	port = number_of("PORT", argv[3], 1, 65535);
	inodes = calloc(number + 1, sizeof(*inodes));
	counts = calloc(workers, sizeof(*counts));
	pids = calloc(workers, sizeof(*pids));
	if (!inodes || !counts || !pids)
		err(1, "memory");
	for (i = 0; i < workers; i++)
		pids[i] = number_of("PID", argv[4 + i], 1, 1 << 22);
	for (i = 0; i < workers; i++)
		await_worker(pids[i], kind);
	for (i = 0; i < number; i++)
		open_one(port);
	nr = connections_of(port, inodes, number + 1);
	for (i = 0; i < workers; i++) {
		counts[i] = worker_connections(pids[i], inodes, nr);
		sum += counts[i];
	}
	if (sum != number)
		errx(1, "the workers have %d of %d connections", sum, number);
	for (i = 0; i < workers; i++)
		printf("%d%c", counts[i], i < workers - 1 ? ' ' : '\n');
	return 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Counts what the preload library does, in memory that all processes of the
 * program share, so that nothing is lost however a process ends.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "entry.h"
#include "preload/count.h"
#include "report.h"

/* What the environment variable says; see REPORT_FORMAT. */
struct told {
	char name[64];
	uint64_t major;
	uint64_t minor;
	uint64_t inode;
	uint64_t begun;
};

/* Counts that nobody reads, if there is no report. */
static struct report nowhere;
static struct report *report = &nowhere;

/* Memory that is 0 again in the child of a fork(2); NULL if there is none. */
static atomic_bool *is_counted;

static void add(report_counter *counter, uint64_t count)
{
	atomic_fetch_add_explicit(counter, count, memory_order_relaxed);
}

static uint64_t hexadecimal(const char **text)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;
	uint64_t number = 0;

	for (; **text && (digit = strchr(digits, **text)); ++*text)
		number = number << 4 | (digit - digits);
	return number;
}

static bool read_variable(const char *text, struct told *told)
{
	uint64_t *numbers[] = {
		&told->major, &told->minor, &told->inode, &told->begun,
	};
	size_t i, len = strcspn(text, " ");

	if (len >= sizeof(told->name))
		return false;
	memcpy(told->name, text, len);
	told->name[len] = '\0';
	text += len;
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (*text++ != ' ')
			return false;
		*numbers[i] = hexadecimal(&text);
	}
	return !*text;
}

#define TOLD_FLAGS	(O_RDWR | O_NONBLOCK | O_NOCTTY)

static int open_path(const char *name, int flags)
{
	return raw_call(SYS_openat, AT_FDCWD, (long)name, flags | O_CLOEXEC, 0,
			0, 0);
}

static bool is_told(int fd, const struct told *told)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       st.st_size == REPORT_SIZE && st.st_ino == told->inode &&
	       major(st.st_dev) == told->major &&
	       minor(st.st_dev) == told->minor;
}

/*
 * Opens the file of the report, and no other: to open another one could break a
 * lease, or stop a program from being run.
 */
static int open_told(const struct told *told)
{
	int fd, path = open_path(told->name, O_PATH);
	bool right = path >= 0 && is_told(path, told);
	char name[64];

	if (path < 0)
		return path;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path);
	fd = right ? open_path(name, TOLD_FLAGS) : -ESTALE;
	raw_call(SYS_close, path, 0, 0, 0, 0, 0);
	/* Only one fd is left below the limit: the name was right just now. */
	if (fd == -EMFILE)
		fd = open_path(told->name, TOLD_FLAGS);
	return fd;
}

/* Maps the memory of the report; NULL if it is not sealed, or another one. */
static struct report *map_told(int fd, const struct told *told)
{
	long seals = raw_call(SYS_fcntl, fd, F_GET_SEALS, 0, 0, 0, 0);
	struct report *map;
	int err;

	if (seals < 0 || (seals & REPORT_SEALS) != REPORT_SEALS)
		return NULL;
	map = raw_map(NULL, REPORT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0, &err);
	if (map && map->begun != told->begun) {
		raw_unmap(map, REPORT_SIZE);
		map = NULL;
	}
	return map;
}

/* Notes a process; false if it was counted before its execve(2). */
static bool is_new(uint32_t pid)
{
	uint_least32_t known;
	unsigned int i, place;

	for (i = 0; i < REPORT_PIDS; i++) {
		place = (pid + i) % REPORT_PIDS;
		known = 0;
		if (atomic_compare_exchange_strong(&report->pids[place], &known,
						   pid))
			return true;
		if (known == pid)
			return false;
	}
	return true;
}

static void add_process(void)
{
	if (is_new(raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0)))
		add(&report->processes, 1);
}

/* Counts the process, if it is the child of one that loaded the library. */
static void count_process(void)
{
	if (is_counted &&
	    !atomic_exchange_explicit(is_counted, true, memory_order_relaxed))
		add_process();
}

/* A child of fork(2) is counted at its first call. */
static void count_children(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	void *map;
	int err;

	map = raw_map(NULL, page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, &err);
	if (!map)
		return;
	if (raw_call(SYS_madvise, (long)map, page, MADV_WIPEONFORK, 0, 0, 0)) {
		raw_unmap(map, page);
		return;
	}
	is_counted = map;
	atomic_store_explicit(is_counted, true, memory_order_relaxed);
}

/* Runs before the program; a child of fork(2) inherits the mapping. */
static __attribute__((constructor)) void begin(void)
{
	const char *variable = secure_getenv(REPORT_VARIABLE);
	struct report *map;
	struct told told;
	int fd;

	if (!variable || !read_variable(variable, &told))
		return;
	fd = open_told(&told);
	if (fd < 0)
		return;
	map = map_told(fd, &told);
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (!map)
		return;
	report = map;
	add_process();
	count_children();
}

/* The last element is also for all reasons that find no room. */
static void add_reason(struct report_reason *reasons, int err)
{
	struct report_reason *last = reasons + REPORT_REASONS - 1;
	uint64_t known;

	for (; reasons != last; reasons++) {
		known = 0;
		if (atomic_compare_exchange_strong(&reasons->err, &known,
						   err) ||
		    known == (uint64_t)err)
			break;
	}
	if (reasons == last)
		atomic_store(&reasons->err, err);
	add(&reasons->count, 1);
}

static int reason_at(int err, const char *node)
{
	return strcmp(node, DEVEPOLL_NODE_MISC) ? err : err | REPORT_MISC;
}

/**
 * devepoll_report_create() - count an instance that was created
 * @err: 0 if it is on the device, otherwise the errno of the device
 * @node: the path that was opened, or not
 */
void devepoll_report_create(int err, const char *node)
{
	count_process();
	add(err ? &report->epoll.sets : &report->device.sets, 1);
	if (err)
		add_reason(report->fallback, reason_at(err, node));
}

/**
 * devepoll_report_refused() - count an instance that could not be created
 * @err: the errno
 * @node: the path that was not opened
 */
void devepoll_report_refused(int err, const char *node)
{
	count_process();
	add_reason(report->refused, reason_at(err, node));
}

/**
 * devepoll_report_ring() - count an instance that was to have a ring
 * @err: 0 if it has one, otherwise the errno
 */
void devepoll_report_ring(int err)
{
	if (err)
		add_reason(report->no_ring, err);
	else
		add(&report->rings, 1);
}

/**
 * devepoll_report_call() - count a call of epoll that was a system call
 * @nr: the number of the system call
 * @on_device: its instance was one of the device
 * @ret: its result
 */
void devepoll_report_call(long nr, bool on_device, long ret)
{
	struct report_calls *calls = on_device ? &report->device :
						 &report->epoll;

	count_process();
	if (nr == SYS_epoll_ctl) {
		add(&calls->changes, 1);
		return;
	}
	add(&calls->waits, 1);
	if (ret > 0)
		add(&calls->events, ret);
}

/**
 * devepoll_report_taken() - count a wait that was no system call
 * @nr: the number of events that it returned
 */
void devepoll_report_taken(long nr)
{
	count_process();
	add(&report->ring_waits, 1);
	add(&report->ring_events, nr);
}

/**
 * devepoll_report_ring_fd() - count an fd that was added to one with a ring
 * @trusted: its events go to memory
 */
void devepoll_report_ring_fd(bool trusted)
{
	add(&report->ring_fds, 1);
	if (!trusted)
		add(&report->ring_others, 1);
}

/**
 * devepoll_report_untaken() - count why a wait needs a system call
 * @word: the word of the ring
 */
void devepoll_report_untaken(uint64_t word)
{
	if (!(uint32_t)word)
		add(&report->ring_slept, 1);
	else if (word & DEVEPOLL_RING_ASK)
		add(&report->ring_asked, 1);
}

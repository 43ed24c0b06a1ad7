// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The report of devepoll(1), and what it finds out about a program from
 * outside.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "devepoll.h"

#define EVENTPOLL_LINK	"anon_inode:[eventpoll]"

/* Scripts that name scripts. */
#define MAX_SCRIPTS	4

/* Of programs with the word size of this one. */
typedef ElfW(Ehdr) elf_head;
typedef ElfW(Phdr) elf_part;

#define PLURAL(n)	((n) == 1 ? "" : "s")

static bool find_program(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH");
	const char *end;

	if (strchr(name, '/')) {
		snprintf(path, size, "%s", name);
		return true;
	}
	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (; *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		snprintf(path, size, "%.*s/%s", (int)(end - dirs), dirs, name);
		if (!access(path, X_OK))
			return true;
	}
	return false;
}

/* The library needs glibc; other dynamic linkers would start no program. */
static bool is_linker_of_glibc(int fd, const elf_part *interp)
{
	char path[PATH_MAX] = "";
	const char *name = path;

	if (interp->p_filesz < sizeof(path) &&
	    pread(fd, path, interp->p_filesz, interp->p_offset) > 0 &&
	    strrchr(path, '/'))
		name = strrchr(path, '/') + 1;
	/* The second name is that of the Linux Standard Base. */
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-lsb", 6);
}

static enum reach reach_by_linker(int fd, const elf_head *head)
{
	elf_part phdr;
	int i;

	for (i = 0; i < head->e_phnum; i++) {
		if (pread(fd, &phdr, sizeof(phdr),
			  head->e_phoff + i * sizeof(phdr)) != sizeof(phdr))
			return REACH_YES;
		if (phdr.p_type == PT_INTERP)
			return is_linker_of_glibc(fd, &phdr) ?
				REACH_YES : REACH_OTHER_LIBC;
	}
	return REACH_STATIC;
}

static enum reach reach_elf(int fd, const elf_head *head)
{
	const unsigned char bits = sizeof(long) == 8 ? ELFCLASS64 : ELFCLASS32;
	enum reach reach;
	struct stat st;

	if (head->e_ident[EI_CLASS] != bits)
		return REACH_OTHER_BITS;
	reach = reach_by_linker(fd, head);
	if (reach == REACH_YES && !fstat(fd, &st) &&
	    st.st_mode & (S_ISUID | S_ISGID) && geteuid() != st.st_uid)
		reach = REACH_PRIVILEGED;
	return reach;
}

/**
 * command_reach() - find out whether the library can be in a program
 * @program: the name, as for execvp(3)
 *
 * Return: why not, or REACH_YES, also if that is not known.
 */
enum reach command_reach(const char *program)
{
	enum reach reach = REACH_YES;
	char path[PATH_MAX];
	union {
		elf_head elf;
		char text[PATH_MAX];
	} head;
	bool script = find_program(program, path, sizeof(path));
	char *word;
	ssize_t len;
	int fd, i;

	for (i = 0; script && i < MAX_SCRIPTS; i++) {
		script = false;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			break;
		len = read(fd, &head, sizeof(head) - 1);
		if (len >= (ssize_t)sizeof(head.elf) &&
		    !memcmp(head.elf.e_ident, ELFMAG, SELFMAG)) {
			reach = reach_elf(fd, &head.elf);
		} else if (len > 2 && !memcmp(head.text, "#!", 2)) {
			head.text[len] = '\0';
			word = head.text + 2 + strspn(head.text + 2, " \t");
			word[strcspn(word, " \t\n")] = '\0';
			snprintf(path, sizeof(path), "%s", word);
			script = true;
		}
		close(fd);
	}
	return reach;
}

/**
 * command_count_eventpolls() - count the instances of epoll of a process
 * @pid: the process
 *
 * Return: the number of fds that refer to one.
 */
unsigned int command_count_eventpolls(int pid)
{
	char name[64], target[64];
	struct dirent *entry;
	unsigned int count = 0;
	ssize_t len;
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/fd", pid);
	dir = opendir(name);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		len = readlinkat(dirfd(dir), entry->d_name, target,
				 sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		count += !strcmp(target, EVENTPOLL_LINK);
	}
	closedir(dir);
	return count;
}

#define FILTER "a filter of system calls (seccomp)"

/* What the errors of the device mean, and what to do. */
static const char *why_no_device(int err)
{
	switch (err) {
	case ENOENT:
		return "there is no " DEVEPOLL_NODE
		       "; load the module: modprobe devepoll";
	case ENXIO:
	case ENODEV:
		return DEVEPOLL_NODE
		       " has no module; load it: modprobe devepoll";
	case EACCES:
		return "no permission to open " DEVEPOLL_NODE
		       "; see the parameter mode in devepoll(4)";
	case EPERM:
	case ENOSYS:
		return FILTER " or a control group refuses " DEVEPOLL_NODE;
	case ENOTTY:
		return DEVEPOLL_NODE " is another device, or " FILTER
		       " refuses its requests";
	case EMFILE:
	case ENFILE:
		return "too many open files; raise RLIMIT_NOFILE";
	case ENOMEM:
		return "no memory for a set; see the control group's limit";
	default:
		return strerror(err);
	}
}

static const char *why_no_ring(int err)
{
	switch (err) {
	case EPERM:
	case EACCES:
	case ENOSYS:
		return FILTER
		       " refuses it, or another process made the instance";
	case ENOTTY:
	case EINVAL:
	case EOPNOTSUPP:
		return "the module has no rings; install a newer one";
	case EBUSY:
		return "a process has 64 rings: one for each fd modulo 64";
	case ENOMEM:
	case EAGAIN:
		return "the limit of locked memory; raise RLIMIT_MEMLOCK";
	default:
		return strerror(err);
	}
}

static void say_reasons(FILE *out, const char *what,
			const struct report_reason *reasons,
			const char *(*why)(int err))
{
	const struct report_reason *reason;

	for (reason = reasons; reason != reasons + REPORT_REASONS; reason++) {
		if (reason->err)
			fprintf(out, "  %s, %" PRIu64 " time%s: %s\n", what,
				(uint64_t)reason->count,
				PLURAL(reason->count), why(reason->err));
	}
}

static void say_calls(FILE *out, const char *where,
		      const struct report_calls *calls)
{
	if (!calls->sets && !calls->changes && !calls->waits)
		return;
	fprintf(out, "  on %s: %" PRIu64 " change%s, %" PRIu64
		" wait%s by system call, %" PRIu64 " event%s\n", where,
		(uint64_t)calls->changes, PLURAL(calls->changes),
		(uint64_t)calls->waits, PLURAL(calls->waits),
		(uint64_t)calls->events, PLURAL(calls->events));
}

static void say_rings(FILE *out, const struct report *report)
{
	uint64_t waits = report->device.waits + report->ring_waits;

	if (!report->rings)
		return;
	fprintf(out, "  rings: %" PRIu64 " set%s with one; %" PRIu64
		" of %" PRIu64 " wait%s took %" PRIu64
		" event%s without a system call\n", (uint64_t)report->rings,
		PLURAL(report->rings), (uint64_t)report->ring_waits, waits,
		PLURAL(waits), (uint64_t)report->ring_events,
		PLURAL(report->ring_events));
	fprintf(out, "  system calls saved: %" PRIu64
		" (counted: one for each of these waits)\n",
		(uint64_t)report->ring_waits);
}

/* Why the library saw nothing, as far as it shows from outside. */
static void say_unseen(FILE *out, const struct outcome *outcome)
{
	const struct report *report = outcome->report;
	const char *why = "it makes system calls of its own, as Go programs do";
	bool seen = report->device.sets || report->epoll.sets;

	switch (outcome->reach) {
	case REACH_STATIC:
		why = "it is statically linked";
		break;
	case REACH_OTHER_BITS:
		why = "it needs the library of another word size";
		break;
	case REACH_OTHER_LIBC:
		why = WHY_OTHER_LIBC;
		break;
	case REACH_PRIVILEGED:
		why = "it has more privileges than its caller";
		break;
	case REACH_YES:
		if (!report->processes)
			why = "it did not start, or not by the dynamic linker";
		break;
	}
	if (outcome->eventpolls && !report->epoll.sets)
		fprintf(out,
			"  %u set%s on epoll the library does not reach: %s\n",
			outcome->eventpolls, PLURAL(outcome->eventpolls), why);
	else if (outcome->reach != REACH_YES || !report->processes)
		fprintf(out, "  the library does not reach the program: %s\n",
			why);
	else if (!seen)
		fputs("  the program created no set\n", out);
}

/**
 * command_report() - print the report
 * @out: where
 * @outcome: what is known
 */
void command_report(FILE *out, const struct outcome *outcome)
{
	const struct report *report = outcome->report;
	const uint64_t device = report->device.sets;
	const uint64_t epoll = report->epoll.sets;

	fprintf(out, "devepoll: %s, %" PRIu64 " process%s: %" PRIu64
		" set%s on " DEVEPOLL_NODE ", %" PRIu64 " on epoll\n",
		outcome->name, (uint64_t)report->processes,
		report->processes == 1 ? "" : "es", device, PLURAL(device),
		epoll);
	say_reasons(out, "fell back to epoll", report->fallback,
		    why_no_device);
	say_calls(out, DEVEPOLL_NODE, &report->device);
	say_calls(out, "epoll", &report->epoll);
	say_rings(out, report);
	say_reasons(out, "no ring", report->no_ring, why_no_ring);
	say_unseen(out, outcome);
}

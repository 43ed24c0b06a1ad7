// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What devepoll(1) finds out from outside: whether the library can be in a
 * program, whether it is in a process, and what the machine has of the device.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/reach.h"
#include "devepoll.h"

#define EVENTPOLL_LINK	"anon_inode:[eventpoll]"
#define LIBRARY		"libdevepoll-preload"

/* Scripts that name scripts. */
#define MAX_SCRIPTS	4

/* Of programs with the word size of this one. */
typedef ElfW(Ehdr) elf_head;
typedef ElfW(Phdr) elf_part;

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

/* Whether a part of a file has the text; -1 if the file can't be read. */
static int has_text(const char *path, int delimiter, const char *text)
{
	FILE *file = fopen(path, "re");
	char *part = NULL;
	size_t size = 0;
	int found = 0;

	if (!file)
		return -1;
	while (!found && getdelim(&part, &size, delimiter, file) > 0)
		found = !!strstr(part, text);
	if (!found && ferror(file))
		found = -1;
	free(part);
	fclose(file);
	return found;
}

static bool has_our_root(const char *root)
{
	struct stat ours, theirs;

	return stat("/", &ours) || stat(root, &theirs) ||
	       (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino);
}

/* Why the library is not in a process that runs. */
static enum reach reach_process(int pid)
{
	enum reach reach = REACH_UNKNOWN;
	char path[64];
	elf_head head;
	int fd, found;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	found = has_text(path, '\n', LIBRARY);
	if (found)
		return found < 0 ? REACH_UNKNOWN : REACH_YES;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (read(fd, &head, sizeof(head)) == sizeof(head))
			reach = reach_elf(fd, &head);
		close(fd);
	}
	if (reach != REACH_YES)
		return reach;
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	if (!has_our_root(path))
		return REACH_OTHER_ROOT;
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	return has_text(path, '\0', LIBRARY) ? REACH_UNKNOWN :
					       REACH_OTHER_ENVIRONMENT;
}

static unsigned int count_eventpolls(int pid)
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

/**
 * command_look() - look for instances of epoll that a process has open
 * @pid: the process
 * @seen: in and out: the look that found most of them
 */
void command_look(int pid, struct seen *seen)
{
	unsigned int count = count_eventpolls(pid);

	if (count <= seen->eventpolls)
		return;
	seen->eventpolls = count;
	seen->reach = reach_process(pid);
}

/**
 * command_has_module() - find out whether the module is loaded
 *
 * Return: true if it is.
 */
bool command_has_module(void)
{
	return !access("/sys/module/devepoll", F_OK);
}

static bool is_node(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISCHR(st.st_mode);
}

/**
 * command_machine() - find out what there is of the device
 *
 * Return: what this process, not the program, sees now.
 */
enum machine command_machine(void)
{
	if (is_node(DEVEPOLL_NODE) || is_node(DEVEPOLL_NODE_MISC))
		return MACHINE_HAS_NODE;
	return command_has_module() ? MACHINE_HAS_MODULE : MACHINE_HAS_NOTHING;
}

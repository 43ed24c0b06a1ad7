// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * devepoll-bench: what the machine is, which figures mean little without.
 */
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/bench.h"

#define CPU	"/sys/devices/system/cpu/"
#define FLAWS	CPU "vulnerabilities"

/* The first line of a file that begins with a word; empty if there is none. */
static const char *line_of(const char *path, const char *word)
{
	static char line[512];
	FILE *file = fopen(path, "re");
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, word, strlen(word));
	if (file)
		fclose(file);
	if (!found)
		return "";
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static const char *processor(void)
{
	const char *line = line_of("/proc/cpuinfo", "model name");
	const char *colon = strchr(line, ':');

	return colon ? colon + 1 + strspn(colon + 1, " ") : "unknown";
}

static void print_mitigations(void)
{
	char path[PATH_MAX];
	struct dirent **names;
	const char *line;
	int i, nr = scandir(FLAWS, &names, NULL, alphasort);

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), FLAWS "/%s", names[i]->d_name);
		line = names[i]->d_name[0] == '.' ? "" : line_of(path, "");
		if (*line && strcmp(line, "Not affected"))
			printf("  %s: %s\n", names[i]->d_name, line);
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
}

/* Two times, one right after the other: a part of each figure. */
static uint64_t clock_costs(void)
{
	uint64_t least = UINT64_MAX, took;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		took = bench_now();
		took = bench_now() - took;
		if (took < least)
			least = took;
	}
	return least;
}

/**
 * bench_machine() - print the versions, the processor, and its mitigations
 */
void bench_machine(void)
{
	const char *governor, *module;
	struct utsname name;

	uname(&name);
	module = line_of("/sys/module/devepoll/version", "");
	printf("devepoll-bench " DEVEPOLL_VERSION ", module %s, %s %s %s\n",
	       module, name.sysname, name.release, name.machine);
	printf("%ld processors, %s\n", sysconf(_SC_NPROCESSORS_ONLN),
	       processor());
	governor = line_of(CPU "cpu0/cpufreq/scaling_governor", "");
	printf("frequency governor: %s\n", *governor ? governor : "none");
	printf("a look at the clock: %llu ns, which each time includes\n",
	       (unsigned long long)clock_costs());
	puts("mitigations of the processor's flaws:");
	print_mitigations();
}

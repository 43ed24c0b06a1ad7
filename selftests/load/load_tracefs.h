/* SPDX-License-Identifier: GPL-2.0 */
/* What else calls something when the function that the module hooks runs. */
#ifndef SELFTESTS_LOAD_TRACEFS_H
#define SELFTESTS_LOAD_TRACEFS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/helpers.h"
#include "load/load_module.h"

#define TRACEFS		"/sys/kernel/tracing/"
#define HOOKED		"locks_remove_file"
#define PATCH		"load_livepatch"
#define PATCH_DIR	"/sys/kernel/livepatch/" PATCH

/**
 * struct hooker - one who hooks the same function
 * @name: what it is
 * @start: begins; false if this kernel has no such thing
 * @stop: ends; true if that succeeded
 * @hits: how often it was called since it began, or a negative errno
 */
struct hooker {
	const char *name;
	bool (*start)(void);
	bool (*stop)(void);
	long (*hits)(void);
};

static inline void tracefs_mount(void)
{
	if (access(TRACEFS "current_tracer", W_OK))
		mount("tracefs", TRACEFS, "tracefs", 0, NULL);
}

/* An event of the kind 'p', 'r' or 'f' of dynamic events. */
static inline bool event_start(const char *definition)
{
	return !write_text(TRACEFS "dynamic_events", definition) &&
	       !write_text(TRACEFS "events/dep_load/hit/enable", "1");
}

static inline bool event_stop(void)
{
	return !write_text(TRACEFS "events/dep_load/hit/enable", "0") &&
	       !write_text(TRACEFS "dynamic_events", "-:dep_load/hit");
}

/* Lines of the trace, all of which are the hooked function's. */
static inline long trace_lines(void)
{
	FILE *trace = fopen(TRACEFS "trace", "re");
	char line[512];
	long n = 0;

	while (trace && fgets(line, sizeof(line), trace))
		n += line[0] != '#' && (strstr(line, HOOKED) ||
					strstr(line, "dep_load") ||
					strstr(line, "hit:"));
	if (trace)
		fclose(trace);
	return n;
}

static inline bool trace_clear(void)
{
	return !write_text(TRACEFS "trace", "\n");
}

static inline bool kprobe_start(void)
{
	return trace_clear() && event_start("p:dep_load/hit " HOOKED);
}

static inline bool kretprobe_start(void)
{
	return trace_clear() && event_start("r:dep_load/hit " HOOKED);
}

/* Not at the beginning: a breakpoint, beside what ftrace has patched in. */
static inline bool kprobe_within_start(void)
{
	return trace_clear() && event_start("p:dep_load/hit " HOOKED "+9");
}

static inline bool fprobe_start(void)
{
	return trace_clear() && event_start("f:dep_load/hit " HOOKED);
}

static inline bool tracer_start(const char *tracer)
{
	return trace_clear() &&
	       !write_text(TRACEFS "set_ftrace_filter", HOOKED) &&
	       !write_text(TRACEFS "current_tracer", tracer);
}

static inline bool function_start(void)
{
	return tracer_start("function");
}

static inline bool graph_start(void)
{
	return tracer_start("function_graph");
}

static inline bool tracer_stop(void)
{
	return !write_text(TRACEFS "current_tracer", "nop") &&
	       !write_text(TRACEFS "set_ftrace_filter", "\n");
}

static inline long patch_number(const char *name)
{
	char path[128], text[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/" PATCH "/parameters/%s",
		 name);
	file = fopen(path, "re");
	if (!file)
		return -ENOENT;
	if (!fgets(text, sizeof(text), file))
		text[0] = 0;
	fclose(file);
	return atol(text);
}

/* Each task must go over to the other function. */
static inline bool patch_settles(void)
{
	return await(!file_has(PATCH_DIR "/transition", "1"));
}

static inline bool patch_start(void)
{
	const char *file = getenv("DEVEPOLL_LIVEPATCH");

	return file && *file && !module_load_file(file, "") && patch_settles();
}

/* When no task is left there, the kernel drops the patch. */
static inline bool patch_stop(void)
{
	return patch_number("with_locks") == 0 &&
	       !write_text(PATCH_DIR "/enabled", "0") &&
	       await(access(PATCH_DIR, F_OK)) &&
	       await(!syscall(SYS_delete_module, PATCH, O_NONBLOCK));
}

static inline long patch_hits(void)
{
	return patch_number("calls");
}

static const struct hooker by_kprobe = {
	"kprobe", kprobe_start, event_stop, trace_lines,
};

static const struct hooker by_kprobe_within = {
	"kprobe behind the entry", kprobe_within_start, event_stop,
	trace_lines,
};

static const struct hooker by_kretprobe = {
	"kretprobe", kretprobe_start, event_stop, trace_lines,
};

static const struct hooker by_fprobe = {
	"fprobe", fprobe_start, event_stop, trace_lines,
};

static const struct hooker by_function_tracer = {
	"function tracer", function_start, tracer_stop, trace_lines,
};

static const struct hooker by_graph_tracer = {
	"function_graph tracer", graph_start, tracer_stop, trace_lines,
};

static const struct hooker by_livepatch = {
	"livepatch", patch_start, patch_stop, patch_hits,
};

#endif /* SELFTESTS_LOAD_TRACEFS_H */

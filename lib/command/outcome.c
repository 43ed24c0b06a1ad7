// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The report of devepoll(1): each line says what happened, why, and what to do.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "command/outcome.h"
#include "devepoll.h"

#define PLURAL(n)	((n) == 1 ? "" : "s")

#define FILTER "a filter of system calls (seccomp)"

/* There was no node for the program: is there one for us? */
static const char *why_no_node(const struct outcome *outcome)
{
	const enum machine now = command_machine();

	if (now == MACHINE_HAS_NOTHING)
		return "there is no " DEVEPOLL_NODE
		       "; load the module: modprobe devepoll";
	if (now == MACHINE_HAS_MODULE)
		return "the module is loaded, but this /dev has no "
		       DEVEPOLL_NODE "; see \"Programs that do not see the "
		       "device\" in devepoll(1)";
	if (outcome->before != MACHINE_HAS_NODE)
		return "there was no " DEVEPOLL_NODE
		       " yet; start the program again";
	return "the program does not see " DEVEPOLL_NODE
	       ", and has no descriptor of it from before, as one that starts "
	       "after chroot(2) or in a /dev of its own; see \"Programs that do "
	       "not see the device\" in devepoll(1)";
}

/* What the errors of the device mean, and what to do. */
static const char *why_no_device(const struct outcome *outcome, int err)
{
	switch (err) {
	case ENOENT:
		return why_no_node(outcome);
	case ENXIO:
	case ENODEV:
		if (!command_has_module())
			return "it has no module; load it: modprobe devepoll";
		return "it has another number than the module that is loaded; "
		       "make it anew with that of "
		       "/sys/class/misc/eventpoll/dev";
	case EACCES:
		return "no permission; see the parameter mode in devepoll(4), "
		       "and the option nodev in mount(8)";
	case EPERM:
	case ENOSYS:
		return FILTER " or a control group refuses it; allow the "
		       "device there";
	case ENOTTY:
		return "it is another device, or " FILTER
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

/* Errors that are not about the node, or whose text names it. */
static bool is_of_node(int err)
{
	return err != ENOENT && err != EMFILE && err != ENFILE && err != ENOMEM;
}

static void say_time(FILE *out, const char *what,
		     const struct report_reason *reason)
{
	fprintf(out, "  %s, %" PRIu64 " time%s: ", what,
		(uint64_t)reason->count, PLURAL(reason->count));
}

static void say_no_device(FILE *out, const char *what,
			  const struct report_reason *reasons,
			  const struct outcome *outcome)
{
	const struct report_reason *reason;
	const char *node;
	int err;

	for (reason = reasons; reason != reasons + REPORT_REASONS; reason++) {
		if (!reason->err)
			continue;
		node = reason->err & REPORT_MISC ? DEVEPOLL_NODE_MISC :
						   DEVEPOLL_NODE;
		err = reason->err & ~REPORT_MISC;
		say_time(out, what, reason);
		fprintf(out, "%s%s%s\n", is_of_node(err) ? node : "",
			is_of_node(err) ? ": " : "",
			why_no_device(outcome, err));
	}
}

static void say_no_ring(FILE *out, const struct outcome *outcome)
{
	const struct report_reason *reason = outcome->report->no_ring;
	const struct report_reason *end = reason + REPORT_REASONS;

	for (; reason != end; reason++) {
		if (!reason->err)
			continue;
		say_time(out, "no ring", reason);
		fprintf(out, "%s\n", why_no_ring(reason->err));
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

/* Why waits on sets with a ring were system calls. */
static void say_waits(FILE *out, const struct report *report)
{
	const uint64_t others = report->ring_others, fds = report->ring_fds;

	if (report->ring_slept)
		fprintf(out, "  a system call, %" PRIu64
			" time%s: there was no event, so the wait slept\n",
			(uint64_t)report->ring_slept,
			PLURAL(report->ring_slept));
	if (!report->ring_asked)
		return;
	fprintf(out, "  a system call, %" PRIu64
		" time%s: the kernel had to look for events",
		(uint64_t)report->ring_asked, PLURAL(report->ring_asked));
	if (others)
		fprintf(out, " of fds that are level-triggered, one-shot or "
			"exclusive (%" PRIu64 " of %" PRIu64 ")", others, fds);
	fputc('\n', out);
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
	if (report->ring_waits)
		fprintf(out, "  system calls saved: %" PRIu64
			" (counted: one for each of these waits)\n",
			(uint64_t)report->ring_waits);
	say_waits(out, report);
	if (!report->ring_waits && waits)
		fputs("  the rings gained nothing; run the program without --ring\n",
		      out);
}

/* Why the library saw nothing, as far as it shows from outside. */
static const char *why_unseen(enum reach reach, const struct report *report)
{
	switch (reach) {
	case REACH_STATIC:
		return "it is statically linked; link it dynamically, or build "
		       "it by devepoll go or devepoll cargo, or have it use "
		       "the device itself, see devepoll(7)";
	case REACH_OTHER_BITS:
		return "it needs the library of another word size; install "
		       "that, see libdevepoll-preload(7)";
	case REACH_OTHER_LIBC:
		return WHY_OTHER_LIBC "; build it for glibc";
	case REACH_PRIVILEGED:
		return "it has more privileges than its caller; start it as "
		       "the user that it becomes";
	case REACH_OTHER_ROOT:
		return "it is in another root directory, which lacks the "
		       "library; see \"Programs that do not see the device\" "
		       "in devepoll(1)";
	case REACH_OTHER_ENVIRONMENT:
		return "it was started without our LD_PRELOAD, as by env -i; "
		       "run devepoll after that";
	case REACH_UNKNOWN:
		return "why can't be seen from outside; look for what the "
		       "dynamic linker said, or run devepoll as root";
	case REACH_YES:
		break;
	}
	if (!report->processes)
		return "it ended before the library began, or may not open "
		       "/proc/PID/fd of devepoll; look for what the dynamic "
		       "linker said";
	return "it makes system calls of its own, as Go programs do; build "
	       "those by devepoll go, see devepoll(1); others have to use the "
	       "device themselves, see devepoll(7)";
}

static bool has_sets(const struct report *report)
{
	return report->device.sets || report->epoll.sets;
}

/* The library of another word size was found, or it was not. */
static bool is_reached(const struct outcome *outcome)
{
	return outcome->report->processes &&
	       (outcome->reach == REACH_YES ||
		outcome->reach == REACH_OTHER_BITS);
}

static void say_unseen(FILE *out, const struct outcome *outcome)
{
	const struct report *report = outcome->report;
	const struct seen *seen = &outcome->seen;

	if (report->not_run)
		fprintf(out, "  the program did not start: %s\n",
			strerror(report->not_run));
	else if (seen->eventpolls && !report->epoll.sets)
		fprintf(out,
			"  %u set%s on epoll the library does not reach: %s\n",
			seen->eventpolls, PLURAL(seen->eventpolls),
			why_unseen(seen->reach, report));
	else if (!is_reached(outcome))
		fprintf(out, "  the library does not reach the program: %s\n",
			why_unseen(outcome->reach, report));
	else if (!has_sets(report) && !report->refused->err &&
		 !outcome->in_background)
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
	say_no_device(out, "fell back to epoll", report->fallback, outcome);
	say_no_device(out, "no set at all", report->refused, outcome);
	say_calls(out, DEVEPOLL_NODE, &report->device);
	say_calls(out, "epoll", &report->epoll);
	say_rings(out, report);
	say_no_ring(out, outcome);
	say_unseen(out, outcome);
	if (outcome->in_background)
		fputs("  it goes on in the background, where nothing more is reported; keep it in the foreground, as with nginx -g 'daemon off;'\n",
		      out);
}

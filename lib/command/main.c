// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * devepoll(1): runs a program that uses epoll on /dev/epoll, and reports how
 * that went.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/devepoll.h>

#include "command/outcome.h"
#include "preloaddir.h"

#define PRELOAD		"libdevepoll-preload.so"
#define PRELOAD_REPORT	"libdevepoll-preload-report.so"

/* Exit statuses, as those of env(1). */
#define EXIT_OWN	125
#define EXIT_NOT_RUN	126
#define EXIT_NOT_FOUND	127

/* What builds programs for the device, by the word that asks for it. */
static const struct {
	const char *word, *tool;
} tools[] = {
	{ "go", "devepoll-go" },
	{ "cargo", "devepoll-cargo" },
};

/* Between two looks at the program's fds, in ns; and how much to rest. */
#define FIRST_PAUSE	10000000LL
#define LAST_PAUSE	640000000LL
#define PAUSE_PER_LOOK	50

static const char usage[] =
"usage: devepoll [OPTION...] PROGRAM [ARGUMENT...]\n"
"       devepoll go build|install|run|test [ARGUMENT...]\n"
"       devepoll cargo [+TOOLCHAIN] build|run|test|patch [ARGUMENT...]\n"
"\n"
"Runs a program that uses epoll on /dev/epoll, unchanged; or runs the go command\n"
"or cargo, so that the programs that they build use /dev/epoll.\n"
"\n"
"  --report[=FILE]  at the end, say on standard error or in FILE what went to\n"
"                   the device, what did not, and why\n"
"  --fair           let instances that watch one listening socket take turns\n"
"  --ring           take edge-triggered events from memory, without a call\n"
"  --spin=USECS     look for an event so long, at most 10000, before each sleep\n"
"  --trust          report the events that wake-ups name, without polling\n"
"  --strict         let the program fail instead of falling back to epoll\n"
"  --help           print this text\n"
"  --version        print the versions, also of the loaded module\n";

static __attribute__((noreturn)) void die(int status, const char *what,
					  const char *why)
{
	fprintf(stderr, "devepoll: %s: %s\n", what, why);
	exit(status);
}

/* The directory of this program, or that of the installation. */
static void find_own(char *path, size_t size, const char *installed,
		     const char *name)
{
	ssize_t len = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (len > 0) {
		path[len] = '\0';
		slash = strrchr(path, '/');
		snprintf(slash + 1, size - (slash + 1 - path), "%s", name);
		if (!access(path, R_OK))
			return;
	}
	snprintf(path, size, "%s/%s", installed, name);
	if (access(path, R_OK))
		die(EXIT_OWN, path, strerror(errno));
}

/* The library comes last: those before it may replace the same functions. */
static void preload(const char *name, enum reach reach)
{
	const char *others = getenv("LD_PRELOAD");
	char path[PATH_MAX], *all;

	/* Ours would not do; the dynamic linker knows where its own may be. */
	if (reach == REACH_OTHER_BITS)
		snprintf(path, sizeof(path), "%s", name);
	else
		find_own(path, sizeof(path), PRELOADDIR, name);
	if (asprintf(&all, "%s%s%s", others ? others : "",
		     others && *others ? ":" : "", path) < 0 ||
	    setenv("LD_PRELOAD", all, 1))
		die(EXIT_OWN, "LD_PRELOAD", strerror(errno));
	free(all);
}

static __attribute__((noreturn)) void not_run(const char *program)
{
	die(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN, program,
	    strerror(errno));
}

static __attribute__((noreturn)) void run(char **argv)
{
	execvp(argv[0], argv);
	not_run(argv[0]);
}

/* A tool takes the arguments after its word; our options are not for it. */
static void run_tool(int options, char **argv)
{
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(tools) / sizeof(*tools); i++)
		if (!strcmp(argv[0], tools[i].word))
			break;
	if (i == sizeof(tools) / sizeof(*tools))
		return;
	if (options)
		die(EXIT_OWN, argv[0], "it takes no options of devepoll; "
		    "after '--', devepoll runs the command itself");
	find_own(path, sizeof(path), GODIR, tools[i].tool);
	argv[0] = path;
	execv(path, argv);
	die(EXIT_NOT_RUN, path, strerror(errno));
}

/* Says to the program where the report is, and how to recognize it. */
static int tell_report(int fd, const struct report *report)
{
	char text[128];
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	snprintf(text, sizeof(text), REPORT_FORMAT, getpid(), fd,
		 major(st.st_dev), minor(st.st_dev), (uint64_t)st.st_ino,
		 report->begun);
	return setenv(REPORT_VARIABLE, text, 1);
}

/* Counters for the program, in a file of memory that has no name. */
static struct report *make_report(void)
{
	int fd = memfd_create("devepoll-report",
			      MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct report *report;
	struct timespec now;

	if (fd < 0 || ftruncate(fd, REPORT_SIZE) ||
	    fcntl(fd, F_ADD_SEALS, REPORT_SEALS))
		die(EXIT_OWN, "memory for the report", strerror(errno));
	report = mmap(NULL, REPORT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	if (report == MAP_FAILED)
		die(EXIT_OWN, "memory for the report", strerror(errno));
	clock_gettime(CLOCK_REALTIME, &now);
	report->begun = now.tv_sec * 1000000000ULL + now.tv_nsec;
	if (tell_report(fd, report))
		die(EXIT_OWN, REPORT_VARIABLE, strerror(errno));
	return report;
}

/* The time that we have spent on a processor. */
static int64_t spent_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Looks for instances that the program made without the library; in ns. */
static int64_t look(pid_t child, struct outcome *outcome)
{
	const int64_t begin = spent_ns();

	command_look(child, &outcome->seen);
	return spent_ns() - begin;
}

/* Takes the ends of all children; true if that of the program is among them. */
static bool has_ended(pid_t program, int *status, bool *others)
{
	bool ended = false;
	pid_t child;
	int how;

	while ((child = waitpid(-1, &how, WNOHANG)) > 0) {
		if (child != program)
			continue;
		*status = how;
		ended = true;
	}
	*others = !child;
	return ended;
}

/* Waits for the program, passes signals on to it, and looks now and then. */
static int attend(pid_t child, const sigset_t *signals,
		  struct outcome *outcome)
{
	int64_t took, usual = FIRST_PAUSE, pause = usual;
	struct timespec time;
	int sig, status = 0;

	for (;;) {
		time.tv_sec = pause / 1000000000;
		time.tv_nsec = pause % 1000000000;
		sig = sigtimedwait(signals, NULL, &time);
		if (sig == SIGTERM || sig == SIGHUP)
			kill(child, sig);
		if (has_ended(child, &status, &outcome->in_background))
			return status;
		if (sig >= 0)
			continue;
		/* At first often, for programs that end soon. */
		if (usual < LAST_PAUSE)
			usual *= 2;
		/* A look at many fds takes long. */
		took = look(child, outcome);
		pause = usual > PAUSE_PER_LOOK * took ? usual :
							PAUSE_PER_LOOK * took;
	}
}

/* The program's status becomes ours, also if a signal ended it. */
static __attribute__((noreturn)) void end_as(int status)
{
	sigset_t all;

	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		sigfillset(&all);
		sigprocmask(SIG_UNBLOCK, &all, NULL);
		/* A core dump of ours could take the place of its own. */
		prctl(PR_SET_DUMPABLE, 0);
		raise(WTERMSIG(status));
		exit(128 + WTERMSIG(status));
	}
	exit(WEXITSTATUS(status));
}

static __attribute__((noreturn)) void
run_and_report(char **argv, const char *file, enum reach reach)
{
	struct report *report = make_report();
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	struct outcome outcome = {
		.name = argv[0],
		.reach = reach,
		.before = command_machine(),
	};
	FILE *out = file ? fopen(file, "we") : stderr;
	struct sigaction inherited;
	sigset_t signals, before;
	pid_t child;
	int status;

	if (!out)
		die(EXIT_OWN, file, strerror(errno));
	outcome.report = report;

	/* A terminal sends its signals to the program as well. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigprocmask(SIG_BLOCK, &signals, &before);
	/* If it is ignored, no status is left of the program. */
	sigaction(SIGCHLD, &by_default, &inherited);
	/* What the program leaves in the background becomes ours. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (child < 0)
		die(EXIT_OWN, "fork", strerror(errno));
	if (!child) {
		sigaction(SIGCHLD, &inherited, NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[0], argv);
		report->not_run = errno;
		not_run(argv[0]);
	}
	status = attend(child, &signals, &outcome);
	command_report(out, &outcome);
	if (fflush(out) || ferror(out))
		fprintf(stderr, "devepoll: %s: %s; the report is not complete\n",
			file ? file : "standard error", strerror(errno));
	end_as(status);
}

/* --spin; the library would ignore what is no number of microseconds. */
static void set_spin(const char *usecs)
{
	size_t digits = strspn(usecs, "0123456789");

	if (!digits || usecs[digits] ||
	    strtoul(usecs, NULL, 10) > DEVEPOLL_SPIN_MAX)
		die(EXIT_OWN, usecs, "not a number of microseconds up to 10000");
	setenv("DEVEPOLL_SPIN", usecs, 1);
}

static void say_versions(void)
{
	FILE *file = fopen("/sys/module/devepoll/version", "re");
	char version[64];

	puts("devepoll " DEVEPOLL_VERSION);
	if (file && fgets(version, sizeof(version), file))
		printf("module %s, loaded\n", strtok(version, "\n"));
	else
		puts("module not loaded");
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "report", optional_argument, NULL, 'r' },
		{ "fair", no_argument, NULL, 'f' },
		{ "ring", no_argument, NULL, 'R' },
		{ "spin", required_argument, NULL, 'S' },
		{ "trust", no_argument, NULL, 't' },
		{ "strict", no_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	const char *file = NULL;
	int option, report = 0;
	enum reach reach;

	/* Options after the program are its own. */
	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (option) {
		case 'r':
			report = 1;
			file = optarg;
			break;
		case 'f':
			setenv("DEVEPOLL_FAIR", "1", 1);
			break;
		case 'R':
			setenv("DEVEPOLL_RING", "1", 1);
			break;
		case 'S':
			set_spin(optarg);
			break;
		case 't':
			setenv("DEVEPOLL_TRUST", "1", 1);
			break;
		case 's':
			setenv("DEVEPOLL_NO_FALLBACK", "1", 1);
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		case 'V':
			say_versions();
			return 0;
		default:
			return EXIT_OWN;
		}
	}
	if (optind == argc)
		die(EXIT_OWN, "no program", "try devepoll --help");
	if (strcmp(argv[optind - 1], "--") != 0)
		run_tool(optind > 1, argv + optind);
	reach = command_reach(argv[optind]);
	if (reach != REACH_OTHER_LIBC)
		preload(report ? PRELOAD_REPORT : PRELOAD, reach);
	else if (!report)
		fprintf(stderr, "devepoll: %s runs without the library: %s\n",
			argv[optind], WHY_OTHER_LIBC);
	if (report)
		run_and_report(argv + optind, file, reach);
	run(argv + optind);
}

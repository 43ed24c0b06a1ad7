// SPDX-License-Identifier: GPL-2.0
/*
 * The command lines of the programs of the experiment.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "args.h"

#define ARGS_MOST	16
#define HELP_COLUMN	18

static void print_option(const struct arg *arg)
{
	const char *text = arg->help, *end;
	int column = printf("  --%s%s%s", arg->name, arg->value ? " " : "",
			    arg->value ? arg->value : "");

	for (;;) {
		end = strchrnul(text, '\n');
		printf("%*s%.*s\n", HELP_COLUMN - column, "",
		       (int)(end - text), text);
		if (!*end)
			return;
		text = end + 1;
		column = 0;
	}
}

static void print_help(const struct arg *args, const char *usage,
		       const char *about)
{
	printf("usage: %s\n\n", usage);
	for (; args->name; args++)
		print_option(args);
	if (about)
		printf("\n%s", about);
}

static void take(const struct arg *arg, const char *value)
{
	char what[64];

	snprintf(what, sizeof(what), "--%s", arg->name);
	if (arg->flag)
		*arg->flag = true;
	else if (arg->text)
		*arg->text = value;
	else
		*arg->number = number_of(what, value, arg->least, arg->most);
}

int args_read(int argc, char **argv, const struct arg *args, const char *usage,
	      const char *about)
{
	struct option options[ARGS_MOST + 2] = { 0 };
	int i, opt;

	for (i = 0; args[i].name; i++) {
		if (i == ARGS_MOST)
			errx(2, "more than %d options", ARGS_MOST);
		options[i].name = args[i].name;
		options[i].has_arg = args[i].value ? required_argument :
						     no_argument;
		options[i].val = i;
	}
	options[i].name = "help";
	options[i].val = i;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == '?') {
			fputs("try --help\n", stderr);
			exit(2);
		}
		if (opt == i) {
			print_help(args, usage, about);
			exit(0);
		}
		take(&args[opt], optarg);
	}
	return optind;
}

void args_done(int argc, int first, int least, int most)
{
	if (argc - first < least)
		errx(2, "an argument is missing (try --help)");
	if (argc - first > most)
		errx(2, "too many arguments (try --help)");
}

int limit_files(long nr)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return -errno;
	lim.rlim_cur = nr;
	if (lim.rlim_max < lim.rlim_cur)
		lim.rlim_max = lim.rlim_cur;
	return setrlimit(RLIMIT_NOFILE, &lim) ? -errno : 0;
}

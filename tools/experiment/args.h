/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command lines of the programs of the experiment.
 */
#ifndef EXPERIMENT_ARGS_H
#define EXPERIMENT_ARGS_H

#include <stdbool.h>

#include "number.h"

/**
 * struct arg - an option, "--name" with or without a value
 * @name: without the dashes; NULL ends a table
 * @value: what the help calls its value; NULL if it takes none
 * @help: what it is for; a newline in it begins a line
 * @number: where its value goes as a number
 * @least: that it may be
 * @most: that it may be
 * @text: where its value goes as it is
 * @flag: set to true if the option is there
 */
struct arg {
	const char *name;
	const char *value;
	const char *help;
	int *number;
	long least, most;
	const char **text;
	bool *flag;
};

#define ARG_NUMBER(_name, _value, _help, _number, _least, _most)	\
	{ .name = (_name), .value = (_value), .help = (_help),		\
	  .number = (_number), .least = (_least), .most = (_most) }
#define ARG_TEXT(_name, _value, _help, _text)				\
	{ .name = (_name), .value = (_value), .help = (_help), .text = (_text) }
#define ARG_FLAG(_name, _help, _flag)					\
	{ .name = (_name), .help = (_help), .flag = (_flag) }

/**
 * args_read() - read the options, or print the help and exit
 * @argc: of main()
 * @argv: of main(); what is no option comes last
 * @args: which options there are; "--help" is one always
 * @usage: what follows "usage: " in the help
 * @about: what the program does, behind the options in the help, or NULL
 *
 * Whatever is wrong is said, and ends the program with status 2.
 *
 * Return: the index in @argv of the first that is no option.
 */
int args_read(int argc, char **argv, const struct arg *args, const char *usage,
	      const char *about);

/**
 * args_done() - exit with status 2 unless so many arguments are left
 * @argc: of main()
 * @first: what args_read() returned
 * @least: that are to be there
 * @most: that may be there
 */
void args_done(int argc, int first, int least, int most);

/**
 * limit_files() - allow so many open files, and no more
 * @nr: how many
 *
 * Return: 0, or -EPERM if the hard limit is lower and can't be raised.
 */
int limit_files(long nr);

#endif /* EXPERIMENT_ARGS_H */

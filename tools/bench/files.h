/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files that are watched: many of one kind.
 */
#ifndef BENCH_FILES_H
#define BENCH_FILES_H

enum kind {
	EVENTFDS,
	PIPES,
	UNIX_SOCKETS,
	TCP_SOCKETS,
};

/* @in[i] is watched and read, @out[i] is written to; for an eventfd the same */
struct files {
	int n;
	int *in;
	int *out;
};

/* The kind of files that files_open() opens from now on. */
void files_choose(enum kind kind);

/* These end the program on failure. */
struct files *files_open(int n);
void files_close(struct files *files);

/* Makes a file ready to be read; reads what made it so. */
void files_signal(const struct files *files, int i);
void files_clear(const struct files *files, int i);

#endif /* BENCH_FILES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Socket pairs for an echo server, and the client at their other ends, which
 * checks the answers.
 */
#ifndef EXAMPLES_PAIRS_H
#define EXAMPLES_PAIRS_H

#include <stddef.h>

/* The server's ends: all non-blocking. */
extern int *pair_fds;
extern int nr_pairs;

/* As many as the command line says, or @nr; ends the program if it can't. */
void pairs_open(int argc, char **argv, int nr);

/* Starts the client, which in the end closes its ends. */
void pairs_start_client(void);

/*
 * The program's exit status, once the client is done: 0 if it has got all that
 * it sent, and nothing else.
 */
int pairs_result(const char *what);

#endif /* EXAMPLES_PAIRS_H */

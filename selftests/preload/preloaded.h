/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of libdevepoll-preload.so share: a program with this in it
 * starts itself again with the library in LD_PRELOAD, before anything else.
 */
#ifndef SELFTESTS_PRELOADED_H
#define SELFTESTS_PRELOADED_H

#include <stdbool.h>
#include <stdint.h>

/* The path of what is named from the folder of this program. */
const char *beside_us(const char *name);

/* The C library's own, as called from a statically linked part. */
void *function_of_libc(const char *name);
int epoll_by_libc(void);

bool is_set_of_the_device(int fd);
bool is_set_of_epoll(int fd);

/* Adds an fd, whose number is its data; 0 or -errno. */
int add(int set, int fd, uint32_t events);
/* The fd that is ready, -ENOMSG if none is, or -errno. */
int ready(int set);
/* Whether a set that has nothing to report does what it is there for. */
bool works(int set);

/*
 * Made before the constructors of any library, the C library's among them;
 * but not in a program that is started with this word.
 */
#define WITHOUT_SET	"--without-set"
extern int early_set;
extern int early_errno;
extern bool early_works;
#define EARLY_ERRNO	12345

#endif /* SELFTESTS_PRELOADED_H */

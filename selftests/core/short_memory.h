/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of a request that ends too soon: a call is made with the first 0, 1,
 * 2, ... words of it, until all are there.  What follows is not there at all,
 * or is read-only.
 */
#ifndef SELFTESTS_SHORT_MEMORY_H
#define SELFTESTS_SHORT_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a test works on; each test defines it. */
struct world;

struct short_memory {
	const void *text;	/* what is in the memory */
	size_t size;
	int prot;		/* PROT_NONE, or PROT_READ */
	/* Makes the call with that memory. */
	int (*call)(struct world *w, void *at);
	/*
	 * Is the result right, and the world as it should be?  Undoes what was
	 * done.  -EFAULT is right as long as some words are missing.
	 */
	bool (*check)(struct world *w, int ret);
};

static inline char *short_memory_pages(void)
{
	void *map = mmap(NULL, 2 * getpagesize(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

/*
 * How many of these calls failed with EFAULT; -1 if a result was wrong, or if
 * the call failed with all of its memory.
 */
static inline int short_memory_walk(struct world *w,
				    const struct short_memory *m)
{
	const size_t page = getpagesize();
	char *pages = short_memory_pages(), *end = pages + page, *at;
	int ret = -ENOMEM, failed = 0;
	size_t words;

	for (words = 0; pages && words <= m->size / sizeof(int); words++) {
		at = end - words * sizeof(int);
		memcpy(at, m->text, m->size);
		if (mprotect(end, page, m->prot))
			return -1;
		ret = m->call(w, at);
		failed += ret == -EFAULT;
		if (mprotect(end, page, PROT_READ | PROT_WRITE) ||
		    !m->check(w, ret)) {
			printf("# %zu words: result %d\n", words, ret);
			return -1;
		}
	}
	if (pages)
		munmap(pages, 2 * page);
	printf("# %d of %zu calls failed\n", failed, words);
	return ret < 0 ? -1 : failed;
}

#endif /* SELFTESTS_SHORT_MEMORY_H */

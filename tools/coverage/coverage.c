// SPDX-License-Identifier: GPL-2.0
/*
 * Lets a module that gcc compiled with --coverage tell how often each of its
 * lines ran, on a kernel that has neither CONFIG_GCOV_KERNEL nor constructors.
 * tools/coverage/run adds this file to a copy of the module.
 *
 * Reading /sys/kernel/debug/devepoll-coverage gives, for each object, a line
 * "PATH SIZE" and a file of that size in the format that gcov(1) reads.  A
 * module that is unloaded, or fails to load, appends the same to KEPT.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "coverage.h"

/* What gcc emits; the counters whose merge function is NULL are not there. */
#define COUNTERS	(__GNUC__ >= 14 ? 9 : 8)

struct gcov_counters {
	unsigned int nr;
	s64 *values;
};

struct gcov_info;

struct gcov_function {
	const struct gcov_info *key;
	unsigned int ident;
	unsigned int lines_checksum;
	unsigned int graph_checksum;
	struct gcov_counters counters[];
};

struct gcov_info {
	unsigned int version;
	struct gcov_info *next;
	unsigned int stamp;
	unsigned int checksum;
	const char *path;
	void (*merge[COUNTERS])(s64 *counters, unsigned int nr);
	unsigned int nr_functions;
	struct gcov_function **functions;
};

#define MAGIC		0x67636461
#define TAG_FUNCTION	0x01000000
#define TAG_COUNTERS(i)	(0x01a10000 + ((i) << 17))
#define ROOM		(4 << 20)
#define KEPT		"/dev/shm/devepoll-coverage"

static struct gcov_info *objects;
static struct dentry *node;

/* Called by the constructors, and what else gcc refers to. */
void __gcov_init(struct gcov_info *info);
void __gcov_exit(void);
void __gcov_merge_add(s64 *counters, unsigned int nr);

void __gcov_init(struct gcov_info *info)
{
	info->next = objects;
	objects = info;
}

void __gcov_exit(void)
{
}

void __gcov_merge_add(s64 *counters, unsigned int nr)
{
}

/* The linker sorts constructors by name; gcov's have 00100. */
typedef void (*constructor)(void);

/* A kernel with constructors calls these, too. */
static void nothing(void)
{
}

static constructor first[] __used __section(".init_array.00099") = { nothing };
static constructor last[] __used __section(".init_array.00101") = { nothing };

/**
 * struct text - what a reader gets
 * @size: how much there is
 * @bytes: the text
 */
struct text {
	size_t size;
	u8 bytes[ROOM];
};

static void put(struct text *text, const void *from, size_t size)
{
	if (text->size + size > ROOM)
		return;
	memcpy(text->bytes + text->size, from, size);
	text->size += size;
}

static void put_u32(struct text *text, u32 word)
{
	put(text, &word, sizeof(word));
}

static void put_function(struct text *text, const struct gcov_info *info,
			 const struct gcov_function *function)
{
	const struct gcov_counters *counters = function->counters;
	unsigned int i;

	put_u32(text, TAG_FUNCTION);
	put_u32(text, 3 * sizeof(u32));
	put_u32(text, function->ident);
	put_u32(text, function->lines_checksum);
	put_u32(text, function->graph_checksum);
	for (i = 0; i < COUNTERS; i++) {
		if (!info->merge[i])
			continue;
		put_u32(text, TAG_COUNTERS(i));
		put_u32(text, counters->nr * sizeof(s64));
		put(text, counters->values, counters->nr * sizeof(s64));
		counters++;
	}
}

static void put_object(struct text *text, const struct gcov_info *info)
{
	const struct gcov_function *function;
	unsigned int i;

	put_u32(text, MAGIC);
	put_u32(text, info->version);
	put_u32(text, info->stamp);
	put_u32(text, info->checksum);
	for (i = 0; i < info->nr_functions; i++) {
		function = info->functions[i];
		/* Another object may have the function, inline in a header. */
		if (function && function->key == info)
			put_function(text, info, function);
	}
}

/* What all objects counted until now, or NULL; for vfree(). */
static struct text *make_text(void)
{
	struct text *text = vmalloc(sizeof(*text));
	const struct gcov_info *info;
	size_t start, size;
	char line[256];

	if (!text)
		return NULL;
	text->size = 0;
	for (info = objects; info; info = info->next) {
		/* Once for its size. */
		start = text->size;
		put_object(text, info);
		size = text->size - start;
		text->size = start;
		put(text, line, scnprintf(line, sizeof(line), "%s %zu\n",
					  info->path, size));
		put_object(text, info);
	}
	return text;
}

/* Saves the counts, which end with the module. */
static void keep_text(void)
{
	struct text *text = make_text();
	struct file *file;
	loff_t pos = 0;

	file = filp_open(KEPT, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (text && !IS_ERR(file))
		kernel_write(file, text->bytes, text->size, &pos);
	else
		pr_err("devepoll-coverage: counts are lost\n");
	if (!IS_ERR(file))
		filp_close(file, NULL);
	vfree(text);
}

static int coverage_open(struct inode *inode, struct file *file)
{
	file->private_data = make_text();
	return file->private_data ? 0 : -ENOMEM;
}

static ssize_t coverage_read(struct file *file, char __user *to, size_t count,
			     loff_t *pos)
{
	const struct text *text = file->private_data;

	return simple_read_from_buffer(to, count, pos, text->bytes,
				       text->size);
}

static int coverage_release(struct inode *inode, struct file *file)
{
	vfree(file->private_data);
	return 0;
}

static const struct file_operations coverage_fops = {
	.owner = THIS_MODULE,
	.open = coverage_open,
	.read = coverage_read,
	.release = coverage_release,
};

static int __init coverage_init(void)
{
	constructor *each = first;
	int err;

	/* A kernel with constructors has called them. */
	if (!objects) {
		/* The linker has put others behind it. */
		OPTIMIZER_HIDE_VAR(each);
		for (; each < last; each++) {
			if (*each)
				(*each)();
		}
	}
	if (!objects)
		return -ENXIO;
	err = devepoll_init();
	if (err) {
		keep_text();
		return err;
	}
	node = debugfs_create_file("devepoll-coverage", 0400, NULL, NULL,
				   &coverage_fops);
	return 0;
}

static void __exit coverage_exit(void)
{
	debugfs_remove(node);
	devepoll_exit();
	keep_text();
}

module_init(coverage_init);
module_exit(coverage_exit);

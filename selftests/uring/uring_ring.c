// SPDX-License-Identifier: GPL-2.0
/*
 * Rings whose commands are the device's requests.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/helpers.h"
#include "uring/uring_ring.h"

/* Where a command's own bytes stand in an entry. */
#define SQE_COMMAND	48
/* An operation that came with the kernel that can cancel commands. */
#define OP_READ_MULTISHOT	49

const struct ring_kind ring_plain = { .name = "plain" };

const struct ring_kind ring_by_workers = {
	.name = "by workers",
	.sqe_flags = IOSQE_ASYNC,
};

const struct ring_kind ring_polled = {
	.name = "polled",
	.setup = IORING_SETUP_SQPOLL,
};

const struct ring_kind ring_deferred = {
	.name = "deferred",
	.setup = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

int ring_open(struct ring *ring, const struct ring_kind *kind)
{
	struct io_uring_params params = {
		.flags = kind->setup,
		.sq_thread_idle = 10,
	};

	ring->sqe_flags = kind->sqe_flags;
	return io_uring_queue_init_params(RING_ENTRIES, &ring->uring, &params);
}

void ring_close(struct ring *ring)
{
	io_uring_queue_exit(&ring->uring);
}

struct io_uring_sqe *ring_prepare(struct ring *ring, int fd,
				  unsigned int request, const void *arg,
				  uint64_t data)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);
	uint64_t address = address_of(arg);

	if (!sqe)
		return NULL;
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = fd;
	sqe->cmd_op = request;
	sqe->flags = ring->sqe_flags;
	sqe->user_data = data;
	memcpy((char *)sqe + SQE_COMMAND, &address, sizeof(address));
	return sqe;
}

int ring_submit(struct ring *ring)
{
	int ret = io_uring_submit(&ring->uring);

	return ret < 0 ? ret : 0;
}

int ring_request(struct ring *ring, int fd, unsigned int request,
		 const void *arg, uint64_t data)
{
	if (!ring_prepare(ring, fd, request, arg, data))
		return -EBUSY;
	return ring_submit(ring);
}

int ring_peek(struct ring *ring, struct io_uring_cqe *cqe)
{
	struct io_uring_cqe *there;
	int ret;

	/* Lets the kernel do pending work in this task. */
	io_uring_get_events(&ring->uring);
	ret = io_uring_peek_cqe(&ring->uring, &there);
	if (ret)
		return ret;
	*cqe = *there;
	io_uring_cqe_seen(&ring->uring, there);
	return 0;
}

int ring_complete(struct ring *ring, struct io_uring_cqe *cqe)
{
	struct __kernel_timespec limit = { .tv_sec = 10 * slowness() };
	struct io_uring_cqe *there;
	int ret;

	ret = io_uring_wait_cqe_timeout(&ring->uring, &there, &limit);
	if (ret)
		return ret == -ETIME ? -ETIMEDOUT : ret;
	*cqe = *there;
	io_uring_cqe_seen(&ring->uring, there);
	return 0;
}

int ring_result(struct ring *ring, uint64_t data)
{
	struct io_uring_cqe cqe;
	int ret = ring_complete(ring, &cqe);

	if (ret)
		return ret;
	return cqe.user_data == data ? cqe.res : -EBADMSG;
}

int ring_call(struct ring *ring, int fd, unsigned int request,
	      const void *arg)
{
	static atomic_ulong calls;
	uint64_t data = 0xca11000000 + atomic_fetch_add(&calls, 1);
	int ret = ring_request(ring, fd, request, arg, data);

	return ret ?: ring_result(ring, data);
}

/*
 * Threads that work for rings sleep when they have nothing to begin.  Before
 * they look for work they are asleep by name, but have not left the CPU.
 */
static bool workers_sleep(unsigned int *nr)
{
	char path[64], name[32];
	bool asleep = true;
	FILE *f;
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%.16s/comm",
			 entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f) &&
		    !strncmp(name, "iou-", 4)) {
			asleep &= sleeps(atoi(entry->d_name));
			++*nr;
		}
		fclose(f);
	}
	if (dir)
		closedir(dir);
	return asleep;
}

bool ring_waits(struct ring *ring)
{
	const struct io_uring *uring = &ring->uring;
	struct io_uring_cqe *cqe;

	if (uring->flags & IORING_SETUP_SQPOLL &&
	    !await(!io_uring_sq_ready(uring) &&
		   io_uring_smp_load_acquire(uring->sq.kflags) &
		   IORING_SQ_NEED_WAKEUP))
		return false;
	if (!await(workers_sleep(&(unsigned int){ 0 })))
		return false;
	io_uring_get_events(&ring->uring);
	return io_uring_peek_cqe(&ring->uring, &cqe) == -EAGAIN;
}

bool process_has_workers(void)
{
	unsigned int nr = 0;

	workers_sleep(&nr);
	return nr;
}

bool ring_waits_for_all(struct ring *ring)
{
	if (ring->sqe_flags & IOSQE_ASYNC && !await(process_has_workers()))
		return false;
	return ring_waits(ring);
}

int ring_buffers_open(struct ring *ring, struct ring_buffers *buffers,
		      unsigned int nr, size_t size)
{
	struct io_uring_buf_reg reg = {
		.ring_entries = nr,
		.bgid = RING_GROUP,
	};
	int ret;

	*buffers = (struct ring_buffers){ .nr = nr, .size = size };
	if (posix_memalign((void **)&buffers->map, getpagesize(),
			   nr * sizeof(struct io_uring_buf)))
		return -ENOMEM;
	buffers->memory = malloc(nr * size);
	if (!buffers->memory)
		return -ENOMEM;
	memset(buffers->memory, 0xa5, nr * size);
	reg.ring_addr = address_of(buffers->map);
	ret = io_uring_register_buf_ring(&ring->uring, &reg, 0);
	if (!ret)
		io_uring_buf_ring_init(buffers->map);
	return ret;
}

void ring_buffers_close(struct ring *ring, struct ring_buffers *buffers)
{
	io_uring_unregister_buf_ring(&ring->uring, RING_GROUP);
	free(buffers->memory);
	free(buffers->map);
}

void ring_buffer_give(struct ring_buffers *buffers, unsigned int id,
		      size_t size)
{
	io_uring_buf_ring_add(buffers->map,
			      buffers->memory + id * buffers->size, size, id,
			      io_uring_buf_ring_mask(buffers->nr), 0);
	io_uring_buf_ring_advance(buffers->map, 1);
}

const struct devepoll_event *ring_buffer_of(const struct ring_buffers *buffers,
					    const struct io_uring_cqe *cqe)
{
	unsigned int id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;

	if (!(cqe->flags & IORING_CQE_F_BUFFER) || id >= buffers->nr)
		return NULL;
	return (const void *)(buffers->memory + id * buffers->size);
}

bool kernel_can_wait(void)
{
	struct io_uring_probe *probe = io_uring_get_probe();
	bool can = probe && probe->last_op >= OP_READ_MULTISHOT;

	io_uring_free_probe(probe);
	return can;
}

/*
 * A kernel that supports it refuses buffers without IORING_URING_CMD_MULTISHOT;
 * others don't know commands with buffers.
 */
bool kernel_can_shoot(void)
{
	struct io_uring_sqe *sqe;
	struct ring ring;
	int fd, ret;

	if (ring_open(&ring, &ring_plain))
		return false;
	fd = eventfd_new();
	sqe = ring_prepare(&ring, fd, 0, NULL, 1);
	sqe->flags = IOSQE_BUFFER_SELECT;
	sqe->buf_group = RING_GROUP;
	ret = ring_submit(&ring) ?: ring_result(&ring, 1);
	close(fd);
	ring_close(&ring);
	return ret == -EINVAL;
}

long module_references(void)
{
	FILE *f = fopen("/sys/module/devepoll/refcnt", "re");
	long n = -ENOENT;

	if (!f)
		return n;
	if (fscanf(f, "%ld", &n) != 1)
		n = -EIO;
	fclose(f);
	return n;
}

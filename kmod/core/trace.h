/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints: what happens to the items of a set. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM devepoll

#if !defined(DEVEPOLL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DEVEPOLL_TRACE_H

#include <linux/tracepoint.h>

#include "core/instance.h"
#include "core/item.h"

DECLARE_EVENT_CLASS(devepoll_item,
	TP_PROTO(const struct dep_item *item),
	TP_ARGS(item),
	TP_STRUCT__entry(
		__field(const void *, set)
		__field(int, fd)
		__field(u32, events)
		__field(u32, mode)
		__field(u64, data)
	),
	TP_fast_assign(
		__entry->set = item->inst;
		__entry->fd = item->fd;
		__entry->events = item->events;
		__entry->mode = item->mode;
		__entry->data = item->data;
	),
	TP_printk("set=%p fd=%d events=%#x mode=%#x data=%#llx",
		  __entry->set, __entry->fd, __entry->events, __entry->mode,
		  __entry->data)
);

/* An fd was added to a set. */
DEFINE_EVENT(devepoll_item, devepoll_add,
	TP_PROTO(const struct dep_item *item),
	TP_ARGS(item)
);

/* The program removed an fd from its set. */
DEFINE_EVENT(devepoll_item, devepoll_remove,
	TP_PROTO(const struct dep_item *item),
	TP_ARGS(item)
);

/* An fd left its set because its file or its number was closed. */
DEFINE_EVENT(devepoll_item, devepoll_close,
	TP_PROTO(const struct dep_item *item),
	TP_ARGS(item)
);

/* A file woke a set with an event that the set asked for. */
TRACE_EVENT(devepoll_event,
	TP_PROTO(const struct dep_item *item, u32 key),
	TP_ARGS(item, key),
	TP_STRUCT__entry(
		__field(const void *, set)
		__field(int, fd)
		__field(u32, key)
	),
	TP_fast_assign(
		__entry->set = item->inst;
		__entry->fd = item->fd;
		__entry->key = key;
	),
	TP_printk("set=%p fd=%d key=%#x", __entry->set, __entry->fd,
		  __entry->key)
);

/* A program took events. */
TRACE_EVENT(devepoll_harvest,
	TP_PROTO(const struct dep_instance *inst, u32 nr),
	TP_ARGS(inst, nr),
	TP_STRUCT__entry(
		__field(const void *, set)
		__field(u32, nr)
	),
	TP_fast_assign(
		__entry->set = inst;
		__entry->nr = nr;
	),
	TP_printk("set=%p events=%u", __entry->set, __entry->nr)
);

#endif /* DEVEPOLL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>

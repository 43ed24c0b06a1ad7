// SPDX-License-Identifier: GPL-2.0
/* Operations as lines of text, and their simplification. */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "file.h"
#include "op.h"

/* The fields that a verb uses, in the order in which they are printed. */
enum field {
	F_KIND = 1, F_SET, F_FD, F_TO, F_EVENTS, F_DATA, F_N, F_MS, F_ENTRY,
	F_HOLD, F_FIRST, FIELDS,
};

#define FIELDS_MAX	9

static const struct {
	const char *name;
	uint8_t fields[FIELDS_MAX];
} verbs[OP_VERBS] = {
	[OP_MAKE] = { "make", { F_KIND, F_FD, F_TO } },
	[OP_CLOSE] = { "close", { F_FD } },
	[OP_DUP] = { "dup", { F_FD, F_TO } },
	[OP_WRITE] = { "write", { F_FD, F_N } },
	[OP_FILL] = { "fill", { F_FD } },
	[OP_READ] = { "read", { F_FD, F_N } },
	[OP_DRAIN] = { "drain", { F_FD } },
	[OP_URGENT] = { "urgent", { F_FD } },
	[OP_SHUT] = { "shut", { F_FD, F_N } },
	[OP_RESET] = { "reset", { F_FD } },
	[OP_ADD] = { "add", { F_SET, F_FD, F_EVENTS, F_DATA, F_ENTRY, F_HOLD,
			      F_FIRST } },
	[OP_MOD] = { "mod", { F_SET, F_FD, F_EVENTS, F_DATA, F_ENTRY, F_HOLD,
			      F_FIRST } },
	[OP_DEL] = { "del", { F_SET, F_FD, F_ENTRY, F_HOLD, F_FIRST } },
	[OP_ODD] = { "odd", { F_SET, F_FD, F_EVENTS, F_N, F_ENTRY, F_FIRST } },
	[OP_WAIT] = { "wait", { F_SET, F_N, F_MS, F_ENTRY, F_FIRST } },
	[OP_ROUNDS] = { "rounds", { F_SET, F_N, F_ENTRY, F_FIRST } },
	[OP_FAULT] = { "fault", { F_SET, F_N, F_ENTRY, F_FIRST } },
	[OP_ASK] = { "ask", { F_SET, F_FIRST } },
	[OP_RENEW] = { "renew", { F_SET } },
	[OP_FORK] = { "fork", { F_N } },
	[OP_OTHER] = { "other", { F_N } },
};

static const char *const field_names[FIELDS] = {
	[F_KIND] = "kind", [F_SET] = "set", [F_FD] = "fd", [F_TO] = "to",
	[F_EVENTS] = "events", [F_DATA] = "data", [F_N] = "n", [F_MS] = "ms",
	[F_ENTRY] = "entry", [F_HOLD] = "hold", [F_FIRST] = "first",
};

static const struct {
	uint32_t bit;
	const char *name;
} event_names[] = {
	{ EPOLLIN, "IN" }, { EPOLLOUT, "OUT" }, { EPOLLPRI, "PRI" },
	{ EPOLLRDHUP, "RDHUP" }, { EPOLLERR, "ERR" }, { EPOLLHUP, "HUP" },
	{ EPOLLRDNORM, "RDNORM" }, { EPOLLRDBAND, "RDBAND" },
	{ EPOLLWRNORM, "WRNORM" }, { EPOLLWRBAND, "WRBAND" },
	{ EPOLLMSG, "MSG" }, { EVENT_NVAL, "NVAL" }, { EPOLLET, "ET" },
	{ EPOLLONESHOT, "ONESHOT" }, { EPOLLEXCLUSIVE, "EXCLUSIVE" },
	{ EPOLLWAKEUP, "WAKEUP" },
};

#define EVENT_NAMES	(sizeof(event_names) / sizeof(event_names[0]))

const char *op_name(unsigned int verb)
{
	return verb < OP_VERBS ? verbs[verb].name : NULL;
}

int op_find(const char *name)
{
	int i;

	for (i = 0; i < OP_VERBS; i++) {
		if (!strcmp(verbs[i].name, name))
			return i;
	}
	return -1;
}

const char *events_text(uint32_t events, char *text, size_t size)
{
	size_t i, len = 0;

	text[0] = '\0';
	for (i = 0; i < EVENT_NAMES; i++) {
		if (!(events & event_names[i].bit))
			continue;
		len += snprintf(text + len, size - len, "%s%s", len ? "|" : "",
				event_names[i].name);
		events &= ~event_names[i].bit;
	}
	if (events || !len)
		snprintf(text + len, size - len, "%s%#x", len ? "|" : "",
			 events);
	return text;
}

static uint32_t events_value(char *text)
{
	uint32_t events = 0;
	char *word, *rest;
	size_t i;

	for (word = strtok_r(text, "|", &rest); word;
	     word = strtok_r(NULL, "|", &rest)) {
		for (i = 0; i < EVENT_NAMES; i++) {
			if (!strcmp(event_names[i].name, word))
				break;
		}
		if (i < EVENT_NAMES)
			events |= event_names[i].bit;
		else
			events |= strtoul(word, NULL, 0);
	}
	return events;
}

static long field_get(const struct op *op, enum field field)
{
	switch (field) {
	case F_SET:
		return op->set;
	case F_FD:
		return op->fd;
	case F_TO:
		return op->to;
	case F_DATA:
		return op->data;
	case F_MS:
		return op->ms;
	case F_ENTRY:
		return op->entry;
	case F_HOLD:
		return op->hold;
	case F_FIRST:
		return op->first;
	default:
		return op->n;
	}
}

static void print_field(FILE *out, const struct op *op, enum field field)
{
	long value = field_get(op, field);
	char text[128];

	if (field == F_EVENTS)
		fprintf(out, " events=%s",
			events_text(op->events, text, sizeof(text)));
	else if (field == F_KIND)
		fprintf(out, " kind=%s", file_kind_name(op->n));
	else if (field == F_FD && value >= SLOTS)
		fprintf(out, " fd=s%ld", value - SLOTS);
	else if (value || field <= F_TO)
		fprintf(out, " %s=%ld", field_names[field], value);
}

void op_print(FILE *out, const struct op *op)
{
	int i;

	fputs(verbs[op->verb].name, out);
	for (i = 0; i < FIELDS_MAX && verbs[op->verb].fields[i]; i++)
		print_field(out, op, verbs[op->verb].fields[i]);
	fputc('\n', out);
}

static bool field_set(struct op *op, enum field which, char *text)
{
	long value = strtol(text, NULL, 0);

	switch (which) {
	case F_KIND:
		op->n = file_kind_find(text);
		return op->n >= 0;
	case F_SET:
		op->set = value;
		return value >= 0 && value < SETS;
	case F_FD:
		if (text[0] == 's')
			value = SLOTS + strtol(text + 1, NULL, 0);
		op->fd = value;
		return value >= 0 && value < TARGETS;
	case F_TO:
		op->to = value;
		return value >= 0 && value < SLOTS;
	case F_EVENTS:
		op->events = events_value(text);
		return true;
	case F_DATA:
		op->data = strtoul(text, NULL, 0);
		return true;
	case F_MS:
		op->ms = value;
		return true;
	case F_ENTRY:
		op->entry = value;
		return true;
	case F_HOLD:
		op->hold = value;
		return true;
	case F_FIRST:
		op->first = value & 1;
		return true;
	default:
		op->n = value;
		return true;
	}
}

static bool parse_field(struct op *op, char *word)
{
	char *value = strchr(word, '=');
	int i;

	if (!value)
		return false;
	*value++ = '\0';
	for (i = 0; i < FIELDS_MAX && verbs[op->verb].fields[i]; i++) {
		uint8_t which = verbs[op->verb].fields[i];

		if (!strcmp(field_names[which], word))
			return field_set(op, which, value);
	}
	return false;
}

int op_parse(char *line, struct op *op)
{
	char *rest, *word = strtok_r(line, " \t\n", &rest);
	int verb;

	memset(op, 0, sizeof(*op));
	if (!word || word[0] == '#')
		return 0;
	verb = op_find(word);
	if (verb < 0)
		return -1;
	op->verb = verb;
	while ((word = strtok_r(NULL, " \t\n", &rest))) {
		if (word[0] == '#')
			break;
		if (!parse_field(op, word))
			return -1;
	}
	return 1;
}

static bool op_uses(const struct op *op, enum field field)
{
	return memchr(verbs[op->verb].fields, field, FIELDS_MAX);
}

int op_simpler(struct op *op, unsigned int way)
{
	struct op old = *op;

	switch (way) {
	case 0:
		op->hold = 0;
		break;
	case 1:
		op->entry = 0;
		break;
	case 2:
		op->first = 0;
		break;
	case 3:
		op->ms = 0;
		break;
	case 4:
		if (op_uses(op, F_N) && op->verb != OP_SHUT && op->n > 1)
			op->n = 1;
		break;
	default:
		if (way - 5 >= EVENT_NAMES)
			return -1;
		if (op_uses(op, F_EVENTS))
			op->events &= ~event_names[way - 5].bit;
	}
	return !!memcmp(op, &old, sizeof(old));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * An HTTP server on libuv that gives one answer to everything.
 *
 * usage: http_libuv PORT
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "../examples/number.h"
#include "hello.h"

#define BACKLOG		1024
#define END_OF_HEAD	"\r\n\r\n"

/* A client sends its next request after the answer, so one buffer will do. */
struct client {
	uv_tcp_t tcp;
	uv_write_t write;
	char request[1024];
	size_t length;
};

static void check(int error, const char *what)
{
	if (error)
		errx(1, "%s: %s", what, uv_strerror(error));
}

static void closed(uv_handle_t *handle)
{
	free(handle);
}

static void written(uv_write_t *write, int error)
{
	if (error)
		uv_close((uv_handle_t *)write->handle, closed);
}

static void buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct client *client = (struct client *)handle;

	(void)suggested;
	buf->base = client->request + client->length;
	buf->len = sizeof(client->request) - client->length;
}

static void readable(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	static uv_buf_t answer = {
		.base = HELLO_ANSWER,
		.len = sizeof(HELLO_ANSWER) - 1,
	};
	struct client *client = (struct client *)stream;

	(void)buf;
	if (n < 0) {
		uv_close((uv_handle_t *)stream, closed);
		return;
	}
	client->length += n;
	if (!memmem(client->request, client->length, END_OF_HEAD,
		    strlen(END_OF_HEAD)))
		return;
	client->length = 0;
	check(uv_write(&client->write, stream, &answer, 1, written), "write");
}

static void connected(uv_stream_t *listener, int error)
{
	struct client *client = calloc(1, sizeof(*client));

	check(error, "a connection");
	if (!client)
		err(1, "memory");
	check(uv_tcp_init(listener->loop, &client->tcp), "socket");
	check(uv_accept(listener, (uv_stream_t *)&client->tcp), "accept");
	check(uv_read_start((uv_stream_t *)&client->tcp, buffer, readable),
	      "read");
}

int main(int argc, char **argv)
{
	uv_loop_t *loop = uv_default_loop();
	struct sockaddr_in addr;
	uv_tcp_t listener;

	if (argc != 2)
		errx(2, "usage: http_libuv PORT");
	check(uv_ip4_addr("127.0.0.1",
			  number_of("PORT", argv[1], 1, 65535), &addr),
	      "address");
	check(uv_tcp_init(loop, &listener), "socket");
	check(uv_tcp_bind(&listener, (struct sockaddr *)&addr, 0), "bind");
	check(uv_listen((uv_stream_t *)&listener, BACKLOG, connected),
	      "listen");
	return uv_run(loop, UV_RUN_DEFAULT);
}

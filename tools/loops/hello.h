/* SPDX-License-Identifier: GPL-2.0 */
/* The only answer of the HTTP servers that rate.c asks. */
#ifndef LOOPS_HELLO_H
#define LOOPS_HELLO_H

#define HELLO_BODY	"hello, world\n"
#define HELLO_ANSWER	"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n" HELLO_BODY

#endif

# SPDX-License-Identifier: GPL-2.0
"""An HTTP server on eventlet that gives one answer to everything.

usage: http_eventlet.py PORT
"""

import sys

import eventlet

BODY = b"hello, world\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)


def serve(sock, _):
    """A client sends its next request after the answer."""
    request = b""
    while True:
        more = sock.recv(1024)
        if not more:
            sock.close()
            return
        request += more
        if request.endswith(b"\r\n\r\n"):
            request = b""
            sock.sendall(ANSWER)


if __name__ == "__main__":
    eventlet.serve(eventlet.listen(("127.0.0.1", int(sys.argv[1])), backlog=1024),
                   serve)

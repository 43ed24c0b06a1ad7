# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""A hub of eventlet on /dev/epoll: EVENTLET_HUB=devepoll.hub:Hub selects it.

eventlet adds a file before an operation waits for it, and removes it after that.  On
epoll each is a call.  Here, what is added goes to the device with the next wait, and
a removal is told only if the file has an event that nobody wants: most are added
again, or closed, before they have one.
"""

import errno
import fcntl
import math
import select

from eventlet.hubs import poll

from .selector import (ADD, CHANGE, DEL, DEVEPOLL_WAIT, EVENT, MOD, MOST_NS, PATH,
                       RESULTS, UNTRIED, WAIT, _Memory, _open, available)


def is_available():
    """Whether the device can be opened: eventlet asks this."""
    return available()


class _Set:
    """As select.epoll, except that poll() makes the changes."""

    def __init__(self, path=PATH):
        self._fd = _open(path)
        # Owns the fd.
        self._set = select.epoll.fromfd(self._fd)
        self._changes = _Memory(CHANGE, 64)
        self._events = _Memory(EVENT, 256)
        self._wanted = {}   # by fd: the events
        self._pending = {}  # by fd: ADD, MOD or DEL
        self._known = set()  # fds that the device may have

    def fileno(self):
        """The fd of the set."""
        return self._set.fileno()

    def close(self):
        """Close the set."""
        self._set.close()
        self._fd = -1

    def register(self, fd, events):
        """The next poll() asks for these events; modify() does the same."""
        fd = fd if isinstance(fd, int) else fd.fileno()
        if fd < 0:
            raise ValueError(f"bad fd {fd}")
        self._wanted[fd] = events
        self._pending[fd] = MOD if fd in self._known else ADD

    modify = register

    def unregister(self, fd):
        """From now on, poll() does not report the fd."""
        self._wanted.pop(fd, None)
        self._pending.pop(fd, None)

    def forget(self, fd):
        """The number was closed, or is another file: the device has dropped it."""
        self._known.discard(fd)
        if fd in self._pending:
            self._pending[fd] = ADD

    def _pack(self):
        pending = self._pending
        if len(pending) > self._changes.room:
            self._changes = _Memory(CHANGE, 2 * len(pending))
        memory, offset, wanted = self._changes.bytes, 0, self._wanted
        for fd, what in pending.items():
            CHANGE.pack_into(memory, offset, what, 0, fd, wanted.get(fd, 0),
                             UNTRIED, fd)
            offset += CHANGE.size
            if what == DEL:
                self._known.discard(fd)
            else:
                self._known.add(fd)
        self._pending = {}
        return len(pending)

    def _settle(self, count):
        """What is to be tried again; returns the fds that can't be watched."""
        bad = []
        for what, _, fd, _, result, _ in self._changes.items(count):
            if result == UNTRIED:
                self._pending[fd] = what
            elif result == -errno.ENOENT and what == MOD:
                self._pending[fd] = ADD
            elif result == -errno.EEXIST:
                self._pending[fd] = MOD
            elif result and what != DEL:
                self._known.discard(fd)
                bad.append((fd, select.POLLNVAL))
        return bad

    def poll(self, seconds):
        """The changes, and the wait: a list of (fd, events)."""
        ns = -1 if seconds is None else \
            min(math.ceil(max(seconds, 0) * 1e9), MOST_NS)
        while True:
            count = self._pack() if self._pending else 0
            args = bytearray(WAIT.pack(
                self._events.address, self._events.room, 0, ns, 0, 0, 0,
                self._changes.address if count else 0, count,
                CHANGE.size if count else 0, 0, 0))
            ready = []
            try:
                found = fcntl.ioctl(self._fd, DEVEPOLL_WAIT, args, True)
            finally:
                # Changes are made even if a signal ends the wait.
                if count and RESULTS.unpack_from(
                        args, WAIT.size - RESULTS.size) != (count, 0):
                    ready = self._settle(count)
            for fd, events, _ in self._events.items(found):
                if fd in self._wanted:
                    ready.append((fd, events))
                else:
                    self._pending[fd] = DEL
            # A failed change ends the wait at once: it begins again with the rest.
            if ready or found or not self._pending:
                return ready


class Hub(poll.Hub):
    """eventlet's hub, with one call for all changes and the wait."""

    def __init__(self, clock=None):
        super().__init__(clock)
        self.poll = _Set()

    def notify_close(self, fileno):
        """eventlet says that it has closed a number."""
        super().notify_close(fileno)
        self.poll.forget(fileno)

    def mark_as_reopened(self, fileno):
        """eventlet says that a number is another file."""
        super().mark_as_reopened(fileno)
        self.poll.forget(fileno)

    def do_poll(self, seconds):
        """The fds that are ready, and their events."""
        return self.poll.poll(seconds)

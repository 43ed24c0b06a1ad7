# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""A selector on /dev/epoll, by its ioctls: see ioctl_devepoll(2)."""

import ctypes
import errno
import fcntl
import math
import os
import select
import selectors
import struct
import time

# struct devepoll_change, _event, _ctl and _wait_args
CHANGE = struct.Struct("=HHiIiQ")
EVENT = struct.Struct("=QIi")
CTL = struct.Struct("=QIIII")
WAIT = struct.Struct("=QIIqQIIQIIII")


def _iowr(number, size):
    return 3 << 30 | size << 16 | ord("P") << 8 | number


DEVEPOLL_CTL = _iowr(0x10, CTL.size)
DEVEPOLL_WAIT = _iowr(0x11, WAIT.size)
ADD, DEL, MOD = 1, 2, 3
UNTRIED = 1     # no result: those are 0 or negative
# The last two members of WAIT: how many changes were tried, and failed.
RESULTS = struct.Struct("=II")
NOT_IN, NOT_OUT = ~select.EPOLLIN, ~select.EPOLLOUT
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
PATH = "/dev/epoll"

# What to do when the device can't be opened.
ADVICE = {
    errno.ENOENT: "load the module: modprobe devepoll",
    errno.ENXIO: "load the module: modprobe devepoll",
    errno.ENODEV: "load the module: modprobe devepoll",
    errno.EACCES: "see the parameter mode in devepoll(4)",
    errno.EPERM: "a filter of system calls or a control group refuses it",
    errno.EMFILE: "raise RLIMIT_NOFILE",
}

POLL_EVENTS = (0, select.EPOLLIN, select.EPOLLOUT,
               select.EPOLLIN | select.EPOLLOUT)

# The longest wait: a signed number of 64 bits.
MOST_NS = 2 ** 63 - 1

# A change that fails in this way leaves an fd that can't be watched.
UNWATCHABLE = (errno.EPERM, errno.EBADF, errno.ENOENT)


def _open(path):
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        # In a container or after chroot() the module may well be loaded.
        advice = ADVICE.get(error.errno)
        if error.errno == errno.ENOENT and \
                os.path.exists("/sys/module/devepoll"):
            advice = "the module is loaded, but this /dev lacks the node"
        if advice:
            error.strerror = f"{error.strerror} ({advice})"
        raise


def available(path=PATH):
    """Whether the device can be opened, so that a selector can be made."""
    try:
        os.close(_open(path))
    except OSError:
        return False
    return True


class _Memory:
    """An array of structs at a fixed address."""

    def __init__(self, kind, room):
        self.kind = kind
        self.room = room
        self.bytes = bytearray(kind.size * room)
        self.address = ctypes.addressof(
            ctypes.c_char.from_buffer(self.bytes))

    def items(self, count):
        return self.kind.iter_unpack(
            memoryview(self.bytes)[:self.kind.size * count])


def _poll_events(events):
    return POLL_EVENTS[events & (READ | WRITE)]


class DevepollSelector(selectors._BaseSelectorImpl):
    """A selector as selectors.EpollSelector is, on /dev/epoll.

    With defer=True, register(), modify() and unregister() make no system call:
    the next select() makes all changes and waits, in one call.  A file that
    can't be watched is then found by select(), which reports it as ready, as
    poll(2) does, for the read or write to fail or to succeed.  Other failures
    of a change, such as a limit, are raised by select().

    While one thread is in select(), changes of other threads are made at once.
    A thread that begins to change the selector just before that is too late for
    it: wake the one that waits, as call_soon_threadsafe() of asyncio does.
    """

    def __init__(self, *, defer=False, path=PATH):
        super().__init__()
        self._fd = _open(path)
        # Owns the fd, and closes it with a selector that nobody closes.
        self._set = select.epoll.fromfd(self._fd)
        self._defer = defer
        self._waiting = False
        self._changes = _Memory(CHANGE, 64)
        self._events = _Memory(EVENT, 64)
        # By fd: whether to remove it first, ADD, MOD or None, and the events.
        self._pending = {}
        # Keys of fds that can't be watched.
        self._unwatchable = {}

    def fileno(self):
        """The fd of the set."""
        return self._set.fileno()

    def close(self):
        """Close the set."""
        self._set.close()
        self._fd = -1
        super().close()

    # --- Changes ---

    def register(self, fileobj, events, data=None):
        key = super().register(fileobj, events, data)
        try:
            if self._later():
                remove = self._pending.get(key.fd, (False,))[0]
                self._pending[key.fd] = remove, ADD, events
            else:
                self._change(ADD, key.fd, events)
        except BaseException:
            super().unregister(fileobj)
            raise
        return key

    def modify(self, fileobj, events, data=None):
        old = self.get_key(fileobj)
        if events == old.events:
            if data == old.data:
                return old
            key = old._replace(data=data)
        else:
            self._change_events(old, fileobj, events)
            key = old._replace(events=events, data=data)
        self._fd_to_key[key.fd] = key
        if key.fd in self._unwatchable:
            self._unwatchable[key.fd] = key
        return key

    def _change_events(self, key, fileobj, events):
        if key.fd in self._unwatchable:
            return
        if self._later():
            remove, what, _ = self._pending.get(key.fd, (False, MOD, 0))
            self._pending[key.fd] = remove, what, events
            return
        try:
            self._change(MOD, key.fd, events)
        except BaseException:
            super().unregister(fileobj)
            raise

    def unregister(self, fileobj):
        key = super().unregister(fileobj)
        fd = key.fd
        if self._unwatchable.pop(fd, None):
            return key
        if not self._later():
            try:
                self._change(DEL, fd, 0)
            except OSError:
                pass    # closed fds have left by themselves
            return key
        remove, what, _ = self._pending.get(fd, (True, None, 0))
        if what == ADD and not remove:
            del self._pending[fd]
        else:
            self._pending[fd] = True, None, 0
        return key

    def _later(self):
        # If the set is closed, the change fails.
        return self._defer and not self._waiting and self._fd >= 0

    def _change(self, what, fd, events):
        """One change, at once."""
        memory = _Memory(CHANGE, 1)
        CHANGE.pack_into(memory.bytes, 0, what, 0, fd, _poll_events(events),
                         UNTRIED, fd)
        fcntl.ioctl(self._fd, DEVEPOLL_CTL, bytearray(
            CTL.pack(memory.address, 1, CHANGE.size, 0, 0)), True)
        result = CHANGE.unpack(memory.bytes)[4]
        if result:
            raise OSError(-result, os.strerror(-result))

    def _pack_changes(self):
        """Writes what is pending to the memory; how many changes it is."""
        if not self._pending:
            return 0
        if 2 * len(self._pending) > self._changes.room:
            self._changes = _Memory(CHANGE, 4 * len(self._pending))
        memory, count = self._changes.bytes, 0
        for fd, (remove, what, events) in self._pending.items():
            if remove:
                CHANGE.pack_into(memory, count * CHANGE.size, DEL, 0, fd, 0,
                                 UNTRIED, fd)
                count += 1
            if what:
                CHANGE.pack_into(memory, count * CHANGE.size, what, 0, fd,
                                 _poll_events(events), UNTRIED, fd)
                count += 1
        return count

    def _take_results(self, pending, count):
        """What failed is unwatchable, or raised; what was not tried, pends."""
        fault = None
        for what, _, fd, _, result, _ in self._changes.items(count):
            if not result or what == DEL and result != UNTRIED:
                continue
            key = self._fd_to_key.get(fd)
            if result == UNTRIED:
                self._pending.setdefault(fd, pending[fd])
            elif key and -result in UNWATCHABLE:
                self._unwatchable[fd] = key
            elif key:
                super().unregister(key.fileobj)
                fault = fault or OSError(-result, os.strerror(-result), fd)
        if fault:
            raise fault

    # --- The wait ---

    def select(self, timeout=None):
        """All changes that are pending, and the wait, in one call."""
        if timeout is None:
            left, end = -1, None
        else:
            left = math.ceil(max(timeout, 0) * 1e9)
            if left > MOST_NS:
                raise OverflowError("timeout is too large")
            end = time.monotonic_ns() + left if left else 0
        while True:
            ready = self._select_once(0 if self._unwatchable else left)
            if ready or self._unwatchable or end == 0:
                break
            # It was a signal, or the end of the time, or a failed change.
            if end:
                left = end - time.monotonic_ns()
                if left <= 0:
                    break
        return ready + [(key, key.events)
                        for key in self._unwatchable.values()]

    def _select_once(self, timeout_ns):
        most = max(len(self._fd_to_key), 1)
        if most > self._events.room:
            self._events = _Memory(EVENT, 2 * most)
        pending, count, results = self._pending, 0, None
        try:
            self._waiting = True
            count = self._pack_changes()
            if count:
                self._pending = {}
            # The events and the changes stay where they are: nobody else
            # selects.
            args = bytearray(WAIT.pack(
                self._events.address, most, 0, timeout_ns, 0, 0, 0,
                self._changes.address if count else 0, count,
                CHANGE.size if count else 0, 0, 0))
            found = fcntl.ioctl(self._fd, DEVEPOLL_WAIT, args, True)
            results = RESULTS.unpack_from(args, WAIT.size - RESULTS.size)
        except InterruptedError:
            found = 0
        finally:
            self._waiting = False
            if count and results != (count, 0):
                self._take_results(pending, count)
        return self._ready(found) if found else []

    def _ready(self, found):
        ready, keys = [], self._fd_to_key
        for fd, events, _ in self._events.items(found):
            key = keys.get(fd)
            if not key:
                continue
            mask = (WRITE if events & NOT_IN else 0) | \
                (READ if events & NOT_OUT else 0)
            if mask & key.events:
                ready.append((key, mask & key.events))
        return ready

# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""An event loop of asyncio on /dev/epoll, and the policy that makes it."""

import asyncio
import functools
import logging
import os
import selectors
import warnings

from .selector import DevepollSelector

logger = logging.getLogger(__package__)


def _must_not_fall_back():
    return os.environ.get("DEVEPOLL_NO_FALLBACK", "0") not in ("", "0")


def _selector():
    """That of the device; without one that of epoll, and a line that says so."""
    try:
        return DevepollSelector(defer=True)
    except OSError as error:
        if _must_not_fall_back():
            raise
        logger.warning("devepoll: %s; using epoll", error)
        return selectors.EpollSelector()


class DevepollEventLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop, with one call for all changes and the wait.

    If the device can't be opened, the loop is one on epoll and logs a warning;
    if DEVEPOLL_NO_FALLBACK is set in the environment, it is an OSError.
    """

    # Of a loop that could not be made: asyncio asks when it is dropped.
    _closed = True

    def __init__(self, selector=None):
        super().__init__(selector or _selector())


@functools.lru_cache(maxsize=None)
def policy():
    """The class of a policy, until asyncio has none (CPython 3.16)."""
    with warnings.catch_warnings():
        # asyncio.set_event_loop_policy() warns, too.
        warnings.simplefilter("ignore", DeprecationWarning)
        base = getattr(asyncio, "DefaultEventLoopPolicy", None)
    if not base:
        raise AttributeError(
            "this asyncio has no policies; use asyncio.Runner("
            "loop_factory=devepoll.DevepollEventLoop)")

    class DevepollEventLoopPolicy(base):
        """Makes a DevepollEventLoop wherever asyncio makes a loop."""

        _loop_factory = DevepollEventLoop

    return DevepollEventLoopPolicy

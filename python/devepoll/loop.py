# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""An event loop of asyncio on /dev/epoll, and the policy that makes it."""

import asyncio

from .selector import DevepollSelector


class DevepollEventLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop, with one call for all changes and the wait."""

    def __init__(self, selector=None):
        super().__init__(selector or DevepollSelector(defer=True))


class DevepollEventLoopPolicy(asyncio.DefaultEventLoopPolicy):
    """Makes a DevepollEventLoop wherever asyncio makes a loop."""

    _loop_factory = DevepollEventLoop

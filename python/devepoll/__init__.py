# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""selectors and asyncio on /dev/epoll.

    with asyncio.Runner(loop_factory=devepoll.DevepollEventLoop) as runner:
        runner.run(main())

runs an event loop whose changes ride on its waits: where epoll needs a call for
each change and one for the wait, the device gets all in one call.  Without the
device the loop uses epoll, and says so in one line; available() tells.
"""

from . import loop as _loop
from .loop import DevepollEventLoop
from .selector import DevepollSelector, available

__all__ = ["DevepollEventLoop", "DevepollSelector", "available"]


def __getattr__(name):
    # Only who asks for policies meets those that asyncio has no more.
    if name == "DevepollEventLoopPolicy":
        return _loop.policy()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""selectors and asyncio on /dev/epoll.

    asyncio.set_event_loop_policy(devepoll.DevepollEventLoopPolicy())

makes every event loop one whose changes ride on its waits: where epoll needs a
call for each change and one for the wait, the device gets all in one call.
"""

from .loop import DevepollEventLoop, DevepollEventLoopPolicy
from .selector import DevepollSelector

__all__ = ["DevepollEventLoop", "DevepollEventLoopPolicy", "DevepollSelector"]

# SPDX-License-Identifier: GPL-2.0
"""What the experiment measures, and with which engines: see ./run."""

import os

BIN = os.path.join("build", "tools", "experiment")
# The order of the engines, oldest first; others from `--engine list' come last.
ENGINES = ["select", "poll", "rtsig", "onesig", "devpoll", "solaris",
           "devepoll", "epoll2002-1", "epoll2002-2", "epoll", "epoll-edge",
           "uring", "extended"]
# The largest crowds take minutes for each engine, so only some engines run
# them: poll stands for those that poll every fd.
WIDE = {"dead": ["poll", "devpoll", "solaris", "devepoll", "epoll",
                 "epoll-edge", "uring", "extended"],
        "ratio": ["poll", "devepoll", "epoll", "epoll-edge", "extended"]}

QUICK = {
    "table639": [10, 100, 1000, 10000], "waits": 51,
    "pipes": [10, 100, 1000], "passes": 1000,
    "dead": [0, 1000, 4000], "dead_wide": [0, 1000, 2000, 4000],
    "ratio": [0, 50], "ratio_wide": [0, 10, 100, 400], "answers": 300,
    "memory": 2048, "timeout": 600,
}
FULL = {
    "table639": [10, 100, 1000, 10000], "waits": 501,
    "pipes": [10, 100, 500, 1000, 2000, 5000, 10000, 16000], "passes": 5000,
    "dead": [0, 1000, 2000, 4000, 8000, 16000],
    "dead_wide": [0, 1000, 2000, 4000, 8000, 16000, 60000],
    "ratio": [0] + [10 << i for i in range(7)],
    "ratio_wide": [0] + [10 << i for i in range(11)],
    "answers": 1000, "memory": 4096, "timeout": 3600,
}
# The flags of 2001, at ten times the rate, because otherwise no engine would
# reach its limit.  The 2500 calls and 27000 connections of 2001 would take
# hours in an emulator, and the fd of each connection must be below 1024 for
# select().
KEEP_ALIVE = ["--think-timeout", "5", "--timeout", "5", "--num-calls", "100",
              "--num-conns", "100", "--hog", "--rate", "1000"]
BURST = ["--think-timeout", "5", "--timeout", "5", "--num-calls", "2",
         "--num-conns", "1000", "--hog", "--rate", "50000"]


def dead_server():
    """The server for dead connections: that with coroutines, if it is built."""
    return "ephttpd" if os.path.exists(os.path.join(BIN, "ephttpd")) \
        else "ratio_server"


def crowd_steps(kind, server, size, engines):
    """The numbers of silent connections for each engine."""
    return [{"kind": kind, "engine": engine, "server": server,
             "sizes": size[kind + "_wide" if engine in WIDE[kind] else kind],
             "answers": size["answers"]} for engine in engines]


def counted_plans(size, engines):
    """The plans of the guests that count instructions.

    A machine's guests take turns: long ones would keep others waiting.
    """
    few = [{"kind": "table639", "engine": engine, "sizes": size["table639"],
            "waits": size["waits"]} for engine in engines]
    few += [{"kind": "pipes", "engine": engine, "sizes": size["pipes"],
             "passes": size["passes"]} for engine in engines]
    plans = [few]
    for kind, server in (("dead", dead_server()), ("ratio", "ratio_server")):
        narrow = [engine for engine in engines if engine not in WIDE[kind]]
        wide = [engine for engine in engines if engine in WIDE[kind]]
        plans.append(crowd_steps(kind, server, size, narrow))
        plans.append(crowd_steps(kind, server, size, wide))
    if size["timeout"] == QUICK["timeout"]:
        plans = [sum(plans, [])]
    return [plan for plan in plans if plan]


def load_plan(engines):
    """The plan for the usual load clients."""
    plan = []
    for engine in engines:
        base = {"engine": engine, "server": dead_server()}
        plan.append({"kind": "wrk", "seconds": 3, "msgsize": 128, **base})
        for msgsize in (128, 512, 1024):
            plan.append({"kind": "httperf", "load": "keep-alive",
                         "msgsize": msgsize, "flags": KEEP_ALIVE, **base})
        plan.append({"kind": "httperf", "load": "burst", "msgsize": 128,
                     "flags": BURST, **base})
    return plan

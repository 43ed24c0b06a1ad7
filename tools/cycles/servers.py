# SPDX-License-Identifier: GPL-2.0
"""Counts what a request to an unchanged server costs, natively on epoll and on the
device: servers of tools/proof and tools/go, started by tools/cycles/serve, with
tools/cycles/client.c, under tools/cycles/window.c."""

import bisect
import collections
import itertools
import os
import subprocess
import sys

import build
import model
from travel import EPOLL

SERVERS = ["redis", "nginx", "memcached", "node", "tokio", "go"]
# Processors of the guest
PROCESSORS = [1, 2]
# Connections of the client, and the rounds of a window, which have a request of each
ROUNDS = {1: 400, 50: 10}
THEIRS = "native"
KERNEL_BEGINS = 1 << 63
# What a line of the plugin says of an instruction, after its address
FIELDS = ["instructions", "locked", "l1", "l2", "l3", "travelled"]
# What a request costs of each kind: in all, and by the functions of fs/eventpoll.c,
# of the module and of the preload library
Cost = collections.namedtuple("Cost", "all own")


class Symbols:
    """What addresses of the kernel are."""

    def __init__(self, said):
        found = []
        self.entry = 0
        for line in said:
            words = line.split()
            if len(words) < 3 or words[1] not in "tTwW":
                continue
            own = words[3:] == ["[devepoll]"] or EPOLL.match(words[2])
            found.append((int(words[0], 16), bool(own)))
            if words[2] == "entry_SYSCALL_64":
                self.entry = int(words[0], 16)
        found.sort()
        self.starts = [address for address, _ in found]
        self.own = [own for _, own in found]

    def is_own(self, address):
        """Whether it belongs to epoll or to the module."""
        return self.own[bisect.bisect_right(self.starts, address) - 1]


def servers_of(processors, connections):
    """With one connection on two processors, each wait sleeps: there is an echo, too."""
    return SERVERS + ["echo"] * (processors > 1 and connections == 1)


def guest(kernel, module, root, processors, connections):
    """What a guest prints, and the file that the plugin writes."""
    plugin = os.path.join(build.OUT, "window.so")
    counts = os.path.join(build.OUT, f"{kernel}-servers-{processors}-{connections}")
    if os.path.exists(counts):
        os.unlink(counts)
    said = subprocess.run(
        ["tools/guest", "--kernel", kernel, "--icount", "--cpus", str(processors),
         "--timeout", "7200", "--append", "noreplace-smp", "--module", module,
         "--env", f"PROOF_ROOT={root}",
         "--plugin", f"{plugin},out={counts},processors={processors}", "--",
         "tools/cycles/serve", str(connections), str(ROUNDS[connections]),
         *servers_of(processors, connections)],
        check=True, text=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    return said.splitlines(), counts


def complete(cost):
    """Adds the cycles of the model in the middle."""
    for counts in cost:
        counts["cycles"] = model.cycles(counts, model.MODELS["mid"])
    return cost


def cost_of(rows, lines, preload, symbols):
    """The cost of what the rows of a record say; @preload: where its code is."""
    cost = Cost(*({field: 0 for field in FIELDS + ["syscalls"]} for _ in Cost._fields))
    cost.all["lines"] = lines
    for address, *counts in rows:
        if address >= KERNEL_BEGINS:
            own = symbols.is_own(address)
        else:
            own = preload[0] <= address < preload[1]
        for counted in cost if own else cost[:1]:
            for field, count in zip(FIELDS, counts):
                counted[field] += count
        if address == symbols.entry:
            cost.all["syscalls"] += counts[0]
    return complete(cost)


def records(path, connections):
    """The records of a file: what one request costs, by instruction, and its lines."""
    with open(path, encoding="ascii") as file:
        for record in file.read().split("record ")[1:]:
            first, *rest = record.splitlines()
            rounds, lines = (int(word) for word in first.split())
            requests = rounds * connections
            rows = []
            for line in rest:
                address, *counts = line.split()
                rows.append([int(address, 16)] +
                            [int(count) / requests for count in counts])
            yield rows, lines / requests


def costs_of(said, path, connections):
    """The cost of each window, by server and kind."""
    runs = [line.split()[1:] for line in said if line.startswith("run ")]
    symbols = Symbols(line for line in said if not line.startswith("run "))
    found = list(records(path, connections))
    each, rest = divmod(len(found), len(runs))
    if rest or not each:
        sys.exit(f"cycles: {len(found)} windows of {len(runs)} runs were counted")
    costs = {}
    for i, (server, kind, first, last) in enumerate(runs):
        preload = (int(first, 16), int(last, 16))
        costs[server, kind] = [cost_of(*record, preload, symbols)
                               for record in found[i * each:(i + 1) * each]]
    return costs


def middle(windows):
    """The window whose cycles are the median."""
    return sorted(windows, key=lambda cost: cost.all["cycles"])[len(windows) // 2]


def table(costs, travels):
    """The lines of the table of one setting."""
    moved = f"{'travel':>8}" if travels else ""
    yield (f"{'':<11}{'':<11}{'insns':>8}{'locked':>8}{'lines':>7}{'L1':>7}{'L2':>7}"
           f"{'L3':>6}{moved}{'cycles':>9}{'spread':>8}   own:{'insns':>6}"
           f"{'locked':>8}{'L1':>6}{moved}   "
           f"ratios of insns, locked, {'travel, ' if travels else ''}cycles")
    for (server, kind), windows in costs.items():
        cost = middle(windows)
        theirs = middle(costs[server, THEIRS])
        every = [window.all["cycles"] for window in windows]
        spread = 100 * (max(every) - min(every)) / cost.all["cycles"]
        whole, own = cost
        kinds = ["instructions", "locked"] + ["travelled"] * travels + ["cycles"]
        ratios = [cost.all[name] / theirs.all[name] for name in kinds]
        yield (f"{server:<11}{kind:<11}{whole['instructions']:8.0f}"
               f"{whole['locked']:8.1f}{whole['lines']:7.0f}{whole['l1']:7.0f}"
               f"{whole['l2']:7.1f}{whole['l3']:6.1f}" +
               (f"{whole['travelled']:8.1f}" if travels else "") +
               f"{whole['cycles']:9.0f}{spread:7.1f}%" +
               f"{own['instructions']:13.0f}{own['locked']:8.1f}{own['l1']:6.1f}" +
               (f"{own['travelled']:8.1f}" if travels else "") +
               "   " +
               "  ".join(f"{ratio:.3f}" for ratio in ratios))


def root_of_programs():
    """Builds and fetches what runs in the guest; where the programs are."""
    subprocess.run(["tools/proof/build", "node", "tokio"], check=True)
    subprocess.run(["tools/go/build", "rate", "1.26"], check=True,
                   stdout=subprocess.DEVNULL, env=os.environ | {"CGO_ENABLED": "0"})
    return build.output_of("tools/proof/programs")


def record(kernel):
    """Writes the tables."""
    module = build.module(kernel)
    subprocess.run(["make", "-s", "lib"], check=True)
    build.programs()
    root = root_of_programs()
    build.plugin("window", "window.c", "cache.c", "holder.c", "insn.c", "processor.c",
                 "start.c")
    tables = []
    for processors, connections in itertools.product(PROCESSORS, ROUNDS):
        costs = costs_of(*guest(kernel, module, root, processors, connections),
                         connections)
        tables += ["", title(processors, connections), *table(costs, processors > 1)]
    write(kernel, tables)


def title(processors, connections):
    return (f"{processors} processor{'s' * (processors > 1)}, "
            f"{connections} connection{'s' * (connections > 1)}")


def write(kernel, tables):
    path = os.path.join(build.RESULTS, f"server-cycles-{kernel}.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"Linux {build.release(kernel)}, the module of {build.commit()}, by "
                   "tools/cycles/run --servers\n"
                   "What a request costs, with the client and the kernel: instructions, "
                   "locked ones, lines\nof data that it touches, misses in the caches "
                   "that are modelled, lines that travel\nbetween processors, cycles of "
                   "the middle model; how far five windows are apart; and\nwhat of it "
                   "epoll's functions, or the module's and the preload library's, cost.\n"
                   "Documentation/internals/cycles.rst explains them.\n")
        file.writelines(line + "\n" for line in tables)

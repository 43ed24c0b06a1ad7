# SPDX-License-Identifier: GPL-2.0
"""Counts the cache lines that travel between two processors for each event that
wakes a waiter: tools/cycles/exchange.c under tools/cycles/travel.c."""

import bisect
import os
import re
import subprocess
import sys

import build

# The names are those of exchange.c.
THEIRS = "sysepoll"
WAYS = {THEIRS: "epoll", "calls": "calls", "ring": "ring"}
ROUNDS = 256
PROGRAM = os.path.join("build", "tools", "cycles", "exchange")
# Functions of fs/eventpoll.c; those of the module are known by its name.
EPOLL = re.compile(r"ep_|epi_|epoll_|eventpoll_|do_epoll_|__\w+_sys_epoll_|"
                   r"reverse_path_check|attach_epitem")
# Who a line travels for; all is the sum of these and of other functions of the kernel.
KINDS = {"all": "all lines that travel for an event", "own": "by own functions",
         "program": "by the program"}
# How much more of each kind is worse, in lines for an event, both by itself and
# compared with epoll in the same run.  A run is repeated exactly, but where the kernel
# happens to put its data makes up to .3 of own functions, and .7 of all.
WORSE = {"all": 1.5, "own": 0.6, "program": 0.6}
# The width of names in a table, and the least counts that it shows.
WIDTH = 58
SHOWN = 0.1
SHOWN_OF_OTHERS = 0.5


class Symbols:
    """Functions by address: of the guest's kernel, the module, and the program."""

    def __init__(self, said):
        found = []
        self.text = 0
        for line in said.splitlines():
            words = line.split()
            if words[0] == "text":
                self.text = int(words[1], 16)
            elif len(words) > 2:
                own = words[3:] == ["[devepoll]"] or EPOLL.match(words[2])
                found.append((int(words[0], 16), words[2],
                              "own" if own else "other"))
        for line in build.output_of("nm", PROGRAM).splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "tTwW":
                found.append((int(words[0], 16), words[2], "program"))
        self.symbols = sorted(found)
        self.starts = [address for address, _, _ in self.symbols]

    def of(self, address):
        """Name and kind of the function at an address."""
        return self.symbols[bisect.bisect_right(self.starts, address) - 1][1:]


def guest(kernel, module):
    """Travelled lines by way and address, and what the addresses are."""
    build.programs()
    plugin = build.plugin("travel", "travel.c", "holder.c", "insn.c",
                          "processor.c", "start.c")
    counts = os.path.join(build.OUT, f"{kernel}-travel")
    if os.path.exists(counts):
        os.unlink(counts)
    # The symbols come first: after the beginning of the plugin all is slow.
    said = subprocess.run(
        ["tools/guest", "--kernel", kernel, "--icount", "--cpus", "2",
         "--timeout", "600", "--plugin", f"{plugin},out={counts}",
         "--pack", PROGRAM, "--module", module, "--", "sh", "-c",
         "grep -i ' [tw] ' /proc/kallsyms && "
         "echo text $(cat /sys/module/devepoll/sections/.text) && "
         f"exchange {ROUNDS} {' '.join(WAYS)}"],
        check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL).stdout
    for way in WAYS:
        if f"\n{way} 1.00\n" not in said:
            sys.exit(f"cycles: by {way} the waiter did not sleep once in each round")
    with open(counts, encoding="ascii") as file:
        records = [record.splitlines()[1:] for record in
                   file.read().split("record")[1:]]
    if len(records) != len(WAYS):
        sys.exit(f"cycles: {len(records)} of {len(WAYS)} ways were counted")
    return dict(zip(WAYS, map(counts_of, records))), Symbols(said)


def counts_of(record):
    """By address; an instruction may have been translated several times."""
    found = {}
    for line in record:
        address, number = line.split()
        address = int(address, 16)
        found[address] = found.get(address, 0) + int(number) / ROUNDS
    return found


def totals(found, symbols):
    """The lines of each kind, by way."""
    sums = {}
    for way, counts in found.items():
        sums[way] = dict.fromkeys(KINDS, 0)
        for address, count in counts.items():
            kind = symbols.of(address)[1]
            sums[way]["all"] += count
            if kind in KINDS:
                sums[way][kind] += count
    return sums


def row(name, cells):
    return f"{name:<{WIDTH}}" + "".join(f"{cell:8.1f}" if cell else f"{'-':>8}"
                                   for cell in cells)


def part(title, by_name, least):
    """The lines of a part of the table, the greatest first."""
    yield ""
    yield title
    for name in sorted(by_name, key=lambda name: (-max(by_name[name]), name)):
        if max(by_name[name]) >= least:
            yield row("  " + name, by_name[name])


def table(found, symbols):
    """The lines of the table."""
    sums = totals(found, symbols)
    yield f"{'':<{WIDTH}}" + "".join(f"{name:>8}" for name in WAYS.values())
    for kind, text in KINDS.items():
        yield row(text, [sums[way][kind] for way in WAYS])
    parts = {"own": {}, "program": {}, "other": {}}
    for at, way in enumerate(WAYS):
        for address, count in found[way].items():
            name, kind = symbols.of(address)
            cells = parts[kind].setdefault(name, [0] * len(WAYS))
            cells[at] += count
    yield from part("own functions, of fs/eventpoll.c or the module", parts["own"],
                    SHOWN)
    yield from part("the program with the library", parts["program"], SHOWN)
    yield from part("other functions of the kernel", parts["other"], SHOWN_OF_OTHERS)


def places(module, symbols, addresses):
    """Where in the source the instructions of the module are, by address."""
    asked = [at for at in addresses
             if symbols.of(at)[1] == "own" and at >= symbols.text]
    said = subprocess.run(
        ["addr2line", "-e", module, "-j", ".text", "-s", "-f", "-a", "-i"],
        input="".join(f"{at - symbols.text:x}\n" for at in asked),
        check=True, text=True, stdout=subprocess.PIPE).stdout
    # For each address its own line, then a function and a place for each one that
    # is inlined, and for the one that it is inlined into.
    found = {}
    for at, answer in zip(asked, re.split(r"(?m)^0x\w+\n", said)[1:]):
        words = answer.splitlines()
        found[at] = f"{words[1].split(' ')[0]} {words[0]}"
        if len(words) > 2:
            found[at] += f" in {words[-2]}"
    return found


def lines_table(module, found, symbols):
    """The lines of a table of the module's source."""
    by_place = {}
    where = places(module, symbols, set().union(*found.values()))
    for at, way in enumerate(WAYS):
        for address, count in found[way].items():
            if address in where:
                cells = by_place.setdefault(where[address], [0] * len(WAYS))
                cells[at] += count
    yield from part("the module by line of its source", by_place, SHOWN)


def show(kernel, module):
    """Measures, and prints the tables."""
    module = module or build.module(kernel)
    found, symbols = guest(kernel, module)
    for line in [*table(found, symbols), *lines_table(module, found, symbols)]:
        print(line)


def ratios_path(kernel):
    return os.path.join(build.RATIOS, f"travel-{kernel}")


def record(kernel):
    """Writes the table, and the counts that are compared."""
    found, symbols = guest(kernel, build.module(kernel))
    path = os.path.join(build.RESULTS, f"travel-{kernel}.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"Linux {build.release(kernel)}, the module of {build.commit()}, "
                   "by tools/cycles/run\n"
                   "Lines of data that travel between two processors when an event "
                   "on one wakes a waiter\non the other, which answers.  "
                   "Documentation/internals/cycles.rst explains them.\n\n")
        file.writelines(line + "\n" for line in table(found, symbols))
    os.makedirs(build.RATIOS, exist_ok=True)
    with open(ratios_path(kernel), "w", encoding="utf-8") as file:
        file.write("# SPDX-License-Identifier: GPL-2.0\n# Lines that travel for an "
                   "event, by way and kind, written by tools/cycles/run\n")
        for way, sums in totals(found, symbols).items():
            for kind, count in sums.items():
                file.write(f"{way} {kind} {count:.2f}\n")


def compare(kernel):
    """Measures and compares: for each way and kind a name, and what is worse."""
    path = ratios_path(kernel)
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    then = {(way, kind): float(count) for way, kind, count in rows}
    now = totals(*guest(kernel, build.module(kernel)))
    for way, kind in then:
        if way == THEIRS:
            continue
        rise = now[way][kind] - then[way, kind]
        theirs = now[THEIRS][kind] - then[THEIRS, kind]
        worse = [f"{then[way, kind]:.2f}, now {now[way][kind]:.2f}; epoll "
                 f"{then[THEIRS, kind]:.2f}, now {now[THEIRS][kind]:.2f}"]
        is_worse = min(rise, rise - theirs) > WORSE[kind]
        yield f"two_processors_{way}_{kind}", worse if is_worse else []

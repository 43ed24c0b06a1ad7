# SPDX-License-Identifier: GPL-2.0
"""What the runs of tools/um/run say: the table, and how it compares with another."""

import collections
import statistics

# The ways of watching that are measured, by the number of fds.
SETTINGS = {
    1000: ["epoll", "calls", "trusted", "ring", "epoll_level", "calls_level"],
    100000: ["epoll", "calls", "trusted", "ring"],
}
CALLS = ["getppid", "wait_0", "wait_1", "wait_16", "wait_256", "write_hot",
         "write_16", "write_256", "add", "remove"]
# The ratios to epoll that are aimed at.
GOALS = {
    (1000, "wait_0", "calls"): .95, (1000, "wait_1", "calls"): .90,
    (1000, "wait_16", "calls"): .80, (1000, "wait_256", "calls"): .80,
    (1000, "wait_1", "calls_level"): .95, (1000, "wait_16", "calls_level"): .85,
    (1000, "wait_256", "calls_level"): .85, (100000, "wait_256", "calls"): .90,
    (1000, "wait_1", "trusted"): .50, (1000, "wait_16", "trusted"): .15,
    (1000, "wait_256", "trusted"): .12,
}
# What is measured: the ways of watching by the number of fds, the calls, the goals.
Plan = collections.namedtuple("Plan", "settings calls goals")
ONE = Plan(SETTINGS, CALLS, GOALS)
# Of tools/um/two.c.
TWO = Plan({1000: ["epoll", "calls", "ring", "control", "calls_spin", "ring_spin",
                   "epoll_busy", "calls_busy", "ring_busy"]},
           ["write", "event", "trip"],
           {(1000, "event", "calls"): 1.00, (1000, "event", "ring"): .95})

# A ratio is worse that is above the recorded one by this share, and by this amount.
# Documentation/internals/cycles.rst says how far ratios of the same module differ.
WORSE = 1.06
WORSE_BY = 0.02

# The ticks of a call, with their quartiles within a run; its ratio to epoll's in the
# same run, with its quartiles among the runs, or None for epoll itself.
Row = collections.namedtuple("Row", "ticks low high ratio ratio_low ratio_high")


def parse(text, plan=ONE):
    """The quartiles of each call in what a run has printed."""
    found, of = {}, None
    for line in text.splitlines():
        words = line.split()
        if words[:1] == [":"]:
            of = (int(words[2]), words[1]) if len(words) == 3 else None
        elif of and len(words) == 4 and words[0] in plan.calls:
            fds, way = of
            found[fds, words[0], way] = [int(word) for word in words[1:]]
    missing = [(fds, call, way) for fds, ways in plan.settings.items()
               for call in plan.calls for way in ways if (fds, call, way) not in found]
    if missing:
        raise ValueError(f"not measured: {missing}")
    return found


def theirs_of(way):
    """The way of epoll that a way is compared with; None for epoll itself."""
    if way.startswith("epoll"):
        return None
    how = way.partition("_")[2]
    return f"epoll_{how}" if how in ("level", "busy") else "epoll"


def quartiles(values):
    """The lower quartile, the median and the upper quartile."""
    if len(values) == 1:
        return values * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def collect(runs, plan=ONE):
    """A row for each call and way, of what parse() found in each of the runs."""
    rows = {}
    for fds, ways in plan.settings.items():
        for call in plan.calls:
            for way in ways:
                low, ticks, high = (statistics.median(run[fds, call, way][i]
                                                      for run in runs)
                                    for i in range(3))
                theirs = theirs_of(way)
                ratios = [None] * 3
                if theirs:
                    ratios = quartiles([run[fds, call, way][1] /
                                        run[fds, call, theirs][1] for run in runs])
                rows[fds, call, way] = Row(ticks, low, high, ratios[1], ratios[0],
                                           ratios[2])
    return rows


def table(about, *tables):
    """The text of the record: what body() says of each table."""
    lines = about + [
        "Each line has the median of the ticks, and their quartiles within a run; the "
        "median of the",
        "ratios to epoll in the same run, and their quartiles among the runs; and the "
        "ratio that is",
        "aimed at, if there is one, with a mark where it is not reached."]
    return "\n".join(sum(tables, lines)) + "\n"


def body(rows, plan=ONE, about=""):
    """The lines of a table."""
    lines = []
    for fds, ways in plan.settings.items():
        lines += ["", f"{fds} fds{about}",
                  f"{'':<26}{'ticks':>8}{'from':>8}{'to':>8}{'ratio':>9}"
                  f"{'from':>7}{'to':>7}{'goal':>7}"]
        for call in plan.calls:
            for way in ways:
                lines.append(line_of(fds, call, way, rows[fds, call, way],
                                     plan.goals))
    return lines


def line_of(fds, call, way, row, goals):
    line = f"{call:<14}{way:<12}{row.ticks:8.0f}{row.low:8.0f}{row.high:8.0f}"
    if row.ratio is None:
        return line
    line += f"{row.ratio:9.3f}{row.ratio_low:7.2f}{row.ratio_high:7.2f}"
    goal = goals.get((fds, call, way))
    if goal is None:
        return line
    return line + f"{goal:7.2f}" + (" above" if round(row.ratio, 2) > goal else "")


def read_table(text):
    """The ratios on record, by number of fds, call and way."""
    found, fds = {}, None
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2 and words[1] == "fds":
            fds = int(words[0])
        elif fds and len(words) >= 8 and words[0] in CALLS:
            found[fds, words[0], words[1]] = float(words[5])
    return found


def processor_of(text):
    """The processor of which a record is."""
    for line in text.splitlines():
        if line.startswith("processor: "):
            return line.split(": ", 1)[1]
    return None


def better(rows, others):
    """Each row with the lower ratio of two measurements."""
    return {key: row if row.ratio is None or row.ratio <= others[key].ratio
            else others[key] for key, row in rows.items()}


def compare(before, rows):
    """For each ratio on record, what is worse now, or None."""
    found = {}
    for key, then in before.items():
        now = rows[key].ratio if key in rows else None
        found[key] = None
        if now is None:
            found[key] = f"{then:.3f} of epoll, now not measured"
        elif round(now, 3) > max(then * WORSE, then + WORSE_BY):
            found[key] = f"{then:.3f} of epoll, now {now:.3f}"
    return found


def report(found):
    """Prints what compare() has found, as TAP; the status to exit with."""
    for nr, ((fds, call, way), worse) in enumerate(found.items(), 1):
        if worse:
            print(f"# {way}: {worse}")
        print(f"{'not ok' if worse else 'ok'} {nr} {way}_{call}_of_{fds}")
    print(f"1..{len(found)}")
    if not found:
        return 1
    if any(found.values()):
        print("# If it is meant: tools/um/run, and say why in the commit.")
        return 1
    return 0

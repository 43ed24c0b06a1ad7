# SPDX-License-Identifier: GPL-2.0
"""The cycles that counts stand for."""

# A line of the plugin that counts calls
FIELDS = ["rounds", "user", "kernel", "locked", "syscalls", "kernel lines",
          "user lines", "code lines", "written", "l1", "l2", "l3"]

# Cycles of a processor that is fast, in the middle, or slowed down by mitigations:
# instructions a cycle; then the cycles of a locked instruction, of an access that
# only L2, only L3, or only memory can answer, and of a system call beyond its
# instructions.
MODELS = {
    "fast": {"ipc": 4, "lock": 18, "l2": 14, "l3": 45, "memory": 220, "call": 60},
    "mid": {"ipc": 3, "lock": 20, "l2": 14, "l3": 50, "memory": 250, "call": 150},
    "mitigated": {"ipc": 2, "lock": 25, "l2": 14, "l3": 60, "memory": 300,
                  "call": 650},
}
# The cycles of a line that another processor has, if that is counted
TRAVEL = 70


def cycles(cost, model):
    """The cycles of a call, or of a request, whose counts are given."""
    return (cost["instructions"] / model["ipc"] + cost["locked"] * model["lock"] +
            cost["syscalls"] * model["call"] + cost["l1"] * model["l2"] +
            cost["l2"] * (model["l3"] - model["l2"]) +
            cost["l3"] * (model["memory"] - model["l3"]) +
            cost.get("travelled", 0) * TRAVEL)


def complete(cost):
    """Adds what follows from the counts of a call."""
    cost["instructions"] = cost["user"] + cost["kernel"]
    cost["lines"] = cost["kernel lines"] + cost["user lines"] + cost["code lines"]
    for name, model in MODELS.items():
        cost[name] = cycles(cost, model)
    return cost

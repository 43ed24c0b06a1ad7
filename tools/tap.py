# SPDX-License-Identifier: GPL-2.0
"""What test programs print, in TAP, and what is said of it: see ./check."""

import collections
import re
import threading
import time

# The number of lines before a failure that are shown with it.
TOLD = 25
TOLD_IN_ALL = 200
SKIP_STATUS = 4

RESULT = re.compile(r"^(not )?ok\b[ \t]*(\d+)?[ \t]*-?[ \t]*(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)(.*)$")
SKIPPED = re.compile(r"#\s*SKIP\b", re.I)
EXPECTED = re.compile(r"#\s*(XFAIL|TODO)\b", re.I)


class Program:
    """One TAP document: the plan and the results."""

    def __init__(self, name):
        self.name = name
        self.plan = None
        self.passed = 0
        self.skipped = 0
        self.failures = []
        self.told = {}
        self.recent = collections.deque(maxlen=TOLD)
        self.status = None
        self.began = time.monotonic()
        self.took = 0.0

    def line(self, text):
        plan = PLAN.match(text)
        if plan:
            self.plan = int(plan.group(1))
            if self.plan == 0 and SKIPPED.search(plan.group(2)):
                self.skipped += 1
            return
        result = RESULT.match(text)
        if not result:
            if text.startswith("Bail out!"):
                self.failures.append(text)
            self.recent.append(text)
            return
        what = result.group(3)
        said = list(self.recent)
        self.recent.clear()
        if SKIPPED.search(what):
            self.skipped += 1
        elif result.group(1) and not EXPECTED.search(what):
            self.failures.append(what or f"test {result.group(2)}")
            self.told[len(self.failures) - 1] = said
        else:
            self.passed += 1

    def close(self, status):
        """Check what no single line can show."""
        self.status = status
        self.took = time.monotonic() - self.began
        seen = self.passed + self.skipped + len(self.failures)
        if status is None:
            self.failures.append("the program did not finish")
            self.told[len(self.failures) - 1] = list(self.recent)
        elif self.plan is None:
            self.failures.append("no plan line: it exited early or prints no TAP")
        elif seen != self.plan and not (self.plan == 0 and self.skipped):
            self.failures.append(f"{self.plan} results planned, {seen} received")
        elif seen == 0:
            self.failures.append("there is no result at all")
        only_skips = self.skipped and not self.passed
        if status != 0 and not (status == SKIP_STATUS and only_skips):
            if not self.failures:
                self.failures.append(f"exited with status {status}")


# A thread may keep what it says in KEPT.lines, to say all of it at once.
KEPT = threading.local()
# What is said of one program stays together.
REPORTING = threading.Lock()


def say(text):
    if getattr(KEPT, "lines", None) is not None:
        KEPT.lines.append(text)
    else:
        print(text, flush=True)


def counts(passed, failed, skipped):
    return f"{passed} passed, {failed} failed" + (
        f", {skipped} skipped" if skipped else "")


def report(program):
    with REPORTING:
        tell(program)


def tell(program):
    word = "FAIL" if program.failures else "ok"
    say(f"  {word:4} {program.name:24} "
        + counts(program.passed, len(program.failures), program.skipped)
        + (f" ({program.took:.0f} s)" if program.took >= 1 else ""))
    left = TOLD_IN_ALL
    for index, failure in enumerate(program.failures):
        say(f"         {failure}")
        for text in program.told.get(index, [])[:left]:
            say(f"         | {text}")
            left -= 1

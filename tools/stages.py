# SPDX-License-Identifier: GPL-2.0
"""The stages of tools/check.d, and how one runs: see ./check."""

import collections
import fcntl
import os
import queue
import re
import signal
import subprocess
import threading
import time

from tap import KEPT, Program, report, say

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
# Stages that are used instead of those of the tree, to test this program.
OWN_STAGES = os.environ.get("DEVEPOLL_CHECK_STAGES")
STAGES = OWN_STAGES or os.path.join(TOP, "tools", "check.d")
RESULTS = os.path.join(TOP, "build", "results")
if OWN_STAGES:
    RESULTS = os.path.join(OWN_STAGES, "results")
STAGE_LIMIT = 2700
# The number of lines on standard error that are shown if a guest fails.
TOLD_ASIDE = 70
GUEST_LOCK = "/tmp/devepoll-guest.lock"
GUEST_FAILED = 125
IDLE = ["chrt", "--idle", "0"]


def header(path, word):
    """What follows "# WORD:" near the top of a stage; None without the line."""
    with open(path, encoding="utf-8", errors="replace") as script:
        head = "".join(script.readlines()[:30])
    found = re.search(rf"^# {word}:(.*)$", head, re.M)
    return found.group(1).strip() if found else None


class Stage:
    """One script of tools/check.d on one kernel."""

    def __init__(self, name, kernel):
        self.name = name
        self.kernel = kernel
        self.path = os.path.join(STAGES, name)
        self.beside = header(self.path, "beside") is not None
        self.child = None
        self.took = 0.0
        self.cpu = 0.0
        self.log = os.path.join(RESULTS, kernel, name + ".log")
        self.programs = []
        self.announced = []
        self.current = None
        self.whole = Program(name)
        self.aside = collections.deque(maxlen=TOLD_ASIDE)

    def line(self, text):
        words = text.split()
        if text.startswith("# programs:"):
            self.announced += words[2:]
        elif text.startswith("# begin ") and len(words) == 3:
            self.end_current(None)
            self.current = Program(words[2])
        elif text.startswith("# end ") and len(words) == 4 and self.current:
            self.end_current(int(words[3]))
        else:
            (self.current or self.whole).line(text)

    def end_current(self, status):
        """status is None if the end of the program is missing."""
        if not self.current:
            return
        self.current.close(status)
        self.programs.append(self.current)
        report(self.current)
        self.current = None

    def run(self):
        os.makedirs(os.path.dirname(self.log), exist_ok=True)
        env = dict(os.environ, K=self.kernel, DEVEPOLL_KERNEL=self.kernel)
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
            env.pop(name, None)
        with open(self.log, "w", encoding="utf-8", errors="replace") as log, \
                guest_lock(self.beside) as lock:
            # The lock is held until all processes of the stage have exited.
            env["DEVEPOLL_GUEST_LOCKED"] = "1"
            began = time.monotonic()
            child = self.child = subprocess.Popen(
                (IDLE if self.beside else []) + [self.path], cwd=TOP, env=env,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                start_new_session=True, pass_fds=[lock.fileno()])
            timer = threading.Timer(STAGE_LIMIT, stop, [child])
            timer.start()
            other = threading.Thread(target=self.copy, args=[child.stderr, log])
            other.start()
            try:
                for text in child.stdout:
                    log.write(text)
                    log.flush()
                    self.line(text.rstrip("\n"))
            except BaseException:
                stop(child)
                raise
            status, self.cpu = wait_for(child)
            other.join()
            timer.cancel()
            self.took = time.monotonic() - began
        self.close(status)

    def copy(self, source, log):
        """Copy standard error of the stage to the log; with V=1, show it too."""
        for text in source:
            log.write(text)
            log.flush()
            self.aside.append(text.rstrip("\n"))
            if os.environ.get("V") == "1":
                say("      " + text.rstrip("\n"))

    def close(self, status):
        self.end_current(None)
        # The reason why a guest failed, such as a leak or a panic, is on
        # standard error, and is why results are missing.
        if GUEST_FAILED in [status] + [program.status for program in self.programs]:
            say("  FAIL the guest; its last output was:")
            for text in self.aside:
                say(f"         | {text}")
        ran = {program.name for program in self.programs}
        lost = Program("programs not run")
        lost.failures = [name for name in self.announced if name not in ran]
        if lost.failures:
            self.programs.append(lost)
            report(lost)
        whole = self.whole
        if not self.programs or whole.plan is not None:
            whole.close(status)
            self.programs.append(whole)
            report(whole)
        elif whole.failures:
            self.programs.append(whole)
            report(whole)
        elif status != 0 and not any(p.failures for p in self.programs):
            whole.failures.append(f"the stage exited with status {status}")
            self.programs.append(whole)
            report(whole)

    def rerun(self):
        return f"K={self.kernel} tools/check.d/{self.name}"


class Beside(threading.Thread):
    """Runs stages one after the other, while others run, in idle time."""

    def __init__(self):
        super().__init__(daemon=True)
        self.stages = queue.SimpleQueue()
        self.current = None
        self.stopped = False

    def run(self):
        for stage in iter(self.stages.get, None):
            self.current = stage
            if self.stopped:
                break
            KEPT.lines = [f" - {stage.name} of {stage.kernel}, run beside"]
            try:
                stage.run()
            finally:
                lines, KEPT.lines = KEPT.lines, None
                say("\n".join(lines))

    def finish(self):
        """Wait until all stages have run."""
        self.stages.put(None)
        self.join()

    def stop(self):
        self.stopped = True
        self.stages.put(None)
        if self.current and self.current.child:
            stop(self.current.child)


def wait_for(child):
    """The status of a process that ends, and the CPU time of its family."""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_utime + usage.ru_stime


def guest_lock(beside):
    """Wait for other guests only once, not before each guest of the stage."""
    if beside or os.environ.get("DEVEPOLL_GUEST_LOCKED"):
        return open(os.devnull, encoding="utf-8")
    try:
        lock = open(GUEST_LOCK, "a", encoding="utf-8")
    except PermissionError:
        lock = open(GUEST_LOCK, encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("   waiting for another guest to end")
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def stop(child):
    """Stop a stage, which leads a process group of its own."""
    try:
        os.killpg(child.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass

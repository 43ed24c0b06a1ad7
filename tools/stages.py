# SPDX-License-Identifier: GPL-2.0
"""The stages of tools/check.d, and how one runs: see ./check."""

import collections
import contextlib
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
# How much longer a stage may take, and each guest of it, on what others leave.
PATIENCE = 3
# The number of lines on standard error that are shown if a guest fails.
TOLD_ASIDE = 70
GUEST_LOCK = "/tmp/devepoll-guest.lock"
GUEST_FAILED = 125
IDLE = ["chrt", "--idle", "0"]
# After so many minutes no stage begins, where somebody ends this program later.
LIMIT = os.environ.get("DEVEPOLL_CHECK_LIMIT")
BEGAN = time.monotonic()


def header(path, word):
    """What follows "# WORD:" near the top of a stage; None without the line."""
    with open(path, encoding="utf-8", errors="replace") as script:
        head = "".join(script.readlines()[:30])
    found = re.search(rf"^# {word}:(.*)$", head, re.M)
    return found.group(1).strip() if found else None


class Stage:
    """One script of tools/check.d on one kernel, or part M/N of it."""

    def __init__(self, name, kernel, part=""):
        self.name = name
        self.kernel = kernel
        self.part = part
        self.path = os.path.join(STAGES, name)
        self.beside = header(self.path, "beside") is not None
        self.alone = header(self.path, "alone") is not None
        # The lock on guests, where others hold it for this stage.
        self.lock = None
        self.child = None
        self.took = 0.0
        self.cpu = 0.0
        self.log = os.path.join(RESULTS, kernel,
                                f"{name}{part.replace('/', '-of-')}.log")
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

    def skip(self):
        """Say that it does not run, for want of time."""
        self.whole.began = time.monotonic()
        self.whole.skipped = 1
        self.programs.append(self.whole)
        say(f"  SKIP {self.label()} of {self.kernel}: {LIMIT} minutes are over")

    def run(self):
        if LIMIT and time.monotonic() - BEGAN >= 60 * float(LIMIT):
            self.skip()
            return
        os.makedirs(os.path.dirname(self.log), exist_ok=True)
        env = dict(os.environ, K=self.kernel, DEVEPOLL_KERNEL=self.kernel,
                   PART=self.part)
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
            env.pop(name, None)
        with open(self.log, "w", encoding="utf-8", errors="replace") as log, \
                self.lock_guests() as lock:
            # The lock is held until all processes of the stage have exited.
            env["DEVEPOLL_GUEST_LOCKED"] = "1"
            patience = PATIENCE if self.beside else 1
            env["DEVEPOLL_GUEST_PATIENCE"] = str(patience)
            began = self.whole.began = time.monotonic()
            child = self.child = subprocess.Popen(
                (IDLE if self.beside else []) + [self.path], cwd=TOP, env=env,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                start_new_session=True, pass_fds=[lock.fileno()])
            if self.beside:
                make_idle(child)
            timer = threading.Timer(STAGE_LIMIT * patience, stop, [child])
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

    def lock_guests(self):
        if self.lock:
            return contextlib.nullcontext(self.lock)
        return guest_lock(self.beside)

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
        part = f"PART={self.part} " if self.part else ""
        return f"K={self.kernel} {part}tools/check.d/{self.name}"

    def label(self):
        return f"{self.name} {self.part}".rstrip()

    def title(self):
        beside = f" of {self.kernel}, run beside" if self.beside else ""
        return f" - {self.label()}{beside}"


class Lane(threading.Thread):
    """Runs stages one after the other, while others run.  If @kept, each says
    all that it has to say at its end."""

    def __init__(self, stages=None, kept=False):
        super().__init__(daemon=True)
        self.stages = stages or queue.SimpleQueue()
        self.kept = kept
        self.current = None
        self.other = None
        self.stopped = False

    def run(self):
        for stage in iter(self.stages.get, None):
            self.current = stage
            if self.stopped:
                break
            if self.kept:
                KEPT.lines = []
            say(stage.title())
            try:
                stage.run()
            finally:
                self.current = None
                if self.kept:
                    lines, KEPT.lines = KEPT.lines, None
                    say("\n".join(lines))

    def finish(self):
        """Wait until all stages have run, two at a time from now on."""
        self.other = Lane(self.stages, self.kept)
        self.other.start()
        for lane in (self, self.other):
            self.stages.put(None)
        for lane in (self, self.other):
            lane.join()

    def stop(self):
        if self.other:
            self.other.stop()
        self.stopped = True
        self.stages.put(None)
        stage = self.current
        if stage and stage.child:
            stop(stage.child)


def run_two_at_a_time(stages):
    """Run stages, with a lock on guests that two share."""
    if not stages:
        return
    with guest_lock(False) as lock:
        waiting = queue.SimpleQueue()
        lanes = [Lane(waiting), Lane(waiting)]
        for stage in stages:
            stage.lock = lock
            waiting.put(stage)
        for lane in lanes:
            waiting.put(None)
            lane.start()
        try:
            for lane in lanes:
                lane.join()
        finally:
            for lane in lanes:
                lane.stop()


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


def make_idle(child):
    """Let the session of an idle process, too, have what others leave.

    Where the kernel groups tasks by session, each group gets an equal share,
    whatever the class of its tasks.
    """
    with contextlib.suppress(OSError):
        with open(f"/proc/{child.pid}/autogroup", "w", encoding="ascii") as group:
            group.write("19")


def stop(child):
    """Stop a stage, which leads a process group of its own."""
    try:
        os.killpg(child.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass

# SPDX-License-Identifier: GPL-2.0
"""Builds a copy of the module with one more file, which its loading starts with.

The file has the calls of module_init() and module_exit(), and calls
devepoll_init() and devepoll_exit(), which tools/coverage/coverage.h declares.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))


def replace(path, old, new):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if old not in text:
        sys.exit(f"{path} has no '{old}'")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


def copy_sources(src, own, flags, headers=()):
    """A copy of the module, with the file `own' in it, and what this includes.

    All files but this one are compiled with the flags.
    """
    shutil.rmtree(src, ignore_errors=True)
    shutil.copytree(os.path.join(TOP, "kmod"), src)
    for path in (own, os.path.join(TOP, "tools/coverage/coverage.h"), *headers):
        shutil.copy(path, src)
    name = os.path.basename(own).removesuffix(".c")
    with open(os.path.join(src, "Kbuild"), "a", encoding="utf-8") as file:
        file.write(f"\ndevepoll-y += {name}.o\n"
                   f"ccflags-y += {flags}\n"
                   f"CFLAGS_REMOVE_{name}.o += {flags}\n")
    path = os.path.join(src, "main.c")
    replace(path, '#include "device.h"\n',
            '#include "device.h"\n#include "coverage.h"\n')
    for step in ("init", "exit"):
        replace(path, f"module_{step}(devepoll_{step});\n", "")
        kind = "int" if step == "init" else "void"
        replace(path, f"static {kind} __{step} devepoll_{step}",
                f"{kind} __{step} devepoll_{step}")


@contextlib.contextmanager
def locked(base):
    """Nobody else builds there, as tools/check does ahead of a stage."""
    os.makedirs(base, exist_ok=True)
    with open(os.path.join(base, ".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(kernel, base, variables=()):
    """Builds base/src; returns the path of the module."""
    os.makedirs(os.path.join(base, "built"), exist_ok=True)
    for name in ("uapi", "VERSION"):
        link = os.path.join(base, name)
        if not os.path.lexists(link):
            os.symlink(os.path.join(TOP, name), link)
    # Beside KASAN, counters make gcc leave code that is never reached.
    noise = {**os.environ, "KMOD_NOISE": "objtool: .*: unreachable instruction"}
    return subprocess.run(
        [os.path.join(TOP, "tools/vm/kmod"), "--src", os.path.join(base, "src"),
         "--out", os.path.join(base, "built"), kernel, *variables],
        check=True, stdout=subprocess.PIPE, text=True, env=noise).stdout.strip()

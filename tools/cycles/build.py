# SPDX-License-Identifier: GPL-2.0
"""What is built for a measurement in a guest, and what was measured."""

import os
import subprocess

OUT = os.path.join("build", "cycles")
RESULTS = os.path.join("Documentation", "results")
RATIOS = os.path.join("tools", "cycles", "ratios")


def output_of(*command):
    return subprocess.run(command, check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def programs():
    subprocess.run(["make", "-s", "-C", "tools"], check=True)


def plugin(name, *sources):
    """The path of the plugin of these files of tools/cycles."""
    os.makedirs(OUT, exist_ok=True)
    path = os.path.join(OUT, f"{name}.so")
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-shared",
                    "-fPIC", "-fvisibility=hidden", "-o", path] +
                   [os.path.join("tools", "cycles", source) for source in sources],
                   check=True)
    return path


def module(kernel):
    """The path of the module."""
    return output_of("tools/vm/kmod", kernel)


def release(kernel):
    where = output_of("tools/vm/kernel", kernel)
    with open(os.path.join(where, "release"), encoding="ascii") as file:
        return file.read().strip()


def commit():
    """The last commit that changes what a guest runs."""
    return output_of("git", "log", "-1", "--format=%h", "--", "kmod", "uapi", "lib")

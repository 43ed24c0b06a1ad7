# SPDX-License-Identifier: GPL-2.0
"""The rows of tools/mutants/faults/: see ./run.

Reads them, plants them in a copy of the module and builds it, and finds out
which tests are to notice each.
"""

import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
KMOD = os.path.join(TOP, "kmod")
FAULTS = os.path.join(TOP, "tools", "mutants", "faults")
TESTS = os.path.join(TOP, "build", "selftests")

SWITCH_H = """\
/* SPDX-License-Identifier: GPL-2.0 */
/* Written by tools/mutants/run; comes before every file of the module. */
#ifndef DEVEPOLL_MUTANT_H
#define DEVEPOLL_MUTANT_H

extern unsigned int dep_mutant;
_Bool dep_mutant_every(unsigned int times);

#define MUTANT_IS(nr) \\
	__builtin_expect(*(volatile unsigned int *)&dep_mutant == (nr), 0)
#define MUTANT_IS_EVERY(nr, times) (MUTANT_IS(nr) && dep_mutant_every(times))

#endif
"""
SWITCH_C = """\
// SPDX-License-Identifier: GPL-2.0
/* Written by tools/mutants/run: which fault is switched on. */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

unsigned int dep_mutant;
module_param_named(mutant, dep_mutant, uint, 0444);

static atomic_t mutant_count;

bool notrace dep_mutant_every(unsigned int times)
{
	return atomic_inc_return(&mutant_count) % times == 0;
}
"""


# A macro, or what begins in the first column: a function, a type or a variable.
DEFINITION = re.compile(r"""
    ^/\*.*?\*/
  | ^\#\ *define\ (?P<macro>\w+)(?:[^\n]*\\\n)*[^\n]*
  | ^(?P<head>[A-Za-z_][^;{}]*)(?:;|\{[^{}]*\}|\{.*?^\})[^\n]*
""", re.M | re.S | re.X)


class Fault:
    """A row of the table."""

    def __init__(self, name, place):
        self.name = name
        self.place = place
        self.nr = 0
        self.hunks = []
        # The files of kmod/ in which find_hunks() has found them.
        self.files = set()
        self.why = ""
        self.equal = ""
        self.tests = []
        self.kernels = []
        self.alone = False
        self.icount = False
        self.smoke = False

    def places(self):
        """The words by which --only chooses it, but for its own name."""
        return {name for name, _, _ in self.hunks} | self.files | \
            {os.path.basename(file) for file in self.files}

    def is_for(self, kernel):
        """Is its code in the module of this kernel?"""
        return not self.kernels or any(
            word == kernel or (word.endswith("+") and kernel[0].isdigit()
                               and version(kernel) >= version(word[:-1]))
            for word in self.kernels)


def version(kernel):
    """6.12 as something that can be compared."""
    return [int(part) for part in kernel.split(".")]


class BadTable(Exception):
    """The table does not match the tree; the text says where."""


def lines_of(path):
    """Lines of a file of the table, with continuations joined, and numbers."""
    joined = []
    with open(path, encoding="utf-8") as text:
        for nr, line in enumerate(text, 1):
            line = line.rstrip("\n")
            if line.startswith("#") or not line.strip():
                continue
            if line[0] in " \t" and joined:
                joined[-1][1] += " " + line.strip()
            else:
                joined.append([nr, line])
    return joined


def read_faults(path):
    """The rows of one file of the table."""
    faults = []
    definition, was = "", ""
    for nr, line in lines_of(path):
        word, _, rest = line.partition(" ")
        where = f"{os.path.relpath(path, TOP)}:{nr}"
        if word == "fault":
            faults.append(Fault(rest, where))
            definition = ""
        elif not faults:
            raise BadTable(f"{where}: no fault has begun")
        fault = faults[-1]
        if word == "in":
            definition = rest
        elif word == "-" and was == "-":
            fault.hunks[-1][1] += "\n" + rest
        elif word == "-":
            fault.hunks.append([definition, rest, None])
        elif word == "+" and fault.hunks:
            before = fault.hunks[-1][2]
            fault.hunks[-1][2] = rest if before is None else \
                before + "\n" + rest
        elif word in ("why", "equal"):
            setattr(fault, word, rest)
        elif word in ("tests", "kernels"):
            getattr(fault, word).extend(rest.split())
        elif word in ("alone", "icount", "smoke"):
            setattr(fault, word, True)
        elif word != "fault":
            raise BadTable(f"{where}: {word}?")
        was = word
    return faults


def read_table():
    """All rows, numbered, each complete."""
    faults = []
    for name in sorted(os.listdir(FAULTS)):
        faults += read_faults(os.path.join(FAULTS, name))
    names = set()
    for nr, fault in enumerate(faults, 1):
        fault.nr = nr
        if fault.name in names:
            raise BadTable(f"{fault.place}: {fault.name} is there twice")
        names.add(fault.name)
        if any(not name for name, _, _ in fault.hunks):
            raise BadTable(f"{fault.place}: {fault.name} names no function")
        if not fault.hunks or any(new is None for _, _, new in fault.hunks):
            raise BadTable(f"{fault.place}: {fault.name} changes nothing")
        if not any("MUTANT" in new for _, _, new in fault.hunks):
            raise BadTable(f"{fault.place}: {fault.name} has no MUTANT")
        if not fault.why and not fault.equal:
            raise BadTable(f"{fault.place}: {fault.name} says not why")
        if not fault.tests and not fault.equal:
            raise BadTable(f"{fault.place}: {fault.name} has no tests")
    return faults


def sources():
    """The files of kmod/, relative to it."""
    return [os.path.relpath(os.path.join(folder, name), KMOD)
            for folder, _, names in os.walk(KMOD) for name in names
            if name.endswith((".c", ".h", ".S")) or name == "Kbuild"]


def name_of(found):
    """What rows call a definition; None for a comment or a declaration."""
    head = found["head"]
    if not head:
        return found["macro"]
    front = re.sub(r"\[[^]]*\]", "", head.partition("=")[0])
    front = re.sub(r"(?: __\w+)*\s*$", "", front)
    if call := re.match(r"(?:static )?\w+\((\w+)", front):
        return call[1]
    if named := re.fullmatch(r"((?:struct|union|enum) \w+)", front) or \
            re.search(r"(\w+)\(", front):
        return None if found[0][len(head)] == ";" else named[1]
    return re.search(r"\w*$", front)[0]


def definitions(texts):
    """{name: [(file, start, end)]}; a name has several if #if chooses one."""
    places = {}
    for file, text in texts.items():
        for found in DEFINITION.finditer(text):
            places.setdefault(name_of(found), []).append(
                (file, found.start(), found.end()))
    return places


def occurrences(text, part, start, end):
    """Where a text occurs between two places of another."""
    while (at := text.find(part, start, end)) >= 0:
        yield at
        start = at + 1


def find_hunks(faults, texts):
    """The place of each replacement: {file: [(start, end, text, fault)]}."""
    places, bad = {}, []
    known = definitions(texts)
    for fault in faults:
        where = f"{fault.place}: {fault.name}"
        for name, old, new in fault.hunks:
            if name not in known:
                bad.append(f"{where}: kmod/ has no {name}")
                continue
            found = [(file, at) for file, start, end in known[name]
                     for at in occurrences(texts[file], old, start, end)]
            if len(found) != 1:
                files = sorted({f"kmod/{one[0]}" for one in known[name]})
                bad.append(f"{where}: {len(found)} times in {name} of "
                           f"{' and '.join(files)}, not once: "
                           f"{old.splitlines()[0].strip()}")
                continue
            file, start = found[0]
            fault.files.add(file)
            new = re.sub(r"\bMUTANT_EVERY\(", f"MUTANT_IS_EVERY({fault.nr}, ",
                         new)
            new = re.sub(r"\bMUTANT\b", f"MUTANT_IS({fault.nr})", new)
            places.setdefault(file, []).append(
                (start, start + len(old), new, fault))
    for file, spans in places.items():
        spans.sort(key=lambda span: span[:2])
        for one, two in zip(spans, spans[1:]):
            if two[0] < one[1]:
                bad.append(f"{two[3].place}: {two[3].name} and {one[3].name} "
                           f"change the same text of kmod/{file}")
    if bad:
        raise BadTable("\n".join(bad))
    return places


def write_if_new(path, text):
    """Writes a file unless it has this text, so that make does not rebuild."""
    try:
        with open(path, encoding="utf-8") as old:
            if old.read() == text:
                return
    except OSError:
        pass
    with open(path, "w", encoding="utf-8") as new:
        new.write(text)


def plant(faults):
    """Writes the sources with all faults; returns their directory."""
    texts = {}
    for name in sources():
        with open(os.path.join(KMOD, name), encoding="utf-8") as src:
            texts[name] = src.read()
    places = find_hunks(faults, texts)
    out = os.path.join(TOP, "build", "mutants", "kmod")
    os.makedirs(out, exist_ok=True)
    for folder, _, old in os.walk(out):
        for name in old:
            path = os.path.join(folder, name)
            if os.path.relpath(path, out) not in texts and \
                    not name.startswith("mutant."):
                os.unlink(path)
    for name, text in texts.items():
        for start, end, new, _ in reversed(places.get(name, [])):
            text = text[:start] + new + text[end:]
        if name == "Kbuild":
            text += ("\ndevepoll-y += mutant.o\n"
                     "ccflags-y += -include $(src)/mutant.h\n")
        path = os.path.join(out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_if_new(path, text)
    write_if_new(os.path.join(out, "mutant.h"), SWITCH_H)
    write_if_new(os.path.join(out, "mutant.c"), SWITCH_C)
    return out


def build(kernel, src):
    """Builds the module; returns its path."""
    out = os.path.join(TOP, "build", kernel, "mutants")
    os.makedirs(out, exist_ok=True)
    # kmod/ needs these directories beside it.
    for name in ("uapi", "VERSION"):
        link = os.path.join(TOP, "build", kernel, name)
        if not os.path.lexists(link):
            os.symlink(os.path.join(TOP, name), link)
    done = subprocess.run(
        [os.path.join(TOP, "tools", "vm", "kmod"), "--out", out, "--src", src,
         kernel], stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode:
        raise BadTable("building the module with the faults failed")
    return done.stdout.strip()


def tests_of(program):
    """Names of the tests and variants of a program; None for a script."""
    path = os.path.join(TESTS, program)
    if not os.path.exists(path):
        raise BadTable(f"there is no {path}: make selftests")
    done = subprocess.run([path, "-l"], stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.STDOUT, text=True)
    return set(re.findall(r"\w+", done.stdout))


def make_calls(faults):
    """
    What is to be run: {number: [[program, option...], ...]}; for 0, no fault,
    all that any of them runs.  In-tree epoll is not under test.
    """
    known, calls, whole, some = {}, {}, set(), {}
    for fault in faults:
        calls[fault.nr] = []
        chosen = {}
        for word in fault.tests:
            program, _, test = word.partition(":")
            if program not in known:
                known[program] = tests_of(program)
            if test and test not in known[program]:
                raise BadTable(f"{fault.place}: {program} has no test {test}")
            chosen.setdefault(program, []).extend([test] if test else [])
            if test:
                some.setdefault(program, set()).add(test)
            else:
                whole.add(program)
        for program, tests in chosen.items():
            calls[fault.nr].append(call_of(program, tests, known[program]))
    calls[0] = [call_of(program, [] if program in whole else sorted(
        some[program]), known[program]) for program in sorted(known)]
    return calls


def call_of(program, tests, known):
    call = [program]
    for variant in ("sysepoll",):
        if variant in known:
            call += ["-V", variant]
    for test in tests:
        call += ["-t", test]
    return call

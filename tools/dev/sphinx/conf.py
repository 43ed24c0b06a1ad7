# SPDX-License-Identifier: GPL-2.0
"""Sphinx's settings, and the kernel-doc directive: docs.sh has the rest."""

import os
import subprocess
import sys

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList
from sphinx.util.nodes import nested_parse_with_titles

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))))
KERNEL_DOC = os.environ["KERNEL_DOC"]
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
extensions = ["manpages"]

project = "devepoll"
author = "The devepoll authors"
with open(os.path.join(TOP, "VERSION"), encoding="utf-8") as _file:
    version = release = _file.read().strip()

primary_domain = "c"
highlight_language = "none"
exclude_patterns = ["man", "results"]
html_theme = "alabaster"
html_theme_options = {"page_width": "1080px", "fixed_sidebar": True}
html_static_path = ["static"]
html_css_files = ["devepoll.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False


class KernelDocDirective(Directive):
    """What the comments of a source file say, as in the kernel's own docs.

    Without an option it is all of the file; :doc: takes one section of text,
    :identifiers: the named structs, macros and functions.
    """

    required_arguments = 1
    option_spec = {
        "doc": directives.unchanged_required,
        "identifiers": directives.unchanged_required,
    }

    def run(self):
        settings = self.state.document.settings
        source = os.path.join(TOP, self.arguments[0])
        settings.record_dependencies.add(source)
        settings.env.note_dependency(source)

        command = [sys.executable, KERNEL_DOC, "-rst", "-Werror"]
        if "doc" in self.options:
            command += ["-function", self.options["doc"]]
        elif "identifiers" in self.options:
            for name in self.options["identifiers"].split():
                command += ["-function", name]
        else:
            command.append("-no-doc-sections")
        done = subprocess.run(command + [source], check=False, text=True,
                              capture_output=True)
        if done.returncode or not done.stdout.strip():
            raise self.error(f"kernel-doc has nothing from {source} "
                             f"{self.options}: {done.stderr}")

        node = nodes.section()
        lines = StringList(done.stdout.splitlines(), source)
        nested_parse_with_titles(self.state, lines, node)
        return node.children


def setup(app):
    app.add_directive("kernel-doc", KernelDocDirective)
    return {"version": "1", "parallel_read_safe": True}

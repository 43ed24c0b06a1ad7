# SPDX-License-Identifier: GPL-2.0
"""Man pages as pages of the site, and links to them wherever a page names one.

The text comes from mandoc.  A page that is a symbolic link is another name of
its target.  The directive man-pages lists the pages of a section.
"""

import glob
import html
import os
import re
import subprocess

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.transforms.post_transforms import SphinxPostTransform

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))))
REFERENCE = re.compile(r"\b([a-z_][\w.-]*)\(([1-9])\)")
# What mandoc makes of a reference: the name in bold type, then the section.
MARKED = re.compile(r"<b>([\w.-]+)</b>(?:&#x200B;)?\s?\(([1-9])\)")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Pages:
    """The man pages of the tree: which there are, and what each is about."""

    def __init__(self):
        self.paths = {}
        self.aliases = {}
        for path in sorted(glob.glob(os.path.join(TOP, "Documentation/man/man?/*.?"))):
            name = os.path.basename(path)
            if os.path.islink(path):
                self.aliases[name] = os.path.basename(os.path.realpath(path))
            else:
                self.paths[name] = path

    def page(self, name, section):
        """The page of the site that has this man page, or None."""
        name = f"{name}.{section}"
        name = self.aliases.get(name, name)
        return f"man/{name}" if name in self.paths else None

    def of_section(self, section):
        """The names of each page of a section, its own name first."""
        for name in sorted(self.paths):
            if name.endswith(f".{section}"):
                yield [name] + [alias for alias in sorted(self.aliases)
                                if self.aliases[alias] == name]

    def subject(self, name):
        text = read(self.paths[name])
        lines = re.search(r'^\.SH NAME\n((?:(?!\.SH).*\n)+)', text, re.M)
        line = " ".join(lines.group(1).split())
        return line.partition(" \\- ")[2].replace("\\-", "-").replace("\\", "")


PAGES = Pages()


class ManPagesDirective(Directive):
    """A list of all man pages of one section, each with its subject."""

    required_arguments = 1

    def run(self):
        items = nodes.bullet_list(classes=["man-pages"])
        for names in PAGES.of_section(self.arguments[0]):
            text = ", ".join(re.sub(r"\.(.)$", r"(\1)", name) for name in names)
            text += ": " + PAGES.subject(names[0])
            items += nodes.list_item("", nodes.paragraph("", text))
        if not items.children:
            raise self.error(f"there are no man pages in {self.arguments[0]}")
        return [items]


class LinkManPages(SphinxPostTransform):
    """Makes a link of each name(section) of which the tree has a man page."""

    default_priority = 500

    def run(self, **_):
        name = self.env.docname
        for text in list(self.document.findall(nodes.Text)):
            parents = []
            node = text.parent
            while node is not None:
                parents.append(node)
                node = node.parent
            if any(isinstance(node, (nodes.reference, nodes.literal_block,
                                     nodes.title, nodes.comment))
                   for node in parents):
                continue
            parts = self.split(str(text), name)
            if len(parts) > 1:
                text.parent.replace(text, parts)

    def split(self, text, docname):
        parts, end = [], 0
        for match in REFERENCE.finditer(text):
            page = PAGES.page(*match.groups())
            if not page:
                continue
            if match.start() > end:
                parts.append(nodes.Text(text[end:match.start()]))
            uri = self.app.builder.get_target_uri(docname)
            uri = os.path.relpath(f"{page}.html", os.path.dirname(uri) or ".")
            parts.append(nodes.reference("", match.group(), internal=True,
                                         refuri=uri))
            end = match.end()
        if end < len(text):
            parts.append(nodes.Text(text[end:]))
        return parts


def words(text):
    """A text without what mandoc may change in an example."""
    return "".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def with_examples(text, path):
    """mandoc's text with the examples as they are: it drops their empty lines."""
    found = {}
    for block in re.findall(r"^\.EX\n(.*?)^\.EE\n", read(path), re.M | re.S):
        block = re.sub(r"^\\&", "", block, flags=re.M)
        block = block.replace("\\-", "-").replace("\\e", "\\").expandtabs(8)
        found[words(html.escape(block))] = html.escape(block)

    def put(match):
        return f"<pre>{found.get(words(match.group()), match.group(1))}</pre>"

    return re.sub(r"<pre>(.*?)</pre>", put, text, flags=re.S)


def collect_pages(_):
    """The man pages, for Sphinx to put into its frame."""
    for name, path in PAGES.paths.items():
        done = subprocess.run(["mandoc", "-Thtml", "-O", "fragment", path],
                              check=True, text=True, stdout=subprocess.PIPE)

        def link(match):
            page = PAGES.page(*match.groups())
            if not page:
                return match.group()
            return (f'<a href="{os.path.basename(page)}.html">'
                    f"{match.group(1)}</a>({match.group(2)})")

        title = "{0}({2})".format(*name.rpartition("."))
        body = MARKED.sub(link, with_examples(done.stdout, path))
        yield f"man/{name}", {"title": title, "body": body}, "page.html"


def setup(app):
    app.add_directive("man-pages", ManPagesDirective)
    app.add_post_transform(LinkManPages)
    app.connect("html-collect-pages", collect_pages)
    return {"version": "1", "parallel_read_safe": True}

"""How the documentation is built; the introduction and the interface section are written anew from the program."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import relubias
from relubias.report.html import Heading, Picture, Text, svg
from relubias.report.introduction import introduction as introduction_blocks

project = "relubias"
author = "the relubias authors"
version = release = relubias.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"relubias {version}"
exclude_patterns = ["_build"]

autodoc_typehints = "none"  # the docstrings say types and shapes in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
_public = "|".join(relubias._MODULES)
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|scipy|enum|collections)\..*"),  # documented elsewhere
    ("py:mod", rf"relubias\.(?!({_public})$).*"),  # inner modules and what is in them are named, not documented
    ("py:.*", rf"relubias\.(?!({_public})\.)[a-z_]+\..*"),
]


class AbsoluteValues(SphinxTransform):
    """In a docstring, |y| is an absolute value and not a substitution of reStructuredText."""

    default_priority = 200  # before substitutions are made

    def apply(self) -> None:
        """Put the bars back."""
        for node in list(self.document.findall(nodes.substitution_reference)):
            node.replace_self(nodes.Text(f"|{node.astext()}|"))


def setup(app: Sphinx) -> None:
    """Register the above."""
    app.add_transform(AbsoluteValues)


def interface() -> str:
    """Return the interface section: every name of ``relubias.__all__``, functions, then records, then modules."""
    modules = list(relubias._MODULES)
    names = [name for name in relubias.__all__ if name in relubias._HOME and relubias._HOME[name] != "relubias.errors"]
    records = [name for name in names if name[0].isupper()]
    functions = [name for name in names if not name[0].isupper()]
    lines: list[str] = []
    for title, directive, members in (
        ("Functions", "autofunction", functions),
        ("Records", "autoclass", records),
        ("Modules", "automodule", modules),
    ):
        lines += [title, "-" * len(title), ""]
        for name in members:
            lines += [
                f".. {directive}:: relubias.{name}",
                *(["   :members:"] if directive != "autofunction" else []),
                "",
            ]
    return "\n".join(["Interface", "=========", "", *lines])


def introduction() -> dict[str, bytes]:
    """Return the files of the introduction: its text as Markdown, and its figures."""
    lines = ["# Implicit bias, and what a ReLU does to it"]
    found: dict[str, bytes] = {}
    for block in introduction_blocks():
        if isinstance(block, Heading):
            lines.append(f"## {block.text}")
        elif isinstance(block, Picture):
            name = f"figure-{len(found) + 1}.svg"
            found[name] = svg(block.figure)
            lines += [f"![{block.caption}]({name})", f"*{block.caption}*"]
        elif isinstance(block, Text):
            lines.append(block.text.replace("*", r"\*"))
    return found | {"index.md": ("\n\n".join(lines) + "\n").encode()}


def write(name: str, content: bytes) -> None:
    """Write a file of the documentation, unless it is there already, which would have it built again."""
    path = Path(__file__).parent / name
    path.parent.mkdir(exist_ok=True)
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)


write("api/index.rst", interface().encode())
for file, content in introduction().items():
    write(f"introduction/{file}", content)

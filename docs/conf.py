"""How the documentation is built; the interface section is written anew from the public names each time."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import relubias

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


page = Path(__file__).parent / "api" / "index.rst"
page.parent.mkdir(exist_ok=True)
if not page.is_file() or page.read_text(encoding="utf-8") != interface():
    page.write_text(interface(), encoding="utf-8")

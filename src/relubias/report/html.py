"""One self-contained HTML file from blocks of text, tables, commands and figures.

Figures are embedded as SVG, so that the file needs no network and no folder beside it. It reads on paper, and on a
screen of 390 pixels: text wraps, figures shrink, and what cannot, tables and commands, scrolls in a box of its own.

Text is plain, but for ``code`` between backticks.
"""

from __future__ import annotations

import base64
import html as markup
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Text:
    """A paragraph; `kind` is a class of the style sheet: "lead", "verdict", "note"."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str


@dataclass(frozen=True)
class Command:
    """Something to type, or to read as it is typed; folded away under `title` where there is one."""

    text: str
    title: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell of a table that is a link to a section, or has a class of the style sheet."""

    text: str
    link: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """A table; columns named in `numbers` are set flush right; a `stacked` one is a list of rows on a narrow screen."""

    head: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    numbers: Sequence[str] = ()
    caption: str = ""
    stacked: bool = False


@dataclass(frozen=True)
class Picture:
    """A figure, and what it shows for those who do not see it."""

    figure: Figure
    caption: str


Block = Text | Heading | Command | Table | Picture


@dataclass(frozen=True)
class Section:
    """A part of the page that can be linked to."""

    id: str
    title: str
    blocks: Sequence[Block]
    level: int = 2


@dataclass(frozen=True)
class Page:
    """The whole."""

    title: str
    blocks: Sequence[Block]
    sections: Sequence[Section]
    foot: str = ""


def html(page: Page) -> str:
    """Return a page as the text of one HTML file."""
    parts = [_block(block) for block in page.blocks]
    for section in page.sections:
        blocks = "\n".join(_block(block) for block in section.blocks)
        title = f"<h{section.level}>{_inline(section.title)}</h{section.level}>"
        parts.append(f'<section id="{markup.escape(section.id)}">\n{title}\n{blocks}\n</section>')
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{markup.escape(page.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{_inline(page.title)}</h1>\n{body}\n</main>\n<footer>{_inline(page.foot)}</footer>\n</body>\n</html>\n"
    )


def _block(block: Block) -> str:
    if isinstance(block, Text):
        kind = f' class="{block.kind}"' if block.kind else ""
        return f"<p{kind}>{_inline(block.text)}</p>"
    if isinstance(block, Heading):
        return f"<h4>{_inline(block.text)}</h4>"
    if isinstance(block, Command):
        box = f'<div class="scroll" tabindex="0"><pre>{markup.escape(block.text)}</pre></div>'
        return f"<details><summary>{_inline(block.title)}</summary>{box}</details>" if block.title else box
    if isinstance(block, Table):
        return _table(block)
    caption = _inline(block.caption)
    picture = f'<img src="{embedded(block.figure)}" alt="{markup.escape(block.caption)}">'
    return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"


def _table(table: Table) -> str:
    flush = [' class="number"' if name in table.numbers else "" for name in table.head]
    head = "".join(f"<th{side}>{_inline(name)}</th>" for name, side in zip(table.head, flush, strict=True))
    if table.stacked:  # each cell says what it is, for screens on which the head is not shown
        flush = [f'{side} data-label="{markup.escape(name)}"' for name, side in zip(table.head, flush, strict=True)]
    rows = "\n".join(
        f"<tr>{''.join(_cell(cell, side) for cell, side in zip(row, flush, strict=True))}</tr>" for row in table.rows
    )
    caption = f"<caption>{_inline(table.caption)}</caption>" if table.caption else ""
    kind = ' class="stacked"' if table.stacked else ""
    return (
        f'<div class="scroll" tabindex="0"><table{kind}>{caption}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(cell: str | Cell, side: str) -> str:
    if isinstance(cell, str):
        return f"<td{side}>{_inline(cell)}</td>"
    text = _inline(cell.text)
    text = f'<a href="#{markup.escape(cell.link)}">{text}</a>' if cell.link else text
    text = f'<span class="{cell.kind}">{text}</span>' if cell.kind else text
    return f"<td{side}>{text}</td>"


def _inline(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", markup.escape(text))


def embedded(figure: Figure) -> str:
    """A figure as an SVG in a data URL; the same figure gives the same text."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg(figure)).decode()}"


def svg(figure: Figure) -> bytes:
    """A figure as SVG, its letters as shapes, without the date."""
    import matplotlib

    stream = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "relubias", "svg.fonttype": "path"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None}, dpi=150)
    return stream.getvalue()


STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 Georgia, "Times New Roman", serif; color: #1a1a1a; background: #fff; }
main, footer { max-width: 56rem; margin: 0 auto; padding: 0 1rem; overflow-wrap: break-word; }
h1, h2, h3, h4, th, .kind, summary { font-family: system-ui, "Helvetica Neue", Arial, sans-serif; line-height: 1.25; }
h1 { font-size: 1.9rem; margin: 2rem 0 1rem; }
h2 { font-size: 1.45rem; margin: 3rem 0 1rem; border-top: 3px solid #1a1a1a; padding-top: .5rem; }
h3 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; border-top: 1px solid #bbb; padding-top: .5rem; }
h4 { font-size: .95rem; margin: 1.2rem 0 .3rem; }
p { margin: .6rem 0; }
p.lead { font-size: 1.1rem; }
p.statement { font-style: italic; font-size: 1.08rem; border-left: 4px solid #1a1a1a; padding-left: .8rem; }
p.note { color: #555; font-size: .92rem; }
a { color: #0b4f8a; }
code, pre { font: .86em/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
pre { margin: 0; padding: .6rem .8rem; background: #f4f4f2; }
.scroll { overflow-x: auto; max-width: 100%; margin: .7rem 0; }
table { border-collapse: collapse; font-size: .92rem; width: 100%; }
caption { text-align: left; color: #555; padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid #ddd; }
td:first-child { min-width: 9rem; }
th { border-bottom: 2px solid #1a1a1a; font-size: .85rem; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure { margin: 1rem 0; }
figure img { display: block; max-width: 100%; height: auto; }
figcaption { color: #555; font-size: .92rem; margin-top: .3rem; }
.supported, .not-supported, .inconclusive {
  display: inline-block; white-space: nowrap; border: 1.5px solid; border-radius: .25rem; padding: 0 .4rem;
  font: 600 .82rem/1.5 system-ui, Arial, sans-serif; }
p.supported, p.not-supported, p.inconclusive {
  display: block; white-space: normal; font-size: 1rem; padding: .4rem .7rem; }
.supported { color: #14532d; background: #eaf5ec; }
.not-supported { color: #8c1515; background: #fbecec; border-style: double; border-width: 3px; }
.inconclusive { color: #5c4a00; background: #fbf6e2; border-style: dashed; }
details { margin: .7rem 0; }
summary { cursor: pointer; font-size: .92rem; }
footer { color: #555; font-size: .88rem; margin: 3rem auto 2rem; }
@media (max-width: 30rem) {
  body { font-size: 15px; }
  h1 { font-size: 1.5rem; }
  h2 { font-size: 1.25rem; }
}
@media screen and (max-width: 48rem) {
  .stacked thead { display: none; }
  .stacked, .stacked tbody, .stacked tr, .stacked td { display: block; }
  .stacked tr { border-bottom: 1px solid #bbb; padding: .5rem 0; }
  .stacked td { border: 0; padding: .1rem 0; }
  .stacked td:first-child { font-weight: 600; }
  .stacked td:not(:first-child)::before { content: attr(data-label) ": "; color: #555; }
}
@media print {
  body { font-size: 10pt; }
  main, footer { max-width: none; padding: 0; }
  h1, h2, h3, h4 { break-after: avoid; }
  figure, tr, p { break-inside: avoid; }
  .scroll { overflow: visible; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  table { font-size: 8.5pt; }
  td.number, th.number { white-space: normal; }
  a { color: inherit; text-decoration: none; }
  figure img { max-height: 11cm; }
}
"""

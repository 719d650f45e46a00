"""The HTML is one file: nothing is fetched, every figure is in it, and what is wide scrolls in a box of its own."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import pytest
from matplotlib.figure import Figure

from relubias.report.html import Block, Cell, Command, Heading, Page, Picture, Section, Table, Text, html, svg
from relubias.report.introduction import introduction


class Reader(HTMLParser):
    """Collects what the tests ask about."""

    VOID = ("meta", "img", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.alternatives: list[str] = []
        self.boxed: list[bool] = []
        self.tags: list[str] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        if "src" in values:
            self.sources.append(values["src"])
        if tag == "img":
            self.alternatives.append(values.get("alt", ""))
        if "href" in values:
            self.links.append(values["href"])
        if "id" in values:
            self.ids.append(values["id"])
        if tag in ("table", "pre"):
            self.boxed.append(self.open[-1:] == ["scroll"])
        if tag not in self.VOID:
            self.open.append(values.get("class") or tag)

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words += data


def figure() -> Figure:
    sheet = Figure()
    sheet.subplots().plot([0, 1], [1, 3])
    return sheet


@pytest.fixture(scope="module")
def text() -> str:
    table = Table(("claim", "value"), [(Cell("first", link="one"), "1 < 2"), (Cell("no", kind="not-supported"), "3")])
    blocks: list[Block] = [
        Heading("Why"),
        Command("relubias --help"),
        Command("a = 1", "folded"),
        Picture(figure(), "a line"),
    ]
    return html(Page("A & B", [Text("`x < y`", "lead"), table], [Section("one", "One", blocks)], "the end"))


def outside(text: str) -> list[str]:
    """Everything that a browser would fetch from elsewhere, or follow out of the page."""
    reader = Reader(text)
    found = [source for source in reader.sources if not source.startswith("data:")]
    found += [link for link in reader.links if not link.startswith("#")]
    found += re.findall(r"@import|url\([^)]*\)", text)
    return found + [tag for tag in reader.tags if tag in ("script", "link", "iframe", "object")]


def test_nothing_is_fetched(text: str) -> None:
    assert outside(text) == []


def test_what_is_fetched_would_be_noticed() -> None:
    assert outside('<img src="https://example.org/a.png"><link href="b.css">') == [
        "https://example.org/a.png",
        "b.css",
        "link",
    ]


def test_figures_are_embedded_whole_and_described(text: str) -> None:
    reader = Reader(text)
    (source,) = reader.sources
    kind, _, content = source.partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(content).rstrip().endswith(b"</svg>")
    assert reader.alternatives == ["a line"]


def test_the_same_figure_gives_the_same_text() -> None:
    assert svg(figure()) == svg(figure())


def test_tables_and_commands_scroll_in_boxes_and_all_tags_are_closed(text: str) -> None:
    reader = Reader(text)
    assert reader.boxed == [True, True, True]
    assert reader.open == []


def test_links_lead_to_sections(text: str) -> None:
    reader = Reader(text)
    assert {link.removeprefix("#") for link in reader.links} <= set(reader.ids)


def test_signs_of_markup_are_text(text: str) -> None:
    assert "<code>x &lt; y</code>" in text
    assert "<title>A &amp; B</title>" in text
    assert "1 < 2" in Reader(text).words


def test_it_is_made_for_phones_and_paper(text: str) -> None:
    assert 'name="viewport" content="width=device-width' in text
    assert "@media print" in text
    assert "figure img { display: block; max-width: 100%;" in text


def test_the_introduction_has_four_pictures_and_explains_its_words() -> None:
    blocks = introduction()
    assert sum(isinstance(block, Picture) for block in blocks) == 4
    words = " ".join(block.text for block in blocks if isinstance(block, Text))
    for term in ("implicit bias", "activation pattern", "dual view", "primal", "w*", "gap", "negative control"):
        assert term in words

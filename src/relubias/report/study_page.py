"""What the figures of studies share: a page with its title, and groups of rows that are told apart without colour."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from relubias.errors import ArgumentError
from relubias.report.axis_labels import axis_label
from relubias.report.figures import STYLE, wrapped
from relubias.studies.tally import Tally, numbers_of, require_columns, unit_of
from relubias.wording import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: Colour, line and marker of each group; groups differ in line and marker, and neighbours in darkness.
LOOKS = (
    ("0.05", "-", "o"),
    ("#c1272d", "--", "s"),
    ("#5aa5d6", "-.", "^"),
    ("0.5", ":", "D"),
    ("#7a4f9a", (0, (5, 1, 1, 1, 1, 1)), "v"),
    ("#d98c00", (0, (8, 2)), "P"),
    ("#1b6b3a", (0, (3, 1)), "X"),
    ("0.65", (0, (1, 3)), "<"),
)


class Group(NamedTuple):
    """Rows that share a value, what they are called, and how they are drawn."""

    rows: DataFrame
    name: str
    colour: str
    line: Any
    marker: str


def groups_of(rows: DataFrame, by: str | None) -> list[Group]:
    """Split rows by the values of a column, in ascending order; one group without a name where there is none.

    Raises
    ------
    ArgumentError
        If the column is missing, there are no rows, or it has more values than there are looks.
    """
    require_columns(rows, [] if by is None else [by])
    if not len(rows):
        raise ArgumentError("there are no rows to draw; give those of at least one cell.")
    if by is None:
        return [Group(rows, "", *LOOKS[0])]
    unit = unit_of(rows, by)
    parts = list(rows.groupby(by, sort=True, dropna=False))
    if unit:  # "10/trace" comes after "2/trace"
        parts.sort(key=lambda part: numbers_of(part[1], by)[0])
    if len(parts) > len(LOOKS):
        raise ArgumentError(
            f"{by} has {len(parts)} values and {len(LOOKS)} can be told apart; select the rows of fewer of them."
        )
    name = axis_label(rows, by)
    return [Group(part, _told(by, name, value, unit), *look) for (value, part), look in zip(parts, LOOKS, strict=False)]


def _told(by: str, name: str, value: object, unit: str) -> str:
    """What a group is called; words in a column that somebody has added, which has no dot, speak for themselves."""
    if isinstance(value, str) and not unit and "." not in by:
        return value
    return f"{name} = {_said(value).removesuffix(f'/{unit}')}"


def _said(value: object) -> str:
    return number(value) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


@contextmanager
def page(size: tuple[float, float] = (6.4, 4.6)) -> Iterator[tuple[Figure, Axes]]:
    """A figure with one panel, in the style of all figures."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        sheet = Figure(figsize=size, layout="constrained", dpi=120)
        yield sheet, sheet.subplots()


def entitle(sheet: Figure, title: str, tally: Tally, note: str = "") -> None:
    """The title in words, and below it which cells the figure is made of."""
    sheet.suptitle(f"{title[:1].upper()}{title[1:]}", x=0.01, ha="left", fontsize=10)
    sheet.axes[0].set_title(wrapped(f"{tally.message}{note}.", 90), fontsize=7.5, color="0.35")


def legend(axes: Axes) -> None:
    """A legend where anything has a name."""
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=8)

"""What a claim is: data, from its one sentence to the judgement, and nothing that runs anything.

A claim is tested by *studies*, whose rows a *judge* turns into a finding: a verdict in words with the numbers it rests
on. What judges can also be wrong, and a judge who says yes to everything is worth nothing: each claim has a *negative
control*, rows for which the same judge has to come to "not supported". A claim counts as supported if its judge
supports it **and** its control comes out negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from relubias.errors import ArgumentError
from relubias.studies.fit import Estimate, Proportion, proportion
from relubias.studies.spec import Study
from relubias.studies.tally import LIMITS
from relubias.wording import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

#: The table of each study of a claim, by the name of the study.
Rows = Mapping[str, "DataFrame"]
#: What a claim measures, for quick or full: its studies.
Studies = Callable[[bool], Sequence[Study]]
Judge = Callable[[Rows], "Finding"]

#: Chapters of the report, in the order in which they are read.
CHAPTERS = (
    "One neuron",
    "The distance to the minimum norm",
    "Several neurons",
    "Where it ends",
    "Other dynamics, activations and losses",
    "Generalisation",
)


class Verdict(StrEnum):
    """What was found."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not supported"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Quantity:
    """One number that a finding rests on.

    Attributes
    ----------
    name : str
        What it is, in a few words.
    value : float
    low, high : float or None
        Ends of its interval, where it has one.
    trials : int or None
        Independent draws that it is made of.
    target : str
        What it is held against, "in [0.98, 1.02]" say; empty where it only informs.
    met : bool or None
        Whether the target is met; None where that is undecided, or there is no target.
    premise : bool
        Whether nothing at all is decided unless it is met: that nearly no cell is missing, say.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    trials: int | None = None
    target: str = ""
    met: bool | None = None
    premise: bool = False

    @classmethod
    def within(
        cls, name: str, estimate: Estimate | float, low: float, high: float, *, trials: int | None = None
    ) -> Quantity:
        """A number that has to lie in [low, high]; with an interval: all of it, and undecided if only a part does.

        Parameters
        ----------
        name : str
            What it is, in a few words.
        estimate : Estimate or float
        low, high : float
            Ends of the target, in the unit of the estimate.
        trials : int, optional
            Independent draws that it is made of; a float that is made of none, or is not finite, decides nothing.

        Returns
        -------
        Quantity
        """
        told = f"in [{number(low)}, {number(high)}]"
        if isinstance(estimate, Estimate):
            inside = low <= estimate.low and estimate.high <= high
            met = True if inside else (False if estimate.high < low or estimate.low > high else None)
            return cls(name, estimate.value, estimate.low, estimate.high, trials, told, met)
        return cls(name, float(estimate), None, None, trials, told, _decided(estimate, trials, low <= estimate <= high))

    @classmethod
    def at_most(cls, name: str, value: float, bound: float, *, trials: int | None = None) -> Quantity:
        """A number that must not exceed a bound; undecided where there is no such number.

        Parameters
        ----------
        name : str
            What it is, in a few words.
        value, bound : float
        trials : int, optional
            Independent draws that it is made of; where there is none, or the value is not finite, nothing is decided.

        Returns
        -------
        Quantity
        """
        met = _decided(value, trials, value <= bound)
        return cls(name, float(value), None, None, trials, f"≤ {number(bound)}", met)

    @classmethod
    def at_least(cls, name: str, value: float, bound: float, *, trials: int | None = None) -> Quantity:
        """A number that must not fall below a bound; undecided where there is no such number.

        Parameters
        ----------
        name, value, bound, trials
            As for :meth:`at_most`.

        Returns
        -------
        Quantity
        """
        met = _decided(value, trials, value >= bound)
        return cls(name, float(value), None, None, trials, f"≥ {number(bound)}", met)

    @classmethod
    def share(cls, name: str, share: Proportion, *, least: float | None = None, most: float | None = None) -> Quantity:
        """A probability that has to be at least `least` or at most `most`; undecided if its interval has the bound.

        Parameters
        ----------
        name : str
            What it is, in a few words.
        share : Proportion
            Where it has no usable cell, nothing is decided.
        least, most : float, optional
            The bound, one of the two; where both are given `least` counts, and where none is the share only informs.

        Returns
        -------
        Quantity
        """
        value, low, high = share.estimate
        if not share.trials:
            return cls(name, 0.0, low, high, 0, "at least one usable cell", None)
        told, met = "", None
        if least is not None:
            told, met = f"≥ {number(least)}", True if low >= least else (False if high < least else None)
        elif most is not None:
            told, met = f"≤ {number(most)}", True if high <= most else (False if low > most else None)
        return cls(name, value, low, high, share.trials, told, met)

    def as_dict(self) -> dict[str, Any]:
        """All fields as JSON-able values; None where a number is not finite."""
        numbers = {name: getattr(self, name) for name in ("value", "low", "high")}
        finite = {name: x if x is not None and math.isfinite(x) else None for name, x in numbers.items()}
        return {"name": self.name, **finite, "trials": self.trials, "target": self.target, "met": self.met}

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return number(self.value)
        return str(Estimate(self.value, self.low, self.high))


def _decided(value: float, trials: int | None, met: bool) -> bool | None:
    """Whether a target is met; None where no trial is left, whose number would be none, or infinite."""
    return bool(met) if math.isfinite(value) and trials != 0 else None


@dataclass(frozen=True)
class Finding:
    """What a judge says.

    Attributes
    ----------
    verdict : Verdict
    sentence : str
        The verdict in words.
    quantities : tuple of Quantity
        What it rests on; the first is the key number.
    """

    verdict: Verdict
    sentence: str
    quantities: tuple[Quantity, ...] = ()

    @classmethod
    def of(cls, quantities: Sequence[Quantity], sentence: str, *, otherwise: str | None = None) -> Finding:
        """Supported if all targets are met, not supported if one is missed, else inconclusive.

        Where a premise is not met it is inconclusive, whatever the other numbers are.

        Parameters
        ----------
        quantities : sequence of Quantity
            The key number first.
        sentence : str
            The verdict in words.
        otherwise : str, optional
            The same where it is not supported, or inconclusive; by default `sentence`, which then fits all three.

        Raises
        ------
        ArgumentError
            If no quantity has a target, premises aside: such a judge could not fail.
        """
        targets = [quantity.met for quantity in quantities if quantity.target and not quantity.premise]
        if not targets:
            raise ArgumentError("a finding needs at least one quantity with a target, or it could not fail.")
        verdict = Verdict.SUPPORTED
        if not all(targets):
            verdict = Verdict.NOT_SUPPORTED if False in targets else Verdict.INCONCLUSIVE
        if not all(quantity.met for quantity in quantities if quantity.premise):
            verdict = Verdict.INCONCLUSIVE
        told = sentence if otherwise is None or verdict is Verdict.SUPPORTED else otherwise
        return cls(verdict, told, tuple(quantities))

    def as_dict(self) -> dict[str, Any]:
        """All fields as JSON-able values."""
        return {
            "verdict": str(self.verdict),
            "sentence": self.sentence,
            "quantities": [quantity.as_dict() for quantity in self.quantities],
        }


def _same(rows: Rows) -> Rows:
    return rows


def _none(quick: bool) -> Sequence[Study]:
    return ()


def _no_figures(rows: Rows) -> dict[str, Figure]:
    return {}


@dataclass(frozen=True)
class Control:
    """Rows for which the judge of the claim has to say no.

    Attributes
    ----------
    sentence : str
        What is done, and why it must fail.
    studies : callable
        Studies of its own, quick or full; none where it judges rows of the claim.
    rows : callable
        Rows of all studies, the claim's and its own → the rows that are judged.
    """

    sentence: str
    studies: Studies = _none
    rows: Callable[[Rows], Rows] = _same


@dataclass(frozen=True)
class Claim:
    """A claim.

    Attributes
    ----------
    id : str
        The name of its module.
    title : str
    statement : str
        One sentence.
    source : str
        "paper, Lemma 5" say, or "ours".
    chapter : str
        One of `CHAPTERS`.
    place : int
        Order within its chapter.
    studies : callable
        Quick or full → the studies that test it; their names are the id, or begin with the id and a dash.
    judge : callable
        Rows of the studies → Finding.
    control : Control
    figures : callable
        Rows of the studies → figures by name.
    method : str
        What is measured and how it is judged, for the report.
    captions : dict of str to str
        What is to be seen in each figure, one sentence, by its name.
    """

    id: str
    title: str
    statement: str
    source: str
    chapter: str
    place: int
    studies: Studies
    judge: Judge
    control: Control
    figures: Callable[[Rows], dict[str, Figure]] = field(default=_no_figures)
    method: str = ""
    captions: Mapping[str, str] = field(default_factory=dict)

    @property
    def order(self) -> tuple[int, int, str]:
        """Its place in the report."""
        return CHAPTERS.index(self.chapter), self.place, self.id

    def all_studies(self, quick: bool) -> list[Study]:
        """Its studies and those of its control.

        Parameters
        ----------
        quick : bool
            Whether to take the smaller ones.

        Returns
        -------
        list of Study
        """
        return [*self.studies(quick), *self.control.studies(quick)]


def study(name: str, *, repeats: int, measure: Sequence[str], **tables: Any) -> Study:
    """A study of a claim, with a seed of its own that follows from its name.

    Parameters
    ----------
    name : str
        The id of the claim, or that, a dash and a word.
    repeats : int
    measure : sequence of str
        Columns; see :data:`relubias.studies.MEASURES`.
    **tables
        problem, network, start, dynamics, reference, grid, linked, limits, as in a TOML file.

    Raises
    ------
    ArgumentError
        As :meth:`relubias.studies.Study.from_dict` does.
    """
    from zlib import crc32

    head = {"name": name, "seed": crc32(name.encode()), "repeats": repeats, "measure": {"columns": list(measure)}}
    return Study.from_dict(head | tables)


#: What, once less than 1, remains so: it is read off all changes of pattern so far, and none of them is undone.
FINAL = frozenset({"run.positive_kept", "run.negative_off", "run.partition_kept"})


def whole(rows: DataFrame, column: str, *, ended: Collection[str] = LIMITS) -> Proportion:
    """The share of cells in which a column is 1 or true at a proven limit: the whole run is as claimed.

    What is said to last needs a certificate. A cell without one may or may not be as claimed, but for what is lost
    for ever already: it does not count as such, and the interval reaches from where all of these cells are not to
    where all of them are. So they can decide nothing, for a claim or against it. Of stepped training there is no
    certificate; a claim about it names the statuses that have to do, and says so.

    Parameters
    ----------
    rows : pandas.DataFrame
        With the column "run.status".
    column : str
        A share or a truth value; cells without one are left out, and counted in the tally.
    ended : collection of str
        Statuses with which a cell may count.
    """

    def kept(part: DataFrame) -> Series[bool]:
        return part[column].astype("float64") == 1.0

    def known(part: DataFrame) -> Series[bool]:
        return part["run.status"].isin(ended) | (~kept(part) if column in FINAL else False)

    return partly_known(rows, kept, known, needs=[column, "run.status"])


def partly_known(
    rows: DataFrame,
    condition: Callable[[DataFrame], Series[bool]],
    known: Callable[[DataFrame], Series[bool]],
    *,
    needs: Sequence[str],
) -> Proportion:
    """The share of cells that are known to meet a condition, with an interval for both fates of the others.

    Parameters
    ----------
    rows : pandas.DataFrame
    condition, known : callable
        Rows → whether a cell meets it, as far as it was followed; and whether that is its last word.
    needs : sequence of str
        Columns they read.
    """
    least = proportion(rows, lambda part: condition(part) & known(part), needs=needs)
    most = proportion(rows, lambda part: condition(part) | ~known(part), needs=needs)
    return replace(least, estimate=least.estimate._replace(high=most.estimate.high))

"""What a measurement leaves behind: a row of the table, or a remark why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.sample import Sample


class NotMeasured(Exception):
    """There is no row; the message says why.

    Attributes
    ----------
    has_goal : bool
        Whether a goal stays without an answer.
    """

    has_goal = True


class Skipped(NotMeasured):
    """A row cannot be measured here: a package or the data are missing."""


class WrongAnswer(NotMeasured):
    """Ours and the rival's answers differ by more than they may; the message says by how much."""


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    name : str
    seconds : Sample
        Our time.
    rival : str or None
        Whom we race; None for a ceiling.
    rival_seconds, ratio : Sample or None
        The rival's time, and ours/rival repeat by repeat.
    at_most : float or None
        The goal: an upper bound of the ratio, or of our seconds where `is_ceiling`. None where there is no goal.
    is_ceiling : bool
        True where the goal is about our seconds alone.
    peak_bytes : int or None
        Most memory that our function held at once beyond what was there before, where it was measured.
    peak_at_most : float or None
        The goal about that memory, in bytes.
    deviation : float or None
        How far the two answers were apart, where they were compared.
    residuals : tuple of float or None
        The KKT residuals of our answer and of the rival's, where the answer has such; NaN for one that is not known.
    extrapolated : str or None
        What the rival's time is extrapolated from ("3000 steps"); None where the whole of its work was timed.
    """

    name: str
    seconds: Sample
    rival: str | None = None
    rival_seconds: Sample | None = None
    ratio: Sample | None = None
    at_most: float | None = None
    is_ceiling: bool = False
    peak_bytes: int | None = None
    peak_at_most: float | None = None
    deviation: float | None = None
    residuals: tuple[float, float] | None = None
    extrapolated: str | None = None

    @property
    def met(self) -> bool | None:
        """Whether every goal is met; None where there is none.

        A ratio is judged by its median. A ceiling is judged by the slowest call, since that is what a person waits for.
        """
        verdicts = []
        if self.at_most is not None and (judged := self._judged()) is not None:
            verdicts.append((judged.largest if self.is_ceiling else judged.median) <= self.at_most)
        if self.peak_at_most is not None and self.peak_bytes is not None:
            verdicts.append(self.peak_bytes <= self.peak_at_most)
        return all(verdicts) if verdicts else None

    @property
    def close(self) -> bool:
        """Whether the goal is within the spread: between the quartiles or, of a ceiling, up to the slowest call."""
        judged = self._judged()
        if self.at_most is None or judged is None:
            return False
        return judged.low <= self.at_most < (judged.largest if self.is_ceiling else judged.high)

    def _judged(self) -> Sample | None:
        return self.seconds if self.is_ceiling else self.ratio


@dataclass(frozen=True)
class Remark:
    """Why there is no line in the table: the rival is not installed, or it was refused.

    Attributes
    ----------
    text : str
    is_failure : bool
        Whether something is wrong, not only missing.
    has_goal : bool
        Whether a goal stays without an answer.
    """

    text: str
    is_failure: bool
    has_goal: bool = True

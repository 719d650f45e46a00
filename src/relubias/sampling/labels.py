"""Labels of drawn problems: signs that know nothing of the features, or a teacher that looks at them.

**Signs.** Exactly round((1 − zeros)·n·fraction) labels are positive, at random places, and round(zeros·n) are 0
(halves are rounded up); magnitudes are uniform in [low, high].

**Teachers.** y = f(x) + noise·N(0, 1) with f(x) = Σ_k s_k φ(w_kᵀx), φ linear or the ReLU. The weights are further rows
t_k of the same draw, brought to unit size: with s² = E (t_kᵀx)² over the draw, ‖λ‖₂² for independent rows,

    w_k = amplitude · t_k/s        has        E (w_kᵀx)² = amplitude².

(Of equicorrelated rows it is not a variance: w_kᵀx is then nearly the same for all x.)

A teacher so needs inner products only, in however many dimensions. Labels of test points come without noise: the
test error is the distance from f itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.linalg.validation import as_labels
from relubias.sampling.records import (
    any_real,
    as_plain,
    built,
    items,
    rebuilt,
    settle,
    share,
    size,
    size_or_zero,
    unknown,
)
from relubias.sampling.spelling import number, pairs


@runtime_checkable
class LabelLaw(Protocol):
    """How labels are made from the pre-activations of teachers."""

    kind: ClassVar[str]

    @property
    def n_teachers(self) -> int:
        """How many further rows of the draw the labels need."""
        ...

    def draw(
        self, products: Array, product_scale: float, n_samples: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Draw labels.

        Parameters
        ----------
        products : ndarray, shape (n_teachers, n_samples + n_test)
            t_kᵀx of the further rows with all others, the samples first.
        product_scale : float
            Their root mean square over the distribution.
        n_samples : int
        rng : numpy.random.Generator

        Returns
        -------
        labels : ndarray, shape (n_samples,)
        test_labels : ndarray, shape (n_test,)
        """
        ...

    def as_dict(self) -> dict[str, Any]:
        """The law as plain values, from which ``labels_from_dict`` rebuilds it."""
        ...


@dataclass(frozen=True)
class Signs:
    """Labels of random signs and sizes, independent of the features.

    Attributes
    ----------
    low, high : float
        Magnitudes are uniform in [low, high], 0 < low ≤ high.
    fraction : float
        Share of positive labels among those that are not 0.
    zeros : float
        Share of labels that are exactly 0.

    Raises
    ------
    ArgumentError
        If a share is not in [0, 1] or the magnitudes are out of order.
    """

    kind: ClassVar[str] = "signs"
    n_teachers: ClassVar[int] = 0

    low: float = 1.0
    high: float = 1.0
    fraction: float = 0.5
    zeros: float = 0.0

    def __post_init__(self) -> None:
        settle(self, fraction=share(self.fraction, "fraction"), zeros=share(self.zeros, "zeros"))
        settle(self, low=any_real(self.low, "low"), high=any_real(self.high, "high"))
        if not 0.0 < self.low <= self.high:
            raise ArgumentError(f"magnitudes need 0 < low ≤ high; they are {self.low!r} and {self.high!r}.")
        settle(self, low=size(self.low, "low"), high=size(self.high, "high"))

    def draw(
        self, products: Array, product_scale: float, n_samples: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Draw labels of samples and of test points alike, with exact counts in each.

        Parameters
        ----------
        products, product_scale, n_samples, rng
            As for :meth:`LabelLaw.draw`, which also says what is returned; the features have no influence.
        """
        return self._labels(n_samples, rng), self._labels(products.shape[1] - n_samples, rng)

    def _labels(self, count: int, rng: np.random.Generator) -> Array:
        zero = _rounded(self.zeros * count)
        positive = _rounded(self.fraction * (count - zero))
        signs = np.repeat([0.0, 1.0, -1.0], [zero, positive, count - zero - positive])
        return rng.permutation(signs) * rng.uniform(self.low, self.high, count)

    def as_dict(self) -> dict[str, Any]:
        """The law as plain values."""
        return as_plain(self)


@dataclass(frozen=True)
class Teacher:
    """Labels y = Σ_k s_k φ(w_kᵀx) + noise of a network whose weights are drawn like the samples.

    Attributes
    ----------
    signs : tuple of int
        s_k, one a neuron.
    activation : {"relu", "linear"}
        φ.
    noise : float
        Standard deviation of what is added to the labels of samples; test labels have none.
    amplitude : float
        Root mean square of w_kᵀx over the distribution.

    Raises
    ------
    ArgumentError
        If a sign is neither +1 nor −1, there is no such activation, or a number is out of range.
    """

    kind: ClassVar[str] = "teacher"

    signs: tuple[int, ...] = (1,)
    activation: str = "relu"
    noise: float = 0.0
    amplitude: float = 1.0

    def __post_init__(self) -> None:
        signs = items(self.signs) or ()
        if not signs or any(isinstance(sign, bool) or sign not in (1, -1) for sign in signs):
            raise ArgumentError(f"signs of a teacher must be +1 or -1, one a neuron; they are {self.signs!r:.80}.")
        if not isinstance(self.activation, str) or self.activation not in _ACTIVATIONS:
            raise unknown("activation", self.activation, list(_ACTIVATIONS))
        settle(
            self,
            signs=tuple(int(sign) for sign in signs),
            noise=size_or_zero(self.noise, "noise"),
            amplitude=size(self.amplitude, "amplitude"),
        )
        if self.noise < 0.0:
            raise ArgumentError(f"noise is a standard deviation and cannot be negative; it is {self.noise!r}.")

    @property
    def n_teachers(self) -> int:
        """Number of neurons of the teacher."""
        return len(self.signs)

    def draw(
        self, products: Array, product_scale: float, n_samples: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Draw noisy labels of samples and those of test points without noise.

        Parameters
        ----------
        products, product_scale, n_samples, rng
            As for :meth:`LabelLaw.draw`, which also says what is returned.

        Raises
        ------
        ArgumentError
            If the features have no variance.
        """
        if not math.isfinite(product_scale):
            raise ArgumentError(
                "a teacher needs features of finite variance, to which its weights are scaled; use signs."
            )
        primal = (self.amplitude / product_scale) * products
        outputs = np.array(self.signs, dtype=np.float64) @ _ACTIVATIONS[self.activation](primal)
        noise = self.noise * rng.standard_normal(n_samples)
        return outputs[:n_samples] + noise, outputs[n_samples:]

    def as_dict(self) -> dict[str, Any]:
        """The law as plain values."""
        return as_plain(self)


@dataclass(frozen=True)
class Given:
    """Labels that are there already, one a sample; such a problem has no test points."""

    kind: ClassVar[str] = "given"
    n_teachers: ClassVar[int] = 0

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        settle(self, values=tuple(as_labels(self.values).tolist()))

    def draw(
        self, products: Array, product_scale: float, n_samples: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Return the labels, and none for test points.

        Parameters
        ----------
        products, product_scale, n_samples, rng
            As for :meth:`LabelLaw.draw`; nothing is drawn.

        Raises
        ------
        ArgumentError
            If their number is not that of the samples, or there are test points.
        """
        if len(self.values) != n_samples:
            raise ArgumentError(f"{len(self.values)} labels are given for {n_samples} samples.")
        if products.shape[1] > n_samples:
            raise ArgumentError(
                "test points need labels by a law, such as a teacher; these labels are given one by one."
            )
        return np.array(self.values), np.empty(0)

    def as_dict(self) -> dict[str, Any]:
        """The law as plain values."""
        return as_plain(self)


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda primal: np.maximum(primal, 0.0),
    "linear": lambda primal: primal,
}

LABEL_LAWS: dict[str, Any] = {law.kind: law for law in (Signs, Teacher, Given)}

_SIGNS = {"+": 1, "+1": 1, "-": -1, "-1": -1, "−": -1}


def as_label_law(labels: LabelLaw | str | ArrayLike | None) -> LabelLaw:
    """Return a law from a law, its text, an array, or None for ±1, half each.

    Raises
    ------
    ArgumentError, DataError
        If it is none of these.
    """
    if labels is None:
        return Signs()
    if isinstance(labels, str):
        return parse_labels(labels)
    if isinstance(labels, LabelLaw):
        return labels
    values: Any = labels
    return Given(tuple(as_labels(values).tolist()))


def labels_from_dict(values: Any, where: str = "labels") -> LabelLaw:
    """Rebuild a law from its plain values.

    Raises
    ------
    ArgumentError, DataError
        With the key, where something is unknown, missing or out of range.
    """
    law: LabelLaw = rebuilt(LABEL_LAWS, values, where)
    return law


def checked_labels(labels: Any) -> LabelLaw:
    """Return the law of the labels, or raise ArgumentError if it is none."""
    if isinstance(labels, LabelLaw) and not isinstance(labels, type):
        return labels
    raise ArgumentError(f"labels must be a law such as Signs() or Teacher(); they are {labels!r:.80}.")


def parse_labels(text: str) -> LabelLaw:
    """Read a law from one line: ``signs 0.5..2 fraction=0.3``, ``teacher relu noise=0.1``, ``teacher +,-``.

    Raises
    ------
    ArgumentError
        With the nearest known word, where one is unknown.
    """
    words = text.split()
    if not words:
        raise ArgumentError(f"labels are one of: {', '.join(_READERS)}; nothing is said.")
    if words[0] not in _READERS:
        raise unknown("labels: the law", words[0], list(_READERS))
    return _READERS[words[0]](words[1:])


def _parse_signs(words: list[str]) -> LabelLaw:
    fields: dict[str, Any] = {}
    if words and "=" not in words[0]:
        low, dots, high = words[0].partition("..")
        fields = {"low": _number_in(low, words[0]), "high": _number_in(high if dots else low, words[0])}
        words = words[1:]
    known = ["low", "high", "fraction", "zeros"]
    fields |= {key: number(value) for key, value in pairs(words, known, {}, "signs").items()}
    return built(Signs, fields, "signs")


def _parse_teacher(words: list[str]) -> LabelLaw:
    fields: dict[str, Any] = {}
    while words and "=" not in words[0]:
        signs = tuple(_SIGNS.get(sign, 0) for sign in {"single": "+", "pair": "+,-"}.get(words[0], words[0]).split(","))
        is_activation = words[0] in _ACTIVATIONS
        if not (is_activation or all(signs)):
            raise unknown("teacher: the word", words[0], [*_ACTIVATIONS, "single", "pair", "+,-", "noise", "amplitude"])
        key, what = ("activation", "activation") if is_activation else ("signs", "list of signs")
        if key in fields:
            raise ArgumentError(f"teacher: {words[0]!r} is a second {what}; give one.")
        fields[key] = words[0] if is_activation else signs
        words = words[1:]
    known = ["noise", "amplitude"]
    fields |= {key: number(value) for key, value in pairs(words, known, {}, "teacher").items()}
    return built(Teacher, fields, "teacher")


def _number_in(word: str, whole: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise ArgumentError(f"signs: {whole!r} is neither a magnitude nor a range such as 0.5..2.") from None


_READERS: dict[str, Callable[[list[str]], LabelLaw]] = {"signs": _parse_signs, "teacher": _parse_teacher}


def _rounded(value: float) -> int:
    """The nearest whole number, halves upwards."""
    return math.floor(value + 0.5)

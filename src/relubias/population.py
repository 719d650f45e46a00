"""What is known of the distribution that samples were drawn from.

For features with covariance spectrum λ the theorems are about

    ‖λ‖₁ = tr Σ,      d₂ = ‖λ‖₁²/‖λ‖₂²,      d_∞ = ‖λ‖₁/‖λ‖_∞,        √d₂ ≤ d_∞ ≤ d₂ ≤ d.

From n samples ‖λ‖₁ and d₂ can only be estimated, and d_∞ not even that; of drawn samples all three are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Population:
    """Size and effective dimensions of a feature distribution.

    Attributes
    ----------
    trace : float
        ‖λ‖₁, the mean squared length of a sample; infinite where features have no variance.
    d2 : float
        d₂ = ‖λ‖₁²/‖λ‖₂².
    dinf : float
        d_∞ = ‖λ‖₁/‖λ‖_∞.
    """

    trace: float
    d2: float
    dinf: float

    def as_dict(self) -> dict[str, float]:
        """The three numbers by name."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, float]) -> Population:
        """Rebuild a population from :meth:`as_dict`."""
        return cls(float(values["trace"]), float(values["d2"]), float(values["dinf"]))

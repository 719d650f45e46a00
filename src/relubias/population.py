"""What is known of the distribution that samples were drawn from.

For features with covariance spectrum λ the theorems are about

    ‖λ‖₁ = tr Σ,      d₂ = ‖λ‖₁²/‖λ‖₂²,      d_∞ = ‖λ‖₁/‖λ‖_∞,        √d₂ ≤ d_∞ ≤ d₂ ≤ d,

and they assume that samples are independent and their components sub-Gaussian. From n samples ‖λ‖₁ and d₂ can only
be estimated, and d_∞ not even that; of drawn samples all is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from relubias.arguments import is_number
from relubias.errors import DataError

#: The chain of dimensions holds up to this much rounding.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Population:
    """Size and effective dimensions of a feature distribution, and whether it is one that the theorems are about.

    Attributes
    ----------
    trace : float
        ‖λ‖₁, the mean squared length of a sample; infinite where features have no variance.
    d2 : float
        d₂ = ‖λ‖₁²/‖λ‖₂².
    dinf : float
        d_∞ = ‖λ‖₁/‖λ‖_∞.
    sub_gaussian : bool or None
        Whether the standardised components have tails like those of a Gaussian; None where nobody said.
    independent : bool or None
        Whether samples are independent of each other; None where nobody said.

    Raises
    ------
    DataError
        If the numbers are not those of any spectrum, or an assumption is neither true, false nor None.
    """

    trace: float
    d2: float
    dinf: float
    sub_gaussian: bool | None = None
    independent: bool | None = None

    def __post_init__(self) -> None:
        for name in ("trace", "d2", "dinf"):
            value = getattr(self, name)
            if not (is_number(value) and value > 0 and (math.isfinite(value) or name == "trace")):
                raise DataError(f"{name} of a population must be a positive number; it is {value!r:.80}.")
            object.__setattr__(self, name, float(value))
        for name in ("sub_gaussian", "independent"):
            if not (getattr(self, name) is None or isinstance(getattr(self, name), bool)):
                raise DataError(f"{name} of a population must be true, false or null; it is {getattr(self, name)!r}.")
        most = 1.0 + _ROUNDING
        if not (self.d2 * most >= 1.0 and math.sqrt(self.d2) <= self.dinf * most and self.dinf <= self.d2 * most):
            raise DataError(
                f"no spectrum has d₂ = {self.d2:.6g} and d_∞ = {self.dinf:.6g}: 1 ≤ √d₂ ≤ d_∞ ≤ d₂ for every one."
            )

    def as_dict(self) -> dict[str, Any]:
        """The numbers and the assumptions by name."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Population:
        """Rebuild a population from :meth:`as_dict`; what older files do not say of the assumptions is not known.

        Raises
        ------
        DataError
            If `values` are none.
        """
        try:
            return cls(**values)
        except TypeError as error:
            raise DataError(f"a population has trace, d2 and dinf; these values are {values!r:.80}.") from error

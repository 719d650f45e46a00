"""How the lengths of neurons add up to the size of a network, and what prices say about it. (Ours.)

Let S_± be the sum of the lengths |a_k|‖w_k‖ of the neurons of sign ±. Two sizes of a network matter here:

    variation norm      G(S) = S₊ + S₋,                     G*(M) = max(M₊, M₋),
    shared load         G(S) = √(S₊²/p + S₋²/q),            G*(M) = √(p M₊² + q M₋²).

The second one belongs to p neurons of sign + and q of sign −, with fixed output weights ±1: by Cauchy and Schwarz

    Σ_{k=1}^p ‖w_k‖² ≥ (Σ_k ‖w_k‖)²/p = S₊²/p,         so that   ‖W‖² ≥ G(S)²,

with equality for equal norms. G* is the dual norm, M·S ≤ G*(M) G(S), so that prices z with the loads M_±(z)
(:mod:`relubias.references.load`) bound the size of every network that fits the labels:

    G(S) ≥ zᵀy/G*(M₊(z), M₋(z)).

A sign without neurons has S = 0: its weight in G* is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Gauge:
    """The size of a network by the lengths of its neurons.

    Attributes
    ----------
    shares : tuple of two ints, or None
        p and q of the shared load; None for the variation norm.
    """

    shares: tuple[int, int] | None = None

    def size(self, positive: float, negative: float) -> float:
        """G(S₊, S₋)."""
        if self.shares is None:
            return positive + negative
        pairs = zip((positive, negative), self.shares, strict=True)
        return math.sqrt(sum(length**2 / share for length, share in pairs if length > 0))

    def dual(self, positive: float, negative: float) -> float:
        """G*(M₊, M₋)."""
        if self.shares is None:
            return max(positive, negative)
        return math.sqrt(self.shares[0] * positive**2 + self.shares[1] * negative**2)

    def slopes(self, positive: float, negative: float) -> tuple[float, float]:
        """∂G/∂S₊ and ∂G/∂S₋, up to a common factor."""
        if self.shares is None:
            return 1.0, 1.0
        # A sign that is hardly in use gets a thousandth of all lengths, so that it can come into use.
        least = 1e-3 * (positive + negative)
        return max(positive, least) / max(self.shares[0], 1), max(negative, least) / max(self.shares[1], 1)

    @property
    def signs(self) -> tuple[int, ...]:
        """The signs that have neurons."""
        if self.shares is None:
            return (1, -1)
        return tuple(sign for sign, share in zip((1, -1), self.shares, strict=True) if share)


VARIATION = Gauge()

"""Twins: samples that coincide must never be told apart by rounding.

Equal samples have equal pre-activations for ever. In floating point their rows of K differ in the last digit, so that
near the kink one may be active and the other not, which no weights do; where their labels disagree, the one that is
left then moves the neuron by a whole label. So all of them get the row, the column and the pre-activation of the first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.factor import EPS, GramOperator
from relubias.linalg.factored import FactorOperator
from relubias.problem import Problem

#: Rows of K that differ by no more than this, in units of ε √(K_ii K_jj), are equal but for rounding.
SAME = 64.0


def leaders(problem: Problem) -> NDArray[np.intp] | None:
    """For each sample the first one that it coincides with, itself if there is none; None if there are no twins."""
    roots = np.sqrt(problem.operator.diagonal)
    first = np.arange(problem.n_samples)
    for group in problem.duplicates:
        leader = group[0]
        for i in group[1:]:
            apart = np.abs(problem.gram[i] - problem.gram[leader])
            if np.all(apart <= SAME * EPS * roots[i] * roots):
                first[i] = leader
    return first if np.any(first != np.arange(len(first))) else None


def without_differences(operator: GramOperator, first: NDArray[np.intp]) -> GramOperator:
    """The same operator with equal rows for twins."""
    gram = np.ascontiguousarray(operator.gram[np.ix_(first, first)])
    if operator.factor is None:
        return GramOperator(gram)
    return FactorOperator(gram, np.ascontiguousarray(operator.factor[first]))

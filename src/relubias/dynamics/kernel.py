"""The compiled loop of plain steps; imported only where a run needs it, because it brings numba with it.

    r_i = Σ_k s_k σ(β_{k,i}) − y_i
    α_{k,i} ← α_{k,i} − η s_k σ′(β_{k,i}) r_i
    β_k     ← β_k − Σ_i η s_k σ′(β_{k,i}) r_i K[:, i]

with σ(z) = z for z > 0 and a z for z ≤ 0; for the ReLU, a = 0, only the active samples move anything.

The same functions run uncompiled, slowly, where numba is not to be had.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.gram import Array

_Function = TypeVar("_Function", bound=Callable[..., Any])

try:
    from numba import njit

    def compiled(function: _Function) -> _Function:
        """Compile at the first call and keep the machine code on disk."""
        return njit(cache=True, nogil=True)(function)  # type: ignore[return-value]
except ImportError:

    def compiled(function: _Function) -> _Function:
        """Leave the function as it is."""
        return function


# Why the loop came back: all steps done, quiet for long enough, nothing active, event buffer full, overflow,
# an earlier state has returned.
STEPS, QUIET, FROZEN, EVENTS, DIVERGED, RETURNED = 0, 1, 2, 3, 4, 5

#: What a step costs beyond its products with columns of K, in flops: for each entry of β, and in all.
ENTRY_FLOPS, STEP_FLOPS = 10.0, 100.0


def full_step_flops(n_samples: int, n_neurons: int, rank: int) -> float:
    """Cost of a plain step with every sample active, in flops: the unit in which budgets are counted.

    `rank` is the width of the factor that products pass through; 0 where they use K itself.
    """
    return n_neurons * n_samples * ((4.0 * rank or 2.0 * n_samples) + ENTRY_FLOPS) + STEP_FLOPS


@compiled
def subtract_columns(gram: Array, columns: NDArray[np.int64], moves: Array, n_columns: int, target: Array) -> None:
    """Do target −= Σ_c moves[c] · gram[columns[c], :], four columns at a time; the order of sums is fixed."""
    n = target.shape[0]
    c = 0
    while c + 4 <= n_columns:
        first, second = gram[columns[c]], gram[columns[c + 1]]
        third, fourth = gram[columns[c + 2]], gram[columns[c + 3]]
        p, q, u, v = moves[c], moves[c + 1], moves[c + 2], moves[c + 3]
        for i in range(n):
            target[i] -= (p * first[i] + q * second[i]) + (u * third[i] + v * fourth[i])
        c += 4
    while c < n_columns:
        row, p = gram[columns[c]], moves[c]
        for i in range(n):
            target[i] -= p * row[i]
        c += 1


@compiled
def returned(primal: Array, anchor: Array, near: Array) -> bool:
    """True where each entry is within near_i of the anchor's; leaves at the first that is not. near = 0 means equal."""
    for k in range(primal.shape[0]):
        for i in range(primal.shape[1]):
            if not abs(primal[k, i] - anchor[k, i]) <= near[i]:
                return False
    return True


@compiled
def misfit(primal: Array, signs: Array, labels: Array, below: float, sample: int) -> float:
    """The residual r_i of one sample; `below` is a."""
    value = -labels[sample]
    for k in range(primal.shape[0]):
        if primal[k, sample] > 0.0:
            value += signs[k] * primal[k, sample]
        elif below != 0.0:
            value += signs[k] * below * primal[k, sample]
    return float(value)


@compiled
def misfits(primal: Array, signs: Array, labels: Array, below: float, residual: Array) -> None:
    """The residual r of all samples, in place; the same sums as those of :func:`misfit`."""
    n = labels.shape[0]
    for i in range(n):
        residual[i] = -labels[i]
    for k in range(primal.shape[0]):
        sign = signs[k]
        for i in range(n):
            value = primal[k, i]
            residual[i] += sign * value if value > 0.0 else sign * below * value


@compiled
def n_remarkable(primal: Array, logged: NDArray[np.int8], divergence: float) -> int:
    """How many pre-activations are on another side of zero than was logged, or too large.

    There are none in nearly every step, and this pass has no branches.
    """
    count = 0
    for k in range(primal.shape[0]):
        for i in range(primal.shape[1]):
            value = primal[k, i]
            if ((value > 0.0) != (logged[k, i] > 0)) | (not abs(value) < divergence):
                count += 1
    return count


@compiled
def advance(
    gram: Array,
    factor: Array,
    transposed: Array,
    labels: Array,
    signs: Array,
    below: float,
    step_size: float,
    primal: Array,
    dual: Array,
    logged: NDArray[np.int8],
    last_change: NDArray[np.int64],
    zero: Array,
    divergence: float,
    events: NDArray[np.int64],
    anchor: Array,
    anchor_time: int,
    near: Array,
    time: int,
    max_steps: int,
    quiet: float,
    limits: Array,
    limit: float,
) -> tuple[int, int, int, int, float, float, int]:
    """Take up to `max_steps` steps in place.

    Products with K pass through its factor L where that has columns; `transposed` is Lᵀ. `below` is a, the slope of σ
    for z ≤ 0; where it is 1 there is no kink, and no change of pattern either.
    Returns steps taken, reason, number of events, number of steps with a change, quiet flops, flops,
    time of the anchor.
    `limit` is the quiet limit to begin with; `limits` holds the first and the second one; a change brings back
    the first. `anchor` is an earlier state, renewed at doubling times (Brent's cycle detection), and `near` how near a
    state must come to count as its return, where the pattern has changed in between.
    """
    n_neurons, n = primal.shape
    residual = np.empty(n)
    rank = factor.shape[1]
    image = np.empty(rank)
    every = np.arange(rank)
    moves = np.empty(n)
    columns = np.empty(n, dtype=np.int64)
    capacity = events.shape[0] - n_neurons * n
    done, n_events, n_changes, flops = 0, 0, 0, 0.0
    same = np.zeros(n)
    latest = last_change.max()
    while done < max_steps:
        misfits(primal, signs, labels, below, residual)
        n_active = 0
        for k in range(n_neurons):
            n_columns = 0
            for i in range(n):
                columns[n_columns] = i
                moves[n_columns] = step_size * signs[k] * residual[i] * (1.0 if primal[k, i] > 0.0 else below)
                dual[k, i] -= moves[n_columns] if primal[k, i] > 0.0 or below != 0.0 else 0.0
                n_columns += primal[k, i] > 0.0 or below != 0.0
            if rank == 0:
                subtract_columns(gram, columns, moves, n_columns, primal[k])
            else:
                # image = −Lᵀ moves, and β loses L Lᵀ moves.
                image[:] = 0.0
                subtract_columns(factor, columns, moves, n_columns, image)
                for c in range(rank):
                    image[c] = -image[c]
                subtract_columns(transposed, every, image, rank, primal[k])
            n_active += n_columns
        if n_active == 0:
            return done, FROZEN, n_events, n_changes, quiet, flops, anchor_time
        done += 1
        changed = False
        finite = True
        if n_remarkable(primal, logged, divergence) > 0:
            for k in range(n_neurons):
                for i in range(n):
                    value = primal[k, i]
                    if (
                        (value > 0.0) != (logged[k, i] > 0)
                        and below != 1.0
                        and (abs(value) > zero[i] or abs(misfit(primal, signs, labels, below, i)) > 4.0 * zero[i])
                    ):
                        logged[k, i] = -logged[k, i]
                        last_change[k, i] = time + done
                        events[n_events, 0] = time + done
                        events[n_events, 1] = k
                        events[n_events, 2] = i
                        events[n_events, 3] = logged[k, i]
                        n_events += 1
                        changed = True
                    if not abs(value) < divergence:
                        finite = False
        step_flops = 2.0 * n * n_active if rank == 0 else 2.0 * rank * (n_active + n_neurons * n)
        step_flops += ENTRY_FLOPS * n_neurons * n + STEP_FLOPS
        flops += step_flops
        quiet += step_flops
        if changed:
            n_changes += 1
            latest = time + done
            quiet = 0.0
            limit = limits[0]
        if not finite:
            return done, DIVERGED, n_events, n_changes, quiet, flops, anchor_time
        if returned(primal, anchor, near if latest > anchor_time else same):
            return done, RETURNED, n_events, n_changes, quiet, flops, anchor_time
        if time + done >= 2 * anchor_time:
            anchor[:, :] = primal
            anchor_time = time + done
        if quiet >= limit:
            return done, QUIET, n_events, n_changes, quiet, flops, anchor_time
        if n_events > capacity:
            return done, EVENTS, n_events, n_changes, quiet, flops, anchor_time
    return done, STEPS, n_events, n_changes, quiet, flops, anchor_time

"""The certified limit of one neuron, and independent answers that it has to agree with.

The loop given K answers for a step that it can reach. For the limit itself there is a closed form once it is known
which samples are active at the end: with A those and N the others, whose coefficients α_N no longer change,

    w = w_A + X_Nᵀα_N,      w_A the shortest solution of  X_A w_A = y_A − X_A X_Nᵀα_N,

and β = Xw. It is solved from the features by least squares, which shares nothing with the way ours takes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import relubias
from benchmarks.rivals import training
from relubias.linalg.gram import Array

NETWORK = relubias.Network.single()


def as_new(problem: relubias.Problem) -> relubias.Problem:
    """The same data in a problem of which nothing is known yet."""
    return replace(problem)


def limit(problem: relubias.Problem, *, step_size: float | None = None) -> relubias.Run:
    """From the all-active start, or the Gaussian one where that is impossible, to the certified limit."""
    return relubias.gradient_descent(problem, NETWORK, start_of(problem), step_size=step_size).require_limit()


def limit_of_new(problem: relubias.Problem) -> relubias.Run:
    """The same, with nothing left behind by an earlier call."""
    return limit(as_new(problem))


def start_of(problem: relubias.Problem) -> relubias.State:
    """The start that an analysis takes."""
    try:
        return relubias.starts.all_active(problem, NETWORK)
    except relubias.errors.StartError:
        return relubias.starts.gaussian(problem, NETWORK, rng=0)


def rival_after(run: relubias.Run, steps: int) -> Array:
    """β of the loop given K after so many steps from the start of a run."""
    gram = np.array(run.problem.gram)
    return training.given_gram(gram, run.problem.labels, run.start.primal[0].copy(), run.step_size, steps)


def ours_after(run: relubias.Run, steps: int) -> Array:
    """β of an exact run to this step."""
    there = relubias.gradient_descent(run.problem, NETWORK, run.start, step_size=run.step_size, until=steps)
    return np.asarray(there.state.primal[0])


def off_by(run: relubias.Run, ours: Array, theirs: Array) -> float:
    """The largest difference of two β, in units of the largest label."""
    return float(np.max(np.abs(ours - theirs))) / float(np.abs(run.problem.labels).max())


def off_stepping(run: relubias.Run, steps: int) -> float:
    """How far an exact run to this step is from the loop."""
    return off_by(run, ours_after(run, steps), rival_after(run, steps))


def off_closed_form(run: relubias.Run) -> float:
    """How far the limit is from the closed form, given which samples are active."""
    features, labels, active = np.asarray(run.problem.features), run.problem.labels, run.state.pattern[0]
    frozen = features[~active].T @ run.state.dual[0, ~active]
    moved = np.linalg.lstsq(features[active], labels[active] - features[active] @ frozen, rcond=None)[0]
    return off_by(run, run.state.primal[0], features @ (moved + frozen))

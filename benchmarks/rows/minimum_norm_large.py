"""The minimum-norm solution for 2000 samples, as in :mod:`benchmarks.rows.minimum_norm`, and in factorisations of K."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Remark, Row, entrants, race
from benchmarks.profiling import Job
from benchmarks.rivals.quadratic import IN_GRAM_FORM
from benchmarks.rows.minimum_norm import RATIOS, Program, factorise

GOAL = "faster than every rival in Gram form, KKT residuals at most 1e-12, at most 3.5 Cholesky factorisations of K"
N_SAMPLES, FACTORISATIONS, REPEATS = 2000, 3.5, 5


def measure() -> Iterator[Row | Remark]:
    """Yield the races, the one against LAPACK first."""
    for ratio in RATIOS:
        one = Program(N_SAMPLES, ratio * N_SAMPLES)
        yield from entrants(
            [partial(in_factorisations, one), *(partial(one.race, *rival, repeats=REPEATS) for rival in IN_GRAM_FORM)]
        )


def in_factorisations(one: Program) -> Row:
    """Against one Cholesky factorisation of K."""
    one.prepare(REPEATS + 1)
    factor = partial(factorise, one.gram)
    name = "one Cholesky factorisation of K"
    return race(one.name, one.ours, name, factor, at_most=FACTORISATIONS, repeats=REPEATS)


def jobs() -> Iterator[Job]:
    """Against the same."""
    one = Program(N_SAMPLES, RATIOS[0] * N_SAMPLES)
    one.prepare(30)
    yield Job(one.name, one.ours, "one Cholesky factorisation of K", partial(factorise, one.gram))

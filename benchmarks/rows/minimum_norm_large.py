"""The minimum-norm solution for 2000 samples, as in :mod:`benchmarks.rows.minimum_norm`, and in factorisations of K."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Remark, Row, entrants
from benchmarks.profiling import Job
from benchmarks.rivals.quadratic import IN_GRAM_FORM
from benchmarks.tasks.programs import IN_WORDS, Program, factorise

N_SAMPLES, RATIOS, FACTORISATIONS, REPEATS = 2000, (20, 2), 3.5, 5
GOAL = f"{IN_WORDS}; at most {FACTORISATIONS:g} Cholesky factorisations of K"


def measure() -> Iterator[Row | Remark]:
    """Yield the races, those against LAPACK first."""
    for ratio in RATIOS:
        one = Program(N_SAMPLES, ratio * N_SAMPLES)
        yield from entrants(
            [
                partial(one.race_factorisation, repeats=REPEATS),
                partial(one.race_factorisation, at_most=FACTORISATIONS, checked=True, repeats=REPEATS),
                *(partial(one.race, *rival, repeats=REPEATS) for rival in IN_GRAM_FORM),
                partial(one.race, *IN_GRAM_FORM[-1], checked=True, repeats=REPEATS),
            ]
        )


def jobs() -> Iterator[Job]:
    """Against one factorisation."""
    one = Program(N_SAMPLES, RATIOS[0] * N_SAMPLES)
    yield Job(
        f"{one.name}, K as it is",
        one.ours,
        "one Cholesky factorisation of K",
        partial(factorise, one.gram),
        "The distance is a second factorisation, which proves K definite, and the product beyond double precision.",
    )

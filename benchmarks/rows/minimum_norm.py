"""The minimum-norm solution, half the labels negative, against quadratic-programming packages at default settings.

n = 200 and 1000 here, n = 2000 in :mod:`benchmarks.rows.minimum_norm_large`; d = 20 n and 2 n. In Gram form all solve
the dual program in the n multipliers, given K and the labels. The public way in also checks K, which no package does:
that is a row of its own, without a goal. At n = 200 the program is also solved in the
weights, as it is written down. A rival's weights have to agree with ours to what its default settings reach, and ours
have to meet the optimality conditions to 1e-12, recomputed from K and the labels, before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.harness import Remark, Row, entrants
from benchmarks.profiling import Job
from benchmarks.rivals import weights
from benchmarks.rivals.quadratic import IN_GRAM_FORM, Solver
from benchmarks.tasks.programs import IN_WORDS, Program, factorise

GOAL = IN_WORDS
SIZES, RATIOS = (200, 1000), (20, 2)
#: Repeats; more of the smallest size, whose milliseconds scatter.
REPEATS, QUICK_REPEATS = 9, 41
#: Up to this ratio d/n the packages for dense programs are asked in the weights.
DENSE_UP_TO = 2
REMARK = (
    "The distance is a second factorisation, which proves K definite, the solves with the factor, and the product "
    "with K beyond double precision on which the proof rests; at n = 200 also the calls of NumPy."
)


def measure() -> Iterator[Row | Remark]:
    """Yield the races by size; those in the weights for the smallest."""
    for n_samples in SIZES:
        for ratio in RATIOS:
            smallest = n_samples == SIZES[0]
            one = Program(n_samples, ratio * n_samples, features=smallest)
            repeats = QUICK_REPEATS if smallest else REPEATS
            races: list[Callable[[], Row]] = [partial(one.race, *rival, repeats=repeats) for rival in IN_GRAM_FORM]
            races += [partial(one.race, *IN_GRAM_FORM[-1], checked=True, repeats=repeats)]
            if smallest:
                races += [partial(one.race_in_weights, *rival) for rival in in_weights(ratio)]
            yield from entrants(races)
            if smallest and ratio > DENSE_UP_TO:
                names = ", ".join(name for name, _, _ in weights.DENSE)
                text = f"{one.name}: {names} take a dense d x d matrix, and are asked in the weights at d = 2 n only."
                yield Remark(text, is_failure=False, has_goal=False)


def in_weights(ratio: int) -> tuple[tuple[str, Solver, float], ...]:
    """Who solves the program in the weights at this ratio d/n."""
    return weights.SPARSE if ratio > DENSE_UP_TO else weights.SPARSE + weights.DENSE


def jobs() -> Iterator[Job]:
    """Each size against one factorisation of K."""
    for n_samples in SIZES:
        one = Program(n_samples, RATIOS[0] * n_samples)
        yield Job(
            f"{one.name}, K as it is",
            one.ours,
            "one Cholesky factorisation of K",
            partial(factorise, one.gram),
            REMARK,
        )

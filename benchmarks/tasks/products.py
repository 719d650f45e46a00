"""Products with the active columns of K, called from compiled code: what a plain step cannot do without."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Task
from relubias.linalg.gram import Array


def products(gram: Array, active: NDArray[np.bool_], count: int) -> Task:
    """Return a task that multiplies K, of which only the active columns count, so many times with a vector."""
    rows = np.ascontiguousarray(gram[active])  # the columns of a symmetric matrix, contiguous
    return partial(_compiled(), rows, np.ones(len(rows)), count)


@cache
def _compiled() -> Callable[..., Any]:
    """The loop, compiled; NumPy's own call takes as long as a small product."""
    import numba

    def repeated(rows: Array, vector: Array, count: int) -> float:
        total = 0.0
        for k in range(count):
            vector[0] = k
            total += np.dot(vector, rows)[0]
        return total

    compiled: Callable[..., Any] = numba.njit(repeated)
    return compiled


def eigendecompositions(gram: Array, count: int) -> Task:
    """Return a task that decomposes K so many times."""

    def task() -> None:
        for _ in range(count):
            np.linalg.eigh(gram)

    return task

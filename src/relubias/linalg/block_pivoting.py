"""The quadratic program with signs only, by block principal pivoting.

    min_b ½ bᵀS b − qᵀb,   b ≥ 0,          S symmetric positive semidefinite, (n, n)

Its optimality conditions are a linear complementarity problem in b and the slack z,

    z = S b − q,     b ≥ 0,     z ≥ 0,     bᵀz = 0.

A guess of the *passive* set P (where b may be positive) gives b_P = S_PP⁻¹ q_P, b = 0 elsewhere, and the slack.
Indices with b_i < 0 or z_i < 0 are on the wrong side. All of them change sides at once; when that has not
reduced their number a few times in a row, only the largest of them does (Murty's rule, which ends for every
positive definite S) until the number falls below its record [1]_. Dependent passive rows are left out.

Where that does not end in a point that satisfies the conditions (singular S, above all), it is repeated with a
little more curvature, min ½ bᵀSb − qᵀb + ½δ‖b − b′‖², b′ the last answer: these programs are definite, and their
answers converge to a solution where there is one [2]_. Else the program is read as the least-distance problem
min ‖v‖, A v ≥ q, S = A Aᵀ, and turned into non-negative least squares [3]_: with

    λ = argmin_{λ ≥ 0} ‖Aᵀλ‖² + (1 − τ qᵀλ)²,     ρ = 1 − τ qᵀλ,

b = λ/(τρ) solves the program; where ρ = 0 there is no solution, and λ shows it: λ ≥ 0, Sλ = 0, qᵀλ > 0, so that
the objective falls for ever along λ.

No solver's status is believed: the conditions are evaluated again from S and q, in units in which S_ii ≈ 1.

References
----------
.. [1] J. J. Júdice and F. M. Pires, "A block principal pivoting algorithm for large-scale strictly monotone
       linear complementarity problems", Computers & Operations Research 21 (1994).
.. [2] R. T. Rockafellar, "Monotone operators and the proximal point algorithm", SIAM Journal on Control and
       Optimization 14 (1976).
.. [3] C. L. Lawson and R. J. Hanson, *Solving Least Squares Problems*, 1974, chapter 23.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.cholesky import EPS, Cholesky, cholesky
from relubias.linalg.gram import Array, root_units

#: Steps of projected gradient descent at most for the first guess.
DESCENTS = 10
#: Exchanges of a whole block that may fail to reduce the number of wrong indices before Murty's rule takes over.
PATIENCE = 3
#: Largest violation of the optimality conditions, relative to max|q|, that counts as solved.
TOLERANCE = 1e-10
#: With so few digits left a violation at the rounding of S b does not count as solved either.
LARGEST_ROUNDING = 1e-6
#: Below this the ρ of the least-distance problem is zero: the program is unbounded.
UNBOUNDED = 1e-10

#: Curvature δ added by the proximal steps, in units in which S_ii ≈ 1, and how many of them are tried.
PROXIMAL = 1e-6
PROXIMAL_STEPS = 20

Mask = NDArray[np.bool_]
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class NonNegativeMinimum:
    """Where ½ bᵀSb − qᵀb is least over b ≥ 0.

    Attributes
    ----------
    solution : ndarray, shape (n,)
        b, exactly non-negative. Where the program is unbounded, a direction of descent without end.
    slack : ndarray, shape (n,)
        S b − q.
    passive : ndarray of bool, shape (n,)
        Where b is positive.
    iterations : int
        Factorisations used.
    residual : float
        Largest violation of slack ≥ 0 or of b_i z_i = 0, relative, recomputed from S and q; infinite if unbounded.
    solved : bool
        Whether that is at most `TOLERANCE`, or the rounding of S b where this leaves six digits.
    bounded : bool
        False where the objective falls for ever: there is no solution.
    factor : Cholesky or None
        Of S on the passive rows, where all of them are independent and it was the last one used.
    """

    solution: Array
    slack: Array
    passive: Mask
    iterations: int
    residual: float
    solved: bool
    bounded: bool
    factor: Cholesky | None = None


def non_negative_minimum(
    matrix: Array, linear: Array, *, passive: Mask | None = None, max_iterations: int | None = None
) -> NonNegativeMinimum:
    """Minimise ½ bᵀSb − qᵀb over b ≥ 0.

    Parameters
    ----------
    matrix : ndarray, shape (n, n)
        S, symmetric positive semidefinite, finite.
    linear : ndarray, shape (n,)
        q.
    passive : ndarray of bool, shape (n,), optional
        First guess of the set where b > 0; by default the one of a few steps of projected gradient descent.
    max_iterations : int, optional
        Limit on the factorisations of one round of block pivoting; by default 2n + 50.

    Returns
    -------
    NonNegativeMinimum
    """
    size = len(linear)
    limit = 2 * size + 50 if max_iterations is None else max_iterations
    units = root_units(np.maximum(matrix.diagonal(), 0.0))  # solving is then blind to the units of each row
    scale = float(np.max(np.abs(linear / units), initial=0.0)) or 1.0
    scaled, target = matrix, linear / units / scale
    if np.any(units != 1):
        scaled = matrix * (1.0 / units)
        scaled *= (1.0 / units)[:, None]  # exact, since these are powers of two
    guess = _descended(scaled, target) if passive is None else np.array(passive, dtype=bool)
    absolute = np.abs(scaled)
    solution, iterations, factor = _pivot(scaled, absolute, target, guess, limit)
    result = _checked(scaled, absolute, target, solution, iterations)
    if not result.solved or factor is None or len(factor.kept) != np.count_nonzero(result.passive):
        factor = None
    else:
        factor = replace(factor, lower=factor.lower * units[result.passive][:, None])
    if not result.solved:
        result = _proximal(scaled, absolute, target, limit, iterations)
    if not result.solved:
        other, bounded = _by_least_distance(scaled, target)
        if other is not None:
            fallback = _checked(scaled, absolute, target, other, result.iterations, bounded=bounded)
            # A proof of unboundedness outranks an unsolved point; else the smaller residual wins.
            if not bounded or fallback.residual < result.residual:
                result = fallback
    return NonNegativeMinimum(
        solution=result.solution * scale / units if result.bounded else result.solution / units,
        slack=result.slack * scale * units if result.bounded else result.slack * units,
        passive=result.passive,
        iterations=result.iterations,
        residual=result.residual,
        solved=result.solved,
        bounded=result.bounded,
        factor=factor,
    )


def _descended(matrix: Array, target: Array) -> Mask:
    """Where b may be positive, after steps b + t((b − ∇)₊ − b) with the best t ≤ 1, until two in a row agree on it."""
    solution, slope, passive = np.zeros(len(target)), target, target > 0
    for _ in range(DESCENTS):
        direction = np.maximum(solution + slope, 0.0)
        direction -= solution
        image = matrix @ direction
        gain, curvature = float(slope @ direction), float(direction @ image)
        if gain < curvature:
            direction *= gain / curvature
            image *= gain / curvature
        solution = solution + direction
        slope = slope - image
        last, passive = passive, solution + slope > 0
        if not (last ^ passive).any():
            break
    return passive


def _pivot(
    matrix: Array, absolute: Array, target: Array, passive: Mask, limit: int
) -> tuple[Array, int, Cholesky | None]:
    """Exchange blocks until no index is on the wrong side or the limit is reached; `absolute` is |S|.

    Return the last b, the factorisations used, and the last of them if b is its solution and no row was left out.
    """
    size = len(target)
    record, patience = size + 1, PATIENCE
    solution = np.zeros(size)
    for iteration in range(1, limit + 1):
        solution, rows, factor = _passive_solution(matrix, target, passive)
        slack = matrix @ solution - target
        wrong = slack < -size * EPS * (absolute @ np.abs(solution) + np.abs(target))
        wrong[rows] = solution[rows] < -size * EPS * np.abs(solution).max(initial=0.0)
        count = int(np.count_nonzero(wrong))
        if count == 0:
            solution[rows] -= factor.solve(slack[rows])  # a step of refinement
            return np.maximum(solution, 0.0), iteration, factor if factor.complete else None
        if count < record:
            record, patience = count, PATIENCE
        elif patience > 0:
            patience -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        passive = wrong.copy()
        passive[rows] = ~wrong[rows]
    return np.maximum(solution, 0.0), limit, None


def _passive_solution(matrix: Array, target: Array, passive: Mask) -> tuple[Array, Index, Cholesky]:
    """Solve S_PP b_P = q_P; return b, the independent passive rows, and the factor."""
    rows = np.flatnonzero(passive)
    factor = cholesky(matrix.take(rows, axis=0).take(rows, axis=1))
    rows = rows[factor.kept]
    solution = np.zeros(len(target))
    solution[rows] = factor.solve(target[rows])
    return solution, rows, factor


def _proximal(matrix: Array, absolute: Array, target: Array, limit: int, iterations: int) -> NonNegativeMinimum:
    """Minimise ½ bᵀSb − qᵀb + ½δ‖b − b′‖² again and again, b′ being the last answer, until it solves the program."""
    shifted = matrix + PROXIMAL * np.eye(len(target))
    last, passive = np.zeros(len(target)), target > 0
    for _ in range(PROXIMAL_STEPS):
        last, used, _ = _pivot(shifted, np.abs(shifted), target + PROXIMAL * last, passive, limit)
        iterations += used
        passive = last > 0
        result = _checked(matrix, absolute, target, last, iterations)
        if result.solved or used == limit:  # what is not pivoted to an end has no limit to wait for
            break
    return result


def _by_least_distance(matrix: Array, target: Array) -> tuple[Array | None, bool]:
    """The program as a least-distance problem with a factor of S from its eigenvectors."""
    values, vectors = scipy.linalg.eigh(matrix, check_finite=False)
    kept = values > 4 * (len(target) + 16) * EPS * max(float(values[-1]), 0.0)
    return least_distance(vectors[:, kept] * np.sqrt(values[kept]), target)


def least_distance(factor: Array, target: Array) -> tuple[Array | None, bool]:
    """Multipliers of min ‖v‖ s.t. A v ≥ q, v = Aᵀb, b ≥ 0, by non-negative least squares.

    Parameters
    ----------
    factor : ndarray, shape (n, r)
        A.
    target : ndarray, shape (n,)
        q.

    Returns
    -------
    multipliers : ndarray, shape (n,), or None
        b; None where the solver gave up. Where no v exists: λ ≥ 0 with Aᵀλ = 0 and qᵀλ > 0, to rounding.
    bounded : bool
        False where no v exists.
    """
    if not np.any(target > 0):
        return np.zeros(len(target)), True
    longest = float(np.max(np.linalg.norm(factor, axis=1)))
    if longest == 0.0:
        return np.where(target > 0, 1.0, 0.0), False
    # The unit of v: its length for the equations A v = q, or what a single inequality demands at least. Then
    # ρ = 1/(1 + ‖v‖²) is neither 0 nor 1 to rounding, and ρ = 0 means that v would have to be 1e5 times as long.
    direct = float(np.linalg.norm(np.linalg.lstsq(factor, target)[0]))
    unit = 1.0 / max(direct, float(np.max(target)) / longest)
    design = np.vstack([factor.T, unit * target])
    right = np.zeros(len(design))
    right[-1] = 1.0
    multipliers = bounded_nnls(design, right)
    if multipliers is None:
        return None, True
    rest = 1.0 - unit * float(target @ multipliers)
    if rest > UNBOUNDED:
        return multipliers / (unit * rest), True
    reached = multipliers @ factor
    return (multipliers, False) if float(reached @ reached) <= 4 * UNBOUNDED else (None, True)


def bounded_nnls(design: Array, right: Array) -> Array | None:
    """Minimise ‖E λ − f‖ over λ ≥ 0 with :func:`scipy.optimize.nnls`; None where it gives up.

    Only its λ is used; the residual it reports is not. An empty program never reaches it: scipy 1.17.1 frees
    memory twice when E has no columns, and the interpreter dies.
    """
    if 0 in design.shape:
        return np.zeros(design.shape[1])
    from scipy.optimize import nnls  # slow to import, and rarely needed

    try:
        solution, _ = nnls(
            np.asarray(design, dtype=np.float64), np.asarray(right, dtype=np.float64), maxiter=10 * design.shape[1] + 50
        )
    except RuntimeError:
        return None
    return np.maximum(solution, 0.0) if np.all(np.isfinite(solution)) else None


def _checked(
    matrix: Array, absolute: Array, target: Array, solution: Array, iterations: int, *, bounded: bool = True
) -> NonNegativeMinimum:
    """Evaluate the optimality conditions afresh, in units with S_ii ≈ 1 and max|q| = 1."""
    passive = solution > 0
    if not bounded:
        return NonNegativeMinimum(solution, matrix @ solution, passive, iterations, float("inf"), False, False)
    slack = matrix @ solution - target
    violation = np.where(passive, np.abs(slack), np.maximum(-slack, 0.0))
    rounding = np.minimum(4 * EPS * (absolute @ solution), LARGEST_ROUNDING)
    return NonNegativeMinimum(
        solution=solution,
        slack=slack,
        passive=passive,
        iterations=iterations,
        residual=float(violation.max(initial=0.0)),
        solved=bool(np.all(violation <= np.maximum(TOLERANCE, rounding))),
        bounded=True,
    )

"""Non-negative quadratic programs, against a search through all passive sets and against linear programming."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias.linalg import block_pivoting
from relubias.linalg.block_pivoting import bounded_nnls, least_distance, non_negative_minimum


def program(size: int, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((size, rank))
    return factor @ factor.T, rng.standard_normal(size)


def brute_force(matrix: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """The one b among all passive sets of a definite S that meets b ≥ 0 and S b − q ≥ 0."""
    size = len(linear)
    for count in range(size + 1):
        for rows in combinations(range(size), count):
            index = list(rows)
            solution = np.zeros(size)
            solution[index] = np.linalg.solve(matrix[np.ix_(index, index)], linear[index])
            if np.all(solution >= 0) and np.all(matrix @ solution - linear >= -1e-12):
                return solution
    raise AssertionError("no passive set solves the program")


def conditions(matrix: np.ndarray, linear: np.ndarray, solution: np.ndarray) -> float:
    slack = matrix @ solution - linear
    return float(max(np.max(-solution), np.max(-slack), np.max(np.abs(solution * slack)), 0.0))


def test_the_helper_sees_a_point_that_is_not_optimal() -> None:
    matrix, linear = program(5, 9, seed=0)
    assert conditions(matrix, linear, np.zeros(5)) > 1e-3


@given(st.integers(0, 10**6), st.integers(1, 8))
@settings(max_examples=100)
def test_agrees_with_the_search_through_all_passive_sets(seed: int, size: int) -> None:
    matrix, linear = program(size, size + 3, seed)
    result = non_negative_minimum(matrix, linear)
    expected = brute_force(matrix, linear)
    assert result.solved
    assert result.bounded
    scale = np.linalg.norm(expected) + np.linalg.norm(linear) / np.linalg.eigvalsh(matrix)[0]
    np.testing.assert_allclose(result.solution, expected, atol=1e-9 * scale)
    np.testing.assert_allclose(result.slack, matrix @ result.solution - linear, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 6))
@settings(max_examples=150)
def test_singular_programs_are_solved_or_shown_to_be_unbounded(seed: int, size: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    factor = rng.integers(-2, 3, (size, rank)).astype(float)
    linear = rng.integers(-2, 3, size).astype(float)
    # Bounded exactly where A v ≥ q has a solution.
    feasible = scipy.optimize.linprog(np.zeros(rank), A_ub=-factor, b_ub=-linear, bounds=(None, None)).status == 0
    result = non_negative_minimum(factor @ factor.T, linear)
    assert result.bounded == feasible
    assert np.all(result.solution >= 0)
    if feasible:
        assert result.solved
        assert conditions(factor @ factor.T, linear, result.solution) <= 1e-8
    else:
        direction = result.solution / np.linalg.norm(result.solution)
        assert np.linalg.norm(factor.T @ direction) <= 1e-4
        assert linear @ direction > 0
        assert not result.solved


def test_large_programs_need_few_factorisations() -> None:
    matrix, linear = program(300, 400, seed=1)
    result = non_negative_minimum(matrix, linear)
    assert result.solved
    assert result.residual <= 1e-12
    assert result.iterations <= 25


@pytest.mark.parametrize("seed", [1218, 3929, 4017, 7074, 8924, 9313])
def test_murty_steps_finish_where_exchanging_blocks_cycles_for_ever(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """These programs were found by a search: with block exchanges alone they are not solved in 300 iterations."""
    monkeypatch.setattr(block_pivoting, "bounded_nnls", lambda design, right: None)
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((8, 9)) ** 3
    matrix = factor @ factor.T
    lengths = np.sqrt(np.diagonal(matrix))
    matrix = matrix / lengths / lengths[:, None]
    linear = rng.standard_normal(8)
    result = non_negative_minimum(matrix, linear, passive=linear > 0)
    assert result.solved
    np.testing.assert_allclose(result.solution, brute_force(matrix, linear), rtol=1e-7, atol=1e-9)
    monkeypatch.setattr(block_pivoting, "PATIENCE", 10**9)
    assert not non_negative_minimum(matrix, linear, passive=linear > 0, max_iterations=300).solved


def test_the_right_passive_set_needs_one_factorisation() -> None:
    matrix, linear = program(40, 60, seed=2)
    first = non_negative_minimum(matrix, linear)
    again = non_negative_minimum(matrix, linear, passive=first.passive)
    assert first.iterations > 1
    assert again.iterations == 1
    np.testing.assert_array_equal(again.passive, first.passive)


@pytest.mark.parametrize(("size", "ratio", "at_most"), [(100, 20, 1), (400, 20, 1), (100, 2, 2), (400, 2, 3)])
def test_descent_before_the_pivoting_saves_most_factorisations(size: int, ratio: int, at_most: int) -> None:
    with_it, without = [], []
    for seed in range(5):
        matrix, linear = program(size, ratio * size, seed=seed)
        found = non_negative_minimum(matrix, linear)
        plain = non_negative_minimum(matrix, linear, passive=linear > 0)
        np.testing.assert_array_equal(found.passive, plain.passive)
        np.testing.assert_allclose(found.solution, plain.solution, rtol=1e-12, atol=1e-14)
        with_it.append(found.iterations)
        without.append(plain.iterations)
    assert np.median(with_it) <= at_most
    assert sum(with_it) < sum(without)


def test_the_limit_on_iterations_is_kept_and_the_fallbacks_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, linear = program(40, 60, seed=2)
    expected = non_negative_minimum(matrix, linear).solution
    result = non_negative_minimum(matrix, linear, max_iterations=1)
    assert result.iterations <= 1 + block_pivoting.PROXIMAL_STEPS
    assert result.solved
    np.testing.assert_allclose(result.solution, expected, rtol=1e-8, atol=1e-12)
    monkeypatch.setattr(block_pivoting, "PROXIMAL_STEPS", 1)
    result = non_negative_minimum(matrix, linear, max_iterations=1)
    assert result.iterations == 2
    assert result.solved
    np.testing.assert_allclose(result.solution, expected, rtol=1e-8, atol=1e-12)
    monkeypatch.setattr(block_pivoting, "bounded_nnls", lambda design, right: None)
    result = non_negative_minimum(matrix, linear, max_iterations=1)
    assert not result.solved
    assert result.residual > 1e-3


def test_a_false_answer_of_the_fallback_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """scipy/scipy#25389: nnls has returned points with a false residual of zero."""
    monkeypatch.setattr(block_pivoting, "bounded_nnls", lambda design, right: np.full(design.shape[1], 0.01))
    monkeypatch.setattr(block_pivoting, "PROXIMAL_STEPS", 1)
    matrix, linear = program(40, 60, seed=2)
    assert not non_negative_minimum(matrix, linear, max_iterations=1).solved


def test_each_row_may_have_its_own_units() -> None:
    matrix, linear = program(20, 30, seed=3)
    units = 10.0 ** np.random.default_rng(4).uniform(-9, 9, 20)
    expected = non_negative_minimum(matrix, linear).solution
    result = non_negative_minimum(matrix * units * units[:, None], linear * units)
    assert result.solved
    np.testing.assert_allclose(result.solution * units, expected, rtol=1e-9, atol=1e-12)


def test_equal_rows_share_what_one_would_bear() -> None:
    matrix, linear = program(6, 20, seed=5)
    linear = np.abs(linear)
    twice = np.repeat(np.arange(6), 2)
    single = non_negative_minimum(matrix, linear).solution
    result = non_negative_minimum(matrix[np.ix_(twice, twice)], linear[twice])
    assert result.solved
    np.testing.assert_allclose(result.solution.reshape(6, 2).sum(axis=1), single, atol=1e-10)


@pytest.mark.parametrize("linear", [np.zeros(3), -np.ones(3)])
def test_without_a_positive_demand_the_minimum_is_zero(linear: np.ndarray) -> None:
    result = non_negative_minimum(np.eye(3), linear)
    assert result.solved
    assert np.all(result.solution == 0)


def test_an_empty_program_is_solved() -> None:
    result = non_negative_minimum(np.zeros((0, 0)), np.zeros(0))
    assert result.solved
    assert result.solution.shape == (0,)


def test_least_distance_finds_the_nearest_point_of_a_polyhedron() -> None:
    factor, target = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([3.0, -1.0])
    multipliers, bounded = least_distance(factor, target)
    assert bounded
    assert multipliers is not None
    np.testing.assert_allclose(factor.T @ multipliers, [3.0, 0.0], atol=1e-14)


def test_least_distance_shows_that_a_polyhedron_is_empty() -> None:
    factor, target = np.array([[1.0], [-1.0]]), np.array([1.0, 1.0])
    multipliers, bounded = least_distance(factor, target)
    assert not bounded
    assert multipliers is not None
    np.testing.assert_allclose(factor.T @ multipliers, 0.0, atol=1e-8)


def test_nnls_is_cast_and_bounded() -> None:
    """scipy/scipy#22727 and its neighbours: float32 fails, and the iteration limit is an exception."""
    rng = np.random.default_rng(6)
    design, right = rng.standard_normal((8, 5)), rng.standard_normal(8)
    answer = bounded_nnls(design.astype(np.float32), right.astype(np.float32))
    assert answer is not None
    assert answer.dtype == np.float64

    def gives_up(*_: object, **__: object) -> None:
        raise RuntimeError("Maximum number of iterations reached.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scipy.optimize, "nnls", gives_up)
        assert bounded_nnls(design, right) is None


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0, 0)])
def test_nnls_is_not_called_with_an_empty_program(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """scipy 1.17.1 frees memory twice where there are no columns."""
    monkeypatch.setattr(scipy.optimize, "nnls", lambda *_, **__: pytest.fail("called"))
    answer = bounded_nnls(np.zeros(shape), np.zeros(shape[0]))
    assert answer is not None
    assert answer.shape == (shape[1],)


def test_programs_that_pivoting_does_not_end_are_left_to_least_squares_soon() -> None:
    """S is singular and its program nearly unbounded: proximal steps would only repeat what did not end."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 110))
    labels = np.where(np.arange(200) < 10, 1.0, -1.0)
    first, rest = rows[:10], rows[10:]
    basis = np.linalg.qr(first.T, mode="complete")[0][:, 10:]
    fit = np.linalg.lstsq(first, labels[:10], rcond=None)[0]
    free = rest @ basis
    result = non_negative_minimum(free @ free.T, rest @ fit)
    assert result.iterations <= 3 * (2 * 190 + 50)
    assert result.solved or not result.bounded

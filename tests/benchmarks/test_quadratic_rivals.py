"""Packages for quadratic programs find the minimum that we find, and one that solves another program is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import relubias
from benchmarks.harness import Skipped, WrongAnswer
from benchmarks.rivals import weights
from benchmarks.rivals.quadratic import IN_GRAM_FORM, Solver, nnls
from benchmarks.tasks import programs
from benchmarks.tasks.optimality import on_active_set, residual, residual_of_weights
from relubias.linalg.gram import Array

IN_THE_WEIGHTS = weights.SPARSE + weights.DENSE
gram_form = pytest.mark.parametrize(
    ("name", "solve", "tolerance"), IN_GRAM_FORM, ids=[name for name, _, _ in IN_GRAM_FORM]
)
in_weights = pytest.mark.parametrize(
    ("name", "solve", "tolerance"), IN_THE_WEIGHTS, ids=[name for name, _, _ in IN_THE_WEIGHTS]
)


def program(ratio: int = 2) -> programs.Program:
    return programs.Program(20, 20 * ratio, features=True)


def with_one_bound(labels: Array) -> Array:
    """Labels of which one only is negative: the others are to be fitted, to a label that is zero but for its sign."""
    return np.where((labels > 0) | (np.arange(len(labels)) == np.argmin(labels)), labels, 1e-300)


def without_bounds(gram: Array, labels: Array) -> Array:
    """The multipliers that fit 0 on negatives: those of the program in which no sign is asked for."""
    return np.asarray(np.linalg.solve(gram, np.maximum(labels, 0.0)))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "PATIENCE", 0.0)


@gram_form
@pytest.mark.parametrize("ratio", [2, 20])
def test_a_package_given_the_gram_matrix_finds_our_minimum(
    name: str, solve: Solver, tolerance: float, ratio: int
) -> None:
    try:
        row = program(ratio).race(name, solve, tolerance, repeats=1)
    except Skipped as reason:
        pytest.skip(str(reason))
    assert row.at_most == 1.0
    assert row.residuals is not None
    assert row.residuals[0] < 1e-13
    assert row.residuals[1] < 1e-4


@gram_form
def test_a_package_that_is_told_one_bound_only_is_refused(name: str, solve: Solver, tolerance: float) -> None:
    one = program()

    def told_one_bound(gram: Array, labels: Array) -> Array:
        return solve(gram, with_one_bound(labels))

    try:
        solve(one.gram, one.labels)
    except Skipped as reason:
        pytest.skip(str(reason))
    with pytest.raises(WrongAnswer, match=f"the answers of relubias and {name.replace('+', '[+]')} differ"):
        one.race(name, told_one_bound, tolerance, repeats=1)


@in_weights
def test_a_package_in_the_weights_finds_our_minimum(name: str, solve: Solver, tolerance: float) -> None:
    try:
        row = program().race_in_weights(name, solve, tolerance, repeats=1)
    except Skipped as reason:
        pytest.skip(str(reason))
    assert row.at_most is None
    assert row.residuals is not None
    assert max(row.residuals) < 1e-4


@in_weights
def test_a_package_in_the_weights_told_one_bound_only_is_refused(name: str, solve: Solver, tolerance: float) -> None:
    one = program()

    def told_one_bound(features: Array, labels: Array) -> Array:
        return solve(features, with_one_bound(labels))

    try:
        solve(one.features, one.labels)  # type: ignore[arg-type]
    except Skipped as reason:
        pytest.skip(str(reason))
    with pytest.raises(WrongAnswer):
        one.race_in_weights(name, told_one_bound, tolerance, repeats=1)


def test_a_solution_without_bounds_is_refused() -> None:
    one = program()
    assert one.off_by(without_bounds(one.gram, one.labels)) > 0.1
    with pytest.raises(WrongAnswer, match="relubias and the linear interpolator differ"):
        one.race("the linear interpolator", without_bounds, 1e-2)


@pytest.mark.parametrize("checked", [False, True])
def test_ours_is_refused_where_its_residual_is_larger_than_promised(
    checked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = program()
    assert programs.KKT_AT_MOST == 1e-12
    star = one.ours()
    spoilt = replace(star, state=replace(star.state, dual=star.state.dual * (1 + 1e-11)))
    monkeypatch.setattr(one, "ours_checked" if checked else "ours", lambda: spoilt)
    assert spoilt.kkt.worst < 1e-12  # what it says of itself is not asked
    with pytest.raises(WrongAnswer, match=r"KKT residual of relubias is 1\.0e-11, more than 1e-12"):
        one.race("nnls of SciPy", nnls, 1e-9, checked=checked)


def test_every_condition_is_in_the_residual() -> None:
    one = program(20)
    positive = one.labels > 0
    assert residual(one.gram, one.labels, one.solution()) < 1e-14

    # β ≤ 0 alone is violated: only the positives have multipliers.
    primal = np.zeros(len(positive))
    block = np.ix_(positive, positive)
    primal[positive] = np.linalg.solve(one.gram[block], one.labels[positive])
    beyond = (one.gram @ primal)[~positive].max() / one.labels.max()
    assert residual(one.gram, one.labels, primal) == pytest.approx(beyond, rel=1e-9)

    # Signs alone: β = 0 on all negatives.
    signs = without_bounds(one.gram, one.labels)
    wrong = (np.sqrt(np.diagonal(one.gram)) * signs)[~positive].max()
    expected = wrong / (np.sqrt(np.diagonal(one.gram)) * np.abs(signs)).max()
    assert expected > 1e-3
    assert residual(one.gram, one.labels, signs) == pytest.approx(expected, rel=1e-9)

    # Complementarity alone: negatives are pushed far down, the positives still fitted.
    slack = np.where(positive, 0.0, -5.0)
    slack[positive] = np.linalg.solve(one.gram[block], (one.labels - one.gram @ slack)[positive])
    reached = one.gram @ slack
    assert reached[~positive].max() < 0
    expected = np.sum((slack * reached)[~positive]) / (slack @ reached)
    assert residual(one.gram, one.labels, slack) == pytest.approx(expected, rel=1e-9)


def test_weights_off_the_span_of_the_samples_have_a_residual() -> None:
    one = program()
    assert one.features is not None
    weights_ = one.features.T @ one.solution()
    assert residual_of_weights(one.features, one.labels, weights_) < 1e-14
    kernel = np.linalg.svd(one.features)[2][-1]
    strayed = residual_of_weights(one.features, one.labels, weights_ + 1e-6 * np.linalg.norm(weights_) * kernel)
    assert strayed == pytest.approx(1e-6, rel=1e-6)


def test_the_closed_form_on_the_active_set_is_the_minimum_only_if_the_set_is_right() -> None:
    one = program()
    dual = one.solution()
    assert one.off_by(on_active_set(one.gram, one.labels, dual)) < 1e-13
    assert one.off_by(on_active_set(one.gram, one.labels, np.zeros(len(dual)))) > 1e-3


def test_a_problem_is_made_anew_in_every_call_and_nothing_is_known_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    one = program()
    seen: list[relubias.Problem] = []

    def looked_at(problem: relubias.Problem, network: relubias.Network) -> relubias.MinimumNorm:
        seen.append(problem)
        return relubias.MinimumNorm  # type: ignore[return-value]

    monkeypatch.setattr(relubias, "minimum_norm", looked_at)
    one.ours(), one.ours()
    assert seen[0] is not seen[1]
    assert all("operator" not in vars(problem) for problem in seen)

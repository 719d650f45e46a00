"""Gradient descent at several steps beside gradient flow and the minimum norm."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers import assert_close, random_problem

from relubias import (
    Network,
    Problem,
    Run,
    Status,
    gradient_descent,
    gradient_flow,
    minimum_norm,
    starts,
    step_comparison,
)
from relubias.cli.main import main
from relubias.errors import ArgumentError
from relubias.report.steps import steps_figure, steps_text
from relubias.step_comparison import StepComparison, compare

ONE = Network.single()


@pytest.fixture(scope="module")
def comparison() -> StepComparison:
    return compare(random_problem(20, 200, 0))


def test_every_row_is_a_run_of_its_own(comparison: StepComparison) -> None:
    problem = comparison.problem
    start = starts.all_active(problem, ONE)
    star = minimum_norm(problem, ONE)
    for row in comparison.rows:
        run = gradient_descent(problem, ONE, start, step_size=row.step_size)
        assert_close(run.state.primal, row.run.state.primal, relative=1e-12)
        weights = run.state.weights()
        assert row.gap is not None
        assert row.gap.absolute == pytest.approx(np.linalg.norm(weights - star.state.weights()), rel=1e-9)
        assert row.to_flow == pytest.approx(np.linalg.norm(weights - comparison.flow.state.weights()), rel=1e-6)
        assert row.relative_step == pytest.approx(row.step_size * np.trace(problem.gram) / 20)


def test_descent_is_a_method_of_first_order_for_the_flow(comparison: StepComparison) -> None:
    assert comparison.order is not None
    assert abs(comparison.order.value - 1.0) < 0.1
    assert comparison.order.steps == 7
    assert f"η^{comparison.order.value:.2f}" in comparison.message


def test_the_exponent_is_that_of_the_rows(comparison: StepComparison) -> None:
    assert comparison.order is not None
    x = np.log([row.step_size for row in comparison.rows])
    y = np.log([row.to_flow for row in comparison.rows])
    coefficients, covariance = np.polyfit(x, y, 1, cov=True)
    assert comparison.order.value == pytest.approx(coefficients[0])
    assert comparison.order.error == pytest.approx(np.sqrt(covariance[0, 0]))


def test_distances_that_jump_follow_no_power(comparison: StepComparison) -> None:
    distances = [0.0325, 0.0315, 0.0311, 0.0065, 1e-5]
    rows = [replace(row, to_flow=own) for row, own in zip(comparison.rows, distances, strict=False)]
    fitted = step_comparison._order(comparison.flow, rows)
    assert fitted is not None
    assert fitted.error > step_comparison.UNCLEAR
    assert "follow no power of η" in step_comparison._message(comparison.flow, rows, fitted)


def interrupted_at(count: int) -> Callable[..., Run]:
    """Gradient descent that the user stops in the run of this number."""
    runs: list[Run] = []

    def descent(*given: Any, **options: Any) -> Run:
        runs.append(gradient_descent(*given, **options))
        return replace(runs[-1], status=Status.INTERRUPTED) if len(runs) == count else runs[-1]

    return descent


def test_an_interrupt_ends_the_comparison_and_keeps_the_steps_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    monkeypatch.setattr(step_comparison, "gradient_descent", interrupted_at(3))
    found = compare(random_problem(20, 200, 0), announce=said.append)
    assert len(found.rows) == 3
    assert found.interrupted
    assert found.message.endswith("smaller steps were not tried.")
    assert found.as_dict()["interrupted"] is True
    assert said[-1].startswith("gradient descent, 3 of 7: ")
    monkeypatch.setattr(step_comparison, "gradient_descent", interrupted_at(2))
    assert main(["analyze", "--random", "gaussian n=20 d=200", "--compare-steps", "auto"]) == 130
    assert "smaller steps were not tried" in " ".join(capsys.readouterr().out.split())


def test_an_interrupted_flow_leaves_nothing_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    def flow(*given: Any, **options: Any) -> Run:
        return replace(gradient_flow(*given, **options), status=Status.INTERRUPTED)

    monkeypatch.setattr(step_comparison, "gradient_flow", flow)
    with pytest.raises(KeyboardInterrupt):
        compare(random_problem(20, 200, 0))


def test_two_steps_have_no_exponent() -> None:
    problem = random_problem(10, 100, 1)
    few = compare(problem, step_sizes=[1e-3, 1e-3, 5e-4])
    assert [row.step_size for row in few.rows] == [1e-3, 5e-4]
    assert few.order is None
    assert "fewer than 3" in few.message


def test_steps_that_are_none_are_refused() -> None:
    problem = random_problem(5, 20, 0)
    with pytest.raises(ArgumentError, match="at least one step"):
        compare(problem, step_sizes=[])
    with pytest.raises(ArgumentError, match="positive finite number"):
        compare(problem, step_sizes=[0.1, -1.0])


def test_several_neurons_are_compared_with_a_minimum_norm_that_is_proven() -> None:
    problem = random_problem(8, 80, 2)
    pair = compare(problem, Network.pair(), step_sizes=[1e-3, 5e-4, 2e-4], budget=1e4)
    assert pair.reference is not None
    assert all(row.gap is not None for row in pair.rows)
    assert [row.run.at_limit for row in pair.rows].count(True) < 3
    assert pair.order is None
    assert "have no certified limit" in pair.message
    equal = compare(problem, Network.of_signs([1, 1]), step_sizes=[1e-3], budget=1e4)
    assert equal.reference is not None
    assert equal.reference.of == "global"
    hard = compare(random_problem(40, 40, 0), Network.of_signs([1, 1, -1]), step_sizes=[1e-3], budget=1e3)
    assert hard.reference is None
    assert all(row.gap is None for row in hard.rows)
    assert "no gap: the budget was spent" in steps_text(hard).lower()


def test_the_text_has_a_line_a_step_and_the_figure_two_panels(comparison: StepComparison) -> None:
    text = steps_text(comparison)
    assert text.count("certified") == 8
    assert comparison.message[1:] in text
    panels = steps_figure(comparison).axes
    assert len(panels) == 2
    drawn = {line.get_label(): line for line in panels[0].get_lines()}
    to_star = drawn["gradient descent to w*"]
    assert_close(to_star.get_ydata(), [row.gap.absolute for row in comparison.rows if row.gap], relative=1e-12)
    assert any("slope" in str(label) for label in drawn)


def test_no_positive_label_has_no_relative_gap_to_draw() -> None:
    problem = Problem.from_features(np.eye(3), [-1.0, -1.0, -2.0])
    nothing = compare(problem, step_sizes=[0.3, 0.2, 0.1])
    assert nothing.reference is not None
    assert nothing.reference.norm == 0
    assert steps_figure(nothing).axes[1].get_lines() == []


def test_all_of_it_is_json(comparison: StepComparison) -> None:
    values = json.loads(json.dumps(comparison.as_dict(), allow_nan=False))
    assert len(values["steps"]["step_size"]) == 7
    assert values["order"]["steps"] == 7

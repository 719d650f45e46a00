"""The main function: its parts agree, nothing computed is lost, and records come back from disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import assert_close, no_positive_label, random_problem

import relubias.analysis
from relubias import Analysis, ArgumentError, DataError, Descent, Network, Problem, Run, Status, analyze, starts
from relubias.dynamics.run import Progress
from relubias.files import preprocess_features
from relubias.status import Optimality


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyze(random_problem(20, 2_000, seed=1))


def strict_json(analysis: Analysis) -> dict[str, Any]:
    """Through JSON and back; NaN and infinities raise."""
    values: dict[str, Any] = json.loads(json.dumps(analysis.as_dict(), allow_nan=False))
    return values


def centred(n: int = 12, d: int = 200) -> Problem:
    problem = random_problem(n, d, seed=3)
    return Problem.from_features(preprocess_features(problem.features, "centre"), problem.labels)


def test_the_gap_is_the_distance_in_weight_space(analysis: Analysis) -> None:
    assert analysis.reference is not None
    assert analysis.gap is not None
    distance = np.linalg.norm(analysis.run.state.weights() - analysis.reference.state.weights())
    assert analysis.gap.absolute == pytest.approx(distance, rel=1e-10)
    assert analysis.gap.relative == pytest.approx(distance / analysis.reference.norm, rel=1e-10)


def test_the_linear_reference_is_the_pseudo_inverse(analysis: Analysis) -> None:
    assert analysis.linear is not None
    assert_close(
        analysis.linear.state.weights()[0], np.linalg.pinv(analysis.problem.features) @ analysis.problem.labels, 1e-10
    )


def test_defaults_are_one_positive_neuron_all_active_to_the_limit(analysis: Analysis) -> None:
    run = analysis.run
    assert run.network == Network.single()
    assert_close(run.start.primal, np.full((1, 20), 1e-3 * analysis.problem.label_scale), 1e-12)
    assert run.at_limit
    assert (analysis.start_note, analysis.reference_note, analysis.interrupted) == ("", "", False)


def test_an_impossible_start_is_replaced_and_the_analysis_says_so() -> None:
    problem = centred()
    analysis = analyze(problem)
    expected = starts.gaussian(problem, Network.single(), rng=0)
    assert np.array_equal(analysis.run.start.primal, expected.primal)
    assert "the columns are centred" in analysis.start_note
    assert any(analysis.start_note[1:] in sentence for sentence in analysis.verdict)


def test_a_start_of_another_problem_is_refused(analysis: Analysis) -> None:
    with pytest.raises(ArgumentError, match="belongs to another problem"):
        analyze(random_problem(20, 2_000, seed=2), start=analysis.run.start)


def test_dynamics_are_taken_from_their_options() -> None:
    problem = random_problem(10, 100, seed=0)
    run = analyze(problem, dynamics=Descent(step_size=1e-4, until=7, budget=100.0)).run
    assert (run.step_size, run.steps, run.budget, run.status) == (1e-4, 7, 100.0, Status.REACHED)


def test_the_linear_reference_can_be_the_one_compared_with(analysis: Analysis) -> None:
    linear = analyze(analysis.problem, of="linear")
    assert linear.reference is linear.linear
    assert linear.gap is not None
    # The limit predicts 0 where the linear interpolant fits a negative label.
    assert linear.gap.prediction == pytest.approx(np.abs(analysis.problem.labels[analysis.problem.labels < 0]).max())


@pytest.mark.parametrize("network", [Network.single(), Network.pair()], ids=str)
def test_an_unknown_reference_is_refused_before_anything_is_trained(network: Network) -> None:
    def trained(progress: Progress) -> None:
        pytest.fail("training began")

    with pytest.raises(ArgumentError, match="of='gloabl'"):
        analyze(random_problem(5, 50, seed=0), network, of="gloabl", progress=trained)


def test_the_dictionary_has_a_column_for_each_neuron() -> None:
    problem, network = random_problem(12, 4_000, seed=0), Network.pair()
    neurons = strict_json(analyze(problem, network))["neurons"]
    assert neurons["sign"] == [1, -1]
    assert (neurons["active_on_positive"], neurons["active_on_negative"]) == ([6, 0], [0, 6])
    assert neurons["active_on_zero"] == [0, 0]
    assert len(neurons["norm"]) == 2


def test_a_cycle_is_in_the_dictionary() -> None:
    problem = Problem.from_features(np.array([[1.0]]), [1.0])
    start = starts.all_active(problem, Network.single(), scale=0.5)
    values = strict_json(analyze(problem, start=start, dynamics=Descent(step_size=2.0)))
    assert values["run"]["cycle"] == {
        "period": 2,
        "amplitude": pytest.approx(1 / 3),
        "distance": 0.0,
        "prediction_of_mean": [1.0],
    }


def test_a_pair_is_compared_with_its_global_minimum_neuron_by_neuron() -> None:
    analysis = analyze(random_problem(10, 1000, seed=0), Network.pair())
    assert analysis.reference is not None
    assert analysis.gap is not None
    assert (analysis.reference.of, analysis.reference.status) == ("global", Optimality.OPTIMAL)
    assert analysis.gap.absolute == pytest.approx(np.linalg.norm(analysis.gap.per_neuron))
    assert any("Neuron by neuron the distance is" in sentence for sentence in analysis.verdict)
    assert not any("the global minimum (of=global) may be shorter" in sentence for sentence in analysis.verdict)


def test_the_budget_of_the_search_for_the_shortest_pair_is_that_of_the_user() -> None:
    problem, network = random_problem(24, 30, seed=2), Network.pair()
    wide, closed = (analyze(problem, network, of="global", search_budget=most).reference for most in (1, 10_000))
    assert wide is not None
    assert closed is not None
    assert (wide.status, closed.status) == (Optimality.BUDGET, Optimality.OPTIMAL)
    assert wide.lower_bound < closed.norm <= wide.norm
    with pytest.raises(ArgumentError, match="budget=0 is not a positive whole number"):
        analyze(problem, network, search_budget=0)


def test_many_neurons_are_compared_given_the_partition_or_the_pattern_and_it_is_said() -> None:
    problem, network = random_problem(12, 1200, seed=0), Network.of_signs([1, 1, -1, -1])
    disjoint = analyze(problem, network, starts.disjoint(problem, network))
    mixed = analyze(problem, network, starts.gaussian(problem, network, rng=0))
    for analysis, of in ((disjoint, "partition"), (mixed, "pattern")):
        assert analysis.reference is not None
        assert analysis.reference.of == of
        assert any(
            f"given the {of} only; the global minimum (of=global) may be shorter" in text for text in analysis.verdict
        )
    least = analyze(problem, network, starts.disjoint(problem, network), of="global")
    assert least.reference is not None
    assert disjoint.reference is not None
    # Two equal neurons of either sign share what the partition has in one.
    assert least.reference.norm < 0.8 * disjoint.reference.norm
    assert not any("the global minimum (of=global) may be shorter" in text for text in least.verdict)
    with pytest.raises(ArgumentError, match="active in several neurons"):
        analyze(problem, network, of="partition")


def test_several_neurons_are_not_compared_with_the_linear_interpolant() -> None:
    analysis = analyze(random_problem(10, 1000, seed=0), Network.pair(), of="linear")
    assert (analysis.reference, analysis.gap) == (None, None)
    assert analysis.linear is not None
    assert analysis.linear.norm == pytest.approx(
        np.sqrt(analysis.problem.labels @ np.linalg.solve(analysis.problem.gram, analysis.problem.labels))
    )
    assert "one neuron" in analysis.reference_note


def test_an_infeasible_reference_has_no_gap() -> None:
    features = np.random.default_rng(0).normal(size=(6, 40))
    features[1] = features[0]
    analysis = analyze(Problem.from_features(features, np.array([1.0, 2.0, 1.0, 1.0, -1.0, -1.0])))
    assert analysis.gap is None
    assert analysis.reference is not None
    assert strict_json(analysis)["reference"]["infeasible_rows"] == [0, 1]


def test_a_run_that_is_interrupted_keeps_its_state_and_skips_the_references() -> None:
    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    analysis = analyze(random_problem(10, 100, seed=0), dynamics=Descent(until=10**6), progress=stop)
    assert analysis.run.status is Status.INTERRUPTED
    assert analysis.run.steps > 0
    assert (analysis.interrupted, analysis.reference, analysis.gap) == (True, None, None)
    assert any("was interrupted, so that" in sentence for sentence in analysis.verdict)
    assert strict_json(analysis)["interrupted"] is True


def test_an_interrupted_search_does_not_lose_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def impatient(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(relubias.analysis, "minimum_norm", impatient)
    analysis = analyze(random_problem(10, 100, seed=0))
    assert analysis.run.at_limit
    assert analysis.interrupted
    again = Analysis.load(analysis.save(tmp_path / "a.npz"))
    assert again.interrupted
    assert again.reference_note == "the search for the minimum-norm solution was interrupted"


def test_an_infinite_step_is_null_and_at_limit(analysis: Analysis) -> None:
    run = strict_json(analysis)["run"]
    assert (run["steps"], run["at_limit"], run["certified_from"]) == (None, True, analysis.run.steps)
    finite = strict_json(analyze(analysis.problem, dynamics=Descent(until=5)))["run"]
    assert (finite["steps"], finite["at_limit"], finite["certified_from"]) == (5, False, None)


@pytest.mark.parametrize(
    "problem",
    [
        no_positive_label(),
        Problem.from_gram([[1.0]], [0.0]),
        Problem.from_gram(np.diag([1.0, 0.0]), [1.0, 2.0]),
        Problem.from_gram(np.eye(5), np.ones(5)),
        centred(),
    ],
    ids=["no positive label", "zero label", "zero row", "orthogonal", "centred"],
)
def test_json_never_has_nan_or_infinity(problem: Problem) -> None:
    values = strict_json(analyze(problem))
    assert values["run"]["at_limit"] is True
    assert len(values["samples"]["label"]) == problem.n_samples


def test_a_step_far_too_large_is_a_status_and_json(analysis: Analysis) -> None:
    step_size = 1e3 * relubias.step_sizes.stable(analysis.problem, Network.single())
    values = strict_json(analyze(analysis.problem, dynamics=Descent(step_size=step_size)))
    assert values["run"]["step_over_stable"] == pytest.approx(500.0)


def test_samples_are_columns_of_equal_length(analysis: Analysis) -> None:
    samples = strict_json(analysis)["samples"]
    assert {len(column) for column in samples.values()} == {20}
    assert_close(samples["prediction"], analysis.run.state.predictions, 0.0)
    assert samples["silent"] == (analysis.problem.labels < 0).tolist()


@pytest.mark.parametrize("of", ["global", "linear"])
def test_an_analysis_comes_back_from_disk_with_the_same_verdict(of: str, tmp_path: Path) -> None:
    analysis = analyze(random_problem(20, 500, seed=1), of=of)
    again = Analysis.load(analysis.save(tmp_path / "analysis.npz"))
    assert again.as_dict() == analysis.as_dict()
    assert again.gap is not None


def test_an_analysis_with_a_note_on_its_start_comes_back(tmp_path: Path) -> None:
    analysis = analyze(centred())
    assert Analysis.load(analysis.save(tmp_path / "a.npz")).as_dict() == analysis.as_dict()


def test_another_record_is_not_taken_for_an_analysis(analysis: Analysis, tmp_path: Path) -> None:
    path = analysis.run.save(tmp_path / "run.npz")
    with pytest.raises(DataError, match="holds a run, not a analysis"):
        Analysis.load(path)
    assert isinstance(Run.load(path), Run)


def test_the_step_does_not_depend_on_what_was_asked_of_the_problem_before() -> None:
    steps = []
    for ask in (lambda problem: problem.facts, lambda problem: problem.operator.eigensystem, lambda problem: None):
        for seed in range(5):
            problem = random_problem(30, 35, seed)
            ask(problem)
            steps.append(relubias.step_sizes.stable(problem, Network.single()))
    assert steps[:5] == steps[5:10] == steps[10:]


def test_a_search_that_found_no_solution_is_saved_and_loaded() -> None:
    """Its norm is infinite, and there is no gap."""
    rng = np.random.default_rng(0)
    problem = Problem.from_features(rng.standard_normal((20, 6)), rng.standard_normal(20))
    star = relubias.minimum_norm(problem, Network.pair(), budget=20)
    arrays, meta = star.to_parts()
    again = relubias.MinimumNorm.from_parts(problem, arrays, json.loads(json.dumps(meta)))
    assert (again.norm, again.status, again.nodes) == (np.inf, star.status, star.nodes)
    assert np.array_equal(again.state.dual, star.state.dual)


def test_an_analysis_of_a_pair_is_saved_and_loaded(tmp_path: Path) -> None:
    analysis = analyze(random_problem(10, 40, seed=0), Network.pair())
    again = Analysis.load(analysis.save(tmp_path / "pair.npz"))
    assert again.verdict == analysis.verdict
    assert again.as_dict() == analysis.as_dict()

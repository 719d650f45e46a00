"""The text report is a pure function of the analysis and has every number of the answer in it."""

from __future__ import annotations

import pytest
from helpers import no_positive_label, random_problem

from relubias import Analysis, Descent, Network, Problem, analyze
from relubias.files import preprocess_features
from relubias.report.tables import WIDTH, as_text


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyze(random_problem(20, 2_000, seed=1))


def test_the_report_has_its_sections_in_order(analysis: Analysis) -> None:
    text = as_text(analysis)
    places = [text.index(f"{title}\n─") for title in ("Data", "Training", "Limit", "Reference", "Gap", "Verdict")]
    assert places == sorted(places)
    assert text == as_text(analysis)


def test_the_report_has_the_answer(analysis: Analysis) -> None:
    text = as_text(analysis)
    assert analysis.gap is not None
    assert analysis.reference is not None
    for expected in (
        "20 samples, 2,000 features",
        "10 positive, 10 negative, 0 zero",
        "one positive neuron",
        "0.5 times the largest stable one",
        "at 1 step, last at step 1",
        f"certified from step {analysis.run.steps:,}",
        "positive labels  all 10 interpolated",
        "negative labels  none of the 10 interpolated; all 10 predicted exactly 0",
        f"norm {analysis.reference.norm:.12g}",
        f"‖w − w*‖ = {analysis.gap.absolute:.4g}",
        f"‖w − w*‖/‖w*‖ = {analysis.gap.relative:.4g}",
    ):
        assert expected in text


def test_every_sentence_of_the_verdict_is_in_the_report(analysis: Analysis) -> None:
    flat = " ".join(as_text(analysis).split())
    assert all(" ".join(sentence.split()) in flat for sentence in analysis.verdict)


def test_lines_are_not_wider_than_a_page(analysis: Analysis) -> None:
    assert max(len(line) for line in as_text(analysis).splitlines()) <= WIDTH


def test_preprocessing_of_features_and_labels_is_printed() -> None:
    problem = random_problem(10, 100, seed=0)
    features = preprocess_features(problem.features, "unit-rows")
    done = Problem.from_features(features, problem.labels, label_mean=3.25)
    assert "features of norm 1 a row; labels centred (mean 3.25 subtracted)" in as_text(analyze(done))


def test_notes_of_the_reader_are_printed() -> None:
    problem = random_problem(5, 50, seed=0)
    noted = Problem.from_features(problem.features, problem.labels, notes=["the table was transposed."])
    assert "the table was transposed." in as_text(analyze(noted))


def test_a_state_before_the_limit_is_not_called_one() -> None:
    text = as_text(analyze(random_problem(10, 100, seed=0), dynamics=Descent(until=3)))
    assert "State reached\n─" in text
    assert "Limit\n─" not in text


def test_a_report_without_reference_says_why_and_has_no_gap() -> None:
    text = as_text(analyze(random_problem(10, 1000, seed=0), Network.pair(), of="linear"))
    assert "not compared with those of a linear model" in text
    assert "Gap\n─" not in text


def test_an_undefined_relative_gap_is_a_sentence() -> None:
    assert "so there is no relative gap" in as_text(analyze(no_positive_label()))


def test_a_singular_matrix_without_features_is_reported_without_nan() -> None:
    text = as_text(analyze(Problem.from_gram([[1.0, 0.0], [0.0, 0.0]], [1.0, 2.0])))
    assert "an unknown number of features" in text
    assert "nan" not in text.lower()

"""Each row compares what it promises to compare, with the goal that was promised.

Every `measure()` is run, at sizes that take no time, with a race that records: answers are compared, tasks are called,
and the goals are held against numbers that stand here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from race_recorder import Recorder, measured, resize

import relubias
from benchmarks.harness import Skipped, WrongAnswer
from benchmarks.rivals.quadratic import IN_GRAM_FORM
from benchmarks.rows import (
    chatter,
    dimension,
    drawing,
    figures,
    gram,
    growth,
    limit,
    memory,
    minimum_norm,
    minimum_norm_large,
    parallel,
    plain_step,
    read_csv,
    real_data,
    searches,
    start_up,
    steps,
    studies,
    study,
    threads,
)
from benchmarks.tasks import programs, training
from benchmarks.tasks.memory import STATUS

RIVALS = [name for name, _, _ in IN_GRAM_FORM]


def synthetic(_: str, *, centre_labels: bool = False, n_features: int = 12) -> relubias.Problem:
    """Data in place of real ones: few features, so that K is not well conditioned."""
    rng = np.random.default_rng(0)
    labels = rng.standard_normal(8)
    return relubias.Problem.from_features(rng.standard_normal((8, n_features)), labels)


def installed_rivals(recorder: Recorder, what: str) -> list[str]:
    """Those of the packages that were raced."""
    raced = [one.rival for one in recorder.asked if what in one.name and one.rival in RIVALS]
    return [str(name) for name in raced]


def test_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, steps)
    assert (steps.N_SAMPLES, steps.N_FEATURES, steps.TOLERANCE) == (100, 20_000, 1e-10)
    assert steps.COMPARED >= 200
    resize(monkeypatch, steps, N_FEATURES=1000, TIMED=60, COMPARED=60, FEW=60)
    _, remarks = measured(steps)
    goals = {
        ("a step, 100 x 1000, K at hand", "PyTorch autograd", 1 / 1000),
        ("a step, 100 x 1000, K at hand", "NumPy on the weights", 1 / 800),
        ("a step, 100 x 1000, K at hand", "NumPy given K", 1 / 5),
        ("a step, 100 x 1000, in 60, Gram product and start included", "NumPy on the weights", None),
        ("a step, 100 x 1000, gradient_descent(until=60)", "NumPy on the weights", None),
    }
    missing = {goal for goal in goals if goal[1] == "PyTorch autograd"} if remarks else set()
    assert recorder.goals == goals - missing
    for one in recorder.asked:
        assert np.allclose(one.ours, one.theirs, rtol=0, atol=1e-10)
        assert one.options["check"].at_most == 1e-10
        assert one.options["factors"] == (1 / 60, 1 / 60)


def test_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, limit)
    assert (limit.N_SAMPLES, limit.N_FEATURES, limit.TIMED, limit.NEAR) == (100, 100_000, 20_000, 1e-6)
    resize(monkeypatch, limit, N_SAMPLES=10, N_FEATURES=2000, TIMED=20, real=synthetic)
    measured(limit)
    well, ill = recorder.asked
    assert (well.name, well.rival, well.at_most) == ("certified limit, 10 x 2000, from X", "X @ X.T alone", 1.3)
    assert well.ours.certified
    assert np.array_equal(well.theirs, well.ours.problem.gram)
    assert ill.name == "certified limit, yarn raw, given K"
    assert ill.at_most == 1e-5
    assert ill.options["extrapolated"] == "20 steps"
    ours, rival = ill.options["factors"]
    assert ours == 1.0
    assert 20 * rival == pytest.approx(limit.steps_to_limit(ill.ours))
    assert ill.ours.certified
    assert np.allclose(ill.theirs, training.rival_after(ill.ours, 20), rtol=0, atol=0)


def test_every_limit_is_of_a_problem_of_which_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[relubias.Problem] = []
    known = synthetic("")
    assert known.operator.is_regular

    def looked_at(problem: relubias.Problem, *_: Any, **__: Any) -> Any:
        seen.append(problem)
        assert "operator" not in vars(problem)
        raise Skipped("enough")

    monkeypatch.setattr(relubias.starts, "all_active", looked_at)
    for _ in range(2):
        with pytest.raises(Skipped):
            training.limit_of_new(known)
    assert len({id(problem) for problem in [*seen, known]}) == 3


def test_a_wrong_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    Recorder(monkeypatch, limit)
    resize(monkeypatch, limit, N_SAMPLES=10, N_FEATURES=2000, real=synthetic)
    right = training.limit

    def spoilt(problem: relubias.Problem) -> relubias.Run:
        run = right(problem)
        return replace(run, state=replace(run.state, primal=run.state.primal * (1 + 1e-6)))

    resize(monkeypatch, limit, limit=spoilt)
    with pytest.raises(WrongAnswer, match=r"relubias and X @ X\.T alone differ"):
        measured(limit)
    run = right(synthetic(""))
    assert training.off_closed_form(run) < 1e-10
    assert training.off_closed_form(replace(run, state=replace(run.state, dual=run.state.dual * 1.1))) > 1e-10


def test_chatter(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, chatter)
    resize(monkeypatch, chatter, real=synthetic)
    measured(chatter)
    (one,) = recorder.asked
    assert one.at_most == 1 / 8
    assert one.options.get("factors", (1.0, 1.0)) == (1.0, 1.0)  # the rival goes the whole way
    assert one.options.get("extrapolated") is None
    last = int(one.ours.stabilised_at)
    assert last > 0
    assert one.rival == f"NumPy given K, {last} steps to the last change"
    assert np.array_equal(one.theirs, training.rival_after(one.ours, last))
    assert training.off_stepping(one.ours, last) < 1e-10


def test_minimum_norm(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, programs)
    assert (minimum_norm.SIZES, minimum_norm.RATIOS) == ((200, 1000), (20, 2))
    resize(monkeypatch, minimum_norm, SIZES=(20, 30))
    rows, remarks = measured(minimum_norm)
    assert not [remark.text for remark in remarks if remark.is_failure]
    for n_samples in (20, 30):
        for ratio in (20, 2):
            name = f"w*, n = {n_samples}, d = {ratio * n_samples}, "
            raced = [one for one in recorder.asked if one.name == name + "K as it is"]
            in_gram_form = {one.rival for one in raced if one.at_most == 1.0}
            assert in_gram_form <= set(RIVALS)
            assert len(in_gram_form) + len([r for r in remarks if r.text.startswith("Skipped")]) >= len(RIVALS)
            (checked,) = [one for one in recorder.asked if one.name == name + "K checked"]
            assert (checked.rival, checked.at_most) == ("nnls of SciPy", None)
            in_weights = [one for one in raced if one.rival not in RIVALS]
            assert bool(in_weights) == (n_samples == 20)
            assert all(one.at_most is None for one in in_weights)
    assert all(row.residuals is not None and row.residuals[0] <= 1e-12 for row in rows)
    assert all(one.ours.status == "optimal" for one in recorder.asked)
    assert [remark.has_goal for remark in remarks if "dense d x d matrix" in remark.text] == [False]


def test_minimum_norm_large(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, programs)
    assert (minimum_norm_large.N_SAMPLES, minimum_norm_large.RATIOS) == (2000, (20, 2))
    resize(monkeypatch, minimum_norm_large, N_SAMPLES=20)
    rows, _ = measured(minimum_norm_large)
    for d in (400, 40):
        name = f"w*, n = 20, d = {d}, "
        assert recorder.of("one Cholesky factorisation of K", name + "K checked").at_most == 3.5
        assert recorder.of("one Cholesky factorisation of K", name + "K as it is").at_most is None
        assert recorder.of("nnls of SciPy", name + "K as it is").at_most == 1.0
        assert recorder.of("nnls of SciPy", name + "K checked").at_most is None
    assert all(row.residuals is not None and row.residuals[0] <= 1e-12 for row in rows)
    assert all(one.options["check"].at_most <= 1e-2 for one in recorder.asked)


def test_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, dimension)
    assert dimension.N_SAMPLES == 100
    resize(monkeypatch, dimension, N_SAMPLES=8)
    measured(dimension)
    assert recorder.goals == {("draw, limit, w* and gap, 8 x 1e+12", "8 x 1000", 1.2)}
    (one,) = recorder.asked
    # ‖w‖ is as 1/√d, and so is the gap: that is how it is seen who has how many features.
    assert one.ours.absolute / one.theirs.absolute == pytest.approx(10**-4.5, rel=0.5)


@pytest.mark.parametrize("has_torch", [True, False])
def test_study(has_torch: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cvxpy", reason="cvxpy comes with the extra bench")
    if has_torch:
        pytest.importorskip("torch", reason="PyTorch comes with the extra bench-torch")
    else:
        monkeypatch.setitem(sys.modules, "torch", None)
    recorder = Recorder(monkeypatch, study)
    assert (study.N_SAMPLES, study.N_FEATURES) == (100, 100_000)
    assert study.REPEATS >= 15
    resize(monkeypatch, study, N_SAMPLES=10, N_FEATURES=2000)
    _, remarks = measured(study)
    (one,) = recorder.asked
    assert (one.rival, one.at_most) == (("PyTorch and OSQP", 1 / 100) if has_torch else ("NumPy and OSQP", None))
    assert one.name == "a cell of a study, 10 x 2000, the draw included"
    assert one.options["check"].at_most <= 1e-6
    assert one.ours.absolute > 0
    assert one.theirs > 0
    assert [remark.has_goal for remark in remarks] == ([] if has_torch else [True])


def test_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(studies.FEATURES) * len(studies.FRACTIONS) * studies.REPEATS == 10_020
    resize(monkeypatch, studies, N_SAMPLES=4, REPEATS=1, WORKERS=1, FEATURES=(10**3, 10**12))
    rows, _ = measured(studies)
    assert [(row.rival, row.at_most) for row in rows] == [
        (None, 120.0),
        ("cells, by our own accounting", 1 / 0.85),
        ("such cells in a plain loop, over 1 workers", None),
    ]
    assert rows[0].is_ceiling
    for row in rows[1:]:
        assert row.ratio is not None
        assert row.rival_seconds is not None
        assert row.ratio.median == pytest.approx(row.seconds.median / row.rival_seconds.median)


@pytest.mark.skipif(not STATUS.exists(), reason="anonymous memory is read from /proc")
def test_memory_and_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (memory.SIZES, memory.N_FEATURES) == ((50, 200), 10**6)
    resize(monkeypatch, memory, SIZES=(10, 20), N_FEATURES=2000)
    rows, _ = measured(memory)
    assert [row.peak_at_most for row in rows] == [400e6] * 2
    assert all(row.peak_bytes is not None and row.peak_bytes >= 0 for row in rows)

    recorder = Recorder(monkeypatch, drawing)
    assert (drawing.N_SAMPLES, drawing.DISTINCT) == (200, 10**6)
    resize(monkeypatch, drawing, N_SAMPLES=10, DISTINCT=1000)
    rows, _ = measured(drawing)
    assert recorder.goals == {("draw and facts, 200 x 1e12", "200 x 1e4", 1.2)}
    assert rows[1].peak_at_most == 300e6


def test_start_up(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, start_up)
    ran: list[tuple[str, ...]] = []
    resize(monkeypatch, start_up, python=lambda *arguments: ran.append(arguments))
    measured(start_up)
    numpy_alone = "import numpy, scipy.linalg"
    assert recorder.goals == {
        ("import relubias", numpy_alone, 1.3),
        ("import relubias, first use of Problem", numpy_alone, None),
        ("import relubias and all its public names", numpy_alone, None),
        ("relubias --help", None, 0.7),
    }
    assert ran[:2] == [("-c", "import relubias"), ("-c", numpy_alone)]
    assert ran[-1] == ("-m", "relubias", "--help")
    first_use = ran[2][1]
    exec(first_use)
    assert "relubias.Problem" in first_use


def test_real_data(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, real_data)
    ran: list[str] = []
    asked: list[tuple[str, bool]] = []

    def real(name: str, *, centre_labels: bool = False) -> relubias.Problem:
        asked.append((name, centre_labels))
        return synthetic(name)

    resize(monkeypatch, real_data, real=real, folder=lambda: None, in_a_new_process=ran.append)
    measured(real_data)
    assert recorder.goals == {
        ("analyze yarn", None, 2.0),
        ("analyze riboflavin, centred", None, 15.0),
        ("first analyze of yarn ever, compilation included", "a new process, compiled before", None),
    }
    assert asked == [("yarn.csv.gz", False), ("riboflavin.csv.gz", True)]
    assert len(set(ran)) == 2  # two folders for what is compiled


def test_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, searches)
    measured(searches)
    assert recorder.goals == {
        ("global w*, pair, n = 200, d = 20000", None, 1.0),
        ("global w*, pair, n = 16, d = 20", None, 1.0),
        ("global w*, pair, n = 50, d = 100", None, 60.0),
        ("global w*, 4 neurons, n = 100, d = 10000", None, 5.0),
        ("interval of w*, 20 neurons, n = 100, d = 150", None, 60.0),
    }
    stars = [one.ours for one in recorder.asked]
    assert [(star.problem.n_samples, len(star.network.signs)) for star in stars] == [
        *((200, 2), (16, 2), (50, 2), (100, 4), (100, 20))
    ]
    for star in stars:
        assert np.allclose(star.predictions, star.problem.labels)
    *closed, open_one = stars
    assert all(star.relative_interval <= 1e-8 for star in closed)
    assert 1e-8 < open_one.relative_interval < 1


def test_a_search_that_ends_in_another_way_is_refused() -> None:
    *one, _, seconds = searches.SEARCHES[1]
    with pytest.raises(WrongAnswer, match="ended as optimal, not as budget"):
        searches.task((*one, "budget", seconds))()  # type: ignore[arg-type]


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (threads.N_SAMPLES, threads.RATIO) == (200, 100)
    assert threads.REPEATS >= 3
    asked: list[tuple[str, bool]] = []

    def seconds(name: str, *, alone: bool) -> float:
        asked.append((name, alone))
        return 2.0 if alone else 3.0

    resize(monkeypatch, threads, seconds_in_a_process=seconds)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    rows, _ = measured(threads)
    assert [row.name.partition(", n = 200")[0] for row in rows] == [*threads.TASKS]
    assert {(row.rival, row.at_most) for row in rows} == {("the same on one thread", 1.5)}
    assert all(row.ratio is not None and row.ratio.median == 1.5 for row in rows)
    assert asked[:4] == [(next(iter(threads.TASKS)), alone) for alone in (False, True, True, False)]  # by turns
    assert len(asked) == 2 * threads.REPEATS * len(threads.TASKS)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with pytest.raises(Skipped, match="one core only"):
        measured(threads)


@pytest.mark.parametrize("alone", [True, False])
def test_a_process_has_the_threads_that_are_asked_for(alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    environments: list[dict[str, str]] = []

    def run(command: list[str], *, env: dict[str, str], **_: object) -> SimpleNamespace:
        environments.append(env)
        return SimpleNamespace(stdout="0.25\n")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert threads.seconds_in_a_process("gradient flow", alone=alone) == 0.25
    found = {name: value for name, value in environments[0].items() if name.endswith("_NUM_THREADS")}
    assert found == (dict.fromkeys(threads.VARIABLES, "1") if alone else {})


def test_every_task_of_threads_is_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    resize(monkeypatch, threads, N_SAMPLES=8, RATIO=50)
    for name in threads.TASKS:
        threads.report(name)
        assert float(capsys.readouterr().out) > 0


def test_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, figures)
    written: list[bytes] = []
    plain = Figure.savefig

    def savefig(figure: Figure, path: Path) -> None:
        plain(figure, path)
        written.append(path.read_bytes())

    monkeypatch.setattr(Figure, "savefig", savefig)
    assert (figures.SIDE**2 * figures.AT_A_POINT, figures.ALONG * len(figures.STEPS) * figures.AT_EACH) == (
        *(32_000, 50_000),
    )
    resize(monkeypatch, figures, SIDE=4, AT_A_POINT=3, ALONG=4, AT_EACH=8)
    measured(figures)
    assert recorder.goals == {
        ("phase diagram of 48 rows", None, 2.0),
        ("scaling of 128 rows, with fits and intervals", None, 2.0),
        ("distribution of 128 rows", None, 2.0),
        ("survival of 128 rows", None, 2.0),
    }
    assert len({*written}) == 4
    assert all(picture.startswith(b"\x89PNG") for picture in written)


def test_profiles_are_of_the_jobs_that_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []

    def real(name: str, *, centre_labels: bool = False) -> relubias.Problem:
        asked.append((name, centre_labels))
        return synthetic(name)

    resize(monkeypatch, real_data, real=real)
    for job in real_data.jobs():
        job.task(), job.limit()
    assert asked == [("yarn.csv.gz", False)] * 2 + [("riboflavin.csv.gz", True)] * 2
    for row in (chatter, limit):
        resize(monkeypatch, row, real=synthetic)
    resize(monkeypatch, limit, N_SAMPLES=10, N_FEATURES=2000)
    resize(monkeypatch, steps, N_FEATURES=500, TIMED=20)
    resize(monkeypatch, memory, SIZES=(4, 8), N_FEATURES=1000)
    resize(monkeypatch, growth, SIZES=(8, 16))
    resize(monkeypatch, minimum_norm, SIZES=(20,))
    resize(monkeypatch, minimum_norm_large, N_SAMPLES=20)
    resize(monkeypatch, gram, N_FEATURES=1000)
    resize(monkeypatch, read_csv, N_FEATURES=50)
    resize(monkeypatch, plain_step, CALLS=20)
    resize(monkeypatch, study, N_FEATURES=1000)
    rows = (chatter, limit, steps, memory, growth, minimum_norm, minimum_norm_large, gram, read_csv, plain_step, study)
    resize(monkeypatch, figures, SIDE=4, AT_A_POINT=3, ALONG=4, AT_EACH=8)
    for row in (*rows, dimension, drawing, parallel, studies, figures, searches, threads):
        for job in row.jobs():
            job.task(), job.limit()
            assert job.remark.endswith(".")


def test_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, gram, plain_step, read_csv)
    assert (gram.N_SAMPLES, gram.N_FEATURES, plain_step.SAMPLES) == (100, 100_000, 100)
    resize(monkeypatch, gram, N_FEATURES=1000)
    resize(monkeypatch, plain_step, CALLS=20)
    resize(monkeypatch, read_csv, N_FEATURES=50)
    for row in (gram, plain_step, read_csv):
        measured(row)
    assert recorder.goals == {
        ("from_features float64", "X @ X.T", 1.3),
        ("from_features float32", "X @ X.T as float64", 1.3),
        ("20 plain steps, n = 100", "np.dot(K, alpha, out=…)", 1.5),
        ("read 100 x 50 CSV", None, 3.0),
        ("read 100 x 50 CSV", "pandas.read_csv", None),
    }
    assert np.allclose(recorder.of("X @ X.T").ours.gram, recorder.of("X @ X.T").theirs)


GOALS = {
    chatter: "8 times as fast as NumPy given K",
    dimension: "d = 1e12 takes at most 1.2 times as long as d = 1e3",
    drawing: "1e12 features at most 1.2 times as long as 1e4; 1e6 distinct eigenvalues within 300 MB",
    figures: "each within 2 s",
    gram: "at most 1.3 times the bare product",
    growth: "fitted exponent in n at most 3.0, and that of the last doubling too",
    limit: "well conditioned: at most 1.3 times the Gram product; "
    "ill conditioned: 100 000 times as fast as NumPy given K",
    memory: "at most 400 MB above the imports",
    minimum_norm: "faster than every rival in Gram form, given K; KKT residuals at most 1e-12",
    minimum_norm_large: "faster than every rival in Gram form, given K; KKT residuals at most 1e-12; "
    "at most 3.5 Cholesky factorisations of K",
    parallel: "two workers at least 1.8 times as fast as one",
    plain_step: "at most 1.5 times a product with K",
    read_csv: "within 3 s",
    real_data: "yarn within 2 s, riboflavin with centred labels within 15 s",
    searches: "a pair within 1 s at n/d = 1/100 and at n = 16, d = 20, within 60 s at n = 50, d = 100; "
    "four neurons at n/d = 1/100 within 5 s; the interval of twenty neurons within 60 s",
    start_up: "import at most 1.3 times as long as NumPy and scipy.linalg, --help within 0.7 s",
    steps: "β equal to 1e-10; 1000 times as fast as PyTorch, 800 times as NumPy, 5 times as NumPy given K, "
    "per step with K at hand",
    studies: "10 020 cells in less than 120 s on two cores; workers busy for at least 85 % of it, "
    "by our own accounting",
    study: "100 times as fast as PyTorch with OSQP",
    threads: "with the threads that BLAS takes by itself at most 1.5 times as long as with one",
}


@pytest.mark.parametrize(("row", "goal"), GOALS.items(), ids=[row.__name__ for row in GOALS])
def test_the_words_are_made_of_the_numbers(row: ModuleType, goal: str) -> None:
    assert goal == row.GOAL

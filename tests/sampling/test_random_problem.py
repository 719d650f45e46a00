"""A random problem is one joint draw: samples, test points and teachers, the same bits from the same seed."""

from __future__ import annotations

import hashlib
import json
import math
import multiprocessing
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import assert_close

from relubias import Network, Problem, analyze, sampling
from relubias.errors import ArgumentError
from relubias.sampling import Gaussian, RandomProblem, Signs, StudentT, Teacher
from relubias.sampling.streams import streams

ONE = Network.single()
LINES = ["gaussian n=20 d=1e12 test=7", "gaussian n=15 d=3000 spectrum=power-law:0.8", "rademacher n=12 d=500 test=3"]


def digest(problem: Problem) -> str:
    parts = [problem.gram, problem.labels]
    parts += [problem.test.cross_gram, problem.test.labels] if problem.test else []
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()


def drawn(task: tuple[str, int]) -> str:
    return digest(sampling.draw(task[0], labels="teacher relu noise=0.1", rng=task[1]))


def test_the_same_seed_gives_the_same_bits_whatever_the_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # processes that are started afresh read it
    tasks = [(line, seed) for seed in range(2) for line in LINES]
    digests = []
    for workers in (1, 2):
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            digests.append(list(pool.map(drawn, tasks)))
    assert digests[0] == digests[1]
    assert len(set(digests[0])) == len(tasks)


def test_a_generator_moves_on_and_two_with_one_state_agree() -> None:
    law = RandomProblem(10, Gaussian(100))
    generator = np.random.default_rng(5)
    first, second = law.draw(rng=generator), law.draw(rng=generator)
    assert digest(first) != digest(second)
    assert digest(law.draw(rng=np.random.default_rng(5))) == digest(first)
    jumped = np.random.Generator(np.random.PCG64(5).jumped())
    assert digest(law.draw(rng=jumped)) != digest(first)
    assert digest(law.draw(rng=np.random.Generator(np.random.PCG64(5).jumped()))) == digest(
        law.draw(rng=np.random.Generator(np.random.PCG64(5).jumped()))
    )


def test_features_labels_and_the_start_of_one_seed_are_independent_streams() -> None:
    numbers = [generator.standard_normal(5000) for generator in streams(3, 2)]
    numbers.append(np.random.default_rng(3).standard_normal(5000))  # what a gaussian start draws from
    correlations = np.asarray(np.corrcoef(numbers))[np.triu_indices(3, 1)]
    assert np.all(np.abs(correlations) < 4 / np.sqrt(5000))
    control = [numbers[2], np.random.default_rng(3).standard_normal(5000)]  # one stream twice
    assert np.asarray(np.corrcoef(control))[0, 1] == pytest.approx(1.0)


def test_labels_do_not_depend_on_how_the_features_are_drawn() -> None:
    law = RandomProblem(30, Gaussian(200), Signs(0.5, 2.0))
    explicit = law.draw(rng=1, features=True)
    np.testing.assert_array_equal(explicit.labels, law.draw(rng=1).labels)
    assert explicit.features.shape == (30, 200)
    assert_close(explicit.gram, explicit.features @ explicit.features.T, 1e-14)


def test_test_points_are_rows_of_the_same_draw() -> None:
    """With features at hand everything that is known of test points and teachers can be computed anew."""
    law = RandomProblem(20, Gaussian(300), Teacher((1, -1)), n_test=9)
    problem = law.draw(rng=2, features=True)
    assert problem.test is not None
    points = np.asarray(problem.test.features)
    assert_close(problem.test.cross_gram, points @ problem.features.T, 1e-13)
    assert_close(problem.test.squared_norms, np.square(points).sum(axis=1), 1e-13)
    state = analyze(problem, Network.pair()).run.state
    assert_close(state.predict(problem.test), state.predict(points), 1e-12)
    teachers = law.features.rows(31, streams(2, 2)[0])[29:]
    weights = teachers * np.sqrt(300) / 300
    rows = np.vstack([problem.features, points])
    f = np.array([1.0, -1.0]) @ np.maximum(weights @ rows.T, 0.0)
    assert_close(np.concatenate([problem.labels, problem.test.labels]), f, 1e-12)


def test_learning_a_linear_teacher_helps_where_samples_outnumber_features() -> None:
    problem = sampling.gaussian(n_samples=80, n_features=10, labels="teacher linear", n_test=200, rng=0)
    linear = analyze(problem).linear
    assert linear is not None
    assert linear.test_error is not None
    assert linear.test_error < 1e-20
    far = sampling.gaussian(n_samples=20, n_features=10**12, labels="teacher linear", n_test=200, rng=0)
    assert far.test is not None
    unlearned = analyze(far).linear
    assert unlearned is not None
    assert unlearned.test_error == pytest.approx(far.test.error_of_zero, rel=1e-3)


def test_the_problem_knows_what_it_was_drawn_from() -> None:
    problem = sampling.gaussian(n_samples=20, n_features=10**12, rng=7)
    assert problem.population == RandomProblem(20, Gaussian(10**12)).population
    assert problem.n_features == 10**12
    assert "seed 7" in problem.source


def test_dimension_costs_nothing() -> None:
    """In memory; what it costs in time is in the benchmarks."""

    def most_bytes(d: int) -> int:
        tracemalloc.start()
        try:
            _ = sampling.gaussian(n_samples=100, n_features=d, rng=0).facts
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    most_bytes(10**4)
    assert most_bytes(10**12) <= 1.1 * most_bytes(10**4) < 8 * 100 * 10**4 / 2  # X has twice as many at d = 1e4


def test_streams_of_a_seed_are_not_those_that_anybody_else_takes_from_it() -> None:
    """Neither the seed's own generator, which a Gaussian start takes, nor children that it spawns."""
    own = [stream.random() for stream in streams(4, 2)]
    others = [np.random.default_rng(4), *np.random.default_rng(4).spawn(50), *streams(5, 2)]
    assert len({*own, *(other.random() for other in others)}) == 2 + len(others)
    assert own == [stream.random() for stream in streams(np.int64(4), 2)]


@pytest.mark.parametrize("features", [False, True])
def test_draws_that_overflow_are_refused_in_the_words_of_draws(features: bool) -> None:
    law = RandomProblem(4, StudentT(50, 0.0125))
    assert 1e155 < np.abs(law.features.rows(4, streams(0, 2)[0])).max() < np.inf, "the rows themselves are numbers"
    with pytest.raises(ArgumentError, match="this draw has numbers, or inner products, that are too large"):
        law.draw(rng=0, features=features)


def test_random_labels_of_test_points_are_said_to_teach_nothing() -> None:
    by_signs = sampling.gaussian(n_samples=9, n_features=90, n_test=4, rng=0)
    assert any("nothing can be learned of them" in note for note in by_signs.notes)
    assert sampling.gaussian(n_samples=9, n_features=90, n_test=4, labels="teacher", rng=0).notes == ()
    assert sampling.gaussian(n_samples=9, n_features=90, rng=0).notes == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "n_samples must be a whole number from 1"),
        ({"n_samples": 2.5}, "n_samples must be a whole number from 1"),
        ({"n_test": -1}, "n_test must be a whole number from 0"),
        ({"rng": -1}, "rng must be a non-negative int"),
        ({"rng": None}, "a draw needs rng"),
        ({"labels": "signs", "spectrum": "powerlaw:1"}, "did you mean 'power-law'"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    given = {"n_samples": 5, "n_features": 50, "rng": 0} | options
    with pytest.raises(ArgumentError, match=message):
        sampling.gaussian(**given)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (sampling.gaussian, {"spectrum": "spiked:2:30"}),
        (sampling.gaussian, {"spectrum": [3.0, 2.0] + [1.0] * 298}),
        (sampling.rademacher, {}),
        (sampling.uniform, {}),
        (sampling.sparse_signs, {"density": 0.2}),
        (sampling.truncated_normal, {"bound": 2.0}),
        (sampling.student_t, {"degrees": 5.0}),
        (sampling.log_normal, {"sigma": 0.5}),
        (sampling.equicorrelated, {"correlation": 0.2}),
        (sampling.subspace, {"dimension": 40}),
    ],
)
def test_every_law_has_a_function(make: Any, options: dict[str, Any]) -> None:
    problem = make(n_samples=30, n_features=300, n_test=5, labels="teacher", rng=0, **options)
    assert problem.n_features == 300
    assert problem.test.n_points == 5
    trace = np.trace(problem.gram) / 30
    assert trace == pytest.approx(problem.population.trace, rel=0.4)
    explicit = make(n_samples=30, n_features=300, features=True, rng=0, **options)
    assert explicit.features.shape == (30, 300)


def test_a_law_without_variance_is_said_to_have_none(tmp_path: Path) -> None:
    problem = sampling.student_t(n_samples=10, n_features=100, degrees=1.5, rng=0)
    assert problem.population is not None
    assert problem.population.trace == math.inf
    values = json.loads(json.dumps(analyze(problem).as_dict(), allow_nan=False))
    assert values["problem"]["population"]["trace"] is None
    assert Problem.load(problem.save(tmp_path / "p.npz")).population == problem.population
    with pytest.raises(ArgumentError, match="a teacher needs features of finite variance"):
        sampling.student_t(n_samples=10, n_features=100, degrees=1.5, labels="teacher", rng=0)

"""A Gram matrix is taken as it is, if it is one; whatever the features come as, K is that of float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from helpers import random_problem, signed_labels

from relubias import Network, Problem, analyze, minimum_norm
from relubias.errors import DataError, StartError
from relubias.problem import same_problem


def of_spectrum(*values: float, seed: int = 0) -> np.ndarray:
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    gram = (basis * np.array(values)) @ basis.T
    return np.asarray(0.5 * (gram + gram.T))


def test_an_indefinite_matrix_is_refused_with_its_eigenvalue() -> None:
    with pytest.raises(DataError, match=r"indefinite: its smallest eigenvalue is -0\.001, its largest 2"):
        Problem.from_gram(of_spectrum(2.0, 1.0, 0.5, -1e-3), np.ones(4))
    with pytest.raises(DataError, match="indefinite"):
        Problem.from_gram(-np.eye(3), np.ones(3))


def test_a_semidefinite_matrix_is_taken_despite_rounding() -> None:
    for seed in range(10):
        problem = Problem.from_gram(of_spectrum(2.0, 1.0, 0.0, 0.0, seed=seed), np.ones(4))
        assert problem.facts.rank == 2


def test_an_asymmetric_matrix_is_refused_with_its_entries_and_rounding_is_symmetrised() -> None:
    gram = of_spectrum(3.0, 2.0, 1.0)
    gram[0, 2] += 1e-3
    with pytest.raises(DataError, match=r"not symmetric: entry \(0, 2\) is .* entry \(2, 0\) is"):
        Problem.from_gram(gram, np.ones(3))
    gram[0, 2] += 1e-13 - 1e-3
    taken = Problem.from_gram(gram, np.ones(3)).gram
    np.testing.assert_array_equal(taken, taken.T)


@pytest.mark.parametrize("bad", [np.ones((2, 3)), np.ones(4), np.zeros((0, 0)), np.ones((1, 1, 1))])
def test_a_matrix_that_is_not_square_is_refused(bad: np.ndarray) -> None:
    with pytest.raises(DataError, match="square with at least one row"):
        Problem.from_gram(bad, np.ones(len(bad)))


def test_numbers_that_are_not_finite_and_labels_that_do_not_match_are_refused() -> None:
    with pytest.raises(DataError, match="Gram matrix"):
        Problem.from_gram([[1.0, np.nan], [np.nan, 1.0]], np.ones(2))
    with pytest.raises(DataError, match="label"):
        Problem.from_gram(np.eye(3), np.ones(2))


def test_the_given_arrays_are_neither_kept_nor_changed() -> None:
    gram, labels = 2.0 * np.eye(3), np.ones(3)
    problem = Problem.from_gram(gram, labels)
    gram[0, 0], labels[0] = 7.0, 7.0
    assert problem.gram[0, 0] == 2.0
    assert problem.labels[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        problem.gram[0, 0] = 1.0


def test_memory_maps_sparse_float32_and_int8_features_are_one_problem(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    features = (rng.integers(-100, 100, (6, 50)) * (rng.random((6, 50)) < 0.3)).astype(np.int8)
    labels = signed_labels(6, rng)
    dense = Problem.from_features(features.astype(np.float64), labels)
    np.save(tmp_path / "x.npy", features.astype(np.float32))
    kinds = [
        np.load(tmp_path / "x.npy", mmap_mode="r"),
        features,
        features.astype(np.float32),
        scipy.sparse.csr_array(features),
        scipy.sparse.csc_array(features.astype(np.float32)),
    ]
    for kind in kinds:
        assert same_problem(Problem.from_features(kind, labels), dense)
    assert not same_problem(Problem.from_features(2 * features.astype(float), labels), dense)
    assert not same_problem(Problem.from_gram(dense.gram, -labels), dense)


def test_features_and_their_gram_matrix_have_one_answer() -> None:
    problem = random_problem(8, 40, seed=2)
    one, other = analyze(problem), analyze(Problem.from_gram(problem.gram, problem.labels))
    assert one.gap is not None
    assert other.gap is not None
    assert other.gap.absolute == pytest.approx(one.gap.absolute, rel=1e-12)
    assert other.run.steps == one.run.steps


def test_samples_that_are_all_zero_leave_nothing_to_train_and_are_fit_least_badly_by_zero() -> None:
    problem = Problem.from_gram(np.zeros((4, 4)), [1.0, -1.0, 2.0, 0.0])
    assert (problem.facts.rank, problem.facts.digits) == (0, 0.0)
    with pytest.raises(StartError, match="all samples are zero, so no start can ever move"):
        analyze(problem)
    reference = minimum_norm(problem, Network.single())
    assert reference.status == "infeasible"
    assert reference.norm == 0.0
    assert reference.infeasible_rows == (0, 2)


def test_a_saved_problem_comes_back_without_its_features(tmp_path: Path) -> None:
    problem = Problem.from_features(np.eye(2), [1.0, -1.0], sample_names=["a", "b"], target_name="y", notes=["n"])
    again = Problem.load(problem.save(tmp_path / "p.npz"))
    assert same_problem(again, problem)
    assert (again.sample_names, again.target_name, again.notes) == (("a", "b"), "y", ("n",))
    assert (again.n_features, again.features) == (2, None)

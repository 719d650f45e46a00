"""Named arrays in .npz files: features or K, labels, names; kept as they are, and never unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from helpers import real_data

from relubias import Network, Problem, minimum_norm, read
from relubias.errors import ArgumentError, DataError
from relubias.files.npz import read_npz

X = np.random.default_rng(0).integers(0, 3, (4, 6)).astype(np.int8)
Y = np.array([1.0, -1.0, 2.0, 0.5])
K = X.astype(float) @ X.T


def saved(folder: Path, **arrays: Any) -> Path:
    np.savez_compressed(folder / "data.npz", **arrays)
    return folder / "data.npz"


def test_features_labels_and_names_are_read_as_they_are(tmp_path: Path) -> None:
    names = np.array(list("abcdef"))
    problem = read(saved(tmp_path, X=X, y=Y, feature_names=names, sample_names=np.array([b"u", b"v", b"w", b"x"])))
    assert problem.features.dtype == np.int8
    assert problem.labels.tolist() == Y.tolist()
    assert problem.feature_names == tuple("abcdef")
    assert problem.sample_names == tuple("uvwx")
    assert problem.target_name == "y"
    np.testing.assert_array_equal(problem.gram, K)


def test_a_gram_matrix_is_a_problem_without_features(tmp_path: Path) -> None:
    path = saved(tmp_path, K=K, label=Y, n_features=np.int64(6), sample_names=np.array([1, 2, 3, 4]))
    problem = read(path, centre_labels=True)
    np.testing.assert_array_equal(problem.gram, K)
    assert problem.features is None
    assert problem.n_features == 6
    assert problem.sample_names == ("1", "2", "3", "4")
    assert problem.target_name == "label"
    assert problem.label_mean == Y.mean()
    np.testing.assert_allclose(problem.labels, Y - Y.mean())
    with pytest.raises(DataError, match="'centre' needs the features; preprocess them before"):
        read(path, preprocess="centre")


def test_the_target_is_an_array_by_name(tmp_path: Path) -> None:
    path = saved(tmp_path, X=X, y=Y, age=2 * Y)
    assert read(path, target="age").labels.tolist() == (2 * Y).tolist()
    with pytest.raises(DataError, match="there is no array 'sex' in the archive; it holds 'X', 'y', 'age'"):
        read(path, target="sex")
    with pytest.raises(ArgumentError, match="target is 1; give the name of an array"):
        read(path, target=1)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"y": Y}, "neither X nor K"),
        ({"X": X, "K": K, "y": Y}, "both X and K"),
        ({"X": X}, "features but no labels"),
        ({"X": X, "y": Y, "label": Y}, "2 arrays could be the target"),
        ({"X": X, "y": Y[:3]}, "there are 4 samples, but the labels have shape"),
        ({"X": X[0], "y": Y}, r"X has shape \(6,\); it must have two axes"),
        ({"X": X.astype(complex), "y": Y}, "dtype is complex128"),
        ({"X": X, "y": Y, "feature_names": np.array(["a"])}, r"feature_names has shape \(1,\), but 6 names"),
        ({"X": X, "y": Y, "sample_names": np.array([["a"]])}, r"sample_names has shape \(1, 1\), but 4 names"),
        ({"K": K[:3], "y": Y}, "a Gram matrix is square"),
        ({"K": K - 99 * np.eye(4), "y": Y}, "indefinite"),
        ({"K": K, "y": Y, "n_features": 0.5}, "n_features is .*0.5.*whole number"),
        ({"K": K, "y": Y, "n_features": [1, 2]}, "n_features is .*whole number"),
        ({"X": np.array([[None]]), "y": Y}, "without Python objects"),
    ],
)
def test_what_cannot_be_used_is_said_with_the_file(tmp_path: Path, arrays: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DataError, match=f"data.npz: .*{sentence}"):
        read(saved(tmp_path, **arrays))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"y,a\n1,2\n"])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data.npz").write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as an archive"):
        read_npz(tmp_path / "data.npz", None)


def test_a_damaged_array_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, X=np.random.default_rng(0).normal(size=(50, 50)), y=np.ones(50))
    content = bytearray(path.read_bytes())
    content[2000:2010] = bytes(10)
    path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as an archive"):
        read_npz(path, None)


def test_files_of_other_kinds_are_named(tmp_path: Path) -> None:
    with open(tmp_path / "data.npz", "wb") as stream:
        np.save(stream, X)
    with pytest.raises(DataError, match=r"one array, not an archive .* \.npy"):
        read_npz(tmp_path / "data.npz", None)


def test_a_saved_problem_is_the_problem_again(tmp_path: Path) -> None:
    saved_one = Problem.from_gram(K, Y, n_features=6, sample_names=list("abcd"), source="somewhere")
    problem = read(saved_one.save(tmp_path / "problem.npz"))
    np.testing.assert_array_equal(problem.gram, saved_one.gram)
    assert (problem.n_features, problem.sample_names, problem.source) == (6, tuple("abcd"), "somewhere")
    with pytest.raises(DataError, match=r"problem\.npz: a saved problem is read as it is"):
        read(tmp_path / "problem.npz", preprocess="centre")


@pytest.mark.parametrize("how", ["none", "centre", "standardise", "unit-rows"])
def test_points_beside_the_samples_are_treated_alike(how: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    features, points = rng.normal(size=(6, 20)) + 1.0, rng.normal(size=(3, 20)) + 1.0
    labels, targets = rng.normal(size=6), rng.normal(size=3)
    np.savez(tmp_path / "x.npz", X=features, y=labels, X_test=points, y_test=targets)
    problem = read(tmp_path / "x.npz", preprocess=how, centre_labels=True)
    treated = {
        "none": (features, points),
        "centre": (features - features.mean(axis=0), points - features.mean(axis=0)),
        "standardise": tuple((a - features.mean(axis=0)) / features.std(axis=0) for a in (features, points)),
        "unit-rows": tuple(a / np.linalg.norm(a, axis=1)[:, None] for a in (features, points)),
    }[how]
    assert problem.test is not None
    np.testing.assert_allclose(problem.test.cross_gram, treated[1] @ treated[0].T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(problem.test.squared_norms, np.square(treated[1]).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(problem.test.labels, targets - labels.mean(), rtol=1e-12, atol=1e-12)
    state = minimum_norm(problem, Network.single()).state
    np.testing.assert_allclose(state.predict(problem.test), state.predict(points), rtol=1e-9, atol=1e-9)


def test_points_that_do_not_fit_are_refused_and_incomplete_ones_left_out(tmp_path: Path) -> None:
    path, base = tmp_path / "x.npz", {"X": np.eye(3), "y": np.ones(3)}
    np.savez(path, allow_pickle=False, **base, X_test=np.ones((2, 4)), y_test=np.ones(2))
    with pytest.raises(DataError, match=r"x\.npz: new points have 4 features"):
        read(path)
    np.savez(path, allow_pickle=False, **base, X_test=np.ones((2, 3)), y_test=np.ones(4))
    with pytest.raises(DataError, match=r"x\.npz: there are 2 samples, but the labels have shape \(4,\)"):
        read(path)
    np.savez(path, allow_pickle=False, **base, X_test=np.full((2, 3), np.nan), y_test=np.ones(2))
    with pytest.raises(DataError, match=r"x\.npz: .* of the test points must be finite"):
        read(path)
    np.savez(path, allow_pickle=False, **base, X_test=np.ones((2, 3)))
    assert read(path).test is None


def test_a_sparse_matrix_that_scipy_saved_stays_sparse(tmp_path: Path) -> None:
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_array(X))
    np.save(tmp_path / "y.npy", Y)
    problem = read(tmp_path / "x.npz", labels=tmp_path / "y.npy")
    assert problem.features.format == "csr"
    assert problem.features.dtype == np.int8
    np.testing.assert_array_equal(problem.gram, K)
    with pytest.raises(DataError, match="holds one sparse matrix; give the labels as a file"):
        read(tmp_path / "x.npz", target="y")


def test_mice_are_read_as_int8_in_seconds() -> None:
    problem = read(real_data("mice_snp.npz"), centre_labels=True)
    assert problem.features.dtype == np.int8
    assert problem.features.shape == (1814, 10346)
    assert len(problem.feature_names or ()) == 10346
    some = problem.features[:7].astype(float)
    np.testing.assert_array_equal(problem.gram[:7, :7], some @ some.T)
    assert problem.facts.rank == 1814
    assert problem.facts.condition == pytest.approx(1.01e7, rel=0.01)

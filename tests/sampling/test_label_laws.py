"""Labels: exact counts of signs, teachers of unit variance, and laws that can be written down."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relubias.errors import ArgumentError, DataError
from relubias.sampling import Gaussian, Given, RandomProblem, Signs, Teacher
from relubias.sampling.features import (
    FEATURE_LAWS,
    Equicorrelated,
    FeatureLaw,
    LogNormal,
    Rademacher,
    SparseSigns,
    StudentT,
    Subspace,
    TruncatedNormal,
    Uniform,
)
from relubias.sampling.labels import as_label_law, labels_from_dict, parse_labels
from relubias.sampling.spectra import PowerLaw, Spiked

UNIT = 1.0
LAWS = [Signs(), Signs(0.5, 2.0, 0.3, 0.1), Teacher(), Teacher((1, -1, 1), "linear", 0.1, 2.0), Given((1.0, -2.0))]


def labels_of(law: Any, n: int, seed: int = 0) -> np.ndarray:
    return np.asarray(law.draw(np.empty((0, n)), UNIT, n, np.random.default_rng(seed))[0])


@given(st.integers(1, 60), st.floats(0, 1), st.floats(0, 1), st.integers(0, 9))
def test_counts_of_signs_are_exact_and_sizes_in_range(n: int, fraction: float, zeros: float, seed: int) -> None:
    labels = labels_of(Signs(0.5, 2.0, fraction, zeros), n, seed)
    zero = math.floor(zeros * n + 0.5)
    positive = math.floor(fraction * (n - zero) + 0.5)
    counts = [int(np.count_nonzero(labels == 0)), int(np.count_nonzero(labels > 0))]
    assert [*counts, int(np.count_nonzero(labels < 0))] == [zero, positive, n - zero - positive]
    sizes = np.abs(labels[labels != 0])
    assert np.all((sizes >= 0.5) & (sizes <= 2.0))


def test_places_of_the_signs_are_random() -> None:
    law = Signs()
    drawn = np.array([labels_of(law, 10, seed) > 0 for seed in range(400)])
    # each place is positive with probability ½: five standard errors
    assert np.all(np.abs(drawn.mean(axis=0) - 0.5) < 5 * 0.5 / math.sqrt(400))
    assert len({tuple(row) for row in drawn.tolist()}) > 100


def test_sizes_are_uniform() -> None:
    sizes = np.abs(labels_of(Signs(0.5, 2.0), 4000))
    assert abs(sizes.mean() - 1.25) < 5 * 1.5 / math.sqrt(12 * 4000)
    assert abs((sizes < 0.8).mean() - 0.2) < 5 * 0.4 / math.sqrt(4000)


@pytest.mark.parametrize(
    ("law", "f"),
    [
        (Teacher(activation="linear"), lambda p: p[0]),
        (Teacher(), lambda p: np.maximum(p[0], 0)),
        (Teacher((1, -1)), lambda p: np.maximum(p[0], 0) - np.maximum(p[1], 0)),
        (Teacher((1, -1, -1), amplitude=3.0), lambda p: np.array([1, -1, -1]) @ np.maximum(3 * p, 0)),
    ],
)
def test_a_teacher_is_a_network_whose_weights_are_rows_of_the_draw(law: Teacher, f: Any) -> None:
    """Against the definition with weights, w_k = amplitude t_k/‖λ‖₂, from explicit rows."""
    values = np.linspace(0.1, 3.0, 50)
    scale = math.sqrt(np.square(values).sum())
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 50)) * np.sqrt(values)
    teachers = rng.normal(size=(law.n_teachers, 50)) * np.sqrt(values)
    labels, test_labels = law.draw(teachers @ rows.T, scale, 20, np.random.default_rng(1))
    weights = teachers / scale
    expected = f(weights @ rows.T)
    np.testing.assert_allclose(np.concatenate([labels, test_labels]), expected, rtol=1e-12, atol=1e-12)


EVERY_LAW: tuple[FeatureLaw, ...] = (
    Gaussian(200),
    Gaussian(200, spectrum=PowerLaw(0.5)),
    Gaussian(200, spectrum=Spiked(3, 20.0)),
    Rademacher(200, spectrum=PowerLaw(0.5)),
    Uniform(200),
    SparseSigns(200, 0.2),
    TruncatedNormal(200, 1.5),
    StudentT(200, 9.0),
    LogNormal(200, 0.5),
    Subspace(200, 30),
    Equicorrelated(200, 0.0),
    Equicorrelated(200, 0.3),
    Equicorrelated(200, 0.7, spectrum=PowerLaw(0.5)),
    Equicorrelated(200, 1.0),
)


@pytest.mark.parametrize("features", EVERY_LAW, ids=repr)
def test_pre_activations_of_teachers_have_unit_size(features: FeatureLaw) -> None:
    """E (w_kᵀx)² = 1 over the draw, for every law; five standard errors."""
    law = RandomProblem(5, features, Teacher(activation="linear"))
    squares = [float(np.mean(law.draw(rng=seed).labels ** 2)) for seed in range(400)]
    error = np.std(squares) / math.sqrt(len(squares))
    assert abs(np.mean(squares) - 1.0) < 5 * error
    assert error < 0.12, "too few draws to tell"


def test_every_law_is_held_here() -> None:
    assert {law.kind for law in EVERY_LAW} == set(FEATURE_LAWS)


def test_noise_is_on_the_labels_of_samples_only() -> None:
    products = np.random.default_rng(0).normal(size=(1, 3000))
    clean, far = Teacher().draw(products, UNIT, 2000, np.random.default_rng(1))
    noisy, same = Teacher(noise=0.1).draw(products, UNIT, 2000, np.random.default_rng(1))
    np.testing.assert_array_equal(far, same)
    assert np.std(noisy - clean) == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_laws_come_back_from_plain_values(law: Any) -> None:
    assert labels_from_dict(law.as_dict()) == law


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("signs", Signs()),
        ("signs 2", Signs(2.0, 2.0)),
        ("signs 0.5..2", Signs(0.5, 2.0)),
        ("signs 0.5..2 fraction=0.3 zeros=0.1", Signs(0.5, 2.0, 0.3, 0.1)),
        ("teacher", Teacher()),
        ("teacher relu noise=0.1", Teacher(noise=0.1)),
        ("teacher linear amplitude=2", Teacher(activation="linear", amplitude=2)),
        ("teacher +,-", Teacher((1, -1))),
        ("teacher pair relu", Teacher((1, -1))),
    ],
)
def test_laws_are_read_from_one_line(text: str, law: Any) -> None:
    assert parse_labels(text) == law


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nothing is said"),
        ("sings 1..2", "'sings' is not known; did you mean 'signs'"),
        ("signs 1-2", "neither a magnitude nor a range"),
        ("signs 2..1", "0 < low ≤ high"),
        ("signs fractoin=0.3", "'fractoin' is not known; did you mean 'fraction'"),
        ("signs fraction=", "'fraction' needs a value"),
        ("signs fraction=0.1 fraction=0.2", "'fraction' is given twice"),
        ("signs fraction=1.5", "fraction must be a number from 0 to 1; it is 1.5"),
        ("signs fraction=half", "fraction must be a number"),
        ("teacher tanh", "'tanh' is not known"),
        ("teacher +,- tanh", "'tanh' is not known"),
        ("teacher + -", "'-' is a second list of signs"),
        ("teacher single pair", "'pair' is a second list of signs"),
        ("teacher relu linear", "'linear' is a second activation"),
        ("teacher relu relu", "'relu' is a second activation"),
        ("teacher noise=-1", "noise is a standard deviation and cannot be negative; it is -1"),
        ("teacher noise=1e300", "noise must be 0, or of a magnitude from 1e-150 to"),
        ("teacher amplitude=0", "amplitude must be a positive finite number from 1e-150 to"),
        ("teacher amplitude=1e-320", "amplitude must be a positive finite number from 1e-150 to"),
        ("signs 1e-320", "low must be a positive finite number from 1e-150 to"),
        ("signs 1..1e300", "high must be a positive finite number from 1e-150 to"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        parse_labels(text)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, r"labels\.kind is missing"),
        ("signs", "labels must be a table"),
        ({"kind": "sign"}, r"labels\.kind 'sign' is not known; did you mean 'signs'"),
        ({"kind": "signs", "hihg": 2.0}, r"labels\.hihg: .* did you mean 'high'"),
        ({"kind": ["signs"]}, r"labels\.kind \['signs'\] is not known"),
        ({"kind": "teacher", "activation": ["relu"]}, r"labels: activation \('relu',\) is not known"),
        ({"kind": "given"}, r"labels\.values is missing"),
        ({"kind": "teacher", "signs": [1, 0]}, r"labels: signs of a teacher must be"),
    ],
)
def test_errors_in_plain_values_point_at_the_key(values: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        labels_from_dict(values)


def test_given_labels_are_taken_as_they_are() -> None:
    law = as_label_law([1.0, -2.0, 0.0])
    assert labels_of(law, 3).tolist() == [1.0, -2.0, 0.0]
    with pytest.raises(ArgumentError, match="3 labels are given for 4 samples"):
        labels_of(law, 4)
    with pytest.raises(ArgumentError, match="test points need labels by a law"):
        law.draw(np.empty((0, 5)), UNIT, 3, np.random.default_rng(0))
    with pytest.raises(DataError):
        as_label_law([1.0, float("nan")])
    assert as_label_law(None) == Signs()

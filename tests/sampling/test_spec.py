"""Samplers are written in one line or in TOML, and what is unknown in either is pointed at."""

from __future__ import annotations

from typing import Any

import pytest

from relubias import sampling
from relubias.errors import ArgumentError, DataError
from relubias.sampling import Gaussian, Orthogonal, RandomProblem, Signs, SparseSigns, Teacher, TwoSamples, VardiShamir
from relubias.sampling.spec import as_spectrum

LINES = {
    "gaussian n=100 d=1e12 test=50": RandomProblem(100, Gaussian(10**12), n_test=50),
    "gaussian d=1e6 n=20 spectrum=power-law:1.5": RandomProblem(
        20, Gaussian(10**6, spectrum=as_spectrum("power-law:1.5"))
    ),
    "sparse-signs n=5 d=200 density=0.1": RandomProblem(5, SparseSigns(200, 0.1)),
    "vardi-shamir gamma=2": VardiShamir(2),
    "orthogonal n=3 squared-norms=1,2,3": Orthogonal(3, (1, 2, 3)),
    "two-samples angle=60 labels=1,-2": TwoSamples(60, (1.0, -2.0)),
    "lemma5-counterexample": sampling.Lemma5Counterexample(),
    "coherent n=5 cosine=0.2": sampling.Coherent(5, 0.2),
    "duplicates n=5 copies=2 conflicting=true": sampling.Duplicates(5, 2, True),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_names_a_sampler_that_toml_brings_back(line: str) -> None:
    sampler = sampling.parse(line)
    assert sampler == LINES[line]
    assert sampling.from_toml(sampling.to_toml(sampler)) == sampler


def test_labels_have_a_line_of_their_own() -> None:
    sampler = sampling.parse("gaussian n=10 d=100", "teacher +,- noise=0.1")
    assert isinstance(sampler, RandomProblem)
    assert sampler.labels == Teacher((1, -1), noise=0.1)
    assert sampling.from_toml(sampling.to_toml(sampler)) == sampler
    assert sampling.parse("orthogonal n=4", "signs 0.5..2") == Orthogonal(4, labels=Signs(0.5, 2.0))
    with pytest.raises(ArgumentError, match="has labels of its own"):
        sampling.parse("vardi-shamir", "signs")


def test_a_record_draws_what_its_line_draws() -> None:
    line = sampling.draw("gaussian n=10 d=100", rng=3)
    record = sampling.draw(RandomProblem(10, Gaussian(100)), rng=3)
    assert line.gram.tolist() == record.gram.tolist()
    with pytest.raises(ArgumentError, match="a record has a law of its own"):
        sampling.draw(RandomProblem(10, Gaussian(100)), labels="signs", rng=3)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "nothing is said"),
        ("gausian n=3 d=5", "'gausian' is not known; did you mean 'gaussian'"),
        ("gaussian d=5", "gaussian: n is missing"),
        ("gaussian n=3", "gaussian: d is missing"),
        ("gaussian n=3 d=5 tset=2", "'tset' is not known; did you mean 'test'"),
        ("gaussian n=3 d=5 spectrum=power", "'power' is not known; did you mean 'power-law'"),
        ("gaussian n=3 d=5 spectrum=power-law:1:2", "takes exponent and no more"),
        ("gaussian n=three d=5", "n_samples must be a whole number"),
        ("gaussian n=3 d=0.5", "n_features must be a whole number"),
        ("two-samples", "two-samples.angle is missing"),
        ("vardi-shamir gama=2", "'gama' is not known; did you mean 'gamma'"),
    ],
)
def test_what_a_line_has_wrong_is_said(line: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        sampling.parse(line)


GOOD: dict[str, Any] = {"kind": "random", "n_samples": 5, "features": {"kind": "gaussian", "n_features": 10}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "randm"}, r"problem\.kind 'randm' is not known; did you mean 'random'"),
        ({"n_sample": 5}, r"problem\.n_sample: .* did you mean 'n_samples'"),
        ({"n_samples": 0}, "problem: n_samples must be"),
        ({"features": {"kind": "gaussian", "n_features": 10, "spectra": 1}}, "features.*spectra"),
        ({"features": {"kind": "gauss", "n_features": 10}}, "features.*gauss"),
        (
            {"features": {"kind": "gaussian", "n_features": 10, "spectrum": {"kind": "power-law", "exponent": -1}}},
            "exponent",
        ),
        ({"labels": {"kind": "signs", "fraction": 2}}, "labels: fraction must be"),
    ],
)
def test_errors_in_toml_point_at_the_key(change: dict[str, Any], message: str) -> None:
    import tomli_w

    with pytest.raises(ArgumentError, match=message):
        sampling.from_toml(tomli_w.dumps(GOOD | change))


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ArgumentError, match=r"problem\.features is missing"):
        sampling.sampler_from_dict({"kind": "random", "n_samples": 5})


def test_text_that_is_no_toml_is_bad_data() -> None:
    with pytest.raises(DataError, match="this is no TOML"):
        sampling.from_toml("kind = ")

"""Samplers are written in one line or in TOML, and what is unknown in either is pointed at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relubias import sampling
from relubias.errors import ArgumentError, DataError
from relubias.sampling import (
    Coherent,
    Duplicates,
    Gaussian,
    Given,
    Orthogonal,
    RandomProblem,
    Signs,
    SparseSigns,
    Teacher,
    TwoSamples,
    VardiShamir,
)
from relubias.sampling.spec import as_spectrum
from relubias.sampling.spectra import Blocks, Eigenvalues, Spiked

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


def with_spectrum(spectrum: Any) -> dict[str, Any]:
    return {"features": {"kind": "gaussian", "n_features": 10, "spectrum": spectrum}}


GOOD: dict[str, Any] = {"kind": "random", "n_samples": 5, "features": {"kind": "gaussian", "n_features": 10}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "randm"}, r"problem\.kind 'randm' is not known; did you mean 'random'"),
        ({"n_sample": 5}, r"problem\.n_sample: .* did you mean 'n_samples'"),
        ({"n_samples": 0}, "problem: n_samples must be"),
        ({"features": {"kind": "gaussian", "n_features": 10, "spectra": 1}}, "features.*spectra"),
        ({"kind": ["random"]}, r"^problem\.kind \['random'\] is not known"),
        (
            {"features": {"kind": "gaussien", "n_features": 10}},
            r"^features\.kind 'gaussien' .* did you mean 'gaussian'",
        ),
        ({"features": {"kind": ["gaussian"], "n_features": 10}}, r"^features\.kind \['gaussian'\] is not known"),
        ({"features": {"kind": "gaussian"}}, r"^features\.n_features is missing"),
        ({"features": {"kind": "gaussian", "n_features": 0}}, "^features: n_features must be"),
        ({"features": {"kind": "gaussian", "n_feature": 9}}, r"^features\.n_feature: .* did you mean 'n_features'"),
        ({"features": {"kind": "student-t", "n_features": 9, "degrees": -1}}, "^features: degrees must be"),
        ({"features": "gaussian"}, "^features must be a table with a kind"),
        (with_spectrum({"kind": "power-law", "exponent": -1}), r"^features\.spectrum: the exponent"),
        (with_spectrum({"kind": "power-law"}), r"^features\.spectrum\.exponent is missing"),
        (with_spectrum({"kind": ["flat"]}), r"^features\.spectrum\.kind \['flat'\] is not known"),
        (with_spectrum({"kind": "blocks", "parts": [[1, 2], 3]}), r"^features\.spectrum: a spectrum of blocks needs"),
        (with_spectrum("flat"), r"^features\.spectrum must be a table"),
        ({"labels": {"kind": "given", "values": ["a"]}}, "^labels: labels must be real numbers"),
        ({"labels": {"kind": "signs", "fraction": 2}}, "labels: fraction must be"),
    ],
)
def test_errors_in_toml_point_at_the_key(change: dict[str, Any], message: str) -> None:
    import tomli_w

    with pytest.raises((ArgumentError, DataError), match=message):
        sampling.from_toml(tomli_w.dumps(GOOD | change))


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ArgumentError, match=r"problem\.features is missing"):
        sampling.sampler_from_dict({"kind": "random", "n_samples": 5})


def test_text_that_is_no_toml_is_bad_data() -> None:
    with pytest.raises(DataError, match="this is no TOML"):
        sampling.from_toml("kind = ")


def anything(value: Any) -> Any:
    return value


#: Numbers that are none of Python's.
HALF: Any = np.float32(0.5)
PAIR: Any = np.array([1.0, 2.0])
THREE: Any = np.int64(3)


@pytest.mark.parametrize(
    "sampler",
    [
        RandomProblem(THREE, Gaussian(THREE), Signs(HALF, np.float64(2), HALF, HALF), THREE),
        RandomProblem(THREE, SparseSigns(THREE, HALF), Teacher(anything(np.array([1, -1])), "relu", HALF, THREE)),
        RandomProblem(3, Gaussian(2, spectrum=Eigenvalues(PAIR))),
        RandomProblem(3, Gaussian(4, spectrum=Blocks(anything(np.array([[2.0, 1], [1.0, 3]]))))),
        RandomProblem(3, Gaussian(40, spectrum=Spiked(THREE, HALF))),
        RandomProblem(2, Gaussian(9), Given(PAIR)),
        Orthogonal(THREE, (HALF, 1, THREE)),
        Orthogonal(2, PAIR),
        Orthogonal(2, HALF, Signs(HALF)),
        Coherent(THREE, HALF),
        Duplicates(5, THREE),
        VardiShamir(HALF),
        TwoSamples(HALF, PAIR, (HALF, THREE)),
    ],
    ids=repr,
)
def test_numbers_of_numpy_are_written_and_come_back(sampler: Any) -> None:
    again = sampling.from_toml(sampling.to_toml(sampler))
    assert again == sampler
    assert again.draw(rng=0).gram.tolist() == sampler.draw(rng=0).gram.tolist()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RandomProblem(5, anything("gaussian")), "features must be a law such as Gaussian"),
        (lambda: RandomProblem(5, Gaussian(9), anything("signs")), "labels must be a law such as Signs"),
        (lambda: RandomProblem(5, Gaussian(9), anything(Signs)), "labels must be a law such as Signs"),
        (lambda: RandomProblem(5, Gaussian(9), n_test=10**6), "1,000,005 rows, whose inner products"),
        (lambda: sampling.draw(anything(None)), "a sampler is a record or one line of text"),
        (lambda: sampling.parse(anything(5)), "named in one line of text; this is 5"),
        (lambda: sampling.from_toml(anything(b"kind = 'random'")), "from the text of a TOML file; this is bytes"),
        (lambda: sampling.sampler_from_dict(None), "problem must be a table with a kind"),
        (
            lambda: sampling.gaussian(n_samples=3, n_features=5, spectrum=anything(2.0), rng=0),
            "a spectrum is a record, its text",
        ),
        (lambda: sampling.draw(f"gaussian n={'9' * 400} d=5", rng=0), "n_samples must be a whole number"),
        (lambda: sampling.draw(f"coherent n=3 cosine={'9' * 400}", rng=0), "cosine of 3 rows must be"),
        (lambda: sampling.draw("coherent n=1e6 cosine=0.1", rng=0), "at most 20,000 are drawn"),
    ],
)
def test_what_is_no_sampler_is_refused_in_a_sentence(make: Any, message: str) -> None:
    with pytest.raises((ArgumentError, DataError), match=message):
        make()


def test_plain_values_of_a_spectrum_are_taken_by_the_functions() -> None:
    values = {"kind": "spiked", "count": 2, "size": 9}
    problem = sampling.gaussian(n_samples=3, n_features=50, spectrum=values, rng=0)  # type: ignore[arg-type]
    assert problem.population == Gaussian(50, spectrum=Spiked(2, 9.0)).population


def test_what_is_no_sampler_is_not_written() -> None:
    nothing: Any = None
    with pytest.raises(ArgumentError, match="a sampler is a RandomProblem or an instance; this is None"):
        sampling.to_toml(nothing)

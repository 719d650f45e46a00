"""Samplers by name: one line on the command line, a table in TOML.

In one line, the first word is the kind of the features or of the instance, and the rest are its fields::

    gaussian n=100 d=1e12 spectrum=power-law:1.5 test=50          orthogonal n=20          vardi-shamir gamma=2

with n, d and test for n_samples, n_features and n_test, and lists separated by commas; labels have a line of
their own (:mod:`relubias.sampling.labels`). In TOML a table has its kind and its fields by their full names, and
``features``, ``features.spectrum`` and ``labels`` are tables in it.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from relubias.errors import ArgumentError, DataError
from relubias.sampling.features import FEATURE_LAWS
from relubias.sampling.instances import INSTANCES, Instance, Labelled
from relubias.sampling.labels import LabelLaw, as_label_law
from relubias.sampling.random_problem import RandomProblem
from relubias.sampling.records import built, items, kind_of, said_of, unknown
from relubias.sampling.spectra import SPECTRA, Eigenvalues, Spectrum, spectrum_from_dict
from relubias.sampling.spelling import number, pairs

Sampler = RandomProblem | Instance

_SHORT = {"n": "n_samples", "d": "n_features", "test": "n_test"}


def sampler_from_dict(values: Any) -> Sampler:
    """Rebuild a sampler from its plain values.

    Parameters
    ----------
    values : dict
        The kind, and the fields that have no default.

    Returns
    -------
    RandomProblem or Instance

    Raises
    ------
    ArgumentError, DataError
        With the key, where something is unknown, missing or out of range.
    """
    kinds: dict[str, Any] = {RandomProblem.kind: RandomProblem, **INSTANCES}
    sampler: Sampler = kinds[kind_of(values, kinds, "problem")].from_dict(values)
    return sampler


def to_toml(sampler: Sampler) -> str:
    """Write a sampler as TOML; fields that are None are left out.

    Parameters
    ----------
    sampler : RandomProblem or Instance

    Returns
    -------
    str

    Raises
    ------
    ArgumentError
        If it is no sampler.
    """
    import tomli_w

    if not isinstance(sampler, RandomProblem | Instance):
        raise ArgumentError(f"a sampler is a RandomProblem or an instance; this is {sampler!r:.80}.")

    return tomli_w.dumps(_without_none(sampler.as_dict()))


def from_toml(text: str) -> Sampler:
    """Read a sampler from TOML.

    Parameters
    ----------
    text : str
        Of the file, not its name.

    Returns
    -------
    RandomProblem or Instance

    Raises
    ------
    ArgumentError, DataError
        If it is no text, or no TOML; with the key, where something is unknown, missing or out of range.
    """
    if not isinstance(text, str):
        raise DataError(f"a sampler is read from the text of a TOML file; this is {type(text).__name__}.")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"this is no TOML: {str(error).rstrip('.')}.") from error
    return sampler_from_dict(values)


def parse(text: str, labels: Any = None) -> Sampler:
    """Read a sampler from one line.

    Parameters
    ----------
    text : str
        Such as ``gaussian n=100 d=1e12 test=50`` or ``vardi-shamir gamma=2``.
    labels : LabelLaw, str or array_like, optional
        Such as ``signs 0.5..2``; by default ±1, half each.

    Raises
    ------
    ArgumentError, DataError
        With the nearest known word where one is unknown; where labels are no numbers, or are given to an instance that
        has its own.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"a random problem is named in one line of text; this is {text!r:.80}.")
    words = text.split()
    kinds = [*FEATURE_LAWS, *INSTANCES]
    if not words:
        raise ArgumentError(f"nothing is said of the random problem; it is one of: {', '.join(kinds)}.")
    kind = words[0]
    if kind in INSTANCES:
        return _instance(kind, words[1:], labels)
    if kind not in FEATURE_LAWS:
        raise unknown("random problem: the kind", kind, kinds)
    return _random(kind, words[1:], as_label_law(labels))


def _instance(kind: str, words: list[str], labels: Any) -> Instance:
    make = INSTANCES[kind]
    known = [field.name for field in dataclasses.fields(make)]  # type: ignore[arg-type]
    labelled = issubclass(make, Labelled)
    if labelled:
        known.remove("labels")
    short = {name: field for name, field in _SHORT.items() if field in known}
    fields = {key: _value(word) for key, word in pairs(words, known, short, kind).items()}
    if labelled:
        fields["labels"] = as_label_law(labels)
    elif labels is not None:
        raise ArgumentError(f"{kind} has labels of its own; leave out the law of the labels.")
    return built(make, fields, kind)


def _random(kind: str, words: list[str], labels: LabelLaw) -> RandomProblem:
    known = [field.name for field in dataclasses.fields(FEATURE_LAWS[kind])]
    found = pairs(words, ["n_samples", "n_test", *known], _SHORT, kind)
    own: dict[str, Any] = {key: _value(word) for key, word in found.items() if key in known and key != "spectrum"}
    if "spectrum" in found:
        own["spectrum"] = said_of(kind, parse_spectrum, text=found["spectrum"])
    for name, field in (("n", "n_samples"), ("d", "n_features")):
        if field not in found:
            raise ArgumentError(f"{kind}: {name} is missing, as in {kind} n=100 d=10000.")
    features = built(FEATURE_LAWS[kind], own, kind)
    counts: dict[str, Any] = {key: number(found[key]) for key in ("n_samples", "n_test") if key in found}
    return built(RandomProblem, {"features": features, "labels": labels, **counts}, kind)


def parse_spectrum(text: str) -> Spectrum:
    """Read ``power-law:1.5``: a kind, and the values of its fields in their order.

    Raises
    ------
    ArgumentError
        If the kind is unknown, or a value is missing, out of range or one too many.
    """
    kind, *values = text.split(":")
    if kind not in SPECTRA:
        raise unknown("the spectrum", kind, list(SPECTRA))
    names = [field.name for field in dataclasses.fields(SPECTRA[kind])]
    if len(values) > len(names):
        raise ArgumentError(f"a {kind} spectrum takes {', '.join(names)} and no more; it is {text!r}.")
    return spectrum_from_dict({"kind": kind, **dict(zip(names, map(_value, values), strict=False))})


def as_spectrum(spectrum: Spectrum | str | Sequence[float]) -> Spectrum:
    """Return a spectrum from a record, its text, or eigenvalues.

    Raises
    ------
    ArgumentError
        If it is none of these.
    """
    if isinstance(spectrum, Spectrum):
        return spectrum
    if isinstance(spectrum, str):
        return parse_spectrum(spectrum)
    if isinstance(spectrum, Mapping):
        return spectrum_from_dict(spectrum)
    values = items(spectrum)
    if values is None:
        raise ArgumentError(
            f"a spectrum is a record, its text such as power-law:1.5, or a list of eigenvalues; it is {spectrum!r:.80}."
        )
    return Eigenvalues(values)


def _value(word: str) -> Any:
    """A number, a word, or a list of them separated by commas."""
    return tuple(number(part) for part in word.split(",")) if "," in word else number(word)


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if value is not None
    }

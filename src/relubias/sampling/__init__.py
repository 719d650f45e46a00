"""Random problems at any dimension, and the classic instances.

Every function here returns a :class:`~relubias.problem.Problem`; the records behind them
(:class:`~relubias.sampling.random_problem.RandomProblem`, :mod:`~relubias.sampling.instances`) name a sampler, so that
it can be written down, read back and drawn again::

    problem = relubias.sampling.gaussian(n_samples=100, n_features=10**12, labels="teacher relu", n_test=50, rng=0)
    problem = relubias.sampling.draw("gaussian n=100 d=1e12 spectrum=power-law:1.5", rng=0)
    problem = relubias.sampling.vardi_shamir(gamma=2)

Labels are a law, its text, an array, or None: ±1, half each. The same seed gives the same bits, on one number
of BLAS threads: another number of them adds up in another order. A draw takes children of its seed, so that a Gaussian
start with the same seed is independent of the problem.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from relubias.errors import ArgumentError
from relubias.problem import Problem
from relubias.sampling.features import (
    Equicorrelated,
    FeatureLaw,
    Gaussian,
    LogNormal,
    Rademacher,
    SparseSigns,
    StudentT,
    Subspace,
    TruncatedNormal,
    Uniform,
)
from relubias.sampling.instances import (
    Coherent,
    Duplicates,
    Instance,
    Lemma5Counterexample,
    Orthogonal,
    TwoSamples,
    VardiShamir,
)
from relubias.sampling.labels import Given, LabelLaw, Signs, Teacher, as_label_law
from relubias.sampling.random_problem import RandomProblem
from relubias.sampling.spec import Sampler, as_spectrum, from_toml, parse, sampler_from_dict, to_toml
from relubias.sampling.spectra import Spectrum
from relubias.sampling.streams import Rng

__all__ = [
    "Coherent",
    "Duplicates",
    "Equicorrelated",
    "FeatureLaw",
    "Gaussian",
    "Given",
    "Instance",
    "LabelLaw",
    "Lemma5Counterexample",
    "LogNormal",
    "Orthogonal",
    "Rademacher",
    "RandomProblem",
    "Sampler",
    "Signs",
    "SparseSigns",
    "Spectrum",
    "StudentT",
    "Subspace",
    "Teacher",
    "TruncatedNormal",
    "TwoSamples",
    "Uniform",
    "VardiShamir",
    "coherent",
    "draw",
    "duplicates",
    "equicorrelated",
    "from_toml",
    "gaussian",
    "lemma5_counterexample",
    "log_normal",
    "orthogonal",
    "parse",
    "rademacher",
    "sampler_from_dict",
    "sparse_signs",
    "student_t",
    "subspace",
    "to_toml",
    "truncated_normal",
    "two_samples",
    "uniform",
    "vardi_shamir",
]

Labels = LabelLaw | str | ArrayLike | None


def draw(sampler: Sampler | str, *, labels: Labels = None, features: bool = False, rng: Rng = None) -> Problem:
    """Draw a problem from a sampler or its name.

    Parameters
    ----------
    sampler : RandomProblem, Instance or str
        A record, or one line such as ``gaussian n=100 d=1e12``.
    labels : LabelLaw, str or array_like, optional
        With a line only: the labels; by default ±1, half each.
    features : bool
        Whether to draw X itself.
    rng : int or numpy.random.Generator, optional
        Needed where anything is random.

    Returns
    -------
    Problem

    Raises
    ------
    ArgumentError, DataError
        If the line has an unknown word, a number is out of range, `rng` is missing, or X does not fit into memory.
    """
    if isinstance(sampler, str):
        return parse(sampler, labels).draw(rng=rng, features=features)
    if labels is not None:
        raise ArgumentError("labels are given with a line of text only; a record has a law of its own.")
    if not isinstance(sampler, RandomProblem | Instance):
        raise ArgumentError(f"a sampler is a record or one line of text; this is {sampler!r:.80}.")
    return sampler.draw(rng=rng, features=features)


def _spectral(spectrum: Spectrum | str | Sequence[float] | None) -> dict[str, Spectrum]:
    """The argument of a law that has a spectrum; without one the law takes its own, isotropic."""
    return {} if spectrum is None else {"spectrum": as_spectrum(spectrum)}


def _random(law: FeatureLaw, n_samples: int, labels: Labels, n_test: int, features: bool, rng: Rng) -> Problem:
    return RandomProblem(n_samples, law, as_label_law(labels), n_test).draw(rng=rng, features=features)


def gaussian(
    *,
    n_samples: int,
    n_features: int,
    spectrum: Spectrum | str | Sequence[float] | None = None,
    labels: Labels = None,
    n_test: int = 0,
    features: bool = False,
    rng: Rng,
) -> Problem:
    """Gaussian features, isotropic or with a covariance spectrum.

    Parameters
    ----------
    n_samples, n_features : int
        Without `features`, isotropic rows cost no more at n_features = 1e12 than at 1e4.
    spectrum : Spectrum, str or sequence of float, optional
        Eigenvalues of the covariance: a record of :mod:`relubias.sampling.spectra`, its text such as
        ``power-law:1.5``, or the eigenvalues themselves; by default all are 1.
    labels : LabelLaw, str or array_like, optional
        A law, its text such as ``teacher relu noise=0.1``, or the labels themselves; by default ±1, half each.
    n_test : int
        Number of test points.
    features : bool
        Draw X itself and keep it.
    rng : int or numpy.random.Generator

    Returns
    -------
    Problem
        With the population it was drawn from and, where there are any, its test points.

    Raises
    ------
    ArgumentError, DataError
        If an option is out of range, or X does not fit into memory.
    """
    return _random(Gaussian(n_features, **_spectral(spectrum)), n_samples, labels, n_test, features, rng)


def rademacher(
    *,
    n_samples: int,
    n_features: int,
    spectrum: Spectrum | str | Sequence[float] | None = None,
    labels: Labels = None,
    n_test: int = 0,
    features: bool = False,
    rng: Rng,
) -> Problem:
    """Independent components ±1, one half each.

    Parameters
    ----------
    n_samples, n_features, spectrum, labels, n_test, features, rng
        As for :func:`gaussian`, which also says what is returned and raised.
    """
    return _random(Rademacher(n_features, **_spectral(spectrum)), n_samples, labels, n_test, features, rng)


def uniform(
    *,
    n_samples: int,
    n_features: int,
    spectrum: Spectrum | str | Sequence[float] | None = None,
    labels: Labels = None,
    n_test: int = 0,
    features: bool = False,
    rng: Rng,
) -> Problem:
    """Independent components, uniform, of mean 0 and variance 1.

    Parameters
    ----------
    n_samples, n_features, spectrum, labels, n_test, features, rng
        As for :func:`gaussian`, which also says what is returned and raised.
    """
    return _random(Uniform(n_features, **_spectral(spectrum)), n_samples, labels, n_test, features, rng)


def sparse_signs(
    *,
    n_samples: int,
    n_features: int,
    density: float,
    spectrum: Spectrum | str | Sequence[float] | None = None,
    labels: Labels = None,
    n_test: int = 0,
    features: bool = False,
    rng: Rng,
) -> Problem:
    """Independent components that are mostly 0, else a sign.

    Parameters
    ----------
    density : float
        Probability of a component that is not 0, above 0 and at most 1.
    n_samples, n_features, spectrum, labels, n_test, features, rng
        As for :func:`gaussian`, which also says what is returned and raised.
    """
    return _random(SparseSigns(n_features, density, **_spectral(spectrum)), n_samples, labels, n_test, features, rng)


def truncated_normal(
    *,
    n_samples: int,
    n_features: int,
    bound: float,
    spectrum: Spectrum | str | Sequence[float] | None = None,
    labels: Labels = None,
    n_test: int = 0,
    features: bool = False,
    rng: Rng,
) -> Problem:
    """Independent normal components, cut off at a bound.

    Parameters
    ----------
    bound : float
        In standard deviations before the cut, from 0.01 to 8.
    n_samples, n_features, spectrum, labels, n_test, features, rng
        As for :func:`gaussian`, which also says what is returned and raised.
    """
    return _random(TruncatedNormal(n_features, bound, **_spectral(spectrum)), n_samples, labels, n_test, features, rng)


def student_t(
    *,
    n_samples: int,
    n_features: int,
    degrees: float,
    spectrum: Spectrum | str | Sequence[float] | None = None,
    labels: Labels = None,
    n_test: int = 0,
    features: bool = False,
    rng: Rng,
) -> Problem:
    """Independent components with heavy tails; a negative control.

    Parameters
    ----------
    degrees : float
        Degrees of freedom, positive; up to 2 there is no variance, and then no teacher.
    n_samples, n_features, spectrum, labels, n_test, features, rng
        As for :func:`gaussian`, which also says what is returned and raised.
    """
    return _random(StudentT(n_features, degrees, **_spectral(spectrum)), n_samples, labels, n_test, features, rng)


def log_normal(
    *,
    n_samples: int,
    n_features: int,
    sigma: float,
    spectrum: Spectrum | str | Sequence[float] | None = None,
    labels: Labels = None,
    n_test: int = 0,
    features: bool = False,
    rng: Rng,
) -> Problem:
    """Independent centred log-normal components; a negative control.

    Parameters
    ----------
    sigma : float
        Standard deviation of the logarithm, from 1e-6 to 10.
    n_samples, n_features, spectrum, labels, n_test, features, rng
        As for :func:`gaussian`, which also says what is returned and raised.
    """
    return _random(LogNormal(n_features, sigma, **_spectral(spectrum)), n_samples, labels, n_test, features, rng)


def equicorrelated(
    *,
    n_samples: int,
    n_features: int,
    correlation: float,
    spectrum: Spectrum | str | Sequence[float] | None = None,
    labels: Labels = None,
    n_test: int = 0,
    features: bool = False,
    rng: Rng,
) -> Problem:
    """Rows that are correlated with each other; a negative control.

    Parameters
    ----------
    correlation : float
        Of any two rows, from 0 to 1.
    n_samples, n_features, spectrum, labels, n_test, features, rng
        As for :func:`gaussian`, which also says what is returned and raised.
    """
    return _random(
        Equicorrelated(n_features, correlation, **_spectral(spectrum)), n_samples, labels, n_test, features, rng
    )


def subspace(
    *,
    n_samples: int,
    n_features: int,
    dimension: int,
    labels: Labels = None,
    n_test: int = 0,
    features: bool = False,
    rng: Rng,
) -> Problem:
    """Rows in a subspace of low dimension; a negative control.

    Parameters
    ----------
    dimension : int
        Of the subspace, at most n_features.
    n_samples, n_features, labels, n_test, features, rng
        As for :func:`gaussian`, which also says what is returned and raised.
    """
    return _random(Subspace(n_features, dimension), n_samples, labels, n_test, features, rng)


def orthogonal(
    *,
    n_samples: int,
    squared_norms: float | tuple[float, ...] = 1.0,
    labels: Labels = None,
    features: bool = False,
    rng: Rng = None,
) -> Problem:
    """Exactly orthogonal rows.

    Parameters
    ----------
    n_samples : int
    squared_norms : float or tuple of float
        ‖x_i‖² > 0, one for all samples or one each.
    labels : LabelLaw, str or array_like, optional
        As for :func:`gaussian`, but no teacher.
    features : bool
        Keep X as well.
    rng : int or numpy.random.Generator, optional
        Needed where the labels are drawn.

    Returns
    -------
    Problem

    Raises
    ------
    ArgumentError, DataError
        If an option is out of range, labels need a teacher, or `rng` is missing.
    """
    return Orthogonal(n_samples, squared_norms, as_label_law(labels)).draw(rng=rng, features=features)


def coherent(
    *, n_samples: int, cosine: float, labels: Labels = None, features: bool = False, rng: Rng = None
) -> Problem:
    """Unit rows, any two of which have the same cosine.

    Parameters
    ----------
    cosine : float
        From −1/(n − 1), where the rows are dependent, to 1, where they coincide.
    n_samples, labels, features, rng
        As for :func:`orthogonal`, which also says what is returned and raised.
    """
    return Coherent(n_samples, cosine, as_label_law(labels)).draw(rng=rng, features=features)


def duplicates(
    *, n_samples: int, copies: int = 1, conflicting: bool = False, labels: Labels = None, rng: Rng = None
) -> Problem:
    """Orthogonal unit rows, the last `copies` of which repeat the first, with its label or the opposite one.

    Parameters
    ----------
    n_samples : int
        At least 2, the copies included.
    copies : int
        From 1 to n_samples − 1.
    conflicting : bool
        Whether copies have the opposite label.
    labels : LabelLaw, str or array_like, optional
        Of the n_samples − copies rows that are no copies; else as for :func:`orthogonal`.
    rng : int or numpy.random.Generator, optional
        Needed where the labels are drawn.

    Returns
    -------
    Problem
        With its features.

    Raises
    ------
    ArgumentError, DataError
        As :func:`orthogonal` does.
    """
    return Duplicates(n_samples, copies, conflicting, as_label_law(labels)).draw(rng=rng)


def vardi_shamir(*, gamma: float = 1.0) -> Problem:
    """The family of Vardi and Shamir (2021): rows (3, −1, 0), (4, 2, 0), (0, γ, γ), labels (16, 18, 0).

    One ReLU. The global minimisers are {(5, −1, c): c ≤ 1} for every γ, but the limit of gradient descent depends on γ.

    Parameters
    ----------
    gamma : float
        γ > 0.

    Returns
    -------
    Problem
        With its features.

    Raises
    ------
    ArgumentError
        If γ is no positive number, or so large or small that its square is none.
    """
    return VardiShamir(gamma).draw()


def lemma5_counterexample() -> Problem:
    """Three samples of which the third, active and with a positive label, goes off at the first step.

    From β = 1e-3 for all samples with η = ½; the hypotheses of the paper's Lemma 5 do not hold here.
    """
    return Lemma5Counterexample().draw()


def two_samples(
    *, angle: float, labels: tuple[float, float] = (1.0, -1.0), norms: tuple[float, float] = (1.0, 1.0)
) -> Problem:
    """Two samples in the plane.

    Parameters
    ----------
    angle : float
        Between them, in degrees.
    labels : tuple of float
        y₁ and y₂.
    norms : tuple of float
        ‖x₁‖ and ‖x₂‖, positive.

    Returns
    -------
    Problem
        With its features.

    Raises
    ------
    ArgumentError
        If a number is out of range.
    """
    return TwoSamples(angle, labels, norms).draw()

"""The feature laws by name, and how a law is read back from plain values.

====================  =============================================================  ==========================
kind                  rows                                                           the Gram matrix costs
====================  =============================================================  ==========================
``gaussian``          N(0, Σ) with any spectrum                                      N² for equal eigenvalues
``rademacher``        signs                                                          N² d
``uniform``           uniform components                                             N² d
``sparse-signs``      signs, most of them missing                                    N² d
``truncated-normal``  bounded normal components                                      N² d
``student-t``         heavy-tailed components                                        N² d
``log-normal``        skewed, heavy-tailed components                                N² d
``equicorrelated``    Gaussian, not independent of each other                        as ``gaussian``
``subspace``          Gaussian on a subspace of low dimension                        N² r, or N² where r ≥ N
====================  =============================================================  ==========================
"""

from __future__ import annotations

from typing import Any

from relubias.sampling.components import LogNormal, Rademacher, SparseSigns, StudentT, TruncatedNormal, Uniform
from relubias.sampling.dependent import Equicorrelated, Subspace
from relubias.sampling.law import FeatureLaw
from relubias.sampling.normal import Gaussian
from relubias.sampling.records import rebuilt
from relubias.sampling.spectra import spectrum_from_dict

__all__ = [
    "Equicorrelated",
    "FeatureLaw",
    "Gaussian",
    "LogNormal",
    "Rademacher",
    "SparseSigns",
    "StudentT",
    "Subspace",
    "TruncatedNormal",
    "Uniform",
    "features_from_dict",
]

_LAWS: tuple[type[FeatureLaw], ...] = (
    Gaussian,
    Rademacher,
    Uniform,
    SparseSigns,
    TruncatedNormal,
    StudentT,
    LogNormal,
    Equicorrelated,
    Subspace,
)

#: The laws by their kind.
FEATURE_LAWS: dict[str, type[FeatureLaw]] = {law.kind: law for law in _LAWS}


def features_from_dict(values: Any, where: str = "features") -> FeatureLaw:
    """Rebuild a feature law from its ``as_dict``.

    Parameters
    ----------
    values : dict
        The kind, and the fields that have no default.
    where : str
        The key at which they stand, for messages.

    Returns
    -------
    FeatureLaw

    Raises
    ------
    ArgumentError
        With the key, if the kind or a field is unknown, a field is missing, or a value makes no sense.
    """
    return rebuilt(FEATURE_LAWS, values, where, {"spectrum": spectrum_from_dict})

"""relubias: which zero-loss solution does gradient descent on a ReLU model pick?

Everything public is listed in ``__all__`` and imported when it is first used, so that ``import relubias``
itself costs nothing::

    problem = relubias.read("expression.csv.gz", target="y")
    report = relubias.analyze(problem, relubias.Network.single())
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relubias import claims, errors, sampling, starts, step_sizes, studies, theory
    from relubias.analysis import Analysis, analyze
    from relubias.comparison import Gap, gap
    from relubias.dynamics.descent import Descent, gradient_descent
    from relubias.dynamics.flow import Flow, gradient_flow
    from relubias.dynamics.run import Run
    from relubias.errors import ArgumentError, DataError, RelubiasError
    from relubias.files import read
    from relubias.network import Network
    from relubias.problem import Problem
    from relubias.references import certify, minimum_norm
    from relubias.references.record import MinimumNorm
    from relubias.state import State
    from relubias.status import Status
    from relubias.step_comparison import compare

__version__ = "0.1.0"

__all__ = [
    "Analysis",
    "ArgumentError",
    "DataError",
    "Descent",
    "Flow",
    "Gap",
    "MinimumNorm",
    "Network",
    "Problem",
    "RelubiasError",
    "Run",
    "State",
    "Status",
    "__version__",
    "analyze",
    "certify",
    "claims",
    "compare",
    "errors",
    "gap",
    "gradient_descent",
    "gradient_flow",
    "minimum_norm",
    "read",
    "sampling",
    "starts",
    "step_sizes",
    "studies",
    "theory",
]

_MODULES = ("claims", "errors", "sampling", "starts", "step_sizes", "studies", "theory")

_NAMES = {
    "relubias.analysis": ("Analysis", "analyze"),
    "relubias.comparison": ("Gap", "gap"),
    "relubias.dynamics.descent": ("Descent", "gradient_descent"),
    "relubias.dynamics.flow": ("Flow", "gradient_flow"),
    "relubias.dynamics.run": ("Run",),
    "relubias.errors": ("ArgumentError", "DataError", "RelubiasError"),
    "relubias.files": ("read",),
    "relubias.network": ("Network",),
    "relubias.problem": ("Problem",),
    "relubias.references": ("certify", "minimum_norm"),
    "relubias.references.record": ("MinimumNorm",),
    "relubias.state": ("State",),
    "relubias.step_comparison": ("compare",),
    "relubias.status": ("Status",),
}

_HOME = {name: home for home, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

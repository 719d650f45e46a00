"""The start that the options of ``relubias analyze`` ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from relubias.cli.certify import read_weights
from relubias.errors import ArgumentError

if TYPE_CHECKING:
    from relubias.network import Network
    from relubias.problem import Problem
    from relubias.state import State

#: Files of weights are known by these suffixes.
WEIGHTS = (".npy", ".txt", ".csv")


def start_of(
    problem: Problem, network: Network, name: str | None, *, scale: float | None, depth: float | None, rng: int | None
) -> State | None:
    """The start that was asked for; None leaves the choice to the analysis."""
    from relubias import starts

    if depth is not None and name != "disjoint":
        raise ArgumentError("--depth is that of a disjoint start; add --start disjoint.")
    if name == "gaussian":
        return starts.gaussian(problem, network, scale=scale, rng=rng or 0)
    if name in ("balanced", "aligned"):
        return starts.balanced(problem, network, scale=scale, aligned=name == "aligned", rng=rng or 0)
    if name == "disjoint":
        return starts.disjoint(problem, network, scale=scale, depth=depth)
    if name == "all-active" or (name is None and scale is not None):
        return starts.all_active(problem, network, scale=scale)
    if name is None:
        return None
    if Path(name).suffix in WEIGHTS:
        if scale is not None:
            raise ArgumentError("--scale is that of a start that is made; weights from a file have their own.")
        return starts.from_weights(problem, network, read_weights(Path(name)))
    raise ArgumentError(
        f"--start {name!r} is none of: all-active, gaussian, disjoint, balanced, aligned, a file of weights "
        f"({', '.join(WEIGHTS)})."
    )

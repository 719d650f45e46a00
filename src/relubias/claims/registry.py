"""All claims, in the order in which they are read.

A claim is a module of this folder with a ``CLAIM`` in it, whose id is the name of the module. To add one, add a file;
to take one out, delete it. Nothing else has a list of them.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import Path

from relubias.claims.claim import Claim
from relubias.errors import ArgumentError

#: Modules of this folder that are no claims.
FRAME = frozenset({"claim", "registry", "reproduce", "result", "page", "usable", "writing"})


def ids() -> list[str]:
    """Names of all claims, in alphabetical order; none of them is imported."""
    folder = str(Path(__file__).parent)
    return sorted(module.name for module in pkgutil.iter_modules([folder]) if module.name not in FRAME)


def load(id: str) -> Claim:
    """The claim with this id.

    Parameters
    ----------
    id : str
        The name of its module.

    Returns
    -------
    Claim

    Raises
    ------
    ArgumentError
        If there is none; the nearest ones are named.
    """
    known = ids()
    if id not in known:
        near = difflib.get_close_matches(id, known, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}" if near else f"there are {', '.join(known)}"
        raise ArgumentError(f"there is no claim {id!r}; {hint}.")
    claim: Claim = importlib.import_module(f"relubias.claims.{id}").CLAIM
    return claim


def chosen(wanted: Sequence[str] | None = None) -> tuple[Claim, ...]:
    """The claims with these ids, or all, in reading order.

    Parameters
    ----------
    wanted : sequence of str, optional
        Ids, in which a dash may stand for a line below; by default all there are.

    Returns
    -------
    tuple of Claim

    Raises
    ------
    ArgumentError
        If an id is unknown, or none is given.
    """
    if wanted is not None and not wanted:
        raise ArgumentError(f"no claim is named; there are {', '.join(ids())}.")
    names = ids() if wanted is None else dict.fromkeys(name.strip().replace("-", "_") for name in wanted)
    return tuple(sorted((load(name) for name in names), key=lambda claim: claim.order))

"""``relubias certify``: how far given weights, from any package, are from the minimum-norm solution."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relubias.cli import options
from relubias.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def certify_command(
    file: options.File,
    weights: Annotated[Path, typer.Option("--weights", help="One weight a feature, in a .npy file or as text.")],
    target: options.Target = None,
    preprocess: options.Preprocess = "none",
    centre_labels: options.CentreLabels = False,
    network: options.NetworkSigns = "single",
    json: options.Json = False,
) -> int:
    """Check the optimality conditions of given weights, recomputed from the data."""
    from relubias.cli.output import json_text

    signs = options.network(network)
    candidate = read_weights(weights)
    problem = options.problem(file, target, preprocess, centre_labels)
    from relubias.references import certify
    from relubias.state import State

    state = State.from_weights(problem, signs, candidate)
    kkt = certify(problem, signs, state)
    residuals = {name: float(getattr(kkt, name)) for name in ("primal", "dual", "complementarity")}
    values = {"norm": state.norm, "orthogonal_norm": state.orthogonal_norm, "kkt": residuals}
    if json:
        typer.echo(json_text(values), nl=False)
        return 0
    typer.echo(f"weights: norm {state.norm:.12g}, of which {state.orthogonal_norm:.3g} outside the span of the samples")
    typer.echo("optimality conditions of the minimum-norm solution, recomputed from K, relative:")
    for name, residual in residuals.items():
        typer.echo(f"  {name:<16} {residual:.2e}")
    return 0


def read_weights(path: Path) -> NDArray[Any]:
    """Read weights from ``.npy``, or from text: numbers in rows or columns, one row a neuron if there are several.

    Raises
    ------
    DataError
        If there is no such file or it holds something else.
    """
    import numpy as np

    try:
        if path.suffix == ".npy":
            array = np.load(path, allow_pickle=False)
        else:
            array = np.loadtxt(path, delimiter="," if "," in path.read_text() else None, ndmin=2)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"cannot read weights from {path}: {error}.") from error
    if array.dtype.kind not in "biuf":
        raise DataError(f"weights in {path} must be real numbers; their dtype is {array.dtype}.")
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array

"""``relubias certify``: how far given weights, from any package, are from the minimum-norm solution."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relubias.cli import options
from relubias.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from relubias.references import Certificate


def certify_command(
    weights: Annotated[
        Path, typer.Option("--weights", help="One weight a feature, a row for each neuron, in a .npy file or as text.")
    ],
    file: options.File = None,
    outer: Annotated[
        Path | None,
        typer.Option(
            "--output-weights",
            help="One output weight a neuron, where they are trained too: judged is then the variation norm.",
        ),
    ] = None,
    random: options.Random = None,
    random_labels: options.RandomLabels = None,
    rng: Annotated[
        int | None, typer.Option("--rng", help="Seed of --random, whose features are drawn here; by default 0.")
    ] = None,
    target: options.Target = None,
    labels: options.Labels = None,
    preprocess: options.Preprocess = "none",
    centre_labels: options.CentreLabels = False,
    network: options.NetworkSigns = "single",
    search_budget: options.SearchBudget = None,
    json: options.Json = False,
) -> int:
    """Check the optimality conditions of given weights, recomputed from the data."""
    import numpy as np

    from relubias.cli.output import json_text
    from relubias.cli.progress import ProgressLine

    if random is not None:
        options.require_no_file(file, target, preprocess, centre_labels, labels=labels)
    elif random_labels is not None or rng is not None:
        raise ArgumentError("--random-labels and --rng are those of a drawn problem; add --random.")
    signs = options.network(network, train_output=outer is not None)
    of = "global" if outer is None else "variation"
    budget = options.search_budget(search_budget)
    candidate, heads = read_weights(weights), None if outer is None else np.ravel(read_weights(outer))
    with ProgressLine() as line:
        if random is None:
            line.announce(f"reading {file}")
            problem = options.problem(file, target, preprocess, centre_labels, labels=labels)
        else:
            line.announce("drawing the problem")
            problem = options.sampler(random, random_labels).draw(rng=rng or 0, features=True)
        from relubias.references import certify
        from relubias.state import State

        line.announce("checking the optimality conditions of the weights")
        state = State.from_weights(problem, signs, candidate, outer=heads)
        proof = certify(problem, signs, state, of=of, budget=budget)
    if json:
        typer.echo(json_text(_as_dict(proof)), nl=False)
        return options.INTERRUPTED if proof.interrupted else 0
    typer.echo("\n".join([f"{proof.message}\n", *_lines(proof, of)]))
    return options.INTERRUPTED if proof.interrupted else 0


def _lines(proof: Certificate, of: str) -> list[str]:
    """What was found, a line each."""
    residuals = ", ".join(f"{key} {value:.1e}" for key, value in proof.kkt.as_dict().items())
    if of == "variation":
        sizes = [
            f"Σ|a_k|‖w_k‖       {proof.norm:.12g}; no network that fits has less than {proof.lower_bound:.12g}",
            f"least known       {proof.shortest:.12g}",
        ]
        fitted, rest = "the label is not 0", "the label is 0"
    else:
        sizes = [f"norm              {proof.norm:.12g}; no global minimiser is shorter than {proof.lower_bound:.12g}"]
        fitted, rest = "the label has the sign of the neuron", "it has not"
        if proof.network.n_neurons > 1:
            sizes.append(f"shortest known    {proof.shortest:.12g}")
            fitted, rest = "a neuron has the sign of the label", "none has"
    return [
        *sizes,
        f"outside the span  {proof.state.orthogonal_norm:.3g} of the norm",
        f"largest misfit    {proof.misfit:.3g} where {fitted}",
        f"largest excess    {proof.excess:.3g} where {rest}; worst at {proof.problem.sample(proof.worst_sample)}",
        f"conditions        {residuals} (relative, recomputed from K)",
    ]


def _as_dict(proof: Certificate) -> dict[str, Any]:
    return {
        "optimal": proof.optimal,
        "feasible": proof.feasible,
        "message": proof.message,
        "norm": proof.norm,
        "orthogonal_norm": proof.state.orthogonal_norm,
        "lower_bound": proof.lower_bound,
        "shortest": proof.shortest if math.isfinite(proof.shortest) else None,
        "misfit": proof.misfit,
        "excess": proof.excess,
        "worst_sample": proof.problem.sample(proof.worst_sample),
        "kkt": proof.kkt.as_dict(),
        "interrupted": proof.interrupted,
    }


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
            text = path.read_text()
            if not text.strip():
                raise ValueError("it holds no numbers")
            array = np.loadtxt(text.splitlines(), delimiter="," if "," in text else None, ndmin=2)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"cannot read weights from {path}: {error}.") from error
    if array.dtype.kind not in "biuf":
        raise DataError(f"weights in {path} must be real numbers; their dtype is {array.dtype}.")
    return np.asarray(array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array)

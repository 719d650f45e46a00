"""A trajectory as tidy tables, written as Parquet files that pandas, polars, R or DuckDB read as they are.

* **Samples**: one row per recorded step, neuron and sample, with β, α and whether the sample is active.
* **Neurons**: one row per recorded step and neuron, with ‖w_k‖, its number of active samples, and the loss ½‖r‖².

Neurons are counted from 1, as in the report. The metadata of both files tell what was run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from relubias.dynamics.run import Run
from relubias.dynamics.trajectory import Trajectory
from relubias.errors import ArgumentError

#: Rows that are in memory as a table at a time.
BATCH_ROWS = 10**6


def write_samples(run: Run, stream: BinaryIO) -> None:
    """Write the table of samples.

    Columns: step (or time, for gradient flow), neuron, sign (of the neuron), sample (its name), label, primal (β in label units), dual (the raw
    α of the recursion), active.

    Parameters
    ----------
    run : Run
        With a trajectory.
    stream : binary file

    Raises
    ------
    ArgumentError
        If nothing was recorded.
    """
    trajectory = recorded(run)
    per_step = trajectory.primal[0].size
    _write(stream, run, trajectory, max(1, BATCH_ROWS // per_step), _sample_columns)


def write_neurons(run: Run, stream: BinaryIO) -> None:
    """Write the table of neurons.

    Columns: step (or time), neuron, sign, norm (‖w_k‖), active (number of active samples), loss (of the whole network).

    Parameters
    ----------
    run : Run
        With a trajectory.
    stream : binary file

    Raises
    ------
    ArgumentError
        If nothing was recorded.
    """
    trajectory = recorded(run)
    _write(stream, run, trajectory, len(trajectory), _neuron_columns)


def recorded(run: Run) -> Trajectory:
    """Return the trajectory of a run.

    Raises
    ------
    ArgumentError
        If there is none.
    """
    if run.trajectory is None:
        raise ArgumentError('the run has no trajectory; train with record="log", or with a list of steps.')
    return run.trajectory


def _write(
    stream: BinaryIO, run: Run, trajectory: Trajectory, steps: int, columns: Callable[[Run, Trajectory, slice], Any]
) -> None:
    """Write batches of so many recorded steps, so that a large trajectory is never a second time in memory."""
    import pyarrow.parquet

    writer = None
    for first in range(0, len(trajectory), steps):
        table = columns(run, trajectory, slice(first, first + steps)).replace_schema_metadata(_metadata(run))
        writer = writer or pyarrow.parquet.ParquetWriter(stream, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _sample_columns(run: Run, trajectory: Trajectory, chosen: slice) -> Any:
    import pyarrow

    problem, primal = run.problem, trajectory.primal[chosen]
    steps, m, n = primal.shape
    names = problem.sample_names or [problem.sample(i) for i in range(n)]
    places = pyarrow.array(np.tile(np.arange(n, dtype=np.int32), steps * m))
    return pyarrow.table(
        _labelled(run, trajectory, chosen, each=n)
        | {
            "sample": pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(names)),
            "label": np.tile(problem.labels, steps * m),
            "primal": primal.ravel(),
            "dual": trajectory.dual[chosen].ravel(),
            "active": trajectory.pattern[chosen].ravel(),
        }
    )


def _neuron_columns(run: Run, trajectory: Trajectory, chosen: slice) -> Any:
    import pyarrow

    norms = trajectory.norms[chosen]
    return pyarrow.table(
        _labelled(run, trajectory, chosen, each=1)
        | {
            "norm": norms.ravel(),
            "active": trajectory.pattern[chosen].sum(axis=2).ravel(),
            "loss": np.repeat(trajectory.loss[chosen], norms.shape[1]),
        }
    )


def _labelled(run: Run, trajectory: Trajectory, chosen: slice, *, each: int) -> dict[str, Any]:
    """The columns step (time, of a flow), neuron and sign, `each` rows for one step and neuron."""
    times, m = trajectory.times[chosen], run.network.n_neurons
    return {
        ("time" if run.is_flow else "step"): np.repeat(times, m * each),
        "neuron": np.tile(np.repeat(np.arange(1, m + 1, dtype=np.int32), each), len(times)),
        "sign": np.tile(np.repeat(np.array(run.network.signs, dtype=np.int8), each), len(times)),
    }


def _metadata(run: Run) -> dict[str, str]:
    return {
        "source": run.problem.source,
        "network": str(run.network),
        "step_size": repr(run.step_size),
        "status": str(run.status),
        "message": run.message,
    }

"""The tables of a trajectory hold its numbers, one row a step, neuron and sample, however they are batched."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from helpers import random_problem

from relubias import Network, Problem, Run, gradient_descent, starts
from relubias.errors import ArgumentError
from relubias.report import trajectory_rows
from relubias.report.trajectory_rows import write_neurons, write_samples

NETWORK = Network.of_signs([1, -1, -1])
NAMES = [f"patient {i}" for i in range(10)]


@pytest.fixture(scope="module")
def run() -> Run:
    samples = random_problem(10, 100, seed=0)
    problem = Problem.from_features(samples.features, samples.labels, sample_names=NAMES)
    return gradient_descent(problem, NETWORK, starts.all_active(problem, NETWORK), record=[0, 1, 5, 80])


def samples_of(run: Run) -> pd.DataFrame:
    stream = io.BytesIO()
    write_samples(run, stream)
    return pd.read_parquet(stream)


def neurons_of(run: Run) -> pd.DataFrame:
    stream = io.BytesIO()
    write_neurons(run, stream)
    return pd.read_parquet(stream)


def test_every_entry_of_the_trajectory_is_in_its_row(run: Run) -> None:
    table, trajectory = samples_of(run), run.trajectory
    assert trajectory is not None
    assert len(table) == 4 * 3 * 10
    for t, step in enumerate([0, 1, 5, 80]):
        for k in range(3):
            rows = table[(table["step"] == step) & (table["neuron"] == k + 1)]
            assert list(rows["sample"]) == NAMES
            assert set(rows["sign"]) == {NETWORK.signs[k]}
            assert np.array_equal(rows["label"], run.problem.labels)
            assert np.array_equal(rows["primal"], trajectory.primal[t, k])
            assert np.array_equal(rows["dual"], trajectory.dual[t, k])
            assert np.array_equal(rows["active"], trajectory.primal[t, k] > 0)


def test_norms_and_losses_are_in_the_table_of_neurons(run: Run) -> None:
    table, trajectory = neurons_of(run), run.trajectory
    assert trajectory is not None
    assert np.array_equal(table["norm"].to_numpy().reshape(4, 3), trajectory.norms)
    assert np.array_equal(table["loss"].to_numpy().reshape(4, 3)[:, 1], trajectory.loss)
    assert np.array_equal(table["active"].to_numpy().reshape(4, 3), trajectory.pattern.sum(axis=2))
    assert list(table["neuron"]) == [1, 2, 3] * 4


def test_batches_make_the_same_table(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = samples_of(run)
    monkeypatch.setattr(trajectory_rows, "BATCH_ROWS", 65)  # two steps of 30 rows
    stream = io.BytesIO()
    write_samples(run, stream)
    assert pyarrow.parquet.ParquetFile(stream).num_row_groups == 2
    pd.testing.assert_frame_equal(pd.read_parquet(stream), whole)


def test_samples_without_names_are_called_as_in_the_report() -> None:
    problem = random_problem(4, 40, seed=0)
    network = Network.single()
    run = gradient_descent(problem, network, starts.all_active(problem, network), until=2, record=[2])
    assert list(samples_of(run)["sample"]) == ["row 1", "row 2", "row 3", "row 4"]


def test_the_file_tells_what_was_run(run: Run) -> None:
    stream = io.BytesIO()
    write_neurons(run, stream)
    metadata = pyarrow.parquet.read_schema(stream).metadata
    assert metadata[b"status"] == b"certified"
    assert float(metadata[b"step_size"]) == run.step_size


def test_a_run_without_a_trajectory_is_refused() -> None:
    problem = random_problem(4, 40, seed=0)
    network = Network.single()
    run = gradient_descent(problem, network, starts.all_active(problem, network), until=2)
    with pytest.raises(ArgumentError, match='train with record="log"'):
        write_samples(run, io.BytesIO())

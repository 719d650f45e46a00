"""Judges of claims on made-up rows, for which they have to say yes and no."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from relubias import claims
from relubias.claims import disjoint_depth, disjoint_partition
from relubias.claims.claim import Verdict

IDS = (
    "pair_decouples", "pair_law", "disjoint_partition", "disjoint_depth", "disjoint_gap", "equal_steps_many",
    "orthogonal_rows", "worst_case", "flow_near", "finite_step", "activations", "losses", "test_error",
)  # fmt: skip


def cells(columns: dict[str, Any], count: int) -> pd.DataFrame:
    """Done and certified cells."""
    head = {"trial": range(count), "status": "done", "failure": None, "run.status": "certified"}
    head["reference.status"] = "optimal"
    return pd.DataFrame(head | columns)


def pair(share: float) -> dict[str, pd.DataFrame]:
    """Draws of which a share decoupled."""
    decoupled = np.arange(100) < 100 * share
    columns = {name: decoupled.astype(float) for name in ("run.positive_fitted", "run.negative_fitted")}
    return {"pair_decouples": cells({"run.decoupled": decoupled, "problem.n_samples": 20} | columns, 100)}


def divided(kept: float, fitted: float = 1.0) -> dict[str, pd.DataFrame]:
    """Draws of which a share keeps its partition, and a share fits all labels."""
    parts = [
        cells(
            {
                "network.signs": signs,
                "problem.n_samples": 50,
                "problem.features.n_features": 5000,
                "run.partition_kept": np.arange(100) < 100 * kept,
                "run.interpolated": np.where(np.arange(100) < 100 * fitted, 50, 49),
            },
            100,
        )
        for signs in disjoint_partition.NEURONS.values()
    ]
    return {"disjoint_partition": pd.concat(parts, ignore_index=True)}


def deep(*thresholds: float, seed: int = 0) -> dict[str, pd.DataFrame]:
    """Draws of each setting that keep their partition ever more often around a depth, in units that scatter."""
    rng, tables = np.random.default_rng(seed), {}
    for word, middle in zip(disjoint_depth.SETTINGS, thresholds, strict=True):
        unit = 0.1 * rng.lognormal(0, 0.05, 200)
        x = np.geomspace(0.3, 3.0, 200)
        kept = rng.random(200) < 1 / (1 + (x / middle) ** -15)
        columns = {"start.depth": x * unit, "start.depth_unit": unit, "run.partition_kept": kept}
        tables[f"disjoint_depth-{word}"] = cells(columns, 200)
    return tables


def family(*distances: float) -> dict[str, pd.DataFrame]:
    """Limits of the family of Vardi and Shamir at these distances."""
    columns = {"problem.gamma": [1.0, 2.0, 5.0, 20.0], "gap.absolute": distances, "reference.norm": 26**0.5}
    return {"worst_case": cells(columns | {"run.loss": 0.0}, 4)}


@pytest.mark.parametrize(
    ("id", "yes", "no"),
    [
        ("pair_decouples", pair(1.0), pair(0.5)),
        ("disjoint_partition", divided(1.0), divided(0.5)),
        ("disjoint_partition", divided(1.0), divided(1.0, fitted=0.5)),
        ("disjoint_depth", deep(0.75, 0.8, 0.85, 0.85, 0.9), deep(0.8, 0.8, 0.8, 0.8, 1.9)),
        ("disjoint_depth", deep(0.75, 0.8, 0.85, 0.85, 0.9), deep(0.4, 0.4, 0.4, 0.4, 0.4)),
        ("worst_case", family(0.04, 0.1104, 0.2092, 0.2302), family(0.04, 0.04, 0.04, 0.04)),
    ],
)
def test_a_judge_says_yes_and_no(id: str, yes: dict[str, pd.DataFrame], no: dict[str, pd.DataFrame]) -> None:
    judge = claims.load(id).judge
    assert judge(yes).verdict is Verdict.SUPPORTED
    assert judge(no).verdict is Verdict.NOT_SUPPORTED


def test_partitions_that_were_kept_at_no_proven_limit_are_left_out_and_too_many_of_them_decide_nothing() -> None:
    rows = deep(0.75, 0.8, 0.85, 0.85, 0.9)
    for table in rows.values():
        table.loc[table["start.depth"] > 0.15, "run.status"] = "budget"
    assert disjoint_depth.judge(rows).verdict is Verdict.INCONCLUSIVE


def test_partitions_that_were_kept_so_far_decide_nothing() -> None:
    rows = divided(1.0)["disjoint_partition"].assign(**{"run.status": "budget"})
    assert disjoint_partition.judge({"disjoint_partition": rows}).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("id", IDS)
def test_quick_studies_are_small(id: str) -> None:
    assert sum(study.n_cells for study in claims.load(id).all_studies(True)) <= 1000

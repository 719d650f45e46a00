"""The packaged example is what its script makes, and shows what it is there to show."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np

EXAMPLE = Path(str(files("relubias") / "example_data" / "synthetic.csv"))
SCRIPT = Path(__file__).parents[1] / "scripts" / "make_example_data.py"


def test_the_script_makes_the_file_byte_for_byte() -> None:
    made = subprocess.run([sys.executable, "-X", "utf8", str(SCRIPT)], capture_output=True, check=True).stdout
    assert made.replace(b"\r\n", b"\n") == EXAMPLE.read_bytes()
    assert len(made) < 200_000


def test_gradient_descent_on_it_fits_the_positive_labels_only() -> None:
    table = np.loadtxt(EXAMPLE, delimiter=",", skiprows=1)
    labels, features = table[:, 0], table[:, 1:]
    weights = np.linalg.pinv(features) @ np.full(len(labels), 1e-3)
    step_size = 1 / np.linalg.norm(features, 2) ** 2
    for _ in range(2000):
        values = features @ weights
        weights -= step_size * features.T @ ((values > 0) * (np.maximum(values, 0) - labels))
    assert np.count_nonzero(labels > 0) == np.count_nonzero(labels < 0) == 15
    np.testing.assert_allclose(np.maximum(features @ weights, 0), np.maximum(labels, 0), atol=1e-9)

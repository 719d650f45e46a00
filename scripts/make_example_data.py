"""Make the example that comes with the package: 30 samples, 400 features, labels of both signs.

Usage: python scripts/make_example_data.py > src/relubias/example_data/synthetic.csv

Features are independent and uniform on [−√3, √3] (mean 0, variance 1), so that the effective dimension is the
number of features, 400 ≫ 30. Labels are uniform on [½, 2], every second one with a minus sign. Only
``random.Random.random`` is used, whose numbers are the same on every machine and in every version of Python.
"""

from __future__ import annotations

import math
import random
import sys

N_SAMPLES, N_FEATURES, SEED = 30, 400, 1


def example_csv() -> str:
    """Return the file as text."""
    draw = random.Random(SEED).random
    lines = [",".join(["y", *(f"f{j:03d}" for j in range(1, N_FEATURES + 1))])]
    for i in range(N_SAMPLES):
        label = (0.5 + 1.5 * draw()) * (-1) ** i
        features = [math.sqrt(3) * (2 * draw() - 1) for _ in range(N_FEATURES)]
        lines.append(",".join(f"{value:.3f}" for value in [label, *features]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(example_csv())

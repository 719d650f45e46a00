"""Where in the plane of n/d and η‖λ‖₁ is the limit near the minimum norm, and does the pattern settle at once?

40 values of n/d by 40 steps, 20 trials each, n = 50: 32 000 cells. The study goes on where it was stopped::

    python examples/phase_diagram.py --output phase

Two maps: the median relative gap to w*, and the probability that the pattern settles at step 1. The first is nearly a
function of the step alone, as the gap law says, up to n/d of about 1/10; the second falls from 1 to 0 along a line
η‖λ‖₁ ∝ √(n/d), below which the first step does not push every negative label out of the reach of the other samples.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from relubias.studies import Snapshot, Store, Study, run

N_SAMPLES = 50
STEP, DIMENSION = "dynamics.step_size", "problem.features.n_features"


def study(points: int, trials: int) -> Study:
    """`points` values of n/d from 1/1000 to 1 by as many of η‖λ‖₁ from 1/50 to 1.8."""
    dimensions = [round(N_SAMPLES / ratio) for ratio in np.geomspace(1e-3, 1.0, points)]
    steps = [f"{c:.4g}/trace" for c in np.geomspace(0.02, 1.8, points)]
    return Study.from_dict(
        {
            "name": "phase diagram",
            "seed": 1,
            "repeats": trials,
            "problem": f"gaussian n={N_SAMPLES} d=1e4",
            # A cell that is not settled after a thousand plain steps is one that has not settled at once.
            "dynamics": {"budget": 1000},
            "grid": {DIMENSION: dimensions, STEP: steps},
            "measure": {"columns": ["run.status", "run.first_step_pattern", "gap.relative"]},
        }
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, or go on with it, and draw both maps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="4 by 4 points, 2 trials")
    parser.add_argument("--output", type=Path, default=None, metavar="FOLDER", help="for the study and the two figures")
    options = parser.parse_args(arguments)
    if options.output is None:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            draw(Path(folder), quick=options.quick)
        return
    options.output.mkdir(parents=True, exist_ok=True)
    draw(options.output, quick=options.quick)


def draw(folder: Path, *, quick: bool) -> None:
    """Compute and draw in a folder."""
    from relubias.report.study_figures import phase_diagram

    points, trials = (4, 2) if quick else (40, 20)
    report = run(study(points, trials), folder / "phase.db", progress=None if quick else told)
    with Store.open(folder / "phase.db") as store:
        rows = store.to_pandas()
    print(f"{report.status.done:,} cells done, {report.status.failed:,} failed")
    rows["n/d"] = N_SAMPLES / rows[DIMENSION].astype(float)
    rows = rows.rename(
        columns={STEP: "η‖λ‖₁", "gap.relative": "relative gap", "run.first_step_pattern": "pattern settles at step 1"}
    )
    for name, value, gap in (("gap", "relative gap", True), ("settled", "pattern settles at step 1", False)):
        figure = phase_diagram(rows, value=value, x="n/d", y="η‖λ‖₁", logarithmic=gap, certified=gap)
        figure.savefig(folder / f"phase-{name}.png", dpi=110)
        print(f"drawn: {folder / f'phase-{name}.png'}")
    corner = rows[rows["n/d"] < 2e-3]
    print(f"share settled at step 1 for n/d < 1/500: {corner['pattern settles at step 1'].astype(float).mean():.3f}")


def told(snapshot: Snapshot) -> None:
    """One line now and then."""
    if snapshot.done % 1000 < 20:
        print(f"{snapshot.done:,} of {snapshot.done + snapshot.pending:,}", file=sys.stderr)


if __name__ == "__main__":
    main()

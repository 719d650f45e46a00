"""The study that ``relubias study new`` writes: small enough to run in seconds, with every table explained."""

from __future__ import annotations

from relubias.studies.measures import MEASURES

_HEAD = """\
# A study: every combination of the values in [grid], `repeats` times, one row a cell.
#
#     relubias study check {file}                          how many cells, how long, how much memory
#     relubias study run {file} --store {stem}.db          run it, or go on with it
#     relubias study status {stem}.db                      also while it runs
#     relubias study export {stem}.db {stem}.csv           or {stem}.parquet

name = {name}
seed = 1         # another seed, other problems in every cell
repeats = 10     # trials of each combination; more can be added later with --extend

# What every cell has in common. The keys are those of `relubias sample` in TOML, in full; a line such as
# problem = "gaussian n=50 d=1e4" stands for such a table. A file can be named too: file = "genes.csv", target = "y".
[problem]
kind = "random"
n_samples = 50
labels = "signs 0.5..2"            # or "teacher relu noise=0.1"; with n_test = 50 test errors can be measured

[problem.features]
kind = "gaussian"
n_features = 10_000                # 1e12 costs no more
spectrum = "isotropic"             # or "power-law:0.5", "spiked:5:100", …

[network]
signs = "single"                   # or "pair", "+,+,-"
activation = "relu"

[start]
kind = "all-active"                # or "gaussian", "disjoint", "balanced", "aligned"; scale = 1e-3 in label units

[dynamics]
kind = "descent"                   # or "flow"
step_size = "1/trace"              # in units of 1/‖λ‖₁; "1/lmax", or a number

[reference]
of = "global"                      # or "pattern", "partition", "linear", "variation"

# What is varied: any key above with the list of its values. All combinations are computed.
[grid]
dynamics.step_size = ["1/trace", "0.5/trace", "0.1/trace"]

# Keys that are varied together, one table a group: here d = 20 n.
[[linked]]
problem.n_samples = [20, 40, 80]
problem.features.n_features = [400, 800, 1600]

[measure]
columns = [
    "run.status", "run.stabilised_at", "run.pattern_changes",
    "gap.absolute", "gap.relative", "reference.norm", "reference.kkt",
]
# Everything that can be measured:
"""

_TAIL = """
# A cell over one of its limits fails, and the study goes on.
[limits]
seconds = 60
megabytes = 500
"""


def example(name: str, *, file: str, stem: str) -> str:
    """Return the text of the file, with the name of the study and of its files in it."""
    import tomli_w

    quoted = tomli_w.dumps({"name": name}).partition("=")[2].strip()
    width = max(map(len, MEASURES))
    listed = "".join(f"#   {column:{width}}  {measure.meaning}\n" for column, measure in MEASURES.items())
    return _HEAD.format(name=quoted, file=file, stem=stem) + listed + _TAIL

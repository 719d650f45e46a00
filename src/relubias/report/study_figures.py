"""Figures of studies, pure functions of rows: all of them under one name.

::

    scaling(rows, y=…, x=…, slope=…)               log–log: trials, medians with intervals, a slope to compare with
    phase_diagram(rows, value=…, x=…, y=…)         a map over two coordinates
    distribution(rows, value=…, by=…)              cumulative shares or histograms
    survival(rows, by=…)                           the share of cells that have not settled, against the step

Each returns a matplotlib Figure that needs no display, says in its title which cells it is made of, and reads in
black and white.
"""

from __future__ import annotations

from relubias.report.distribution import distribution
from relubias.report.phase_diagram import phase_diagram
from relubias.report.scaling import scaling
from relubias.report.survival import survival

__all__ = ["distribution", "phase_diagram", "scaling", "survival"]

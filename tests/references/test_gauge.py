"""The two sizes of a network and their dual norms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relubias.references.gauge import VARIATION, Gauge

LENGTHS = st.floats(0.0, 1e3)
GAUGES = st.one_of(st.just(VARIATION), st.builds(Gauge, st.tuples(st.integers(1, 9), st.integers(1, 9))))


@given(GAUGES, LENGTHS, LENGTHS, LENGTHS, LENGTHS)
def test_the_dual_norm_bounds_the_product(gauge: Gauge, s: float, t: float, m: float, k: float) -> None:
    assert m * s + k * t <= gauge.dual(m, k) * gauge.size(s, t) * (1 + 1e-12)


@given(GAUGES, st.floats(0.1, 1e3), st.floats(0.1, 1e3))
def test_the_slopes_attain_it(gauge: Gauge, s: float, t: float) -> None:
    m, k = gauge.slopes(s, t)
    assert m * s + k * t == pytest.approx(gauge.dual(m, k) * gauge.size(s, t), rel=0.05)
    if min(s, t) > 0.01 * max(s, t):
        assert m * s + k * t == pytest.approx(gauge.dual(m, k) * gauge.size(s, t), rel=1e-12)


def test_a_sign_without_neurons_costs_nothing_and_carries_nothing() -> None:
    gauge = Gauge((4, 0))
    assert gauge.signs == (1,)
    assert gauge.size(6.0, 0.0) == 3.0
    assert gauge.dual(3.0, 100.0) == 6.0

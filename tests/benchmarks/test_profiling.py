"""A profile charges every moment to the innermost function of the package that is running."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.harness import Row, Sample
from benchmarks.profiling import ELSEWHERE, Job, Profile, listing, owner, seen_at_work

PACKAGE = str(Path("made", "up"))

needs_a_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer of processor time")


def defined(source: str, file: str, **names: Any) -> Any:
    """The function f of this source, as if it stood in a file of the package."""
    exec(compile(source, str(Path(PACKAGE, file)), "exec"), names)
    return names["f"]


def spin(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_work_elsewhere_counts_for_the_function_that_asked_for_it() -> None:
    def here() -> str:
        return owner(sys._getframe(), PACKAGE)

    inner = defined("def f():\n    return work()\n", "room/low.py", work=here)
    outer = defined("def f():\n    return inner(), work()\n", "high.py", inner=inner, work=here)
    assert outer() == ("room.low: f", "high: f")
    assert here() == ELSEWHERE


@needs_a_timer
def test_shares_are_those_of_the_time() -> None:
    long = defined("def f():\n    spin(0.03)\n", "long.py", spin=spin)
    short = defined("def f():\n    spin(0.01)\n    long()\n", "short.py", spin=spin, long=long)
    seen = seen_at_work(short, seconds=0.6, package=PACKAGE)
    total = sum(seen.values())
    assert list(seen)[:2] == ["long: f", "short: f"]
    assert 0.6 < seen["long: f"] / total < 0.9
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0.0


@needs_a_timer
def test_the_timer_is_off_after_an_error() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(ZeroDivisionError):
        seen_at_work(lambda: 1 / 0)
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0.0
    assert signal.getsignal(signal.SIGPROF) == before


@needs_a_timer
def test_a_real_decomposition_is_charged_to_the_operator() -> None:
    from relubias.linalg.factor import GramOperator

    matrix = np.cov(np.random.default_rng(0).normal(size=(300, 400)))  # made outside: only the decomposition takes time
    seen = seen_at_work(lambda: GramOperator(matrix).spectrum, seconds=0.5)
    assert next(iter(seen)) == "linalg.factor: GramOperator.spectrum"


def test_a_listing_says_the_distance_from_the_limit_and_shares() -> None:
    job = Job("a job", int, "a product", int)
    ratio = Sample(2.5, 2.0, 3.0, 9)
    row = Row("a job", Sample.of([5.0]), rival="a product", rival_seconds=Sample.of([2.0]), ratio=ratio)
    text = listing(Profile(job, {"low: inner": 3, "high: outer": 1}, row), most=1)
    assert text.splitlines() == ["a job: 2.5 (2-3) times a product", "   75.0 %  low: inner"]

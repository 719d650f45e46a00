"""A profile charges every moment to the innermost function of the package that is running."""

from __future__ import annotations

from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from benchmarks.harness import Row, Sample
from benchmarks.profiling import ELSEWHERE, Job, Profile, charged, listing

PACKAGE = str(Path("made", "up"))


class Ticks:
    """A clock that work moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


def compiled(source: str, file: str) -> CodeType:
    return compile(source, str(Path(PACKAGE, file)), "exec")


def test_work_elsewhere_counts_for_the_function_that_asked_for_it() -> None:
    clock = Ticks()
    names: dict[str, Any] = {"work": clock.work}
    exec(compiled("def inner():\n    work(4.0)\n    work(1.0)\n", "room/low.py"), names)
    exec(compiled("def outer():\n    work(2.0)\n    inner()\n    work(1.0)\n", "high.py"), names)

    def task() -> None:
        clock.work(16.0)
        names["outer"]()

    seconds = charged(task, calls=2, clock=clock, package=PACKAGE)
    assert seconds == {ELSEWHERE: 32.0, "room.low: inner": 10.0, "high: outer": 6.0}


def test_an_error_inside_takes_its_function_off_again() -> None:
    clock = Ticks()
    names: dict[str, Any] = {"work": clock.work}
    exec(compiled("def fails():\n    work(1.0)\n    raise ValueError\n", "low.py"), names)
    exec(
        compiled("def outer():\n    try:\n        fails()\n    except ValueError:\n        work(2.0)\n", "a.py"), names
    )
    assert charged(names["outer"], clock=clock, package=PACKAGE) == {"a: outer": 2.0, "low: fails": 1.0, ELSEWHERE: 0.0}


def test_a_listing_says_the_distance_from_the_limit_and_shares() -> None:
    job = Job("a job", int, "a product", int)
    ratio = Sample(2.5, 2.0, 3.0, 9)
    row = Row("a job", Sample.of([5.0]), rival="a product", rival_seconds=Sample.of([2.0]), ratio=ratio)
    text = listing(Profile(job, {"low: inner": 3.0, "high: outer": 1.0}, row), most=1)
    assert text.splitlines() == ["a job: 2.5 (2-3) times a product", "   75.0 %  low: inner"]


def test_a_real_factorisation_is_charged_to_the_operator() -> None:
    from relubias.linalg.factor import GramOperator

    seconds = charged(lambda: GramOperator(np.eye(300)).spectrum)
    assert max(seconds, key=seconds.__getitem__) == "linalg.factor: GramOperator.spectrum"

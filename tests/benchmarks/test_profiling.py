"""A profile charges every moment to the innermost function of the package that is running, and to no other."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.harness import Row, Sample
from benchmarks.profiling import ELSEWHERE, Job, Profile, Watched, Watcher, cost_of_an_event, listing, name_of, watched

pytestmark = pytest.mark.usefixtures("one_thread")

PACKAGE = str(Path("made", "up"))
MOMENT = 1 / 1024  # of a second; sums of these are exact


class HandClock:
    """A clock that moves when it is told to, and a little when it is read."""

    def __init__(self, *, reading: float = 0.0) -> None:
        self.moments = bytearray()
        self.reading, self.readings = reading, 0

    def __call__(self) -> float:
        self.readings += 1
        return len(self.moments) * MOMENT + self.readings * self.reading

    def spend(self, moments: int) -> None:
        """Let so many moments pass in Python."""
        self.moments.extend(bytes(moments))


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def defined(source: str, file: str, **names: Any) -> Any:
    """The function f of this source, as if it stood in a file of the package."""
    exec(compile(source, str(Path(PACKAGE, file)), "exec"), names)
    return names["f"]


def shares(task: Callable[[], Any], clock: HandClock) -> dict[str, float]:
    return dict(watched(task, seconds=2.0, package=PACKAGE, clock=clock).shares())


def test_shares_and_calls_are_those_of_the_functions(clock: HandClock) -> None:
    long = defined("def f():\n    spend(150)\n", "room/long.py", spend=clock.spend)
    short = defined("def f():\n    spend(100)\n    long(), long()\n", "short.py", spend=clock.spend, long=long)
    seen = watched(short, seconds=2.0, package=PACKAGE, clock=clock)
    assert list(seen.seconds)[:2] == ["room.long: f", "short: f"]
    assert dict(seen.shares()) == {"room.long: f": 0.75, "short: f": 0.25, ELSEWHERE: 0.0}
    runs = seen.watched.count
    assert runs == seen.unwatched.count == 3
    assert seen.calls == {"room.long: f": 2 * runs, "short: f": runs}
    assert seen.watched.median == seen.unwatched.median == seen.charged.median == 400 * MOMENT


def test_a_call_of_a_compiled_library_counts_as_much_as_python_that_lasts_as_long(clock: HandClock) -> None:
    # after the long call f returns at once, and g is what runs next
    one_call = defined("def f():\n    work(whole)\n", "lapack.py", work=clock.moments.extend, whole=bytes(100))
    spending = defined("def f():\n    for _ in range(100):\n        spend(1)\n", "spending.py", spend=clock.spend)
    both = defined("def f():\n    one_call()\n    spending()\n", "both.py", one_call=one_call, spending=spending)
    expected = {"lapack: f": 0.5, "spending: f": 0.5, "both: f": 0.0, ELSEWHERE: 0.0}
    assert shares(both, clock) == expected


def test_a_job_that_is_one_matrix_product_shows_it_in_the_function_that_does_it() -> None:
    factor = np.random.default_rng(0).normal(size=(300, 3000))
    product = defined("def f(x):\n    return x @ x.T\n", "product.py")
    halved = defined("def f(k):\n    return 0.5 * k[0]\n", "halved.py")
    job = defined("def f():\n    return halved(product(x))\n", "job.py", halved=halved, product=product, x=factor)
    seen = watched(job, seconds=0.3, package=PACKAGE, clock=time.process_time)
    assert next(iter(seen.seconds)) == "product: f"
    assert dict(seen.shares())["product: f"] > 0.8


def test_the_cost_of_an_event_is_subtracted() -> None:
    clock = HandClock(reading=1e-3)
    add = defined("def f(a, b):\n    spend(1)\n    return a + b\n", "add.py", spend=clock.spend)
    many = defined("def f():\n    for k in range(200):\n        add(k, k)\n", "many.py", add=add)
    cost = cost_of_an_event(clock)
    assert cost == pytest.approx(clock.reading, rel=1e-2)
    plain, corrected = Watcher(PACKAGE, clock=clock), Watcher(PACKAGE, cost=cost, clock=clock)
    plain.run(many)
    corrected.run(many)
    assert plain.charged > 200 * MOMENT + 400 * clock.reading
    assert corrected.charged == pytest.approx(200 * MOMENT, rel=0.1)
    assert cost_of_an_event(time.process_time) > 0


def test_work_elsewhere_that_calls_back_is_charged_to_either(clock: HandClock) -> None:
    inner = defined("def f():\n    spend(100)\n", "inner.py", spend=clock.spend)

    def elsewhere() -> None:
        clock.spend(100)
        inner()
        clock.spend(100)

    outer = defined("def f():\n    elsewhere()\n", "outer.py", elsewhere=elsewhere)

    def task() -> None:
        clock.spend(100)
        outer()

    assert shares(task, clock) == {"outer: f": 0.5, "inner: f": 0.25, ELSEWHERE: 0.25}


def test_comprehensions_count_for_the_function_in_which_they_stand(clock: HandClock) -> None:
    source = "def f():\n    return [spend(20) for _ in range(3)], sum(1 for _ in range(3))\n"
    task = defined(source, "low.py", spend=clock.spend)
    seen = watched(task, seconds=1.0, package=PACKAGE, clock=clock)
    assert set(seen.seconds) == {"low: f", ELSEWHERE}
    assert seen.calls == {"low: f": seen.watched.count}


def test_generators_and_errors_leave_nobody_charged_for_what_follows(clock: HandClock) -> None:
    numbers = defined("def f():\n    for k in range(3):\n        yield k\n", "numbers.py")
    failing = defined("def f():\n    raise KeyError\n", "failing.py")

    def task() -> None:
        for _ in numbers():
            clock.spend(20)
        with pytest.raises(KeyError):
            failing()
        clock.spend(40)

    assert shares(task, clock)[ELSEWHERE] == 1.0


def test_nothing_is_watched_any_more_after_an_error() -> None:
    before = sys.getprofile()
    with pytest.raises(ZeroDivisionError):
        watched(lambda: 1 / 0)
    assert sys.getprofile() is before


def test_code_is_named_by_module_and_function() -> None:
    code = defined("def f():\n    return lambda: 0\n", "room/low.py").__code__
    assert name_of(code, PACKAGE) == "room.low: f"
    assert name_of(code.co_consts[1], PACKAGE) == "room.low: f.<locals>.<lambda>"
    assert name_of(HandClock.spend.__code__, PACKAGE) is None


def test_a_real_decomposition_is_charged_to_the_operator() -> None:
    from relubias.linalg.factor import GramOperator

    matrix = np.cov(np.random.default_rng(0).normal(size=(300, 400)))  # made outside: only the decomposition takes time
    seen = watched(lambda: GramOperator(matrix).spectrum, seconds=0.3, clock=time.process_time)
    assert next(iter(seen.seconds)) == "linalg.factor: GramOperator.spectrum"


def test_the_product_of_a_gram_matrix_is_what_takes_its_time() -> None:
    from relubias import Problem

    features, labels = np.random.default_rng(0).normal(size=(100, 20_000)), np.ones(100)
    found = dict(
        watched(lambda: Problem.from_features(features, labels), seconds=0.3, clock=time.process_time).shares()
    )
    assert next(iter(found)) == "linalg.blas: gram_product"
    assert found["linalg.blas: gram_product"] > 0.8


def seen_of(seconds: dict[str, float], calls: dict[str, int]) -> Watched:
    return Watched(
        seconds,
        calls,
        watched=Sample.of([0.006] * 2),
        charged=Sample.of([0.0044] * 2),
        unwatched=Sample.of([0.004] * 2),
    )


def test_a_listing_says_distance_overhead_and_shares_until_nine_tenths_are_told() -> None:
    job = Job("a job", int, "a product", int)
    ratio = Sample(2.5, 2.0, 3.0, 9)
    row = Row("a job", Sample.of([5.0]), rival="a product", rival_seconds=Sample.of([2.0]), ratio=ratio)
    seconds = {"low: inner": 0.006, ELSEWHERE: 0.0022, "high: outer": 0.001, "high: rest": 0.0008}
    text = listing(Profile(job, seen_of(seconds, {"low: inner": 400, "high: outer": 2, "high: rest": 2}), row))
    assert text.splitlines() == [
        "a job: 2.50 (2.00-3.00) times a product",
        "  a run: 4.00 (4.00-4.00) ms; watched 1.50 times as long, 1.10 times is charged; 2 watched",
        "    share   ms a run  calls a run  ms a call  function",
        "   60.0 %       3.00          200     0.0150  low: inner",
        "   22.0 %       1.10            0             outside relubias",
        "   10.0 %      0.500            1      0.500  high: outer",
    ]

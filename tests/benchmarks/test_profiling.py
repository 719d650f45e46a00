"""A profile charges every moment to the innermost function of the package that is running, and to no other."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_limits

from benchmarks.harness import Row, Sample, elapsed
from benchmarks.profiling import ELSEWHERE, Job, Profile, Watched, Watcher, cost_of_an_event, listing, name_of, watched

PACKAGE = str(Path("made", "up"))
CLOCK = time.process_time  # of which the rest of a busy machine takes nothing


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """A second thread of BLAS would count as processor time."""
    with threadpool_limits(1):
        yield


def defined(source: str, file: str, **names: Any) -> Any:
    """The function f of this source, as if it stood in a file of the package."""
    exec(compile(source, str(Path(PACKAGE, file)), "exec"), names)
    return names["f"]


def spin(rounds: int) -> None:
    """Python that calls nothing, so that watching does not change its time."""
    for _ in range(rounds):
        pass


def rounds_that_last(task: Callable[[], Any]) -> int:
    """As many rounds as take as long as a task."""
    each = min(elapsed(lambda: spin(200_000), CLOCK) for _ in range(5)) / 200_000
    return int(min(elapsed(task, CLOCK) for _ in range(5)) / each)


def shares(task: Callable[[], Any], *, seconds: float = 0.6, package: str = PACKAGE) -> dict[str, float]:
    return dict(watched(task, seconds=seconds, package=package, clock=CLOCK).shares())


def test_shares_and_calls_are_those_of_the_functions() -> None:
    long = defined("def f():\n    spin(150_000)\n", "room/long.py", spin=spin)
    short = defined("def f():\n    spin(100_000)\n    long(), long()\n", "short.py", spin=spin, long=long)
    seen = watched(short, seconds=0.4, package=PACKAGE, clock=CLOCK)
    assert list(seen.seconds)[:2] == ["room.long: f", "short: f"]
    found = dict(seen.shares())
    assert found["room.long: f"] == pytest.approx(0.75, abs=0.1)
    assert found["short: f"] == pytest.approx(0.25, abs=0.1)
    assert sum(found.values()) == pytest.approx(1.0)
    runs = seen.watched.count
    assert runs == seen.unwatched.count > 1
    assert seen.calls == {"room.long: f": 2 * runs, "short: f": runs}


def test_one_long_call_of_lapack_counts_as_much_as_python_that_lasts_as_long() -> None:
    matrix = np.cov(np.random.default_rng(0).normal(size=(300, 400)))
    rounds = rounds_that_last(lambda: scipy.linalg.lapack.dsyev(matrix))
    # after the long call f returns at once, and g is what runs next
    one_call = defined("def f():\n    work(matrix)\n", "lapack.py", work=scipy.linalg.lapack.dsyev, matrix=matrix)
    spinning = defined("def f():\n    spin(rounds)\n", "spinning.py", spin=spin, rounds=rounds)
    both = defined("def f():\n    one_call()\n    spinning()\n", "both.py", one_call=one_call, spinning=spinning)
    found = shares(both)
    assert found["lapack: f"] == pytest.approx(0.5, abs=0.15)
    assert found["spinning: f"] == pytest.approx(0.5, abs=0.15)
    assert found.get("both: f", 0.0) < 0.02


def test_a_job_that_is_one_matrix_product_shows_it_in_the_function_that_does_it() -> None:
    factor = np.random.default_rng(0).normal(size=(300, 3000))
    product = defined("def f(x):\n    return x @ x.T\n", "product.py")
    halved = defined("def f(k):\n    return 0.5 * k[0]\n", "halved.py")
    job = defined("def f():\n    return halved(product(x))\n", "job.py", halved=halved, product=product, x=factor)
    found = shares(job, seconds=0.3)
    assert found["product: f"] > 0.95
    assert next(iter(found)) == "product: f"


def test_the_cost_of_an_event_is_subtracted() -> None:
    add = defined("def f(a, b):\n    return a + b\n", "add.py")
    many = defined("def f():\n    for k in range(20_000):\n        add(k, k)\n", "many.py", add=add)
    cost = cost_of_an_event(CLOCK)
    assert 0 < cost < 1e-5
    plain, corrected = Watcher(PACKAGE, clock=CLOCK), Watcher(PACKAGE, cost=cost, clock=CLOCK)
    took = 0.0
    for _ in range(5):
        plain.run(many)
        corrected.run(many)
        took += elapsed(many, CLOCK)
    assert abs(corrected.charged - took) < abs(plain.charged - took)


def test_work_elsewhere_that_calls_back_is_charged_to_either() -> None:
    inner = defined("def f():\n    spin(100_000)\n", "inner.py", spin=spin)

    def elsewhere() -> None:
        spin(100_000)
        inner()
        spin(100_000)

    outer = defined("def f():\n    elsewhere()\n", "outer.py", elsewhere=elsewhere)

    def task() -> None:
        spin(100_000)
        outer()

    found = shares(task, seconds=0.3)
    assert found == pytest.approx({"outer: f": 0.5, "inner: f": 0.25, ELSEWHERE: 0.25}, abs=0.08)


def test_comprehensions_count_for_the_function_in_which_they_stand() -> None:
    source = "def f():\n    return [spin(20_000) for _ in range(3)], sum(1 for _ in range(3))\n"
    task = defined(source, "low.py", spin=spin)
    seen = watched(task, seconds=0.1, package=PACKAGE)
    assert set(seen.seconds) == {"low: f", ELSEWHERE}
    assert seen.calls == {"low: f": seen.watched.count}


def test_generators_and_errors_leave_nobody_charged_for_what_follows() -> None:
    numbers = defined("def f():\n    for k in range(3):\n        yield k\n", "numbers.py")
    failing = defined("def f():\n    raise KeyError\n", "failing.py")

    def task() -> None:
        for _ in numbers():
            spin(20_000)
        with pytest.raises(KeyError):
            failing()
        spin(40_000)

    found = shares(task, seconds=0.1)
    assert found[ELSEWHERE] > 0.9


def test_nothing_is_watched_any_more_after_an_error() -> None:
    before = sys.getprofile()
    with pytest.raises(ZeroDivisionError):
        watched(lambda: 1 / 0)
    assert sys.getprofile() is before


def test_code_is_named_by_module_and_function() -> None:
    code = defined("def f():\n    return lambda: 0\n", "room/low.py").__code__
    assert name_of(code, PACKAGE) == "room.low: f"
    assert name_of(code.co_consts[1], PACKAGE) == "room.low: f.<locals>.<lambda>"
    assert name_of(spin.__code__, PACKAGE) is None


def test_a_real_decomposition_is_charged_to_the_operator() -> None:
    from relubias.linalg.factor import GramOperator

    matrix = np.cov(np.random.default_rng(0).normal(size=(300, 400)))  # made outside: only the decomposition takes time
    seen = watched(lambda: GramOperator(matrix).spectrum, seconds=0.3, clock=CLOCK)
    assert next(iter(seen.seconds)) == "linalg.factor: GramOperator.spectrum"


def test_the_product_of_a_gram_matrix_is_what_takes_its_time() -> None:
    from relubias import Problem

    features, labels = np.random.default_rng(0).normal(size=(100, 20_000)), np.ones(100)
    found = dict(watched(lambda: Problem.from_features(features, labels), seconds=0.3, clock=CLOCK).shares())
    assert next(iter(found)) == "linalg.gram: gram_matrix"
    assert found["linalg.gram: gram_matrix"] > 0.8


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

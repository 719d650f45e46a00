"""A cell over its limit of time or memory fails, and only it."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from relubias.studies.limits import Limits, OverLimit, limited


def busy(seconds: float) -> None:
    """Compute for a while, and swallow what a computation might swallow."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            sum(range(100))
        except Exception:
            pytest.fail("the limit was taken for an error of the computation")


def in_a_thread(task: object) -> list[object]:
    """Run a task in a thread, as a Dask worker does; return what it raised."""
    raised: list[object] = []

    def run() -> None:
        try:
            task()  # type: ignore[operator]
        except OverLimit as error:
            raised.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised


def test_time_is_up_where_the_process_is_our_own() -> None:
    ended: list[float] = []

    def task() -> None:
        with limited(Limits(0.1), alone=True):
            busy(20.0)
            ended.append(20.0)

    with pytest.raises(OverLimit, match=r"longer than its limit of 0.1 s"):
        task()
    assert not ended
    time.sleep(0.15)  # no alarm is left


def test_time_is_up_in_a_thread_among_others() -> None:
    def task() -> None:
        with limited(Limits(0.1), alone=False):
            busy(20.0)

    assert in_a_thread(task) == ["the cell took longer than its limit of 0.1 s"]


@pytest.mark.parametrize("alone", [True, False])
def test_who_is_in_time_is_left_alone_afterwards(alone: bool) -> None:
    for _ in range(20):
        with limited(Limits(0.5), alone=alone):  # a machine may take a rest of some tenths at any moment
            busy(0.001)
    busy(0.7)


def test_memory_is_up_where_the_process_is_our_own() -> None:
    with pytest.raises(OverLimit, match="more memory than its limit of 300 MB"), limited(Limits(None, 300), alone=True):
        np.ones(10**8)
    assert np.ones(10**8).size  # afterwards there is no limit
    with limited(Limits(None, 300), alone=True):
        assert np.ones(10**6).size


def test_memory_is_up_in_a_thread_among_others() -> None:
    def task() -> None:
        with limited(Limits(None, 200), alone=False):
            kept = np.ones(10**8)
            busy(20.0)
            assert kept.size

    assert in_a_thread(task) == ["the cell wanted more memory than its limit of 200 MB"]


def test_an_error_of_memory_without_a_limit_is_what_it_is() -> None:
    with pytest.raises(MemoryError), limited(Limits(), alone=True):
        raise MemoryError

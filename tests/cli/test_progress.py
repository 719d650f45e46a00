"""Signs of life: one live line on a terminal, sparse plain lines elsewhere, silence for quick runs."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from relubias.cli.progress import ProgressLine
from relubias.dynamics.run import Progress

STATE = Progress(steps=1_234_567, pattern_changes=89, loss=0.5, cost=25.0, budget=100.0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def told(stream: io.StringIO, times: list[float]) -> str:
    """What a progress line writes when it is called at these times."""
    clock = Clock()
    with ProgressLine(stream, clock) as line:
        for clock.now in times:
            line(STATE)
    return stream.getvalue()


def test_the_first_second_is_silent_on_a_terminal() -> None:
    assert told(Terminal(), [0.1, 0.5, 0.99]) == ""


def test_a_terminal_has_one_line_that_is_cleared_at_the_end() -> None:
    text = told(Terminal(), [1.0, 1.05, 1.3])
    assert text.count("step 1,234,567, 89 changes of pattern, loss 0.5, 25% of the budget") == 2
    assert "\n" not in text
    assert text.endswith("\r\x1b[K")


def test_a_log_gets_a_plain_line_every_ten_seconds() -> None:
    text = told(io.StringIO(), [1.0, 9.9, 10.0, 15.0, 20.1])
    assert text.count("\n") == 2
    assert "\x1b" not in text
    assert "\r" not in text


class Timer:
    """A timer whose second is over when the test says so."""

    def __init__(self, seconds: float, say: Callable[[], None]) -> None:
        self.seconds, self.say = seconds, say
        self.running = False
        TIMERS.append(self)

    def start(self) -> None:
        self.running = True

    def cancel(self) -> None:
        self.running = False


TIMERS: list[Timer] = []


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_a_stage_is_named_once_it_has_lasted_a_second(stream: io.StringIO) -> None:
    with ProgressLine(stream, timer=Timer) as line:
        line.announce("reading a.csv")
        assert stream.getvalue() == ""
        assert (TIMERS[-1].running, TIMERS[-1].seconds) == (True, 1.0)
        TIMERS[-1].say()
        assert stream.getvalue().strip("\r\n\x1b[K") == "relubias: reading a.csv …"


def test_a_stage_that_is_over_is_never_named() -> None:
    stream = io.StringIO()
    with ProgressLine(stream, timer=Timer) as line:
        line.announce("reading a.csv")
        first = TIMERS[-1]
        line.announce("training")
        assert not first.running
        first.say()
    assert not TIMERS[-1].running
    TIMERS[-1].say()
    assert stream.getvalue() == ""


def test_real_time_passes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relubias.cli.progress.QUIET", 0.0)
    stream = io.StringIO()
    with ProgressLine(stream) as line:
        line.announce("reading a.csv")
        line.waiting.join(10)
    assert stream.getvalue() == "relubias: reading a.csv …\n"


def test_an_error_leaves_no_half_line_behind() -> None:
    stream = Terminal()
    try:
        with ProgressLine(stream, timer=Timer) as line:
            line.announce("reading a.csv")
            TIMERS[-1].say()
            raise ValueError
    except ValueError:
        pass
    assert stream.getvalue().endswith("\r\x1b[K")

"""Signs of life: one live line on a terminal, sparse plain lines elsewhere, silence for quick runs."""

from __future__ import annotations

import io

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


def test_announcements_are_for_terminals() -> None:
    for stream, expected in ((Terminal(), "reading a.csv"), (io.StringIO(), "")):
        ProgressLine(stream).announce("reading a.csv")
        assert stream.getvalue().endswith(expected)


def test_an_error_leaves_no_half_line_behind() -> None:
    stream = Terminal()
    try:
        with ProgressLine(stream) as line:
            line.announce("reading a.csv")
            raise ValueError
    except ValueError:
        pass
    assert stream.getvalue().endswith("\r\x1b[K")

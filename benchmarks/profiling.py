"""Where the time of a task goes, by functions of this package, and how far the whole is from a natural limit.

Every millisecond of processor time an alarm looks which function of relubias is running, the innermost one, and
charges it, with all that it calls elsewhere: a factorisation counts for whoever asked for it. What is looked at so
seldom is not slowed down, as it would be if every call were watched. The limit is what the job cannot do without: one
Gram product, one factorisation or one matrix-vector product.
"""

from __future__ import annotations

import signal
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import relubias
from benchmarks.harness import Row, Skipped, Task, race

PACKAGE = str(Path(relubias.__file__).parent)
ELSEWHERE = "outside relubias"
#: Seconds between two looks.
INTERVAL = 1e-3


@dataclass(frozen=True)
class Job:
    """What is profiled: one of our tasks, and what it is held against.

    Attributes
    ----------
    name : str
    task : callable
    limit_name : str
    limit : callable
    """

    name: str
    task: Task
    limit_name: str
    limit: Task


@dataclass(frozen=True)
class Profile:
    """How often each function was seen, and the race of the undisturbed task against its limit."""

    job: Job
    seen: dict[str, int]
    distance: Row


def profiled(job: Job, *, repeats: int = 5) -> Profile:
    """Race one job against its limit, undisturbed, and then look where its time goes."""
    distance = race(job.name, job.task, job.limit_name, job.limit, repeats=repeats)
    return Profile(job, seen_at_work(job.task), distance)


def seen_at_work(task: Task, *, seconds: float = 1.0, package: str = PACKAGE) -> dict[str, int]:
    """Return how often each function of `package` was seen in so many seconds of repeated calls, the most often first.

    Raises
    ------
    Skipped
        If this system has no timer of processor time.
    """
    if not hasattr(signal, "setitimer"):
        raise Skipped("this system has no timer of processor time to profile with")
    seen: Counter[str] = Counter()

    def look(_: int, frame: FrameType | None) -> None:
        seen[owner(frame, package)] += 1

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    try:
        began = time.process_time()
        while time.process_time() - began < seconds:
            task()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
    return dict(seen.most_common())


def owner(frame: FrameType | None, package: str) -> str:
    """Return the name of the innermost function of `package` on the stack of this frame."""
    while frame is not None:
        name = name_of(frame, package)
        if name is not None:
            return name
        frame = frame.f_back
    return ELSEWHERE


def name_of(frame: FrameType, package: str) -> str | None:
    """Module and function of a frame; None where it is not in `package`."""
    path = frame.f_code.co_filename
    if not path.startswith(package):
        return None
    module = Path(path).relative_to(package).with_suffix("")
    return f"{'.'.join(module.parts)}: {frame.f_code.co_qualname}"


def listing(profile: Profile, *, most: int = 8) -> str:
    """Return a profile as text: the distance from the limit, and the functions that take most."""
    total = sum(profile.seen.values())
    ratio = profile.distance.ratio
    assert ratio is not None
    lines = [
        f"{profile.job.name}: {ratio.median:.3g} ({ratio.low:.3g}-{ratio.high:.3g}) times {profile.job.limit_name}",
        *(f"  {100 * part / total:5.1f} %  {where}" for where, part in list(profile.seen.items())[:most]),
    ]
    return "\n".join(lines)

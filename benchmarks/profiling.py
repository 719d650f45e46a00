"""Where the time of a task goes, by functions of this package, and how far the whole is from a natural limit.

Every moment is charged to the innermost function of relubias that is running, with all that it calls elsewhere: a
factorisation counts for whoever asked for it. The limit is what the job cannot do without: one Gram product, one
factorisation or one matrix-vector product.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import relubias
from benchmarks.harness import Clock, Row, Task, race

PACKAGE = str(Path(relubias.__file__).parent)
ELSEWHERE = "outside relubias"


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
    """Seconds by function, of all calls together, and the race of the undisturbed task against its limit."""

    job: Job
    seconds: dict[str, float]
    distance: Row


def profiled(job: Job, *, calls: int = 5) -> Profile:
    """Measure one job: undisturbed against its limit, then with every call watched."""
    distance = race(job.name, job.task, job.limit_name, job.limit, repeats=calls)
    return Profile(job, charged(job.task, calls=calls), distance)


def charged(
    task: Task, *, calls: int = 1, clock: Clock = time.process_time, package: str = PACKAGE
) -> dict[str, float]:
    """Return the seconds of each function of `package`, the largest first."""
    seconds: defaultdict[str, float] = defaultdict(float)
    owners = [ELSEWHERE]
    last = clock()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal last
        now = clock()
        seconds[owners[-1]] += now - last
        if event == "call":
            owners.append(name_of(frame, package) or owners[-1])
        elif event == "return" and len(owners) > 1:
            owners.pop()
        last = clock()

    sys.setprofile(watch)
    try:
        for _ in range(calls):
            task()
    finally:
        sys.setprofile(None)
    return dict(sorted(seconds.items(), key=lambda item: -item[1]))


def name_of(frame: FrameType, package: str) -> str | None:
    """Module and function of a frame; None where it is not in `package`."""
    path = frame.f_code.co_filename
    if not path.startswith(package):
        return None
    module = Path(path).relative_to(package).with_suffix("")
    return f"{'.'.join(module.parts)}: {frame.f_code.co_qualname}"


def listing(profile: Profile, *, most: int = 8) -> str:
    """Return a profile as text: the distance from the limit, and the functions that take most."""
    total = sum(profile.seconds.values())
    ratio = profile.distance.ratio
    assert ratio is not None
    lines = [
        f"{profile.job.name}: {ratio.median:.3g} ({ratio.low:.3g}-{ratio.high:.3g}) times {profile.job.limit_name}",
        *(f"  {100 * part / total:5.1f} %  {where}" for where, part in list(profile.seconds.items())[:most]),
    ]
    return "\n".join(lines)

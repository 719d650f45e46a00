"""Where the time of a task goes, by functions of this package, and how far the whole is from what it is held against.

The interpreter tells when a function is entered and left. Every moment between two such events is charged to the
innermost function of relubias that is then running, with all that it calls elsewhere: a factorisation by LAPACK, a
compiled loop or an operator of NumPy counts for whoever asked for it, however long it lasts and whatever runs next. The
time that the watching itself takes is charged to nobody: what it takes within the listener is measured, and what it
takes outside, on the way there and back, is a constant for each event that is found beforehand and subtracted. How good
that is can be seen: the task also runs unwatched, in turn with the watched runs, and the time that was charged is told
beside that of these.

Time is that of the clock, since reading processor time takes several times as long, which would be more to subtract: a
profile wants a machine that does nothing else.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import CodeType, FrameType

import relubias
from benchmarks.race import Clock, Task, elapsed, race
from benchmarks.row import Row
from benchmarks.sample import Sample
from benchmarks.table import digits, seconds, spread

PACKAGE = str(Path(relubias.__file__).parent)
ELSEWHERE = "outside relubias"
#: Functions that Python makes of one expression: they count for the function in which they are written.
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


@dataclass(frozen=True)
class Job:
    """What is profiled: one of our tasks, and what it is held against.

    Attributes
    ----------
    name : str
    task : callable
    limit_name : str
    limit : callable
    remark : str
        One sentence: what the distance from the limit consists of.
    """

    name: str
    task: Task
    limit_name: str
    limit: Task
    remark: str = ""


@dataclass(frozen=True)
class Watched:
    """What was seen in some runs of a task.

    Attributes
    ----------
    seconds : dict
        For each function, the longest first, the time of all runs in which it was the innermost of the package.
    calls : dict
        How often each was entered in all runs; a generator is entered for each thing that it yields.
    watched, charged, unwatched : Sample
        The seconds of a run as they are while it is watched, those of them that are charged to functions, and the
        seconds of a run while it is not watched.
    """

    seconds: dict[str, float]
    calls: dict[str, int]
    watched: Sample
    charged: Sample
    unwatched: Sample

    def shares(self) -> Iterator[tuple[str, float]]:
        """Yield each function with its part of the time."""
        total = sum(self.seconds.values())
        for name, part in self.seconds.items():
            yield name, part / total


@dataclass(frozen=True)
class Profile:
    """What was seen of a job, and the race of the unwatched task against its limit."""

    job: Job
    seen: Watched
    distance: Row


def profiled(job: Job, *, repeats: int = 5) -> Profile:
    """Race one job against its limit, unwatched, and then look where its time goes."""
    distance = race(job.name, job.task, job.limit_name, job.limit, repeats=repeats)
    return Profile(job, watched(job.task), distance)


def watched(task: Task, *, seconds: float = 1.0, package: str = PACKAGE, clock: Clock = time.perf_counter) -> Watched:
    """Run a task for so many seconds, unwatched and watched by turns, both at least once."""
    watcher = Watcher(package, cost=cost_of_an_event(clock), clock=clock)
    unwatched_runs: list[float] = []
    watched_runs: list[float] = []
    charged_runs: list[float] = []
    while sum(unwatched_runs) + sum(watched_runs) < seconds:
        unwatched_runs.append(elapsed(task, clock))
        before = watcher.charged
        watched_runs.append(elapsed(lambda: watcher.run(task), clock))
        charged_runs.append(watcher.charged - before)
    by_time = dict(sorted(watcher.seconds.items(), key=lambda item: -item[1]))
    samples = (Sample.of(runs) for runs in (watched_runs, charged_runs, unwatched_runs))
    return Watched(by_time, dict(watcher.calls), *samples)


def cost_of_an_event(clock: Clock, *, repeats: int = 15) -> float:
    """Return the seconds by which the time charged for a run grows with each event, by runs that do nothing else."""

    def empty() -> None:
        pass

    def calls() -> None:
        for _ in range(1000):
            empty()

    costs = []
    for _ in range(repeats):
        watcher = Watcher(PACKAGE, clock=clock)
        watcher.run(calls)
        costs.append((watcher.charged - elapsed(calls, clock)) / 2000)  # each is entered and left
    return max(0.0, median(costs))


class Watcher:
    """Charges the time of runs, less what an event costs outside of the listener, to the functions of a package."""

    def __init__(self, package: str, *, cost: float = 0.0, clock: Clock = time.perf_counter) -> None:
        self.package, self.cost, self.clock = package, cost, clock
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()
        # By identity, since the hash of code takes its time; the code is kept, so that no other gets its identity.
        self._known: dict[int, tuple[CodeType, str | None, bool]] = {}

    @property
    def charged(self) -> float:
        """All seconds that were charged so far."""
        return sum(self.seconds.values())

    def run(self, task: Task) -> None:
        """Do the task once, and see who does it."""
        before = sys.getprofile()
        sys.setprofile(self._listener())
        try:
            task()
        finally:
            sys.setprofile(before)

    def _listener(self) -> Callable[[FrameType, str, object], None]:
        """Return what the interpreter calls when a function is entered or left; written to take little time."""
        clock, cost, seconds, calls, known = self.clock, self.cost, self.seconds, self.calls, self._known
        owners = [ELSEWHERE]  # for each function on the stack, the innermost one of the package
        last = clock()

        def listen(frame: FrameType, event: str, _: object) -> None:
            nonlocal last
            seconds[owners[-1]] += clock() - last - cost
            if event == "call":
                code = frame.f_code
                entry = known.get(id(code)) or self._learnt(code)
                if entry[1] is None:
                    owners.append(owners[-1])
                else:
                    owners.append(entry[1])
                    calls[entry[1]] += entry[2]
            elif event == "return" and len(owners) > 1:
                owners.pop()
            last = clock()

        return listen

    def _learnt(self, code: CodeType) -> tuple[CodeType, str | None, bool]:
        """Return, and remember, to whom a piece of code belongs, and whether to enter it is a call of that function."""
        name = name_of(code, self.package)
        entry = self._known[id(code)] = (code, name, code.co_name not in COMPREHENSIONS)
        return entry


def name_of(code: CodeType, package: str) -> str | None:
    """Module and function of a piece of code; None where it is not in `package`."""
    if not code.co_filename.startswith(package):
        return None
    module = Path(code.co_filename).relative_to(package).with_suffix("")
    function = code.co_qualname
    while function.endswith(COMPREHENSIONS):
        function = function.rpartition(".<locals>.")[0] or "<module>"
    return f"{'.'.join(module.parts)}: {function}"


def listing(profile: Profile, *, until: float = 0.9) -> str:
    """Return a profile as text: the distance from the limit, and the functions that take so much of the time."""
    seen, ratio = profile.seen, profile.distance.ratio
    assert ratio is not None
    slower, charged = (one.median / seen.unwatched.median for one in (seen.watched, seen.charged))
    runs = seen.watched.count
    overhead = f"watched {digits(slower)} times as long, {digits(charged)} times is charged"
    lines = [
        f"{profile.job.name}: {spread(ratio)} times {profile.job.limit_name}",
        *([f"  {profile.job.remark}"] if profile.job.remark else []),
        f"  a run: {seconds(seen.unwatched)}; {overhead}; {runs} watched",
        "    share   ms a run  calls a run  ms a call  function",
    ]
    total = 0.0
    for name, share in seen.shares():
        if total >= until:
            break
        total += share
        own, calls = 1e3 * seen.seconds[name], seen.calls.get(name, 0)
        a_call = f"{digits(own / calls):>9}" if calls else " " * 9
        lines.append(f"  {100 * share:5.1f} %  {digits(own / runs):>9}  {calls / runs:11.6g}  {a_call}  {name}")
    return "\n".join(lines)

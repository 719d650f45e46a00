"""Worker processes that stay for several studies, one after the other: a process takes a second to start.

::

    with standing(workers=2) as crew:
        run(first, "first.db", crew=crew)
        run(second, "second.db", crew=crew)
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress

from relubias.studies.crew import Lane
from relubias.studies.processes import Processes, turn_to
from relubias.studies.spec import Study
from relubias.studies.work import Outcome


class Standing(Processes):
    """A crew of processes that is still there when a study is done.

    They are started by the first study that has something to compute, and again by the next one after they were ended.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.there = self.spoilt = False

    def give_up(self, lane: Lane, id: str) -> Outcome:
        """As others do; but what may still come of that process must not reach the next study."""
        self.spoilt = True
        return super().give_up(lane, id)

    def serve(self, study: Study) -> None:
        """Start the processes for a study, or turn those that are there to it."""
        if not self.there:
            self.there = True
            super().__init__(study, self.workers)
            return
        self.study = study.core
        for lane in self.processes:
            with suppress(BrokenProcessPool):  # a process that has died is replaced by one that knows the study
                lane.submit(turn_to, self.study)

    def close(self, *, now: bool) -> None:
        """Stay, unless it is now, or a cell was given up."""
        if now or self.spoilt:
            self.end(now=True)

    def end(self, *, now: bool = False) -> None:
        """End the processes, if they are there."""
        if self.there:
            self.there = self.spoilt = False
            super().close(now=now)


@contextmanager
def standing(workers: int) -> Iterator[Standing]:
    """Offer so many processes, and end them with the block."""
    crew = Standing(workers)
    try:
        yield crew
    finally:
        crew.end()

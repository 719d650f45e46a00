"""Ctrl-C during branch and bound keeps the interval and the best solution."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from helpers import random_problem

from relubias import Analysis, Network, analyze, certify, minimum_norm
from relubias.references import branching
from relubias.references.many import ManyTree
from relubias.references.pair import PairTree
from relubias.references.record import MinimumNorm
from relubias.status import Optimality

SEARCHES = [
    pytest.param(PairTree, Network.pair(), 20, 24, id="pair"),
    pytest.param(ManyTree, Network.of_signs([1, 1, -1]), 6, 6, id="many"),
]


def impatient(patch: pytest.MonkeyPatch, tree: type[PairTree] | type[ManyTree], after: int) -> None:
    """Interrupt the relaxation that comes after so many."""
    whole: Any = tree.relax
    solved: list[int] = []

    def relax(*args: Any) -> Any:
        if len(solved) == after:
            raise KeyboardInterrupt
        solved.append(1)
        return whole(*args)

    patch.setattr(tree, "relax", relax)


def assert_holds(star: MinimumNorm, least: float) -> None:
    assert star.lower_bound <= least * (1 + 1e-12)
    assert star.norm >= least * (1 - 1e-12)


@pytest.mark.parametrize(("tree", "network", "n", "d"), SEARCHES)
@pytest.mark.parametrize("after", [1, 2, 3, 5])
def test_an_interrupted_relaxation_leaves_the_interval_and_the_best_solution(
    tree: type[PairTree] | type[ManyTree], network: Network, n: int, d: int, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = random_problem(n, d, 0)
    whole = minimum_norm(problem, network)
    assert whole.nodes > 6
    impatient(monkeypatch, tree, after)
    part = minimum_norm(problem, network)
    assert (part.status, part.nodes) == (Optimality.INTERRUPTED, after)
    assert_holds(part, whole.norm)
    assert part.lower_bound > 0
    assert part.is_solution
    assert "the search was interrupted" in part.message
    assert f"between {part.lower_bound:.10g} and {part.norm:.10g}" in part.message
    np.testing.assert_allclose(part.predictions, problem.labels, rtol=1e-12)


def test_an_interrupt_before_anything_is_known_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    impatient(monkeypatch, PairTree, 0)
    with pytest.raises(KeyboardInterrupt):
        minimum_norm(random_problem(8, 12, 0), Network.pair())


def test_no_moment_of_the_search_loses_a_part_of_the_tree() -> None:
    """In a process of its own: tracing and the threads that other tests have left can block each other."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    words = [sys.executable, __file__]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300.0)
    assert done.returncode == 0, done.stderr


def interrupt_it_before_each_of_its_statements() -> None:
    problem, network = random_problem(20, 24, 0), Network.pair()
    least, kept, statement = minimum_norm(problem, network).norm, 0, 0
    for statement in range(0, 500, 3):
        try:
            star = interrupted_at(statement, problem, network)
        except KeyboardInterrupt:  # before the search is under way
            continue
        if star.status is Optimality.OPTIMAL:
            break
        assert star.status is Optimality.INTERRUPTED
        assert_holds(star, least)
        kept += 1
    assert kept > 20


def interrupted_at(statement: int, problem: Any, network: Network) -> MinimumNorm:
    """The search, with KeyboardInterrupt in place of one of the statements of its module."""
    passed = 0

    def line(frame: FrameType, event: str, _: object) -> Any:
        nonlocal passed
        if event == "line":
            passed += 1
            if passed == statement + 1:
                raise KeyboardInterrupt
        return line

    def call(frame: FrameType, event: str, _: object) -> Any:
        return line if frame.f_code.co_filename == branching.__file__ else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        return minimum_norm(problem, network)
    finally:
        sys.settrace(before)


def test_an_analysis_keeps_what_the_search_had(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    impatient(monkeypatch, PairTree, 2)
    analysis = analyze(random_problem(20, 24, 0), Network.pair())
    assert analysis.interrupted
    assert analysis.reference is not None
    assert analysis.reference.status is Optimality.INTERRUPTED
    assert analysis.gap is not None
    assert any("is not proven (interrupted)" in text for text in analysis.verdict)
    again = Analysis.load(analysis.save(tmp_path / "a.npz"))
    assert again.reference is not None
    assert again.reference.status is Optimality.INTERRUPTED
    assert again.interrupted


def test_a_certificate_says_that_its_bound_was_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, network = random_problem(20, 24, 0), Network.pair()
    state = minimum_norm(problem, network).state
    assert not certify(problem, network, state).interrupted
    impatient(monkeypatch, PairTree, 2)
    proof = certify(problem, network, state)
    assert proof.interrupted
    assert not proof.optimal
    assert 0 < proof.lower_bound < proof.norm


_SEARCH = """
import json, os, signal, threading
import numpy as np
from relubias import Network, Problem, minimum_norm

rng = np.random.default_rng(0)
problem = Problem.from_features(rng.normal(size=(30, 30)), rng.choice([-1.0, 1.0], 30))
network = Network.of_signs([1, 1, -1])
minimum_norm(problem, network, budget=2)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
star = minimum_norm(problem, network, budget=10**9)
print(json.dumps({"status": star.status, "norm": star.norm, "lower": star.lower_bound, "nodes": star.nodes}))
"""


def test_a_real_signal_is_heard_and_answered() -> None:
    done = subprocess.run([sys.executable, "-c", _SEARCH], capture_output=True, text=True, timeout=120, check=True)
    found = json.loads(done.stdout)
    assert found["status"] == "interrupted"
    assert 0 < found["lower"] < found["norm"]
    assert found["nodes"] > 1


if __name__ == "__main__":
    interrupt_it_before_each_of_its_statements()

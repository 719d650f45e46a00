"""The seed of a cell is a hash of the study's seed and of its named coordinates, and of nothing else."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from study_cases import SMALL, computed, small

from relubias.studies.grid import Cell
from relubias.studies.seeds import canonical, id_of, json_of, seed_of
from relubias.studies.spec import Study

VALUES = st.one_of(
    st.integers(-(10**18), 10**18), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5), st.booleans()
)
COORDINATES = st.dictionaries(st.text("abc.", min_size=1, max_size=6), VALUES, min_size=1, max_size=4)


@given(COORDINATES, st.randoms(use_true_random=False))
def test_order_of_coordinates_does_not_matter(coordinates: dict[str, Any], random: Any) -> None:
    items = list(coordinates.items())
    random.shuffle(items)
    assert id_of(dict(items), 1) == id_of(coordinates, 1)
    assert seed_of(3, dict(items), 1) == seed_of(3, coordinates, 1)


@given(st.integers(-(2**53), 2**53))
def test_a_number_is_the_same_however_it_is_written(number: int) -> None:
    assert json_of(canonical(float(number), "x")) == json_of(canonical(number, "x"))


def test_values_that_differ_have_seeds_that_differ() -> None:
    values = [1, 1.5, "1", True, [1], {"a": 1}, 10**16, 10**16 + 2, 0.1, 0.1 + 2**-56, -1]
    seeds = {seed_of(0, {"x": canonical(value, "x")}, 1) for value in values}
    others = {seed_of(1, {"x": 1}, 1), seed_of(0, {"x": 1}, 2), seed_of(0, {"y": 1}, 1)}
    assert len(seeds | others) == len(values) + 3


def test_the_seed_is_written_down_here_once_and_for_all() -> None:
    """A change of the hash would change every study that anybody has run."""
    coordinates = {"problem.n_samples": 100, "dynamics.step_size": "0.5/trace"}
    assert id_of(coordinates, 1) == "28d0da6599599e20"
    assert seed_of(1, coordinates, 1) == int("0a2dd384f4c554415d9d4cbb7262f22a", 16)


def test_more_values_and_repeats_leave_the_cells_as_they_were() -> None:
    study = small()
    more = Study.from_toml(
        SMALL.replace("[1e2, 1e6]", "[1e4, 1000000, 100.0]").replace("repeats = 3", "repeats = 5")
        + '[start]\nkind = "all-active"'
    )
    before = {cell.id: cell for cell in study.cells()}
    after = {cell.id: cell for cell in more.cells()}
    assert before.items() <= after.items()
    assert len(after) == more.n_cells == 30
    assert all(study.settings_and_seed(cell) == more.settings_and_seed(cell) for cell in before.values())


def test_a_cell_is_a_function_of_its_study_and_coordinates() -> None:
    study = small()
    cells = list(study.cells())
    forwards = {outcome.id: outcome.values for outcome in computed(study, cells)}
    backwards = {outcome.id: outcome.values for outcome in computed(study, cells[::-1])}
    assert forwards == backwards
    assert len({values["gap.absolute"] for values in forwards.values()}) == len(cells)


def test_another_seed_gives_other_problems() -> None:
    one, other = computed(small()), computed(small(seed=6))
    assert [a.id for a in one] == [b.id for b in other]
    assert all(a.values["gap.absolute"] != b.values["gap.absolute"] for a, b in zip(one, other, strict=True))


def test_a_cell_says_where_it_is() -> None:
    assert str(Cell.at({"x": "a", "y": 2.5}, 3)).endswith("(x=a, y=2.5, trial 3)")

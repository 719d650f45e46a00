"""A study is written down in TOML and read back; what is wrong is said with its key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from study_cases import SMALL, small

from relubias.errors import ArgumentError, DataError
from relubias.sampling import sampler_from_dict
from relubias.studies.example import example
from relubias.studies.measures import MEASURES
from relubias.studies.spec import Study


def test_a_study_survives_toml_and_plain_values() -> None:
    study = small()
    assert Study.from_toml(study.to_toml()) == study
    assert Study.from_dict(study.as_dict()) == study
    assert study.n_cells == 12
    assert study.coordinates == ("problem.features.n_features", "dynamics.step_size")


def test_a_problem_in_one_line_is_the_table_that_it_stands_for() -> None:
    line = small()
    table = SMALL.replace(
        'problem = "gaussian n=8 d=100"',
        '[problem]\nkind = "random"\nn_samples = 8\n[problem.features]\nkind = "gaussian"\nn_features = 100\n',
    )
    drawn = [study.settings_and_seed(next(study.cells()))[0].problem for study in (line, Study.from_toml(table))]
    assert drawn[0] == drawn[1] == sampler_from_dict({**line.tables["problem"]})


def test_spectra_and_labels_may_be_lines_in_a_grid() -> None:
    study = Study.from_toml(
        'name = "s"\nproblem = "gaussian n=8 d=100"\n[grid]\n'
        'problem.features.spectrum = ["power-law:1.5", {kind = "power-law", exponent = 1.5}]\n'
        'problem.labels = ["signs 0.5..2"]'
    )
    first, second = (study.settings_and_seed(cell)[0].problem for cell in study.cells())
    assert first == second


@pytest.mark.parametrize("key", ["a.b", '"a.b"'])
def test_dotted_keys_may_be_quoted_or_not(key: str) -> None:
    text = SMALL.replace("problem.features.n_features", key.replace("a.b", "problem.features.n_features"))
    assert Study.from_toml(text) == small()


WRONG = [
    ("seed = 5", "seed = -1", "seed must be a whole number from 0"),
    ("repeats = 3", "repeats = 0", "repeats must be a whole number from 1"),
    ("repeats = 3", "repeat = 3", "the key 'repeat' is not known; did you mean 'repeats'?"),
    ('name = "small"', "", "name is missing."),
    ("n=8", "m=8", "problem: gaussian"),
    ("[1e2, 1e6]", "[1e2, 100]", "grid.problem.features.n_features: 100 is listed twice."),
    ("[1e2, 1e6]", "[]", "grid.problem.features.n_features must be a list of values, at least one"),
    ("[1e2, 1e6]", "1e6", "grid.problem.features.n_features must be a list of values, at least one"),
    ("[1e2, 1e6]", "[1e2, inf]", "grid.problem.features.n_features must be finite"),
    ("[1e2, 1e6]", "[1e2, -1]", "problem.features: n_features must be a whole number from 1"),
    ("problem.features.n_features", "problem.features.n_feature", "problem.features.n_feature: the field"),
    ("problem.features.n_features", "problem.n_samples.few", "grid.problem.n_samples.few: problem.n_samples is 8"),
    ("problem.features.n_features", "features.n_features", "grid.features.n_features: the table 'features' is not"),
    ('"0.1/trace"', '"0.1/length"', "dynamics: step_size '0.1/length' is none of: a positive number, '0.5/lmax'"),
    ('"0.1/trace"', "-1.0", "dynamics: step_size must be a positive finite number"),
    ('"gap.relative"', '"gap.relativ"', "measure.columns: the column 'gap.relativ' is not known; did you mean"),
    ('"gap.relative"', '"gap.absolute"', "measure.columns names a column twice."),
    ("[measure]", "[limits]\nsecond = 3\n[measure]", "limits.second: the field 'second' is not known"),
    ("[measure]", "[limits]\nseconds = 0\n[measure]", "limits: seconds must be a number between 0 and 1e+09"),
    ("[measure]", '[start]\nkind = "warm"\n[measure]', "start: start.kind 'warm' is not known"),
    ("[measure]", "[start]\ndepth = 1.0\n[measure]", "start: depth is that of a start of kind 'disjoint'"),
    ("[measure]", '[network]\nsigns = "+,0"\n[measure]', "network: signs '+,0' are none of: single, pair"),
    ("[measure]", '[reference]\nof = "local"\n[measure]', "reference: of='local' is not known"),
    ("[measure]", '[dynamics]\nkind = "flow"\n[measure]', "dynamics.step_size: the field 'step_size' is not known"),
    ("[measure]", "[[linked]]\na = [1]\nb = [1, 2]\n[measure]", "linked[1]: linked lists must have as many values"),
    ("[measure]", '[[linked]]\ndynamics.step_size = ["1/lmax"]\n[measure]', "dynamics.step_size is varied twice"),
    ("[measure]", "[grid.problem]\nfeatures = [1]\n[measure]", "is no TOML"),
    ("name", "name = = 3", "this is no TOML"),
]


@pytest.mark.parametrize(("part", "instead", "message"), WRONG)
def test_what_is_wrong_is_said_with_its_key(part: str, instead: str, message: str) -> None:
    assert part in SMALL
    with pytest.raises((ArgumentError, DataError), match=re.escape(message)) as refused:
        Study.from_toml(SMALL.replace(part, instead, 1))
    assert str(refused.value).endswith((".", "?"))


def test_a_column_that_is_a_coordinate_is_refused() -> None:
    text = SMALL.replace("problem.features.n_features = [1e2, 1e6]", "problem.n_samples = [8, 9]")
    with pytest.raises(ArgumentError, match=r"measure.columns: problem.n_samples is a coordinate of the grid"):
        Study.from_toml(text.replace('"gap.relative"', '"problem.n_samples"'))


def test_too_many_cells_are_refused_before_anything_is_made() -> None:
    with pytest.raises(ArgumentError, match="the grid has 40,000,000 cells; at most 10,000,000 are one study"):
        Study.from_toml(SMALL.replace("repeats = 3", "repeats = 10000000"))


def test_a_file_that_is_not_there_or_wrong_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*nowhere\.toml"):
        Study.read(tmp_path / "nowhere.toml")
    path = tmp_path / "wrong.toml"
    path.write_text("name = 3", encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"wrong.toml: problem is missing\."):
        Study.read(path)


def test_long_lists_that_differ_are_shown_by_their_ends() -> None:
    many, more = (
        Study.from_dict(small().as_dict() | {"grid": {"dynamics.step_size": list(range(1, n))}}) for n in (300, 400)
    )
    (line,) = many.differences(more)
    assert line.startswith("grid.dynamics.step_size: [1,2,3,")
    assert " … " in line
    assert line.endswith("398,399]")
    assert len(line) < 300


def test_linked_coordinates_are_varied_together() -> None:
    study = Study.from_toml(
        'name = "s"\nproblem = "gaussian n=8 d=100"\n'
        "[[linked]]\nproblem.n_samples = [4, 8]\nproblem.features.n_features = [400, 800]\n"
        "[grid]\ndynamics.step_size = [1e-4]"
    )
    assert [cell.coordinates["problem.n_samples"] * 100 for cell in study.cells()] == [
        cell.coordinates["problem.features.n_features"] for cell in study.cells()
    ]
    assert study.n_cells == 2


def test_the_example_explains_all_that_can_be_measured_and_is_a_study() -> None:
    text = example('a "quoted" name', file="x.toml", stem="x")
    study = Study.from_toml(text)
    assert study.name == 'a "quoted" name'
    assert study.n_cells == 90
    assert [name for name in MEASURES if f"#   {name} " not in text] == []


@pytest.mark.parametrize("other", ["1.0/trace", "1e0/trace"])
def test_one_step_in_two_spellings_is_refused(other: str) -> None:
    text = SMALL.replace('["1/trace", "0.1/trace"]', f'["1/trace", "0.1/trace", "{other}"]')
    with pytest.raises(ArgumentError, match=f"'1/trace' and '{other}' are the same step"):
        Study.from_toml(text)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ('[start]\nscale = "x"', "scale must be a positive number"),
        ("[start]\nscale = -1", "scale must be a positive number"),
        ("[dynamics]\nuntil = -1", "until"),
        ("[dynamics]\nbudget = 0", "budget"),
        ("[limits]\nseconds = 1e300", "seconds must be a number between 0 and 1e\\+09"),
        ("[limits]\nmegabytes = 1e30", "megabytes must be a number between 0 and 1e\\+09"),
    ],
)
def test_what_no_cell_can_be_computed_with_is_refused_at_once(extra: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Study.from_toml(f'name = "x"\nproblem = "gaussian n=8 d=100"\n{extra}\n')

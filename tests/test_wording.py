"""Numbers, counts and samples in sentences."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import random_problem

from relubias.wording import count, listed, number, portion, samples, sentence


def test_counts_agree_with_their_nouns() -> None:
    assert (count(1, "step"), count(0, "step"), count(66655127, "step")) == ("1 step", "0 steps", "66,655,127 steps")
    assert count(2, "pair of neuron and sample", "pairs of neuron and sample") == "2 pairs of neuron and sample"


@pytest.mark.parametrize(("part", "text"), [([1, 1, 0], "all 2"), ([0, 0, 1], "none of the 2"), ([0, 1, 1], "1 of 2")])
def test_portions_look_at_the_whole_only(part: list[int], text: str) -> None:
    assert portion(np.array(part, dtype=bool), np.array([True, True, False])) == text


def test_portions_of_a_single_sample_are_numbers() -> None:
    assert portion(np.array([True]), np.array([True])) == "1 of 1"


def test_five_names_are_listed_and_the_others_counted() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed("abcde") == "a, b, c, d and e"
    assert listed("abcdefghijklmnopq") == "a, b, c, d, e and 12 more"


def test_samples_are_called_by_row_where_they_have_no_names() -> None:
    assert samples(random_problem(3, 5, seed=0), np.array([True, False, True])) == "row 1 and row 3"


def test_a_sentence_begins_with_a_capital_unless_it_begins_with_a_symbol() -> None:
    assert sentence("the run stopped") == "The run stopped."
    assert sentence("a neuron died.") == "A neuron died."
    assert sentence("n/d₂ = 3") == "n/d₂ = 3."
    assert sentence("w* is 0.") == "w* is 0."


def test_numbers_have_four_digits() -> None:
    assert (number(0.123456), number(float("inf"))) == ("0.1235", "infinite")

"""A network is its signs: they are read, checked, shown and used for the output."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relubias import Network
from relubias.errors import ArgumentError


def test_networks_are_made_from_signs() -> None:
    assert Network.single().signs == (1,)
    assert Network.single(sign=-1).signs == (-1,)
    assert Network.pair().signs == (1, -1)
    assert Network.of_signs(np.array([1, -1, -1])).signs == (1, -1, -1)
    assert Network.of_signs([1, -1]) == Network.pair()
    assert Network.of_signs(iter([1, 1])).n_neurons == 2


def test_a_network_without_neurons_or_with_other_output_weights_is_refused() -> None:
    with pytest.raises(ArgumentError, match="at least one neuron"):
        Network(())
    for sign in (0, 2, -3):
        with pytest.raises(ArgumentError, match=f"output sign {sign} is neither"):
            Network((1, sign))


def test_an_unknown_activation_is_refused_by_name() -> None:
    with pytest.raises(ArgumentError, match="activation='sine' is not known; choose one of: relu"):
        Network.single(activation="sine")


def test_the_output_is_the_signed_sum_of_the_rectified_pre_activations() -> None:
    primal = np.array([[1.0, -2.0, 0.0], [3.0, 4.0, -5.0], [0.5, 0.5, 0.5]])
    assert Network.of_signs([1, -1, 1]).output(primal).tolist() == [-1.5, -3.5, 0.5]


def test_a_dictionary_rebuilds_the_network() -> None:
    network = Network.of_signs([1, -1, 1])
    assert Network.from_dict(json.loads(json.dumps(network.as_dict()))) == network
    with pytest.raises(ArgumentError, match="not known"):
        Network.from_dict({"signs": [1], "activation": "other"})


def test_networks_have_names_for_sentences() -> None:
    texts = [str(Network.of_signs(signs)) for signs in ([1], [-1], [1, -1], [-1, 1, 1])]
    assert texts == ["one positive neuron", "one negative neuron", "a pair of neurons (+, −)", "3 neurons (−, +, +)"]

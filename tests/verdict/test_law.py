"""What the verdict says of the gap law."""

import re

import pytest

from relubias import Analysis, Descent, Flow, Network, analyze, sampling, starts, step_sizes

FOUR = Network.of_signs([1, 1, -1, -1])


def analysed(network: Network, c: float = 0.5, of: str | None = None, **options: object) -> Analysis:
    problem = sampling.gaussian(n_samples=60, n_features=10**5, rng=1)
    start = starts.disjoint(problem, network) if network.n_neurons > 2 else None
    dynamics = options.get("dynamics") or Descent(step_size=step_sizes.relative(problem, c))
    assert isinstance(dynamics, Descent | Flow)
    return analyze(problem, network, start, dynamics=dynamics, of=of)


def sentence(analysis: Analysis) -> str:
    return " ".join(text for text in analysis.verdict if "gap law" in text)


@pytest.mark.parametrize("network", [Network.single(), Network.pair(), FOUR], ids=["1", "2", "4"])
def test_the_distance_is_set_beside_the_prediction_neuron_by_neuron(network: Network) -> None:
    analysis = analysed(network)
    assert analysis.law is not None
    assert analysis.gap is not None
    found = re.search(r"the distance is ([\d.]+) times that(?:, neuron by neuron (.*))?\.$", sentence(analysis))
    assert found is not None
    assert float(found[1]) == pytest.approx(analysis.gap.absolute / analysis.law.corrected, rel=1e-3)
    assert float(found[1]) == pytest.approx(1.0, abs=0.03)
    each = [float(text) for text in re.findall(r"[\d.]+\d", found[2] or "")]
    assert len(each) == (network.n_neurons if network.n_neurons > 1 else 0)
    assert analysis.as_dict()["law"]["corrected"] == analysis.law.corrected


def test_a_law_that_does_not_apply_says_why() -> None:
    analysis = analysed(Network.single(), c=0.01)
    assert "does not apply, since some sample is turned off less deep" in sentence(analysis)


def test_a_flow_and_another_activation_have_no_law() -> None:
    assert analysed(Network.single(), dynamics=Flow()).law is None
    other = analysed(Network.single(activation="leaky-relu"))
    assert other.law is None
    assert sentence(other) == ""
    assert other.as_dict()["law"] is None


def test_a_partition_is_not_held_against_the_global_minimum() -> None:
    """There equal neurons share every load, which is no matter of the step."""
    analysis = analysed(FOUR, of="global")
    assert analysis.reference is not None
    assert analysis.reference.status == "optimal"
    assert analysis.law is None

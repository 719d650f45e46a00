"""The gap of pairs and of disjoint starts, neuron by neuron, beside its law for many dimensions (ours).

With all samples active at a small start, each neuron of a pair keeps one step towards the labels of the other sign:
‖w_k − w*_k‖ → η √L ‖y of the other sign‖, L = ‖λ‖₁. From a disjoint start at depth τ each of m neurons keeps −τ on the
samples of the others, and the gap to the minimum norm of the partition is τ √((m − 1) n/L).
"""

from __future__ import annotations

import numpy as np
import pytest

from relubias import Descent, Network, analyze, sampling, starts
from relubias.status import Optimality

N, D = 100, 10**4


@pytest.mark.parametrize("seed", range(3))
def test_a_pair_decouples_and_each_neuron_has_the_gap_of_the_law(seed: int) -> None:
    problem, network = sampling.gaussian(n_samples=N, n_features=D, labels="signs 0.5..2", rng=seed), Network.pair()
    step = 1.0 / D
    found = analyze(problem, network, starts.all_active(problem, network), dynamics=Descent(step_size=step))
    assert found.gap is not None
    assert found.reference is not None
    assert (found.reference.status, found.reference.nodes) == (Optimality.OPTIMAL, 1)
    assert any("decoupled" in sentence for sentence in found.verdict)
    labels = problem.labels
    law = step * np.sqrt(D) * np.array([np.linalg.norm(labels[labels < 0]), np.linalg.norm(labels[labels > 0])])
    assert np.all(np.abs(found.gap.per_neuron / law - 0.97) < 0.03)
    # Two steps towards these labels instead of one are rejected.
    assert np.all(np.abs(found.gap.per_neuron / (2 * law) - 0.97) > 0.3)


@pytest.mark.parametrize("m", [4, 6])
def test_a_kept_partition_has_the_gap_of_its_depth(m: int) -> None:
    problem = sampling.gaussian(n_samples=N, n_features=D, labels="signs 0.5..2", rng=0)
    network = Network.of_signs([1, -1] * (m // 2))
    start = starts.disjoint(problem, network, depth=0.5)
    found = analyze(problem, network, start)
    assert found.gap is not None
    assert found.reference is not None
    assert (found.reference.of, found.reference.status) == ("partition", Optimality.OPTIMAL)
    assert np.array_equal(found.run.state.pattern, start.pattern)
    assert found.gap.partners == tuple(range(m))
    assert found.gap.absolute == pytest.approx(0.5 * np.sqrt((m - 1) * N / D), rel=0.07)
    assert np.ptp(found.gap.per_neuron) < 0.1 * np.max(found.gap.per_neuron)

"""Both layers trained on orthogonal samples: does training find the network of least variation norm?

Boursier, Pillaud-Vivien and Flammarion (2022): from a vanishing balanced start, gradient flow on orthogonal samples
tends to the network of least variation norm Σ_k |a_k| ‖w_k‖, which is S₊ + S₋ with S_±² = Σ_{±y_i > 0} y_i²/‖x_i‖², if
some positive neuron is active on all positive labels and some negative one on all negative labels.

Three tables: the excess over the least norm against the scale of an aligned start (flow); against the step (descent);
and how often random balanced starts of m neurons come within a tenth of it.

    python examples/both_layers_on_orthogonal_samples.py
    python examples/both_layers_on_orthogonal_samples.py --quick
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import relubias
from relubias import Network, Problem, State, starts
from relubias.dynamics.run import Run


def orthogonal(n: int = 8, d: int = 16, seed: int = 1) -> Problem:
    """Orthonormal samples with labels of both signs."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(d, n)))
    labels = np.where(np.arange(n) % 2, 1.0, -1.0) * rng.uniform(0.5, 2.0, n)
    return Problem.from_features(basis.T, labels)


def least_variation(problem: Problem) -> float:
    """S₊ + S₋, with its proof."""
    return relubias.minimum_norm(problem, network_of(2), of="variation").norm


def excess(state: State) -> float:
    """Σ_k |a_k| ‖w_k‖ over the least there is, less 1."""
    return float(np.abs(state.output_weights) @ state.norms) / least_variation(state.problem) - 1.0


def network_of(n_neurons: int) -> Network:
    """As many positive as negative neurons."""
    return Network.of_signs([1, -1] * (n_neurons // 2), train_output=True)


def found(run: Run) -> bool:
    """Whether all labels are fitted within a tenth of the least norm."""
    return bool(np.all(run.interpolated)) and excess(run.state) < 0.1


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer scales, steps, neurons and starts")
    quick = parser.parse_args(arguments).quick
    problem, four = orthogonal(), network_of(4)
    print("gradient flow from an aligned start, four neurons")
    for scale in (1e-1, 1e-3) if quick else (1e-1, 1e-2, 1e-3, 1e-4, 1e-6):
        run = relubias.gradient_flow(problem, four, starts.balanced(problem, four, scale=scale, aligned=True, rng=0))
        print(
            f"  scale {scale:<6g}  excess {100 * excess(run.state):.2f} %  drift of the balance {run.balance_drift:.1e}"
        )
    print("gradient descent from the aligned start of scale 1e-3")
    start = starts.balanced(problem, four, scale=1e-3, aligned=True, rng=0)
    for fraction in (1.0, 0.25) if quick else (1.0, 0.5, 0.25, 0.125, 0.0625):
        size = fraction * relubias.step_sizes.stable(problem, four, start=start)
        descent = relubias.gradient_descent(problem, four, start, step_size=size)
        drift = f"drift of the balance {descent.balance_drift:.1e}"
        print(f"  step {size:<8.3g}  excess {100 * excess(descent.state):.2f} %  {drift}")
    trials = 4 if quick else 20
    print(f"random balanced starts of scale 1e-3 that come within a tenth of the least norm, of {trials}")
    for n_neurons in (2, 8) if quick else (2, 4, 8, 16, 32, 64):
        network = network_of(n_neurons)
        runs = (
            relubias.gradient_flow(problem, network, starts.balanced(problem, network, rng=seed))
            for seed in range(trials)
        )
        print(f"  m = {n_neurons:<3} {sum(map(found, runs))}")


if __name__ == "__main__":
    main()

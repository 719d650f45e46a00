"""What to try next."""

from __future__ import annotations

import numpy as np

from relubias.status import Status
from relubias.theory.regime import Membership
from relubias.verdict.division import disjoint_owners, interference, invaders, start_depth
from relubias.verdict.parts import Parts, step_ratio
from relubias.wording import number


def advice(parts: Parts) -> list[str]:
    """What to try next."""
    return [f"try next: {text}" for text in (*_advice_on_training(parts), *_advice_on_data(parts))]


def _advice_on_training(parts: Parts) -> list[str]:
    run, labels = parts.run, parts.run.problem.labels
    ratio = step_ratio(run)
    texts = []
    if ratio is not None and ratio > 1:
        safe = run.step_size / ratio / 4
        texts.append(
            f"a smaller step; {run.step_size:.3g} is {number(ratio)} times the largest one that is stable for every "
            f"pattern, 2/λ_max(H), and {safe:.3g} (--step-size 0.5/lmax) is a safe one"
        )
    elif run.status is Status.DEAD and not _should_standardise(parts):
        other = "another start (--start gaussian --rng 1)"
        texts.append(other if run.is_flow else f"a smaller step (--step-size 0.01/lmax) or {other}")
    if run.status is Status.CYCLING and not (ratio and ratio > 1):
        texts.append("a smaller step, which narrows the cycle; run.cycle holds the states that repeat")
    texts += _advice_on_depth(parts)
    if run.status is Status.BUDGET and not (run.loss == "logistic" and np.all(run.state.predictions * labels > 0)):
        texts.append("a larger budget (--budget, or run.continue_(budget=...), which goes on from here)")
    if run.status in (Status.REACHED, Status.INTERRUPTED):
        what = "the exact limit" if run.descends_exactly else "more steps"
        texts.append(f"{what} (leave --until out, or run.continue_(), which goes on from here)")
    return texts


def _advice_on_depth(parts: Parts) -> list[str]:
    run, size = parts.run, interference(parts.run)
    if run.network.n_neurons == 1 or not size or not (disjoint_owners(run) and np.any(invaders(run))):
        return []
    if start_depth(run) >= 3 * size:
        return []
    return [f"a deeper disjoint start (--depth {3 * size:.3g}, or leave --depth out), which keeps its partition"]


def _advice_on_data(parts: Parts) -> list[str]:
    run, problem = parts.run, parts.run.problem
    texts = []
    signs, labels = set(run.signs), problem.labels
    drawn = problem.population is not None  # nothing is done to such features and labels
    own = {sign for sign in (1, -1) if np.any(sign * labels > 0)}
    if run.network.activation.lowest < 0.0:
        own = set()  # such a neuron fits labels of both signs
    if own and not own & signs:
        other = "a negative neuron (--network=-)" if -1 in own else "a positive neuron (--network=+)"
        centred = "" if drawn else "centred labels (--centre-labels), "
        texts.append(f"{centred}{other} or a pair (--network pair)")
    elif own == signs and len(own) == 1 and run.network.n_neurons == 1 and not drawn:
        texts.append("centred labels (--centre-labels), if the ReLU is to have labels of the other sign to leave out")
    elif own - signs:
        word = "negative" if -1 in own - signs else "positive"
        texts.append(f"a pair of neurons (--network pair): no neuron here has the sign of the {word} labels")
    if _should_standardise(parts):
        dead = ", and the first steps push all samples the same way" if run.status is Status.DEAD else ""
        texts.insert(0, f"standardised features (--preprocess standardise): as they are, few directions dominate{dead}")
    return texts


def _should_standardise(parts: Parts) -> bool:
    problem = parts.run.problem
    if not parts.had_features or problem.population is not None:
        return False  # there is nothing to standardise, or it would no longer be the draw
    if not any(np.any(sign * problem.labels > 0) for sign in parts.run.signs):
        return False  # there is nothing that these neurons could fit, on whatever features
    few = problem.n_features is None or problem.n_features <= problem.n_samples
    return parts.regime.verdict is Membership.OUTSIDE and problem.preprocess == "none" and not few

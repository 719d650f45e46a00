"""What is interpolated, and what cannot be."""

from __future__ import annotations

import numpy as np

from relubias.dynamics.run import INTERPOLATED, Run
from relubias.linalg.gram import Array
from relubias.references.record import MinimumNorm
from relubias.status import Optimality
from relubias.verdict.parts import Parts, words
from relubias.wording import count, listed, number, portion, samples


def fit(parts: Parts) -> list[str]:
    """What is interpolated, and what cannot be?"""
    run = parts.run
    if run.loss == "logistic":
        return [*_separated(run), *_limits(parts), *_conflicts(run)]
    return [_fitted(run), *_least_loss(parts), *_limits(parts), *_conflicts(run)]


def misfit(reference: MinimumNorm) -> Array:
    """By how much a reference misses what it is to fit, shape (n_samples,).

    A linear reference, a pair and networks of any number of neurons are to fit all labels; a neuron those of its own
    sign, and to predict 0 elsewhere.
    """
    labels, signs = reference.problem.labels, reference.network.output_weights
    every = reference.of in ("linear", "variation")
    wanted = labels if every else np.where(np.any(signs[:, None] * labels > 0, axis=0), labels, 0.0)
    return np.asarray(np.abs(reference.predictions - wanted))


def _fitted(run: Run) -> str:
    worst = int(np.argmax(np.abs(run.state.residual)))
    fitted = run.interpolated
    text = f"{portion(fitted, np.ones_like(fitted))} labels are interpolated (to {INTERPOLATED:g} of the largest one)"
    if not np.all(fitted):
        text += f"; the largest misfit |f − y| is {number(abs(float(run.state.residual[worst])))}"
        text += f" ({run.problem.sample(worst)})"
    return text + _among_own(run, worst)


def _separated(run: Run) -> list[str]:
    """What the logistic loss asks for: predictions of the sign of the label, by a margin y f that has no bound."""
    margins = run.problem.labels * run.state.predictions
    worst = int(np.argmin(margins))
    agreed = margins > 0
    text = f"{portion(agreed, np.ones_like(agreed))} predictions have the sign of the label"
    text += f"; the smallest margin y f is {number(float(margins[worst]))} ({run.problem.sample(worst)})"
    texts = [text, f"the logistic loss is {number(run.objective)}"]
    if np.all(agreed):
        texts.append("where all signs agree, larger weights have a smaller loss, so that training has no end")
    return texts


def _among_own(run: Run, worst: int) -> str:
    """The largest misfit of a single neuron where the sign of the label lets it fit, if that is another sample."""
    own = run.signs[0] * run.problem.labels > 0
    one_sided = run.network.activation.lowest >= 0.0
    if run.network.n_neurons > 1 or not one_sided or not np.any(own & ~run.interpolated) or own[worst]:
        return ""
    size = np.where(own, np.abs(run.state.residual), -1.0)
    first = int(np.argmax(size))
    return f"; among the {words(run)[0]} labels it is {number(float(size[first]))} ({run.problem.sample(first)})"


def _least_loss(parts: Parts) -> list[str]:
    """The loss of one neuron beside the least loss, that of w*, or that of the least-squares compromise."""
    run, reference = parts.run, parts.reference
    loss = f"the loss ½‖f − y‖² is {number(run.state.loss)}"
    if run.loss != "squared":
        return [] if np.all(run.interpolated) else [f"the {run.loss} loss is {number(run.objective)}; {loss}"]
    if reference is None or reference.of != "global":
        return [] if np.all(run.interpolated) else [loss]
    if reference.status is Optimality.INFEASIBLE:
        kind = "least-squares compromise" if run.network.n_neurons == 1 else "compromise"
        return [f"{loss}; at the {kind} described below it is {number(reference.state.loss)}"]
    if reference.status is not Optimality.OPTIMAL or run.at_limit:
        return []
    return [f"{loss}; the least possible is {number(reference.state.loss)}, that of w*"]


def _limits(parts: Parts) -> list[str]:
    """What linearly dependent samples allow and exclude."""
    run, reference = parts.run, parts.reference
    problem = run.problem
    rank, n, alone = problem.facts.rank, problem.n_samples, run.network.n_neurons == 1
    texts = []
    if rank < n:
        texts.append(
            f"the {n:,} samples span {count(rank, 'dimension')}: any labels of {rank:,} linearly independent samples "
            "can be interpolated at once by a linear model, others only where they happen to agree"
        )
    if reference is None:
        return texts
    if reference.status is Optimality.INFEASIBLE:
        if not alone or reference.of == "variation":
            return [*texts, reference.message]
        own = run.signs[0] * problem.labels > 0
        demand = "fit the labels linearly" if reference.of == "linear" else f"fit the {words(run)[0]} labels"
        if reference.of != "linear" and not np.all(own):
            demand += " and predict 0 elsewhere"
        texts.append(f"no weights {demand} on all samples at once: {shortfall(reference)}")
    elif rank < n and reference.status is Optimality.OPTIMAL and reference.of == "global" and alone:
        mask = run.signs[0] * problem.labels > 0
        whole = count(int(mask.sum()), f"{words(run)[0]} label")
        texts.append(f"one neuron can do all that is asked of it: w* fits {whole} and predicts 0 elsewhere")
    return texts


def shortfall(reference: MinimumNorm) -> str:
    """What an infeasible reference misses, in words."""
    problem = reference.problem
    violated = np.zeros(problem.n_samples, dtype=bool)
    violated[list(reference.infeasible_rows)] = True
    size = misfit(reference)
    worst = int(np.argmax(size))
    text = f"every least-squares compromise misses {portion(violated, np.ones_like(violated))} samples"
    if not np.all(violated):
        text += f" ({samples(problem, violated)}) and meets the others"
    return f"{text}, {problem.sample(worst)} by the most, {number(float(size[worst]))}"


def _conflicts(run: Run) -> list[str]:
    problem = run.problem
    texts = []
    for group in problem.facts.conflicts[:3]:
        names = listed(problem.sample(i) for i in group)
        texts.append(f"{names} coincide but have different labels, so that no model can interpolate them all")
    zero_rows = [i for i in problem.facts.zero_rows if problem.labels[i] != 0]
    if zero_rows:
        names = listed(problem.sample(i) for i in zero_rows)
        texts.append(f"every feature of {names} is 0, where no weights of the first layer change the prediction")
    return texts

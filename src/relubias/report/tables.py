"""An analysis as plain text, in the order of the question: data, training, limit, reference, gap, verdict."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import numpy as np

from relubias.analysis import Analysis
from relubias.comparison import Gap
from relubias.dynamics.run import Run
from relubias.problem import Problem
from relubias.references.record import MinimumNorm
from relubias.theory.regime import regime
from relubias.verdict import active_pattern, is_silent, step_ratio
from relubias.wording import count, listed, number, portion

WIDTH = 100
#: Width of the column of row names.
NAME = 18

Row = tuple[str, str]


def as_text(analysis: Analysis) -> str:
    """Return the report of an analysis as plain text.

    Parameters
    ----------
    analysis : Analysis

    Returns
    -------
    str
        At most 100 characters a line; ends with a newline.
    """
    run = analysis.run
    sections: list[tuple[str, list[Row]]] = [
        ("Data", list(_data(analysis.problem, analysis.regime.reasons))),
        ("Training", list(_training(run, analysis.start_note))),
        ("Limit" if run.at_limit else "State reached", list(_limit(run, analysis.near_limit))),
        ("Reference", list(_references(analysis))),
        ("Gap", list(_gap(analysis.gap, analysis.reference))),
        ("Test points", list(_test_points(analysis))),
        ("Verdict", [("•", sentence) for sentence in analysis.verdict]),
    ]
    return "\n".join(_section(title, rows) for title, rows in sections if rows)


def problem_as_text(problem: Problem) -> str:
    """Return what is known of a problem before anything is trained, as :func:`as_text` does."""
    return _section("Data", list(_data(problem, regime(problem).reasons)))


def _section(title: str, rows: list[Row]) -> str:
    lines = [title, "─" * len(title)]
    for name, text in rows:
        width = 1 if name == "•" else NAME
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=f"  {name:<{width}} ",
            subsequent_indent=" " * (width + 3),
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines) + "\n"


def _data(problem: Problem, reasons: tuple[str, ...]) -> Iterator[Row]:
    facts = problem.facts
    counts = facts.label_counts
    features = "an unknown number of features" if facts.n_features is None else count(facts.n_features, "feature")
    yield "source", problem.source
    yield "size", f"{count(facts.n_samples, 'sample')}, {features}"
    target = f"{problem.target_name}: " if problem.target_name else ""
    signs = f"{counts['positive']} positive, {counts['negative']} negative, {counts['zero']} zero"
    yield "labels", f"{target}{signs}; from {number(problem.labels.min())} to {number(problem.labels.max())}"
    done = {"none": "as they are", "centre": "centred", "standardise": "standardised", "unit-rows": "of norm 1 a row"}
    centred = f"centred (mean {number(problem.label_mean)} subtracted)" if problem.label_mean else "as they are"
    yield "preprocessing", f"features {done.get(problem.preprocess, problem.preprocess)}; labels {centred}"
    yield from _dimensions(problem)
    digits = f"about {facts.digits:.0f} digits, carried by {facts.backing}"
    yield "rank of K", f"{facts.rank}; condition number {facts.condition:.3g}; {digits}"
    for note in problem.notes:
        yield "note", note
    for i, reason in enumerate(reasons):
        yield ("regime" if i == 0 else ""), reason


def _dimensions(problem: Problem) -> Iterator[Row]:
    """‖λ‖₁, d₂ and d_∞ as drawn, beside what K alone says of them."""
    population, estimate = problem.population, problem.facts.d2_estimate
    if population is None:
        return
    values = (("‖λ‖₁", population.trace), ("d₂", population.d2), ("d_∞", population.dinf))
    yield "drawn with", ", ".join(f"{name} = {number(value)}" for name, value in values)
    trace = f"tr K/n = {number(float(np.trace(problem.gram)) / problem.n_samples)}"
    if estimate is not None:
        trace += f", d₂ ≈ {number(estimate.value)} ({estimate.confidence:.0%} interval "
        trace += f"{number(estimate.low)} to {number(estimate.high)})"
    yield "estimated from K", trace


def _training(run: Run, start_note: str) -> Iterator[Row]:
    yield "network", str(run.network)
    if run.loss != "squared":
        yield "loss", run.loss
    active = listed(portion(row, np.ones_like(row)) for row in run.start.pattern)
    shown = f"; active samples: {active}" if run.network.activation.has_pattern else ""
    yield "start", f"‖w‖ = {number(run.start.norm)}{shown}"
    if start_note:
        yield "", start_note
    ratio = step_ratio(run)
    stable = "" if ratio is None else f", {number(ratio)} times the largest stable one ({_stable(run)})"
    if run.is_flow:
        yield "dynamics", "gradient flow, the limit of gradient descent for small steps"
    else:
        yield "step size", f"{number(run.step_size)}{stable}"
    yield "status", f"{run.status}: {run.message}"
    if run.network.activation.has_pattern:
        changes = count(run.pattern_changes, "time" if run.is_flow else "step")
        last = f", last at {run.at(run.last_change.max())}" if run.events.size else ""
        yield "pattern changes", f"at {changes}{last}"
    reached = number(run.moment) if run.is_flow else f"{run.steps:,}"
    yield ("time" if run.is_flow else "steps"), f"certified from {run.at(run.moment)}" if run.at_limit else reached
    if run.cycle is not None:
        yield "cycle", f"{count(run.cycle.period, 'state')}; amplitude {run.cycle.amplitude:.2g} of the largest |β|"
    unit = "plain-step equivalents"
    if run.is_flow:
        unit = "steps of the integrator" if run.network.train_output else "pieces between events"
    yield "cost", f"{number(run.cost)} {unit} of a budget of {number(run.budget)}"


def _stable(run: Run) -> str:
    return "2/λ_max(H) over all patterns" if run.descends_exactly else "2/λ_max(H) at the start and near a fit"


def _limit(run: Run, near: int | None) -> Iterator[Row]:
    if near is not None:
        yield "reached", f"within 1 % of the limit from about step {_steps(near)} on"
    labels, every = run.problem.labels, np.ones(run.problem.n_samples, dtype=bool)
    yield "interpolated", f"{portion(run.interpolated, every)} labels; loss {number(run.state.loss)}"
    if run.loss != "squared":
        yield f"{run.loss} loss", number(run.objective)
    for name, mask in (("positive", labels > 0), ("negative", labels < 0), ("zero", labels == 0)):
        if np.any(mask):
            fitted, silent = portion(run.interpolated, mask), portion(is_silent(run), mask)
            exact = f"; {silent} predicted exactly 0" if run.network.activation.silent else ""
            yield f"  {name} labels", f"{fitted} interpolated{exact}"
    if run.network.n_neurons > 1:
        yield from _neurons(run)
    yield "norm", f"‖w‖ = {number(run.state.norm)}"
    if run.state.orthogonal_norm:
        yield (
            "",
            f"of which ‖w^⊥‖ = {number(run.state.orthogonal_norm)} outside the span of the samples, from the start",
        )


def _steps(steps: int) -> str:
    """A number of steps: in full up to a million, else rounded."""
    return f"{steps:,}" if steps <= 10**6 else f"{steps:.2g}"


def _neurons(run: Run) -> Iterator[Row]:
    labels, active = run.problem.labels, active_pattern(run)
    on = "active on" if run.network.activation.has_pattern else "β > 0 on"
    for k, sign in enumerate(run.signs):
        where = (portion(active[k], labels > 0) + " positive", portion(active[k], labels < 0) + " negative labels")
        died = f"; died at {run.at(run.dead[k])}" if k in run.dead else ""
        outer = f", a = {number(float(run.state.output_weights[k]))}" if run.network.train_output else ""
        text = f"‖w‖ = {number(float(run.state.norms[k]))}{outer}; {on} {' and '.join(where)}{died}"
        yield f"  neuron {k + 1} ({'+' if sign > 0 else '−'})", text


def _references(analysis: Analysis) -> Iterator[Row]:
    if analysis.reference_note:
        yield "w*", analysis.reference_note
    for name, reference in (("w*", analysis.reference), ("linear", analysis.linear)):
        if reference is not None:
            yield from _reference(name, reference)


def _reference(name: str, reference: MinimumNorm) -> Iterator[Row]:
    kkt = reference.kkt
    yield name, f"{reference.status} ({reference.of}): {reference.message}"
    if np.isfinite(reference.norm):
        searched = f"; {count(reference.nodes, 'node')} of branch and bound" if reference.nodes > 1 else ""
        measure = "variation norm" if reference.of == "variation" else "norm"
        yield "", f"{measure} {reference.norm:.12g}, at least {reference.lower_bound:.12g}{searched}"
        residuals = f"primal {kkt.primal:.1e}, dual {kkt.dual:.1e}, complementarity {kkt.complementarity:.1e}"
        yield "", f"optimality conditions, recomputed from K, relative: {residuals}"


def _test_points(analysis: Analysis) -> Iterator[Row]:
    test = analysis.problem.test
    if test is None:
        return
    yield (
        "points",
        f"{count(test.n_points, 'point')}; predicting 0 has mean squared error {number(test.error_of_zero)}",
    )
    errors = {"training": analysis.run.state.test_error}
    for name, reference in (("w*", analysis.reference), ("linear", analysis.linear)):
        errors |= {} if reference is None else {name: reference.test_error}
    for name, error in errors.items():
        unknown = "not known: the weights have a part outside the span of the samples"
        yield name, unknown if error is None else f"mean squared error {number(error)}"


def _gap(gap: Gap | None, reference: MinimumNorm | None) -> Iterator[Row]:
    if gap is None or reference is None:
        return
    yield "absolute", f"‖w − w*‖ = {number(gap.absolute)}"
    relative = gap.message if gap.relative is None else f"‖w − w*‖/‖w*‖ = {number(gap.relative)}"
    yield "relative", relative
    signs = reference.network.signs
    if len(signs) > 1:
        for k, value in enumerate(gap.per_neuron):
            yield f"  neuron {k + 1} ({'+' if signs[k] > 0 else '−'})", f"‖w − w*‖ = {number(float(value))}"
    yield "predictions", f"differ by at most {number(gap.prediction)} at the samples"

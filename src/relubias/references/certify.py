"""Is this the minimum-norm global minimiser? A proof or a measured refusal, for weights from anywhere.

For feasible w and any a with a_N ≤ 0, w_a = Xᵀa,

    ½‖w‖² − (t_Pᵀa_P − ½aᵀKa) = ½‖w − w_a‖² + Σ_N a_i β_i,

so w is optimal exactly where multipliers exist that make both terms on the right vanish. The candidate's own
dual K⁺β is one choice. For singular K others describe the same weights, and those of our own solution are the second;
the better of the two is reported. The lower bound is the better of the two as well.

For several neurons the pieces nearest to the candidate make such a program of it, on lifted samples
(:mod:`relubias.references.lifting`). To be optimal there is necessary; the norm must also reach that of the minimum
which branch and bound has proven.

A network both of whose layers are trained is judged by its variation norm Σ|a_k|‖w_k‖ and by the lower bound for those
of all networks that fit the labels (:mod:`relubias.references.variation`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.nouns import require_nouns
from relubias.problem import Problem, same_problem
from relubias.references.any_number import smallest_of_any_number
from relubias.references.conditions import TOLERANCE, Evidence, evidence
from relubias.references.constrained import best_multipliers
from relubias.references.gauge import VARIATION
from relubias.references.reach import reachable
from relubias.references.record import KKT
from relubias.references.searched import checked_budget, searched_minimum, tree_of
from relubias.references.single import constraints_of, require_fixed_relu
from relubias.references.smallest import WIDTH
from relubias.references.variation import require_both_layers, variation_norm
from relubias.state import State
from relubias.status import Optimality

#: A candidate whose violations are at most this fraction of the largest fitted label is called feasible.
FEASIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Certificate:
    """What can be said about a candidate for the minimum-norm global minimiser.

    Where it is one for the least variation norm, norms are Σ|a_k|‖w_k‖, the multipliers are prices z of the samples
    with loads M_±(z) ≤ 1, complementarity is the width of the interval relative to the norm, and dual is 0.

    Attributes
    ----------
    problem, network, state : Problem, Network, State
        The candidate.
    optimal : bool
        Whether it is the minimum-norm global minimiser: all residuals at most 1e-9, or at the rounding level of K.
    feasible : bool
        Whether it is a global minimiser of the loss, to 1e-6 of the largest fitted label.
    message : str
        One sentence.
    kkt : KKT
        Relative residuals, with `multipliers`; of several neurons, those of the program of its own pieces.
    misfit : float
        Largest |β_i − s y_i| over the samples with s y_i > 0, in label units; of several neurons, largest
        |f − y| where a neuron has the sign of y.
    excess : float
        Largest positive β_i over the other samples, in label units; of several neurons, largest |f| there.
    worst_sample : int
        The sample with the largest violation.
    multipliers : ndarray, shape (n_samples,), or (p,) of several neurons
        a; of several neurons, one for each of the p constraints of the candidate's pieces.
    norm : float
        ‖w‖, the part outside the span of the samples included.
    lower_bound : float
        No global minimiser has a smaller norm.
    shortest : float
        Norm of the shortest global minimiser that we know; `lower_bound` of one neuron.
    interrupted : bool
        Whether the user stopped the search for the lower bound.
    """

    problem: Problem
    network: Network
    state: State
    optimal: bool
    feasible: bool
    message: str
    kkt: KKT
    misfit: float
    excess: float
    worst_sample: int
    multipliers: Array
    norm: float
    lower_bound: float
    shortest: float
    interrupted: bool = False

    def __repr__(self) -> str:
        return f"<Certificate: {self.message}>"

    @property
    def interval(self) -> float:
        """norm − lower_bound; negative only where the candidate is not feasible, or by rounding."""
        return self.norm - self.lower_bound


def certify(
    problem: Problem, network: Network, state: State, *, of: str = "global", budget: int | None = None
) -> Certificate:
    """Check whether a candidate is the minimum-norm global minimiser, or a network of least variation norm.

    Parameters
    ----------
    problem : Problem
    network : Network
        Neurons with the ReLU and fixed signs; for ``of="variation"`` with output weights that are trained.
    state : State
        From any source: :meth:`State.from_weights`, :meth:`State.from_dual`, or the state of a run.
    of : {"global", "variation"}
        What it may be the shortest of; see :func:`relubias.minimum_norm`.
    budget : int, optional
        Convex programs that the branch and bound of several neurons may solve; see :func:`relubias.minimum_norm`.

    Returns
    -------
    Certificate

    Raises
    ------
    ArgumentError
        If `of` is neither of the two or does not fit the network, the budget is not a positive whole number, or the
        state belongs to another problem or network.
    """
    require_nouns(problem, network)
    if not isinstance(state, State):
        raise ArgumentError(
            f"state is a {type(state).__name__}, not a relubias.State; make one of weights with "
            "relubias.State.from_weights(problem, network, weights)."
        )
    if of not in ("global", "variation"):
        raise ArgumentError(f"of={of!r} is nothing to be certified; choose one of: global, variation.")
    (require_both_layers if of == "variation" else require_fixed_relu)(network)
    if state.network.signs != network.signs or not same_problem(state.problem, problem):
        raise ArgumentError("the state belongs to another problem or network; build it on the ones given here.")
    budget = checked_budget(budget)
    if of == "variation":
        return _certify_variation(problem, state)
    return _certify_one(problem, state) if network.n_neurons == 1 else _certify_several(problem, state, budget)


def _certify_one(problem: Problem, state: State) -> Certificate:
    constraints = constraints_of(problem, state.network)
    operator, primal = problem.operator, state.primal[0]
    outside = state.orthogonal_norm
    mismatch = float(np.max(np.abs(operator.defect(state.dual[0], primal))))

    def judged(dual: Array, distance: float) -> tuple[Array, Evidence]:
        return dual, evidence(
            operator, constraints, dual, primal=primal, norm=state.norm, distance=distance, mismatch=mismatch
        )

    solved, _ = best_multipliers(operator, constraints)
    # Without the kernel of K, in which large coefficients may cancel.
    difference = state.dual[0] - operator.project(solved)
    distance = math.hypot(float(operator.lengths(difference[None, :])[0]), outside)
    choices = [judged(state.dual[0], outside), judged(solved, distance)]
    dual, proof = min(choices, key=lambda choice: choice[1].kkt.worst)
    bound = max(choice[1].lower_bound for choice in choices)
    violations = np.abs(constraints.violations(primal))
    feasible = proof.kkt.primal <= FEASIBLE
    wanted = "fitted" if constraints.equal[np.argmax(violations)] else "at or below 0"
    return Certificate(
        problem=problem,
        network=state.network,
        state=state,
        # A norm below the bound cannot be that of weights which meet the constraints, whatever the residuals say.
        optimal=proof.optimal and state.norm >= (1 - FEASIBLE) * bound,
        feasible=feasible,
        message=_message(problem, proof, violations, mismatch, bound=bound, wanted=wanted, proven=True),
        kkt=proof.kkt,
        misfit=float(np.max(violations, where=constraints.equal, initial=0.0)),
        excess=float(np.max(violations, where=~constraints.equal, initial=0.0)),
        worst_sample=int(np.argmax(violations)),
        multipliers=dual,
        norm=state.norm,
        lower_bound=bound,
        shortest=bound,
    )


def _certify_several(problem: Problem, state: State, budget: int | None) -> Certificate:
    network = state.network
    star = searched_minimum(problem, network, state=state, budget=budget)
    tree = tree_of(problem, network)
    program, multipliers, _ = tree.decided(tree.choice_near(state.primal))
    operator = problem.operator
    mismatch = max(float(np.max(np.abs(operator.defect(*own)))) for own in zip(state.dual, state.primal, strict=True))
    difference = state.dual - operator.project(program.dual(multipliers, problem.n_samples))
    proof = evidence(
        program.operator(operator),
        program.constraints,
        multipliers,
        primal=np.einsum("pm,mp->p", program.coefficients, state.primal[:, program.samples]),
        norm=state.norm,
        distance=math.hypot(float(np.linalg.norm(operator.lengths(difference))), state.orthogonal_norm),
        mismatch=mismatch,
    )
    violations = np.abs(state.predictions - tree.labels)
    proof = replace(proof, kkt=replace(proof.kkt, primal=max(float(violations.max()), mismatch) / tree.scale))
    reached = star.status is Optimality.OPTIMAL and state.norm <= (1 + WIDTH) * star.norm
    # Weights that the interval does not tell from the shortest ones are judged by their conditions, as one neuron is.
    bound = star.norm if reached else star.lower_bound
    zero = tree.labels == 0
    wanted = "predicted 0" if zero[np.argmax(violations)] else "fitted"
    return Certificate(
        problem=problem,
        network=network,
        state=state,
        optimal=reached and proof.optimal and state.norm >= (1 - FEASIBLE) * bound,
        feasible=proof.kkt.primal <= FEASIBLE,
        message=_message(problem, proof, violations, mismatch, bound=bound, wanted=wanted, proven=reached),
        kkt=proof.kkt,
        misfit=float(np.max(violations, where=~zero, initial=0.0)),
        excess=float(np.max(violations, where=zero, initial=0.0)),
        worst_sample=int(np.argmax(violations)),
        multipliers=multipliers,
        norm=state.norm,
        lower_bound=star.lower_bound,
        shortest=star.norm,
        interrupted=star.status is Optimality.INTERRUPTED,
    )


def _certify_variation(problem: Problem, state: State) -> Certificate:
    """The candidate's own variation norm against the bound of the prices, the multipliers of this program."""
    labels, kept = reachable(problem)
    found = smallest_of_any_number(problem, labels, kept, VARIATION)
    scale = float(np.max(np.abs(labels), initial=0.0)) or 1.0
    violations, norm = np.abs(state.predictions - labels), variation_norm(state)
    worst, zero = int(np.argmax(violations)), labels == 0
    missed = float(violations[worst]) / scale
    width = max(0.0, 1.0 - found.lower_bound / norm) if norm > 0 else 0.0
    reached = missed <= TOLERANCE and width <= WIDTH and norm >= (1 - FEASIBLE) * found.lower_bound
    size = f"its variation norm Σ|a_k|‖w_k‖ = {norm:.6g}"
    if reached:
        message = f"no network that fits the labels has a smaller variation norm: {size} is the least to {width:.1e}."
    elif missed > FEASIBLE:
        message = (
            f"this network does not fit the labels: {problem.sample(worst)} is off by {violations[worst]:.3g} in label "
            f"units; those that fit have variation norm at least {found.lower_bound:.6g}."
        )
    else:
        message = (
            f"this network fits the labels, but is not shown to have the least variation norm: {size} is "
            f"{100 * width / max(1 - width, FEASIBLE):.2g} % above the lower bound {found.lower_bound:.6g}."
        )
    return Certificate(
        problem=problem,
        network=state.network,
        state=state,
        optimal=reached,
        feasible=missed <= FEASIBLE,
        message=message,
        kkt=KKT(primal=missed, dual=0.0, complementarity=width),
        misfit=float(np.max(violations, where=~zero, initial=0.0)),
        excess=float(np.max(violations, where=zero, initial=0.0)),
        worst_sample=worst,
        multipliers=found.prices,
        norm=norm,
        lower_bound=found.lower_bound,
        shortest=found.size,
    )


def _message(
    problem: Problem, proof: Evidence, violations: Array, mismatch: float, *, bound: float, wanted: str, proven: bool
) -> str:
    short = proof.norm < (1 - FEASIBLE) * bound
    if proof.optimal and proven and not short:
        level = "at the rounding level of the Gram matrix" if proof.at_rounding else f"{proof.kkt.worst:.1e}"
        return f"this is the minimum-norm global minimiser: the residuals of its optimality conditions are {level}."
    worst = int(np.argmax(violations))
    if proof.kkt.primal > FEASIBLE and mismatch > violations[worst]:
        return (
            "the pre-activations of this state are not those of its weights: they differ by "
            f"{mismatch:.3g} in label units."
        )
    if proof.kkt.primal > FEASIBLE:
        return (
            f"this is no global minimiser of the loss: {problem.sample(worst)} should be {wanted} and is off by "
            f"{violations[worst]:.3g} in label units."
        )
    if short:
        return (
            f"nothing is proven: the norm {proof.norm:.6g} of these weights is below the lower bound {bound:.6g} of "
            "all global minimisers, so that they are one to rounding only."
        )
    start = (
        f"this is a global minimiser of the loss, but not shown to be the one of least norm: its norm {proof.norm:.6g} "
    )
    if proof.norm > (1 + FEASIBLE) * bound:
        above = f"{100 * (proof.norm / bound - 1):.2g} % above" if bound > 0 else "above"
        return f"{start}is {above} the lower bound {bound:.6g}."
    if proof.optimal:
        return f"{start}meets the lower bound {bound:.6g} to six digits only."
    return (
        f"{start}meets the lower bound to six digits, but the residuals of the optimality conditions reach "
        f"{proof.kkt.worst:.1e}, above 1e-9."
    )

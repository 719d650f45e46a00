"""Were the paper's two lemmas about activity true along a run, by how much, and could that be known before it?

**Lemma 5** (activity is kept). If β_{k,i}(t) > 0 and the neuron has the sign of the label, s_k y_i > 0, then
β_{k,i}(t + 1) > 0.

**Lemma 6** (inactivity is kept). If sample i is inactive in neuron k and α_{k,i} is negative enough, it is inactive for
ever, and α_{k,i} is frozen.

Neither is true for every K; the paper proves them with high probability in its regime. An *audit* follows one run and
says for each sample and neuron what happened. How negative is negative enough is measured in label units at the first
step at which the sample was inactive, as its depth −β_{k,i} and as −‖λ‖₁ α_{k,i}. Whether α_{k,i} is frozen is seen
from that step to the last: α = K⁺β is computed from the two β anew, not taken from the recursion, which cannot move it
while the sample is off. (How deep is deep enough: :mod:`relubias.theory.depth`.)

**A guarantee before the run** (ours). Let each sample be active in at most one neuron at step t₁, and that neuron have
the sign of its label; write P for the samples active in k and

    e_i = β_{k,i}(t₁) − |y_i| (i ∈ P),        h = η λ_max(K_PP) < 2,        q = max(1, h).

If for all i ∈ P

    η K_ii ≤ 1   and   K_ii |y_i| > ‖K_{i,P∖i}‖₂ ‖e_P‖₂,                                               (5)

and for all i ∉ P

    −β_{k,i}(t₁) > q √(K_iP K_PP⁻¹ K_Pi) √(eᵀ K_PP⁻¹ e),                                               (6)

in every neuron, then the pattern never changes after t₁: Lemma 5 holds for all i ∈ P, and Lemma 6 for all i ∉ P.

*Proof.* By induction on t; let the pattern have kept until t. No sample has two neurons, so that e_P belongs to k alone
and e_P(t) = (I − ηK_PP)^{t−t₁} e_P, whose length is at most ‖e_P‖. For i ∈ P one more step gives

    β_i(t + 1) = (1 − ηK_ii) β_i(t) + η (K_ii |y_i| − Σ_{j∈P∖i} K_ij e_j(t)),

where the first term is ≥ 0 and the bracket > 0 by Cauchy–Schwarz and (5). For i ∉ P

    β_i(t + 1) = β_i(t₁) − K_iP K_PP^(−½) [I − (I − ηK_PP)^{t+1−t₁}] K_PP^(−½) e_P,

and the matrix in brackets has norm at most q, so that (6) keeps β_i negative. ∎

For t₁ = 1 this says nothing of the first step, which takes β(0) to β(1) by one product with K and is simply
looked at: Lemma 5 is known before the run if, besides, no sample that was active in a neuron of the sign of its
label is off in β(1), and Lemma 6 if none that was inactive is on.

The inequality of Cauchy and Schwarz loses up to √n for random samples, so that runs keep their patterns in many cases
where nothing is guaranteed. A run proves the same for itself, at its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias import step_sizes
from relubias.dynamics.descent import gradient_descent
from relubias.dynamics.run import Run
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.nouns import require_nouns, require_state
from relubias.problem import Problem
from relubias.state import State
from relubias.theory.predictions import after_one_step
from relubias.wording import count

Mask = NDArray[np.bool_]
#: Steps that an audit follows one by one, where nothing else is asked for.
FOLLOWED = 1_000
#: Margins below this fraction of their two sides are rounding, and so are changes of α, if K is well conditioned.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Guarantee:
    """What is known of the two lemmas before a run.

    Attributes
    ----------
    since : int or None
        t₁: 0 or 1, the first of the two from which on all conditions hold, so that the pattern never changes later;
        None where neither does. Then `keeps` and `stays` are those of step 1.
    activity : bool
        Whether Lemma 5 is known to hold at every step, the first one included.
    inactivity : bool
        Whether it is known that no sample that is inactive ever comes on, the first step included.
    keeps : ndarray, shape (n_neurons, n_samples)
        Left minus right side of (5) over K_ii, in label units, for active samples; NaN for the others.
    stays : ndarray, shape (n_neurons, n_samples)
        Left minus right side of (6), in label units, for inactive samples; NaN for the others.
    message : str
        One sentence.
    """

    since: int | None
    activity: bool
    inactivity: bool
    keeps: Array
    stays: Array
    message: str


@dataclass(frozen=True, eq=False)
class Audit:
    """What happened to the two lemmas along one run.

    Attributes
    ----------
    run : Run
    steps : int
        Steps that were followed one by one.
    lasting : bool
        Whether the certificate of the run covers all later steps. If not, what held may yet be broken.
    activity_tested : ndarray of bool, shape (n_neurons, n_samples)
        Samples that were active in a neuron of the sign of their label at some step: Lemma 5 speaks about them.
    activity_lost : ndarray of int, shape (n_neurons, n_samples)
        The first step at which such a sample was off; 0 where Lemma 5 held at every step.
    activity_margin : ndarray, shape (n_neurons, n_samples)
        The least β_{k,i}(t + 1) over the steps t at which i was active there, in label units; NaN where not tested.
    inactivity_tested : ndarray of bool, shape (n_neurons, n_samples)
        Samples that were inactive at some step: Lemma 6 speaks about them, if they are deep enough.
    inactivity_lost : ndarray of int, shape (n_neurons, n_samples)
        The first step at which such a sample was on again; 0 where it stayed off.
    depth : ndarray, shape (n_neurons, n_samples)
        −β_{k,i} at the first step at which i was inactive, in label units; NaN where not tested.
    dual_depth : ndarray, shape (n_neurons, n_samples)
        −‖λ‖₁ α_{k,i} at that step, in label units; NaN where not tested, and where K is singular, so that α is not
        unique.
    dual_moved : ndarray, shape (n_neurons, n_samples)
        ‖λ‖₁ |Δα_{k,i}| from that step to the last, which is the limit if `lasting`; NaN as above.
    inactivity_margin : ndarray, shape (n_neurons, n_samples)
        The least −β_{k,i}(t + 1) over the steps t at which i was inactive; NaN where not tested.
    guarantee : Guarantee
        What was known before the run.
    message : str
        What happened, in sentences.
    """

    run: Run
    steps: int
    lasting: bool
    activity_tested: Mask
    activity_lost: NDArray[np.int64]
    activity_margin: Array
    inactivity_tested: Mask
    inactivity_lost: NDArray[np.int64]
    depth: Array
    dual_depth: Array
    dual_moved: Array
    inactivity_margin: Array
    guarantee: Guarantee
    message: str

    @property
    def activity_held(self) -> bool:
        """Whether Lemma 5 held for every sample at every step that was followed."""
        return not np.any(self.activity_lost)

    @property
    def inactivity_held(self) -> bool:
        """Whether no sample that was inactive came on again."""
        return not np.any(self.inactivity_lost)

    @property
    def frozen(self) -> Mask:
        """Inactive samples whose α stood still up to rounding, shape (n_neurons, n_samples); False where unknown."""
        problem = self.run.problem
        rounding = max(ROUNDING, problem.n_samples * np.finfo(float).eps * problem.facts.condition)
        size = float(np.abs(self.run.state.dual).max()) * _trace(problem)
        return np.asarray(self.dual_moved <= rounding * size)

    @property
    def deep_enough(self) -> float | None:
        """The largest depth from which a sample came back: deeper ones all stayed; None where none came back."""
        back = self.inactivity_lost > 0
        return float(np.max(self.depth[back])) if np.any(back) else None

    def as_dict(self) -> dict[str, Any]:
        """A summary as JSON-able values."""
        return {
            "steps": self.steps,
            "lasting": self.lasting,
            "activity": _summary(self.activity_tested, self.activity_lost, self.activity_margin),
            "inactivity": _summary(self.inactivity_tested, self.inactivity_lost, self.inactivity_margin),
            "deep_enough": self.deep_enough,
            "guaranteed_since": self.guarantee.since,
            "activity_guaranteed": self.guarantee.activity,
            "inactivity_guaranteed": self.guarantee.inactivity,
            "message": self.message,
        }


def audit(run: Run, *, steps: int | None = None) -> Audit:
    """Follow a run step by step and say for every sample whether Lemma 5 and Lemma 6 held.

    Parameters
    ----------
    run : Run
        Gradient descent on a ReLU network with fixed output weights.
    steps : int, optional
        How many steps to follow one by one; by default up to the last change of pattern or to where the run is, and
        1000 at most. Where the run has a certified limit and its last change is among them, nothing changes later:
        the audit is `lasting`. More steps make it so for a run that settles later.

    Raises
    ------
    ArgumentError
        If the run is none of those, or `steps` is no positive number.
    """
    if run.is_flow or not run.descends_exactly or run.network.activation.name != "relu":
        raise ArgumentError(
            "the lemmas are about gradient descent on ReLU neurons with the squared loss; this run is not."
        )
    last = run.steps if run.stabilised_at is None else int(run.stabilised_at) + 1
    length = min(max(1, last), FOLLOWED) if steps is None else steps
    if not isinstance(length, int | np.integer) or length < 1:
        raise ArgumentError(f"steps must be a whole number of at least 1; it is {steps!r}.")
    followed = gradient_descent(
        run.problem, run.network, run.start, step_size=run.step_size, until=length, record=range(length + 1)
    )
    assert followed.trajectory is not None
    primal = followed.trajectory.primal
    lasting = run.stabilised_at is not None and run.stabilised_at <= length
    if lasting:
        primal = np.concatenate([primal, run.state.primal[None]])
    own = (run.network.output_weights[:, None] * run.problem.labels > 0)[None]
    active, after = primal[:-1] > 0, primal[1:]
    tested, inactive = active & own, ~active
    ever_on, ever_off = np.asarray(tested.any(axis=0)), np.asarray(inactive.any(axis=0))
    lost, margin = _followed(tested, after, after > 0)
    back, depth_left = _followed(inactive, -after, after <= 0)
    first = np.argmax(inactive, axis=0)
    entries = np.ix_(*map(np.arange, first.shape))
    depth = np.where(ever_off, -primal[(first, *entries)], np.nan)
    dual_depth, dual_moved = _duals(run.problem, primal, np.where(ever_off, first, -1))
    known = guarantee(run.problem, run.network, run.start, step_size=run.step_size)
    return Audit(
        run=run,
        steps=int(length),
        lasting=lasting,
        activity_tested=ever_on,
        activity_lost=lost,
        activity_margin=margin,
        inactivity_tested=ever_off,
        inactivity_lost=back,
        depth=depth,
        dual_depth=dual_depth,
        dual_moved=dual_moved,
        inactivity_margin=depth_left,
        guarantee=known,
        message=_message(run, lasting, length, ever_on, lost, ever_off, back, known),
    )


def guarantee(problem: Problem, network: Network, start: State, *, step_size: float) -> Guarantee:
    """Check the conditions (5) and (6) at the start and after one step: two products with K and a Cholesky per neuron.

    That they suffice is proven in :mod:`relubias.theory.lemmas`. (Ours.)

    Parameters
    ----------
    problem : Problem
    network : Network
        ReLU neurons with fixed output weights.
    start : State
    step_size : float
        η.

    Returns
    -------
    Guarantee

    Raises
    ------
    ArgumentError
        If the network is not one of ReLU neurons with fixed output weights, the step is no positive number, or the
        nouns do not belong together.
    """
    require_nouns(problem, network)
    require_state(problem, network, start)
    if network.activation.name != "relu" or network.train_output:
        raise ArgumentError(f"the lemmas are about ReLU neurons with fixed output weights, not about {network}.")
    primal, step = start.primal, step_sizes.checked(step_size)
    own = network.output_weights[:, None] * problem.labels > 0
    for time in (0, 1):
        if time:
            primal = after_one_step(start, step)[1]
        alone = bool(np.all((primal > 0).sum(axis=0) <= 1) and np.all(own[primal > 0]))
        keeps, stays = _conditions(problem, primal, step) if alone else (np.full(primal.shape, np.nan),) * 2
        if alone and np.all(np.isnan(keeps) | (keeps > 0)) and np.all(np.isnan(stays) | (stays > 0)):
            lost = int(np.sum(start.pattern & own & (primal <= 0)))
            back = int(np.sum(~start.pattern & (primal > 0)))
            return Guarantee(time, not lost, not back, keeps, stays, _known(time, lost, back))
    if not alone:
        reason = "after one step some sample is active in two neurons, or in one that has not the sign of its label"
    else:
        short = int(np.sum(keeps <= 0) + np.sum(stays <= 0))
        reason = f"after one step {count(short, 'sample')} of all neurons miss the sufficient conditions"
    return Guarantee(None, False, False, keeps, stays, f"nothing is known before the run: {reason}.")


def _known(time: int, lost: int, back: int) -> str:
    """What is known, in a sentence; what the first step does against the lemmas is told with it."""
    if time == 0:
        return "known before the run: from the start no sample can change its activity."
    broken = []
    if lost:
        broken.append(f"takes {count(lost, 'active sample')} from a neuron of the sign of its label (against Lemma 5)")
    if back:
        broken.append(f"brings {count(back, 'inactive sample')} on (against Lemma 6)")
    first = " and ".join(broken) or "keeps to both lemmas"
    return f"known before the run: the first step {first}, and after it no sample can change its activity."


def _conditions(problem: Problem, primal: Array, step: float) -> tuple[Array, Array]:
    """What is left of (5) and of (6), in label units, each shape (n_neurons, n_samples)."""
    keeps, stays = np.full(primal.shape, np.nan), np.full(primal.shape, np.nan)
    gram, sizes = problem.gram, np.abs(problem.labels)
    for k, beta in enumerate(primal):
        rows, others = np.flatnonzero(beta > 0), np.flatnonzero(beta <= 0)
        stays[k, others] = -beta[others]
        if not len(rows):
            continue
        block, diagonal = gram[np.ix_(rows, rows)], gram[rows, rows]
        error = beta[rows] - sizes[rows]
        rate = step * float(scipy.linalg.eigvalsh(block, subset_by_index=[len(rows) - 1] * 2)[0])
        off = np.sqrt(np.maximum(0.0, np.sum(block**2, axis=1) - diagonal**2))
        demanded = off * float(np.linalg.norm(error)) / diagonal
        keeps[k, rows] = sizes[rows] * (1.0 - ROUNDING) - demanded
        try:
            factor = np.linalg.cholesky(block)
        except np.linalg.LinAlgError:
            keeps[k], stays[k, others] = np.where(np.isnan(keeps[k]), np.nan, -np.inf), -np.inf
            continue
        if rate >= 2.0 or np.any(step * diagonal > 1.0):
            keeps[k, rows] = -np.inf
        energy = float(np.linalg.norm(scipy.linalg.solve_triangular(factor, error, lower=True)))
        leverage = np.linalg.norm(scipy.linalg.solve_triangular(factor, gram[np.ix_(rows, others)], lower=True), axis=0)
        stays[k, others] = -beta[others] * (1.0 - ROUNDING) - max(1.0, rate) * leverage * energy
    return keeps, stays


def _followed(tested: Mask, after: Array, held: Mask) -> tuple[NDArray[np.int64], Array]:
    """The first step at which a tested entry did not hold, 0 for never, and the least value after a test."""
    broken = tested & ~held
    first = np.where(broken.any(axis=0), np.argmax(broken, axis=0) + 1, 0)
    least = np.where(tested, after, np.inf).min(axis=0)
    return np.asarray(first, dtype=np.int64), np.where(tested.any(axis=0), least, np.nan)


def _duals(problem: Problem, primal: Array, first: NDArray[np.int64]) -> tuple[Array, Array]:
    """−‖λ‖₁ α at a step of each neuron and sample, and how far ‖λ‖₁ α is from there at the last; NaN for step −1."""
    depth, moved = np.full(first.shape, np.nan), np.full(first.shape, np.nan)
    if problem.operator.rank < problem.n_samples:
        return depth, moved
    trace, last = _trace(problem), problem.operator.pseudo_solve(primal[-1])
    for step in np.unique(first[first >= 0]):
        here, dual = first == step, problem.operator.pseudo_solve(primal[step])
        depth[here], moved[here] = -trace * dual[here], trace * np.abs(last - dual)[here]
    return depth, moved


def _trace(problem: Problem) -> float:
    """‖λ‖₁."""
    return 1.0 / step_sizes.relative(problem, 1.0)


def _summary(tested: Mask, lost: NDArray[np.int64], margin: Array) -> dict[str, Any]:
    return {
        "tested": int(tested.sum()),
        "violated": int(np.sum(lost > 0)),
        "first_violation": int(lost[lost > 0].min()) if np.any(lost) else None,
        "least_margin": float(np.nanmin(margin)) if np.any(tested) else None,
    }


def _message(
    run: Run,
    lasting: bool,
    steps: int,
    tested: Mask,
    lost: NDArray[np.int64],
    inactive: Mask,
    back: NDArray[np.int64],
    known: Guarantee,
) -> str:
    until = "for ever" if lasting else f"over the {count(steps, 'step')} that were followed"
    texts = []
    for name, what, mask, broken in (
        ("Lemma 5", "active", tested, lost),
        ("Lemma 6", "inactive", inactive, back),
    ):
        share = f"{int(np.sum(mask & (broken == 0)))} of {int(mask.sum())}"
        text = f"{name}: {share} that were {what} stayed so {until}"
        if np.any(broken):
            step = int(broken[broken > 0].min())
            neuron, sample = np.argwhere(broken == step)[0]
            text += f"; the first to change was {run.problem.sample(int(sample))} in neuron {neuron + 1} at step {step}"
        texts.append(f"{text}.")
    return " ".join([*texts, known.message[0].upper() + known.message[1:]])

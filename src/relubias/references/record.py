"""The record of one minimum-norm solution, whoever found it, with the evidence for it.

The optimality (Karush–Kuhn–Tucker) conditions of  min ‖w‖  s.t.  β_i = t_i (i ∈ P),  β_i ≤ 0 (i ∈ N),  β = X w, are

    w = Xᵀa,   a_i ≤ 0 on N          (dual)
    β_P = t_P,  β_N ≤ 0              (primal)
    a_i β_i = 0 on N                 (complementarity)

and :class:`KKT` says how far a point is from each. ½‖w*‖² ≥ t_Pᵀa_P − ½aᵀKa for every a with a_N ≤ 0: that is the
lower bound. Several neurons are one neuron on lifted samples (:mod:`relubias.references.lifting`); after branch and
bound the residuals are those within the pieces of the solution, and the lower bound is that of the search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.state import State
from relubias.status import Optimality


@dataclass(frozen=True)
class KKT:
    """Relative residuals of the optimality conditions, all recomputed from K.

    Attributes
    ----------
    primal : float
        Largest |β_i − t_i| on the samples to be fitted and largest positive β_i on the others, over max|t|.
    dual : float
        The larger of: the largest positive ‖x_i‖a_i on the other samples, over max ‖x_j‖|a_j|; and ‖w − Xᵀa‖/‖w‖.
    complementarity : float
        Σ |a_i β_i| over the other samples, over ‖w‖².
    """

    primal: float
    dual: float
    complementarity: float

    @property
    def worst(self) -> float:
        """The largest of the three."""
        return max(self.primal, self.dual, self.complementarity)

    def as_dict(self) -> dict[str, float]:
        """The three residuals by name."""
        return {"primal": self.primal, "dual": self.dual, "complementarity": self.complementarity}


@dataclass(frozen=True, eq=False)
class MinimumNorm:
    """A minimum-norm solution and the proof of it.

    Attributes
    ----------
    problem, network : Problem, Network
    of : str
        Among which solutions the norm is least: ``"global"``, ``"pattern"``, ``"partition"`` or ``"linear"``; or
        ``"variation"``, where `norm` is the variation norm Σ_k |a_k|‖w_k‖ of the networks of any number of neurons,
        and `network` and `state` have the neurons that reach it.
    status : Optimality
        ``optimal``: the residuals in `kkt` are at most 1e-9, or at the rounding level of K, and then `message` says
        so. ``infeasible``: no weights meet the conditions, or K has not the digits to tell: then it is proven that
        such weights are more than ten times as long as the compromise. ``budget``: neither could be proven; after
        branch and bound the norm is infinite where no solution was found. ``interrupted``: the same, as the user
        stopped the search.
    message : str
        One sentence.
    state : State
        The solution. Where the status is infeasible: the weights of least norm among those whose violations have
        the least sum of squares; of several neurons within one pattern only, unless coinciding or zero rows are why.
        Pre-activations are set to the constraints they meet up to `kkt.primal`, so that a sample held at 0 is
        inactive.
    norm : float
        ‖w‖; where `of` is ``"variation"``, Σ_k |a_k|‖w_k‖.
    lower_bound : float
        No solution has a smaller norm than this, rounding of K to ε √(K_ii K_jj) included. Where the status is
        infeasible there is no solution, and the bound is one for those compromises.
    kkt : KKT
        Residuals of `state` in the original conditions.
    infeasible_rows : tuple of int
        The samples that the compromise violates; empty unless infeasible.
    nodes : int
        Convex relaxations solved; 1 where there is no branching.
    """

    problem: Problem
    network: Network
    of: str
    status: Optimality
    message: str
    state: State
    norm: float
    lower_bound: float
    kkt: KKT
    infeasible_rows: tuple[int, ...] = ()
    nodes: int = 1

    def __repr__(self) -> str:
        return f"<MinimumNorm of {self.network} ({self.of}): {self.status}, norm {self.norm:.10g}; {self.message}>"

    @property
    def interval(self) -> float:
        """Width norm − lower_bound of the interval that is proven to hold the least norm."""
        return self.norm - self.lower_bound

    @property
    def is_solution(self) -> bool:
        """Whether `state` is a solution; else it is a compromise, since there is none or none was found."""
        return self.status is not Optimality.INFEASIBLE and math.isfinite(self.norm)

    @property
    def relative_interval(self) -> float:
        """The width of that interval as a fraction of the norm; 0 where w* = 0, infinite where nothing was found."""
        if not math.isfinite(self.norm):
            return math.inf
        return self.interval / self.norm if self.norm > 0 else 0.0

    @property
    def predictions(self) -> Array:
        """f at the samples, shape (n,): of the network, or s·Xw where the solution is the linear one."""
        if self.of == "linear":
            return np.asarray(self.network.output_weights[0] * self.state.primal[0])
        return self.state.predictions

    @property
    def test_error(self) -> float | None:
        """Mean squared error at the test points of the problem; None where there are none."""
        test = self.problem.test
        if self.of == "linear" and test is not None:
            return test.error(self.network.output_weights[0] * self.state.primal_at(test)[0])
        return self.state.test_error

    def weights(self) -> Array:
        """W*, shape (n_neurons, n_features); the same as ``reference.state.weights()``."""
        return self.state.weights()

    def to_parts(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and JSON-able values from which :meth:`from_parts` rebuilds the record, given the problem."""
        meta = {
            "signs": list(self.network.signs),
            "activation": self.network.activation.name,
            "train_output": self.network.train_output,
            "of": self.of,
            "status": str(self.status),
            "message": self.message,
            "norm": self.norm,
            "lower_bound": self.lower_bound,
            "kkt": self.kkt.as_dict(),
            "infeasible_rows": list(self.infeasible_rows),
            "nodes": self.nodes,
        }
        arrays = {"dual": self.state.dual, "primal": self.state.primal}
        if self.state.outer is not None:
            arrays["outer"] = self.state.outer
        return arrays, {"minimum_norm": meta}

    @classmethod
    def from_parts(cls, problem: Problem, arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> MinimumNorm:
        """Rebuild a record from :meth:`to_parts` and the problem it belongs to.

        Parameters
        ----------
        problem : Problem
        arrays : dict of ndarray
        meta : dict

        Returns
        -------
        MinimumNorm

        Raises
        ------
        ArgumentError
            If the signs or the activation of the network are none.
        """
        fields = dict(meta["minimum_norm"])
        kind = {"activation": fields.pop("activation"), "train_output": fields.pop("train_output", False)}
        network = Network.of_signs(fields.pop("signs"), **kind)
        nothing = np.zeros(network.n_neurons)
        outer = arrays.get("outer")
        state = State(problem, network, arrays["dual"], arrays["primal"], nothing, outer=outer)
        fields["status"] = Optimality(fields["status"])
        fields["kkt"] = KKT(**fields["kkt"])
        fields["infeasible_rows"] = tuple(fields["infeasible_rows"])
        return cls(problem=problem, network=network, state=state, **fields)

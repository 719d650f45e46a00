"""One word for one thing: argument names over the whole public face, checked against a glossary."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import relubias

#: Words that others use for what has another name here.
NOT_OUR_WORD = {
    "budget": {"max_iter", "max_iters", "maxiter", "n_iter", "iterations", "max_steps", "epochs", "num_steps"},
    "step_size": {"eta", "lr", "learning_rate", "stepsize", "step"},
    "rng": {"seed", "random_state", "generator", "prng"},
    "until": {"t", "t_max", "t_end", "n_steps", "horizon"},
    "features": {"X", "x", "data", "inputs", "design"},
    "labels": {"y", "targets", "outputs", "responses"},
    "gram": {"K", "kernel", "gram_matrix"},
    "preprocess": {"preprocessing", "normalize", "normalise", "standardize", "scaler"},
    "centre_labels": {"center_labels", "demean"},
    "a rounding margin, which is derived and no option": {"tol", "atol", "rtol", "tolerance", "eps"},
}

#: The only arguments that may be given by position: the nouns, in this order within a call.
NOUNS = ["problem", "network", "start", "run", "star", "state"]
#: First arguments of constructors and methods, and the one number that a step size in natural units is about.
SUBJECTS = {
    *("path", "features", "gram", "labels", "weights", "dual", "primal", "signs", "arrays", "meta", "values"),
    *("index", "fraction", "step_size", "sampler", "moment", "text"),
}


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every public function, and every public method of a public class, with its dotted name."""
    for name in relubias.__all__:
        if name not in ("__version__", "errors"):
            yield from callables_of(name, getattr(relubias, name))


def callables_of(name: str, thing: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions of a module, the methods of a class, or the function itself."""
    if isinstance(thing, types.ModuleType):
        members = [member for member in vars(thing).values() if getattr(member, "__module__", "") == thing.__name__]
        for member in members:
            if not member.__name__.startswith("_"):
                yield from callables_of(f"{name}.{member.__name__}", member)
    elif inspect.isclass(thing):
        for attribute in vars(thing):
            method = getattr(thing, attribute)
            if not attribute.startswith("_") and (inspect.isfunction(method) or inspect.ismethod(method)):
                yield f"{name}.{attribute}", method
    elif inspect.isfunction(thing):
        yield name, thing


def offences(name: str, function: Callable[..., Any]) -> list[str]:
    """Return a sentence for each argument of this function that breaks the glossary."""
    found = []
    positional = []
    for argument, parameter in inspect.signature(function).parameters.items():
        found += [f"{name}: say {ours}, not {argument}" for ours, theirs in NOT_OUR_WORD.items() if argument in theirs]
        if argument != "self" and parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(argument)
    found += [f"{name}: {word} must be keyword-only" for word in positional if word not in {*NOUNS, *SUBJECTS}]
    order = [NOUNS.index(word) for word in positional if word in NOUNS]
    if order != sorted(order):
        found.append(f"{name}: the nouns come in the order {', '.join(NOUNS)}")
    return found


PUBLIC = dict(public_callables())


def test_the_walk_reaches_functions_modules_and_methods() -> None:
    assert {"Problem.from_gram", "State.predict", "step_sizes.stable"} <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_arguments_are_named_as_in_the_glossary(name: str) -> None:
    assert offences(name, PUBLIC[name]) == []


def test_offences_are_reported() -> None:
    def solve(network: object, problem: object, max_iter: int, *, tol: float) -> None: ...

    assert offences("solve", solve) == [
        "solve: say budget, not max_iter",
        "solve: say a rounding margin, which is derived and no option, not tol",
        "solve: max_iter must be keyword-only",
        "solve: the nouns come in the order problem, network, start, run, star, state",
    ]

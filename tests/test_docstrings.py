"""What public docstrings say of arguments is so: each is described, and none that the function does not take."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import relubias

Function = Callable[..., Any]

#: Public modules that define functions themselves and export all that have no underscore.
PLAIN = ("relubias.starts", "relubias.step_sizes")


def public_modules() -> Iterator[types.ModuleType]:
    """Yield the package, the plain modules, and every module beneath that says by `__all__` what is public in it."""
    yield relubias
    for found in pkgutil.walk_packages(relubias.__path__, "relubias."):
        if not found.name.endswith("__main__"):
            module = importlib.import_module(found.name)
            if found.name in PLAIN or hasattr(module, "__all__"):
                yield module


def exported(module: types.ModuleType) -> list[Any]:
    """Return what a module makes public."""
    if hasattr(module, "__all__"):
        return [getattr(module, name) for name in module.__all__]
    return [
        member
        for name, member in vars(module).items()
        if not name.startswith("_") and getattr(member, "__module__", "") == module.__name__
    ]


def public_functions() -> dict[str, tuple[Function, tuple[Function, ...]]]:
    """Return every public function and method by its dotted name, with the methods that it overrides, nearest first."""
    found: dict[str, tuple[Function, tuple[Function, ...]]] = {}
    for module in public_modules():
        for thing in exported(module):
            if inspect.isfunction(thing):
                found[f"{thing.__module__}.{thing.__qualname__}"] = (thing, ())
            elif inspect.isclass(thing):
                found |= methods_of(thing)
    return found


def methods_of(thing: type) -> dict[str, tuple[Function, tuple[Function, ...]]]:
    """Return the public methods of a class and of those classes of the package that it inherits from."""
    found = {}
    line = [base for base in thing.__mro__ if base.__module__.split(".")[0] == thing.__module__.split(".")[0]]
    for place, owner in enumerate(line):
        for name in vars(owner):
            method = own_method(owner, name)
            if method is not None and not name.startswith("_"):
                overridden = (own_method(base, name) for base in line[place + 1 :])
                found[f"{owner.__module__}.{owner.__qualname__}.{name}"] = (method, tuple(filter(None, overridden)))
    return found


def own_method(owner: type, name: str) -> Function | None:
    """Return the method that a class itself has under this name, if any; a function may be the default of a field."""
    fields = dataclasses.fields(owner) if dataclasses.is_dataclass(owner) else ()
    method = None if name in {field.name for field in fields} else vars(owner).get(name)
    method = method.__func__ if isinstance(method, classmethod | staticmethod) else method
    return method if inspect.isfunction(method) else None


def arguments_of(function: Function) -> list[str]:
    """Return the names of the arguments that a caller gives."""
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def described(docstring: str, title: str = "Parameters") -> list[str]:
    """Return the names at the margin of a section; empty where there is no such section."""
    lines = inspect.cleandoc(docstring).splitlines()
    rules = [i for i, line in enumerate(lines) if re.fullmatch("---+", line)]
    start = next((i for i in rules if lines[i - 1] == title), None)
    if start is None:
        return []
    end = next((i - 1 for i in rules if i > start), len(lines))
    heads = [line.split(" : ")[0] for line in lines[start + 1 : end] if line and not line.startswith(" ")]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def offences(function: Function, overridden: tuple[Function, ...] = ()) -> list[str]:
    """Return a sentence for each argument that is not described, or is described and not taken.

    An override without a section of its own is described by what it overrides, if that takes the same arguments.
    """
    docstring = function.__doc__ or ""
    arguments, names = arguments_of(function), described(docstring)
    if not names and any(arguments_of(base) == arguments and not offences(base) for base in overridden):
        return []
    found = [] if docstring else ["there is no docstring"]
    found += [f"{name} is not described" for name in arguments if name not in names]
    return found + [f"{name} is described, but no argument" for name in names if name not in arguments]


PUBLIC = public_functions()
CLASSES = {thing.__name__: thing for module in public_modules() for thing in exported(module) if inspect.isclass(thing)}


def test_the_walk_reaches_functions_modules_methods_and_bases() -> None:
    wanted = {
        "starts.gaussian",
        "problem.Problem.from_gram",
        "studies.power_law.power_law",
        "sampling.law.FeatureLaw.gram",
    }
    wanted |= {"sampling.law.IndependentComponents.standardised", "sampling.features.features_from_dict"}
    assert [name for name in wanted if not any(public.endswith(f".{name}") for public in PUBLIC)] == []
    assert PUBLIC["relubias.sampling.normal.Gaussian.standardised"][1] != ()


@pytest.mark.parametrize("name", PUBLIC)
def test_every_argument_is_described_and_no_other(name: str) -> None:
    assert offences(*PUBLIC[name]) == []


@pytest.mark.parametrize("name", CLASSES)
def test_the_attributes_that_are_described_are_there(name: str) -> None:
    thing = CLASSES[name]
    named = described(thing.__doc__ or "", "Attributes")
    fields = {field.name for field in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set()
    assert [attribute for attribute in named if attribute not in fields and not hasattr(thing, attribute)] == []


def fitted(samples: int, *, slope: float, offset: float) -> None:
    """Fit a line.

    Parameters
    ----------
    samples, steps : int
        A section ends where the next one begins.

        slope : in the text of an entry, and no entry itself.
    offset : float

    Returns
    -------
    slope : float
    """


def bare(samples: int) -> None:
    """Fit nothing."""


class Base:
    """Its method is described."""

    def fit(self, samples: int) -> None:
        """Fit.

        Parameters
        ----------
        samples : int
        """


class Heir(Base):
    """Inherits the description."""

    def fit(self, samples: int) -> None:
        """Fit otherwise."""


def test_missing_and_stale_arguments_are_reported() -> None:
    assert offences(fitted) == ["slope is not described", "steps is described, but no argument"]
    assert offences(bare) == ["samples is not described"]
    assert offences(lambda samples: None) == ["there is no docstring", "samples is not described"]


def test_an_override_is_described_by_a_base_that_is() -> None:
    ((heir, overridden), _) = methods_of(Heir).values()
    assert (heir, overridden) == (Heir.fit, (Base.fit,))
    assert offences(heir, overridden) == []
    assert offences(heir) == ["samples is not described"]


def test_a_base_describes_no_override_that_takes_other_arguments_or_that_it_does_not_describe_itself() -> None:
    def fit(self: Heir, samples: int, steps: int) -> None:
        """Fit otherwise."""

    assert offences(fit, (Base.fit,)) == ["samples is not described", "steps is not described"]
    assert offences(Heir.fit, (bare,)) == ["samples is not described"]

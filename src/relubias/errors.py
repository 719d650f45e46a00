"""Exceptions: bad input only. A numerical outcome is a status (:mod:`relubias.status`), never an exception.

::

    RelubiasError                  everything this package raises on purpose
    ├── DataError                  features, labels, matrices or files that cannot be used as they are
    ├── ArgumentError              an option whose value makes no sense
    │   └── StartError             an initial state that can never move, or that does not exist
    ├── NotAtLimit                 ``require_limit`` was asked of a run that has no certified limit
    └── MissingDependency          an optional package is absent; the message names the install command
"""

from __future__ import annotations


class RelubiasError(Exception):
    """Everything this package raises on purpose."""


class DataError(RelubiasError, ValueError):
    """Features, labels, matrices or files cannot be used as they are; the message says where and what to do."""


class ArgumentError(RelubiasError, ValueError):
    """An option has a value that makes no sense; the message names the option and its possible values."""


class StartError(ArgumentError):
    """The initial state can never move, or there is no such state; the message says why and offers another."""


class NotAtLimit(RelubiasError, RuntimeError):
    """A certified limit was required and the run has none.

    Attributes
    ----------
    run : Run
        The run with everything that was computed.
    """

    def __init__(self, message: str, run: object) -> None:
        super().__init__(message)
        self.run = run


class MissingDependency(RelubiasError, ImportError):
    """An optional package is absent; the message names the command that installs it."""

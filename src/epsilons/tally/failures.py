"""What an engine says when it fails may show a value: here it is caught and never passed on.

And what is said of a column that is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from epsilons import parameters
from epsilons.errors import EpsilonsError, MissingExtraError

__all__ = ["UNUSABLE", "guarded", "unknown_column"]

T = TypeVar("T")

UNUSABLE = (
    "data could not be read by its engine ({kind}). "
    "The engine's own message is withheld, because it may show a private value."
)
"""What to say of a frame: for `guarded`."""


def guarded(run: Callable[[], T], error: type[EpsilonsError], message: str) -> T:
    """Return `run()`, or raise `error` with nothing of what the engine said but its kind.

    Args:
        run: something that asks an engine.
        error: what to raise if it fails.
        message: a sentence for the user, in which `{kind}` stands for the class of the failure.

    Raises:
        MissingExtraError: the engine needs a package that is not installed.
        EpsilonsError: `error`, without cause and without context.
    """
    failure: EpsilonsError
    try:
        return run()
    except (EpsilonsError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except ModuleNotFoundError as problem:
        failure = MissingExtraError(
            f"The engine of data needs the package {problem.name!r}: pip install {problem.name}."
        )
    except BaseException as problem:  # a panic of Polars is not an Exception
        failure = error(message.format(kind=type(problem).__name__))
    # Raised out here, so that the engine's exception is neither its cause nor its context.
    raise failure


def unknown_column(parameter: str, column: str, columns: list[str]) -> str:
    """Say that a column is not there, and which are: those of a schema, never of a CSV file."""
    hint = parameters.did_you_mean(column, columns)
    more = ", …" if len(columns) > 20 else ""
    hint += f" The columns are {', '.join(map(repr, columns[:20]))}{more}."
    return f"{parameter}={column!r} is not a column of data.{hint}"

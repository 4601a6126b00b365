"""Statistics of people who each chose their own ε: exactly private, with an interval that holds."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from epsilons_next import errors as errors
    from epsilons_next.bundled import demo as demo
    from epsilons_next.data.labels import Bins as Bins, Labels as Labels
    from epsilons_next.inference.rows import Within as Within
    from epsilons_next.people import People as People
    from epsilons_next.questions.mean import Mean as Mean
    from epsilons_next.questions.shares import Shares as Shares
    from epsilons_next.store import read as read

_PLACES = {
    "Bins": "data.labels",
    "Labels": "data.labels",
    "Mean": "questions.mean",
    "People": "people",
    "Shares": "questions.shares",
    "Within": "inference.rows",
    "demo": "bundled",
    "read": "store",
}

__all__ = ["Bins", "Labels", "Mean", "People", "Shares", "Within", "demo", "errors", "read"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "errors":
            return importlib.import_module(f"{__name__}.errors")
        if name in _PLACES:
            return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
        if name.startswith("_"):
            raise AttributeError(name)
        from epsilons_next.checks import unknown
        from epsilons_next.errors import UnknownNameError

        if name.capitalize() in _PLACES:
            call = f'ep.People(data, epsilon=…, person=…).{name}("minutes", …)'
            raise UnknownNameError(f'ep has no "{name}": {call}.')
        raise UnknownNameError(unknown("ep", name, __all__))


def __dir__() -> list[str]:
    return __all__

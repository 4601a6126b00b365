"""Names that are loaded where they are first asked for (PEP 562), so that an import is quick.

A package writes its imports once more under `if TYPE_CHECKING`, where mypy and readers find them:

    if TYPE_CHECKING:
        from epsilons.noise.laplace import DiscreteLaplace
    else:
        __getattr__, __dir__ = names(__name__, {"laplace": ("DiscreteLaplace",)})

`later` is the same for a module that only some calls need. Tests hold the tables to the imports.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

__all__ = ["later", "names"]


def names(
    package: str, table: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package whose parts are loaded when asked for.

    Args:
        package: its `__name__`.
        table: its modules, each with the names that are taken from it; one without names is itself
            a name of the package.
    """
    where = {name: module for module, taken in table.items() for name in taken}

    def load(name: str) -> Any:
        if name in where:
            value = getattr(importlib.import_module(f"{package}.{where[name]}"), name)
        elif name in table:
            value = importlib.import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # A module may have the name of a function that is taken from it: the function is meant.
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        held = vars(sys.modules[package])
        return sorted({*held["__all__"], *(name for name in held if name.startswith("__"))})

    return load, listed


class _Later(ModuleType):
    """A module that is loaded when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)


def later(module: str) -> ModuleType:
    """A module that is not loaded yet.

    Args:
        module: its full name.
    """
    return _Later(module)

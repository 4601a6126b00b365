"""Lazy imports (PEP 562): names are loaded on first use, which keeps `import epsilons` fast.

A package repeats its imports under `if TYPE_CHECKING`, for mypy and for readers:

    if TYPE_CHECKING:
        from epsilons.draws.noise.laws import DiscreteLaplace
    else:
        __getattr__, __dir__ = names(__name__, {"laws": ("DiscreteLaplace",)})

`later` does the same for a module that only some calls need. Tests check that the tables match the
imports.
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
    """Return the `__getattr__` and `__dir__` of a package whose names are loaded on first use.

    Args:
        package: the package's `__name__`.
        table: for each submodule, the names that the package takes from it. A submodule without
            names is itself a name of the package.
    """
    where = {name: module for module, taken in table.items() for name in taken}

    def load(name: str) -> Any:
        if name in where:
            value = getattr(importlib.import_module(f"{package}.{where[name]}"), name)
        elif name in table:
            value = importlib.import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # Importing a submodule sets it as an attribute of the package. If a function has the same
        # name, the function must win.
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        held = vars(sys.modules[package])
        return sorted({*held["__all__"], *(name for name in held if name.startswith("__"))})

    return load, listed


class _Later(ModuleType):
    """A stand-in for a module, which is imported when an attribute is first read."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)


def later(module: str) -> ModuleType:
    """Return a stand-in that imports a module on first use.

    Args:
        module: the module's full name.
    """
    return _Later(module)

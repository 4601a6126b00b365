"""Names that are loaded where they are first asked for (PEP 562), so that an import is quick.

A package writes its imports once, under `if TYPE_CHECKING`. Mypy and readers find them there, and
`names` reads them when one of them is first asked for:

    if TYPE_CHECKING:
        from epsilons.noise.laplace import DiscreteLaplace
    else:
        __getattr__, __dir__ = names(__name__)

`later` is the same for a module that only some calls need.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import InspectLoader

__all__ = ["later", "names"]


def names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package whose parts are loaded when asked for.

    Args:
        package: its `__name__`.
    """

    def load(name: str) -> Any:
        module = None if name.startswith("__") else _imports(package).get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if module == package:
            value = importlib.import_module(f"{package}.{name}")
        else:
            value = getattr(importlib.import_module(module), name)
        # A module may have the name of a function that is taken from it: the function is meant.
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        held = vars(sys.modules[package])
        return sorted({*held["__all__"], *(name for name in held if name.startswith("__"))})

    return load, listed


@cache
def _imports(package: str) -> dict[str, str]:
    """The names that a package imports for mypy alone, each with the module that it is from."""
    import ast

    # The loader itself is quickest, and also reads from an archive.
    source = cast("InspectLoader", sys.modules[package].__loader__).get_source(package)
    if source is None:
        raise ImportError(f"{package} is installed without its source, which says what it holds")
    return {
        each.name: str(node.module)
        for branch in ast.parse(source).body
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }


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

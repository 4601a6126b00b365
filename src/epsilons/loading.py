"""Lazy imports (PEP 562): names are loaded on first use, which keeps `import epsilons` fast.

A package lists its imports once, under `if TYPE_CHECKING`, where mypy and readers find them.
`names` parses this list when a name is first used:

    if TYPE_CHECKING:
        from epsilons.draws.noise.laws import DiscreteLaplace
    else:
        __getattr__, __dir__ = names(__name__)

`later` does the same for a whole module that only some calls need.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import InspectLoader

__all__ = ["later", "names"]


def names(
    package: str, meant: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package that loads its names on first use.

    Args:
        package: the package's `__name__`.
        meant: names that users guess, each with the name that they mean.
    """

    def load(name: str) -> Any:
        module = None if name.startswith("__") else _imports(package).get(name)
        if module is None:
            hint = f". Did you mean {meant[name]!r}?" if name in meant else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        if module == package:
            value = importlib.import_module(f"{package}.{name}")
        else:
            value = getattr(importlib.import_module(module), name)
        # Importing a submodule sets it as an attribute of the package. If a function has the same
        # name, the attribute must be the function.
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        held = vars(sys.modules[package])
        return sorted({*held["__all__"], *(name for name in held if name.startswith("__"))})

    return load, listed


@cache
def _imports(package: str) -> dict[str, str]:
    """The names that a package imports only for type checking, each with its module."""
    import ast

    # The loader returns the source code fastest, and also from archives.
    source = cast("InspectLoader", sys.modules[package].__loader__).get_source(package)
    if source is None:
        raise ImportError(f"{package} is installed without its source, which lists its names")
    return {
        each.name: str(node.module)
        for branch in ast.parse(source).body
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }


class _Later(ModuleType):
    """A placeholder for a module that is imported when an attribute is first read."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)


def later(module: str) -> ModuleType:
    """Return a placeholder that imports a module on first use.

    Args:
        module: the module's full name.
    """
    return _Later(module)

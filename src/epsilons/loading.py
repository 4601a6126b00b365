"""Lazy imports (PEP 562): names are loaded on first use, which keeps `import epsilons` fast.

A package lists its imports once, under `if TYPE_CHECKING`, where mypy and readers find them.
`names` parses this list when a name is first used:

    if TYPE_CHECKING:
        from epsilons.draws.noise.laws import DiscreteLaplace
    else:
        __getattr__, __dir__ = names(__name__)

The list of another module, its `__all__`, can be included by `from … import *`; its `ALSO_CALLED`
has names that users guess. A package without `__all__` exports all of its names.

`later` does the same for a whole module that only some calls need.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import InspectLoader

__all__ = ["later", "names"]


def names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package that loads its names on first use.

    Args:
        package: the package's `__name__`.
    """

    def load(name: str) -> Any:
        if name == "__all__":
            return sorted(_imports(package))
        module = None if name.startswith("__") else _imports(package).get(name)
        if module is None:
            meant = _meant(package).get(name)
            hint = "" if meant is None else f". Did you mean {meant!r}?"
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
        public: list[str] = sys.modules[package].__all__
        own = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*public, "__all__", *own})

    return load, listed


@cache
def _imports(package: str) -> dict[str, str]:
    """The names that a package imports only for type checking, each with its module."""
    found: dict[str, str] = {}
    for module, name in _told(package):
        listed = _literal(module, "__all__", "]") if name == "*" else [name]
        found |= dict.fromkeys(listed, module)
    return found


@cache
def _meant(package: str) -> dict[str, str]:
    """Names that users guess, each with the name that they mean: `ALSO_CALLED` of modules."""
    found: dict[str, str] = {}
    for module, name in _told(package):
        if name == "*":
            found |= _literal(module, "ALSO_CALLED", "}")
    return found


def _told(package: str) -> Iterator[tuple[str, str]]:
    """The module and the name of each import of a package that is only for type checking."""
    import ast

    for branch in ast.parse(_source(package, sys.modules[package].__loader__)).body:
        for node in branch.body if isinstance(branch, ast.If) else ():
            if isinstance(node, ast.ImportFrom):
                yield from ((str(node.module), each.name) for each in node.names)


def _literal(module: str, name: str, end: str) -> Any:
    """A list or mapping that a module declares, or an empty one. The module is not imported."""
    import ast

    spec = importlib.util.find_spec(module)
    source = _source(module, None if spec is None else spec.loader)
    start = "[" if end == "]" else "{"
    text = source.partition(f"\n{name} = {start}")[2].partition(end)[0]
    return ast.literal_eval(f"{start}{text}{end}")


def _source(module: str, loader: object) -> str:
    """The source code of a module. Its loader returns it fastest, and also from archives."""
    source = None if loader is None else cast("InspectLoader", loader).get_source(module)
    if source is None:
        raise ImportError(f"{module} is installed without its source, which lists its names")
    return source


class _Later(ModuleType):
    """A placeholder for a module that is imported when an attribute is first read.

    The module then takes its place among the names of the file that declares it.
    """

    def __init__(self, module: str, names: dict[str, Any]) -> None:
        super().__init__(module)
        self._names = names

    def __getattr__(self, name: str) -> Any:
        module = importlib.import_module(self.__name__)
        for own, held in list(self._names.items()):
            if held is self:
                self._names[own] = module
        return getattr(module, name)


def later(module: str) -> ModuleType:
    """Return a placeholder that imports a module on first use.

    Args:
        module: the module's full name.
    """
    frame = inspect.currentframe()
    return _Later(module, frame.f_back.f_globals if frame is not None and frame.f_back else {})

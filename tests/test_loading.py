"""Importing the package is quick, because modules are loaded when they are first used."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import epsilons as ep
from epsilons import frozen
from epsilons.loading import _imports, later, names

SOURCE = Path(__file__).parents[1] / "src" / "epsilons"

HEAVY = ("narwhals", "polars", "pandas", "pyarrow", "duckdb", "scipy", "click", "sqlite3", "altair")
MEAN = """
import numpy as np
import epsilons as ep
print(ep.mean(np.arange(9.0), epsilon=np.ones(9), bounds=(0, 9)).n)
"""


def loaded_by(code: str) -> set[str]:
    """Return the modules that are loaded after running code in a new process."""
    told = code + "\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return set(json.loads(ran.stdout.splitlines()[-1]))


def branches(path: Path) -> Iterator[ast.If]:
    """Yield the `TYPE_CHECKING` branches of a module.

    They show mypy the names that are loaded later.
    """
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and node.orelse:
            yield node


def test_packages_load_what_mypy_is_told() -> None:
    seen = []
    for path in SOURCE.rglob("__init__.py"):
        package = ".".join(("epsilons", *path.parent.relative_to(SOURCE).parts))
        for branch in branches(path):
            (told,) = branch.orelse
            assert ast.unparse(told).startswith("__getattr__, __dir__ = names(__name__"), path
            assert all(isinstance(node, ast.ImportFrom) for node in branch.body), path
            room = importlib.import_module(package)
            taken = _imports(package)
            assert set(taken) == set(room.__all__), path
            for name, module in taken.items():
                home = importlib.import_module(f"{package}.{name}" if module == package else module)
                assert getattr(room, name) is (home if module == package else getattr(home, name))
            # A loaded module becomes an attribute of its package, so it must not hide another name.
            files = {each.stem for each in path.parent.iterdir()}
            assert not {name for name, module in taken.items() if module != package} & files, path
            seen.append(package)
    assert {"epsilons", "epsilons.door", "epsilons.results.report"} <= set(seen)


def test_modules_that_are_loaded_later_are_those_that_mypy_is_told() -> None:
    seen = 0
    for path in SOURCE.rglob("*.py"):
        if path.name == "__init__.py":
            continue
        for branch in branches(path):
            # Other branches only import types for mypy.
            if "later(" not in ast.unparse(branch):
                continue
            told = {}
            for node in branch.orelse:
                assert isinstance(node, ast.Assign)
                assert isinstance(node.value, ast.Call)
                assert isinstance(node.targets[0], ast.Name)
                told[node.targets[0].id] = ast.literal_eval(node.value.args[0])
            found = {
                each.asname or each.name: f"{node.module}.{each.name}"
                for node in branch.body
                if isinstance(node, ast.ImportFrom)
                for each in node.names
            }
            assert told.items() <= found.items(), path
            for module in told.values():
                importlib.import_module(module)
            seen += 1
    assert seen >= 3


def test_every_public_name_is_there() -> None:
    public = [name for name in dir(ep) if not name.startswith("__")]
    assert public == vars(ep).get("__all__", sorted(_imports("epsilons")))
    assert {"__version__", "__all__"} <= set(dir(ep))
    for name in public:
        assert getattr(ep, name) is not None
    everything: dict[str, Any] = {}
    exec("from epsilons import *", everything)
    assert set(public) == set(everything) - {"__builtins__"}
    assert everything["mean"] is ep.mean
    with pytest.raises(AttributeError, match=r"'epsilons' has no attribute 'men'"):
        ep.men  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"'shares'. Did you mean 'frequencies'\?"):
        ep.shares  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="men"):
        from epsilons import men  # type: ignore[attr-defined]  # noqa: F401


def test_names_can_be_asked_for_in_any_order() -> None:
    """Each line runs in its own process, in which nothing is loaded yet."""
    for line in (
        "assert 'mean' in dir(epsilons)",
        "assert not hasattr(epsilons, 'a.b')",
        "assert not hasattr(epsilons, 'nothing')",
        "import rlcompleter; assert rlcompleter.Completer(globals()).complete('epsilons.me', 0)",
    ):
        assert "numpy" not in loaded_by(f"import epsilons\n{line}") or "complete" in line


def test_public_names_are_listed_before_they_are_loaded() -> None:
    code = "import epsilons\nassert set(epsilons.__all__) <= set(dir(epsilons))"
    assert not any(each.startswith("epsilons.asking.") for each in loaded_by(code))


def test_a_module_takes_the_place_of_its_placeholder() -> None:
    file: dict[str, Any] = {"later": later}
    exec("dates = later('calendar')", file)
    placeholder, calendar = file["dates"], importlib.import_module("calendar")
    assert placeholder is not calendar
    assert placeholder.MONDAY == calendar.MONDAY
    assert file["dates"] is calendar
    assert placeholder.TUESDAY == calendar.TUESDAY


def test_a_module_is_loaded_when_something_of_it_is_asked_for() -> None:
    assert later("fractions").Fraction is importlib.import_module("fractions").Fraction
    with pytest.raises(AttributeError):
        later("fractions").nothing  # noqa: B018
    get, listed = names("epsilons")
    assert get("Seeded") is importlib.import_module("epsilons.draws.noise").Seeded
    assert get("errors") is importlib.import_module("epsilons.errors")
    assert listed() == dir(ep)


def test_an_import_loads_nothing_that_nobody_asked_for() -> None:
    modules = loaded_by("import epsilons")
    assert not modules & {*HEAVY, "numpy"}
    assert {each for each in modules if each.startswith("epsilons")} == {
        "epsilons",
        "epsilons.loading",
        "epsilons.made",
    }


def test_a_kind_loads_its_own_module_and_no_other() -> None:
    with pytest.raises(KeyError):
        frozen._class_of("os.system")
    modules = loaded_by(
        "from epsilons import errors, frozen\n"
        "frozen._class_of('noise.Hourglass')\n"
        "try: frozen.from_plain({'is': 'cli.Thing'})\n"
        "except errors.ArgumentError: pass"
    )
    assert "epsilons.draws.noise.pairs" in modules
    assert not modules & {
        "epsilons.asking.commands",
        "epsilons.draws.noise.vectors",
        "epsilons.results.release",
    }


def test_types_of_releases_can_be_asked_for() -> None:
    """Type hints of releases can be resolved, although their modules are loaded later."""
    assert "estimate" in typing.get_type_hints(ep.Release)
    for name, method in inspect.getmembers(ep.Release, inspect.isfunction):
        if name != "plot":  # its return type is from an optional library
            assert typing.get_type_hints(method) is not None

"""Architecture rules beyond import-linter: modules that draw, and code that asks for a law."""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from epsilons.draws import noise

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "epsilons"

MAY_DRAW = (
    "draws/noise/",
    "draws/mechanisms/",
    "draws/corridor.py",
    "local/",
    "papers/",
    "verify/",
)
"""Files that are allowed to draw: the corridor, the local randomizers, papers and checkers."""

DRAWS = {"draw", "thin", "bytes", "bits", "permutation", "resolve", "below", "below_many"}
"""Calls that consume randomness or create a source of it."""

SAMPLERS = {
    name
    for name in dir(noise)
    if getattr(getattr(noise, name), "__module__", "").endswith((".exact", ".source"))
    and name != "Source"
}
"""The names in `epsilons.draws.noise`, except distributions and the type of a source."""

KINDS_OF_LAWS = {
    name
    for name in dir(noise)
    if isinstance(each := getattr(noise, name), type)
    and issubclass(each, (noise.Law, noise.PairLaw))
}


def sources() -> Iterator[Path]:
    return SOURCE.rglob("*.py")


def may_draw(path: str) -> bool:
    return path.startswith(MAY_DRAW)


def calls(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield node.func.attr, node.lineno
            elif isinstance(node.func, ast.Name):
                yield node.func.id, node.lineno


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def drawing(tree: ast.AST) -> list[str]:
    """Return the calls and imports in a module that draw or give access to a sampler."""
    found = [f"{name}() in line {line}" for name, line in calls(tree) if name in DRAWS]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "epsilons.draws.noise"
        ):
            taken = {each.name for each in node.names} & SAMPLERS
            found += [f"imports {name}" for name in sorted(taken)]
            if node.module != "epsilons.draws.noise":
                found.append(f"imports {node.module}")
    return found


def test_only_noise_mechanisms_and_the_corridor_draw() -> None:
    public = SOURCE / "__init__.py"  # exports `Seeded` to users
    wrong = {
        str(path.relative_to(SOURCE)): found
        for path in sources()
        if not may_draw(path.relative_to(SOURCE).as_posix()) and path != public
        if (found := drawing(parsed(path)))
    }
    assert not wrong


@pytest.mark.parametrize(
    "text",
    [
        "mechanism.draw(source, total=3)",
        "total = mechanism.thin(source, people)",
        "from epsilons.draws.noise import resolve",
        "from epsilons.draws.noise.source import System",
        "permutation(source, 3)",
    ],
)
def test_the_check_sees_who_draws(text: str) -> None:
    assert drawing(ast.parse(text))


def test_rooms_that_may_draw_are_there() -> None:
    """Every listed package exists, so the list is up to date."""
    assert {"System", "resolve", "exp_minus_many"} <= SAMPLERS
    assert all((SOURCE / room).exists() for room in MAY_DRAW)
    for path in (
        "draws/accounts.py",
        "questions/mean.py",
        "results/release/release.py",
        "noise.py",
    ):
        assert not may_draw(path)


def contracts() -> list[dict[str, Any]]:
    """Return the rules that import-linter enforces."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: list[dict[str, Any]] = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    return found


def layers() -> list[str]:
    """Return the modules that import-linter assigns to layers."""
    [ordered] = [each["layers"] for each in contracts() if each["type"] == "layers"]
    return [name for line in ordered for name in re.split(r" [|:] ", line)]


def test_rules_of_import_leave_out_no_room() -> None:
    """Rules that list all rooms but a few name every one: a new room is in them, or here."""
    engines, checker, random = (each for each in contracts() if each["type"] == "forbidden")
    allowed = {"engines": {"door"}, "random": {"papers", "verify", "local", "draws"}}
    rooms = {path.stem for path in SOURCE.iterdir() if path.suffix in ("", ".py")}
    rooms -= {"__init__", "__main__", "__pycache__", "data"}
    basic = {path.stem for path in SOURCE.glob("[!_]*.py")} - {"words"}
    named = {rule["name"]: {*rule["source_modules"]} for rule in (engines, random)}
    first, last = named.values()
    assert first == {f"epsilons.{room}" for room in rooms - allowed["engines"]}
    assert last == {f"epsilons.{room}" for room in rooms - basic - allowed["random"]} | {
        "epsilons.draws.accounts"
    }
    assert checker["source_modules"] == ["epsilons.verify"]


def outside(paths: Iterator[Path]) -> list[str]:
    """Return the modules that are in no layer, or in several."""
    found = []
    for path in paths:
        module = ".".join(("epsilons", *path.relative_to(SOURCE).with_suffix("").parts))
        module = module.removesuffix(".__init__")
        holding = [name for name in layers() if f"{module}.".startswith(f"{name}.")]
        if len(holding) != 1:
            found.append(module)
    return found


def test_every_file_stands_in_one_layer() -> None:
    rooms = {"epsilons"} | {
        f"epsilons.{name}" for name in ("asking", "budgets", "draws", "results")
    }
    assert set(outside(sources())) == rooms | {"epsilons.__main__"}
    assert outside(iter([SOURCE / "draws" / "another.py"])) == ["epsilons.draws.another"]
    for room in ("asking", "budgets", "draws", "results"):  # these files contain only a docstring
        assert len(ast.parse((SOURCE / room / "__init__.py").read_text("utf-8")).body) == 1


def test_the_corridor_alone_drives_a_statistic_but_for_replays_and_rehearsals() -> None:
    """Only the corridor, replays, and rehearsals without data send draws to a statistic."""
    senders = {
        str(path.relative_to(SOURCE))
        for path in sources()
        if any(name == "send" for name, _ in calls(parsed(path)))
    }
    assert senders == {"draws/corridor.py", "questions/rehearsal.py", "verify/replaying/runs.py"}


def kinds_asked(tree: ast.AST) -> Iterator[str]:
    """Yield the names of noise distributions that `isinstance`, `type` or a match checks for."""
    for node in ast.walk(tree):
        asked: list[ast.AST] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("isinstance", "issubclass"):
                asked = list(node.args[1:])
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        elif isinstance(node, ast.Compare) and any(
            isinstance(side, ast.Call)
            and isinstance(side.func, ast.Name)
            and side.func.id == "type"
            for side in (node.left, *node.comparators)
        ):
            asked = [node.left, *node.comparators]
        for part in asked:
            for name in ast.walk(part):
                found = name.id if isinstance(name, ast.Name) else getattr(name, "attr", "")
                if found in KINDS_OF_LAWS:
                    yield found


def test_nobody_asks_which_law_it_is() -> None:
    """Code outside the noise package uses distributions only through their interface."""
    assert len(KINDS_OF_LAWS) >= 8
    found = {
        (str(path.relative_to(SOURCE)), name)
        for path in SOURCE.rglob("*.py")
        if path.parent.name != "noise"
        for name in kinds_asked(parsed(path))
    }
    assert not found


def test_the_question_would_be_noticed() -> None:
    for text in (
        "isinstance(law, Staircase)",
        "isinstance(law, (int, noise.PointMass))",
        "type(law) is Hourglass",
        "match law:\n    case DiscreteLaplace():\n        pass",
    ):
        assert list(kinds_asked(ast.parse(text))), text

"""Architecture rules beyond import-linter: modules that draw, file lengths, names of classes."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import epsilons as ep
from epsilons.asking.table import STATISTICS
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

LONGEST = 800

PUBLIC = [name for name in dir(ep) if not name.startswith("_")]

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


@functools.cache
def identifiers() -> dict[str, set[Path]]:
    """Return the files that have each identifier."""
    found: dict[str, set[Path]] = {}
    for path in sources():
        for node in ast.walk(parsed(path)):
            match node:
                case (
                    ast.Name(id=given)
                    | ast.Attribute(attr=given)
                    | ast.ClassDef(name=given)
                    | ast.alias(name=given)
                ):
                    found.setdefault(given, set()).add(path)
    return found


def naming(name: str) -> set[Path]:
    """Return the files with an identifier of this name."""
    return identifiers().get(name, set())


@pytest.mark.parametrize("statistic", sorted({*STATISTICS} - {"mean", "frequencies"}))
def test_no_other_file_knows_a_statistic(statistic: str) -> None:
    """Only two files name a statistic: those of its question and its function.

    Means and frequencies are exempt, because plans, papers and the corridor build on them.
    """
    question = STATISTICS[statistic]
    function = inspect.unwrap(getattr(ep, statistic))
    homes = {Path(inspect.getfile(each)) for each in (question, function)}
    assert naming(question.__name__) == homes


def test_only_quantiles_know_their_mechanism() -> None:
    """Plans, checks and statements treat a mechanism by its methods and its `kind`."""
    homes = {SOURCE / "draws" / "mechanisms" / "nested.py", SOURCE / "questions" / "quantile.py"}
    assert naming("Nested") == homes


def test_only_means_and_shares_are_told_apart_by_name() -> None:
    """Code compares `statistic` with the names of means, frequencies and shares only.

    Other differences between statistics are methods of the question or of the estimate.
    """
    compared = {
        constant.value
        for path in sources()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("statistic")
        for constant in node.comparators
        if isinstance(constant, ast.Constant)
    }
    assert compared == {"mean", "frequencies", "share"}


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


def test_no_file_is_longer_than_a_file_should_be() -> None:
    folders = ("src", "tests", "benchmarks", "scripts")
    data = ROOT / "benchmarks/data"  # environments of peers, which benchmarks install
    long = {
        str(path.relative_to(ROOT)): size
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if data not in path.parents
        if (size := len(path.read_text("utf-8").splitlines())) > LONGEST
    }
    assert not long


def class_homes() -> dict[str, list[str]]:
    """Return the modules that define a class of each name."""
    found: dict[str, list[str]] = {}
    for path in sources():
        module = ".".join(("epsilons", *path.relative_to(SOURCE).with_suffix("").parts))
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(module)
    return found


def test_no_two_ideas_share_the_name_of_a_class() -> None:
    """Only names that users see in several public namespaces may stand for several classes."""
    spaces = [ep, *(each for name in PUBLIC if inspect.ismodule(each := getattr(ep, name)))]
    public = {
        (name, getattr(getattr(space, name), "__module__", ""))
        for space in spaces
        for name in dir(space)
    }
    shared = {name: homes for name, homes in class_homes().items() if len(homes) > 1}
    assert {"Mean", "Frequencies"} <= {*shared}  # `ep.Mean` and `ep.local.Mean`
    assert not {
        name: homes
        for name, homes in shared.items()
        if any((name, home) not in public for home in homes)
    }


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


WITHOUT_QUANTILES = """
import importlib, pkgutil
import epsilons
for each in pkgutil.walk_packages(epsilons.__path__, "epsilons."):
    if each.name != "epsilons.__main__":
        importlib.import_module(each.name)
import epsilons as ep
from click.testing import CliRunner
from epsilons.asking.commands import cli
from epsilons.asking.table import STATISTICS
assert not {"quantile", "Quantile"} & {*ep.__all__, *STATISTICS}, ep.__all__
assert "quantile" not in CliRunner().invoke(cli, ["--help"]).output
values, budgets = [float(k % 24) for k in range(400)], [0.5, 2.0] * 200
asked = dict(epsilon=budgets, source=ep.Seeded(1))
for release in (
    ep.mean(values, bounds=(0, 24), **asked),
    ep.mean(values, bounds=None, **asked),
    ep.variance(values, bounds=(0, 24), **asked),
    ep.frequencies(values, edges=[0, 8, 16, 24], **asked),
):
    assert ep.verify.exact(release.mechanism).holds
    again = ep.Release.from_json(release.to_json())
    assert again.statement("methods") == release.statement("methods")
assert 0.0 < release.quantile(0.5).value < 24.0  # of a table of bins
assert ep.plan(budgets, statistic="variance").to_json()
"""


def test_quantiles_can_be_taken_out(tmp_path: Path) -> None:
    """The house stands without three files of quantiles, and their function in a fourth."""
    copy = tmp_path / "epsilons"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for own in ("questions/quantile.py", "draws/mechanisms/nested.py", "verify/kinds/nested.py"):
        (copy / own).unlink()
    asking = copy / "asking" / "varying.py"
    tree = ast.parse(asking.read_text("utf-8"))
    named = ("name", "quantile"), ("module", "epsilons.questions.quantile")
    for field, name in named:
        tree.body = [each for each in tree.body if getattr(each, field, None) != name]
    text = ast.unparse(tree)
    for listed in ("'median': 'quantile', ", "'quantile', ", "'Quantile', "):
        assert listed in text, listed
        text = text.replace(listed, "")
    asking.write_text(text, "utf-8")
    words = [sys.executable, "-c", WITHOUT_QUANTILES]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


WALKS = """
import json, sys
import numpy as np, duckdb, pyarrow as pa
import epsilons as ep
values = np.linspace(0, 1, 200)
budgets = np.where(np.arange(200) < 20, 0.1, 1.0)
labels = (values * 3).astype(int)
columns = {"v": values, "e": budgets, "g": labels, "p": np.arange(200)}
rows = duckdb.from_arrow(pa.table(columns))
by = {"by": "g", "groups": [0, 1, 2, 3], "person": "p", "data": rows}
private = {"neighbours": "add-remove", "levels": [0.1, 1.0]}

def crossed(call):
    call()
    loaded = sum(name.startswith("epsilons") for name in sys.modules)
    functions = set()
    def see(frame, event, _):
        code = frame.f_code
        if event == "call" and "/epsilons/" in code.co_filename:
            functions.add((code.co_filename, code.co_firstlineno))
    sys.setprofile(see)
    call()
    sys.setprofile(None)
    return len(functions), len({file for file, _ in functions}), loaded

print(json.dumps([
    crossed(lambda: ep.mean(values, epsilon=budgets, bounds=(0, 1))),
    crossed(lambda: ep.publish(
        [ep.Mean(values, bounds=(0, 1)), ep.Frequencies(labels, categories=[0, 1, 2, 3])],
        epsilon=budgets,
    )),
    crossed(lambda: ep.mean("v", epsilon="e", bounds=(0, 1), **by, **private)),
]))
"""


def test_a_call_crosses_few_functions_and_files() -> None:
    """What someone reads who follows a mean, two questions, or groups on DuckDB to their answer."""
    words = [sys.executable, "-c", WALKS]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    limits = [(150, 30, 100), (250, 45, 110), (320, 55, 140)]
    for found, most in zip(json.loads(ran.stdout), limits, strict=True):
        assert all(one <= limit for one, limit in zip(found, most, strict=True)), (found, most)

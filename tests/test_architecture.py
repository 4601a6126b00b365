"""Rules of the house that import contracts cannot see."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import epsilons
from epsilons import noise

SOURCE = Path(epsilons.__file__).parent
LAWS = {
    name
    for name in noise.__all__
    if isinstance(each := getattr(noise, name), type)
    and issubclass(each, (noise.Law, noise.PairLaw))
}


def kinds_asked(tree: ast.AST) -> Iterator[str]:
    """The names of laws that `isinstance` or a match asks for."""
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
                if found in LAWS:
                    yield found


def test_nobody_asks_which_law_it_is() -> None:
    """A law answers; only the room of the laws knows which there are."""
    assert len(LAWS) >= 8
    found = {
        (str(path.relative_to(SOURCE)), name)
        for path in SOURCE.rglob("*.py")
        if path.parent.name != "noise"
        for name in kinds_asked(ast.parse(path.read_text(encoding="utf-8")))
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

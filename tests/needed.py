"""The required arguments of every question, for tests of all questions."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, Final

from epsilons.questions.question import Question

__all__ = ["needed", "spoken"]

USUAL: Final[dict[str, Any]] = {
    "values": "x",
    "x": "x",
    "y": "y",
    **dict.fromkeys(("bounds", "x_bounds", "y_bounds"), (0, 1)),
}


def needed(question: type[Question], **given: Any) -> dict[str, Any]:
    """Return the required arguments of a question.

    An argument that only this question has is what plans suppose for it.

    Args:
        question: the class of the question.
        given: what to use in place of the columns "x" and "y" and the bounds (0, 1).
    """
    known = USUAL | given
    return {
        each.name: each.metadata["planned"] if "planned" in each.metadata else known[each.name]
        for each in fields(question)
        if each.init and each.default is MISSING
    }


def spoken(question: type[Question], **given: Any) -> list[str]:
    """Return the required options of the question's command, with their values."""
    words: list[str] = []
    for name, value in needed(question, **given).items():
        option = "value" if name == "values" else name.replace("_", "-")
        words += [f"--{option}", *map(str, value if isinstance(value, tuple) else [value])]
    return words

"""Recorded calls of means of data with an unknown range."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import epsilons as ep
from tests.recorded import people as p, place as call
from tests.recorded.place import Calls, Run

USUAL = 50.0 + 3.0 * p.STANDARD
OFFERED = [1.0, 2.0, 4.0]
GUESSED = {1.0: 250, 2.0: 250, 4.0: 200}
ROWS = np.arange(p.UNKNOWN) % 350
"""The person of each row. Everyone has two rows."""


def mean(values: Any, epsilon: Any = p.GENEROUS, **more: Any) -> Run:
    return call.mean(values, epsilon, None, **more)


def any_shape(values: Any, epsilon: Any = p.GENEROUS, **more: Any) -> Run:
    """Return a mean of data of any shape. Budgets may be related to values."""
    return mean(values, epsilon, **{"shape": "any", "about": "people", "related": True} | more)


def private(values: Any, epsilon: Any = p.GENEROUS, **more: Any) -> Run:
    return mean(values, epsilon, neighbours="add-remove", **more)


def weighted(values: Any, epsilon: Any = p.GENEROUS, **more: Any) -> Run:
    return mean(values, epsilon, method="weighted", **more)


def diffused(values: Any, epsilon: Any = p.GENEROUS, **more: Any) -> Run:
    return lambda place: ep.papers.diffused_mean(
        values, epsilon=epsilon, source=place.source, **more
    )


def reduced(values: Any, epsilon: Any = p.GENEROUS, **more: Any) -> Run:
    return lambda place: ep.papers.reduced_mean(
        values, epsilon=epsilon, source=place.source, **more
    )


def _by_method() -> dict[str, Run]:
    calls: dict[str, Run] = {}
    for name, public, hidden in (
        ("weighted", weighted, partial(weighted, neighbours="add-remove")),
        ("diffusion", diffused, reduced),
    ):
        calls[name] = public(USUAL)
        calls[f"{name}, tight"] = public(50.0 + 1e-9 * p.STANDARD)
        calls[f"{name}, close together"] = public(1e8 + 1e-3 * p.STANDARD)
        calls[f"{name}, all the same"] = public(np.full(p.UNKNOWN, 7.25))
        calls[f"{name}, far away"] = public(-1e15 + 1e9 * p.STANDARD)
        calls[f"{name}, huge"] = public(1e300 * p.STANDARD)
        calls[f"{name}, tiny"] = public(1e-300 * p.STANDARD)
        calls[f"{name}, one budget"] = public(USUAL, 2.0)
        calls[f"{name}, several rows"] = public(USUAL, np.array([2.0, 5.0])[ROWS % 2], person=ROWS)
        calls[f"{name}, holes"] = public(
            np.where(np.arange(p.UNKNOWN) % 9 == 0, np.nan, USUAL), missing="midpoint"
        )
        calls[f"{name}, zeros and public"] = public(
            USUAL,
            np.where(np.arange(p.UNKNOWN) % 50 == 0, np.inf, p.GENEROUS * (p.GENEROUS > 1.0)),
        )
        calls[f"{name}, private, offered"] = hidden(USUAL, levels=OFFERED)
        calls[f"{name}, private, guessed"] = hidden(USUAL, levels=GUESSED)
        calls[f"{name}, private, cap"] = hidden(USUAL, cap=3.0)
        calls[f"{name}, private, no levels"] = hidden(USUAL)
        calls[f"{name}, private, one budget"] = hidden(USUAL, 3.0)
        calls[f"{name}, private, tight"] = hidden(50.0 + 1e-9 * p.STANDARD, levels=GUESSED)
        calls[f"{name}, private, several rows"] = hidden(
            USUAL, np.array([2.0, 5.0])[ROWS % 2], person=ROWS, levels=[2.0, 5.0]
        )
        calls[f"{name}, private, holes"] = hidden(
            np.where(np.arange(p.UNKNOWN) % 9 == 0, np.nan, USUAL), levels=GUESSED
        )
    return calls


CALLS: Calls = {
    **_by_method(),
    **{
        f"any, {name}, weighted": any_shape(values, method="weighted")
        for name, values in (
            ("usual", USUAL),
            ("skewed", np.exp(p.STANDARD)),
            ("huge", 1e300 * p.STANDARD),
            ("all the same", np.full(p.UNKNOWN, 7.25)),
        )
    },
    "any, a little related, pac": any_shape(USUAL, related=0.1, loss="pac", confidence=0.9),
    "any, a population": any_shape(USUAL, about="population"),
    "any, one budget": any_shape(USUAL, 2.0),
    "any, several rows": any_shape(USUAL, np.array([2.0, 5.0])[ROWS % 2], person=ROWS),
    "any, 500 budgets": any_shape(p.DISTINCT_VALUES, p.DISTINCT * 4.0),
    **{
        f"any, private, {name}": any_shape(USUAL, neighbours="add-remove", **terms)
        for name, terms in (
            ("offered", {"levels": OFFERED}),
            ("guessed", {"levels": GUESSED}),
            ("cap", {"levels": GUESSED, "cap": 1.5}),
            ("no levels", {"related": 0.1}),
            ("a little related", {"levels": OFFERED, "related": 0.1}),
        )
    },
    "any, private, huge": any_shape(1e300 * p.STANDARD, neighbours="add-remove", levels=GUESSED),
    "any, private, nobody": any_shape([], [], neighbours="add-remove", levels=GUESSED),
    "auto, confidence": mean(USUAL, confidence=0.5),
    "auto, skewed": mean(p.CROWD_VALUES, p.CROWD_EPSILON),
    "auto, 500 budgets": mean(p.DISTINCT_VALUES, p.DISTINCT * 4.0),
    "diffusion, all public": diffused(USUAL, np.inf),
    "auto, private, nobody": private([], [], levels=GUESSED),
    "auto, private, few": private(USUAL[:20], p.GENEROUS[:20], levels=OFFERED),
    "auto, private, far away": private(-1e15 + 1e9 * p.STANDARD, levels=GUESSED),
    "auto, private, huge": private(1e300 * p.STANDARD, levels=OFFERED),
    "auto, private, public": private(
        USUAL, np.where(p.GENEROUS > 3.0, np.inf, p.GENEROUS), levels=[1.0, 2.0, np.inf]
    ),
}

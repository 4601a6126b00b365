"""Recorded calls of plans and allocations, which read no data."""

from __future__ import annotations

import itertools
import math
from typing import Any

import epsilons as ep
from epsilons.budgets.allocation import FREQUENCY_RULES, RULES
from tests.recorded import people as p
from tests.recorded.means import ASSUMED
from tests.recorded.place import SAMPLE, Calls, Run, with_sampling

ORDINARY = {0.1: 500, 1.0: 200, 5.0: 40}
FEW = {0.5: 40, 2.0: 10}
LARGE = {0.1: 2000, 0.5: 1000, 2.0: 300}
PEOPLE: dict[str, Any] = {"about": "people", "related": True}
PUBLIC = {0.0: 10, 0.1: 500, 1.0: 200, math.inf: 3}


def plan(epsilon: Any, **more: Any) -> Run:
    words = SAMPLE | more
    return lambda _: ep.plan(epsilon, **words)


def asked(epsilon: Any, *, need: dict[str, float], **more: Any) -> Run:
    """Return a call that makes a plan, and asks how many more people are needed."""

    def run(_: object) -> dict[str, Any]:
        made = ep.plan(epsilon, **SAMPLE | more)
        return {"plan": made, "need": made.need(**need), "one": made[made.best].rmse}

    return run


def allocate(epsilon: Any, **more: Any) -> Run:
    words = SAMPLE | more
    return lambda _: ep.allocate(epsilon, **words)


def for_each(epsilon: Any, people: Any, **more: Any) -> Run:
    words = SAMPLE | more
    return lambda _: {"each": ep.allocate(epsilon, **words).for_each(people)}


def _plans() -> dict[str, Run]:
    calls: dict[str, Run] = {}
    for (told, words), loss in itertools.product(ASSUMED, ("mse", "pac")):
        calls[f"plan, {told}, {loss}"] = plan(ORDINARY, loss=loss, **words)
        if (told, loss) not in (("unrelated", "mse"), ("related", "pac")):
            calls[f"plan, private, {told}, {loss}"] = plan(
                ORDINARY, loss=loss, neighbours="add-remove", confidence=0.9, **words
            )
    unrelated = {"about": "people", "related": False, "spread": 0.05}
    calls["plan, guess"] = plan(ORDINARY, bounds=(0, 40), **unrelated)
    calls["plan, private, guess, pac"] = plan(
        ORDINARY, loss="pac", neighbours="add-remove", **unrelated
    )
    calls["plan, related, guess"] = plan(ORDINARY, about="people", related=0.1, spread=0.1)
    return calls


def _allocations() -> dict[str, Run]:
    calls: dict[str, Run] = {}
    for place, name in enumerate(("auto", *with_sampling(RULES))):
        calls[f"allocate, {name}"] = allocate(
            PUBLIC if place % 2 else ORDINARY, method=name, **ASSUMED[place % 3][1]
        )
    for place, name in enumerate(("auto", *with_sampling(FREQUENCY_RULES))):
        calls[f"allocate, frequencies, {name}"] = allocate(
            ORDINARY, statistic="frequencies", categories=5, method=name, **ASSUMED[place % 3][1]
        )
    # `ep.allocate` refuses sampling. It is dropped only here, because the budgets and assumptions
    # of the other calls depend on their place.
    return {name: run for name, run in calls.items() if "sampling" not in name}


CALLS: Calls = {
    **_plans(),
    "plan, people": plan(p.EPSILON, bounds=(-5, 20)),
    "plan, public": plan(PUBLIC),
    "plan, Budgets": plan(ep.Budgets(ORDINARY), bounds=(0, 120)),
    "plan, 500 budgets": plan(p.DISTINCT),
    "plan, frequencies": plan(ORDINARY, statistic="frequencies", categories=["a", "b", "c"]),
    "plan, frequencies, edges, pac": plan(
        ORDINARY, statistic="frequencies", edges=[0, 1, 2], loss="pac", about="people", related=True
    ),
    "plan, private, frequencies": plan(
        ORDINARY, statistic="frequencies", categories=4, neighbours="add-remove"
    ),
    "plan, private, cap": plan(ORDINARY, neighbours="add-remove", cap=0.7, bounds=(0, 10)),
    "plan, private, public": plan(PUBLIC, neighbours="add-remove"),
    "plan, weak budgets": plan({20.0: 50, 50.0: 50}),
    "plan, all alike": plan({1.0: 100}),
    "plan, need rmse": asked(FEW, need={"rmse": 6.0}, bounds=(0, 120)),
    "plan, need pac": asked(FEW, need={"pac": 20.0}, bounds=(0, 120), loss="pac"),
    "plan, private, need": asked(FEW, need={"rmse": 7.0}, bounds=(0, 120), neighbours="add-remove"),
    "plan, range": plan(LARGE, bounds=None, **PEOPLE),
    "plan, range, too few, pac": plan(FEW, bounds=None, loss="pac", **PEOPLE),
    "plan, range, private": plan(LARGE, bounds=None, neighbours="add-remove", **PEOPLE),
    "plan, range, gaussian": plan(LARGE, bounds=None, shape="gaussian"),
    "plan, range, private, gaussian": plan(
        LARGE, bounds=None, shape="gaussian", neighbours="add-remove"
    ),
    "plan, local": plan(PUBLIC, bounds=(0, 120), model="local"),
    "plan, local, frequencies, pac": plan(
        ORDINARY, model="local", statistic="frequencies", categories=4, loss="pac"
    ),
    "plan, local, vectors": plan(ORDINARY, model="local", dimension=5),
    **_allocations(),
    "allocate, pac": allocate(p.MIXED, loss="pac", confidence=0.8),
    "allocate, 500 budgets": allocate(p.DISTINCT, about="people", related=True),
    "allocate, 500 budgets, staircase": allocate(p.DISTINCT, method="staircase"),
    "allocate, for each": for_each(ORDINARY, [0.1, 1.0, 5.0, 3.0, math.inf]),
}

"""`publish --check`: all checks of a study, its plan and its charge, with nothing drawn or paid.

The study takes the same path as when it is published: through the corridor (`draws/corridor.py`),
which checks, charges and draws. But its account never agrees to a charge. So the corridor stops
before the first draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from epsilons import Budgets, SeveralPlans, check, door, plan, publish
from epsilons.budgets.levels import float_up
from epsilons.draws.accounts import AccountSheet, Charge, Settled
from epsilons.errors import ArgumentError
from epsilons.ledger.claim import Claim
from epsilons.questions.question import Call, Question, levels_of_menu, terms_of
from epsilons.results import report
from epsilons.results.release import Releases

__all__ = ["StudyTrial", "tried"]

_NOTHING = "Nothing was drawn, and nobody was charged."

_WEIGHED = (
    "People have weights, and count as the people that they stand for. Budgets and amounts are "
    "those of weight 1: someone of weight w has w times the budget, and spends w times the amount."
)


@dataclass(frozen=True)
class StudyTrial:
    """What a study would publish, and what people would spend on it.

    Attributes:
        plan: the forecast of all questions; None if it cannot be forecast before anything is drawn.
        spent: for each budget, how many people have it (None if private), and the amount that each
            of them would spend. The amount is None if it depends on what is drawn; it is then at
            most the budget.
        before: whether the ledger already has this answer. It would then be returned again, at no
            charge.
        alarms: the reasons why a result would not be informative, one sentence each.
        weighted: whether people have weights. Then budgets and amounts are for a person of weight
            1, and sums of weights take the place of numbers of people.
    """

    plan: SeveralPlans | None
    spent: tuple[tuple[float, float | None, float | None], ...]
    before: bool
    alarms: tuple[str, ...]
    weighted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The trial as plain data."""
        return {
            "drawn": False,
            "before": self.before,
            "alarms": list(self.alarms),
            "spent": [
                {"epsilon": level, self._counted: people, "spent": spent}
                for level, people, spent in self.spent
            ],
            "plan": None if self.plan is None else self.plan.to_dict(),
        }

    @property
    def _counted(self) -> str:
        """The heading for the numbers of people or, if people have weights, the sums of weights."""
        return "weight" if self.weighted else "people"

    def to_json(self) -> str:
        """`to_dict` as JSON, with ∞ as "inf"."""
        return report.to_json(self.to_dict())

    def details(self) -> str:
        """Return the complete description as text."""
        return self._text("" if self.plan is None else self.plan.details())

    def __str__(self) -> str:
        return self._text("" if self.plan is None else str(self.plan))

    def _text(self, plan: str) -> str:
        if self.before:
            return f"The ledger has this answer: it would be given again, at no charge. {_NOTHING}"
        rows = [
            (
                report.number(level),
                "private" if people is None else f"{people:,.0f}",
                "at most all" if spent is None else report.number(spent),
            )
            for level, people, spent in self.spent
        ]
        heads = ("budget", self._counted, "each would spend")
        lines = [
            *(report.wrapped(f"ALARM: {each}") for each in self.alarms),
            *([plan] if plan else []),
            *(["", report.table(heads, rows)] if rows else []),
            *([report.wrapped(_WEIGHED)] if self.weighted else []),
            "",
            f"Nothing here would be refused. {_NOTHING}",
        ]
        return "\n".join(lines).lstrip("\n")


class _Unpaid:
    """An account that makes the checks of its claim and is never settled, so nothing is drawn.

    Args:
        neighbours: the neighbouring relation of the study.
        epsilon: the budgets, if there is no ledger.
        claim: the claim on a ledger, which is not opened; None if there is no ledger.
    """

    def __init__(self, neighbours: str, epsilon: Any, claim: Claim | None) -> None:
        self.neighbours = neighbours if claim is None else claim.neighbours
        self.most = math.inf if claim is None else claim.most
        self.epsilon = epsilon
        self.charge: Charge | None = None
        self._claim = claim

    def open(self, question: str) -> Releases | None:
        """Return the settled result, if the ledger has it. Nothing is opened."""
        return None if self._claim is None else self._claim.look(question)

    def sheet(self, data: Any, person: Any, weights: door.Weights | None) -> AccountSheet:
        """Return the data with the budgets that would be offered."""
        if self._claim is not None:
            self.epsilon = self._claim.sheet(data, person, weights).epsilon
        return AccountSheet(data, self.epsilon)

    def settle(self, charge: Charge | None, _draw: Callable[[], Settled], /) -> Settled:
        """Keep the charge that would be made, and draw nothing."""
        self.charge = charge
        return Settled(cast(Releases, None), cast(Charge, charge))

    def let_go(self) -> None:
        """Do nothing, because no budget was reserved."""


def tried(questions: Sequence[Question], terms: dict[str, Any], claim: Claim | None) -> StudyTrial:
    """Run every check of a study, and forecast it. Nothing is drawn, opened or charged.

    Args:
        questions: the questions.
        terms: arguments of `epsilons.publish`.
        claim: the claim on a ledger, or None.

    Raises:
        ArgumentError, DataError, FileError, LedgerError: publishing the study would raise it.
    """
    given = {name: each for name, each in terms.items() if name not in ("epsilon", "source")}
    epsilon = terms.get("epsilon")
    if claim is None and given.get("menu") is not None:  # with a ledger, `publish` refuses a menu
        epsilon = door.chosen(epsilon, given.pop("menu"))
        if given.get("neighbours") == "add-remove":
            given["levels"] = levels_of_menu(epsilon, given.get("levels"))
    account = _Unpaid(given.get("neighbours", "replace"), epsilon, claim)
    if claim is None and account.epsilon is None:
        raise ArgumentError("epsilon is needed: the column of budgets, or one number for everyone.")
    # A settled result is not None; a trial, which is never settled, returns None.
    before = publish(questions, **given, ledger=account) is not None
    if before:
        return StudyTrial(None, (), before, ())
    own = terms_of(given)
    division = {name: given[name] for name in ("shares", "targets") if name in given}
    budgets, unit = _budgets(questions, own, account.epsilon)
    forecast = None
    if budgets is not None:
        fixed = {name: own[name] for name in ("neighbours", "cap") if name in own}
        forecast = plan(questions, epsilon=budgets, **division, **fixed)
    looks = [check(each, **{**own, "epsilon": account.epsilon}) for each in questions]
    alarms = tuple(dict.fromkeys(alarm for look in looks for alarm in look.alarms))
    rows = _spent(account.charge, budgets, own)
    if unit is not None:
        rows = tuple(
            (level / unit, (people or 0) * unit, None if spent is None else spent / unit)
            for level, people, spent in rows
        )
    return StudyTrial(forecast, rows, before, alarms, weighted=unit is not None)


def _budgets(
    questions: Sequence[Question], terms: dict[str, Any], epsilon: Any
) -> tuple[Budgets | None, float | None]:
    """Return the budgets for the plan: people's own or, under add/remove, the declared levels.

    Returns:
        The budgets, and the weight of one unit. The budgets are None if levels are declared without
        numbers of people. Without weights, the weight is None. With weights, each budget is that of
        one unit, and units are counted instead of people.
    """
    if terms.get("neighbours", "replace") != "replace":
        levels = terms.get("levels")
        return Budgets(levels) if isinstance(levels, dict) else None, None
    call = replace(Call.of(**{**terms, "epsilon": None}), epsilon=epsilon)
    budgets = questions[0].people(call)
    return budgets, None if call.weights is None else call.weights.unit


def _spent(
    charge: Charge | None, budgets: Budgets | None, terms: dict[str, Any]
) -> tuple[tuple[float, float | None, float | None], ...]:
    """What people at each budget would spend."""
    public = terms.get("neighbours", "replace") == "replace"
    levels = np.sort(np.array(list(terms.get("levels") or ()), dtype=float))
    if budgets is not None:
        levels = budgets.levels
    elif charge is not None:
        levels = charge.levels
    unknown = [None] * len(levels)
    counts = budgets.counts.tolist() if public and budgets is not None else unknown
    losses = unknown if charge is None else [float_up(each) for each in charge.on(levels)]
    return tuple(zip(levels.tolist(), counts, losses, strict=True))

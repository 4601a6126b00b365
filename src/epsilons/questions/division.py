"""Divide everyone's budget among questions: by given shares, or to meet target errors.

Shares are exact fractions with sum at most 1. They depend on arguments, and for target errors on
budgets that are public or declared. They never depend on values.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from epsilons.budgets.levels import Budgets, is_number
from epsilons.door import Absent
from epsilons.errors import ArgumentError, BudgetError
from epsilons.listed import shown
from epsilons.loading import later
from epsilons.questions.question import Call, Question

if TYPE_CHECKING:
    from epsilons.questions import rehearsal
else:
    rehearsal = later("epsilons.questions.rehearsal")

__all__ = ["ByShares", "ByTargets", "Division", "division_of"]

UNITS: Final = 10**6
"""Shares that are computed from targets are multiples of 1/UNITS."""

Shares: TypeAlias = tuple[Fraction, ...]
Error: TypeAlias = Callable[[Fraction], float]
"""The error of a question as a function of its share of everyone's budget."""


class Division(ABC):
    """A rule that divides everyone's budget among questions."""

    @abstractmethod
    def among(
        self, questions: Sequence[Question], call: Call, count: Callable[[], Budgets]
    ) -> Shares:
        """Return the share of each question: fractions above 0 with sum at most 1.

        Args:
            questions: the questions, in order.
            call: the data, the budgets and the neighbouring relation.
            count: a function that counts people by budget. It is called only if budgets are public.
        """

    @property
    @abstractmethod
    def told(self) -> Any:
        """The requested division as plain data; None for equal shares."""


@dataclass(frozen=True)
class ByShares(Division):
    """Shares given by the user.

    Attributes:
        shares: fractions that sum to 1.
    """

    shares: Shares

    def among(
        self,
        questions: Sequence[Question],  # noqa: ARG002
        call: Call,  # noqa: ARG002
        count: Callable[[], Budgets],  # noqa: ARG002
    ) -> Shares:
        """Return the given shares."""
        return self.shares

    @property
    def told(self) -> Any:
        """The shares as strings; None if all are equal."""
        return [str(share) for share in self.shares] if len(set(self.shares)) > 1 else None


@dataclass(frozen=True)
class ByTargets(Division):
    """The smallest shares that are predicted to meet target errors. Other questions get the rest.

    Attributes:
        targets: for each question the largest allowed half-width of its interval, in data units;
            None for a question that gets a share of the rest.
    """

    targets: tuple[float | None, ...]

    @property
    def told(self) -> Any:
        """The targets as plain data."""
        return {"targets": list(self.targets)}

    def among(
        self, questions: Sequence[Question], call: Call, count: Callable[[], Budgets]
    ) -> Shares:
        """Return the shares that meet the targets for the actual or the expected people.

        Raises:
            ArgumentError: participation is private and no expected numbers are declared; or an
                error cannot be predicted; or not all targets can be met.
        """
        if call.declared is not None and call.declared.guess is None:
            raise ArgumentError(
                "targets need a forecast, and under add-remove it is private who takes part: "
                "declare how many people you expect at each budget, such as "
                "levels={0.1: 500, 1: 200}, or give shares instead of targets."
            )
        asked = list(zip(questions, self.targets, strict=True))
        for why in (question.varies for question, target in asked if target is not None):
            if why:
                raise ArgumentError(f"targets: {why}")
        if call.weights is not None and any(
            question.assumption.sampled for question, target in asked if target is not None
        ):
            raise ArgumentError(
                'targets: the interval of a mean with weights and about="population" is not '
                "forecast here. Give None for this question, or shares instead of targets."
            )
        if call.declared is not None and call.declared.guess is not None:
            there = Absent(call.declared.ladder.levels, call.declared.guess)
        else:
            people = count()
            there = Absent(people.levels, people.counts)
        return self.shares([_error(question, call, there) for question in questions])

    def shares(self, errors: Sequence[Error]) -> Shares:
        """Return shares that meet the targets, and divide the rest of the budget evenly.

        The rest goes to the questions without a target, or to all if all have one.

        Args:
            errors: the error of each question as a decreasing function of its share.

        Raises:
            ArgumentError: not all targets can be met; the message suggests larger targets.
        """
        wanted = {k: each for k, each in enumerate(self.targets) if each is not None}
        least = {k: _least(errors[k], target) for k, target in wanted.items()}
        taken = sum(least.values(), Fraction(0))
        free = [k for k in range(len(self.targets)) if k not in wanted]
        if taken > 1 or (free and taken == 1):
            raise ArgumentError(self._instead(errors, least))
        rest = (1 - taken) / (len(free) or len(self.targets))
        return tuple(
            least.get(k, Fraction(0)) + (rest if k in free or not free else 0)
            for k in range(len(self.targets))
        )

    def _instead(self, errors: Sequence[Error], least: dict[int, Fraction]) -> str:
        """Return an error message that suggests targets that can be met."""
        # Questions without a target keep an equal share. The others divide the rest.
        whole = Fraction(len(least), len(self.targets))
        taken = sum(least.values(), Fraction(0))
        met = [
            None if k not in least else _rounded_up(errors[k](least[k] / taken * whole))
            for k in range(len(self.targets))
        ]
        tight = {k: errors[k](Fraction(1)) for k, share in least.items() if share > 1}
        alone = "".join(
            f" Question {k + 1} alone would reach {_rounded_up(best):g} with everyone's whole "
            "budget."
            for k, best in tight.items()
        )
        listed = ", ".join("None" if each is None else f"{each:g}" for each in met)
        return (
            f"targets cannot all be met with these budgets.{alone} "
            f"targets=[{listed}] could be. Nothing was drawn."
        )


def division_of(questions: int, shares: Any, targets: Any) -> Division | None:
    """Return the division for a user's arguments, or None for equal parts: see `epsilons.publish`.

    Args:
        questions: the number of questions.
        shares: None, or a list with a positive number for each question.
        targets: None, or a list with a positive number or None for each question.

    Raises:
        ArgumentError: an argument is invalid, or both are given.
    """
    if shares is not None and targets is not None:
        raise ArgumentError("Give either shares or targets: targets are met by choosing shares.")
    if targets is not None:
        wanted = _listed(
            "targets", targets, questions, "or None for a question that takes the rest"
        )
        if all(each is None for each in wanted):
            return None
        return ByTargets(tuple(None if each is None else float(each) for each in wanted))
    if shares is None:
        return None
    parts = _listed("shares", shares, questions, "such as [2, 1]")
    if None in parts:
        raise ArgumentError(
            "shares: None is not a share. Give a positive number for each question."
        )
    total = sum(parts, Fraction(0))
    return ByShares(tuple(part / total for part in parts))


def _listed(name: str, given: Any, questions: int, how: str) -> list[Any]:
    """Return the user's entry for each question: a fraction above 0, or None.

    Raises:
        ArgumentError: `given` is anything else.
    """
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    if len(listed) != questions or not all(each is None or _positive(each) for each in listed):
        raise ArgumentError(
            f"{name}={shown(given)} must be a list of {questions} positive numbers, one for each "
            f"question, {how}."
        )
    return [None if each is None else _fraction(each) for each in listed]


def _positive(each: Any) -> bool:
    return is_number(each) and 0 < each < math.inf


def _fraction(number: Any) -> Fraction:
    if isinstance(number, (Decimal, Fraction)):
        return Fraction(number)
    return Fraction(number.item() if hasattr(number, "item") else number)


def _error(question: Question, call: Call, people: Absent) -> Error:
    """Return the error of a question as a function of its share; ∞ if the share is too small."""

    @cache
    def error(share: Fraction) -> float:
        try:
            return rehearsal.rehearse(question, people, replace(call, share=share)).reach
        except BudgetError:  # this share of a budget is too small
            return math.inf

    return error


def _least(error: Error, target: float) -> Fraction:
    """Return the smallest share that meets a target, or a share above 1 if no share does.

    Noise is inversely proportional to the share. The search starts from the share that this
    suggests, and doubles its step size.
    """
    whole = error(Fraction(1))
    if whole > target:
        return Fraction(2)

    def enough(place: int) -> bool:
        return error(Fraction(place, UNITS)) <= target

    place = min(max(math.ceil(UNITS * (whole / target)), 1), UNITS)
    low, high, step = 0, UNITS, 1  # `low` misses the target, `high` meets it
    while low < place < high:
        low, high = (low, place) if enough(place) else (place, high)
        place, step = (high - step, 2 * step) if high <= place else (low + step, 2 * step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Fraction(high, UNITS)


def _rounded_up(error: float) -> float:
    """Return an error rounded up to three significant digits, for messages."""
    if not 0.0 < error < math.inf:
        return error
    step = 10.0 ** (math.floor(math.log10(error)) - 2)
    return math.ceil(error / step) * step

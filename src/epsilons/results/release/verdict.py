"""The verdict: what a result is worth, what personal budgets gained, and what would help.

It is computed from what was published and from public facts, so it reveals nothing more about
anyone. Plans say the same in the same words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from epsilons.budgets.allocation import best_cap, rules_for
from epsilons.budgets.allocation.rules import Effective, capped, weighing_of
from epsilons.budgets.levels import Budgets
from epsilons.results.report.numbers import number
from epsilons.results.report.phrases import related_words
from epsilons.risk.goals import Goal
from epsilons.risk.weighing import SumNoise

__all__ = [
    "NOT_USABLE",
    "PRECISE",
    "SHARES",
    "USELESS",
    "WORTH",
    "Gain",
    "Help",
    "Precision",
    "ReleaseVerdict",
    "defended",
    "gain_of",
    "gain_words",
    "help_words",
    "helps_most",
    "in_points",
    "more_people",
    "other_assumptions",
    "precision_at",
    "precision_of",
    "precision_words",
    "to_two_digits",
]

Worth: TypeAlias = Literal["precise", "rough", "useless"]

PRECISE: Final = 0.05
"""A half-width of at most this part of the range is precise."""

USELESS: Final = 0.25
"""A half-width of at least this part of the range is useless: the interval is half of all values.
A half-width of at least one standard deviation is useless as well, where that was released."""

_OF_A_COUNT: Final = 0.5
"""A half-width of at least this part of a count is useless: a count has no range."""

_GAINS: Final = 1.05
"""Personal budgets that make the error smaller by less gain next to nothing."""

WORTH: Final = 1.1
"""A change that makes an interval narrower by less is not worth proposing."""

SHARES: Final = ("frequencies", "quantile")
"""Statistics about shares of people rather than means."""

NOT_USABLE: Final = "Not usable: almost any value fits."


class Precision(NamedTuple):
    """How precise one number is.

    Attributes:
        worth: "precise", "rough" or "useless".
        half: half the width of its interval, in data units.
        part: the same as a part of what the number can be; of the number itself if that has no end.
    """

    worth: Worth
    half: float
    part: float


class Gain(NamedTuple):
    """What personal budgets gained, as ratios of typical errors.

    Attributes:
        over_strictest: over giving everyone the strictest ε.
        over_single: over the best single ε, with stricter people left out.
        strictest: the strictest ε.
        single: the best single ε.
        left_out: how many people are stricter than that.
    """

    over_strictest: float
    over_single: float
    strictest: float
    single: float
    left_out: int

    @property
    def is_small(self) -> bool:
        """Whether a single ε, with stricter people left out, does about as well."""
        return self.over_single < _GAINS


class Help(NamedTuple):
    """A change that would make the interval narrower.

    Attributes:
        times: how many times narrower; None if that is not forecast.
        words: what to do, in words that "would make …" can follow.
        condition: what you must be able to defend; "" if nothing.
    """

    times: float | None
    words: str
    condition: str = ""


@dataclass(frozen=True)
class ReleaseVerdict:
    """What a result is worth.

    Attributes:
        each: the precision of each number.
        gain: what personal budgets gained; None where that is not known.
        helps: what would help, the best first; empty if nothing would help enough, and in a release
            whose numbers are all precise.
        words: the sentences, in order: precision, gain, help.
    """

    each: tuple[Precision, ...]
    gain: Gain | None
    helps: tuple[Help, ...]
    words: tuple[str, ...]

    @property
    def worth(self) -> Worth:
        """That of the best of its numbers."""
        found = {precision.worth for precision in self.each}
        ordered: tuple[Worth, ...] = ("precise", "rough")
        return next((each for each in ordered if each in found), "useless")

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        gain = None if self.gain is None else self.gain._asdict()
        helps = [each._asdict() for each in self.helps]
        return {"worth": self.worth, "words": list(self.words), "gain": gain, "helps": helps}


def precision_of(
    value: float, low: float, high: float, limits: tuple[float, float], spread: float | None = None
) -> Precision:
    """How precise a number is.

    Args:
        value: the number.
        low, high: the ends of its interval.
        limits: all that the number can be; an end that is not known is infinite.
        spread: the largest standard deviation that its data may have, where one was released.
    """
    return precision_at((high - low) / 2.0, limits[1] - limits[0], value, spread)


def precision_at(
    half: float, width: float, value: float = math.nan, spread: float | None = None
) -> Precision:
    """How precise a number with this half-width is.

    Args:
        half: half the width of its interval.
        width: the width of all that the number can be; infinite if an end is not known.
        value: the number; only needed if the width is infinite.
        spread: the largest standard deviation that its data may have, where one is known.
    """
    if math.isinf(width):
        part = half / max(abs(value), 1.0)
        useless = part >= _OF_A_COUNT
    else:
        part = half / width if width > 0.0 else 0.0
        useless = part >= USELESS
    if not math.isfinite(half) or useless or (spread is not None and half >= spread > 0.0):
        return Precision("useless", half, part)
    return Precision("precise" if part <= PRECISE else "rough", half, part)


def precision_words(
    each: Sequence[Precision], told: Callable[[float], str], things: tuple[str, str], whole: str
) -> str:
    """How precise numbers are, in a sentence or two.

    Args:
        each: the precision of each number.
        told: words for an error.
        things: what one number is of, and several.
        whole: what a part is a part of, such as "the range"; "" if errors are such parts already.
    """
    if len(each) == 1:
        [one] = each
        if one.worth == "useless":
            return NOT_USABLE
        said = f"±{told(one.half)}" + (f" ({_percent(one.part)} of {whole})" if whole else "")
        if one.worth == "precise":
            return f"Precise to {said}."
        return f"Rough, {said}: it shows the direction, not the size."
    best = [one for one in each if one.worth == "precise"]
    rough = [one for one in each if one.worth == "rough"]
    useless = len(each) - len(best) - len(rough)
    if useless == len(each):
        return f"Not usable: almost any value fits, in all {len(each):,} {things[1]}."
    parts = []
    for word, found in (("Precise", best), ("Rough", rough)):
        if found:
            far = told(max(one.half for one in found))
            where = f"{len(found):,} {things[1] if len(found) > 1 else things[0]}"
            where = f"all {len(each):,} {things[1]}" if len(found) == len(each) else where
            parts.append(f"{word} to ±{far} or better in {where}")
    said = "; ".join([parts[0], *(part[0].lower() + part[1:] for part in parts[1:])])
    return said + (f"; not usable in {useless:,} (shown as –)." if useless else ".")


def to_two_digits(unit: str | None = None, times: float = 1.0) -> Callable[[float], str]:
    """Words for a half-width, of which two digits are worth reading.

    Args:
        unit: the unit that follows the number; None if it has none.
        times: how many of these units 1 is.
    """
    after = "" if unit is None else f" {unit}"
    return lambda half: f"{number(times * half, 2)}{after}"


in_points: Final = to_two_digits("percentage points", 100.0)
"""Words for the half-width of a share."""


def gain_of(budgets: Budgets, goal: Goal, noise: SumNoise, typical: float) -> Gain | None:
    """What personal budgets gained over a single ε.

    Args:
        budgets: of the people, or of those who are expected.
        goal: which error was minimized, and what was assumed.
        noise: of the sums.
        typical: the typical error of the result, on a unit range.

    Returns:
        The gain; None where everyone has the same budget, or nothing was used.
    """
    usable = budgets.levels[(budgets.levels > 0.0) & (budgets.counts > 0)]
    if len(usable) < 2 or not typical > 0.0:
        return None
    answers = [rules_for(goal)[name](budgets, goal) for name in ("uniform", "threshold")]
    errors = [goal.rmse(weighing_of(budgets, answer, noise)) for answer in answers]
    single = answers[1].spent
    left_out = budgets.counts[(single <= 0.0) & (budgets.levels > 0.0)]
    return Gain(
        errors[0] / typical,
        errors[1] / typical,
        float(usable[0]),
        float(single.max()),
        int(left_out.sum()),
    )


def gain_words(gain: Gain) -> str:
    """What personal budgets gained, in a sentence."""
    strictest = f"giving everyone ε = {number(gain.strictest)}"
    people = f"the {gain.left_out:,} strictest" if gain.left_out > 1 else "the strictest person"
    single = f"leaving {people} out" if gain.left_out else strictest
    times = f"{gain.over_single:.2f} ×"
    if gain.is_small:
        why = "so many people are strict" if not gain.left_out else "leaving them out costs little"
        return f"Personal budgets gain next to nothing: {times} over {single}, because {why}."
    said = f"Personal budgets make the error {gain.over_strictest:.2f} × smaller than {strictest}"
    return said + (f", and {times} smaller than {single}." if gain.left_out else ".")


def more_people(
    budgets: Budgets, goal: Goal, noise: SumNoise, *, adds: bool = False
) -> Iterator[Help]:
    """What more people, or larger budgets of the strictest, would do to the half-width.

    Args:
        budgets: of the people, or of those who are expected.
        goal: which error was minimized, and what was assumed.
        noise: of the sums.
        adds: whether the number is a sum over people: its half-width grows with their number.
    """
    reach = replace(goal, loss="pac")

    def error(people: Budgets) -> float:
        answer = Effective(capped(people, best_cap(people, goal, noise)))
        return reach.risk(weighing_of(people, answer, noise))

    now = error(budgets)
    twice = Budgets.of_levels(budgets.levels, 2 * budgets.counts)
    yield Help(_times(now, (1.0 + adds) * error(twice)), "twice as many people like these")
    lowest = float(budgets.levels[budgets.levels > 0.0].min())
    levels, place = np.unique(
        np.where(budgets.levels == lowest, 2.0 * lowest, budgets.levels), return_inverse=True
    )
    counts = np.bincount(place, weights=budgets.counts).astype(np.int64)
    told = f"ε = {number(2.0 * lowest)} in place of {number(lowest)} for the strictest people"
    yield Help(_times(now, error(Budgets.of_levels(levels, counts))), told)


def other_assumptions(
    errors: Sequence[tuple[bool | float, float]], related: bool | float, *, cells: bool
) -> Iterator[Help]:
    """What stronger assumptions would do.

    Args:
        errors: the half-width with each answer to whether budgets are related to values.
        related: what is assumed.
        cells: whether numbers are shares of people.
    """
    now = next((error for answer, error in errors if answer == related), math.inf)
    for answer, error in errors:
        if float(answer) < float(related):
            yield Help(_times(now, error), f"related={answer}", defended(answer, cells=cells))


def defended(related: bool | float, *, cells: bool) -> str:
    """What you must be able to defend before you assume it, in a clause that begins with "if".

    Args:
        related: how budgets are related to values, False or by how much.
        cells: whether numbers are shares of people.
    """
    if related is False:
        return "if you can defend that budgets are unrelated to values"
    what = "shares" if cells else "means"
    much = related_words(related, cells=cells).removeprefix("by ")
    return f"if you can defend that {what} at different budgets differ by {much}"


def helps_most(found: Iterable[Help]) -> tuple[Help, ...]:
    """The changes worth proposing, the best first."""
    known = [(each.times, each) for each in found if each.times is not None]
    worth = [(times, each) for times, each in known if times >= WORTH]
    return tuple(each for _, each in sorted(worth, key=lambda pair: -pair[0]))


def help_words(each: Help, error: str = "", *, endlessly: str = "finite") -> str:
    """What would help, in a sentence.

    Args:
        each: the change.
        error: the name of the error that becomes smaller; "" for the half-width.
        endlessly: what the error becomes if it is infinitely many times smaller.
    """
    if each.times is None:
        return f"What would help: {each.words}."
    it, less = (f"the {error}", "smaller") if error else ("it", "narrower")
    then = endlessly if math.isinf(each.times) else f"{each.times:.1f} × {less}"
    condition = f", {each.condition}" if each.condition else ""
    return f"What would help most: {each.words} would make {it} {then}{condition}."


def _times(now: float, then: float) -> float:
    if math.isinf(now):
        return math.inf if math.isfinite(then) else 1.0
    return now / then if then > 0.0 else 1.0


def _percent(part: float) -> str:
    return f"{100.0 * part:.2g} %" if part < 0.995 else f"{100.0 * part:.0f} %"

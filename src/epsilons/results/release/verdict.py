"""The verdict: the precision of a result, the gain from personal budgets, and advice.

It is computed from published numbers and public facts, so it costs no privacy. Plans have verdicts
with the same wording.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from epsilons.budgets.allocation import NARROWEST, best_cap, rules_for
from epsilons.budgets.allocation.rules import capped, weighing_of
from epsilons.budgets.levels import Budgets
from epsilons.results.report.numbers import number
from epsilons.results.report.phrases import related_words
from epsilons.risk.goals import Goal
from epsilons.risk.weighing import SumNoise

__all__ = [
    "NOT_USABLE",
    "PRECISE",
    "THE_NUMBER",
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
    "precision_if",
    "precision_of",
    "precision_words",
    "to_two_digits",
]

Worth: TypeAlias = Literal["precise", "rough", "useless"]

PRECISE: Final = 0.05
"""A number is precise if its half-width is at most this fraction of the range."""

USELESS: Final = 0.25
"""A number is useless if its half-width is at least this fraction of the range: its interval then
covers half of the range. If the standard deviation was released, a number is also useless if its
half-width is at least the standard deviation."""

_OF_A_SUM: Final = 0.5
"""A sum over people, such as a count or a total, is useless if its half-width is at least this
fraction of the number. Its range grows with the people, so it is compared with the number itself,
and is precise if its half-width is at most `PRECISE` of it."""

THE_NUMBER: Final = "the number"
"""What the half-width of a sum over people is compared with, in words."""

_GAINS: Final = 1.05
"""If personal budgets reduce the error by less than this factor, the gain is called small."""

WORTH: Final = 1.1
"""A change is proposed only if it makes an interval narrower by at least this factor."""

NOT_USABLE: Final = "Not usable: almost any value fits."


class Precision(NamedTuple):
    """The precision of one number.

    Attributes:
        worth: "precise", "rough" or "useless".
        half: half the width of its interval, in data units.
        part: `half` as a fraction of the range of possible numbers; for a sum over people, as a
            fraction of the number itself.
    """

    worth: Worth
    half: float
    part: float


class Gain(NamedTuple):
    """The gain from personal budgets, as ratios of typical errors.

    Attributes:
        over_strictest: the error if everyone had the strictest ε, divided by the actual error.
        over_single: the error with the best single ε, divided by the actual error. With a single ε,
            people with a smaller ε are left out.
        strictest: the smallest ε.
        single: the best single ε.
        left_out: the number of people whose ε is below `single`.
    """

    over_strictest: float
    over_single: float
    strictest: float
    single: float
    left_out: int

    @property
    def is_small(self) -> bool:
        """Whether the best single ε, with stricter people left out, has about the same error."""
        return self.over_single < _GAINS

    @property
    def is_loss(self) -> bool:
        """Whether the best single ε, with stricter people left out, has a clearly smaller error."""
        return self.over_single * _GAINS < 1.0


class Help(NamedTuple):
    """A change that would make the interval narrower.

    Attributes:
        times: the factor by which the interval becomes narrower; None if there is no forecast.
        words: the change, as a phrase that can be the subject of "would make it narrower".
        condition: a clause with the assumption that the user must be able to defend; "" if none.
    """

    times: float | None
    words: str
    condition: str = ""


@dataclass(frozen=True)
class ReleaseVerdict:
    """The verdict on a result.

    Attributes:
        each: the precision of each number.
        gain: the gain from personal budgets; None if it is not known.
        helps: changes that would make intervals narrower, the best first. Empty if none would help
            enough, and for a release in which all numbers are precise.
        words: sentences on precision, gain and help, in this order.
    """

    each: tuple[Precision, ...]
    gain: Gain | None
    helps: tuple[Help, ...]
    words: tuple[str, ...]

    @property
    def worth(self) -> Worth:
        """The worth of the most precise number."""
        found = {precision.worth for precision in self.each}
        ordered: tuple[Worth, ...] = ("precise", "rough")
        return next((each for each in ordered if each in found), "useless")

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        gain = None if self.gain is None else self.gain._asdict()
        helps = [each._asdict() for each in self.helps]
        return {"worth": self.worth, "words": list(self.words), "gain": gain, "helps": helps}


def precision_of(
    value: float, low: float, high: float, limits: tuple[float, float], spread: float | None = None
) -> Precision:
    """Return the precision of a number.

    Args:
        value: the number.
        low, high: the ends of its interval.
        limits: the range of possible numbers; infinite where an end is unknown, and for sums.
        spread: an upper bound on the standard deviation of the data; None if none was released.
    """
    return precision_at((high - low) / 2.0, limits[1] - limits[0], value, spread)


def precision_at(
    half: float, width: float, value: float = math.nan, spread: float | None = None
) -> Precision:
    """Return the precision of a number with this half-width.

    Args:
        half: half the width of its interval.
        width: the width of the range of possible numbers; infinite if it is compared with the
            number itself.
        value: the number; only needed if the width is infinite.
        spread: an upper bound on the standard deviation of the data; None if none is known.
    """
    if math.isinf(width):
        part = half / max(abs(value), 1.0)
        useless = part >= _OF_A_SUM
    else:
        part = half / width if width > 0.0 else 0.0
        useless = part >= USELESS
    if not math.isfinite(half) or useless or (spread is not None and half >= spread > 0.0):
        return Precision("useless", half, part)
    return Precision("precise" if part <= PRECISE else "rough", half, part)


def precision_if(
    half: float, largest: float, told: Callable[[float], str]
) -> tuple[Precision, str]:
    """Return how precise a sum over people can be, and a sentence about it.

    The precision of a sum depends on the sum, which is not known yet. So the precision is that of
    the largest possible sum, and the sentence says for which sums the result is precise or useless.

    Args:
        half: half the width of its interval.
        largest: the largest possible absolute value of the sum.
        told: a function that formats an error.
    """
    best = precision_at(half, math.inf, largest)
    if best.worth == "useless":
        return best, NOT_USABLE
    words = [f"not usable if it is {told(half / _OF_A_SUM)} or less"]
    if best.worth == "precise":
        words.insert(0, f"precise if the number is {told(half / PRECISE)} or more")
    else:
        words[0] = words[0].replace("it is", "the number is")
        words.insert(0, "rough")
    return best, f"±{told(half)}: {', '.join(words)}."


def precision_words(
    each: Sequence[Precision],
    told: Callable[[float], str],
    things: tuple[str, str],
    whole: str,
    *,
    either_sign: bool = False,
) -> str:
    """Describe the precision of numbers in one or two sentences.

    Args:
        each: the precision of each number.
        told: a function that formats an error.
        things: the noun for what one number describes, singular and plural, such as "category".
        whole: the quantity that half-widths are fractions of, such as "the range"; "" to omit it.
        either_sign: whether the interval of the only number has 0 inside.
    """
    if len(each) == 1:
        [one] = each
        if one.worth == "useless" and whole == THE_NUMBER and math.isfinite(one.half):
            much = f"{_percent(one.part)} of" if one.part < 1.0 else "at least"
            return f"Not usable: ±{told(one.half)} is {much} {whole}."
        if one.worth == "useless":
            return NOT_USABLE
        said = f"±{told(one.half)}" + (f" ({_percent(one.part)} of {whole})" if whole else "")
        if one.worth == "precise":
            return f"Precise to {said}."
        if either_sign:
            return f"Rough, {said}: it can be above or below 0."
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
    """Return a function that formats a half-width with two significant digits.

    Args:
        unit: the unit that follows the number; None if it has none.
        times: the factor that converts a half-width to this unit.
    """
    after = "" if unit is None else f" {unit}"
    return lambda half: f"{number(times * half, 2)}{after}"


in_points: Final = to_two_digits("percentage points", 100.0)
"""Formats the half-width of a share."""


def gain_of(budgets: Budgets, goal: Goal, noise: SumNoise, typical: float) -> Gain | None:
    """Return the gain from personal budgets, compared with a single ε.

    Args:
        budgets: the budgets of the people, or of the expected people.
        goal: which error was minimized, and what was assumed.
        noise: the noise of the sums.
        typical: the typical error of the result, on a unit range.

    Returns:
        The gain; None if there are fewer than two different budgets above 0, or if the typical
        error is 0.
    """
    usable = budgets.levels[(budgets.levels > 0.0) & (budgets.counts > 0)]
    if len(usable) < 2 or not typical > 0.0:
        return None
    answers = [rules_for(goal)[name](budgets, goal) for name in ("uniform", "threshold")]
    errors = [goal.rmse(weighing_of(budgets, answer, noise)) for answer in answers]
    best = errors.index(min(errors))  # the threshold is chosen for the loss, not for this error
    single = answers[best].spent
    left_out = budgets.counts[(single <= 0.0) & (budgets.levels > 0.0)]
    return Gain(
        errors[0] / typical,
        errors[best] / typical,
        float(usable[0]),
        float(single.max()),
        int(left_out.sum()),
    )


def gain_words(gain: Gain, method: str = "") -> str:
    """Describe the gain from personal budgets in a sentence.

    Args:
        gain: the gain.
        method: the name of the rule that was used.
    """
    strictest = f"giving everyone ε = {number(gain.strictest)}"
    people = f"the {gain.left_out:,} strictest" if gain.left_out > 1 else "the strictest person"
    single = f"leaving {people} out" if gain.left_out else strictest
    times = f"{gain.over_single:.2f} ×"
    smaller = f"{1.0 / gain.over_single:.2f}" if gain.over_single > 0.0 else "∞"
    if gain.is_small and method == NARROWEST:
        return (
            f"The cap is chosen for the interval: the typical error is {smaller} × that of "
            f"{single}."
        )
    if gain.is_loss:
        return f"Personal budgets are a loss here: {single} makes the error {smaller} × smaller."
    if gain.is_small:
        why = "so many people are strict" if not gain.left_out else "leaving them out costs little"
        return f"Personal budgets gain next to nothing: {times} over {single}, because {why}."
    said = f"Personal budgets make the error {gain.over_strictest:.2f} × smaller than {strictest}"
    return said + (f", and {times} smaller than {single}." if gain.left_out else ".")


def more_people(
    budgets: Budgets, goal: Goal, noise: SumNoise, *, adds: bool = False
) -> Iterator[Help]:
    """Forecast the half-width for twice as many people, and with the smallest ε doubled.

    Args:
        budgets: the budgets of the people, or of the expected people.
        goal: which error was minimized, and what was assumed.
        noise: the noise of the sums.
        adds: whether the number is a sum over people: its half-width grows with their number.
    """
    reach = replace(goal, loss="pac")

    def error(people: Budgets) -> float:
        answer = capped(people, best_cap(people, goal, noise))
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
    """Yield stronger assumptions, each with the factor by which the half-width would shrink.

    Args:
        errors: pairs of a value of `related` and the half-width under this assumption.
        related: the assumption of the result.
        cells: whether numbers are shares of people.
    """
    now = next((error for answer, error in errors if answer == related), math.inf)
    for answer, error in errors:
        if float(answer) < float(related):
            yield Help(_times(now, error), f"related={answer}", defended(answer, cells=cells))


def defended(related: bool | float, *, cells: bool) -> str:
    """A clause, "if you can defend that …", with the meaning of an assumption.

    Args:
        related: the assumption: False, or a bound on how budgets are related to values.
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
    """Describe a change and its effect in a sentence.

    Args:
        each: the change.
        error: the name of the error that becomes smaller; "" for the half-width.
        endlessly: the word for the error after the change if `times` is ∞: "finite" or "zero".
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

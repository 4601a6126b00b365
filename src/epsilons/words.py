"""All sentences about the protection and the assumptions of releases and plans.

The sentences of the local model are in `local/randomizer.py`.

PROTECTED, PROTECTED_WITH_RANGE                            what a release protects
assumed(truth, neighbours, assumption, …)                  what its error assumes
ASSUMED_OF_A_GAUSSIAN                                      the same for a Gaussian population
WILL_PROTECT, planned(neighbours, assumption)              the same for plans
planned_gaussian(neighbours)                               plans for a Gaussian population
ADDS_UP, ADDS_UP_LOCALLY                                   spending adds up over releases
NEIGHBOURS                                                 the neighbouring relation
assumed_of_some(neighbours, assumption, whose, …)          means by group, or of a subset of people
weighed(name, unit, most, assumption)                      weights: sentences to append to both
clipped(…), uncounted(…)                                   how invalid values are treated
left_out(…)                                                the rows that a mean excludes
of_menu(menu, neighbours)                                  the words that stand for budgets
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from epsilons.results.report import number
from epsilons.risk.weighing import Assumption

OUTSIDE: Final = "Values outside "
"""The beginning of every sentence about clipped values."""

_PUBLIC_BUDGETS: Final = (
    "Budgets and the number of people are treated as public: what a budget itself reveals is not "
    "protected."
)

_PRIVATE_PEOPLE: Final = (
    "The number of people and all budgets are private. Only the arguments of the call are public."
)

PROTECTED: Final = {
    "replace": (
        "Each person's value: whatever it is, no result becomes more or less likely by more than a "
        "factor of e^(spent), which is 10 % at 0.1 and 2.7 times at 1, and nobody spends more than "
        f"their own ε. {_PUBLIC_BUDGETS}"
    ),
    "add-remove": (
        "Whether a person took part at all, their value and their budget: with them or without "
        "them, no result becomes more or less likely by more than a factor of e^(spends), which is "
        "10 % at 0.1 and 2.7 times at 1, and nobody spends more than their own ε. "
        f"{_PRIVATE_PEOPLE}"
    ),
}
"""What a release of the central model protects, by neighbouring relation."""

PROTECTED_WITH_RANGE: Final = {
    "replace": (
        "Each person's value: whatever it is, and however far from all others, no result becomes "
        "more or less likely by more than a factor of e^(spent), and nobody spends more than their "
        f"own ε. This includes finding the range. {_PUBLIC_BUDGETS}"
    ),
    "add-remove": (
        "Whether a person took part at all, their value and their budget: with them or without "
        "them, no result becomes more or less likely by more than a factor of e^(spends), and "
        "nobody spends more than their own ε. This includes finding the range. "
        f"{_PRIVATE_PEOPLE}"
    ),
}
"""The same if the range of the values was not given, but estimated."""

MEANS_DIFFER: Final = "The means of people at different budgets differ by at most {} of the range"
"""The assumption that budgets are related to values by at most δ, which replaces {}."""

_ABOUT: Final = {
    "people": "This estimates {truth} exactly these people{counted}{clipped}.",
    "population": (
        "The people are a sample: each was drawn from the same population, independently of the "
        "others. This estimates {truth} that population{clipped}."
    ),
}

_WEIGHED_SAMPLE: Final = (
    "The people are a sample with weights: they were drawn independently of each other, and for "
    "these weights, weighted means of such samples are on average {truth} the population. This "
    "estimates {truth} that population{clipped}."
)

_CLAIMED: Final = {
    "people": " So the claim is about weighted means of people with different ε/weight.",
    "population": " So the claim is about expected values of people with different budgets or "
    "weights.",
    "unrelated": " That budgets say nothing about values is meant among people of equal weight.",
}
"""A sentence on what `related` means if people have weights: for a bound δ, by the target of the
estimate; and for unrelated budgets."""

_COUNTED: Final = {
    "replace": "",
    "add-remove": " (those whose budget is at least the lowest level)",
}

ASSUMED_OF_A_GAUSSIAN: Final = (
    "For privacy, nothing. For the error and the interval: the people are a sample, their values "
    "are independent draws from one Gaussian population, and budgets say nothing about values. "
    "This estimates the mean of that population."
)

_ALIKE: Final = (
    "Nearly all values seem to be the same, so the range is as narrow as possible: values that "
    "differ are clipped."
)

COUNTED: Final = (
    "For privacy and for the error, nothing. Everyone is counted whose budget is at least the "
    "lowest level."
)
"""The assumption of a count of people."""

COUNTED_ANSWERS: Final = (
    "For privacy and for the error, nothing. Everyone is counted who has a value and whose budget "
    "is at least the lowest level."
)
"""The assumption of a count of people who answered."""

COUNTED_SOME: Final = (
    "For privacy and for the error, nothing. People are counted whose budget is at least the "
    "lowest level."
)
"""The assumption of a count of people in a category, if participation is private."""

COUNTED_SHARE: Final = (
    "This estimates the number among exactly these people. Budgets may be related to who counts in "
    "any way."
)
"""The assumption of a count of people in a category, if participation is public."""

RANGE: Final = (
    "A budget below 2⁻⁶⁰ counts as 0, and a finite one above 2²⁰ (1,048,576) counts as 2²⁰: "
    "somebody has such a budget."
)
"""A note for releases with public budgets outside the public range of ε."""

HIGHEST: Final = (
    "Public records and budgets above 2²⁰ (1,048,576) share a level: both count as 2²⁰, no matter "
    "who has one."
)
"""A note for releases with a declared level at the upper end of the public range of ε. These
releases show it for all data, so it reveals nothing."""

ADDS_UP: Final = (
    "Spending adds up over releases about the same people: a ledger keeps everyone's account."
)
"""A note for releases that were not charged to a ledger."""

ADDS_UP_LOCALLY: Final = (
    "Spending adds up over all reports that a person sends: in the local model, everyone keeps "
    "their own account."
)
"""The same note in the local model, where only people themselves can track their spending."""

_GUESSED: Final = {
    "replace": "",
    "add-remove": " Who takes part is private, so the numbers of people are a guess.",
}

_GAUSSIAN_WANTED: Final = (
    "The plan is for the mean of a Gaussian population. The people are a sample of it, and budgets "
    "say nothing about values."
)

WILL_PROTECT: Final = {
    "replace": "Each person's value: whatever it is, no result will become more or less likely by "
    "more than a factor of e^(spent), which is 10 % at 0.1 and 2.7 times at 1, and nobody will "
    f"spend more than their own ε. {_PUBLIC_BUDGETS}",
    "add-remove": "Whether a person takes part at all, their value and their budget: with them or "
    "without them, no result will become more or less likely by more than a factor of e^(spent), "
    "which is 10 % at 0.1 and 2.7 times at 1, and nobody will spend more than their own ε.",
}
"""What a planned release will protect, by neighbouring relation."""

NEIGHBOURS: Final = {
    "replace": "One person's value changes. Budgets and the number of people are public.",
    "add-remove": "One person joins or leaves. Budgets and the number of people are private.",
}
"""How neighbouring data sets differ by one person."""


def drawn_together(means: int) -> str:
    """A note on means that were drawn together, to append to another sentence."""
    return (
        f" It is one of {means} means that were drawn together: people spent once, on all "
        f"{means} of them."
    )


def hidden(*, groups: bool, public: bool, answers: bool, where: bool) -> str:
    """A sentence on the protection of group membership, answers and `where`, to append to another.

    Args:
        groups: whether there are groups.
        public: whether group membership is public.
        answers: whether people who did not answer are excluded.
        where: whether the mean is the mean of a subset of the people.
    """
    if public:
        return " Who is in which group is treated as public."
    said = ["who is in which group"] if groups else []
    said += ["who answered"] if answers else []
    said += ["who is asked about"] if where else []
    told = " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)
    verb = "are" if len(said) > 1 else "is"
    return f" {told[0].upper()}{told[1:]} {verb} protected in the same way."


def assumed(
    truth: str,
    neighbours: str,
    assumption: Assumption,
    *,
    values: str = "values",
    differ: str = MEANS_DIFFER,
    found: bool = False,
    some: bool = False,
    weighed: bool = False,
) -> str:
    """Describe what the error of a release of the central model assumes.

    Args:
        truth: the estimated quantity, such as "the mean of".
        neighbours: the neighbouring relation: "replace" or "add-remove".
        assumption: the assumption about the data.
        values: the name of the values that budgets may be related to.
        differ: a clause on the quantity that differs by at most δ between budgets; {} stands for δ.
        found: whether values were clipped to an estimated range.
        some: whether people who did not answer are excluded.
        weighed: whether people have weights.
    """
    clipped_ = ", with each value clipped to the range that was found" if found else ""
    about = _WEIGHED_SAMPLE if weighed and assumption.sampled else _ABOUT[assumption.about]
    wanted = about.format(
        truth=truth,
        counted=_COUNTED[neighbours],
        clipped=clipped_ + (", that is, of those who answered" if some else ""),
    )
    said = _budgets_say(assumption.related, values, differ)
    return f"{wanted} {said}{_ANSWERING[assumption.related is not False] if some else ''}"


def assumed_of_some(
    neighbours: str, assumption: Assumption, whose: str, *, groups: bool, public: bool
) -> str:
    """Describe what the error of means by group, or of a subset of people, assumes.

    Args:
        neighbours: the neighbouring relation: "replace" or "add-remove".
        assumption: the assumption about the data.
        whose: the name of the estimated mean, such as "mean of those who answered".
        groups: whether there are groups.
        public: whether group membership is public.
    """
    wanted = _ABOUT[assumption.about].format(
        truth=f"the {whose} {'of' if groups and 'answered' not in whose else 'among'}",
        counted=_COUNTED[neighbours],
        clipped="",
    )
    if public:
        return f"{wanted} {_budgets_say(assumption.related)}"
    beside = "who is in which group" if groups else "who is among them"
    told = {
        True: f"Budgets may be related in any way to values and to {beside}.",
        False: f"People's budgets say nothing about their values or about {beside}.",
    }
    if isinstance(assumption.related, bool):
        return f"{wanted} {told[assumption.related]}"
    within = "Within one group" if groups else "Among them"
    return (
        f"{wanted} {within}, the means of people at different budgets differ by at most "
        f"{_percent(assumption.related)} of the range. Budgets may be related in any way to "
        f"{beside}."
    )


def guessed(spread: float) -> str:
    """A note on the guessed spread, to append to another sentence."""
    return (
        f" The cap was chosen for values with a standard deviation of about {_percent(spread)} of "
        "the range; no claim depends on that guess."
    )


def of_menu(menu: Mapping[Any, float], neighbours: str) -> str:
    """Return the sentence on the words that stand for budgets, and on other words.

    Args:
        menu: the budget of each word.
        neighbours: "replace", under which other words are refused; or "add-remove".
    """
    each = ", ".join(f"{word} for ε = {number(epsilon)}" for word, epsilon in menu.items())
    others = " Anyone whose word is missing or not on the menu is left out."
    return f"Budgets were chosen by words: {each}.{others if neighbours == 'add-remove' else ''}"


def _budgets_say(related: bool | float, values: str = "values", differ: str = MEANS_DIFFER) -> str:
    if related is True:
        return f"Budgets may be related to {values} in any way."
    if related is False:
        return f"People's budgets say nothing about their {values}."
    return f"{differ.format(_percent(related))}."


def _percent(part: float) -> str:
    return f"{100.0 * part:.3g} %"


def planned(neighbours: str, assumption: Assumption, *, found: bool = False) -> str:
    """Describe what a plan assumes.

    Args:
        neighbours: the neighbouring relation: "replace" or "add-remove".
        assumption: the assumption about the data.
        found: whether values will be clipped to an estimated range.
    """
    whose = {
        "people": "exactly these people",
        "population": "the population that people are drawn from",
    }
    clip = ", with each value clipped to the range that is found" if found else ""
    wanted = f"Estimates are about {whose[assumption.about]}{clip}."
    return f"{wanted} {_budgets_say(assumption.related)}{_GUESSED[neighbours]}"


def planned_gaussian(neighbours: str) -> str:
    """Describe what a plan for a Gaussian population assumes."""
    return f"{_GAUSSIAN_WANTED}{_GUESSED[neighbours]}"


def weighed(name: str | None, unit: float, most: float, assumption: Assumption) -> tuple[str, str]:
    """Sentences to append about weights: to what is protected, and to what is assumed.

    Args:
        name: the column of weights; None for an array.
        unit: the weight of one unit.
        most: the most that anyone with a finite budget spends.
        assumption: the assumption about the data.
    """
    whose = "Weights" if name is None else f'Weights ("{name}")'
    fine = math.frexp(unit)[0] == 0.5 and unit != 1.0
    rounded = f" Weights are rounded to multiples of {number(unit)}, and intervals allow for that."
    rounded = rounded if fine else ""
    claimed = "" if isinstance(assumption.related, bool) else _CLAIMED[assumption.about]
    claimed = _CLAIMED["unrelated"] if assumption.related is False else claimed
    return (
        f" {whose} are treated as public, like budgets. Spending is shown for someone of average "
        "weight: others spend in proportion to their weight, and nobody with a finite budget more "
        f"than ε = {number(most)}.",
        " All of this is about the people that the weights stand for: someone of weight w counts "
        f"as w people with the same data and the budget ε/w each.{claimed}{rounded}",
    )


def clipped(
    bounds: tuple[float, float],
    *,
    midpoint: bool,
    found: bool = False,
    alone: bool = False,
    alike: bool = False,
    second: tuple[float, float] | None = None,
) -> str:
    """Describe how values outside the bounds and, if they are accepted, missing values are treated.

    Args:
        bounds: the range of the values.
        midpoint: whether missing values count as the middle of the range.
        found: whether the bounds were estimated and not given; then few digits are shown.
        alone: whether each row counts separately; otherwise a missing row does not matter if the
            person has others.
        alike: whether nearly all values appeared equal when the bounds were estimated.
        second: the range of the second column, if there is one with another range.
    """
    told = number if found else _exactly
    lo, hi = bounds
    beside = "" if second is None else f" (second column: {told(second[0])} to {told(second[1])})"
    words = f"{OUTSIDE}{told(lo)} to {told(hi)}{beside} are clipped to the nearest bound"
    if midpoint:
        middle = told(lo / 2.0 + hi / 2.0)
        others = "" if alone else ", unless the person has others"
        beside = "" if second is None else f" (second column: {told(sum(second) / 2.0)})"
        words += f"; missing values count as {middle}{beside}, the middle{others}"
    if alike:
        return f"{words}. {_ALIKE}"
    return words + "."


def added_up(bounds: tuple[float, float], *, missing: bool) -> str:
    """Describe how values outside the bounds of a total and missing values are treated.

    Args:
        bounds: the range of one row, and of the sum of a person's rows.
        missing: whether missing values are accepted.
    """
    lo, hi = map(_exactly, bounds)
    words = f"Each row, and the sum of each person's rows, is clipped to {lo} to {hi}"
    return words + ("; missing values add 0." if missing else ".")


def _exactly(bound: float) -> str:
    """Format a given bound with all its digits."""
    few = number(bound)
    return few if float(few.replace(",", "")) == bound else f"{bound:,}".removesuffix(".0")


def uncounted(other: Any, neighbours: str) -> str:
    """Describe how missing and undeclared values are treated; "" if they are rejected.

    Args:
        other: the category for such values; None if there is none.
        neighbours: the neighbouring relation: "replace" or "add-remove".
    """
    if other is not None:
        return f"Missing and undeclared values count as {other!r}."
    if neighbours == "add-remove":
        return "Missing and undeclared values are in no category."
    return ""


_ANSWERING: Final = {
    True: " That is said about those who answered, and budgets may be related in any way to who "
    "they are.",
    False: " Budgets say nothing about who answered either.",
}

SHRUNK: Final = (
    " Means of groups are shrunk toward the mean of all groups: in small groups of real tables "
    "errors are mostly 1 to 7 times smaller, and at worst 3.6 times larger. Intervals and "
    "comparisons are not shrunk."
)
"""A note on shrinkage, to append to another sentence."""

_ONLY_SOME: Final = "Only rows that are asked about count."


def having(column: str, label: Any) -> str:
    """A clause with the label that rows must have, such as: where "answer" is 'yes'.

    Args:
        column: the name of the column of labels; "" for an array.
        label: the label; True for a Boolean column.
    """
    told = "true" if label is True else repr(label)
    return f'where "{column}" is {told}' if column else f"where {told} is given"


def counted_having(column: str, label: Any) -> str:
    """Describe a count of the people who have a label."""
    text = ', which text such as "yes" is not' if label is True else ""
    return (
        f"People count who have a row {having(column, label)}{text}. Missing values do not count."
    )


def left_out(*, answers: bool, groups: bool, where: str | None, label: Any = None) -> str:
    """Name the rows that a mean excludes, to append to another sentence; "" if there are none.

    Args:
        answers: whether missing values are excluded.
        groups: whether rows in no declared group are excluded.
        where: the column that selects rows, or "" for an array; None if all rows count.
        label: the label that the column must have; None if it must be true.
    """
    said = []
    if label is not None:
        said.append(f"Only rows {having(where or '', label)} count.")
    elif where is not None:
        said.append(f'Only rows where "{where}" is true count.' if where else _ONLY_SOME)
    if answers:
        said.append("Missing values are left out, and so is anyone who has no other value.")
    if groups:
        said.append(
            "So are rows in no declared group."
            if answers
            else "Rows in no declared group are left out."
        )
    return " ".join(["", *said])


def briefly(assumption: Assumption, cells: bool) -> str:
    """Describe an assumption in a few words.

    Args:
        assumption: the assumption about the data.
        cells: whether the estimated numbers are shares of people.
    """
    what = "shares" if cells else "means"
    related = assumption.related
    if related is True:
        said = "nothing, it holds for all data"
    elif related is False:
        said = "budgets are unrelated to values"
    else:
        whole = "all people" if cells else "the range"
        said = f"{what} at different budgets differ by at most {_percent(related)} of {whole}"
    if not assumption.sampled:
        return said
    sample = "these people are a random sample of the population"
    return sample if related is True else f"{sample}, and {said}"

"""What is protected and what is assumed, in words: every such sentence stands here, and only here.

protected(neighbours, range_is_known=…)                    what a release protects
assumed(statistic, neighbours, assume, mean=…)             what its error assumes
ASSUMED_OF_AN_UNKNOWN_RANGE                                the same where the range is found
PROTECTED_LOCALLY, ASSUMED_LOCALLY, honest_reports(…)      the local model
will_protect(neighbours), planned(neighbours, assume)      plans
neighbours_are(neighbours)                                 what counts as a change of one person
clipped(…), uncounted(…), shortened(…), tossed(…)          what values that do not fit count as
"""

from __future__ import annotations

from typing import Any, Final

from epsilons.report import number

_PUBLIC_BUDGETS: Final = (
    "Budgets and the number of people count as public here: nothing that a budget itself reveals "
    "is protected."
)

_PRIVATE_PEOPLE: Final = (
    "The number of people is private, and so are all budgets. Public are only the arguments of the "
    "call."
)

_PROTECTED: Final = {
    ("replace", True): (
        "Each person's value: whatever it is, no result becomes more or less likely by more than a "
        "factor e^(spent), which is 10 % at 0.1 and 2.7 times at 1, and nobody's spent is above "
        f"their own ε. {_PUBLIC_BUDGETS}"
    ),
    ("replace", False): (
        "Each person's value: whatever it is, and however far from all others, no result becomes "
        "more or less likely by more than a factor e^(spent), and nobody's spent is above their "
        f"own ε. Finding the range is part of that. {_PUBLIC_BUDGETS}"
    ),
    ("add-remove", True): (
        "Whether a person took part at all, their value and their budget: with them or without "
        "them, no result becomes more or less likely by more than a factor e^(spends), which is "
        "10 % at 0.1 and 2.7 times at 1, and nobody spends more than their own ε. "
        f"{_PRIVATE_PEOPLE}"
    ),
    ("add-remove", False): (
        "Whether a person took part at all, their value and their budget: with them or without "
        "them, no result becomes more or less likely by more than a factor e^(spends), and nobody "
        f"spends more than their own ε. Finding the range is part of that. {_PRIVATE_PEOPLE}"
    ),
}

_TRUTH: Final = {
    "iid": (
        "The people are a sample, independent draws from one population, and budgets say nothing "
        "of values. The truth of that population is estimated."
    ),
    "shuffled": (
        "The truth of these very people is estimated, and who chose which budget says nothing of "
        "their values."
    ),
    "correlated": (
        "The truth of these very people, those whose budget is not below the lowest level, is "
        "estimated. Budgets may say anything about values."
    ),
}

_ASSUMED: Final = {
    ("mean", "replace"): {
        "iid": (
            "The people are a sample, their values independent draws from one population, and "
            "budgets say nothing of values. The {mean} of that population is estimated."
        ),
        "shuffled": (
            "The {mean} of these very people is estimated, and who chose which budget says nothing "
            "of their values."
        ),
        "correlated": (
            "The {mean} of these very people is estimated. Budgets may say anything about values."
        ),
    },
    ("frequencies", "replace"): {
        "iid": (
            "The people are a sample, independent draws from one population, and budgets say "
            "nothing of categories. The shares in that population are estimated."
        ),
        "shuffled": (
            "The shares among these very people are estimated, and who chose which budget says "
            "nothing of their category."
        ),
        "correlated": (
            "The shares among these very people are estimated. Budgets may say anything about "
            "categories."
        ),
    },
    ("mean", "add-remove"): _TRUTH,
    ("frequencies", "add-remove"): _TRUTH,
}

ASSUMED_OF_AN_UNKNOWN_RANGE: Final = (
    "For privacy, nothing. For the error and the interval: the people are a sample, their values "
    "independent draws from one Gaussian population, and budgets say nothing of values. The mean "
    "of that population is estimated."
)

PROTECTED_LOCALLY: Final = (
    "Each person's value, before it leaves them: whatever their value is, the probability of what "
    "they send changes by at most a factor e^ε, with their own ε. Nobody has to be trusted. "
    "Budgets are public, and so is that a person took part."
)

_LOCAL_SAMPLE: Final = (
    "The people are a sample, independent draws from one population, and budgets say nothing of"
)

ASSUMED_LOCALLY: Final = {
    "mean": f"{_LOCAL_SAMPLE} values. The mean in that population is estimated.",
    "share": f"{_LOCAL_SAMPLE} values. The share of yes in that population is estimated.",
    "mean vector": f"{_LOCAL_SAMPLE} values. The mean vector of that population is estimated.",
    "frequencies": f"{_LOCAL_SAMPLE} categories. The shares in that population are estimated.",
}
"""What the error assumes in the local model, by the statistic; `honest_reports` goes on from it."""

_PLANNED: Final = {
    "iid": "The people are a sample; the truth of their population is wanted.",
    "shuffled": "The truth of these very people is wanted; budgets say nothing of values.",
    "correlated": "The truth of these very people is wanted; budgets may say anything.",
}

_GUESSED: Final = {
    "replace": "",
    "add-remove": " Who is there is private: the numbers of people are a guess.",
}

_WILL_PROTECT: Final = {
    "replace": "Each person's value: whatever it is, no result will become more or less likely by "
    "more than a factor e^(spent), which is 10 % at 0.1 and 2.7 times at 1, and nobody will spend "
    f"more than their own ε. {_PUBLIC_BUDGETS}",
    "add-remove": "Whether a person takes part at all, their value and their budget: with them or "
    "without them, no result will become more or less likely by more than a factor e^(spent), "
    "which is 10 % at 0.1 and 2.7 times at 1, and nobody will spend more than their own ε.",
}

_NEIGHBOURS: Final = {
    "replace": "Another value for one person; budgets and the number of people are public.",
    "add-remove": "One person more or less; budgets and the number of people are private.",
}


def protected(neighbours: str, *, range_is_known: bool = True) -> str:
    """What a release of the central model protects.

    Args:
        neighbours: what counts as a change of one person.
        range_is_known: whether the range of the values was given, or had to be found.
    """
    return _PROTECTED[neighbours, range_is_known]


def assumed(statistic: str, neighbours: str, assume: str, mean: str = "mean") -> str:
    """What the error of a release of the central model assumes, on a known range.

    Args:
        statistic: "mean" or "frequencies".
        neighbours: what counts as a change of one person.
        assume: what is assumed, in a word.
        mean: which mean it is.
    """
    return _ASSUMED[statistic, neighbours][assume].format(mean=mean)


def honest_reports(lies: int, moved: str | None, *, menu: bool) -> str:
    """What is assumed of those who report, with what it costs if it is not so.

    Args:
        lies: so many reports may be dishonest.
        moved: how far they can have moved the estimate, in words; None for anywhere.
        menu: whether a menu of budgets was declared.

    Returns:
        Words that go on from others.
    """
    what = f"{lies:,} of these reports were" if lies > 1 else "one of these reports was"
    where = "anywhere" if moved is None else f"by up to {moved}"
    more = "" if menu else " No menu of budgets (levels=) was declared."
    return f" Reports are honest: if {what} not, that can have moved the estimate {where}.{more}"


def will_protect(neighbours: str) -> str:
    """What a release that is planned will protect."""
    return _WILL_PROTECT[neighbours]


def planned(neighbours: str, assume: str) -> str:
    """What a plan assumes."""
    return _PLANNED[assume] + _GUESSED[neighbours]


def neighbours_are(neighbours: str) -> str:
    """What counts as a change of one person."""
    return _NEIGHBOURS[neighbours]


def clipped(
    bounds: tuple[float, float],
    *,
    midpoint: bool,
    averaged: tuple[float, float] | None = None,
    found: bool = False,
    alone: bool = False,
) -> str:
    """What values outside of the bounds count as and, if any are accepted, missing values.

    Args:
        bounds: of the values.
        midpoint: whether missing values are accepted.
        averaged: the range of what is averaged, if that is something else of the values.
        found: whether the bounds were found, and not given: then a few digits of them do.
        alone: whether a person has one value.
    """
    told = number if found else _exactly
    lo, hi = bounds
    words = f"Values outside {told(lo)} to {told(hi)} count as the nearest bound"
    if midpoint:
        lo, hi = averaged or bounds
        middle = told(lo / 2.0 + hi / 2.0)
        others = "" if alone else ", unless the person has others"
        words += f"; missing values count as {middle}, the middle{others}"
    return words + "."


def _exactly(bound: float) -> str:
    """A bound that was given, to its last digit."""
    few = number(bound)
    return few if float(few.replace(",", "")) == bound else f"{bound:,}".removesuffix(".0")


def uncounted(other: Any, neighbours: str) -> str:
    """What values in no declared category count as; nothing is said if they are refused.

    Args:
        other: the category that catches them; None if there is none.
        neighbours: what counts as a change of one person.
    """
    if other is not None:
        return f"Missing and undeclared values count as {other!r}."
    if neighbours == "add-remove":
        return "Missing and undeclared values are in no category."
    return ""


def shortened(ball: float, *, midpoint: bool) -> str:
    """What becomes of vectors that are too long and, if any are accepted, of missing ones.

    Args:
        ball: how long vectors can be.
        midpoint: whether missing vectors are accepted.
    """
    more = "; missing vectors count as zero" if midpoint else ""
    return f"Vectors longer than {number(ball)} are shortened to that length{more}."


def tossed(*, midpoint: bool) -> str:
    """What a missing yes or no counts as; nothing is said if it is refused."""
    return "A missing answer counts as the toss of a fair coin." if midpoint else ""

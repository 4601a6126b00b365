"""Sentences that every form of a report shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from epsilons import made
from epsilons.report.data import ReleaseData
from epsilons.report.numbers import aligned, number, percent
from epsilons.report.parts import legible

_NAME = 60
"""Characters of the name of a column that are shown."""

_WEAK = 20.0
"""Beyond this a result may become 485 million times as likely for one person."""

NOTHING = "The interval covers everything possible: with these budgets, the result says nothing."


def seeded(data: ReleaseData) -> list[str]:
    """A word of warning, if a release was drawn from a seed."""
    return [] if data["private"] else ["NOT PRIVATE: drawn from a seed, for simulation only."]


def seeded_title(data: ReleaseData) -> str:
    """The same, to stand before the title of a plot."""
    return "" if data["private"] else "NOT PRIVATE (seeded): "


def people_words(data: ReleaseData) -> str:
    """How many people there are, if that may be said."""
    if data["n"] is None:
        return "An undisclosed number of people"
    if data["n_is_noisy"]:
        return f"About {data['n']:,.0f} people (a noisy count)"
    return f"{data['n']:,} people"


def with_unit(data: ReleaseData, words: str) -> str:
    """Numbers of the data, in words, with their unit once behind them, if it was said."""
    return words if data["unit"] is None else f"{words} {data['unit']}"


def unit_words(data: ReleaseData) -> str:
    """The unit in brackets, to stand behind the name of an axis or a column, if it was said."""
    return "" if data["unit"] is None else f" ({data['unit']})"


def plot_title(data: ReleaseData, words: str) -> str | list[str]:
    """The title of a plot: what was measured in a line of its own, if it was said."""
    lines = [*([] if data["title"] is None else [data["title"]]), words]
    lines[0] = seeded_title(data) + lines[0]
    return lines if len(lines) > 1 else lines[0]


def made_words(data: ReleaseData) -> str:
    """The day of a release, the version that made it, and the column; "" if they are not known."""
    if not data["date"]:
        return ""
    words = f"Released {data['date']} (UTC) with epsilons {data['version']}"
    if data["name"] is not None:
        words += f', from the column "{_short(data["name"])}"'
    if "ledger" in data:
        words += f', charged to a ledger as "{_short(data["ledger"]["name"])}"'
        if "drawn" in data["ledger"]:
            words += (
                f". Drawn at {data['ledger']['drawn']} from the data that were given then: this "
                "name has this answer, whichever data are given with it later"
            )
    return f"{words}."


def byline(data: ReleaseData) -> str:
    """The column, its unit, the day and the version, in a line; "" if none of it is known."""
    said = [] if data["name"] is None else [f"column {_short(data['name'])}"]
    said += [] if data["unit"] is None else [f"in {data['unit']}"]
    said += [published_words(data)] if data["date"] else []
    words = " · ".join(said)
    return words[:1].upper() + words[1:]


def published_words(data: ReleaseData) -> str:
    """The day and the version of a release, to go on in a line."""
    return f"published {data['date']} (UTC) with epsilons {data['version']}"


def written_words(what: str) -> str:
    """What a page is that holds no release, and the day and the version that wrote it."""
    return f"{what} · written {made.today()} (UTC) with epsilons {made.VERSION}"


FORECAST = "A forecast from budgets alone: no data was read"


def _short(name: str) -> str:
    """A name in a line, cut if it is long."""
    plain = legible(name)
    return plain if len(plain) <= _NAME else plain[: _NAME - 1] + "…"


def risk_words(data: ReleaseData, told: Callable[[float], str]) -> str:
    """The risk of a release, and what it is.

    Args:
        data: of the release.
        told: words for an error.
    """
    kind, numbers = data["risk_kind"], data["risk_of"]
    if data["loss"] == "mse":
        one = "group" if "groups" in data else "category"
        of = f"root mean square of a {one}" if numbers > 1 else "root mean square"
        return f"Typical error ({of}) {told(math.sqrt(data['risk'] / numbers))}, {kind}"
    if data["loss"] == "largest":
        words = "Typical error of the worst category (root mean square)"
        return f"{words} {told(math.sqrt(data['risk']))}, {kind}"
    return (
        f"Error not exceeded with probability {percent(data['confidence'])}: "
        f"{told(data['risk'])}, {kind}"
    )


def compared(
    what: str,
    names: tuple[str, str],
    numbers: tuple[float, float, float, float],
    unit: str | None,
    *,
    nothing: bool,
) -> str:
    """Two groups beside each other, in a line, and another if that tells nothing.

    Args:
        what: "difference" or "ratio".
        names: of the groups.
        numbers: the value, the ends of its interval, and the confidence of that.
        unit: of the values; None if nobody said, or if there is none.
        nothing: whether the interval is all that there could be.
    """
    confidence = numbers[3]
    between, shown, low, high = compared_cells(what, names, numbers[:3])
    shown = shown if unit is None else f"{shown} {unit}"
    line = (
        f"{what.capitalize()}, {between}: {shown}   "
        f"({percent(confidence)} interval {low} to {high})"
    )
    return f"{line}\n{NOTHING}" if nothing else line


def compared_cells(
    what: str, names: tuple[str, str], numbers: tuple[float, float, float]
) -> tuple[str, str, str, str]:
    """Two groups compared, as cells of a table: what is compared, the value, its interval.

    Args:
        what: "difference" or "ratio".
        names: of the groups.
        numbers: the value and the ends of its interval.
    """
    value, low, high = numbers
    wide = high - low
    shown = aligned(value, wide) if math.isfinite(value) else number(value)
    if not any(each in shown for each in "123456789∞n"):
        shown = shown.removeprefix("-")  # of what is rounded to 0 the sign says nothing
    sign = "minus" if what == "difference" else "over"
    return f"{names[0]} {sign} {names[1]}", shown, aligned(low, wide), aligned(high, wide)


def weak_budgets(levels: Iterable[float]) -> list[str]:
    """A warning, if a budget is so large that it protects next to nothing; ∞ is meant to.

    Args:
        levels: budgets that are public.

    Returns:
        One sentence or two, or nothing.
    """
    largest = max((level for level in levels if math.isfinite(level)), default=0.0)
    if largest <= _WEAK:
        return []
    return [
        f"ε above {_WEAK:g} protects almost nothing, and budgets here go up to "
        f"{number(largest)}. An ε is a number such as 0.1 or 1, not a percentage; inf means that "
        "a record is public."
    ]


def held_back(claims: Iterable[str]) -> list[str]:
    """A warning, if earlier claims on a ledger were open and held back what they may ask.

    Args:
        claims: in words; they are public.
    """
    named = ", ".join(map(_short, claims))
    if not named:
        return []
    return [
        f"Claims that were opened earlier and not yet drawn held back what they may ask of "
        f"everyone: {named}. So people offered less to this release, or took no part in it."
    ]


def few_at_each(related: bool | float, people: Iterable[int | None]) -> list[str]:
    """A warning, if means of people at different budgets must differ by more than is assumed.

    The mean of m values of a unit range has a standard deviation of up to ½/√m by chance alone,
    which is more than δ/2 for fewer than 1/δ² people.

    Args:
        related: what is assumed of budgets and values.
        people: how many people have each budget; None where that is private.

    Returns:
        One sentence, or nothing.
    """
    if isinstance(related, bool):
        return []
    counts = [count for count in people if count is not None]
    few = math.ceil(related**-2)
    lonely = sum(count for count in counts if count < few)
    if 2 * lonely <= sum(counts):
        return []
    return [
        f"related={number(related)} is about the mean of the people at each budget, but "
        f"{lonely:,} of {sum(counts):,} people have a budget that fewer than {few:,} share. Such "
        "means differ by more than that by chance alone."
    ]

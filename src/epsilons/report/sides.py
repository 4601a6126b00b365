"""Side by side: what is known if budgets go with values in any way, a little, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from epsilons.report.data import ReleaseData, SideRow
from epsilons.report.numbers import aligned, budget, percent
from epsilons.report.plan_data import OutcomeRow, PlanData

__all__ = [
    "bought",
    "narrower",
    "outcome_words",
    "outcomes_table",
    "related_words",
    "sides_table",
    "would_help",
]

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]

_FIRST = "if budgets go with values"
_CAPS = ("best cap", "typical error with it")

_SHARES = ("frequencies", "quantile")
"""Statistics that are about shares of people, and not about means."""
_CLEARLY = 0.8

_STAR = "The row with * is what was assumed."
_BOUGHT = (
    " The best cap is the most that anyone would have spent if that row had been assumed from the "
    "start."
)


_CHANCE = (
    ' "Not at all" still allows for differences by chance, so it can be worse than a row that sets '
    "a limit."
)
_OTHER_CAP = " The best cap is for the {best}: the {other} may be smaller in a row above."
_BOUNDS = " These are proven bounds, and not equally close in every row."

_VISIBLY = 1.005
"""Errors with a larger ratio are printed as different numbers, and one asks why."""


def related_words(related: bool | float, *, cells: bool = False) -> str:
    """How budgets go with values, in a few words; of cells a share of people stands for a mean."""
    if related is True:
        return "in any way"
    whole = "all people" if cells else "the range"
    return "not at all" if related is False else f"by at most {100.0 * related:.3g} % of {whole}"


def sides_table(data: ReleaseData, told: Callable[[float], str]) -> Table | None:
    """The heads and the rows of what a release says with each answer; None if there is but one.

    Args:
        data: of the release.
        told: words for an error.
    """
    sides = data["sides"]
    if len(sides) < 2:
        return None
    confidence = percent(data["confidence"])
    one = sides[0]["low"] is not None
    known_as = f"{confidence} interval" if one else f"error at {confidence}"
    if "groups" in data:
        known_as = f"half of a {confidence} interval, median over groups"
    heads: tuple[str, ...] = (_FIRST, known_as)
    capped = _capped(sides)
    rows: list[tuple[str, ...]] = []
    for side in sides:
        known = _interval(side) or told(side["error"])
        name = _name(side, data["related"], cells=data["statistic"] in _SHARES)
        row: tuple[str, ...] = (name, known)
        if capped:
            row = (*row, budget(side["cap"] or 0.0), told(side["typical"] or 0.0))
        rows.append(row)
    return (*heads, *_CAPS) if capped else heads, rows


def narrower(data: ReleaseData) -> list[str]:
    """Answers with which an interval would be clearly narrower, if they are true, in words."""
    own = [side["error"] for side in data["sides"] if side["related"] == data["related"]]
    return [
        f"related={side['related']}, if budgets go with values {related_words(side['related'])}"
        for side in data["sides"]
        if own and side["error"] < _CLEARLY * own[0]
    ]


def would_help(ways: Sequence[str]) -> str:
    """What would make an interval narrower that tells nothing, in a sentence."""
    return f"What would help: {'; '.join(ways)}."


def bought(data: ReleaseData) -> str:
    """What the rows of `sides_table` mean, and why a lower one may be worse."""
    sides = data["sides"]
    columns = [[_width(side) for side in sides]]
    words = _STAR
    if _capped(sides):
        words += _BOUGHT
        columns.append([side["typical"] or 0.0 for side in sides])
    return words + _why([side["related"] for side in sides], columns, _BOUNDS)


def outcome_words(data: PlanData) -> str:
    """Why a lower row of `outcomes_table` is worse than one above it, if one is; or ""."""
    sides = data["sides"]
    errors = ["typical error", f"error at {percent(data['confidence'])}"]
    best, other = errors[::-1] if data["loss"] == "pac" else errors
    columns = [[side["rmse"] for side in sides], [side["pac"] for side in sides]]
    why = _OTHER_CAP.format(best=best, other=other)
    return _why([side["related"] for side in sides], columns, why).strip()


def _why(
    answers: Sequence[bool | float], columns: Sequence[Sequence[float]], otherwise: str
) -> str:
    """Why some row is visibly worse than one above it, which assumes less; "" if none is.

    Args:
        answers: of the rows; they assume more and more.
        columns: the errors that are shown.
        otherwise: what is said where it is not for chance.
    """
    worse = {
        (answers[above], answers[below])
        for errors in columns
        for below in range(len(errors))
        for above in range(below)
        if errors[below] > _VISIBLY * errors[above]
    }
    chance = any(below is False and above is not True for above, below in worse)
    others = any(below is not False or above is True for above, below in worse)
    return (_CHANCE if chance else "") + (otherwise if others else "")


def _width(side: SideRow) -> float:
    """How much is left open: the width of an interval, or an error."""
    low, high = side["low"], side["high"]
    return side["error"] if low is None or high is None else high - low


def _capped(sides: Sequence[SideRow]) -> bool:
    """Whether it is known what each answer would have bought."""
    return all(side["cap"] is not None for side in sides)


def outcomes_table(data: PlanData, told: Callable[[float], str]) -> Table:
    """The heads and the rows of what is best with each answer."""
    heads = (_FIRST, "typical error", f"error at {percent(data['confidence'])}", "gain", "best cap")
    rows: list[tuple[str, ...]] = [
        (
            _name(side, data["related"], cells=data["cells"] > 0),
            told(side["rmse"]),
            told(side["pac"]),
            f"{side['gain']:,.3g} ×",
            budget(side["cap"]),
        )
        for side in data["sides"]
    ]
    return heads, rows


def _name(side: SideRow | OutcomeRow, assumed: bool | float, *, cells: bool) -> str:
    mark = " *" if side["related"] == assumed else ""
    return related_words(side["related"], cells=cells) + mark


def _interval(side: SideRow) -> str:
    low, high = side["low"], side["high"]
    if low is None or high is None:
        return ""
    wide = high - low
    return f"{aligned(low, wide)} to {aligned(high, wide)}"

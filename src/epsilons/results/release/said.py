"""The report sheet of a release: parts that all releases have, and helpers for estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from epsilons import words
from epsilons.budgets.allocation import NARROWEST
from epsilons.loading import later
from epsilons.results.release.derived import Side
from epsilons.results.release.spending import weights_of
from epsilons.results.release.verdict import (
    Help,
    ReleaseVerdict,
    gain_of,
    gain_words,
    help_words,
    helps_most,
    in_points,
    more_people,
    other_assumptions,
    precision_words,
    to_two_digits,
)
from epsilons.results.report.numbers import aligned, budget, number, percent
from epsilons.results.report.phrases import (
    COVERS_ALL,
    SIDES,
    related_words as how,
    short,
    side_name,
    why_worse,
)
from epsilons.results.report.sheet import (
    Fact,
    Facts,
    Figure,
    Interval,
    Note,
    Part,
    Ranges,
    Row,
    Sheet,
    SheetTable,
    SpendingTable,
)

if TYPE_CHECKING:
    from epsilons.results.release import statement
    from epsilons.results.release.release import Release
    from epsilons.results.release.spending import Spending, Spent
else:
    statement = later("epsilons.results.release.statement")

__all__ = [
    "DASH",
    "NOTHING",
    "Own",
    "adds_up",
    "cautions",
    "cells_of",
    "drawn",
    "in_a_ledger",
    "made_words",
    "narrower",
    "new_warnings",
    "offered_nothing",
    "once",
    "one_number",
    "people_fact",
    "people_words",
    "published_words",
    "risk_words",
    "shared_lines",
    "sheet_of",
    "spending_part",
    "told_in_units",
    "unit_words",
    "values_fact",
    "verdict_of",
    "with_unit",
    "would_help",
]

Told = Callable[[float], str]

ADD_UP: Final = "Spending adds up over releases."
"""A warning for anyone who is about to ask again. It also applies if a ledger is used."""

DASH: Final = "–"
"""The sign that is shown instead of an uninformative number."""

NOTHING: Final = (
    "The interval covers everything possible: with these budgets, the result says nothing."
)

_CLEARLY: Final = 0.8
"""An assumption is mentioned if the error under it is below this fraction of the current error."""

_WHOLE: Final = 1e4
"""Sums of weights of at least this size are shown without decimals."""

_STAR: Final = "The row with * is what was assumed."
_BOUGHT: Final = (
    " The best cap is the most that anyone would have spent if that row had been assumed from the "
    "start."
)
_BOUNDS: Final = " These are proven bounds, and not equally close in every row."


@dataclass(frozen=True)
class Own:
    """The parts of a sheet that depend on the kind of estimate.

    Attributes:
        name: a short description of the result.
        told: a function that formats an error.
        first: the blocks with the results, at the start of the sheet.
        headline: the published number as text; "" if there are several.
        claim: a sentence with the interval; "" if there are several numbers.
        people: facts about the people and the values.
        more: further results.
        errors: facts about the errors; if empty, the sheet states the risk of the release.
        nothing: sentences for an uninformative result, with advice.
        figures: the figures.
    """

    name: str
    told: Told
    first: Sequence[Sequence[Part]] = ((),)
    headline: str = ""
    claim: str = ""
    people: Sequence[Fact] = ()
    more: Sequence[Fact] = ()
    errors: Sequence[Fact] = ()
    nothing: Sequence[str] = ()
    figures: Sequence[Part] = ()


def sheet_of(release: Release, own: Own) -> Sheet:
    """Build the sheet of a release from `own` and from the parts that all releases have."""
    method = Fact("", release.method, f"method {release.method}")
    errors = own.errors or [Fact("Error", risk_words(release, own.told))]
    people = [Facts("people", (*own.people, method), joined=True)] if own.people else []
    facts: tuple[Part, ...] = (
        *people,
        *([Facts("note", tuple(own.more))] if own.more else []),
        *(Note("note", each, set_in=True) for each in (release.treats, release.menu) if each),
        Facts("error", tuple(errors)),
        *(Note("help", each, set_in=True) for each in own.nothing),
        *own.figures,
    )
    return Sheet(
        name=own.name,
        title=release.title,
        headline=own.headline,
        claim=own.claim,
        byline=_byline(release),
        picture=f"{own.name}, {people_words(release)}" if own.people else own.name,
        simulated=not release.private,
        blocks=(
            (*own.first[0], *(Note("verdict", each) for each in release.verdict.words)),
            *map(tuple, own.first[1:]),
            facts,
            *_ending(release, own.told),
        ),
        summary=tuple(_summary(release, own)),
    )


def _summary(release: Release, own: Own) -> Iterator[str]:
    """Yield the lines of the summary: people, assumption and spending."""
    people = own.people[0].said or own.people[0].words if own.people else people_words(release)
    yield f"{people}{_unit_of_privacy(release)}."
    yield _assumed_line(release)
    if release.treats:
        yield release.treats.partition(". ")[0].removesuffix(".") + "."
    yield _spent_line(release.spent)


def shared_lines(releases: Sequence[Release], spent: Spending) -> Iterator[str]:
    """The summary of several releases about the same people: people, assumptions and spending.

    Args:
        releases: the releases, in order.
        spent: the spending on all releases together.
    """
    yield f"{people_words(releases[0])}{_unit_of_privacy(releases[0])}."
    yield from dict.fromkeys(map(_assumed_line, releases))
    if any(release.treats.startswith(words.OUTSIDE) for release in releases):
        yield "Values outside their bounds are clipped to the nearest bound."
    yield _spent_line(spent)


def _assumed_line(release: Release) -> str:
    """A line that states the assumption, and under add/remove who is left out."""
    said = words.briefly(release.assumption, release.estimate.of_shares)
    if release.neighbours == "add-remove":
        said += f"; people with ε below {budget(float(min(release.mechanism.levels)))} are left out"
    return f"Assumed: {said}."


def _unit_of_privacy(release: Release) -> str:
    """A clause that names the unit of privacy, a row or a person; "" if it is not recorded."""
    if not release.person:
        return ""
    if release.person == "row":
        return "; each row counted as one person"
    return f'; one person is all rows with the same "{short(release.person)}"'


def _spent_line(spending: Spending) -> str:
    """A line on how much people spent and kept."""
    rows = [row for row in spending if row.epsilon > 0.0]
    if not rows:
        return "Spent: nothing."
    parts = (_spent_by(rows, spending), offered_nothing(spending), ADD_UP)
    return " ".join(filter(None, parts))


def offered_nothing(spending: Spending) -> str:
    """A sentence on people whose budget is 0, or is used up in a ledger; "" if there are none."""
    people = sum(row.people or 0 for row in spending if row.epsilon == 0.0)
    if not people:
        return ""
    who = "One person" if people == 1 else f"{people:,} people"
    return f"{who} offered nothing, and spent nothing."


def _spent_by(rows: Sequence[Spent], spending: Spending) -> str:
    """A sentence on how much people with a budget above 0 spent and kept."""
    spent = [row.spent for row in rows]
    kept = [row.kept for row in rows if math.isfinite(row.kept)]
    ends = budget(min(spent)), budget(max(spent))
    said = f"Spent: ε {ends[0]}" + (f" to {ends[1]}" if ends[0] != ends[1] else "")
    if spending.EACH:
        own = [f", and at most {budget(max(spending.amounts))} each"] if spending.amounts else []
        return f"{said}{spending.EACH}{''.join(own)}."
    said += " each"
    most = max(kept, default=0.0)
    if most <= 0.0:
        return f"{said}; nobody keeps any."
    return f"{said}; kept: up to {number(most)}."


def cautions(release: Release) -> Iterator[str]:
    """Warnings about intervals that cover everything, values at a bound, and small gains."""
    rows, (lo, hi) = release.rows, release.estimate.limits
    several = len(rows) > 1
    empty = [row for row in rows if row.low <= lo and row.high >= hi]
    if empty:
        of = f" of {len(empty):,} of {len(rows):,} {release.estimate.each[1]}" if several else ""
        yield f"The interval{of} {COVERS_ALL}."
    ends = [row for row in rows if row.informative and row.value in (lo, hi) and lo < hi]
    if ends and not release.estimate.in_percent and math.isfinite(hi):
        what = f"{len(ends):,} estimates are" if len(ends) > 1 else "The estimate is"
        yield f"{what} at an end of the bounds: noise, or clipped values, may have pushed it there."
    gain = release.verdict.gain
    if gain is not None and gain.is_small:
        yield gain_words(gain, release.method)


def new_warnings(release: Release) -> Iterator[str]:
    """The warnings that the verdict does not already contain."""
    return (each for each in release.warnings if each not in release.verdict.words)


def verdict_of(release: Release) -> ReleaseVerdict:
    """Return the verdict: precision, gain from personal budgets, and advice.

    It is computed from published numbers and public facts.
    """
    estimate, assumption, level = release.estimate, release.assumption, release.confidence
    each = tuple(estimate.precisions(assumption, level))
    told = in_points if estimate.in_percent else to_two_digits(release.unit)
    either = any(row.low < 0.0 < row.high for row in release.rows)
    said = [precision_words(each, told, estimate.each, estimate.whole, either_sign=either)]
    stake = release.stake
    gain = None
    if stake is not None:
        gain = gain_of(*stake)
        strictest = min(row.epsilon for row in release.spent if row.epsilon > 0.0)
        gain = None if gain is None else gain._replace(strictest=strictest)
        said += [gain_words(gain, release.method)] if gain is not None else []
    helps: tuple[Help, ...] = ()
    if any(one.worth != "precise" for one in each):
        errors = [(side.related, side.error) for side in release.sides]
        cells = release.estimate.of_shares
        found = list(other_assumptions(errors, release.related, cells=cells))
        if stake is not None:
            found += more_people(*stake[:3], adds=estimate.adds)
        helps = helps_most(found)
        if not helps and any(one.worth == "useless" for one in each):
            helps = (Help(None, estimate.remedy),)
        said += [help_words(helps[0])] if helps else []
    return ReleaseVerdict(each, gain, helps, tuple(said))


def one_number(
    row: Row, bounds: tuple[float, float], title: str, shown: tuple[str, str, str], what: str
) -> list[Figure]:
    """A figure of one number with its interval; no figure if the interval is infinite.

    Args:
        row: the number with its interval.
        bounds: the possible range of the number.
        title: the title of the axis.
        shown: the value and both ends of the interval, as text.
        what: a noun for the number.
    """
    if math.isinf(row.high - row.low):
        return []
    value, low, high = shown
    label = f"The {what} {value}, with its interval from {low} to {high}"
    caption = f"The dot shows the published {what}, the line its interval."
    if not row.informative:
        caption = "The line shows the interval. There is no dot, because almost any value fits."
    return [Figure(Interval(row, bounds, title, shown), label, caption, lead=True)]


def cells_of(
    rows: Sequence[Row],
    told: Callable[[float, float], str] = aligned,
    wide: float | None = None,
) -> list[tuple[str, ...]]:
    """The cells of a table: for each number its name, its value, and the ends of its interval.

    Args:
        rows: the numbers with their intervals.
        told: a function that formats a number, with as many digits as the width of an interval
            justifies.
        wide: the width to pass to `told`; by default the width of the widest interval.
    """
    wide = max(row.high - row.low for row in rows) if wide is None else wide
    return [
        (
            row.name,
            told(row.value, wide) if row.informative else DASH,
            *(told(each, wide) for each in (row.low, row.high)),
        )
        for row in rows
    ]


def drawn(table: SheetTable, drawing: Ranges, what: str) -> Figure:
    """A figure of the numbers in a table.

    Args:
        table: the table; its names and numbers are used for the description of the figure.
        drawing: the drawing.
        what: a noun for the numbers.
    """
    label = "; ".join(f"{row[0]} {row[1]}" for row in table.rows[:12])
    marks = "Bars" if drawing.bars else "Dots"
    caption = f"{marks} show the published {what}, lines their separate intervals."
    return Figure(drawing, f"{what.capitalize()} with intervals: {label}", caption, lead=True)


def _ending(release: Release, told: Told) -> Iterator[tuple[Part, ...]]:
    """Yield the last blocks: spending, protection, assumptions, alternatives, and the date."""
    yield (spending_part(release.spent, offered=release.ledger is not None),)
    said: list[Part] = [
        *(Note("warning", each) for each in new_warnings(release)),
        Note("protected", release.protects),
        Note("assumed", release.assumes),
    ]
    sides = _sides(release, told)
    if sides:
        yield tuple(said)
        said = sides
    made = made_words(release)
    yield (
        *said,
        Facts("made", tuple(_made(release)), depth="whole"),
        *adds_up([release]),
        *([Note("made", made, depth="brief")] if made else []),
        *statement.notes([release], release.spent),
    )


def spending_part(spent: Spending, *, offered: bool) -> SpendingTable:
    """The table of what people spent.

    Args:
        spent: the spending.
        offered: whether the budgets are parts that a ledger offers.
    """
    return SpendingTable(spent, offered, of_weights=bool(spent.EACH))


def adds_up(releases: Iterable[Release]) -> list[Note]:
    """Notes that spending adds up over releases; empty if all were charged to a ledger."""
    said = dict.fromkeys(each.spent.ADDS_UP for each in releases if each.ledger is None)
    return [Note("note", each, section="How it was made") for each in said]


def once(sentences: Iterable[str]) -> list[str]:
    """The sentences of several releases, without repetitions."""
    found = [*filter(None, dict.fromkeys(sentences))]
    # If one sentence begins with another, the rest of it is about a single release. Drop the longer
    # sentence.
    return [
        each for each in found if not any(each != one and each.startswith(one) for one in found)
    ]


def told_in_units(release: Release) -> Told:
    """A function that formats an error with the unit of the data."""
    return lambda error: with_unit(release, number(error))


def with_unit(release: Release, said: str) -> str:
    """Text followed by the unit of the data, if one was given."""
    return said if release.unit is None else f"{said} {release.unit}"


def unit_words(release: Release) -> str:
    """The unit in parentheses, to follow the name of an axis or a column; "" without a unit."""
    return "" if release.unit is None else f" ({release.unit})"


def people_words(release: Release) -> str:
    """The number of people in words: exact, noisy or undisclosed."""
    if release.n is None:
        return "An undisclosed number of people"
    if release.n_is_noisy:
        return f"About {release.n:,.0f} people (a noisy count)"
    weights = weights_of(release.spent).get("weights")
    if weights is None:
        return f"{release.n:,} people"
    total = weights["total"]
    told = number(total) if total < _WHOLE else f"{total:,.0f}"
    return f"{release.n:,} people, whose weights add up to {told}"


def people_fact(release: Release, within: str = "") -> Fact:
    """The number of people as a fact; `within` is appended to its sentence."""
    said = people_words(release)
    return Fact("People", said, said + within)


def values_fact(values: str) -> Fact:
    """The range of the values as a fact; `values` are words that follow "from"."""
    return Fact("Values", f"from {values}", f"values from {values}")


def risk_words(release: Release, told: Told) -> str:
    """A sentence with the risk of a release, and whether it is exact or a bound."""
    kind, numbers = release.risk_kind, release.estimate.margin.numbers
    if release.loss == "mse":
        one, _ = release.estimate.each
        of = f"root mean square of a {one}" if numbers > 1 else "root mean square"
        return f"Typical error ({of}) {told(math.sqrt(release.risk / numbers))}, {kind}"
    if release.loss == "largest":
        said = "Typical error of the worst category (root mean square)"
        return f"{said} {told(math.sqrt(release.risk))}, {kind}"
    return (
        f"Error not exceeded with probability {percent(release.confidence)}: "
        f"{told(release.risk)}, {kind}"
    )


def narrower(release: Release) -> list[str]:
    """Assumptions under which the interval would be clearly narrower, in words."""
    own = [side.error for side in release.sides if side.related == release.related]
    return [
        "related=False, if budgets are unrelated to values"
        if side.related is False
        else f"related={side.related}, if budgets are related to values {how(side.related)}"
        for side in release.sides
        if own and side.error < _CLEARLY * own[0]
    ]


def would_help(ways: Sequence[str]) -> str:
    """A sentence that lists ways to get a narrower interval."""
    return f"What would help: {'; '.join(ways)}."


def made_words(release: Release, *, column: bool = True) -> str:
    """A sentence with the date, the version and the column of a release; "" without a date."""
    if not release.date:
        return ""
    said = f"Released {release.date} (UTC) with epsilons {release.version}"
    if release.name is not None and column:
        said += f', from the column "{short(release.name)}"'
    if release.ledger is not None:
        said += (
            f', charged to a ledger as "{short(release.ledger.name)}". Drawn at '
            f"{release.ledger.drawn} from the data that were given then: this name has this "
            "answer, whichever data are given with it later"
        )
    return f"{said}."


def published_words(release: Release) -> str:
    """The date and the version of a release, to continue a line."""
    return f"published {release.date} (UTC) with epsilons {release.version}"


def in_a_ledger(releases: Iterable[Release]) -> list[Fact]:
    """For releases that are charged to a ledger, their names and ledger heads, as facts."""
    entries = [release.ledger for release in releases if release.ledger is not None]
    named = dict.fromkeys(f"{each.name}, head {each.head}" for each in entries)
    return [Fact("In a ledger", each) for each in named]


def _byline(release: Release) -> str:
    """A line with the column, its unit, the date and the version; "" if none is known."""
    said = [] if release.name is None else [f"column {short(release.name)}"]
    said += [] if release.unit is None else [f"in {release.unit}"]
    said += [published_words(release)] if release.date else []
    line = " · ".join(said)
    return line[:1].upper() + line[1:]


def _made(release: Release) -> Iterator[Fact]:
    """Facts about how a release was made."""
    numbers, (_, things) = release.estimate.margin.numbers, release.estimate.each
    loss = {
        "mse": "the mean squared error" + (f" of all {things}" if numbers > 1 else ""),
        "largest": "the mean square of the largest error",
        "pac": f"the error not exceeded with probability {percent(release.confidence)}",
    }[release.loss]
    if release.method == NARROWEST:
        loss = f"the forecast width of the {percent(release.confidence)} interval"
    yield Fact("Method", release.method)
    yield Fact("Minimized", loss)
    yield Fact("Neighbours", words.NEIGHBOURS[release.neighbours])
    if release.name is not None:
        yield Fact("Column", release.name)
    if release.unit is not None:
        yield Fact("Unit", release.unit)
    if release.date:
        yield Fact("Released", f"{release.date} (UTC), with epsilons {release.version}")
    yield from in_a_ledger([release])


def _sides(release: Release, told: Told) -> list[Part]:
    """The table of a release under other assumptions; empty if there is only one assumption."""
    sides = release.sides
    if len(sides) < 2:
        return []
    confidence = percent(release.confidence)
    known = f"error at {confidence}" if sides[0].low is None else f"{confidence} interval"
    known = release.estimate.known_as.format(confidence=confidence) or known
    capped = all(side.cap is not None for side in sides)
    cells = release.estimate.of_shares
    heads = (SIDES, known, *(("best cap", "typical error with it") if capped else ()))
    rows = [
        (
            side_name(side.related, release.related, cells=cells),
            _known(side) or told(side.error),
            *((budget(side.cap or 0.0), told(side.typical or 0.0)) if capped else ()),
        )
        for side in sides
    ]
    answers = [side.related for side in sides]
    columns = [[_width(side) for side in sides]]
    columns += [[side.typical or 0.0 for side in sides]] if capped else []
    bought = _STAR + (_BOUGHT if capped else "") + why_worse(answers, columns, _BOUNDS)
    caption, marked = "What other assumptions would give.", answers.index(release.related)
    return [SheetTable("sides", heads, tuple(rows), caption, marked), Note("sides", bought)]


def _known(side: Side) -> str:
    """The interval of a side in words; "" if there are several numbers."""
    if side.low is None or side.high is None:
        return ""
    wide = side.high - side.low
    return f"{aligned(side.low, wide)} to {aligned(side.high, wide)}"


def _width(side: Side) -> float:
    """The width of a side's interval or, if there are several numbers, its error."""
    return side.error if side.low is None or side.high is None else side.high - side.low

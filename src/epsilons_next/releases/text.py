"""A release as text: the numbers, and at most five lines that say what they are."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from epsilons_next.inference.rows import Reading, Row, Within
from epsilons_next.releases.facts import Facts
from epsilons_next.releases.numbers import Written, limit, loss, times

__all__ = ["holds", "numbers", "privacy", "sheet"]

WIDE, GRID_WIDE, MOST = 101, 88, 60
"""How wide lines and grids are, and how many numbers are printed."""

COUNTED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

NOT_PRIVATE = "NOT PRIVATE: DRAWN FROM A SEED, FOR SIMULATION ONLY."


def sheet(rows: Sequence[Row], facts: Facts, reading: Reading, asked: Reading, more: str) -> str:
    """Return the whole print of a release."""
    lines = [("Who", facts.who), ("Interval", holds(rows, facts, reading, asked))]
    lines += [("Data", ". ".join(facts.data))] if facts.data else []
    lines += [("Privacy", privacy(facts)), ("More", more)]
    head = [] if facts.private else [NOT_PRIVATE]
    return "\n".join(
        [*head, numbers(rows, facts, reading), "", *map(labelled, *zip(*lines, strict=True))]
    )


def labelled(label: str, text: str) -> str:
    """Return one labelled line, wrapped."""
    return textwrap.fill(
        text,
        WIDE,
        initial_indent=f"{label:<10}",
        subsequent_indent=" " * 10,
        break_long_words=False,
        break_on_hyphens=False,
    )


def numbers(rows: Sequence[Row], facts: Facts, reading: Reading) -> str:
    """Return the title and the numbers: one, a table, or a grid."""
    written, often = Written(rows, share=facts.share), percent(reading)
    if len(rows) == 1:
        return f"{facts.title}\n{_one(rows[0], facts, written, often)}"
    printed = rows[:MOST]
    rest = [f"… {len(rows) - MOST:,} more: to_frame()"] * (len(rows) > MOST)
    if len(rows[0].names) == 2:
        grid = _grid(printed, facts, written, often)
        if max(map(len, grid)) <= GRID_WIDE:
            return "\n".join([*grid, *rest])
    blocks = [facts.title]
    for outer, group in groupby(printed, key=lambda row: row.names[:-1]):
        blocks += ["", ", ".join(outer)] * bool(outer) + _table(list(group), facts, written, often)
    return "\n".join([*blocks, *rest])


def counted(number: int) -> str:
    """Write how many, in a word if they are few."""
    return COUNTED[number] if number < len(COUNTED) else f"{number:,}"


def percent(reading: Reading) -> str:
    """How often an interval holds, in words."""
    return f"{100.0 * reading.confidence:.10g} %"


def unit_of(facts: Facts) -> str:
    """What stands after a number."""
    return " %" if facts.share else f" {facts.unit}" if facts.unit else ""


def _one(row: Row, facts: Facts, written: Written, often: str) -> str:
    """The line of one number."""
    unit = unit_of(facts)
    ends = f"{written.low(row.low)} to {written.high(row.high)}{' %' * facts.share}"
    if facts.share and row.low <= 0.0:
        most = f"at most {written.high(row.high)}{unit}"
        return (
            f"{most}      {often} interval {ends}; most plausible {written.number(row.value)}{unit}"
        )
    return f"{written.number(row.value)}{unit}      {often} interval {ends}"


def _table(rows: Sequence[Row], facts: Facts, written: Written, often: str) -> list[str]:
    """One line for each number."""
    head = "share" if facts.share else facts.unit
    values = [written.number(row.value) + " %" * facts.share for row in rows]
    lows, highs = (
        [end(each) for each in ends]
        for end, ends in (
            (written.low, [row.low for row in rows]),
            (written.high, [row.high for row in rows]),
        )
    )
    named = max(len(row.names[-1]) for row in rows)
    wide = max(map(len, [*values, head]))
    low, high = (max(map(len, each)) for each in (lows, highs))
    lines = [f"{'':<{named}}  {head:>{wide}}   {often} interval"]
    for row, value, start, end in zip(rows, values, lows, highs, strict=True):
        lines.append(f"{row.names[-1]:<{named}}  {value:>{wide}}   {start:>{low}} to {end:>{high}}")
    return lines


def _grid(rows: Sequence[Row], facts: Facts, written: Written, often: str) -> list[str]:
    """A line for each first name, and a column for each second one."""
    what = f"% of each {facts.columns[0]}" if facts.share else facts.unit
    title = f"{facts.title}{f', {what}' if what else ''} ({often} interval)"
    cells: dict[str, dict[str, tuple[str, str, str]]] = {}
    for row in rows:
        cell = written.number(row.value), written.low(row.low), written.high(row.high)
        cells.setdefault(row.names[0], {})[row.names[1]] = cell
    first = max(map(len, cells))
    lines = {name: f"{name:<{first}}" for name in cells}
    head = " " * first
    for name in dict.fromkeys(row.names[1] for row in rows):
        held = {line: columns[name] for line, columns in cells.items() if name in columns}
        wide = [max(len(each[k]) for each in held.values()) for k in range(3)]
        texts = {
            line: "{:>{}} ({:>{}} to {:>{}})".format(
                each[0], wide[0], each[1], wide[1], each[2], wide[2]
            )
            for line, each in held.items()
        }
        column = max(len(name), *map(len, texts.values()))
        head += f" {name:<{column}}"
        lines = {line: f"{text} {texts.get(line, ''):<{column}}" for line, text in lines.items()}
    return [title, head.rstrip(), *(line.rstrip() for line in lines.values())]


def holds(rows: Sequence[Row], facts: Facts, reading: Reading, asked: Reading) -> str:
    """Say under which condition the intervals hold, and of whom they do not speak."""
    kinds, population = {row.kind for row in rows}, reading.about == "population"
    assumed = ["these people are a random sample of it"] if population else []
    how = ["normal approximation"] if "normal" in kinds else []
    if reading.assume == "unrelated" and kinds != {"proven"}:
        assumed.append("limits have nothing to do with answers")
        how.insert(0, 'assume="unrelated"')
    if isinstance(reading.assume, Within):
        unit = f" {facts.unit}" if facts.unit else ""
        points = f"{100.0 * reading.assume.apart:g} percentage points"
        apart = points if facts.share else f"{reading.assume.apart:g}{unit}"
        assumed.append(f"people with different limits differ by at most {apart} on average")
    if "bounded" in kinds:
        how.append(
            "too few people carry the result for a normal approximation: a wider, proven bound is "
            "used"
        )
    missed = round(len(rows) * reading.miss)
    text, these = ("each holds", "people") if missed else ("holds", "these people")
    text = "each holds" if len(rows) > 1 else text
    if missed:
        often = Fraction(reading.confidence).limit_denominator(1000)
        text += f" {often.numerator} time{'s' * (often.numerator > 1)} in {often.denominator}"
    text += " for the population," if population else ""
    text += f" if {' and '.join(assumed)}" if assumed else f" whatever {these} answered"
    text += f" ({'; '.join(how)})" if how else ""
    if missed:
        some = f"{missed} that do" if missed > 1 else "one that does"
        text += f" (of {len(rows)}, expect {some} not)"
    text += "" if population else "; it does not speak of others like them"
    text += ". All at once: to_frame()" if missed else ""
    if (reading.about, reading.assume) != (asked.about, asked.assume):
        text += ". Read again from the same draws: it was asked in another way"
    return text


def privacy(facts: Facts, together: int = 1) -> str:
    """Say what the numbers cost, in a way that is true for what is secret.

    Args:
        facts: of the last of them.
        together: how many releases are shown at once.
    """
    if facts.limits[0] == math.inf:
        return "everyone's limit is ∞: these records are public, and nothing of them is protected"
    low, high = map(limit, facts.limits)
    limits = f"limits {low} to {high}" if low != high else f"everyone's limit is {low}"
    before, several = facts.earlier + 1 - together, facts.earlier > 0
    earlier = f", with {counted(before)} earlier release{'s' * (before > 1)}" if before > 0 else ""
    all_of_them = f", all {counted(together)} together" if together > 1 else ""
    used = "was used in all" if together > 1 else "in all" if several else "was used"
    text = f"kept within everyone's limit{all_of_them}{earlier}: at most ε = {loss(facts.spent)} "
    text += f"{used} ({limits}). "
    result = "these results" if several else "any result"
    finite = " with a finite limit" * facts.exempt
    if facts.public:
        answer = f"answer of anybody{finite}" if finite else "answer"
        return text + (
            f"No {answer} makes {result} more than {times(facts.spent)} times as likely. Who took "
            "part, and their limits, is public"
        )
    return text + (
        f"Taking part{finite} makes no result more than {times(facts.spent)} times as likely or "
        f"unlikely, another answer no more than {times(2 * facts.spent)} times"
    )

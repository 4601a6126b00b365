"""An answer becomes a release: what was asked of whom, in words that are true of the count.

A release that was stored comes back, if its numbers are those of its draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from epsilons_next.data.roster import Roster
from epsilons_next.data.split import Split
from epsilons_next.errors import FileError
from epsilons_next.inference.rows import Reading, Row, assumed
from epsilons_next.questions.question import Question, filtered
from epsilons_next.releases.facts import Facts, Spending
from epsilons_next.releases.numbers import limit
from epsilons_next.releases.release import Release
from epsilons_next.running.answer import Answer
from epsilons_next.running.transcript import Transcript

__all__ = ["released", "restored"]

NEAR: Final = 1e-6
"""How near numbers are that another processor computes from the same draws, of their interval."""


def released(roster: Roster, answer: Answer, question: Question) -> Release:
    """Return the release of an answer, with the title and unit of this question.

    Args:
        roster: whose rows these are.
        answer: what was told.
        question: the same question, perhaps with other words for readers.
    """
    facts = Facts(
        title=question.heading,
        unit=question.unit,
        share=question.share,
        columns=tuple(question.by),
        who=_who(roster, answer, question),
        data=_data(roster, answer, question),
        spending=_spending(roster, answer),
        limits=answer.tally.limits,
        earlier=answer.earlier,
        public=roster.public,
        private=answer.private,
        method=question.method[roster.public],
    )
    return Release(facts, question.reading, question.reading, answer.transcript)


def restored(held: Mapping[str, Any], kind: type[Question]) -> Release:
    """Return a release that was stored, if its rows are those of its draws.

    Args:
        held: the release as plain data.
        kind: of question that it answers.

    Raises:
        FileError: they are others.
    """
    question, reading = kind.of(held["question"]), held["reading"]
    release = Release(
        Facts.of(held["facts"]),
        Reading(reading["confidence"], reading["about"], assumed(reading["assume"])),
        question.reading,
        Transcript.of(question, held),
        tuple(held["under"]),
    )
    if len(release.rows) != len(held["rows"]) or not all(map(_near, release.rows, held["rows"])):
        raise FileError("The numbers are not those of the draws: the file was edited.")
    return release


def _near(row: Row, stored: Mapping[str, Any]) -> bool:
    numbers = ("value", "low", "high", "band_low", "band_high")
    far = NEAR * max(row.band_high - row.band_low, 1e-300)
    return (
        list(row.names) == stored["names"]
        and row.kind == stored["kind"]
        and all(
            math.isclose(getattr(row, name), float(stored[name]), rel_tol=NEAR, abs_tol=far)
            for name in numbers
        )
    )


def together(names: Sequence[str]) -> str:
    """List names in a sentence."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _answered(roster: Roster, split: Split) -> str:
    """Which entries somebody must have to be counted."""
    if roster.public and split.missing == "error":
        return ""
    listed = [each.column for each in split.groups if not each.other and not roster.public]
    names = [f"a listed {each}" if each in listed else each for each in split.columns]
    return f"who gave {together(names)}" if names else ""


def _who(roster: Roster, answer: Answer, question: Question) -> str:
    """Of whom the numbers are, and how rows of one person are taken together."""
    split, held = answer.split, answer.tally.classes
    filters = [f"with {filtered(split)}"] if split.where else []
    those = " ".join([*filters, _answered(roster, split)]).strip()
    if roster.public:
        text = _public(answer, those)
    else:
        least = max(split.at_least, roster.levels[0])
        text = f"everyone who took part with ε of {limit(least)} or more"
        text += f" {those.replace('who gave', 'and gave')}" if those else ""
        text += "; how many is secret"
        empty = dict.fromkeys(held.keys[answer.tally.asked][answer.unknown].tolist())
        if empty:
            levels = " or ".join(map(limit, empty))
            text += f"; those with ε of {levels} had nothing left, and are not counted"
    text += f'; weighted by "{roster.weights}"' if roster.weights else ""
    added = roster.rows == "sum" and not question.share
    sizes = ""
    if question.by:
        sizes = ". How many are in each group is not published"
        sizes = ". Each line adds up to 100 %" if question.share else sizes
    if roster.person is None:
        return f"{text}; each row is one person{sizes}"
    text += f'; rows with the same "{roster.person}" are {"added up" if added else "one person"}'
    text += "; a person with rows in several groups counts in parts" if split.groups else ""
    return text + sizes


def _public(answer: Answer, those: str) -> str:
    """Of how many people, if that is public."""
    tally, least = answer.tally, answer.split.at_least
    gone = tally.left_out or 0
    asked = int(tally.people.sum())
    everyone = int(tally.classes.people.sum()) + gone
    if least:
        who = f"with ε of {limit(least)} or more"
        if not those:
            return f"{asked:,} of {people(everyone)}, those {who}; nothing is said of the others"
        return f"of {people(everyone)} those {who} {those}; nothing is said of the others"
    if those:
        others = "1 other" if gone == 1 else f"{gone:,} others"
        text = f"those of {'one person' if asked == 1 else people(asked)} {those}"
        return text + (f"; {others} gave nothing, ε = 0" if gone else "")
    if gone:
        return f"{asked:,} of {people(everyone)}; the other {gone:,} gave nothing, ε = 0"
    return f"all {people(everyone)} in the data" if everyone != 1 else "the one person in the data"


def people(number: int) -> str:
    """Say how many people."""
    return "1 person" if number == 1 else f"{number:,} people"


def _data(roster: Roster, answer: Answer, question: Question) -> tuple[str, ...]:
    """What was done to the data, and who counts as unknown."""
    split, tally = answer.split, answer.tally
    added = roster.rows == "sum" and roster.person is not None
    said = [question.cut(added=added)]
    if split.groups and question.other is not None:
        none = "" if split.missing == "exclude" or not roster.public else " or none"
        columns = together([labels.column for labels in split.groups])
        said.append(f'"{question.other}" is everyone with another entry of {columns}{none}')
    unknown = int(tally.people[answer.unknown].sum()) if roster.public else 0
    if unknown:
        said.append(
            f"{people(unknown)} had nothing left and {'counts' if unknown == 1 else 'count'} as "
            f"unknown{question.span}: ask several questions at once, publish([…]), or those who "
            "allowed more, at_least=0.5"
        )
    return tuple(each for each in said if each)


def _spending(roster: Roster, answer: Answer) -> tuple[Spending, ...]:
    """What it cost people whose limits agree in nine bits; those of survey weights, too."""
    held = answer.tally.classes
    names = np.stack([held.levels, held.cuts])
    names, place = np.unique(names, axis=1, return_inverse=True)
    lines = []
    for line in range(names.shape[1]):
        classes = np.flatnonzero(place == line).tolist()
        lines.append(
            Spending(
                float(held.least[classes].min()),
                int(held.people[classes].sum()) if roster.public else None,
                max(int(held.most[each]) * answer.losses[each] for each in classes),
                max(int(held.most[each]) * answer.spent[each] for each in classes),
            )
        )
    return tuple(lines)

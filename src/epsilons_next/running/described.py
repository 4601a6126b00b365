"""An answer becomes a release: what was asked of whom, in words that are true of the count."""

from __future__ import annotations

from collections.abc import Sequence

from epsilons_next.data.roster import Roster
from epsilons_next.data.split import Split
from epsilons_next.questions.question import Question, filtered
from epsilons_next.releases.facts import Facts, Spending
from epsilons_next.releases.numbers import limit
from epsilons_next.releases.release import Release
from epsilons_next.running.answer import Answer

__all__ = ["released"]


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


def together(names: Sequence[str]) -> str:
    """List names in a sentence."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _answered(roster: Roster, split: Split) -> str:
    """Which entries somebody must have to be counted."""
    if roster.public and split.missing == "error":
        return ""
    taken = [each.column for each in split.groups if each.other and split.missing == "error"]
    listed = [each.column for each in split.groups if not each.other and not roster.public]
    columns = [column for column in split.columns if column not in taken]
    if not columns:
        return ""
    entries = f", an entry that is listed for {together(listed)}" if listed else ""
    return f"who gave {together(columns)}{entries}"


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
    if roster.person is None:
        return f"{text}; each row is one person"
    text += f'; rows with the same "{roster.person}" are {"added up" if added else "one person"}'
    return text + ("; a person with rows in several groups counts in parts" if split.groups else "")


def _public(answer: Answer, those: str) -> str:
    """Of how many people, if that is public."""
    tally, least = answer.tally, answer.split.at_least
    gone = tally.left_out or 0
    everyone, asked = int(tally.classes.people.sum()) + gone, int(tally.people.sum())
    people = "person" if everyone == 1 else "people"
    if least:
        who = f"with ε of {limit(least)} or more"
        if not those:
            return f"{asked:,} of {everyone:,} {people}, those {who}; nothing is said of the others"
        return f"of {everyone:,} {people} those {who} {those}; nothing is said of the others"
    if those:
        text = f"those of {asked:,} people {those}"
        return text + (f"; {gone:,} others gave nothing, ε = 0" if gone else "")
    if gone:
        return f"{asked:,} of {everyone:,} {people}; the other {gone:,} gave nothing, ε = 0"
    return f"all {everyone:,} people in the data" if everyone != 1 else "the one person in the data"


def _data(roster: Roster, answer: Answer, question: Question) -> tuple[str, ...]:
    """What was done to the data, and who counts as unknown."""
    split, tally = answer.split, answer.tally
    added = roster.rows == "sum" and roster.person is not None
    said = [question.cut(added=added)]
    for labels in split.groups:
        if labels.other is not None:
            none = "" if split.missing == "exclude" or not roster.public else " or none"
            said.append(f'"{labels.other}" is everyone with another entry of {labels.column}{none}')
    unknown = int(tally.people[answer.unknown].sum()) if roster.public else 0
    if unknown:
        said.append(
            f"{unknown:,} {'person' if unknown == 1 else 'people'} had nothing left and "
            f"{'counts' if unknown == 1 else 'count'} as unknown: ask several questions at once, "
            "publish([…]), or those who allowed more, at_least=0.5"
        )
    return tuple(each for each in said if each)


def _spending(roster: Roster, answer: Answer) -> tuple[Spending, ...]:
    """What it cost, by class of people who are alike in their limit."""
    held = answer.tally.classes
    most = [int(each) for each in held.most]
    people = held.people.tolist() if roster.public else [None] * len(most)
    rows = zip(held.least.tolist(), people, most, answer.losses, answer.spent, strict=True)
    return tuple(Spending(least, n, u * loss, u * spent) for least, n, u, loss, spent in rows)

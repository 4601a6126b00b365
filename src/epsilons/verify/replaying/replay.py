"""Replay the path from rows to a release on given data and on neighbouring data sets."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from epsilons import parameters
from epsilons.budgets.levels import Levels
from epsilons.errors import ArgumentError, EpsilonsError, PrivacyError
from epsilons.types import Column, Data, Menu, Neighbours
from epsilons.verify.fit import check_seed
from epsilons.verify.replaying.changes import (
    GROUPS,
    VALUES,
    Change,
    RowFacts,
    allowed,
    chosen,
    known_marks,
    nasty,
    ordinary,
    public_groups,
)
from epsilons.verify.replaying.neighbours import GivenTable, TextForm, table_of
from epsilons.verify.replaying.runs import Person, Run, RunFound, first_run, level_of, second_run

__all__ = ["Replay", "ReplayOutcome", "replay"]

_SHOWN = 14
"""The largest number of failing changes to print."""


@dataclass(frozen=True)
class ReplayOutcome:
    """The result of one change.

    Attributes:
        change: description of the change.
        differed: descriptions of forbidden differences; empty if the change passes.
        moved: whether a total moved.
        refused: name of the error if the neighbour raised an error that only the curator sees;
            otherwise None.
    """

    change: str
    differed: tuple[str, ...]
    moved: bool
    refused: str | None = None

    @property
    def holds(self) -> bool:
        """Whether there are no forbidden differences."""
        return not self.differed


@dataclass(frozen=True)
class Replay:
    """The results of all tested changes, each of one person. Shows no values of people.

    Attributes:
        statistic: the statistic that was replayed.
        neighbours: the relation between neighbouring data sets.
        outcomes: the result of each change.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> found = ep.verify.replay(ep.Mean(hours, bounds=(0, 24)), epsilon=epsilon)
        >>> found.holds, found.statistic, found.neighbours
        (True, 'mean', 'replace')
    """

    statistic: str
    neighbours: str
    outcomes: tuple[ReplayOutcome, ...]

    @property
    def holds(self) -> bool:
        """Whether no tested change has a forbidden difference."""
        return all(outcome.holds for outcome in self.outcomes)

    def require(self) -> Replay:
        """Return this replay if it holds.

        Raises:
            PrivacyError: a change of one person causes a forbidden difference.
        """
        for outcome in self.outcomes:
            if not outcome.holds:
                raise PrivacyError(
                    f"The result reveals one person ({outcome.change}): {outcome.differed[0]}. "
                    "Nothing may be published from these data in this way."
                )
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain data."""
        return {
            "statistic": self.statistic,
            "neighbours": self.neighbours,
            "holds": self.holds,
            "changes": [
                {**vars(outcome), "differed": list(outcome.differed), "holds": outcome.holds}
                for outcome in self.outcomes
            ],
        }

    def __str__(self) -> str:
        wrong = [outcome for outcome in self.outcomes if not outcome.holds]
        refused = sum(outcome.refused is not None for outcome in self.outcomes)
        stirred = sum(outcome.moved for outcome in self.outcomes)
        head = "ONE PERSON SHOWS." if wrong else "No tested change exceeded its person's budget."
        lines = [
            f"{head} For the curator, not for publication.",
            f"  {self.statistic}, {self.neighbours}: {len(self.outcomes)} changes of one person, "
            f"of which {stirred} moved a total",
        ]
        if refused:
            lines.append(f"  {refused} were refused, which is for the curator alone")
        lines += [f"  SHOWS  {each.change}: {each.differed[0]}" for each in wrong[:_SHOWN]]
        if len(wrong) > _SHOWN:
            lines.append(f"  … {len(wrong) - _SHOWN} more")
        return "\n".join(lines)


class AnyQuestion(Protocol):
    """A question such as `epsilons.Mean(…)`: it yields its draws and builds its call."""

    @property
    def statistic(self) -> str:
        """The name of the statistic."""

    @property
    def columns(self) -> Mapping[str, Any]:
        """The columns that it uses, by the names of their fields."""

    def call(self, *, epsilon: Column) -> object:
        """Return a call with only this question, given the arguments of a call."""


@parameters.speaks_plainly()
def replay(
    question: AnyQuestion,
    *,
    epsilon: Column,
    menu: Menu | None = None,
    data: Data | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    person: Column | None = None,
    weights: Column | None = None,
    neighbours: Neighbours = "replace",
    levels: Levels | None = None,
    cap: float | None = None,
    changes: Iterable[Change] | None = None,
    seed: int = 0,
) -> Replay:
    """Run a question on your data and on neighbouring data sets, and compare all public results.

    What it checks: the path from rows to totals, on the engine that you use. One person's rows are
    changed, removed or added. Each draw on the neighbour returns the value that was drawn on your
    data. Then every mechanism and every public field must be equal, and each total can move only as
    far as its mechanism allows for that person. Nothing is published.

    What it does not check: changes that were not tried; that draws follow their declared
    distributions (see `draws`); and that moves of this size cost no more than the budgets (see
    `exact`).

    Args:
        question: a question such as `epsilons.Mean(…)`.
        epsilon: the budgets. This and all arguments up to `cap` are as in `epsilons.publish`.
        menu: the budgets that words stand for, if `epsilon` is a column of words.
        data: a frame, the path of a file, or None if the columns are arrays. Changed copies of a
            file are written to a temporary folder and deleted.
        separator: separator of the columns of a CSV file.
        decimal: the decimal mark of numbers in a file of text.
        thousands: the mark between thousands there.
        person: the column that identifies people.
        weights: the weights of people. A person of d units may move totals d times as far as a
            unit.
        neighbours: "replace": one person's values change. "add-remove": a person is added or
            removed, or their values, budget or id change.
        levels: for add/remove, the budgets that people were offered.
        cap: for add/remove, the maximum that anyone spends.
        changes: changes to try; None for a built-in set that has exposed faults in engines and file
            readers: other types, spellings, nulls, extremes, more rows, row orders, budgets, ids.
        seed: seed of the draws and of row orders. No draw is published.

    Returns:
        The result of each change.

    Raises:
        ArgumentError: an argument is invalid, or a change affects more than one person.
        DataError: the unchanged data cannot be used.
        FileError: the file is missing, or its content does not match its name.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> ep.verify.replay(ep.Mean(hours, bounds=(0, 24)), epsilon=epsilon).holds
        True
    """
    given = dict(locals())
    if not hasattr(question, "call"):
        raise ArgumentError(
            "question must be one question, such as ep.Mean(…). Replay several one at a time."
        )
    terms = {name: given[name] for name in given if name not in ("question", "changes", "seed")}
    columns = {**question.columns, "epsilon": epsilon, "person": person, "weights": weights}
    first = first_run(question, question.call(**terms), check_seed(seed))
    with tempfile.TemporaryDirectory() as folder:
        form = TextForm(separator, decimal, thousands)
        table = table_of(columns, data, form, Path(folder))
        trying = _Trying(question, terms, columns, table, first)
        tried = trying.nasty() if changes is None else trying.given(changes)
        outcomes = tuple(trying.outcome(change, row) for change, row in tried)
    return Replay(question.statistic, neighbours, outcomes)


@dataclass(frozen=True, eq=False)
class _Trying:
    """Tests changes of one table, one after another.

    Attributes:
        question: the question.
        terms: the arguments of its call, by name.
        arguments: all columns, by parameter.
        table: the data.
        first: the run on these data.
    """

    question: Any
    terms: dict[str, Any]
    arguments: dict[str, Any]
    table: GivenTable
    first: Run

    @property
    def private(self) -> bool:
        return bool(self.terms["neighbours"] == "add-remove")

    @property
    def refuses(self) -> bool:
        """Whether data can be rejected with an error that only the curator sees."""
        lenient = getattr(self.question, "other", None) is not None
        policy = self.question.policy("replace")
        marked = len(self.question.columns) > 1 and policy != "exclude"
        return not self.private and not lenient and (marked or policy == "error")

    def nasty(self) -> Iterator[tuple[Change, Any]]:
        """Generate built-in changes of three people: smallest budget, last row, largest budget.

        The three are chosen among people with positive weight. If the person with the smallest
        budget has weight 0, some changes of that person are added, which must not move any total.
        """
        rows = self.table.sample()
        usable = self._usable(rows)
        declared = self.terms["levels"]
        declared = [] if declared is None else declared
        levels = [float(level) for level in getattr(declared, "levels", declared)]
        facts = RowFacts(
            self.question, self.table.kinds, self.private, self.table.ordered,
            levels, self.terms["menu"], self.table.has,
        )  # fmt: skip
        if not usable:
            yield from ((change, None) for change in nasty([], [], facts))
            return
        counting = [row for row in usable if self._counts(row)] or usable
        ranked = sorted(counting, key=self._budget)
        chosen = [ranked[0], counting[-1], ranked[-1]]
        sets = [nasty([row], [r for r in rows if r is not row], facts) for row in chosen]
        by_words = [{change.words: change for change in each} for each in sets]
        for at, words in enumerate(dict.fromkeys(w for each in by_words for w in each)):
            turn = next(i % 3 for i in range(at, at + 3) if words in by_words[i % 3])
            yield by_words[turn][words], chosen[turn]
        strictest = min(usable, key=self._budget)
        if not self._counts(strictest):
            for change in sets[0][:2]:
                yield replace(change, words=f"{change.words}, of the strictest"), strictest

    def given(self, changes: Iterable[Change]) -> Iterator[tuple[Change, Any]]:
        """Generate the caller's changes, each with a row of the person to change."""
        rows = self.table.sample()
        usable = self._usable(rows)
        for change in changes:
            if not isinstance(change, Change):
                raise ArgumentError("changes must be a list of epsilons.verify.Change(…).")
            row = usable[0] if usable else None
            if change.row is not None:
                row = next((each for each in rows if each.get("row") == change.row), None)
                if row is None:
                    raise ArgumentError("row of a change is not the number of any row.")
            yield change, row

    def _usable(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows of people with 0 < ε < ∞; all rows if there are none."""
        return [row for row in rows if 0 < self._budget(row) < float("inf")] or rows

    def _budget(self, row: dict[str, Any]) -> Fraction | float:
        """Return the ε of a row; 0 if the row has no person."""
        if self.arguments["person"] is not None and row.get("person") in (None, ""):
            return 0
        kind, menu = self.table.kinds.get("epsilon"), self.terms["menu"]
        if menu is not None:
            return chosen(row.get("epsilon"), menu) / self._units([row])
        if kind is None:
            return allowed(self.arguments["epsilon"], cells=False) / self._units([row])
        # Add/remove rejects no entry: text in a list or a frame is parsed like text in a file.
        cells = kind.family == "cells" or self.private
        return allowed(kind.plain(row.get("epsilon")), cells=cells) / self._units([row])

    def _counts(self, row: dict[str, Any]) -> bool:
        """Whether the person of a row has positive weight in the last draw."""
        last = self.first.steps[-1]
        at = level_of(last, self._budget(row))
        if last.mechanism.kind == "counts":  # a counted person has weight 1 in their cell
            return at >= 0 and int(last.mechanism.cell_of[at]) >= 0
        return at >= 0 and int(last.mechanism.weights[at]) > 0

    def outcome(self, change: Change, row: Any) -> ReplayOutcome:
        """Apply one change, run the question on the neighbour, and compare the results."""
        who = None if change.comes or row is None else self.table.someone(row)
        old = [] if who is None else who.rows
        new = self._rows(change, old, row)
        person = Person(self._limit(old), self._limit(new), self._units(old))
        self._check(change, person, old, new)
        made = self.table.changed(who, new, change.place, self.first.seed)
        given = {**self.arguments, **made}
        question = self.question.of_columns({role: given[role] for role in self.question.columns})
        terms = {name: given.get(name, own) for name, own in self.terms.items()}
        try:
            found = second_run(question, self.question.call(**terms), self.first, person)
        except EpsilonsError as refusal:
            name = type(refusal).__name__
            if self.refuses and not self._ordinary(old, new):
                return ReplayOutcome(change.words, (), moved=False, refused=name)
            found = RunFound((f"refused ({name})",), moved=False)
        except Exception as failure:
            found = RunFound((f"failed ({type(failure).__name__})",), moved=False)
        finally:
            if isinstance(made.get("data"), str):
                Path(made["data"]).unlink(missing_ok=True)
        return ReplayOutcome(change.words, found.differed, found.moved)

    def _ordinary(self, old: list[Any], new: list[Any]) -> bool:
        """Whether all new values are old or declared values, so the call must accept them."""
        question, kinds = self.question, self.table.kinds
        known = {
            **{role: ordinary(question, kinds[role], role) for role in VALUES if role in kinds},
            **known_marks(question, dict(kinds)),
        }
        if "where" not in kinds:  # a filter can exclude old values before they are checked
            for role, entries in known.items():
                entries += [row[role] for row in old]
        return all(
            any(type(each[role]) is type(b) and each[role] == b for b in entries)
            for role, entries in known.items()
            for each in new
        )

    def _rows(self, change: Change, old: list[Any], row: Any) -> list[dict[str, Any]]:
        """Return the person's rows after the change."""
        if change.rows is None:
            return old
        like = old[0] if old else (row or {})
        made: list[dict[str, Any]] = []
        for at, each in enumerate(change.rows):
            again = at > 0 and each is change.rows[at - 1]
            made.append(made[-1] if again else {**like, **each})
        return made

    def _limit(self, rows: list[dict[str, Any]]) -> Fraction | float:
        """Return the budget of a person with these rows: the smallest ε, or 0 without rows.

        If people have weights, it is the budget of one unit.
        """
        return min((self._budget(row) for row in rows), default=0)

    def _units(self, rows: list[dict[str, Any]]) -> int:
        """Return the number of units of a person with these rows; 1 without weights."""
        if self.arguments["weights"] is None or not rows:
            return 1
        unit = self.first.answer[0].spent.unit
        weight = Fraction(float(rows[0]["weights"])) / Fraction(unit)
        return max(math.floor(weight + Fraction(1, 2)), 1)

    def _check(
        self, change: Change, person: Person, old: list[dict[str, Any]], new: list[dict[str, Any]]
    ) -> None:
        """Reject a change of public facts under "replace": people, budgets and public groups.

        Raises:
            ArgumentError: the change alters a public fact.
        """
        if self.private:
            return
        weights = {repr(row.get("weights")) for row in (*old, *new)}
        if change.comes or not new or person.before != person.after or len(weights) > 1:
            raise ArgumentError(
                f'"{change.words}" is not a change of one person under neighbours="replace": there '
                "the number of people, their budgets and their weights are public. Change values, "
                'or replay with neighbours="add-remove".'
            )
        groups = {role: [row[role] for row in old[:1]] for role in GROUPS if role in self.arguments}
        if public_groups(self.question) and any(
            [row[role]] != own for row in new for role, own in groups.items()
        ):
            raise ArgumentError(
                f'"{change.words}" is not a change of one person under groups_are="public": there '
                "nobody moves between groups. Change values."
            )
        if self.arguments["person"] is None and len(new) != 1:
            raise ArgumentError(
                f'"{change.words}" gives {len(new)} rows where each row is a person: give one.'
            )

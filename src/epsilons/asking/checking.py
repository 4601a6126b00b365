"""`check`: exact counts of the data, and the reasons for a refusal, without spending ε.

A check draws no noise and is not part of a release. It refuses only arguments and schemas, never
data. Its result is exact and not private, so it is for the curator only.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from epsilons import door, parameters
from epsilons.budgets.levels import Levels
from epsilons.errors import ArgumentError, DataError
from epsilons.loading import later
from epsilons.questions.frequencies import Frequencies
from epsilons.questions.question import Call, Question, terms_of
from epsilons.results import report
from epsilons.results.report import number
from epsilons.results.report.numbers import legible
from epsilons.types import Column, Data, Menu, Neighbours

if TYPE_CHECKING:
    from epsilons.asking import table
else:
    table = later("epsilons.asking.table")

__all__ = ["Check", "check"]

WARNING: Final = (
    "For the curator, not for publication: these are exact facts about the data, without noise."
)


@dataclass(frozen=True)
class Check:
    """Exact counts for a curator before they publish. They are not private.

    Attributes:
        statistic: the statistic that would be published.
        neighbours: the neighbouring relation: "replace" or "add-remove".
        name: the name of the column of values; None if an array was given.
        rows: the number of rows.
        people: the number of people.
        without_person: rows without a person.
        median_rows: the median number of rows per person.
        most_rows: the largest number of rows of one person.
        missing: rows whose value is null or NaN, or has the wrong type in a CSV file or a list.
        infinite: rows whose value is infinite. A mean treats these as missing. None for
            frequencies.
        below: rows that would be clipped to the lower bound; None if no bounds are known.
        above: rows that would be clipped to the upper bound; None if no bounds are known.
        undeclared: rows whose value is in no declared category; None for a mean.
        without_value: people without any value.
        two_budgets: people whose rows have different budgets.
        unusable_budget: people whose budget is negative, NaN or missing.
        zero_budget: people whose budget is 0, who are left out.
        public_budget: people whose budget is infinite. Their records are public.
        below_levels: under add/remove, people whose budget is above 0 and below the lowest level,
            who are left out. None under replace.
        budgets: the smallest and the largest of all budgets that are above 0 and finite; None if
            there are none.
        refusals: the reasons why these data would be refused, one sentence each. Budgets that are
            too small to estimate a range are not detected.
        without_group: rows whose group is missing or not declared; with two columns of groups, the
            larger of the two numbers. None without groups.
        not_known: rows in which the `where` column is missing; None without `where`.
        missing_y: rows whose second value is missing or infinite; None without a second column.
        alarms: the reasons why the result would not be informative, one sentence each.

    Examples:
        >>> import epsilons as ep
        >>> look = ep.check(ep.Mean([3.5, 80.0, None], bounds=(0, 24)), epsilon=[0.5, 1.0, 1.0])
        >>> look.missing, look.above, len(look.refusals)
        (1, 1, 1)
    """

    statistic: str
    neighbours: str
    name: str | None
    rows: int
    people: int
    without_person: int
    median_rows: float
    most_rows: int
    missing: int
    infinite: int | None
    below: int | None
    above: int | None
    undeclared: int | None
    without_value: int
    two_budgets: int
    unusable_budget: int
    zero_budget: int
    public_budget: int
    below_levels: int | None
    budgets: tuple[float, float] | None
    refusals: tuple[str, ...]
    without_group: int | None = None
    not_known: int | None = None
    missing_y: int | None = None
    alarms: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain data, with the warning first."""
        plain = asdict(self)
        plain["budgets"] = None if self.budgets is None else list(self.budgets)
        for name in ("without_group", "not_known", "missing_y"):
            if plain[name] is None:  # the question has no such column
                del plain[name]
        lists = {"refusals": list(self.refusals), "alarms": list(self.alarms)}
        return {"warning": WARNING, **plain, **lists}

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return report.to_json(self.to_dict())

    def __str__(self) -> str:
        of = "" if self.name is None else f' of the column "{self.name}"'
        lines = [WARNING, "", f"{self.statistic.capitalize()}{of}, {self.neighbours}", ""]
        lines.append(report.table(("", "how many", "share"), self._table()))
        if self.budgets is not None:
            low, high = (number(each) for each in self.budgets)
            ends = low if low == high else f"from {low} to {high}"
            lines += ["", f"  Budgets above 0 that are not public: {ends}"]
        if self.neighbours == "replace":
            told = self.refusals or ("Nothing here would be refused.",)
        else:
            told = ("Under add-remove no data is refused.",)
        alarms = [report.wrapped(f"ALARM: {each}") for each in self.alarms]
        return legible("\n".join([*lines, *(["", *alarms] if alarms else []), "", *told]))

    def _table(self) -> list[tuple[str, str, str]]:
        """Return rows of the printed table: the label, the count, and its share of the total."""
        of_rows = {
            "values missing": self.missing,
            "values infinite": self.infinite,
            "values below the bounds": self.below,
            "values above the bounds": self.above,
            "values in no declared category": self.undeclared,
            "second values missing": self.missing_y,
            "rows in no declared group": self.without_group,
            "rows where it is missing whether they count": self.not_known,
            "rows without a person": self.without_person,
        }
        of_people = {
            "people without any value": self.without_value,
            "people with two budgets": self.two_budgets,
            "people without a usable budget": self.unusable_budget,
            "people with budget 0": self.zero_budget,
            "people below the lowest level": self.below_levels,
            "people who are public": self.public_budget,
        }
        rows = [("rows", f"{self.rows:,}", ""), ("people", f"{self.people:,}", "")]
        rows.append(("rows of a person: median", number(self.median_rows), ""))
        rows.append(("rows of a person: most", f"{self.most_rows:,}", ""))
        for counted, whole in ((of_rows, self.rows), (of_people, self.people)):
            rows += [
                (what, f"{many:,}", _share(many, whole))
                for what, many in counted.items()
                if many is not None
            ]
        return rows


@parameters.speaks_plainly(lambda: table.OF_A_QUESTION)
def check(
    question: Question,
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
) -> Check:
    """Return exact counts of the data, before any statistic is published, for the curator only.

    No noise is drawn, no budget is spent, and no data is refused. The arguments are the same as for
    `epsilons.publish`.

    Args:
        question: the question that would be asked, such as `epsilons.Mean` or
            `epsilons.Frequencies`.
        epsilon: each person's budget: an array, the name of a column, or one number for everyone.
        menu: the budgets that words stand for, if `epsilon` is a column of words.
        data: any table that Narwhals supports, or the path of a Parquet or CSV file.
        separator: the character that separates the columns of a CSV file.
        decimal: the decimal mark of numbers in a file of text.
        thousands: the mark between thousands there.
        person: the person of each row: an array, or the name of a column.
        weights: the weights of people, as for `epsilons.publish`.
        neighbours: "replace" or "add-remove".
        levels: for add/remove, the budgets that people were offered.
        cap: for add/remove, the largest amount that anyone spends.

    Returns:
        The numbers of rows and people, of missing, clipped and undeclared values, and of people
        with an unusable budget; and the reasons why the data would be refused.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError).
        DataError: the engine of the data failed.
        FileError: the file does not exist, or its content does not match its extension.

    Guarantee:
        None: the result is not private. It never becomes part of a release.

    Examples:
        >>> import epsilons as ep
        >>> question = ep.Mean("minutes", bounds=(0, 120))
        >>> look = ep.check(question, epsilon="epsilon", data="people.csv", person="person")
        >>> look.people, look.missing, look.refusals
        (4000, 0, ())
    """
    terms = terms_of(locals())
    if not isinstance(question, Question):
        raise ArgumentError(
            f"question is of type {type(question).__name__}: give one question, such as "
            "ep.Mean(…) or ep.Frequencies(…)."
        )
    call = question.call(**terms)
    found = question.look(call)
    looks = question.looks_beside(call)
    beside = {name: _unknown(each) for name, each in looks.items()}
    columns = [beside[name] for name in ("by", "by_2") if name in beside]
    without_group = max(columns, default=None)
    ends = None if found.least is None or found.largest is None else (found.least, found.largest)
    return Check(
        statistic=question.statistic,
        neighbours=neighbours,
        name=call.name_of(question.subject),
        rows=found.rows,
        people=found.people,
        without_person=found.nobody,
        median_rows=found.median_rows,
        most_rows=found.most_rows,
        missing=found.missing,
        infinite=found.infinite,
        below=found.below,
        above=found.above,
        undeclared=found.undeclared,
        without_group=without_group,
        not_known=beside.get("where"),
        missing_y=beside.get("y"),
        without_value=found.silent,
        two_budgets=found.conflicts,
        unusable_budget=found.unusable,
        zero_budget=found.zero,
        public_budget=found.public,
        below_levels=None if call.declared is None else found.short,
        budgets=ends,
        refusals=()
        if call.declared is not None
        else (
            *_refusals(found, question.refuses, menu),
            *_refused_beside(question, beside),
            *_refused_weights(question, call),
        ),
        alarms=_alarms({next(iter(question.columns)): found, **looks}, of_text=door.is_text(data)),
    )


def _alarms(looks: dict[str, door.Look], *, of_text: bool) -> tuple[str, ...]:
    """Return the reasons why a result would not be informative, one sentence each.

    Args:
        looks: counts by parameter: first for the values, then for the question's other columns.
        of_text: whether the data are a file of text, for which marks in numbers can be declared.
    """
    alarms = []
    text = {"epsilon": next(iter(looks.values())).unread_budgets}
    for parameter, found in looks.items():
        gone = found.missing + (found.infinite or 0)
        if gone and 2 * gone >= found.rows:
            alarms.append(
                f"{parameter}: {_share(gone, found.rows)} of the rows count as missing. A result "
                "would say little about the people."
            )
        text[parameter] = found.unread
    alarms += [
        f"{parameter}: some entries are written with {'; '.join(forms)}. As they are, they count "
        f"as missing: {_MARKS if of_text and {door.COMMAS, door.THOUSANDS} & {*forms} else ''}"
        "convert the column to plain numbers first, such as 1234.5."
        f"{f' {door.ANSWERS}' if door.TRUTH in forms else ''}"
        for parameter, forms in text.items()
        if forms
    ]
    return tuple(alarms)


_MARKS: Final = (
    'give the marks that the file uses, such as decimal="," for 1,5 or thousands="," for 1,234; or '
)


def _unknown(found: door.Look) -> int:
    """Return the number of rows whose value is missing, infinite or undeclared."""
    return found.missing + (found.infinite or 0) + (found.undeclared or 0)


_EXCLUDED: Final = ', which missing="exclude" would leave out'


def _refused_beside(question: Question, beside: dict[str, int]) -> tuple[str, ...]:
    """Return the reasons to refuse columns other than the values under replace."""
    if question.policy("replace") == "exclude":
        return ()
    means = not isinstance(question, Frequencies)  # frequencies do not accept missing="exclude"
    reasons = {
        f"rows in no declared group{_EXCLUDED if means else ''}": (
            beside.get("by", 0) + beside.get("by_2", 0)
        ),
        f"rows where it is missing whether they count{_EXCLUDED}": beside.get("where", 0),
        question.refuses and f"in the second column, {question.refuses}": beside.get("y", 0),
    }
    return tuple(
        f"Would be refused: {reason}." for reason, count in reasons.items() if reason and count
    )


def _refused_weights(question: Question, call: Call) -> tuple[str, ...]:
    """Return the reason to refuse weights, if any."""
    if call.weights is None:
        return ()
    try:
        question.open(call).weigh()
    except DataError as refusal:
        return (str(refusal),) if call.weights.unit is None else ()
    return ()


def _refusals(found: door.Look, refuses: str, menu: object) -> tuple[str, ...]:
    """Return the reasons why the data would be refused under replace, one sentence each.

    Args:
        found: counts of rows and people.
        refuses: a description of the values that the question refuses; "" if it accepts all.
        menu: the menu of words that stand for budgets, or None.
    """
    unusable = "negative, NaN or missing" if menu is None else "missing or not in menu"
    reasons = {
        "fewer than two people": found.people < 2,
        f"{'budgets' if menu is None else 'words'} that are {unusable}": found.unusable > 0,
        "a budget of 0 for everyone": found.people == found.zero > 0,
        "rows without a person": found.nobody > 0,
        "people with two budgets": found.conflicts > 0,
        refuses: _unknown(found) > 0 and refuses != "",
    }
    return tuple(f"Would be refused: {reason}." for reason, holds in reasons.items() if holds)


def _share(many: int, whole: int) -> str:
    """Format a share in percent with three significant digits. A small share is never 0 %."""
    if whole == 0 or many == 0:
        return "0 %"
    return f"{number(100.0 * many / whole, 3)} %"

"""The functions that users call for sums and for numbers of people: `total` and `count`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from epsilons import parameters
from epsilons.asking.publishing import answered
from epsilons.budgets.levels import Levels
from epsilons.draws.accounts import Account
from epsilons.draws.noise import Source
from epsilons.questions.count import Count
from epsilons.questions.total import Total
from epsilons.results.release import Release
from epsilons.types import (
    Column,
    Data,
    LossOfOne,
    Menu,
    Missing,
    Neighbours,
    TotalMethod,
    Where,
)

__all__ = ["Count", "Total", "count", "total"]

ALSO_CALLED = {"sum": "total"}
"""Names that users guess, each with the name that they mean; `loading.py` reads it."""

Statistic: TypeAlias = Literal["total", "count"]


@parameters.speaks_plainly(Total.NOT_TAKEN)
def total(
    values: Column,
    *,
    epsilon: Column | None = None,
    menu: Menu | None = None,
    bounds: tuple[float, float],
    data: Data | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    person: Column | None = None,
    weights: Column | None = None,
    neighbours: Neighbours = "replace",
    related: bool | float = True,
    loss: LossOfOne = "mse",
    confidence: float = 0.95,
    method: TotalMethod = "auto",
    missing: Missing | None = None,
    levels: Levels | None = None,
    cap: float | None = None,
    ledger: Account | None = None,
    title: str | None = None,
    unit: str | None = None,
    source: Source | None = None,
) -> Release:
    """Publish the sum of a column over people when everyone has their own ε.

    With `person`, all rows of a person are added up. For the sum of each person's mean, use
    `epsilons.mean(…).total()`.

    Args:
        values: an array, or the name of a column of `data`.
        epsilon: each person's budget: an array, the name of a column, or one number for everyone.
        menu: the budgets that words stand for, if `epsilon` is a column of words.
        bounds: the range (lo, hi) that one person's total can have, known without looking at the
            data. Each row, and the sum of a person's rows, is clipped to it. It must include 0 with
            `person`, and if missing values are accepted.
        data: a table or a file: see `epsilons.mean`.
        separator: the character that separates the columns of a CSV file.
        decimal: the decimal mark of numbers in a file of text.
        thousands: the mark between thousands there.
        person: the person of each row: an array, or the name of a column. Without it, every row is
            a person.
        weights: how many people each person stands for: see `epsilons.mean`. The total is the
            sum of the values times the weights.
        neighbours: "replace" or "add-remove": see `epsilons.mean`.
        related: whether budgets can be related to values: see `epsilons.mean`. Under add/remove
            everyone counts equally, and it makes no difference.
        loss: the error to minimize: "mse" or "pac", as for `epsilons.mean`.
        confidence: the confidence of the PAC error, and of the printed interval.
        method: "auto", or the name of a method (`epsilons.plan` lists them).
        missing: the treatment of values that are null, NaN or infinite: "error" refuses them, and
            with "exclude" they add 0. The default is "error" under replace and "exclude" under
            add/remove.
        levels: for add/remove, the budgets that people were offered. Everyone spends the lowest.
        cap: for add/remove, the largest amount that anyone spends, if it is below the lowest level.
        ledger: instead of epsilon, a claim on a ledger.
        title: a description of the measured quantity, in one line of at most 120 characters.
        unit: the unit of the values, such as "EUR".
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value`, `.interval()`, `.spent`. Under replace it is the number of people
        times a mean. Under add/remove the number of people is private, and `.n` is noisy.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError).
        DataError: the data cannot be used. The error can depend on values, so it is for the curator
            only. Under add/remove no data is refused.
        FileError: the file does not exist, or its content does not match its extension.

    Guarantee:
        The same as for `epsilons.mean`. Rows are rounded to 2⁻³⁰ of the range, and intervals are
        about the sum of rounded rows: docs/proofs/counts.md (4), (5).

    Reference:
        As for `epsilons.mean`, with rows added up on an integer grid.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> release = ep.total(hours, epsilon=epsilon, bounds=(0, 24), source=ep.Seeded(1))
        >>> round(release.value), [round(end) for end in release.interval()]
        (858, [715, 1002])
    """
    return answered(Total, locals())


@parameters.speaks_plainly(Count.NOT_TAKEN)
def count(
    values: Column | None = None,
    *,
    epsilon: Column | None = None,
    menu: Menu | None = None,
    data: Data | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    person: Column | None = None,
    neighbours: Neighbours = "add-remove",
    loss: LossOfOne = "mse",
    confidence: float = 0.95,
    missing: Missing | None = None,
    where: Where | None = None,
    levels: Levels | None = None,
    cap: float | None = None,
    ledger: Account | None = None,
    title: str | None = None,
    source: Source | None = None,
) -> Release:
    """Publish the number of people, if participation is private, or of people with a label.

    Under add/remove, everyone whose budget is at least the lowest level counts as one, and spends
    that level. With `where` under replace, the result is the estimated share of people with the
    label, times the number of people, which is public.

    Args:
        values: any column of numbers, or an array. Its rows are counted, and its numbers are
            ignored. It can be None if budgets are a column or an array: then their rows are
            counted.
        epsilon: each person's budget: an array, the name of a column, or one number for everyone.
        menu: the budgets that words stand for, if `epsilon` is a column of words.
        data: a table or a file: see `epsilons.mean`.
        separator: the character that separates the columns of a CSV file.
        decimal: the decimal mark of numbers in a file of text.
        thousands: the mark between thousands there.
        person: the person of each row. A person counts once. Without it, every row is a person.
        neighbours: "add-remove"; or with `where` also "replace", under which the number of all
            people is public.
        loss: the error to show: "mse", the root mean square error; or "pac", the quantile of the
            error at probability `confidence`.
        confidence: the confidence of the printed interval.
        missing: "exclude" counts only people who have a value, and keeps private who they are. By
            default everyone counts, with or without a value.
        where: a pair of a column and a label, such as ("answer", "yes"), or a Boolean column. Only
            people who have a row with that label are counted. Labels are compared exactly, and a
            missing value matches no label. Do not give `values` or `missing` together with `where`.
        levels: the budgets that people were offered.
        cap: the largest amount that anyone spends, if it is below the lowest level.
        ledger: instead of epsilon, a claim on a ledger.
        title: a description of the counted people, in one line of at most 120 characters.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value`, an integer, and `.interval()`.

    Raises:
        ArgumentError: an argument is invalid, or the number of people is public.
        FileError: the file does not exist, or its content does not match its extension.

    Guarantee:
        With and without person i the probabilities of results differ by at most a factor e^{e_i},
        where e_i ≤ ε_i is `release.spent(ε_i)`: docs/proofs/counts.md.

    Reference:
        Ghosh, Roughgarden and Sundararajan (2009): no other noise is better for a count, regardless
        of prior knowledge about it.

    Examples:
        >>> import epsilons as ep
        >>> epsilon = [0.5, 1.0, 1.0, 2.0] * 50
        >>> offered = {"neighbours": "add-remove", "levels": [0.5, 1.0, 2.0]}
        >>> release = ep.count(epsilon=epsilon, source=ep.Seeded(1), **offered)
        >>> round(release.value), [round(end) for end in release.interval()]
        (201, [195, 207])
    """
    return answered(Count, locals())

"""The functions that users call for quantiles and for counts of people: `quantile` and `count`."""

from __future__ import annotations

from collections.abc import Sequence

from epsilons import parameters
from epsilons.asking.publishing import answered
from epsilons.budgets.levels import Levels
from epsilons.draws.accounts import Account
from epsilons.draws.noise import Source
from epsilons.questions.count import Count
from epsilons.questions.quantile import Quantile, QuantileMethod
from epsilons.results.release import Release
from epsilons.types import About, Column, Data, LossOfOne, Menu, Missing, Neighbours, Where

__all__ = ["count", "quantile"]


@parameters.speaks_plainly(Quantile.NOT_TAKEN)
def quantile(
    values: Column,
    q: float | Sequence[float],
    *,
    epsilon: Column | None = None,
    menu: Menu | None = None,
    bounds: tuple[float, float],
    data: Data | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    person: Column | None = None,
    neighbours: Neighbours = "replace",
    about: About = "people",
    related: bool | float = True,
    loss: LossOfOne = "mse",
    confidence: float = 0.95,
    method: QuantileMethod = "auto",
    missing: Missing | None = None,
    levels: Levels | None = None,
    cap: float | None = None,
    ledger: Account | None = None,
    title: str | None = None,
    unit: str | None = None,
    source: Source | None = None,
) -> Release:
    """Publish the q-quantile of a column when everyone has their own ε.

    The quantile is the smallest value v such that at least a share q of the people are at or below
    v. Its resolution is 1/1024 of the range, so choose bounds as narrow as you can justify.

    Args:
        values: an array, or the name of a column of `data`.
        q: a share strictly between 0 and 1, such as 0.5 for the median; or several in ascending
            order.
        epsilon: each person's budget: an array, the name of a column, or one number for everyone.
        menu: the budgets that words stand for, if `epsilon` is a column of words.
        bounds: the range (lo, hi) that values can have, known without looking at them. Values
            outside, including infinite ones, are clipped.
        data: a table or a file: see `epsilons.mean`.
        separator: the character that separates the columns of a CSV file.
        decimal: the decimal mark of numbers in a file of text.
        thousands: the mark between thousands there.
        person: the person of each row: an array, or the name of a column. Someone with r rows
            counts as r people of weight 1/r each, regardless of the order of rows. Without it,
            every row is a person.
        neighbours: "replace" or "add-remove": see `epsilons.mean`.
        about: whether to estimate the quantile of exactly these "people", or of the "population"
            that they are a sample of.
        related: whether budgets can be related to values: True, in any way; False; or a number δ:
            the share of people below any value differs by at most δ between budgets.
        loss: the error to show: "mse" or "pac". Both are forecasts for values that are spread
            evenly over the bounds. In the worst case over all data, the error can be the whole
            range. Intervals hold for all data.
        confidence: the confidence of the printed interval. The method "selection" selects the
            interval for this confidence.
        method: "table": a table of bins, which gives all quantiles. "selection", under replace:
            each quantile is selected among 1024 cells, and then an interval around it. "auto"
            selects the method with shorter intervals for values that are spread evenly.
        missing: the treatment of values that are null or NaN: "error" refuses them, "midpoint"
            replaces them by the middle of the bounds, "exclude" leaves out people without a value,
            keeps private who they are, and uses the method "table". The default is "error" under
            replace, and "midpoint" under add/remove.
        levels: for add/remove, the budgets that people were offered: see `epsilons.mean`.
        cap: for add/remove, the largest amount that anyone spends.
        ledger: instead of epsilon, a claim on a ledger.
        title: a description of the measured quantity, in one line of at most 120 characters.
        unit: the unit of the values, such as "minutes".
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release. `.value` and `.interval()` are numbers for one q, and arrays for several. For
        several, `.band()` holds for all of them simultaneously.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError).
        DataError: the data cannot be used. The error can depend on values, so it is for the curator
            only. Under add/remove no data is refused.
        FileError: the file does not exist, or its content does not match its extension.

    Guarantee:
        The same as for `epsilons.mean`: docs/proofs/quantiles.md.

    Reference:
        A table is a histogram whose noise sums to zero (docs/proofs/closed.md). A selection is the
        permute-and-flip mechanism of McKenna and Sheldon (2020), with personal weights, drawn
        exactly.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> release = ep.quantile(hours, 0.5, epsilon=epsilon, bounds=(0, 24), source=ep.Seeded(1))
        >>> round(release.value, 1), [round(end, 1) for end in release.interval()]
        (4.4, [3.0, 7.5])
    """
    return answered(Quantile, locals())


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

"""The functions that users call for how values are spread: quantiles, variances, covariances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from epsilons import parameters
from epsilons.asking.publishing import answered
from epsilons.budgets.levels import Levels
from epsilons.draws.accounts import Account
from epsilons.draws.noise import Source
from epsilons.questions.covariance import Covariance
from epsilons.questions.quantile import Quantile, QuantileMethod
from epsilons.questions.variance import Variance
from epsilons.results.release import Release
from epsilons.types import About, Column, Data, LossOfOne, Menu, Missing, Neighbours, SoftMethod

__all__ = ["Covariance", "Quantile", "Variance", "covariance", "quantile", "variance"]

ALSO_CALLED = {"correlation": "covariance", "median": "quantile", "std": "variance"}
"""Names that users guess, each with the name that they mean; `loading.py` reads it."""

Statistic: TypeAlias = Literal["quantile", "variance", "covariance"]


@parameters.speaks_plainly(Quantile.NOT_TAKEN, Quantile.ADVICE)
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


@parameters.speaks_plainly(Variance.NOT_TAKEN)
def variance(
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
    neighbours: Neighbours = "replace",
    about: About = "people",
    related: bool | float = True,
    confidence: float = 0.95,
    method: SoftMethod = "auto",
    missing: Missing | None = None,
    levels: Levels | None = None,
    cap: float | None = None,
    ledger: Account | None = None,
    title: str | None = None,
    source: Source | None = None,
) -> Release:
    """Publish the variance of a column when everyone has their own ε.

    A variance costs no more budget than the mean. Under replace, the sum of squares is released
    with the sum at no extra cost; under add/remove, everyone divides one unit among three cells.

    Args:
        values: an array, or the name of a column of `data`.
        epsilon: each person's budget: an array, the name of a column, or one number for everyone.
        menu: the budgets that words stand for, if `epsilon` is a column of words.
        bounds: the range (lo, hi) that values can have, known without looking at them. Values
            outside are clipped.
        data: any table that Narwhals supports, or the path of a Parquet or CSV file: see
            `epsilons.mean`.
        separator: the character that separates the columns of a CSV file.
        decimal: the decimal mark of numbers in a file of text.
        thousands: the mark between thousands there.
        person: the person of each row: an array, or the name of a column. One person's rows are
            averaged first. Without it, every row is a person.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": who
            takes part, and with which budget, is also private.
        about: whether to estimate the variance of exactly these "people", or of the "population"
            that they are a sample of.
        related: whether budgets can be related to values: True, in any way; False; or a number δ:
            the means of people with different budgets differ by at most δ of the range. The same
            bound applies to the means of any combination of values and their squares.
        confidence: the confidence of the printed intervals.
        method: "auto", or the name of a method.
        missing: the treatment of values that are null, NaN or infinite: "error" or "midpoint", as
            for `epsilons.mean`; "exclude" estimates the variance of the people who have a value,
            and keeps private who they are.
        levels: for add/remove, the budgets that people were offered: see `epsilons.mean`.
        cap: for add/remove, the largest amount that anyone spends.
        ledger: instead of epsilon, a claim on people's remaining budgets in a ledger.
        title: a description of the measured quantity, in one line.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value` is the variance, `.interval()` its interval, `.spread` the standard
        deviation with its interval.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError).
        DataError: the data cannot be used. The error can depend on values, so it is for the curator
            only. Under add/remove no data is refused.
        FileError: the file does not exist, or its content does not match its extension.

    Guarantee:
        Person i loses at most the amount that `release.spent` reports, which is at most ε_i:
        replace-one or add/remove, pure, exact on integers: docs/proofs/moment.md,
        docs/proofs/pairs.md.

    Reference:
        Paper *correlated*, Algorithm 2 (HPM); the sum of squares at no cost is new.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 500, [0.5, 1.0, 1.0, 2.0] * 500
        >>> release = ep.variance(hours, epsilon=epsilon, bounds=(0, 24), source=ep.Seeded(1))
        >>> round(release.value, 1), [round(end, 1) for end in release.interval()]
        (6.6, [5.0, 8.2])
    """
    return answered(Variance, locals())


@parameters.speaks_plainly(Covariance.NOT_TAKEN, Covariance.ADVICE)
def covariance(
    x: Column,
    y: Column,
    *,
    epsilon: Column | None = None,
    menu: Menu | None = None,
    x_bounds: tuple[float, float],
    y_bounds: tuple[float, float],
    data: Data | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    person: Column | None = None,
    neighbours: Neighbours = "replace",
    about: About = "people",
    related: bool | float = True,
    confidence: float = 0.95,
    method: SoftMethod = "auto",
    missing: Missing | None = None,
    levels: Levels | None = None,
    cap: float | None = None,
    ledger: Account | None = None,
    title: str | None = None,
    source: Source | None = None,
) -> Release:
    """Publish the covariance of two columns when everyone has their own ε.

    Everyone divides one unit among nine cells. From these, one release gives the covariance, the
    slope, the correlation and both means.

    Args:
        x: the first column: an array, or the name of a column of `data`.
        y: the second column: an array, or the name of a column of `data`.
        epsilon: each person's budget: an array, the name of a column, or one number for everyone.
        menu: the budgets that words stand for, if `epsilon` is a column of words.
        x_bounds: the range (lo, hi) that values of x can have, known without looking at them.
            Values outside are clipped.
        y_bounds: the same for y.
        data: any table that Narwhals supports, or the path of a Parquet or CSV file: see
            `epsilons.mean`.
        separator: the character that separates the columns of a CSV file.
        decimal: the decimal mark of numbers in a file of text.
        thousands: the mark between thousands there.
        person: the person of each row: an array, or the name of a column. One person's rows are
            averaged first, in each column. Without it, every row is a person.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": who
            takes part, and with which budget, is also private.
        about: whether to estimate the covariance of exactly these "people", or of the "population"
            that they are a sample of.
        related: whether budgets can be related to values: True, in any way; False; or a number δ:
            the means of people with different budgets differ by at most δ of the range. The same
            bound applies to the means of any combination of both columns, their squares and their
            product.
        confidence: the confidence of the printed intervals.
        method: "auto", or the name of a method.
        missing: the treatment of values that are null, NaN or infinite, in either column: "error"
            or "midpoint", as for `epsilons.mean`; "exclude" leaves out anyone who has no value in
            one of the two columns, and keeps private who they are.
        levels: for add/remove, the budgets that people were offered: see `epsilons.mean`.
        cap: for add/remove, the largest amount that anyone spends.
        ledger: instead of epsilon, a claim on people's remaining budgets in a ledger.
        title: a description of the measured quantity, in one line.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value` is the covariance, `.interval()` its interval, `.slope` the slope of y
        on x. `.slope`, `.correlation` and `.means` have `value`, `low` and `high`.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError).
        DataError: the data cannot be used. The error can depend on values, so it is for the curator
            only. Under add/remove no data is refused.
        FileError: the file does not exist, or its content does not match its extension.

    Guarantee:
        Person i loses at most the amount that `release.spent` reports, which is at most ε_i:
        replace-one or add/remove, pure, exact on integers: docs/proofs/pairs.md.

    Reference:
        Hardt and Talwar (2010) for the noise of a table in which everyone divides one unit among
        the cells; the choice of the nine cells is new.

    Examples:
        >>> import epsilons as ep
        >>> hours, sleep = [3.5, 8.0, 1.0, 6.5] * 500, [8.0, 6.0, 9.0, 7.0] * 500
        >>> asked = {"x_bounds": (0, 12), "y_bounds": (0, 12), "source": ep.Seeded(1)}
        >>> release = ep.covariance(hours, sleep, epsilon=[0.5, 1.0, 1.0, 2.0] * 500, **asked)
        >>> round(release.value, 1), round(release.correlation.value, 1)
        (-2.9, -1.0)
    """
    return answered(Covariance, locals())

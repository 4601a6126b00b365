"""The functions that users call for quantiles and numbers of people: `quantile` and `count`."""

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
from epsilons.types import About, Column, Data, LossOfOne, Missing, Neighbours

__all__ = ["count", "quantile"]


@parameters.speaks_plainly(Quantile.NOT_TAKEN)
def quantile(
    values: Column,
    q: float | Sequence[float],
    *,
    epsilon: Column | None = None,
    bounds: tuple[float, float],
    data: Data | None = None,
    separator: str | None = None,
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
    """Publish the value that a share q of people is at or below when everyone has their own ε.

    The quantile is the smallest value v such that at least a share q of the people are at or below
    v. It is known to a 1024th of the range at best, so choose bounds as narrow as you can defend.

    Args:
        values: an array, or the name of a column of `data`.
        q: a share strictly between 0 and 1, such as 0.5 for the median; or several in ascending
            order.
        epsilon: each person's budget: an array, the name of a column, or one number for everyone.
        bounds: the range (lo, hi) that values can have, known without looking at them. Values
            outside, including infinite ones, are clipped.
        data: a table or a file: see `epsilons.mean`.
        separator: what separates the columns of a CSV file.
        person: which person a row belongs to: an array, or the name of a column. Someone with r
            rows counts as r people of weight 1/r each, in whatever order the rows come. Without it,
            every row is a person.
        neighbours: "replace" or "add-remove": see `epsilons.mean`.
        about: whose quantile to estimate: that of exactly these "people", or of the "population"
            that they are a sample of.
        related: whether budgets may be related to values: True, in any way; False; or a number δ:
            the share of people below any value differs by at most δ from budget to budget.
        loss: which error is shown: "mse" or "pac". Either is a forecast for values that are spread
            evenly over the bounds: in the worst case over all data, the error may be the whole
            range. Intervals hold for all data.
        confidence: the confidence of the printed interval; a selection is designed for it.
        method: "table": a table of bins, which serves all quantiles at once. "selection", under
            replace: each quantile, and one on either side of it, is selected among 1024 candidates.
            "auto" picks the one with shorter intervals for values that are spread evenly.
        missing: what to do with a value that is null or NaN: "error" refuses it, "midpoint"
            replaces it by the middle of the bounds, "exclude" takes the quantiles of those who
            have a value, from a table, and keeps secret who they are. The default is "error" under
            replace, and "midpoint" under add/remove.
        levels: for add/remove, the budgets that people were offered: see `epsilons.mean`.
        cap: for add/remove, the most that anyone spends.
        ledger: instead of epsilon, a claim on a ledger.
        title: what was measured, in one line of at most 120 characters.
        unit: the unit of the values, such as "minutes".
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value` and `.interval()` are numbers for one q, and arrays for several. For
        several, `.band()` holds for all of them at once.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError).
        DataError: the data cannot be used. It may depend on values, so it is for the curator
            alone. Under add/remove no data is refused.
        FileError: the file is missing, or is not what its name says.

    Guarantee:
        The same as for `epsilons.mean`: docs/proofs/quantiles.md.

    Reference:
        A table is a closed histogram (docs/proofs/closed.md). A selection is the exponential
        mechanism of McSherry and Talwar (2007), with personal weights, drawn exactly.
    """
    return answered(Quantile, locals())


@parameters.speaks_plainly(Count.NOT_TAKEN)
def count(
    values: Column | None = None,
    *,
    epsilon: Column | None = None,
    data: Data | None = None,
    separator: str | None = None,
    person: Column | None = None,
    neighbours: Neighbours = "add-remove",
    loss: LossOfOne = "mse",
    confidence: float = 0.95,
    missing: Missing | None = None,
    levels: Levels | None = None,
    cap: float | None = None,
    ledger: Account | None = None,
    title: str | None = None,
    source: Source | None = None,
) -> Release:
    """Publish how many people there are, if their very presence is private.

    Everyone whose budget is at least the lowest level counts as one, and spends that level.

    Args:
        values: any column of numbers, or an array: only its rows are counted. May be None if the
            budgets are a column or an array: then their rows are counted.
        epsilon: each person's budget: an array, the name of a column, or one number for everyone.
        data: a table or a file: see `epsilons.mean`.
        separator: what separates the columns of a CSV file.
        person: which person a row belongs to. A person counts once. Without it, every row is a
            person.
        neighbours: "add-remove". Under "replace" the number of people is public.
        loss: which error is shown: "mse", the root mean square error; or "pac", the error that is
            not exceeded with probability `confidence`.
        confidence: the confidence of the printed interval.
        missing: "exclude" counts those who have a value, and keeps secret who they are. By default
            everyone counts, whether they have a value or not.
        levels: the budgets that people were offered.
        cap: the most that anyone spends, if that is below the lowest level.
        ledger: instead of epsilon, a claim on a ledger.
        title: what was counted, in one line of at most 120 characters.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value`, a whole number, and `.interval()`.

    Raises:
        ArgumentError: an argument is invalid, or people are public.
        FileError: the file is missing, or is not what its name says.

    Guarantee:
        With and without person i the probabilities of results differ by at most a factor e^{e_i},
        where e_i ≤ ε_i is `release.spent(ε_i)`: docs/proofs/counts.md.

    Reference:
        Ghosh, Roughgarden and Sundararajan (2009): no other noise is better for a count, whatever
        is known about it.
    """
    return answered(Count, locals())

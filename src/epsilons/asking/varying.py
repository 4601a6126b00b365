"""The functions that users call for variances and covariances: `variance` and `covariance`."""

from __future__ import annotations

from epsilons import parameters
from epsilons.asking.publishing import answered
from epsilons.budgets.levels import Levels
from epsilons.draws.accounts import Account
from epsilons.draws.noise import Source
from epsilons.questions.covariance import Covariance
from epsilons.questions.variance import Variance
from epsilons.results.release import Release
from epsilons.types import About, Column, Data, Missing, Neighbours, SoftMethod

__all__ = ["covariance", "variance"]


@parameters.speaks_plainly(Variance.NOT_TAKEN)
def variance(
    values: Column,
    *,
    epsilon: Column | None = None,
    bounds: tuple[float, float],
    data: Data | None = None,
    separator: str | None = None,
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

    It costs what the mean costs: under replace, squares come with a sum at no extra cost; under
    add/remove, everyone divides one unit among three cells.

    Args:
        values: an array, or the name of a column of `data`.
        epsilon: each person's budget: an array, the name of a column, or one number for everyone.
        bounds: the range (lo, hi) that values can have, known without looking at them. Values
            outside are clipped.
        data: any table that Narwhals reads, or the path of a Parquet or CSV file: see
            `epsilons.mean`.
        separator: what separates the columns of a CSV file.
        person: which person a row belongs to: an array, or the name of a column. One person's rows
            are averaged first. Without it, every row is a person.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": who
            takes part, and with which budget, is private too.
        about: whose truth to estimate: that of exactly these "people", or of the "population" that
            they are a sample of.
        related: whether budgets may be related to values: True, in any way; False; or a number δ:
            the means of people at different budgets differ by at most δ of the range, and so do the
            means of any combination of values and their squares.
        confidence: the confidence of the printed intervals.
        method: "auto", or the name of a rule.
        missing: what to do with a value that is null, NaN or infinite: "error" or "midpoint", as
            for `epsilons.mean`; "exclude" takes the variance of those who have a value, and keeps
            secret who they are.
        levels: for add/remove, the budgets that people were offered: see `epsilons.mean`.
        cap: for add/remove, the most that anyone spends.
        ledger: instead of epsilon, a claim on what people have left in a ledger.
        title: what was measured, in one line.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value` the variance, `.interval()`, `.spread` the standard deviation with its
        interval, and all that may be published with it.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError).
        DataError: the data cannot be used; it may depend on values, so it is for the curator alone.
            Under add/remove no data is refused.
        FileError: the file is missing, or is not what its name says.

    Guarantee:
        Person i loses at most what `release.spent` reports, which is at most ε_i: replace-one or
        add/remove, pure, exact on integers: docs/proofs/moment.md, docs/proofs/pairs.md.

    Reference:
        Paper *correlated*, Algorithm 2 (HPM); the second sum at no cost is new.
    """
    return answered(Variance, locals())


@parameters.speaks_plainly(Covariance.NOT_TAKEN)
def covariance(
    x: Column,
    y: Column,
    *,
    epsilon: Column | None = None,
    x_bounds: tuple[float, float],
    y_bounds: tuple[float, float],
    data: Data | None = None,
    separator: str | None = None,
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
    """Publish how two columns are related when everyone has their own ε.

    Everyone divides one unit among nine cells, so covariance, slope, correlation and both means
    come from one release.

    Args:
        x: the first column: an array, or the name of a column of `data`.
        y: the second column, likewise.
        epsilon: each person's budget: an array, the name of a column, or one number for everyone.
        x_bounds: the range (lo, hi) that values of x can have, known without looking at them.
            Values outside are clipped.
        y_bounds: the same for y.
        data: any table that Narwhals reads, or the path of a Parquet or CSV file: see
            `epsilons.mean`.
        separator: what separates the columns of a CSV file.
        person: which person a row belongs to: an array, or the name of a column. One person's rows
            are averaged first, in each column. Without it, every row is a person.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": who
            takes part, and with which budget, is private too.
        about: whose truth to estimate: that of exactly these "people", or of the "population" that
            they are a sample of.
        related: whether budgets may be related to values: True, in any way; False; or a number δ:
            the means of people at different budgets differ by at most δ of the range, and so do the
            means of any combination of both columns, their squares and their product.
        confidence: the confidence of the printed intervals.
        method: "auto", or the name of a rule.
        missing: what to do with a value that is null, NaN or infinite, in either column: "error" or
            "midpoint", as for `epsilons.mean`; "exclude" leaves out anyone who has no value in one
            of the two columns, and keeps secret who they are.
        levels: for add/remove, the budgets that people were offered: see `epsilons.mean`.
        cap: for add/remove, the most that anyone spends.
        ledger: instead of epsilon, a claim on what people have left in a ledger.
        title: what was measured, in one line.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value` the covariance, `.interval()`, `.slope` of y on x,
        `.correlation` and `.means`, each with `value`, `low` and `high`, and all that may be
        published with it.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError).
        DataError: the data cannot be used; it may depend on values, so it is for the curator alone.
            Under add/remove no data is refused.
        FileError: the file is missing, or is not what its name says.

    Guarantee:
        Person i loses at most what `release.spent` reports, which is at most ε_i: replace-one or
        add/remove, pure, exact on integers: docs/proofs/pairs.md.

    Reference:
        Noise for the simplex of shares of nine cells (Hardt and Talwar, 2010); the choice of cells
        is new.
    """
    return answered(Covariance, locals())

"""The function that users call for means: `mean`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from epsilons import parameters
from epsilons.asking.publishing import answered
from epsilons.budgets.levels import Levels
from epsilons.draws.accounts import Account
from epsilons.draws.noise import Source
from epsilons.questions.mean import Mean
from epsilons.results.release import Release
from epsilons.types import (
    About,
    Column,
    Data,
    GroupsAre,
    Labels,
    LossOfOne,
    MeanMethod,
    Menu,
    Missing,
    Neighbours,
    Shape,
    Where,
)

__all__ = ["Mean", "mean"]

ALSO_CALLED = {"average": "mean"}
"""Names that users guess, each with the name that they mean; `loading.py` reads it."""

Statistic: TypeAlias = Literal["mean"]


@parameters.speaks_plainly(Mean.NOT_TAKEN)
def mean(
    values: Column,
    *,
    epsilon: Column | None = None,
    menu: Menu | None = None,
    bounds: tuple[float, float] | None,
    shape: Shape = "any",
    data: Data | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    person: Column | None = None,
    weights: Column | None = None,
    neighbours: Neighbours = "replace",
    about: About = "people",
    related: bool | float = True,
    spread: float | None = None,
    loss: LossOfOne = "mse",
    confidence: float = 0.95,
    method: MeanMethod = "auto",
    missing: Missing | None = None,
    by: Column | None = None,
    groups: Labels | Sequence[Labels] | None = None,
    groups_are: GroupsAre = "private",
    shrink: bool = False,
    where: Where | None = None,
    levels: Levels | None = None,
    cap: float | None = None,
    ledger: Account | None = None,
    title: str | None = None,
    unit: str | None = None,
    source: Source | None = None,
) -> Release:
    """Publish the mean of a column when everyone has their own ε.

    Args:
        values: an array, or the name of a column of `data`.
        epsilon: each person's budget: an array, the name of a column, or one number for everyone. 0
            leaves a person out of the sum, ∞ makes their record public.
        menu: if `epsilon` is a column of words, the budget that each stands for, such as
            {"strict": 0.1, "medium": 0.5, "open": 2}. Words are compared exactly. Missing and other
            words are refused under replace; under add/remove such people are left out, and the
            menu is also `levels`.
        bounds: the range (lo, hi) that values can have, known without looking at them. Values
            outside are clipped. Write None if you do not know the range: part of everyone's budget
            is then spent on estimating one.
        shape: with bounds=None, the estimand. "any": the mean of the values clipped to the
            estimated range, without assumptions. "gaussian", with about="population" and
            related=False: the mean of a Gaussian population.
        data: any table that Narwhals supports (pandas, Polars eager or lazy, PyArrow, DuckDB,
            PySpark, …), or the path of a .parquet, .csv, .tsv, .csv.gz or .tsv.gz file. In a CSV
            file, cells that are not numbers count as missing.
        separator: the character that separates the columns of a CSV file, such as ";". The default
            is a comma, or a tab in .tsv files.
        decimal: the decimal mark of numbers in a file of text, such as ",". The default is a point.
        thousands: the mark between thousands there, such as "." in 1.234,5; by default there is
            none. Cells that are written otherwise count as missing.
        person: the person of each row: an array, or the name of a column. One person's rows are
            averaged first. Without it, every row is a person.
        weights: for surveys, how many people each person stands for: an array of numbers above 0,
            or the name of a column. Weights are public, as budgets are. Someone of weight w counts
            as w people with the budget ε/w each, and nobody spends more than ε. Weights require
            neighbours="replace" and bounds. They change what a number δ for `related` assumes, and
            related=False requires about="population": docs/weights.md.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": who
            takes part, and with which budget, is also private.
        about: whether to estimate the mean of exactly these "people", or of the "population" that
            they are a sample of.
        related: whether budgets can be related to values: True, in any way, which assumes nothing;
            False, if budgets are independent of values; or a number δ, such as 0.05: the means of
            people with different budgets differ by at most δ of the range. It affects errors and
            intervals, never privacy.
        spread: a guess of the standard deviation of the values, as a fraction of the range, such as
            0.1, made without looking at the data. The cap is then chosen to minimize the error for
            such data. The guess affects neither privacy nor validity: intervals and the printed
            error hold for all data.
        loss: the error to minimize: "mse", the mean squared error; or "pac", the quantile of the
            error at probability `confidence`. For "pac" with `related` True about people, "auto"
            weighs this error against the length of the interval.
        confidence: the confidence of the PAC error, and of the printed interval.
        method: "auto" selects the method with the smallest forecast error; or the name of a method
            (`epsilons.plan` lists them). "adaptive", with bounds under replace, first spends a
            tenth of everyone's budget to estimate the spread.
        missing: the treatment of values that are null, NaN or infinite: "error" refuses them;
            "midpoint" replaces them by the middle of the range; "exclude" leaves them out, and with
            them anyone who has no other value. The default is "error" under replace and "midpoint"
            under add/remove. There "error" is not accepted, because a refusal would reveal data.
        by: for a mean of each group, the column of groups, or its name; or a list of two columns.
        groups: the labels of the groups, declared without looking at the data; for two columns, a
            list for each. Rows in other groups are refused under replace, unless missing="exclude".
        groups_are: "private"; or "public", under replace, if group membership is public: then
            nobody is in two groups, and each group has its own cap and less noise.
        shrink: whether the mean of each group is shrunk toward the mean of all groups. A mean with
            more noise is shrunk more, but never out of its interval. For small groups of real
            tables, errors are mostly 1 to 7 times smaller, and at worst 3.6 times larger. Intervals
            and comparisons stay the same.
        where: the rows to include: a Boolean column, or its name; or a pair of a column and a
            label, such as ("answer", "yes"). A missing entry does not equal the label. Which rows
            are included is private.
        levels: for add/remove, the budgets that people were offered, or a mapping from these to the
            number of people that you expect at each. These are public. Wrong numbers reduce
            accuracy, never privacy.
        cap: for add/remove, the largest amount that anyone spends. By default it is chosen for the
            numbers of people in `levels`. Without these numbers, it is chosen from a private count
            of people that spends an eighth of everyone's budget. If budgets can be related to
            values, people are counted whenever levels are declared and weights differ: otherwise
            the interval would be the whole range. With related=True and different budgets, levels
            must be declared.
        ledger: instead of epsilon, a claim on people's remaining budgets in a ledger, such as
            `ledger.claim("wages 2026", at_most=0.2)`. It requires `person`.
        title: a description of the measured quantity, in one line of at most 120 characters, for
            printouts, JSON and reports.
        unit: the unit of the values, such as "minutes", at most 40 characters.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value`, `.interval()`, `.spent`, and everything else that can be published
        with it. With `by`, `.value` is an array in the order of `.groups`.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError).
        DataError: the data cannot be used: empty, fewer than two people, missing values, two
            budgets for one person. The error can depend on values, so it is for the curator only.
            Under add/remove no data is refused.
        FileError: the file does not exist, or its content does not match its extension.

    Guarantee:
        Replace-one, pure: for every person i, all data, all values that i could have instead, and
        all sets of results, the probabilities differ by at most a factor e^{e_i}. Here e_i ≤ ε_i is
        the loss that `release.spent` reports. Exact on integers: docs/proofs/additive.md.
        Under add/remove the same holds with and without person i, where e_i ≤ ε_i is
        `release.spent(ε_i)`: docs/proofs/add-remove.md. The guarantee also protects a person's
        private group, whether they answered, and whether `where` includes them:
        docs/proofs/groups.md, docs/proofs/parallel.md.

    Reference:
        Paper *correlated*, Algorithm 2 (HPM), for any effective budgets; on an integer grid, with
        discrete Laplace or staircase noise from the system's entropy.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> release = ep.mean(hours, epsilon=epsilon, bounds=(0, 24), source=ep.Seeded(1))
        >>> print(release.verdict.words[0])
        Precise to ±0.72 (3 % of the range).
        >>> [round(end, 1) for end in release.interval()]
        [3.6, 5.0]
    """
    return answered(Mean, locals())

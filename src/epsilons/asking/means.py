"""The functions that users call for means and shares: `mean` and `frequencies`."""

from __future__ import annotations

from collections.abc import Sequence

from epsilons import parameters
from epsilons.asking.publishing import answered
from epsilons.budgets.levels import Levels
from epsilons.draws.accounts import Account
from epsilons.draws.noise import Source
from epsilons.questions import Frequencies, Mean
from epsilons.results.release import Release
from epsilons.types import (
    About,
    Column,
    Data,
    Edges,
    FrequenciesMethod,
    GroupsAre,
    Label,
    Labels,
    Loss,
    LossOfOne,
    MeanMethod,
    Missing,
    Neighbours,
    Shape,
)

__all__ = ["frequencies", "mean"]


@parameters.speaks_plainly(Mean.NOT_TAKEN)
def mean(
    values: Column,
    *,
    epsilon: Column | None = None,
    bounds: tuple[float, float] | None,
    shape: Shape = "any",
    data: Data | None = None,
    separator: str | None = None,
    person: Column | None = None,
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
    where: Column | None = None,
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
        bounds: the range (lo, hi) that values can have, known without looking at them. Values
            outside are clipped. Write None if you do not know the range: part of everyone's budget
            is then spent on finding one.
        shape: with bounds=None, what is claimed. "any": the mean of the values clipped to the range
            that was found, which holds for all data. "gaussian", with about="population" and
            related=False: the mean of a Gaussian population.
        data: any table that Narwhals reads (pandas, Polars eager or lazy, PyArrow, DuckDB, PySpark,
            …), or the path of a .parquet, .csv, .tsv, .csv.gz or .tsv.gz file. In a CSV file, cells
            that are not numbers count as missing.
        separator: what separates the columns of a CSV file, such as ";". The default is a comma, or
            a tab in .tsv files.
        person: which person a row belongs to: an array, or the name of a column. One person's rows
            are averaged first. Without it, every row is a person.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": who
            takes part, and with which budget, is private too.
        about: whose mean to estimate: that of exactly these "people", or of the "population" that
            they are a sample of.
        related: whether budgets may be related to values: True, in any way, which holds for all
            data; False, if people's budgets say nothing about their values; or a number δ, such as
            0.05: the means of people at different budgets differ by at most δ of the range. It
            changes errors and intervals, never privacy.
        spread: a guess of the standard deviation of the values, as a fraction of the range, such as
            0.1, made without looking at the data. It moves the cap to where the error is smallest
            for such data, and changes neither privacy nor what is claimed: intervals and the
            printed error hold for all data.
        loss: which error to minimize: "mse", the mean squared error; or "pac", the error that is
            not exceeded with probability `confidence`.
        confidence: the confidence of the PAC error, and of the printed interval.
        method: "auto" picks the smallest forecast error; or name a rule (`epsilons.plan` lists
            them). "adaptive", with bounds under replace, finds the spread with a tenth of
            everyone's budget first.
        missing: what to do with a value that is null, NaN or infinite: "error" refuses it;
            "midpoint" replaces it by the middle of the range; "exclude" leaves it out, and anyone
            who has no other value. The default is "error" under replace, and "midpoint" under
            add/remove, where "error" is not accepted because a refusal would reveal something.
        by: for a mean of each group, the column of groups, or its name; or a list of two.
        groups: their labels, declared without looking at the data; for two columns, a list for
            each. Other rows are refused under replace, unless missing="exclude".
        groups_are: "private"; or "public", under replace, if group membership is no secret: then
            nobody is in two groups, and each group has its own cap and less noise.
        where: which rows count: a column of booleans, or its name. It is private.
        levels: for add/remove, the budgets that people were offered, or a mapping from these to how
            many people you expect at each: these are public facts. If they are wrong, that costs
            accuracy, never privacy.
        cap: for add/remove, the most that anyone spends. By default it is chosen for the people
            that you expect. If levels do not say how many, it is chosen from a private count of
            people that spends an eighth of everyone's budget. If budgets may be related to values,
            people are counted whenever levels are declared and weights differ, because otherwise
            the interval would be the whole range. With related=True and budgets that differ,
            levels must be declared.
        ledger: instead of epsilon, a claim on what people have left in a ledger, such as
            `ledger.claim("wages 2026", at_most=0.2)`. It needs `person`.
        title: what was measured, in one line of at most 120 characters, for printouts, JSON and
            reports.
        unit: the unit of the values, such as "minutes", at most 40 characters.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value`, `.interval()`, `.spent` and all that may be published with it. With
        `by`, `.value` is an array in the order of `.groups`.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError).
        DataError: the data cannot be used: empty, fewer than two people, missing values, two
            budgets for one person. It may depend on values, so it is for the curator alone. Under
            add/remove no data is refused.
        FileError: the file is missing, or is not what its name says.

    Guarantee:
        Replace-one, pure: for every person i, all data, all values that i could have instead, and
        all sets of results, the probabilities differ by at most a factor e^{e_i}, where e_i ≤ ε_i
        is what `release.spent` reports. Exact on integers: docs/proofs/additive.md.
        Under add/remove the same holds with and without person i, where e_i ≤ ε_i is
        `release.spent(ε_i)`: docs/proofs/add-remove.md. A group that is not public counts as a
        value, and so does whether i answered or is in the subset: docs/proofs/groups.md,
        parallel.md.

    Reference:
        Paper *correlated*, Algorithm 2 (HPM), for any effective budgets; on an integer grid, with
        discrete Laplace or staircase noise from the system's entropy.
    """
    return answered(Mean, locals())


@parameters.speaks_plainly(Frequencies.NOT_TAKEN)
def frequencies(
    values: Column | tuple[Column, ...],
    *,
    epsilon: Column | None = None,
    categories: Labels | Sequence[Labels] | None = None,
    edges: Edges | None = None,
    other: Label | None = None,
    project: bool = True,
    data: Data | None = None,
    separator: str | None = None,
    person: Column | None = None,
    neighbours: Neighbours = "replace",
    about: About = "people",
    related: bool | float = True,
    loss: Loss = "mse",
    confidence: float = 0.95,
    method: FrequenciesMethod = "auto",
    missing: Missing | None = None,
    by: Column | None = None,
    groups: Labels | Sequence[Labels] | None = None,
    levels: Levels | None = None,
    cap: float | None = None,
    ledger: Account | None = None,
    title: str | None = None,
    unit: str | None = None,
    source: Source | None = None,
) -> Release:
    """Publish which share of people is in each category when everyone has their own ε.

    Args:
        values: an array, or the name of a column of `data`; for a table of several columns, a
            tuple of two or three of them, such as ("region", "answer").
        epsilon: each person's budget: an array, the name of a column, or one number for everyone. 0
            leaves a person out of the counts, ∞ makes their record public.
        categories: declared without looking at the data: distinct strings, integers or booleans.
            Numbers are categories too, not edges: with 0, 18 and 65, someone who is 30 is in none.
            For a tuple of columns, a tuple with a list for each; every combination is a cell.
        edges: for bins of numbers, instead of categories: edges [0, 18, 65], or pairs that may
            leave gaps, [(0, 18), (30, 65)]. A bin holds lo ≤ value < hi; the last one also holds
            hi.
        other: the category for every value that is missing or not declared; with it, no value is
            refused. It is for one column.
        project: whether `.value` is projected to the simplex; otherwise it is clipped to [0, 1].
        data: as for `epsilons.mean`; cells of a file that do not have the type of the categories
            count as missing.
        separator: as for `epsilons.mean`.
        person: which person a row belongs to: an array, or the name of a column. One person's rows
            share one unit equally: each of r rows counts floor(720,720/r)/720,720, which is 1/r for
            up to 16 rows and short of it by less than 1/720,720 for more; the remainder is spread
            evenly over all categories. Without it, every row is a person.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": who
            takes part, and with which budget, is private too.
        about: whose shares to estimate: those of exactly these "people", or of the "population"
            that they are a sample of.
        related: whether budgets may be related to categories: True, False, or a number δ: the share
            of any category differs by at most δ between people at different budgets.
        loss: which error to minimize: "mse", the sum of the squared errors of all categories;
            "largest", the mean square of the largest error of any category; or "pac", the error of
            the worst category that is not exceeded with probability `confidence`.
        confidence: the confidence of the PAC error, and of the printed intervals.
        method: "auto", or the name of a rule.
        missing: "error", the default under replace: a missing or undeclared value is refused unless
            `other` is given. Under add/remove such a value is in `other`, or in no category.
        by: another way to ask for a table: the column before `values`, or a list of two.
            by="region", values="answer" means the same as values=("region", "answer").
        groups: the labels of `by`; for two columns, a list for each.
        levels: for add/remove, as for `epsilons.mean`.
        cap: for add/remove, as for `epsilons.mean`.
        ledger: instead of epsilon, a claim on a ledger, as for `epsilons.mean`.
        title: what was measured, in one line of at most 120 characters, for printouts, JSON and
            reports.
        unit: the unit of the values, for bins and integers, such as "years".
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value` and `.raw` in the order of `.categories`, `.interval()` for each
        category, `.band()` for all at once. Of a table, `.marginal("region")` has the shares of one
        column, and `.within("region")` those of the answers in each region.

    Raises:
        ArgumentError: an argument is invalid (also BudgetError, ColumnError).
        DataError: the data cannot be used. It may depend on values, so it is for the curator alone.
        FileError: the file is missing, or is not what its name says.

    Guarantee:
        Replace-one, pure: for every person i, all data, all categories that i could be in instead,
        and all sets of results, the probabilities differ by at most a factor e^{e_i}, where
        e_i ≤ ε_i is what `release.spent` reports. Exact on integers: docs/proofs/frequencies.md.
        Under add/remove the same holds with and without person i: docs/proofs/add-remove.md.

    Reference:
        Paper *correlated*, Algorithm 1 (HPF), for any effective budgets; on integers, with discrete
        Laplace noise from the system's entropy.
    """
    return answered(Frequencies, locals())

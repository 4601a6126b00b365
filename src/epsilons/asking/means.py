"""What users type to learn means and shares: `mean` and `frequencies`."""

from __future__ import annotations

from typing import Any

from epsilons import parameters, statistics
from epsilons.accounts import Account
from epsilons.asking.publishing import publish
from epsilons.noise import Source
from epsilons.release import Release
from epsilons.statistics import NOT_GIVEN, Mean

__all__ = ["frequencies", "mean"]


@parameters.speaks_plainly
def mean(
    values: Any,
    *,
    epsilon: Any = None,
    bounds: Any = NOT_GIVEN,
    shape: str = "any",
    data: Any = None,
    separator: str | None = None,
    person: Any = None,
    neighbours: str = "replace",
    about: str = "people",
    related: bool | float = True,
    spread: float | None = None,
    loss: str = "mse",
    confidence: float = 0.95,
    method: str = "auto",
    missing: str | None = None,
    by: Any = None,
    groups: Any = None,
    groups_are: str = "private",
    where: Any = None,
    levels: Any = None,
    cap: float | None = None,
    ledger: Account | None = None,
    title: str | None = None,
    unit: str | None = None,
    source: Source | None = None,
) -> Release:
    """Publish the mean of a column when everyone has their own ε.

    Args:
        values: an array, or the name of a column of `data`.
        epsilon: each person's budget: an array, the name of a column, or one number for all.
            0 leaves a person out of the sum, ∞ makes their record public.
        bounds: the range (lo, hi) that values can have, known without looking at them. Values
            outside are clipped. None, written out: nobody knows the range, and part of everyone's
            budget is spent on finding one.
        shape: with bounds=None, what is claimed. "any": the mean of the values cut to the range
            that was found, which holds for all data. "gaussian", with about="population" and
            related=False: the mean of a Gaussian population.
        data: any table that Narwhals reads (pandas, Polars eager or lazy, PyArrow, DuckDB,
            PySpark, …), or the path of a .parquet, .csv, .tsv, .csv.gz or .tsv.gz file. Of the
            cells of a CSV file those that are no numbers are missing.
        separator: of the columns of a CSV file, such as ";": a comma, or in .tsv files a tab.
        person: whose row it is: an array, or the name of a column. One person's rows become their
            mean first. Without it every row is a person.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": it is
            private, too, who takes part and with which budget.
        about: whose mean is wanted: of "people", these very people, or of the "population" that
            they are a sample of.
        related: whether budgets may go with values: True, in any way, which is true of all data;
            False, if who has which budget says nothing of their value; or a number δ, such as 0.05:
            the means of people at different budgets differ by at most δ of the range. It changes
            errors and intervals, never privacy.
        spread: a guess of the standard deviation of the values, in parts of the range, such as 0.1:
            made without looking at the data. It moves the cap to where the error is least for such
            data, and changes neither privacy nor what is claimed: intervals and the error that is
            printed hold for all data.
        loss: which error to make small: "mse", or "pac", that not exceeded with `confidence`.
        confidence: of the PAC error, and of the interval that is printed.
        method: "auto" takes the smallest forecast error; or a rule by name (`epsilons.plan` lists
            them). "sampling" draws per person and needs data in memory. "adaptive", with bounds
            under replace, finds the spread with a tenth of everyone's budget first.
        missing: what a value that is null, NaN or infinite gets: "error", a refusal; "midpoint",
            the middle of the range; or "exclude": it is left out, with whoever has no other. Not
            given, it is "error" under replace, and "midpoint" under add/remove, where "error" is
            not accepted, for a refusal would tell.
        by: for a mean of each group, the column of groups, or its name; or a list of two.
        groups: their labels, declared without looking at the data, for two columns a list of each.
            Other rows are refused under replace, unless missing="exclude".
        groups_are: "private"; or "public", under replace, if it is no secret who is in which: then
            nobody is in two, and each group has its own cap and less noise.
        where: which rows are asked about, privately: a column of truth values, or its name.
        levels: for add/remove, the budgets that people were offered, or a mapping from these to how
            many people you expect at each: public facts, that cost accuracy if they are wrong and
            never privacy.
        cap: for add/remove, the most that anyone spends. Without it it is chosen for the people
            that you expect, or, if levels says nothing of that, from a private count of people
            that spends an eighth of everyone's budget. If budgets may be related to values, people
            are counted wherever levels are declared and weights differ, for no interval could be
            given else; without levels none is.
        ledger: in place of epsilon, a claim on what people have left in a ledger, such as
            `ledger.claim("wages 2026", at_most=0.2)`. It needs `person`.
        title: what was measured, in a line of at most 120 characters, for prints, JSON and pages.
        unit: of the values, such as "minutes", at most 40 characters.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, never private.

    Returns:
        The release: `.value`, `.interval()`, `.spent` and all that may be published with it; with
        by, `.value` is an array in the order of `.groups`.

    Raises:
        ArgumentError: an argument cannot mean anything (also BoundsError, BudgetError,
            ColumnError).
        DataError: the data cannot be used: empty, fewer than two people, missing values, two
            budgets for one person. It may depend on values, so it is for the curator alone. Under
            add/remove no data is refused.
        FileError: the file is missing, or is not what its name says.

    Guarantee:
        Replace-one, pure: for every person i, all data, all values that i could have instead, and
        all sets of results, the probabilities differ by at most a factor e^{e_i}, where e_i ≤ ε_i
        is what `release.spent` reports. Exact on integers: docs/proofs/additive.md.
        Under add/remove the same with and without person i, where e_i ≤ ε_i is what the rule
        `release.spent` says of ε_i: docs/proofs/add-remove.md. A group that is not public, and
        whether i answered or is asked, counts as a value: docs/proofs/groups.md, parallel.md.

    Reference:
        Paper *correlated*, Algorithm 2 (HPM), for any effective budgets; on an integer grid, with
        discrete Laplace or staircase noise from the system's entropy.
    """
    question = Mean(
        values,
        bounds=bounds,
        shape=shape,
        about=about,
        related=related,
        spread=spread,
        loss=loss,
        confidence=confidence,
        method=method,
        missing=missing,
        by=by,
        groups=groups,
        groups_are=groups_are,
        where=where,
        title=title,
        unit=unit,
    )
    return publish(
        [question],
        epsilon=epsilon,
        data=data,
        separator=separator,
        person=person,
        neighbours=neighbours,
        levels=levels,
        cap=cap,
        ledger=ledger,
        source=source,
    )[0]


@parameters.speaks_plainly
def frequencies(
    values: Any,
    *,
    epsilon: Any = None,
    categories: Any = None,
    edges: Any = None,
    other: Any = None,
    project: bool = True,
    data: Any = None,
    separator: str | None = None,
    person: Any = None,
    neighbours: str = "replace",
    about: str = "people",
    related: bool | float = True,
    loss: str = "mse",
    confidence: float = 0.95,
    method: str = "auto",
    missing: str | None = None,
    levels: Any = None,
    cap: float | None = None,
    ledger: Account | None = None,
    title: str | None = None,
    unit: str | None = None,
    source: Source | None = None,
) -> Release:
    """Publish which share of people is in each category when everyone has their own ε.

    Args:
        values: an array, or the name of a column of `data`.
        epsilon: each person's budget: an array, the name of a column, or one number for all.
            0 leaves a person out of the counts, ∞ makes their record public.
        categories: declared without looking at the data: distinct strings, integers or booleans.
            They are always categories: of 0, 18 and 65, those who are 30 are in none.
        edges: for bins of numbers, in place of categories: edges [0, 18, 65], or pairs that may
            leave gaps, [(0, 18), (30, 65)]. A bin holds lo ≤ value < hi, the last one hi, too.
        other: the category that catches every value that is missing or not declared; with it no
            data is refused for a value.
        project: whether `.value` is projected to the simplex; otherwise it is cut to [0, 1].
        data: as for `epsilons.mean`; cells of a file that are not of the type of the categories are
            missing.
        separator: as for `epsilons.mean`.
        person: whose row it is: an array, or the name of a column. One person's rows share one
            unit equally: each of r rows counts floor(720,720/r)/720,720, which is 1/r for up to 16
            rows and short of it by less than 1/720,720 for more; what is left is spread evenly over
            all categories. Without it every row is a person.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": it is
            private, too, who takes part and with which budget.
        about: whose shares are wanted: of "people" or of the "population" they are a sample of.
        related: whether budgets may go with categories: True, False, or a number δ: the share of
            any category differs by at most δ between people at different budgets.
        loss: which error to make small: "mse", the squares of the errors of all categories
            together; "largest", the mean square of the largest error of any category; or "pac", the
            error of the worst category that is not exceeded with probability `confidence`.
        confidence: of the PAC error, and of the intervals that are printed.
        method: "auto", or a rule by name. "sampling" draws per person and needs data in memory.
        missing: "error" under replace, also if not given: a missing or undeclared value is refused
            unless `other` is given. Under add/remove such a value is in `other`, or in no category.
        levels: for add/remove, as for `epsilons.mean`.
        cap: for add/remove, as for `epsilons.mean`.
        ledger: in place of epsilon, a claim on a ledger, as for `epsilons.mean`.
        title: what was measured, in a line of at most 120 characters, for prints, JSON and pages.
        unit: of the numbers that bins or integers stand for, such as "years".
        source: None for the system's entropy; `epsilons.Seeded` for simulations, never private.

    Returns:
        The release: `.value` and `.raw` in the order of `.categories`, `.interval()` for each
        category, `.band()` for all at once.

    Raises:
        ArgumentError: an argument cannot mean anything (also BudgetError, ColumnError).
        DataError: the data cannot be used. It may depend on values, so it is for the curator alone.
        FileError: the file is missing, or is not what its name says.

    Guarantee:
        Replace-one, pure: for every person i, all data, all categories that i could be in instead,
        and all sets of results, the probabilities differ by at most a factor e^{e_i}, where
        e_i ≤ ε_i is what `release.spent` reports. Exact on integers: docs/proofs/frequencies.md.
        Under add/remove the same with and without person i: docs/proofs/add-remove.md.

    Reference:
        Paper *correlated*, Algorithm 1 (HPF), for any effective budgets; on integers, with discrete
        Laplace noise from the system's entropy.
    """
    question = statistics.Frequencies(
        values,
        categories=categories,
        edges=edges,
        other=other,
        project=project,
        about=about,
        related=related,
        loss=loss,
        confidence=confidence,
        method=method,
        missing=missing,
        title=title,
        unit=unit,
    )
    return publish(
        [question],
        epsilon=epsilon,
        data=data,
        separator=separator,
        person=person,
        neighbours=neighbours,
        levels=levels,
        cap=cap,
        ledger=ledger,
        source=source,
    )[0]

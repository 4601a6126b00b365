"""The function that users call for shares of people: `frequencies`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from epsilons import parameters
from epsilons.asking.publishing import answered
from epsilons.budgets.levels import Levels
from epsilons.draws.accounts import Account
from epsilons.draws.noise import Source
from epsilons.questions.frequencies import Frequencies
from epsilons.results.release import Release
from epsilons.types import (
    About,
    Column,
    Data,
    Edges,
    FrequenciesMethod,
    Label,
    Labels,
    Loss,
    Menu,
    Missing,
    Neighbours,
)

__all__ = ["Frequencies", "frequencies"]

ALSO_CALLED = {"histogram": "frequencies", "shares": "frequencies"}
"""Names that users guess, each with the name that they mean; `loading.py` reads it."""

Statistic: TypeAlias = Literal["frequencies"]


@parameters.speaks_plainly(Frequencies.NOT_TAKEN)
def frequencies(
    values: Column | tuple[Column, ...],
    *,
    epsilon: Column | None = None,
    menu: Menu | None = None,
    categories: Labels | Sequence[Labels] | None = None,
    edges: Edges | None = None,
    other: Label | None = None,
    project: bool = True,
    data: Data | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    person: Column | None = None,
    weights: Column | None = None,
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
    """Publish the share of people in each category when everyone has their own ε.

    Args:
        values: an array, or the name of a column of `data`; for a table of several columns, a
            tuple of two or three of them, such as ("region", "answer").
        epsilon: each person's budget: an array, the name of a column, or one number for everyone. 0
            leaves a person out of the counts, ∞ makes their record public.
        menu: the budgets that words stand for, if `epsilon` is a column of words.
        categories: declared without looking at the data: distinct strings, integers or booleans.
            Integers are categories, not bin edges: with [0, 18, 65], the value 30 has no category.
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
        decimal: the decimal mark of numbers in a file of text.
        thousands: the mark between thousands there.
        person: the person of each row: an array, or the name of a column. One person's rows share
            one unit equally: each of r rows counts floor(720,720/r)/720,720. This is 1/r for up to
            16 rows, and less than 1/720,720 below 1/r for more rows. The remainder is spread evenly
            over all categories. Without `person`, every row is a person.
        weights: how many people each person stands for: see `epsilons.mean`. A share is then a
            fraction of the sum of all weights.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": who
            takes part, and with which budget, is also private.
        about: whether to estimate the shares of exactly these "people", or of the "population" that
            they are a sample of.
        related: whether budgets can be related to categories: True, False, or a number δ: the share
            of any category differs by at most δ between people with different budgets.
        loss: the error to minimize: "mse", the sum of the squared errors of all categories;
            "largest", the mean square of the largest error of any category; or "pac", the quantile
            of the largest error at probability `confidence`.
        confidence: the confidence of the PAC error, and of the printed intervals.
        method: "auto", or the name of a rule.
        missing: "error", the default under replace: a missing or undeclared value is refused unless
            `other` is given. Under add/remove such a value is in `other`, or in no category.
        by: another way to ask for a table: its first column, or a list of its first two columns;
            `values` is then the last column. by="region", values="answer" means the same as
            values=("region", "answer").
        groups: the labels of `by`; for two columns, a list for each.
        levels: for add/remove, as for `epsilons.mean`.
        cap: for add/remove, as for `epsilons.mean`.
        ledger: instead of epsilon, a claim on a ledger, as for `epsilons.mean`.
        title: a description of the measured quantity, in one line of at most 120 characters, for
            printouts, JSON and reports.
        unit: the unit of the values, for bins and integers, such as "years".
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `.value` and `.raw` in the order of `.categories`, `.interval()` for each
        category, `.band()` for all at once. For a table, `.marginal("region")` has the shares of
        one column, and `.within("region")` the shares of the answers within each region.

    Raises:
        ArgumentError: an argument is invalid (also BudgetError, ColumnError).
        DataError: the data cannot be used. The error can depend on values, so it is for the curator
            only.
        FileError: the file does not exist, or its content does not match its extension.

    Guarantee:
        Replace-one, pure: for every person i, all data, all categories that i could be in instead,
        and all sets of results, the probabilities differ by at most a factor e^{e_i}. Here
        e_i ≤ ε_i is the loss that `release.spent` reports. Exact on integers:
        docs/proofs/frequencies.md. Under add/remove the same holds with and without person i:
        docs/proofs/add-remove.md.

    Reference:
        Paper *correlated*, Algorithm 1 (HPF), for any effective budgets; on integers, with discrete
        Laplace noise from the system's entropy.

    Examples:
        >>> import epsilons as ep
        >>> tea, epsilon = ["green", "black", "black", "none"] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> kinds = ["green", "black", "none"]
        >>> release = ep.frequencies(tea, epsilon=epsilon, categories=kinds, source=ep.Seeded(1))
        >>> dict(zip(release.categories, release.value.round(2).tolist()))
        {'green': 0.24, 'black': 0.49, 'none': 0.26}
    """
    return answered(Frequencies, locals())

"""The share of people in each category, when everyone has their own budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from epsilons import parameters, tally
from epsilons.allocation import FREQUENCY_RULES, Allocation, Goal, allocate_for
from epsilons.budgets import Budgets, Floats
from epsilons.central import add_remove
from epsilons.central.designs import CELL_METHODS
from epsilons.central.histogram import Histogram, build_histogram
from epsilons.central.mean import PROTECTS, refuse_public_facts
from epsilons.errors import ArgumentError
from epsilons.noise import Source, resolve
from epsilons.release import FrequencyRelease, Spent
from epsilons.risk.simplex import project as projected

_ASSUMES = {
    "iid": (
        "The people are a sample, independent draws from one population, and budgets say nothing "
        "of categories. The shares in that population are estimated."
    ),
    "shuffled": (
        "The shares among these very people are estimated, and who chose which budget says nothing "
        "of their category."
    ),
    "correlated": (
        "The shares among these very people are estimated. Budgets may say anything about "
        "categories."
    ),
}


def frequencies(
    values: Any,
    *,
    epsilon: Any,
    categories: Any = None,
    edges: Any = None,
    other: Any = None,
    project: bool = True,
    data: Any = None,
    separator: str | None = None,
    person: Any = None,
    neighbours: str = "replace",
    assume: str = "iid",
    loss: str = "mse",
    confidence: float = 0.95,
    method: str = "auto",
    missing: str | None = None,
    levels: Any = None,
    cap: float | None = None,
    source: Source | None = None,
) -> FrequencyRelease:
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
        data: any table that Narwhals reads, or the path of a Parquet or CSV file: .parquet, .csv,
            .tsv, .csv.gz or .tsv.gz. Of the cells of a CSV file those that are not of the type of
            the categories are missing.
        separator: what separates the columns of a CSV file, such as ";". Without it it is a comma
            in .csv files and a tab in .tsv files.
        person: whose row it is: an array, or the name of a column. One person's rows share one
            unit equally: each of r rows counts floor(720,720/r)/720,720, which is 1/r for up to 16
            rows and short of it by less than 1/720,720 for more. Without it every row is a person.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": it is
            private, too, who takes part and with which budget.
        assume: "iid", "shuffled" or "correlated": see `epsilons.mean`.
        loss: which error of the worst category to make small: "mse", or "pac", the one not
            exceeded with probability `confidence`.
        confidence: of the PAC error, and of the intervals that are printed.
        method: "auto" takes the smallest forecast error; or a rule by name. "sampling" draws per
            person and needs data in memory.
        missing: "error" under replace, also if it is not given: a missing or undeclared value is
            refused unless `other` is given. Not to be given under add/remove, where a refusal would
            tell: such a value is in `other`, or in no category.
        levels: for add/remove, as for `epsilons.mean`.
        cap: for add/remove, as for `epsilons.mean`.
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
    parameters.choice("neighbours", neighbours)
    policy = parameters.missing(missing, neighbours) or "error"
    data = tally.source(data, separator)
    private = neighbours == "add-remove"
    parameters.choice("method", method, ("auto", *(CELL_METHODS if private else FREQUENCY_RULES)))
    words = Goal.of_words(assume, loss, confidence)
    if not isinstance(project, bool):
        raise ArgumentError(f"project={project!r} must be True or False.")
    entropy = resolve(source)
    if private:
        return add_remove.frequencies(
            values,
            epsilon=epsilon,
            categories=categories,
            edges=edges,
            other=other,
            project=project,
            data=data,
            person=person,
            missing=policy,
            goal=words,
            levels=levels,
            cap=cap,
            source=entropy,
        )
    refuse_public_facts(levels, cap)
    tally.refuse_midpoint(policy)
    rows = tally.open(
        values,
        epsilon=epsilon,
        data=data,
        person=person,
        missing=policy,
        categories=tally.declare(categories, edges, other),
        apart="sampling" if method == "sampling" else None,
    )
    if method == "sampling":
        counted, level_of, cell_of = rows.each().in_cells()
    else:
        counted = rows.cells()
    goal = replace(words, cells=len(counted.categories))
    budgets = Budgets.of_levels(counted.levels, counted.counts)
    allocation = allocate_for(budgets, goal, method)
    mechanism = build_histogram(allocation, unit=counted.unit)
    if mechanism.keep is None:
        total = mechanism.total(counted.cells)
    else:
        total = mechanism.thin(entropy, level_of, cell_of)
    raw = mechanism.estimates(mechanism.draw(entropy, total=total))
    value = projected(raw) if project else np.clip(raw, 0.0, 1.0)
    release = _release(mechanism, allocation, raw, value, counted.categories, entropy)
    return replace(release, other=other)


def _release(
    mechanism: Histogram,
    allocation: Allocation,
    raw: Floats,
    value: Floats,
    categories: tuple[Any, ...],
    source: Source,
) -> FrequencyRelease:
    for array in (raw, value):
        array.flags.writeable = False
    goal = allocation.goal
    return FrequencyRelease(
        statistic="frequencies",
        value=value,
        raw=raw,
        categories=categories,
        n=allocation.n,
        method=allocation.method,
        neighbours="replace",
        assume=goal.assume,
        loss=goal.loss,
        confidence=goal.confidence,
        risk=goal.risk(mechanism.weighing),
        exact=allocation.exact,
        spent=Spent.rows(allocation.levels, allocation.counts, allocation.spent),
        protects=PROTECTS,
        assumes=_ASSUMES[goal.assume],
        private=source.private,
        mechanism=mechanism,
    )

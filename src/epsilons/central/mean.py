"""The mean of people with their own budgets, on a known range."""

from __future__ import annotations

from typing import Any, Final

from epsilons import parameters, tally
from epsilons.allocation import RULES, Allocation, allocate_for
from epsilons.budgets import Budgets
from epsilons.central import add_remove, gaussian
from epsilons.central.designs import METHODS
from epsilons.central.mechanism import Additive, Sampled, build
from epsilons.errors import ArgumentError, BoundsError
from epsilons.noise import Source, resolve
from epsilons.release import MeanRelease, Spent
from epsilons.risk.goals import MeanGoal, checked


class _NotGiven:
    """What stands for an argument that must be given, so that its absence gets a kind word."""

    def __repr__(self) -> str:
        return "<to be given>"


_NOT_GIVEN: Final = _NotGiven()

PROTECTS = (
    "Each person's value: whatever it is, no result becomes more or less likely by more than a "
    "factor e^(spent), which is 10 % at 0.1 and 2.7 times at 1, and nobody's spent is above their "
    "own ε. "
    "Budgets and the number of people count as public here: nothing that a budget itself reveals "
    "is protected."
)

_ASSUMES = {
    "iid": (
        "The people are a sample, their values independent draws from one population, and budgets "
        "say nothing of values. The mean of that population is estimated."
    ),
    "shuffled": (
        "The mean of these very people is estimated, and who chose which budget says nothing of "
        "their values."
    ),
    "correlated": (
        "The mean of these very people is estimated. Budgets may say anything about values."
    ),
}


def mean(
    values: Any,
    *,
    epsilon: Any,
    bounds: Any = _NOT_GIVEN,
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
) -> MeanRelease:
    """Publish the mean of a column when everyone has their own ε.

    Args:
        values: an array, or the name of a column of `data`.
        epsilon: each person's budget: an array, the name of a column, or one number for all.
            0 leaves a person out of the sum, ∞ makes their record public.
        bounds: the range (lo, hi) that values can have, known without looking at them. Values
            outside are clipped. None, written out: nobody knows the range, and part of everyone's
            budget is spent on finding one; the mean of a Gaussian population is estimated.
        data: any table that Narwhals reads (pandas, Polars eager or lazy, PyArrow, DuckDB,
            PySpark, …), or the path of a Parquet or CSV file: .parquet, .csv, .tsv, .csv.gz or
            .tsv.gz. Of the cells of a CSV file those that are no numbers are missing.
        separator: what separates the columns of a CSV file, such as ";". Without it it is a comma
            in .csv files and a tab in .tsv files.
        person: whose row it is: an array, or the name of a column. One person's rows become their
            mean first. Without it every row is a person.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": it is
            private, too, who takes part and with which budget.
        assume: "iid" (a sample; the population mean is wanted), "shuffled" (these very people, and
            budgets say nothing of values) or "correlated" (these very people, budgets may say
            anything).
        loss: which error to make small: "mse", or "pac", the one not exceeded with probability
            `confidence`.
        confidence: of the PAC error, and of the interval that is printed.
        method: "auto" takes the smallest forecast error; or a rule by name (`epsilons.plan` lists
            them). "sampling" draws per person and needs data in memory.
        missing: what a value that is null, NaN or infinite gets: "error", a refusal, or "midpoint",
            the middle of the range. Not given, it is "error" under replace, and "midpoint" under
            add/remove, where "error" is not accepted, for a refusal would tell.
        levels: for add/remove, the budgets that people were offered, or a mapping from these to how
            many people you expect at each: public facts, that cost accuracy if they are wrong and
            never privacy.
        cap: for add/remove, the most that anyone spends. Without it it is chosen for the people
            that you expect, or, if levels says nothing of that, from a private count of people
            that spends an eighth of everyone's budget. With assume="correlated" people are counted
            wherever levels are declared and weights differ, for no interval could be given else.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, never private.

    Returns:
        The release: `.value`, `.interval()`, `.spent` and all that may be published with it.

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
        `release.spent` says of ε_i: docs/proofs/add-remove.md.

    Reference:
        Paper *correlated*, Algorithm 2 (HPM), for any effective budgets; on an integer grid, with
        discrete Laplace or staircase noise from the system's entropy.
    """
    parameters.choice("neighbours", neighbours)
    private = neighbours == "add-remove"
    policy = parameters.missing(missing, neighbours) or ("midpoint" if private else "error")
    data = tally.source(data, separator)
    if bounds is None:
        gaussian.refuse_other_goals(assume, loss)
        return gaussian.mean_unknown_range(
            values,
            epsilon=epsilon,
            data=data,
            person=person,
            neighbours=neighbours,
            confidence=confidence,
            method=method,
            missing=policy,
            levels=levels,
            cap=cap,
            source=source,
        )
    parameters.choice("method", method, ("auto", *(METHODS if private else RULES)))
    goal = MeanGoal(*checked(assume, loss, confidence))
    if bounds is _NOT_GIVEN:
        raise BoundsError(
            "bounds is not given: write bounds=(lo, hi), the range that values can have whatever "
            "the data, such as (0, 100) for a percentage; or bounds=None, if nobody knows it."
        )
    limits = parameters.bounds(bounds)
    entropy = resolve(source)
    if private:
        return add_remove.mean(
            values,
            epsilon=epsilon,
            bounds=limits,
            data=data,
            person=person,
            goal=goal,
            method=method,
            levels=levels,
            cap=cap,
            source=entropy,
        )
    refuse_public_facts(levels, cap)
    if method == "sampling":
        counted, level_of, grid_values = tally.people(
            values, epsilon=epsilon, bounds=limits, data=data, person=person, missing=policy
        )
    else:
        counted = tally.tally_mean(
            values, epsilon=epsilon, bounds=limits, data=data, person=person, missing=policy
        )
    budgets = Budgets.of_levels(counted.levels, counted.counts)
    allocation = allocate_for(budgets, goal, method)
    mechanism = build(allocation, grid=tally.GRID, bounds=limits)
    if isinstance(mechanism, Sampled):
        total = mechanism.thin(entropy, level_of, grid_values)
    else:
        total = mechanism.total(counted.sums)
    drawn = mechanism.draw(entropy, total=total)
    return _release(mechanism, allocation, drawn, missing=policy, private=entropy.private)


def refuse_public_facts(levels: object, cap: object) -> None:
    """Refuse what means nothing where budgets are public."""
    for name, given in (("levels", levels), ("cap", cap)):
        if given is not None:
            raise ArgumentError(
                f'{name} is for neighbours="add-remove": under replace all budgets are public, and '
                "levels and caps are found among them."
            )


def _release(
    mechanism: Additive, allocation: Allocation, drawn: int, *, missing: str, private: bool
) -> MeanRelease:
    lo, hi = mechanism.bounds
    raw = mechanism.estimate(drawn)
    goal = allocation.goal
    unit = goal.risk(mechanism.weighing)
    return MeanRelease(
        statistic="mean",
        value=min(max(raw, lo), hi),
        raw=raw,
        bounds=mechanism.bounds,
        n=allocation.n,
        method=allocation.method,
        neighbours="replace",
        assume=goal.assume,
        loss=goal.loss,
        confidence=goal.confidence,
        risk=unit * ((hi - lo) ** 2 if goal.loss == "mse" else hi - lo),
        exact=allocation.exact,
        spent=Spent.rows(allocation.levels, allocation.counts, allocation.spent),
        protects=PROTECTS,
        assumes=_ASSUMES[goal.assume],
        missing=missing,
        private=private,
        mechanism=mechanism,
    )

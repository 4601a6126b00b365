"""What is reported: plain data of a `kind`, which JSON holds without loss.

    ScalarData     a mean or a share                      kind "scalar"
    CellsData      a share for each category              kind "cells"
    GroupsData     a mean for each group                  kind "groups"
    VectorData     a mean of vectors                      kind "vector"
    PairData       how two columns go together            kind "pair"
    ReleasesData   several releases of the same people    kind "releases"
    QuantilesData  several quantiles                      kind "quantiles"
    CountData      how many people there are              kind "count"
    PlanData       every method forecast                  kind "plan"
    RangePlanData  a mean on a range that is to be found  kind "range plan"
    LocalPlanData  every kind of local report forecast    kind "local plan"
    GroupsPlanData means by group forecast                kind "groups plan"
    PlansData      several questions forecast             kind "plans"

In JSON ∞ is written as "inf"; with such words turned back into numbers it is the same data.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class SpentRow(TypedDict):
    """What a person of one level spends and keeps; how many they are, if that is public."""

    epsilon: float
    people: int | None
    spent: float
    kept: float


class SideRow(TypedDict):
    """What a release says if budgets are related to values in this way.

    Attributes:
        low, high: its interval, of one number.
        error: the error that is not exceeded with its confidence.
        cap: the most that anyone would spend, had it been assumed from the start.
        typical: the typical error then.
    """

    related: bool | float
    low: float | None
    high: float | None
    error: float
    cap: float | None
    typical: float | None


class ReleaseData(TypedDict):
    """What every release has.

    Attributes:
        sides: the same if budgets are related to values in other ways.
        adds_up: that what is spent adds up with other releases or reports; "" if a ledger does it.
        n: the number of people; None if nothing is said of it.
        n_is_noisy: whether noise was added to that number.
        neighbours_are: what counts as a change of one person, in words.
        risk_kind: what `risk` is, in words.
        risk_of: how many numbers a mean squared error is summed over: categories, or 1.
        protects: what is protected, in words.
        assumes: what was assumed, in words.
        treats: what became of values that do not fit, in words, or "".
        private: False if it was drawn from a seed.
        title: what was measured, in a line; None if nobody said.
        unit: of the numbers of the data; None if nobody said.
        name: of the column that was measured; None if there is none.
        date: the day of the release, in UTC, or "".
        version: of epsilons that made it, or "".
        influence_of_one: in the local model, how far one dishonest report can have moved it.
        ledger: its name, the head of the chain, when it was drawn, and which claims held something
            back, if it was charged to a ledger.
    """

    statistic: str
    ledger: NotRequired[dict[str, Any]]
    title: str | None
    unit: str | None
    name: str | None
    date: str
    version: str
    confidence: float
    n: float | None
    n_is_noisy: bool
    method: str
    neighbours: str
    neighbours_are: str
    about: str
    related: bool | float
    loss: str
    risk: float
    risk_is_exact: bool
    risk_kind: str
    risk_of: int
    sides: list[SideRow]
    adds_up: str
    spent: list[SpentRow]
    protects: str
    assumes: str
    treats: str
    warnings: list[str]
    private: bool
    influence_of_one: NotRequired[float]


class SpreadData(TypedDict):
    """The standard deviation of the data, or the share of some people, with its interval."""

    value: float
    low: float
    high: float


class ScalarData(ReleaseData):
    """One number.

    Attributes:
        interval: its two ends.
        bounds: the range of the values: its two ends.
        spread: the standard deviation of the data, if it was released.
        values: the range of the values, where `bounds` is that of a variance.
        share: which part of all people it is the mean of, if not of everybody.
        sigma: where the range was found, the standard deviation that it was made from.
        centre: where the range was found, about the median.
    """

    kind: Literal["scalar"]
    value: float
    raw: float
    interval: list[float]
    bounds: list[float]
    spread: NotRequired[SpreadData]
    values: NotRequired[list[float]]
    share: NotRequired[SpreadData]
    sigma: NotRequired[float]
    centre: NotRequired[float]


Category = str | int | float | bool | list[float] | None
"""A label, or the two ends of a bin."""


Label = str | int | bool
"""A label of a group."""


class CellsData(ReleaseData):
    """A share for each category, all lists in their order.

    Attributes:
        interval: the low ends and the high ends, of each category by itself.
        band: the same, for all categories at once.
        error_at_once: the error of the worst category.
    """

    kind: Literal["cells"]
    categories: list[Category]
    value: list[float]
    raw: list[float]
    interval: list[list[float]]
    band: list[list[float]]
    error_at_once: float


class ComparedData(TypedDict):
    """Two groups compared.

    Attributes:
        what: "difference", or "ratio".
        first, second: the labels of the groups.
        value: of the means that were published; None where it is 0 over 0.
        low, high: its interval.
        nothing: whether the interval is all that there could be.
    """

    what: str
    first: Label | list[Label]
    second: Label | list[Label]
    value: float | None
    low: float
    high: float
    nothing: bool


class GroupsData(ReleaseData):
    """A mean for each group, all lists in their order.

    Attributes:
        groups: the label of each group, or two of them.
        by: the names of the columns of these; None for an array.
        groups_are: "private", or "public" if it is no secret who is in which.
        outside: whether people may be in none of them.
        interval: the low ends and the high ends, of each mean by itself.
        band: the same, for all groups at once.
        share: the share of each group among all people.
        share_interval: the low ends and the high ends of it.
        bounds: the range of the values: its two ends.
        compared: pairs of groups, if that was asked for.
    """

    kind: Literal["groups"]
    groups: list[Label | list[Label]]
    by: list[str | None]
    groups_are: str
    outside: bool
    value: list[float]
    interval: list[list[float]]
    band: list[list[float]]
    share: list[float]
    share_interval: list[list[float]]
    bounds: list[float]
    compared: NotRequired[list[ComparedData]]


class VectorData(ReleaseData):
    """A number for each coordinate.

    Attributes:
        interval: the low ends and the high ends, of each coordinate by itself.
        ball: how long vectors can be.
        radius: how far the true mean is from `raw` at most, in ℓ2.
    """

    kind: Literal["vector"]
    value: list[float]
    raw: list[float]
    interval: list[list[float]]
    ball: float
    radius: float


class EstimatedData(TypedDict):
    """A number with its interval."""

    value: float
    low: float
    high: float


class PairData(ReleaseData):
    """How two columns go together.

    Attributes:
        value: the covariance.
        raw: the share of each of nine cells.
        interval: of the covariance, its two ends.
        bounds: the range of the first column.
        beside: the range of the second.
        slope: of the second column on the first.
        correlation: from −1 to 1.
        means: of both columns.
    """

    kind: Literal["pair"]
    value: float
    raw: list[float]
    interval: list[float]
    bounds: list[float]
    beside: list[float]
    slope: EstimatedData
    correlation: EstimatedData
    means: list[EstimatedData]


class QuantilesData(ReleaseData):
    """Several quantiles of one column, all lists in their order.

    Attributes:
        quantiles: the share of people that is at or below each.
        interval: the low ends and the high ends, of each by itself.
        band: the same, for all at once.
        bounds: the range of the values: its two ends.
    """

    kind: Literal["quantiles"]
    quantiles: list[float]
    value: list[float]
    raw: list[float]
    interval: list[list[float]]
    band: list[list[float]]
    bounds: list[float]


class CountData(ReleaseData):
    """How many people there are.

    Attributes:
        interval: its two ends.
    """

    kind: Literal["count"]
    value: int
    raw: int
    interval: list[int]


AnyRelease = ScalarData | CellsData | GroupsData | VectorData | PairData | QuantilesData | CountData


class ReleasesData(TypedDict):
    """Several releases about the same people.

    Attributes:
        title: of all of them together; None if nobody said.
        names: what each is called, no two alike.
        each: the releases.
        confidence: with which all numbers are in their ranges at once.
        band: for each release the low ends and the high ends of these ranges.
        spent: what people spent on all of them together.
    """

    kind: Literal["releases"]
    title: str | None
    names: list[str]
    each: list[AnyRelease]
    confidence: float
    band: list[list[list[float]]]
    spent: list[SpentRow]

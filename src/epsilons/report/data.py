"""What is reported: plain data of a `kind`, which JSON holds without loss.

    ScalarData     a mean or a share                      kind "scalar"
    CellsData      a share for each category              kind "cells"
    VectorData     a mean of vectors                      kind "vector"
    PlanData       every method forecast                  kind "plan"
    RangePlanData  a mean on a range that is to be found  kind "range plan"
    LocalPlanData  every kind of local report forecast    kind "local plan"

In JSON ∞ is written as "inf"; with such words turned back into numbers it is the same data.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


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


class OutcomeRow(TypedDict):
    """What is best if budgets are related to values in this way."""

    related: bool | float
    cap: float
    rmse: float
    pac: float
    gain: float


class GuessRow(TypedDict):
    """What a guess of the spread buys, and what it costs if it is wrong.

    Attributes:
        cap, rmse, worst: the most that anyone spends, the typical error if the guess is right, and
            the typical error in the worst case.
        plain_cap, plain_rmse, plain_worst: the same without the guess.
    """

    cap: float
    rmse: float
    worst: float
    plain_cap: float
    plain_rmse: float
    plain_worst: float


class ReleaseData(TypedDict):
    """What every release has.

    Attributes:
        sides: the same if budgets are related to values in other ways.
        before: what the default was in former versions, or "".
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
    """

    statistic: str
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
    before: str
    spent: list[SpentRow]
    protects: str
    assumes: str
    treats: str
    warnings: list[str]
    private: bool
    influence_of_one: NotRequired[float]


class SpreadData(TypedDict):
    """The standard deviation of the data, with its interval."""

    value: float
    low: float
    high: float


class ScalarData(ReleaseData):
    """One number.

    Attributes:
        interval: its two ends.
        bounds: the range of the values: its two ends.
        spread: the standard deviation of the data, if it was released.
        sigma: where the range was found, the standard deviation that it was made from.
        centre: where the range was found, about the median.
    """

    kind: Literal["scalar"]
    value: float
    raw: float
    interval: list[float]
    bounds: list[float]
    spread: NotRequired[SpreadData]
    sigma: NotRequired[float]
    centre: NotRequired[float]


Category = str | int | float | bool | list[float] | None
"""A label, or the two ends of a bin."""


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


class ForecastData(TypedDict):
    """What one method would give."""

    method: str
    rmse: float
    pac: float
    worst: float
    gain: float
    used: float
    largest_spent: float
    spent: list[SpentRow]


class LevelRow(TypedDict):
    """How many people have a budget."""

    epsilon: float
    people: int


class GainsData(TypedDict):
    """How many times smaller the typical error is than with one ε for all."""

    threshold: float
    uniform: float


class ChangeRow(TypedDict):
    """What the error would be with other people or budgets, and how it compares."""

    change: str
    error: float
    ratio: float


class OptionRow(TypedDict):
    """What could be assumed, guessed or asked for, how it is written, and what it would buy.

    Attributes:
        error: the error of the best method then.
        times: how many times smaller that is than now.
    """

    change: str
    write: str
    error: float
    times: float


class CurveData(TypedDict):
    """The error over the cap."""

    cap: list[float]
    error: list[float]


class PlanData(TypedDict):
    """A plan: every method forecast, with the error over the cap.

    Attributes:
        cells: the number of categories, and 0 for a mean.
        assumption: what is assumed, in words.
        protects: what will be protected, in words.
        forecasts: the best method first.
        spread: a guess of the standard deviation in parts of the range; None if there is none.
        guess: what it buys and may cost.
        options: what else could be assumed, guessed or asked for; what buys most first.
        hint: the same in one sentence.
        lower_bound: the error that no method can stay below.
    """

    kind: Literal["plan"]
    statistic: str
    cells: int
    n: int
    bounds: list[float]
    about: str
    related: bool | float
    neighbours: str
    assumption: str
    protects: str
    loss: str
    confidence: float
    best: str
    advice: str
    warnings: list[str]
    forecasts: list[ForecastData]
    levels: list[LevelRow]
    gains: GainsData
    sides: list[OutcomeRow]
    before: str
    spread: float | None
    guess: GuessRow | None
    options: list[OptionRow]
    hint: str
    lower_bound: float
    sensitivity: list[ChangeRow]
    curve: CurveData


class RangeSpentRow(SpentRow):
    """What a person of one level spends on the range and on the mean."""

    on_range: float
    on_mean: float


class RangeForecastData(TypedDict):
    """What a mean on a range that has to be found would have.

    Attributes:
        looks: how often the data are looked at to find the range.
        share: the part of all that is spent that finds it.
    """

    looks: int
    rmse: float
    pac: float
    share: float
    spent: list[RangeSpentRow]


class RangePlanData(TypedDict):
    """A plan of a mean on a range that has to be found.

    Attributes:
        shape: "any": errors are in parts of the range; "gaussian": in standard deviations.
        enough: whether there are enough people.
        people_needed: about how many there must be; None if there are enough.
        quantile, wider: of any shape, the low quantile that is asked for, and how many times as
            wide as it and the high one are apart the range is made.
        width, failure: of Gaussian data, the width of the range in standard deviations at most, and
            a bound on the probability that it is wrong.
        forecasts: for values that are spread out, and for values that lie close together; for as
            many people as are needed, if there are too few.
    """

    kind: Literal["range plan"]
    statistic: str
    n: int
    shape: str
    about: str
    related: bool | float
    neighbours: str
    assumption: str
    protects: str
    loss: str
    confidence: float
    enough: bool
    people_needed: int | None
    quantile: float | None
    wider: float | None
    width: float | None
    failure: float | None
    advice: str
    options: list[OptionRow]
    hint: str
    warnings: list[str]
    forecasts: list[RangeForecastData]


class LocalForecastRow(TypedDict):
    """What one kind of local report would give, and what a person sends."""

    method: str
    sends: str
    rmse: float
    pac: float
    gain: float


class CuratorRow(TypedDict):
    """What a trusted curator would have."""

    rmse: float
    pac: float


class LocalPlanData(TypedDict):
    """A plan of the local model.

    Attributes:
        cells: the number of categories, and 0 if there are none.
        dimension: of vectors, whose errors are in parts of the radius of their ball; else None.
        forecasts: the best kind of report first.
        curator: what a trusted one would have; None for vectors.
        times: how many times smaller their error is.
        lower_bound: the error that no method without a trusted curator can stay below.
    """

    kind: Literal["local plan"]
    statistic: str
    cells: int
    dimension: int | None
    n: int
    bounds: list[float]
    assumption: str
    protects: str
    loss: str
    confidence: float
    best: str
    advice: str
    options: list[OptionRow]
    hint: str
    warnings: list[str]
    forecasts: list[LocalForecastRow]
    curator: CuratorRow | None
    times: float | None
    levels: list[LevelRow]
    lower_bound: float


AnyRelease = ScalarData | CellsData | VectorData
Data = ScalarData | CellsData | VectorData | PlanData | RangePlanData | LocalPlanData

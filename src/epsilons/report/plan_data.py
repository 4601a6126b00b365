"""What is reported of plans: see `report.data`."""

from __future__ import annotations

from typing import Literal, TypedDict

from epsilons.report.data import AnyRelease, ReleasesData, SpentRow


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
        aside: why a method whose error looks smaller is not advised, or "".
        forecasts: the best method first.
        spread: a guess of the standard deviation in parts of the range; None if there is none.
        guess: what it buys and may cost.
        options: what else could be assumed, guessed or asked for; what buys most first.
        hint: the same in one sentence.
        lower_bound: the error that no method can stay below; 0 if none is known.
        curve: the error over the cap; empty if there is no cap, or errors are not those of weights.
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
    aside: str
    warnings: list[str]
    forecasts: list[ForecastData]
    levels: list[LevelRow]
    gains: GainsData
    sides: list[OutcomeRow]
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


class PlannedRow(TypedDict):
    """What one of several questions would give.

    Attributes:
        share: of everyone's budget, as an exact fraction; `part` is the same as a number.
        rmse: the typical error; in parts of the range where one has to be found; None where it
            depends on the data.
        half_width: of its interval, forecast for any data; None where that cannot be foretold.
        target: the half-width that was asked for.
        shares: whether errors are those of shares of people.
        found: whether a range has to be found.
    """

    name: str
    statistic: str
    share: str
    part: float
    method: str
    rmse: float | None
    half_width: float | None
    target: float | None
    confidence: float
    unit: str | None
    shares: bool
    found: bool


class PlansData(TypedDict):
    """Several questions about the same people, forecast.

    Attributes:
        n: how many people there are, or are expected.
        spent: what people would spend on all of them together.
    """

    kind: Literal["plans"]
    n: int
    neighbours: str
    protects: str
    rows: list[PlannedRow]
    spent: list[SpentRow]
    warnings: list[str]


class GroupForecastRow(TypedDict):
    """What will be known of a group of some size.

    Attributes:
        share: of all people that are in it.
        people: how many that is, about.
        half_width: half of the width that its interval has at most, about, in data units.
    """

    share: float
    people: int
    half_width: float


class GroupsPlanData(TypedDict):
    """Means by group, forecast.

    Attributes:
        groups: how many there are.
        groups_are: "private" or "public".
        assumption: what is assumed, in words.
        protects: what will be protected, in words.
        forecasts: of a group of an even share of the people first, then of smaller ones.
        spent: what people would spend; of public groups, those in one of an even share.
    """

    kind: Literal["groups plan"]
    groups: int
    groups_are: str
    n: int
    bounds: list[float]
    confidence: float
    about: str
    related: bool | float
    assumption: str
    protects: str
    warnings: list[str]
    forecasts: list[GroupForecastRow]
    spent: list[SpentRow]


AnyPlan = PlanData | RangePlanData | LocalPlanData | GroupsPlanData | PlansData

Data = AnyRelease | ReleasesData | AnyPlan

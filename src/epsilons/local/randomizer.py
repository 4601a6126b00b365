"""The base class of all local randomizers: randomize, aggregate, estimate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from epsilons import made, parameters
from epsilons.budgets.levels import Budgets
from epsilons.door.given.column import same_labels
from epsilons.draws.noise import Source, resolve
from epsilons.errors import ArgumentError, BudgetError, DataError
from epsilons.local import reports as wire
from epsilons.local.frames import state_of
from epsilons.local.layout import Answers
from epsilons.local.people import budgets_of, refusal
from epsilons.local.reports import Reports, foreign
from epsilons.local.state import Levels, State, StateTerms, extent_of
from epsilons.results.release import AllOfIt, Cells, Release, Scalar, VectorEstimate
from epsilons.results.report import number
from epsilons.risk.local import WEIGHTS, Reported, ReportedCells, ReportedVector, Sums, influence
from epsilons.types import Column, Data, Floats, Integers, Weights

# Texts of releases: protection and assumptions of the local model.

PROTECTED_LOCALLY: Final = (
    "Each person's value, before it leaves them: whatever it is, the probability of what they send "
    "changes by at most a factor of e^ε, where ε is their own budget. Nobody has to be trusted. "
    "Budgets are public, and so is the fact that a person took part."
)

_SAMPLE: Final = "The people are a sample, independent draws from one population"
_LOCAL_SAMPLE: Final = f"{_SAMPLE}, and budgets say nothing about"

ASSUMED_LOCALLY: Final = {
    "mean": f"{_LOCAL_SAMPLE} values. This estimates the mean of that population.",
    "share": f"{_LOCAL_SAMPLE} values. This estimates the share of yes in that population.",
    "mean vector": f"{_LOCAL_SAMPLE} values. This estimates the mean vector of that population.",
    "frequencies": f"{_LOCAL_SAMPLE} categories. This estimates the shares in that population.",
}
"""Assumptions behind the stated error, by statistic; the text of `honest_reports` is appended."""


class _AllOfTheirs(AllOfIt):
    """What everyone spent, counted by level when it is first read.

    Args:
        budgets: the distribution of the budgets.
    """

    _budgets: Levels

    def __init__(self, budgets: Levels) -> None:
        vars(self)["_budgets"] = budgets

    @cached_property
    def levels(self) -> Floats:
        """The budgets, ascending."""
        return self._budgets.means()

    @cached_property
    def people(self) -> Integers:
        """The number of people with each budget."""
        return self._budgets.people()


def related_locally(assumed: str) -> str:
    """Return the assumptions if reports have equal weight and budgets may be related to values.

    Args:
        assumed: the assumptions if budgets and values are unrelated, from `ASSUMED_LOCALLY`.
    """
    rest = assumed.removeprefix(_LOCAL_SAMPLE)
    what = rest.split(".", 1)[0].strip()
    return f"{_SAMPLE}. Budgets may be related to {what} in any way.{rest.split('.', 1)[1]}"


def honest_reports(lies: int, moved: str | None, *, menu: bool) -> str:
    """Return the text on the assumption of honest reports, and on the error without it.

    Args:
        lies: the assumed number of dishonest reports.
        moved: the largest shift of the estimate that they can cause, as text; None if unlimited.
        menu: whether a menu of budgets was declared.

    Returns:
        Text that is appended to other assumptions.
    """
    what = (
        f"{lies:,} of these reports were not, they"
        if lies > 1
        else "one of these reports was not, it"
    )
    where = "anywhere" if moved is None else f"by up to {moved}"
    more = "" if menu else " No menu of budgets (levels=) was declared."
    return f" Reports are honest: if {what} could have moved the estimate {where}.{more}"


def shortened(ball: float, *, midpoint: bool) -> str:
    """Return the text on vectors that are too long and, if accepted, on missing vectors.

    Args:
        ball: the largest length of a vector.
        midpoint: whether missing vectors are accepted.
    """
    more = "; missing vectors count as zero" if midpoint else ""
    return f"Vectors longer than {number(ball)} are shortened to that length{more}."


def tossed(*, midpoint: bool) -> str:
    """Return the text on how a missing yes or no is treated; empty if it is refused."""
    return "A missing answer counts as the toss of a fair coin." if midpoint else ""


ALL_NOISE: Final = "epsilon is below 2⁻²⁰ for everyone: all reports are pure noise."


@dataclass(frozen=True, eq=False)
class FromReports:
    """The part of a release that depends on the kind of reports.

    Attributes:
        statistic: the name of the statistic.
        estimate: the result, with its margin.
        method: the name of the method.
        risk: worst-case mean squared error, in data units.
        honesty: text of the assumption that reports are honest.
        treats: text on how values out of range or missing were treated.
    """

    statistic: str
    estimate: Scalar | Cells | VectorEstimate
    method: str
    risk: float
    honesty: str
    treats: str = ""


class Randomizer(ABC):
    """A randomizer with its estimator. It is immutable, contains no data, and can be public."""

    kind: ClassVar[str]
    levels: Sequence[float] | None

    @property
    def terms(self) -> StateTerms:
        """The terms on which reports are accepted."""
        return StateTerms(self.levels)

    @property
    @abstractmethod
    def parameters(self) -> bytes:
        """The public parameters, as stored in every report."""

    @property
    def fingerprint(self) -> int:
        """Hash of kind and parameters, stored in column `mechanism` of a table of reports."""
        return wire.fingerprint(self.kind, self.parameters)

    @abstractmethod
    def _read(self, values: Any) -> tuple[Any, int]:
        """Check values; return them in the form that `_draw` expects, and the number of people."""

    def _order(self, epsilon: Floats) -> NDArray[np.int64] | None:  # noqa: ARG002
        """Return the order of people in a batch; None to keep the given order."""
        return None

    @abstractmethod
    def _draw(self, values: Any, epsilon: Floats, source: Source) -> Answers:
        """Randomize checked values."""

    @abstractmethod
    def _add(self, reports: Reports, weights: Weights) -> tuple[Floats, Sums]:
        """Check reports; return their weighted total and the sums for risk and intervals."""

    @abstractmethod
    def _sums(self, epsilon: Floats, weights: Weights) -> Sums:
        """Return the sums of reports at these budgets, which do not depend on the answers."""

    @abstractmethod
    def _margin(self, sums: Sums, people: int) -> Reported | ReportedCells | ReportedVector:
        """Return the margin of error of an estimate from reports with these sums."""

    @abstractmethod
    def _estimated(self, state: State) -> FromReports:
        """Compute the estimate from a state."""

    def forecast(
        self, budgets: Budgets, *, weights: Weights = "variance"
    ) -> Reported | ReportedCells | ReportedVector:
        """Forecast the margin of error of an estimate if people with these budgets report.

        Args:
            budgets: their budgets. The forecast depends only on them, so it needs no reports.
            weights: "variance", "paper" or "uniform", as in `state`.

        Returns:
            The margin that a release from their reports will have: see `epsilons.risk.local`.

        Raises:
            BudgetError: a budget is not allowed in reports, or all reports would be pure noise.
            ArgumentError: `weights` is unknown.
        """
        parameters.choice("weights", weights, WEIGHTS)
        why = refusal(budgets.levels, extent_of(budgets.levels)[1], self.levels)
        if why is not None:
            raise BudgetError(f"epsilon: a budget {why}.")
        sums = Sums()
        for level, people in zip(budgets.levels, budgets.counts.tolist(), strict=True):
            sums = sums.merged(self._sums(np.array([level]), weights).times(people))
        if not sums.weight > 0.0:
            raise BudgetError(ALL_NOISE)
        return self._margin(sums, budgets.n)

    def randomize(self, value: Column, epsilon: float, source: Source | None = None) -> Reports:
        """Randomize one person's value, on their own device.

        Args:
            value: the person's value.
            epsilon: their budget: one of `levels`, or from 0 to 2²⁰ if no levels are declared. 0
                sends pure noise, ∞ the value itself.
            source: None for the system's entropy; `epsilons.Seeded` for simulations, never private.

        Returns:
            Their report. Send its `.to_bytes()`.

        Raises:
            DataError: the value is of the wrong kind. The error can depend on the value, so it
                must stay on the person's device.
            BudgetError: the budget is negative, NaN, or not allowed in reports.
            ArgumentError: the source is invalid.
        """
        return self.randomize_many([value], [epsilon], source)

    def randomize_many(
        self, values: Column, epsilons: Column, source: Source | None = None
    ) -> Reports:
        """Randomize the values of many people, each at their own budget.

        Args:
            values: one value for each person.
            epsilons: their budgets, or one budget for everyone, as in `randomize`.
            source: None for the system's entropy; `epsilons.Seeded` for simulations, never private.

        Returns:
            Their reports, in order. Exception: for means, people who send one bit come first.

        Raises:
            DataError: a value is of the wrong kind.
            BudgetError: a budget is negative, NaN, or not allowed in reports.
            ArgumentError: the source is invalid, there are more or fewer budgets than people, or
                values and budgets are labelled and their labels differ.
        """
        entropy = resolve(source)
        same_labels(values=values, epsilons=epsilons)
        read, people = self._read(values)
        epsilon = budgets_of(epsilons, people)
        why = refusal(epsilon, extent_of(epsilon)[1], self.levels)
        if why is not None:
            raise BudgetError(
                f"epsilons: somebody's budget {why}. Use the largest one offered that is not "
                "above it."
            )
        order = self._order(epsilon)
        if order is not None:
            read, epsilon = read[order], epsilon[order]
        columns = self._draw(read, epsilon, entropy)
        return Reports(self.kind, self.parameters, entropy.private, epsilon, columns)

    def state(
        self,
        reports: Reports | bytes | str | None = None,
        *,
        data: Data | None = None,
        weights: Weights = "variance",
    ) -> State:
        """Aggregate reports. States merge with `+`, in any order.

        Args:
            reports: a batch, as `Reports` or as bytes. If `data` is given: the name of its column
                of bytes, each entry a batch of one or more people; or None, if `data` has the
                columns that `Reports.to_columns` returns.
            data: a table of reports: a frame of any engine, an Arrow reader of record batches, or
                the path of a Parquet file. It is read once, in batches; Spark aggregates on its
                workers.
            weights: "variance": inverse of the worst-case variance. "paper": as in the papers.
                "uniform": equal weights. Reports at ε below 2⁻²⁰ are pure noise and always have
                weight 0.

        Returns:
            The sums and counts that `estimate` needs.

        Raises:
            DataError: a report is malformed or too long, from another mechanism, or at a budget
                that is not on the menu; or there are no reports. Then no report of the batch, or
                of `data`, is used.
            ArgumentError: arguments contradict each other, or `data` lacks required columns.
            FileError: `data` is a path, and the file cannot be read.
        """
        parameters.choice("weights", weights, WEIGHTS)
        if data is not None:
            return self._of_data(reports, data, weights)
        if reports is None:
            raise ArgumentError("Give reports, or data: a table of them.")
        batch = reports if isinstance(reports, Reports) else Reports.from_bytes(reports)  # type: ignore[arg-type]
        if batch.kind != self.kind or batch.parameters != self.parameters:
            raise foreign(self)
        if len(batch) == 0:
            raise DataError("This batch holds no report.")
        why = refusal(batch.epsilon, batch.extent[1], self.levels)
        if why is not None:
            raise DataError(f"A report is refused: its budget {why}. It is not used at all.")
        total, sums = self._add(batch, weights)
        return State(
            self.kind,
            self.parameters,
            weights,
            batch.private,
            len(batch),
            total,
            sums,
            Levels(batch.epsilon),
            self.terms,
        )

    def _of_data(self, column: Any, data: Any, weights: Weights) -> State:
        """Aggregate the reports of a table."""
        if not (column is None or isinstance(column, str)):
            raise ArgumentError(
                "reports must be the name of a column of bytes of data, or be left out."
            )
        found = state_of(self, column, data, weights)
        if found is None:
            raise DataError("data holds no report.")
        return found

    def estimate(
        self,
        reports: Reports | bytes | State | Iterable[Reports | bytes | State] | str | None = None,
        *,
        data: Data | None = None,
        weights: Weights = "variance",
        confidence: float = 0.95,
        title: str | None = None,
    ) -> Release:
        """Estimate the statistic from reports.

        Args:
            reports: a batch, a state, or a stream of either, which is not kept in memory. If
                `data` is given: the name of a column, or None, as in `state`.
            data: a table of reports, as in `state`.
            weights: "variance", "paper" or "uniform", as in `state`.
            confidence: confidence of the printed interval.
            title: title of the release, one line of at most 120 characters.

        Returns:
            The release.

        Raises:
            DataError: a report is malformed, from another mechanism, or at a budget that is not on
                the menu; or there are no reports.
            BudgetError: all reports are pure noise.
            ArgumentError: weights, confidence, the title, a state or the columns of `data` are
                invalid.
            FileError: `data` is a path, and the file cannot be read.
        """
        parameters.choice("weights", weights, WEIGHTS)
        parameters.confidence(confidence)
        line = parameters.line("title", title)
        if data is not None:
            found = self._of_data(reports, data, weights)
        elif reports is None or isinstance(reports, str):
            raise ArgumentError("Give reports; or data, and the name of its column of reports.")
        else:
            found = self._merged(reports, weights)
        if not found.sums.weight > 0.0:
            raise BudgetError(ALL_NOISE)
        return self._release(found, confidence, line)

    def _release(self, state: State, confidence: float, title: str | None) -> Release:
        found = self._estimated(state)
        return Release(
            statistic=found.statistic,
            estimate=found.estimate,
            n=state.n,
            method=f"local {found.method}, weights by {state.weights}",
            neighbours="replace",
            about="population",
            related=False,
            loss="mse",
            confidence=confidence,
            risk=found.risk,
            exact=False,
            spent=_AllOfTheirs(state.levels),
            protects=PROTECTED_LOCALLY,
            assumes=ASSUMED_LOCALLY[found.statistic] + found.honesty,
            treats=found.treats,
            missing=getattr(self, "missing", "error"),  # Frequencies has no `missing`
            private=state.private,
            mechanism=self,
            title=title,
            date=made.today(),
            version=made.VERSION,
        )

    def _merged(self, reports: Any, weights: Weights) -> State:
        """Merge the states of a stream of reports or states."""
        single = isinstance(reports, (Reports, State, bytes, bytearray, memoryview))
        found: State | None = None
        for part in [reports] if single else reports:
            state = part if isinstance(part, State) else self.state(part, weights=weights)
            if state.question != (self.kind, self.parameters, weights, self.terms):
                raise DataError(
                    "A state has another mechanism, other parameters, weights or levels, or "
                    "it does not treat numbers with noise as this estimate does."
                )
            found = state if found is None else found + state
        if found is None:
            raise DataError("There is no report to estimate from.")
        return found


def honesty(state: State, off: float, told: Callable[[float], str], whole: float = 1.0) -> str:
    """Return the text on the assumption of honest reports, with the error if 1 % are dishonest.

    Args:
        state: the state of the reports.
        off: distance of the estimate from the middle of a report's range, on a unit range.
        told: function that formats an error on a unit range for this text.
        whole: the largest possible error on a unit range.
    """
    lies = max(state.n // 100, 1)
    far = influence(lies, state.n, state.sums, off)
    moved = told(far) if far < whole else None
    return honest_reports(lies, moved, menu=state.terms.levels is not None)

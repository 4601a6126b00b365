"""Check the file of a release: all displayed content must follow from the release in the file.

A file contains numbers and text for readers, and the release from which they were computed. This
module compares the two. It also compares the release with its mechanism. Files are not signed: a
consistent file can still be forged.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from epsilons import frozen, made
from epsilons.errors import ArgumentError, EpsilonsError, PrivacyError
from epsilons.results.report import table, wrapped
from epsilons.results.report.numbers import legible
from epsilons.verify.losses.kinds import exact, exact_channel
from epsilons.verify.verdict import Verdict

__all__ = ["Published", "published"]

_Numbers = npt.NDArray[np.float64]

_FORMAT: Final = 2
"""The supported file format."""

_ROUNDED: Final = 1e-6
"""Relative tolerance between stated spending and loss, because weights are rounded down."""

_CLOSE: Final = 1e-9
"""Tolerance between a value and its recomputation from the draw, as a fraction of the range."""

_AMONG: Final = 0.1
"""The standard deviation between groups that shrinkage assumes, as a fraction of the range."""

_FEW: Final = 12
"""The largest number of categories or dimensions for which local reports are enumerated."""

_LEVELS: Final = 16
"""The largest number of budget levels for which local reports are enumerated."""


_COMPUTED: Final = (
    *("interval", "band", "radius", "error_at_once", "influence_of_one", "sides", "compared"),
    *("informative", "share", "share_interval", "spread", "slope", "correlation", "means"),
)
"""Fields that are computed from the draw, mainly intervals."""

_SEEDED: Final = "NOT PRIVATE: it was drawn from a seed, for simulation only, and protects nobody."

_LINES: Final = """\
Name:      ________________________________________
Date:      ________________________________________
Decision:  [ ] publish   [ ] do not publish   ________________________________________"""


_UNSEEN: Final = {
    "That noise was drawn from the declared mechanism": "ep.verify.draws(release.mechanism) "
    "tries the installed code",
    "That rows were read and counted correctly": "ep.verify.replay(question, …) or epsilons "
    "replay, on the data",
    "That bounds, categories and groups were chosen without looking at the data": "no call",
}
_UNSEEN_LOCALLY: Final = {
    "That answers were randomized as declared": "ep.verify.audit, on the program of the devices",
    "That each report is from one person, and honest": "no call; release.influence(lies) bounds "
    "what lies can do",
}
"""Facts that no check of a file can verify, and the checks that can verify them."""


class CheckOfFile(NamedTuple):
    """One check of the file of a release.

    Attributes:
        check: the recomputed quantity.
        by: the check or the source that it was recomputed with.
        result: "holds", "FAILS" or "not checked".
    """

    check: str
    by: str
    result: str


@dataclass(frozen=True)
class Published:
    """The result of checking the file of a release.

    Attributes:
        problems: the inconsistencies, by field; empty if the file is consistent.
        verdict: everyone's privacy loss and budget; None for local reports with too many possible
            outputs to enumerate.
        release: the release or releases in the file.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> release = ep.mean(hours, epsilon=epsilon, bounds=(0, 24), source=ep.Seeded(1))
        >>> found = ep.verify.published(release.to_json())
        >>> len(found.problems), found.verdict.holds, found.release.private
        (0, True, False)
    """

    problems: Mapping[str, str]
    verdict: Verdict | None
    release: Any

    @property
    def checks(self) -> tuple[CheckOfFile, ...]:
        """The recomputed quantities, each with its check and its result."""
        local = hasattr(self.release.mechanism, "channel")
        loss = "not checked" if self.verdict is None else _holds(self.verdict.holds)
        fields = {re.sub(r"^each\[\d+\]\.", "", each) for each in self.problems}
        wrong = {re.split(r"[.\[]", each)[0] for each in fields}
        drawn, versions = {"value", "raw", "n"}, {one.version for one in self._each}
        words = "" if versions == {made.VERSION} else " (words of other versions are not compared)"
        stored = "the release in the file"
        return (
            CheckOfFile(
                "privacy loss of each level, at most its budget",
                f"ep.verify.{'exact_channel' if local else 'exact'}",
                loss,
            ),
            CheckOfFile(
                "ε that people spent",
                stored if local else "that loss",
                _holds("spent" not in wrong),
            ),
            CheckOfFile("value and number of people", "what was drawn", _holds(not drawn & wrong)),
            CheckOfFile(
                "intervals and what else is computed", stored, _holds(not {*_COMPUTED} & wrong)
            ),
            CheckOfFile(
                "all other numbers and words",
                stored,
                _holds(wrong <= {"spent", *drawn, *_COMPUTED}) + words,
            ),
        )

    @property
    def unseen(self) -> dict[str, str]:
        """Facts that no check of a file can verify, and the checks that can verify them."""
        heads = [one.ledger.head for one in self._each if one.ledger is not None]
        same = f"ledger.check(head={heads[0]!r})" if heads else "compare it with the publisher's"
        return {
            **(_UNSEEN_LOCALLY if hasattr(self.release.mechanism, "channel") else _UNSEEN),
            "That each ε is what the person agreed to": "no call",
            "What other releases about the same people took from them": "a ledger",
            "That the file was not replaced as a whole (nothing is signed)": same,
            "How long the computation took, and what else could be seen of it": "no call",
        }

    @property
    def _each(self) -> tuple[Any, ...]:
        each: tuple[Any, ...] = getattr(self.release, "each", (self.release,))
        return each

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """The model, the unit of privacy and the ranges of values, as the file states them."""
        first, local = self._each[0], hasattr(self.release.mechanism, "channel")
        unit = {"": "not stated", "row": "a row"}
        found = [
            ("Model", "local: everyone randomizes" if local else "a trusted curator"),
            ("Neighbours", first.stated["neighbours_are"]),
            ("Unit of privacy", unit.get(first.person, f'all rows with the same "{first.person}"')),
        ]
        for one in self._each:
            parts = [part for block in one.sheet().blocks for part in block]
            lists = [part.facts for part in parts if hasattr(part, "facts")]
            values = [fact.words for facts in lists for fact in facts if fact.name == "Values"]
            found += [(f"Values of {one.name or one.statistic}", each) for each in values]
        return found

    def sign_off(self) -> str:
        """Return a sign-off sheet: the checks, the facts that no file can show, and blank lines."""
        names = "; ".join(one.title or one.statistic for one in self._each)
        first = self._each[0]
        head = f"Sign-off sheet: {names}, released {first.date} with epsilons {first.version}"
        seeded = [] if self.private else [_SEEDED]
        return "\n".join(
            [
                *(wrapped(each) for each in (head, *seeded)),
                *("", *(wrapped(f"{name}: {words}") for name, words in self._facts)),
                *(
                    "",
                    str(self),
                    "",
                    table(("recomputed", "with", "result"), self.checks, words=True),
                ),
                *("", "What no check of a file can see, and what checks it:"),
                *(wrapped(f"- {what}: {how}.") for what, how in self.unseen.items()),
                *("", _LINES),
            ]
        )

    @property
    def private(self) -> bool:
        """Whether no release in the file was drawn from a seed."""
        return all(one.private for one in self._each)

    @property
    def holds(self) -> bool:
        """Whether the file is consistent and everyone's loss is within their budget."""
        return not self.problems and (self.verdict is None or self.verdict.holds)

    def require(self) -> Published:
        """Return this object if all checks hold.

        Raises:
            PrivacyError: the file is inconsistent, or a loss exceeds a budget.
        """
        if self.problems:
            raise PrivacyError(
                f"The file disagrees with itself in {', '.join(self.problems)}: it was changed "
                "after it was written, and must not be relied on."
            )
        if self.verdict is not None:
            self.verdict.require()
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain data."""
        verdict = None if self.verdict is None else self.verdict.to_dict()
        return {
            "holds": self.holds,
            "problems": dict(self.problems),
            "verdict": verdict,
            "private": self.private,
            "checks": [each._asdict() for each in self.checks],
            "unseen": self.unseen,
        }

    def __str__(self) -> str:
        head = "Everything that the file shows follows from what was drawn."
        if self.problems:
            head = "THE FILE DISAGREES WITH ITSELF."
        rows = [f"  {field}: {why}" for field, why in self.problems.items()]
        verdict = "Reports of so many categories are not enumerated: see ep.verify.exact_channel."
        return legible("\n".join([head, *rows, str(self.verdict or verdict)]))


def published(text: str) -> Published:
    """Recompute everything that the file of a release shows, and everyone's privacy loss.

    What it checks: that each field matches the release in the file (text only if this version wrote
    it); that the value follows from the draw; that the stated spending equals the loss that `exact`
    computes from the mechanism; that everyone's loss is within their budget.

    What it does not check: who wrote the file. If somebody replaced the release and everything that
    follows from it, the file is consistent. To detect this, compare it with the publisher's ledger
    or page.

    Args:
        text: the output of `to_json()` of one or several releases.

    Returns:
        The inconsistencies, by field, and the verdict.

    Raises:
        ArgumentError: the text is not the JSON of a release, or its content cannot be read.
        PrivacyError: the kind of mechanism is unknown.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> release = ep.mean(hours, epsilon=epsilon, bounds=(0, 24), source=ep.Seeded(1))
        >>> ep.verify.published(release.to_json()).holds
        True
    """
    try:
        shown = json.loads(text)
    except (RecursionError, TypeError, ValueError):
        shown = None
    held = [key for key in ("release", "releases") if isinstance(shown, dict) and key in shown]
    if len(held) != 1 or shown.get("format") != _FORMAT:
        raise ArgumentError(
            f"text is not the JSON of a release in format {_FORMAT}, as to_json() writes it."
        )
    release = frozen.from_plain(shown[held[0]])
    if not hasattr(release, "differing"):
        raise ArgumentError(f"{held[0]} in the text is no release.")
    unlike = "differs from the release that is stored in the file"
    try:
        problems = dict.fromkeys(release.differing(shown), unlike)
        verdict = _verdict(release)
        for field, why in _unlikely(release, verdict):
            problems.setdefault(field, why)
        for place, one in enumerate(getattr(release, "each", ())):
            for field, why in _unlikely(one, _verdict(one)):
                problems.setdefault(f"each[{place}].{field}", why)
    except EpsilonsError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ArgumentError(
            f"{held[0]} in the text holds parts that do not fit together: it was changed."
        ) from error
    return Published(MappingProxyType(problems), verdict, release)


def _holds(holds: bool) -> str:
    return "holds" if holds else "FAILS"


def _verdict(release: Any) -> Verdict | None:
    """Return everyone's privacy loss, from the mechanism or from the randomizer at each budget.

    For local reports, only the first `_LEVELS` budgets are checked. The result is None if there are
    too many categories or dimensions to enumerate, or if no budget is finite and above 0.
    """
    mechanism = release.mechanism
    if not hasattr(mechanism, "channel"):
        return exact(mechanism)
    if max(getattr(mechanism, "cells", 0), getattr(mechanism, "dimension", 0)) > _FEW:
        return None
    levels = [float(level) for level in release.spent.levels if 0.0 < level < math.inf][:_LEVELS]
    channels = [mechanism.channel(level) for level in levels]
    found = [exact(each) if hasattr(each, "kind") else exact_channel(each) for each in channels]
    if not found:
        return None
    return Verdict(
        tuple(each.budgets[0] for each in found),
        tuple(each.losses[0] for each in found),
        exact=all(each.exact for each in found),
        neighbours="local",
    )


def _unlikely(release: Any, verdict: Verdict | None) -> Iterator[tuple[str, str]]:
    """Generate the fields of a release that do not follow from its draw, with the reason."""
    if verdict is not None and verdict.neighbours != "local":
        yield from _spent(release, verdict)
    if hasattr(release, "estimate"):
        follows = _VALUES.get(release.estimate.kind, _as_drawn)
        if not follows(release):
            yield "value", "does not follow from what was drawn"
        bounds = getattr(release.mechanism, "bounds", None)
        own = tuple(getattr(release.estimate, "bounds", ()))
        # Means that were drawn together have one mechanism, which lists the bounds of each.
        if release.statistic == "mean" and bounds is not None and own not in (bounds, *bounds):
            yield "bounds", "are not those of the mechanism"
        people = [row.people for row in release.spent]
        known = release.n is not None and not release.n_is_noisy and None not in people
        if known and release.n != sum(people):
            yield "n", "is not the number of people who are said to have spent"


def _spent(release: Any, verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Generate the levels at which the stated budgets or spending differ from the mechanism's.

    The verdict compares losses with the budgets of the mechanism. So these must be the stated ones.
    """
    losses = [float(loss) for loss in verdict.losses]
    stated = np.asarray(release.spent.spent).tolist()
    levels = np.asarray(release.spent.levels).tolist()
    if len(stated) != len(losses) or len(levels) != len(losses):
        yield "spent", "has other levels than the mechanism"
        return
    for place, (level, budget) in enumerate(zip(levels, verdict.budgets, strict=True)):
        if level != budget:
            yield f"spent[{place}].epsilon", "is not the budget that the mechanism keeps"
    for place, (loss, spent) in enumerate(zip(losses, stated, strict=True)):
        if spent != loss and not abs(spent - loss) <= _ROUNDED * max(spent, loss):
            yield f"spent[{place}].spent", "is not what the mechanism takes"
        if spent > levels[place]:
            yield f"spent[{place}].spent", "is more than the budget"
    people: Any = release.spent.people
    counts: Any = getattr(release.mechanism, "counts", None)
    # If people have weights, the mechanism counts units, not people.
    known = people is not None and counts is not None and not release.spent.weighted
    if known and not np.array_equal(people, counts):
        yield "spent", "has other numbers of people than the mechanism"


def _scalar(release: Any) -> bool:
    estimate = release.estimate
    lo, hi = estimate.bounds
    if hasattr(estimate.margin, "of"):  # the mean of a single group
        return _by_group(release, estimate.margin.of, np.array([estimate.value]), shrunk=False)
    return _near(estimate.value, min(max(estimate.raw, lo), hi), hi - lo)


def _cells(release: Any) -> bool:
    estimate = release.estimate
    ways = (_projected(estimate.raw), np.clip(estimate.raw, 0.0, 1.0))
    return any(_near(estimate.value, each, 1.0) for each in ways)


def _vector(release: Any) -> bool:
    estimate = release.estimate
    far = float(np.linalg.norm(estimate.raw))
    inside = estimate.raw if far <= estimate.ball else estimate.raw * (estimate.ball / far)
    return _near(estimate.value, inside, estimate.ball)


def _pair(release: Any) -> bool:
    estimate = release.estimate
    found = estimate.margin.covariance(release.assumption, release.confidence)
    return _near(estimate.value, found.value * estimate.unit, estimate.unit)


def _groups(release: Any) -> bool:
    estimate = release.estimate
    return _by_group(release, estimate.margin, estimate.value, shrunk=estimate.shrunk)


def _by_group(release: Any, margin: Any, value: _Numbers, *, shrunk: bool) -> bool:
    """Whether means of groups follow from the drawn cells.

    A mean is its first cell divided by the sum of its two cells, clipped to the range; it is the
    middle of the range if that sum is not positive. If this mean is outside the published interval,
    the published mean must be the one that the interval's test is farthest from rejecting. Shrunk
    means must follow from the cells and the noise, clipped to the interval.

    Args:
        release: the release.
        margin: the margin of error of the groups, with the drawn cells.
        value: the published means.
        shrunk: whether these are shrunk.
    """
    lo, hi = release.estimate.bounds
    asked = release.assumption, release.confidence
    low, high = ((end - lo) / (hi - lo) for end in margin.intervals((lo, hi), *asked))
    found = (np.asarray(value) - lo) / (hi - lo)
    public = hasattr(margin, "weighings")
    if public:
        total = np.isfinite(margin.drawn).astype(np.float64)
        first = np.where(total > 0.0, (margin.drawn - lo) / (hi - lo), 0.0)
    else:
        first, total = margin.cells[::2], margin.cells[::2] + margin.cells[1::2]
    if shrunk:
        return _near(found, np.clip(_pulled(margin, first, total, public=public), low, high), 1.0)
    some = total > 0.0
    with np.errstate(over="ignore"):
        plain = np.where(some, np.clip(first / np.where(some, total, 1.0), 0.0, 1.0), 0.5)
    refuted = np.flatnonzero((plain < low - _CLOSE) | (plain > high + _CLOSE))
    held = np.setdiff1d(np.arange(len(plain)), refuted)
    if not _near(found[held], plain[held], 1.0):
        return False
    for some_groups, heights in margin.tests(*asked) if len(refuted) else ():
        start = some_groups.start
        for group in refuted[(refuted >= start) & (refuted < start + len(heights.up))].tolist():
            own = heights.up[group - start], heights.down[group - start]
            if not _least(found[group], first[group], total[group], *own):
                return False
    return True


def _least(m: float, first: float, total: float, up: _Numbers, down: _Numbers) -> bool:
    """Whether m has the smallest ratio of test statistic to critical value of all possible means.

    Args:
        m: a mean, on a unit range.
        first: the first cell of the group.
        total: the sum of both cells.
        up: the critical value in each part of the range, for means below first/total.
        down: the critical value in each part of the range, for means above first/total.
    """
    ends = np.sin(np.linspace(0.0, np.pi / 2.0, len(up) + 1)) ** 2
    ratios = [
        max(first - at * total, 0.0) / above + max(at * total - first, 0.0) / below
        for left, right, above, below in zip(ends[:-1], ends[1:], up, down, strict=True)
        for at in (left, right)
    ]
    places = np.stack([ends[:-1], ends[1:]], axis=1).ravel()
    best = min(ratios) * (1.0 + _CLOSE)
    return any(r <= best and abs(at - m) <= _CLOSE for r, at in zip(ratios, places, strict=True))


def _pulled(margin: Any, first: _Numbers, total: _Numbers, *, public: bool) -> _Numbers:
    """Return means shrunk toward the pooled mean m.

    The larger the variance of the noise of first − m·total, the closer a mean moves to m.
    """
    heads = margin.people if public else np.ones(len(first))
    whole = float(heads @ total)
    pooled = float(np.clip(heads @ first / whole, 0.0, 1.0)) if whole > 0.0 else 0.5
    if public:
        scales = [0.0 if each is None else each.scale for each in margin.weighings]
        noise = 2.0 * np.square(scales)
    else:
        whole_noise = margin.weighed
        a, b = 1.0 - pooled, -pooled
        one, both = 2.0, 0.0  # the variance of one cell's noise, and the covariance of two
        if whole_noise.closed is not None:
            k = whole_noise.closed.cells
            one = (k - 1) * (2 * k - 1) / (k * (k + 1))
            both = -one / (k - 1)
        noise = np.full(
            len(first), whole_noise.scale**2 * (one * (a * a + b * b) + 2 * both * a * b)
        )
    weight = np.maximum(total, 0.0)
    there = weight > 0.0
    pull = np.where(there, weight / np.where(there, weight**2 + noise / _AMONG**2, 1.0), 0.0)
    return np.asarray(pooled + pull * (first - pooled * total))


def _as_drawn(release: Any) -> bool:
    return _near(release.value, release.raw, 0.0)


_VALUES: Final[Mapping[str, Callable[[Any], bool]]] = MappingProxyType(
    {
        "scalar": _scalar,
        "cells": _cells,
        "vector": _vector,
        "pair": _pair,
        "count": lambda release: release.value == max(release.raw, 0),
        "groups": _groups,
    }
)
"""For each kind of estimate, a function that checks whether its value follows from the draw. The
values of all other kinds must equal the drawn values."""


def _near(one: npt.ArrayLike, other: npt.ArrayLike, unit: float) -> bool:
    """Whether numbers are equal up to rounding."""
    return bool(np.allclose(one, other, rtol=_CLOSE, atol=_CLOSE * unit))


def _projected(raw: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the Euclidean projection onto the probability simplex."""
    falling = np.sort(raw)[::-1]
    over = (np.cumsum(falling) - 1.0) / np.arange(1, len(raw) + 1)
    above = int(np.flatnonzero(falling > over)[-1])
    return np.asarray(np.maximum(raw - over[above], 0.0), dtype=np.float64)

"""The mechanism that is drawn is the one that is checked.

The stated spending is its privacy loss.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws.mechanisms.add_remove import CellSums, LevelCounts, TwoSums
from epsilons.draws.mechanisms.histogram import ClosedHistogram, Histogram
from epsilons.draws.mechanisms.octaves import Octaves
from epsilons.draws.mechanisms.selection import Selection, spread_of
from epsilons.draws.mechanisms.sums import Additive, SumAndSquares
from epsilons.errors import PrivacyError
from epsilons.papers.diffusion import Crossing
from epsilons.verify.losses import selection
from tests import compared
from tests.assumed import GAUSSIAN, SAMPLE

PEOPLE = 900
LEVELS = (0.5, 1.0, 2.0)
ADD_REMOVE: dict[str, Any] = {"neighbours": "add-remove"}
OFFERED: dict[str, Any] = {**ADD_REMOVE, "levels": list(LEVELS)}
CALLS: dict[str, dict[str, Any]] = {
    **{f"mean, {m}": {"method": m} for m in ("optimal", "proportional", "sampling", "uniform")},
    "mean, open": {**ADD_REMOVE, "related": False},
    "mean, offered": OFFERED,
    "mean, guessed": {**ADD_REMOVE, "levels": {0.5: 300, 1.0: 300, 2.0: 300}},
    "mean, hourglass": {**OFFERED, "method": "hourglass"},
    "mean, staircase2d": {**OFFERED, "method": "staircase2d"},
    "mean, shifted": {**OFFERED, "method": "shifted"},
    "cells, optimal": {"method": "optimal"},
    "cells, sampling": {"method": "sampling", **SAMPLE},
    "cells, open": {**ADD_REMOVE, "related": False},
    "cells, offered": OFFERED,
    "line, weighted": {},
    "line, close": {},
    "line, diffusion": {"method": "diffusion", **GAUSSIAN},
    "line, open": OFFERED,
    "line, offered": {**OFFERED, "cap": 1.5},
    "line, close, offered": OFFERED,
    "line, gaussian": {**OFFERED, **GAUSSIAN},
    "line, slots": {**OFFERED, **GAUSSIAN, "method": "diffusion"},
}
CLASSES: tuple[Any, ...] = (
    Additive,
    SumAndSquares,
    Histogram,
    ClosedHistogram,
    TwoSums,
    CellSums,
    LevelCounts,
    Octaves,
    Selection,
    Crossing,
)


def published(name: str) -> Any:
    statistic, options = name.partition(",")[0], CALLS[name]
    rng = np.random.default_rng(5)
    epsilon = rng.choice(LEVELS, PEOPLE)
    if statistic == "cells":
        values = rng.choice(["x", "y", "z"], PEOPLE)
        return compared.frequencies(
            values, epsilon=epsilon, categories=["x", "y", "z"], source=ep.Seeded(2), **options
        )
    values = rng.normal(50.0, 1.0 if "close" in name else 10.0, PEOPLE)
    bounds = None if statistic == "line" else (0, 100)
    return compared.mean(values, epsilon=epsilon, bounds=bounds, source=ep.Seeded(2), **options)


def fingerprint(mechanism: Any) -> tuple[Any, ...]:
    """Return what identifies a stage, without its budget levels."""
    if mechanism.kind == "selection":
        return ("selection", mechanism.scale, mechanism.seeks)
    if mechanism.kind in ("octaves", "open octaves"):
        return (mechanism.kind, mechanism.law.scale, int(mechanism.weights.max()))
    if mechanism.kind == "counts":
        return ("counts", mechanism.rates)
    return (mechanism.kind, id(mechanism))


def leaves(mechanism: Any) -> list[tuple[Any, ...]]:
    """Return the fingerprints of all stages that a mechanism declares."""
    if mechanism.kind == "composition":
        return [each for stage in mechanism.stages for each in leaves(stage)]
    if mechanism.kind == "reduction":
        return [*leaves(mechanism.counts_stage), *leaves(mechanism.bounded)]
    if mechanism.kind == "diffusion":
        middle = ("selection", mechanism.middle_scale, "the median of those who were kept")
        return [middle, *(fingerprint(each) for each in mechanism.crossings)]
    return [fingerprint(mechanism)]


@pytest.mark.parametrize("name", CALLS)
def test_what_is_drawn_is_what_is_checked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    for each in CLASSES:

        def draw(self: Any, *args: Any, _own: Any = each.draw, **options: Any) -> Any:
            drawn.append(self)
            return _own(self, *args, **options)

        monkeypatch.setattr(each, "draw", draw)
    release = published(name)
    assert sorted(map(fingerprint, drawn)) == sorted(leaves(release.mechanism))
    assert drawn


@pytest.mark.parametrize("name", ["line, close", "line, diffusion", "line, open"])
def test_a_stage_that_is_left_out_is_missed(name: str) -> None:
    mechanism = published(name).mechanism
    assert len(mechanism.stages) == len(mechanism.charges) >= 2
    for place in range(len(mechanism.stages)):
        stages = mechanism.stages[:place] + mechanism.stages[place + 1 :]
        with pytest.raises(PrivacyError, match="drawn and charged"):
            ep.verify.exact(replace(mechanism, stages=stages))


def test_the_losses_that_a_mechanism_states_are_not_believed() -> None:
    mechanism = published("line, weighted").mechanism

    class Modest(type(mechanism)):  # type: ignore[misc]
        """A wrong mechanism: it declares losses of zero."""

        @property
        def losses(self) -> Any:
            return (Fraction(0),) * len(self.levels)

    modest = Modest(mechanism.levels, mechanism.stages, mechanism.charges)
    assert ep.verify.exact(modest).losses == ep.verify.exact(mechanism).losses
    assert min(ep.verify.exact(modest).losses) > 0


# Diffusion consists of sampling, four crossings and a median. Then people are assigned to slots.


def test_a_diffusion_that_is_not_what_it_says_is_refused() -> None:
    first = published("line, diffusion").mechanism.stages[0]
    assert ep.verify.exact(first).holds
    up, narrow = first.up, first.narrow
    for change, words in (
        ({"up": replace(up, step=1)}, "wrong change of its queries"),
        ({"narrow": replace(narrow, step=0)}, "wrong change of its queries"),
        ({"wide": replace(narrow, query=Fraction(0))}, "above 0"),
        ({"wide": replace(narrow, threshold=math.inf)}, "above 0"),
        ({"keep": (Fraction(3, 2),) * 3}, "kept"),
        ({"keep": (0.5,) * 3}, "kept"),
        ({"keep": first.keep[:2]}, "kept"),
        ({"middle_scale": 0.5}, "whole number"),
    ):
        with pytest.raises(PrivacyError, match=words):
            ep.verify.exact(replace(first, **change))

    class Fewer(type(first)):  # type: ignore[misc]
        """A wrong mechanism: it omits one crossing from its list."""

        crossings = property(lambda self: (self.up, self.down, self.wide))

    parts = {name: getattr(first, name) for name in first.__dataclass_fields__}
    with pytest.raises(PrivacyError, match="crossings"):
        ep.verify.exact(Fewer(**parts))


@pytest.mark.parametrize("name", ["up", "down", "wide", "narrow"])
def test_every_crossing_of_a_diffusion_is_charged(name: str) -> None:
    first = published("line, diffusion").mechanism.stages[0]
    before = ep.verify.exact(first).losses
    sharper = replace(getattr(first, name), query=getattr(first, name).query / 2)
    after = ep.verify.exact(replace(first, **{name: sharper})).losses
    assert all(a > b for a, b in zip(after, before, strict=True))
    more = ep.verify.exact(replace(first, middle_scale=first.middle_scale // 2)).losses
    assert all(a > b for a, b in zip(more, before, strict=True))


def test_slots_are_charged_to_those_who_sit_in_them() -> None:
    reduced = published("line, slots").mechanism
    verdict = ep.verify.exact(reduced)
    counted = ep.verify.exact(reduced.counts_stage).losses
    slots = ep.verify.exact(reduced.bounded).losses
    expected = [a + slots[at] for a, at in zip(counted, reduced.place.tolist(), strict=True)]
    assert list(verdict.losses) == expected
    for place in (np.full(3, -1), np.zeros(3, dtype=int), reduced.place[:2], reduced.place + 1):
        with pytest.raises(PrivacyError, match="slots"):
            ep.verify.exact(replace(reduced, place=place))
    stage = reduced.counts_stage
    for cells in (np.zeros_like(stage.cell_of), np.full_like(stage.cell_of, -1)):
        uncounted = replace(reduced, counts_stage=replace(stage, cell_of=cells))
        with pytest.raises(PrivacyError, match="slots"):
            ep.verify.exact(uncounted)
    with pytest.raises(PrivacyError, match="slots under replace"):
        ep.verify.exact(replace(reduced, bounded=reduced.counts_stage))
    with pytest.raises(PrivacyError, match="same people"):
        ep.verify.exact(replace(reduced, levels=2 * reduced.levels))


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_how_far_exponents_move_is_looked_at(
    neighbours: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check on small data sets notices if the largest effect of a person is understated."""
    stages = published("line, close").mechanism.stages
    stage = next(each for each in stages if isinstance(each, Selection))
    stage = replace(stage, neighbours=neighbours)
    assert max(ep.verify.exact(stage).losses) > 0
    monkeypatch.setattr(selection, "_spread", lambda *given: spread_of(*given) - 1)
    with pytest.raises(PrivacyError, match="farther"):
        ep.verify.exact(stage)

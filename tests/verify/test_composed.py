"""In a composition of several mechanisms, losses add up.

The mechanism that is checked is the one that is drawn and charged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import PrivacyError


@pytest.fixture(scope="module")
def composed() -> Any:
    release = ep.mean(
        [0.0, 1.0],
        epsilon=[1.0, 2.0],
        levels=[1.0, 2.0],
        bounds=(0, 1),
        neighbours="add-remove",
        source=ep.Seeded(0),
    )
    return release.mechanism


def test_losses_of_stages_add_up(composed: Any) -> None:
    verdict = ep.verify.exact(composed)
    assert verdict.holds
    counts, sums = (ep.verify.exact(stage).losses for stage in composed.stages)
    assert all(counts)
    assert all(sums)
    assert verdict.losses == tuple(a + b for a, b in zip(counts, sums, strict=True))
    assert verdict.neighbours == "add-remove"


def test_a_composition_that_is_not_what_was_drawn_is_refused(composed: Any) -> None:
    counts, sums = composed.stages
    twice = replace(counts, rates=tuple(2 * rate for rate in counts.rates))
    half = replace(counts, rates=tuple(rate / 2 for rate in counts.rates))
    heavier = replace(sums, weights=2 * sums.weights)
    others = replace(counts, levels=np.array([1.0, 4.0]))
    replaced = ep.mean([0.0, 1.0], epsilon=[1.0, 2.0], bounds=(0, 1)).mechanism
    first, second = composed.charges
    cases = {
        "drawn and charged": ((sums,), (counts,), (counts, sums, sums), ()),
        "what was charged for it": ((twice, sums), (half, sums), (counts, heavier), (sums, counts)),
        "the same people": ((others, sums),),
        "the same change": ((counts, replaced),),
    }
    for words, each in cases.items():
        for stages in each:
            with pytest.raises(PrivacyError, match=words):
                ep.verify.exact(replace(composed, stages=stages))
    for charges in ((first,), (second, first), ((), second), (first[:1], second)):
        with pytest.raises(PrivacyError, match="charge"):
            ep.verify.exact(replace(composed, charges=charges))


def test_a_composition_may_break_a_budget_that_each_stage_keeps(composed: Any) -> None:
    """The checker adds up the losses of all stages and compares the sum with the budget."""
    twice = (*composed.stages, composed.stages[1])
    whole = replace(composed, stages=twice, charges=(*composed.charges, composed.charges[1]))
    assert all(ep.verify.exact(stage).holds for stage in twice)
    assert not ep.verify.exact(whole).holds

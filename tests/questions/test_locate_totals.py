"""Draws of a round can have different weights. Each total uses those of its own mechanism."""

from __future__ import annotations

import numpy as np
import pytest

from epsilons.door import open as open_rows
from epsilons.door.count import line
from epsilons.draws.mechanisms import Octaves, Selection
from epsilons.draws.mechanisms.octaves import octaves_of
from epsilons.questions.steps.locate import locate
from epsilons.questions.steps.outer import outer
from tests.questions.test_outer import GOAL


@pytest.mark.parametrize("way", ["locate", "outer"])
def test_each_draw_has_the_total_of_its_own_weights(way: str) -> None:
    rng = np.random.default_rng(3)
    values, epsilon = rng.normal(5.0, 1.0, 4000), rng.choice([0.1, 0.5, 2.0], 4000)
    rows = open_rows(values, epsilon=epsilon)
    steps = (
        locate(rows.line, neighbours="replace")
        if way == "locate"
        else outer(rows.line, GOAL, neighbours="replace")
    )
    first = next(steps)
    buckets = line.index_of(line.rounded(values))
    level = np.searchsorted(np.unique(epsilon), epsilon)
    offset = 0
    if isinstance(first.mechanism, Octaves):
        weight, cells = first.mechanism.weights[level], octaves_of(buckets)
        totals = np.bincount(cells, weights=weight, minlength=first.mechanism.cells)
        assert first.total.tolist() == totals.astype(np.int64).tolist()
        alone = np.where(np.arange(first.mechanism.cells) == octaves_of(buckets)[0], 1e15, 0.0)
        first, offset = steps.send(alone), int(line.index_of(line.rounded(np.array([4.0])))[0])
    second = steps.send(int(np.median(buckets)) - offset)
    for draw in (first, second):
        assert isinstance(draw.mechanism, Selection)
        weight = draw.mechanism.weights[level]
        assert int(draw.total[1].sum()) == int(weight.sum())
    assert isinstance(first.mechanism, Selection)
    places, masses = first.total
    weight = first.mechanism.weights[level]
    assert {int(p) + offset: int(m) for p, m in zip(places, masses, strict=True)} == {
        int(place): int(weight[buckets == place].sum()) for place in np.unique(buckets)
    }

"""The comparison of quantiles: the peer and the former method find what they should."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quantiles import Case

VALUES = np.random.default_rng(3).gamma(2.0, 8.0, 3000)


def case(epsilon: float, q: float) -> Case:
    return Case("gamma", VALUES, (0.0, 100.0), epsilon, q)


@pytest.mark.parametrize("q", [0.5, 0.9])
def test_with_large_budgets_the_peer_finds_the_quantile(q: float) -> None:
    sharp = case(50.0, q)
    assert sharp.total[1].sum() == len(VALUES) * 50 * 2**20
    assert abs(sharp.peer(1) - sharp.truth) <= 100.0 / 1024
    assert sharp.truth == np.quantile(VALUES, q, method="inverted_cdf")


def test_the_former_method_has_intervals_that_widen_as_budgets_shrink() -> None:
    widths = [np.mean([case(epsilon, 0.5).former(seed) for seed in range(5)]) for epsilon in (3, 1)]
    assert 100.0 / 1024 <= widths[0] < widths[1] < 20.0


def test_errors_and_intervals_are_compared_with_both() -> None:
    found = case(3.0, 0.5).measured(8)
    assert found["method"] == "selection"
    assert found["off"] == pytest.approx(found["error"] / found["peer"])
    assert found["wide"] == pytest.approx(found["width"] / found["former"])
    assert found["wide"] < 1.0

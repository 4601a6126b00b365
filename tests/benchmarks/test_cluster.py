"""The cost model recovers known coefficients, and its predictions for clusters are plausible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import cluster
from benchmarks.costs import (
    COLUMNS,
    Cluster,
    Model,
    Query,
    fit_model,
    predict,
    resample,
    stops,
    waves,
)

PLANTED = (0.15, 0.01, 1.0e-7, 1.2e-7, 8e-7, 2e-9, 0.3)
MODEL = Model(PLANTED, (0.0,))


def queries() -> list[Query]:
    """Return the queries that `cluster.measured` times, without Spark."""
    found = []
    for rows, parts, groups in ((10**6, 1, 50), (10**6, 1, 2553), (10**7, 10, 2553)):
        found += [Query(rows, parts, groups, 56.0, 1, 2, ours) for ours in (False, True)]
    for parts in (1, 2, 10):
        found += [Query(10**7, parts, 50, 56.0, 1, 2, ours) for ours in (False, True)]
    found += [Query(10**6, 1, 1e5, 56.0, reducers, 2, False) for reducers in (1, 50)]
    found += [Query(10**7, 10, 1e5, 56.0, reducers, 2, False) for reducers in (1, 50)]
    for records, width, reducers in ((1e5, 16.0, 2), (1e6, 16.0, 2), (1e5, 1000.0, 20)):
        found.append(Query(0, 4, records / 4, width, reducers, 2, False))
    return found + [Query(10**8, 10, 50, 56.0, 1, 2, ours) for ours in (False, True)]


def test_waves_are_those_of_the_busiest_core() -> None:
    assert [waves(tasks, 4) for tasks in (1, 4, 5, 8, 9)] == [1, 1, 2, 2, 3]


def test_terms_are_counted_by_hand() -> None:
    query = Query(900, 3, 10, 7.0, 5, 2, True)
    # Three partitions on two cores: the busiest core reads two partitions, 600 rows. Five reducers
    # on two cores run in three waves. Two cores merge 30 groups of 7 bytes.
    assert query.terms() == [1.0, 5.0, 0.0, 600.0, 15.0, 105.0, 1.0]
    assert replace(query, ours=False).terms() == [1.0, 5.0, 600.0, 0.0, 15.0, 105.0, 0.0]
    assert query.shuffled == 210.0


def test_planted_coefficients_are_found() -> None:
    model = fit_model(queries(), [MODEL.seconds(query) for query in queries()])
    assert model.coefficients == pytest.approx(PLANTED, rel=1e-6)
    assert model.typical < 1e-9


def test_planted_coefficients_are_found_in_noise_and_refits_hold_them() -> None:
    rng = np.random.default_rng(3)
    times = [MODEL.seconds(query) * float(np.exp(rng.normal(0.0, 0.05))) for query in queries()]
    model = fit_model(queries(), times)
    # The extrapolation depends most on the costs per row of both queries, so their error must be
    # the smallest.
    assert model.coefficients[2:4] == pytest.approx(PLANTED[2:4], rel=0.1)
    assert model.typical < 0.1
    drawn = np.array([each.coefficients for each in resample(queries(), times, 100)])
    low, high = np.quantile(drawn, (0.0, 1.0), axis=0)
    assert (low[2:4] <= np.array(PLANTED[2:4]) * 1.05).all()
    assert (high[2:4] >= np.array(PLANTED[2:4]) * 0.95).all()


def test_no_coefficient_is_negative() -> None:
    rng = np.random.default_rng(4)
    times = [float(np.exp(rng.normal(0.0, 1.0))) for _ in queries()]
    assert min(fit_model(queries(), times).coefficients) >= 0.0


def test_too_few_queries_are_refused() -> None:
    with pytest.raises(ValueError, match="queries"):
        fit_model(queries()[: len(COLUMNS) - 1], [1.0] * (len(COLUMNS) - 1))


def test_the_largest_size_is_foretold_by_the_smaller_ones() -> None:
    smaller = [query for query in queries() if query.rows < 10**8]
    model = fit_model(smaller, [MODEL.seconds(query) for query in smaller])
    for query in queries()[-2:]:
        assert model.seconds(query) == pytest.approx(MODEL.seconds(query), rel=1e-6)


def test_few_cores_scale_and_many_do_not() -> None:
    def total(cores: int) -> float:
        return predict(MODEL, 1e11, 50, 56.0, Cluster(cores), ours=True).total

    assert total(10) / total(20) == pytest.approx(2.0, rel=0.02)
    assert total(10**5) / total(2 * 10**5) < 1.1
    assert all(total(10**k) >= total(10 ** (k + 1)) for k in range(1, 6))
    end = stops(MODEL, 1e11, 50, 56.0, Cluster(1))
    assert 100 <= end <= 10**4
    assert total(2 * end) > 0.8 * total(end)


def test_the_scan_is_bounded_by_storage() -> None:
    slow = Cluster(1000, per_core_bandwidth=1e6)
    parts = predict(MODEL, 1e11, 50, 56.0, slow, ours=True)
    assert parts.scan >= 1e11 * slow.bytes_per_row / (1000 * 1e6)
    shared = Cluster(1000, aggregate_bandwidth=1e9)
    assert predict(MODEL, 1e11, 50, 56.0, shared, ours=True).scan >= 1e11 * 9.0 / 1e9


def test_worse_assumptions_cost_more() -> None:
    there = Cluster(1000)
    usual = predict(MODEL, 1e11, 50, 56.0, there, ours=True)
    for worse in (
        replace(there, dispatch=0.1),
        replace(there, straggler=3.0),
        replace(there, speed=0.5),
        replace(there, merge=1e-2),
        replace(there, network=1e3),
    ):
        assert predict(MODEL, 1e11, 50, 56.0, worse, ours=True).total > usual.total
    assert predict(MODEL, 1e11, 50, 56.0, there, ours=False).total < usual.total
    assert usual.serial < usual.total


def test_more_groups_are_shuffled_and_merged_for_longer() -> None:
    few, many = (
        predict(MODEL, 1e11, groups, 56.0, Cluster(1000), ours=True) for groups in (50, 1e5)
    )
    assert many.shuffle > few.shuffle
    assert many.driver > few.driver
    assert many.scan == few.scan


def test_the_table_and_the_words_are_made_of_the_model() -> None:
    there = Cluster(1000, bytes_per_row=9.0)
    rows = cluster.over_cores(MODEL, [MODEL], there)
    assert [row[0] for row in rows] == list(cluster.OVER_CORES)
    for cores, bare, ours, low, high in rows:
        # If reading from storage is the bottleneck, a query that computes less is not faster.
        assert bare < ours if cores <= 1000 else bare <= ours
        assert low == pytest.approx(ours)
        assert high == pytest.approx(ours)
    text = cluster._prediction(rows)
    assert text.count("\n|") == len(rows) + 2
    points = [cluster.Point("q", query, (MODEL.seconds(query),)) for query in queries()]
    model = fit_model(queries(), [point.seconds for point in points])
    shown = cluster._residuals(points, model, model, 1e8)
    assert shown.count("+0 %") + shown.count("-0 %") == len(points) + 2
    assert "Amdahl" in cluster._where(MODEL, there)


def test_the_plot_is_drawn() -> None:
    pytest.importorskip("altair")
    rows = cluster.over_cores(MODEL, [MODEL], Cluster(1000))
    assert cluster.plot(rows).to_dict()["layer"]

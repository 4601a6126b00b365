"""Properties of all local mechanisms: refusals, streams, states, and serialization."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import local
from epsilons.errors import ArgumentError, BudgetError, DataError, MissingValueError
from epsilons.local.randomizer import Randomizer
from epsilons.local.reports import Reports

RNG = np.random.default_rng(1)
PEOPLE = 300
BUDGETS = np.concatenate([RNG.uniform(0.05, 9.0, PEOPLE - 4), [0.0, math.inf, math.inf, 40.0]])
MENU = [*BUDGETS.tolist(), 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
CASES: dict[str, tuple[Randomizer, Any]] = {
    "bit": (local.Bit(levels=MENU), RNG.random(PEOPLE) < 0.3),
    "mean": (local.Mean((-2, 6), "laplace", levels=MENU), RNG.uniform(-2, 6, PEOPLE)),
    "mean laplace": (local.Mean((0, 1), method="laplace", levels=MENU), RNG.random(PEOPLE)),
    "mean bit": (local.Mean((0, 1), method="bit", levels=MENU), RNG.random(PEOPLE)),
    "vector": (local.Vector(5, radius=2.0, levels=MENU), RNG.normal(size=(PEOPLE, 5))),
    "vector of one": (local.Vector(1, levels=MENU), RNG.uniform(-1, 1, (PEOPLE, 1))),
    "duchi": (local.Vector(3, method="duchi", levels=MENU), RNG.normal(size=(PEOPLE, 3))),
    "hadamard": (local.Frequencies(6, levels=MENU), RNG.integers(0, 6, PEOPLE)),
    "projection": (
        local.Frequencies(6, "projection", 11, levels=MENU),
        RNG.integers(0, 6, PEOPLE),
    ),
    "rappor": (local.Frequencies(9, "rappor", levels=MENU), RNG.integers(0, 9, PEOPLE)),
    "words": (
        local.Frequencies(["a", "b", "c"], levels=MENU),
        RNG.choice(["a", "b", "c"], PEOPLE),
    ),
    "mean piecewise": (local.Mean((0, 1), method="piecewise", levels=MENU), RNG.random(PEOPLE)),
}


def reports_of(name: str, seed: int = 5) -> Reports:
    mechanism, values = CASES[name]
    return mechanism.randomize_many(values, BUDGETS, ep.Seeded(seed))


@pytest.mark.parametrize("name", CASES)
def test_bytes_go_there_and_back(name: str) -> None:
    reports = reports_of(name)
    data = reports.to_bytes()
    back = Reports.from_bytes(data)
    assert back.to_bytes() == data
    assert len(back) == PEOPLE
    assert not back.private
    mechanism, _ = CASES[name]
    one, two = mechanism.estimate(reports), mechanism.estimate(data)
    assert np.array_equal(one.raw, two.raw)
    assert one.to_json() == two.to_json()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("weights", ["variance", "paper", "uniform"])
def test_states_merge_in_any_order(name: str, weights: str) -> None:
    mechanism, values = CASES[name]
    cuts = [slice(0, 70), slice(70, 71), slice(71, 296), slice(296, 300)]
    batches = [
        mechanism.randomize_many(values[c], BUDGETS[c], ep.Seeded(k)) for k, c in enumerate(cuts)
    ]
    a, b, c, d = (mechanism.state(batch, weights=weights) for batch in batches)
    stream = mechanism.estimate((batch.to_bytes() for batch in batches), weights=weights)
    for state in ((a + b) + (c + d), d + (c + (b + a)), pickle.loads(pickle.dumps(c + a)) + b + d):
        release = mechanism.estimate(state, weights=weights)
        assert release.n == PEOPLE
        np.testing.assert_allclose(release.raw, stream.raw, rtol=1e-9, atol=1e-12)
        assert release.risk == pytest.approx(stream.risk, rel=1e-12)
        assert [row.people for row in release.spent] == [row.people for row in stream.spent]


@pytest.mark.parametrize("name", CASES)
def test_what_is_cut_or_longer_or_changed_is_refused(name: str) -> None:
    mechanism, _ = CASES[name]
    data = reports_of(name).to_bytes()
    broken = {
        "empty": b"",
        "short": data[:-1],
        "head": data[:11],
        "long": data + b"\0",
        "magic": b"EPSX" + data[4:],
        "version": data[:4] + b"\2" + data[5:],
        "kind": data[:5] + b"\11" + data[6:],
        "flags": data[:6] + b"\7" + data[7:],
        "pad": data[:7] + b"\1" + data[8:],
        "parameters": data[:8] + b"\xff" + data[9:],
        "count": data[:12] + b"\xff\xff\xff\xff" + data[16:],
        "text": "EPSR",
    }
    before = mechanism.state(reports_of(name))
    for what, bad in broken.items():
        with pytest.raises(DataError) as caught:
            before + mechanism.state(bad)  # type: ignore[arg-type]
        assert len(str(caught.value)) > 20, what
    assert mechanism.estimate(before).n == PEOPLE


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("other", CASES)
def test_reports_of_another_mechanism_are_refused(name: str, other: str) -> None:
    mine, theirs = CASES[name][0], CASES[other][0]
    if (mine.kind, mine.parameters) == (theirs.kind, theirs.parameters):
        if theirs.terms == mine.terms:
            mine.state(reports_of(other))
        return
    with pytest.raises(DataError, match="not made by this mechanism"):
        mine.state(reports_of(other))
    with pytest.raises(ArgumentError, match="different"):
        mine.state(reports_of(name)) + theirs.state(reports_of(other))
    with pytest.raises(DataError, match="another mechanism"):
        mine.estimate(theirs.state(reports_of(other)))


@pytest.mark.parametrize("bad", [-1.0, math.nan, -0.5, "1", None, [1.0, 2.0], [[1.0]]])
@pytest.mark.parametrize("name", CASES)
def test_budgets_that_mean_nothing_are_refused_before_anything_is_drawn(
    name: str, bad: Any
) -> None:
    mechanism, values = CASES[name]

    class Silent(ep.Seeded):
        def words(self, count: int) -> Any:
            raise AssertionError("something was drawn")

    with pytest.raises(ArgumentError):
        mechanism.randomize_many(values, bad, Silent(1))


@pytest.mark.parametrize("name", CASES)
def test_a_budget_in_a_report_that_means_nothing_is_refused(name: str) -> None:
    mechanism, values = CASES[name]
    data = bytearray(mechanism.randomize(values[0], 1.0, ep.Seeded(1)).to_bytes())
    start = 16 + len(mechanism.parameters)
    for bad in (math.nan, -1.0, -math.inf):
        data[start : start + 8] = np.float64(bad).tobytes()
        with pytest.raises(DataError, match="budget"):
            mechanism.state(bytes(data))


@pytest.mark.parametrize("name", CASES)
def test_weights_by_variance_are_the_best_there_are(name: str) -> None:
    """The risk of many reports is 1/Σ(1/r), where r is the risk of each single report."""
    mechanism, values = CASES[name]
    alone = [
        mechanism.estimate(mechanism.randomize(value, budget, ep.Seeded(1))).risk
        for value, budget in zip(values[::7], BUDGETS[::7], strict=True)
    ]
    together = mechanism.estimate(mechanism.randomize_many(values[::7], BUDGETS[::7])).risk
    assert together == pytest.approx(1.0 / sum(1.0 / risk for risk in alone), rel=1e-9)
    mixed = mechanism.randomize_many(values[:3], [0.5, 6.0, math.inf])
    each = [
        mechanism.estimate(mechanism.randomize(values[0], budget)).risk
        for budget in (0.5, 6.0, math.inf)
    ]
    found = mechanism.estimate(mixed).risk
    assert found == pytest.approx(1.0 / sum(1.0 / risk for risk in each), rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_only_noise_tells_nothing(name: str) -> None:
    mechanism, values = CASES[name]
    noise = mechanism.randomize_many(values, 0.0, ep.Seeded(1))
    with pytest.raises(BudgetError, match="pure noise"):
        mechanism.estimate(noise)
    # A report of pure noise changes nothing but the number of people.
    report = mechanism.randomize(values[0], 2.0, ep.Seeded(2))
    for weights in ("variance", "paper", "uniform"):
        alone = mechanism.estimate(report, weights=weights)
        both = mechanism.estimate([report, noise], weights=weights)
        assert np.array_equal(alone.raw, both.raw)
        assert both.n == PEOPLE + 1


@pytest.mark.parametrize("name", CASES)
def test_public_values_are_sent_as_they_are(name: str) -> None:
    mechanism, values = CASES[name]
    release = mechanism.estimate(mechanism.randomize_many(values, math.inf))
    assert release.private
    if mechanism.kind == "frequencies":
        shares = [float(np.mean(values == label)) for label in release.categories]
        np.testing.assert_allclose(release.raw, shares, atol=1e-12)
    elif mechanism.kind == "vector":
        lengths = np.linalg.norm(values, axis=1, keepdims=True) / mechanism.radius  # type: ignore[attr-defined]
        np.testing.assert_allclose(release.raw, (values / np.maximum(lengths, 1.0)).mean(axis=0))
    else:  # piecewise reports are rounded at random to one of 256 answers
        near = 6.0 / 255 / 2 / math.sqrt(PEOPLE) if name == "mean piecewise" else 1e-8
        assert release.raw == pytest.approx(float(np.mean(values)), abs=near)


@pytest.mark.parametrize("name", CASES)
def test_a_release_has_the_title_that_it_is_given(name: str) -> None:
    mechanism, _ = CASES[name]
    release = mechanism.estimate(reports_of(name), title=" Hours asleep ")
    assert release.title == "Hours asleep"
    assert "\nHours asleep\n" in str(release)
    assert mechanism.estimate(reports_of(name)).title is None
    for title in ("", "two\nlines", "x" * 121, 3):
        with pytest.raises(ArgumentError, match="title must be one line"):
            mechanism.estimate(reports_of(name), title=title)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CASES)
def test_words_and_sources_that_are_not_known_are_refused(name: str) -> None:
    mechanism, values = CASES[name]
    reports = reports_of(name)
    with pytest.raises(ArgumentError, match="weights="):
        mechanism.estimate(reports, weights="best")
    with pytest.raises(ArgumentError, match="confidence="):
        mechanism.estimate(reports, confidence=95)
    with pytest.raises(ArgumentError, match="source"):
        mechanism.randomize_many(values, 1.0, 7)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no report"):
        mechanism.estimate([])
    with pytest.raises(DataError, match="no report"):
        mechanism.estimate(mechanism.randomize_many(values[:0], 1.0))


@pytest.mark.parametrize("make", [local.Bit, lambda **k: local.Mean((0, 1), **k)])
def test_missing_values_are_refused_or_answered_by_the_middle(make: Any) -> None:
    values = [1.0, math.nan, 0.0]
    with pytest.raises(MissingValueError) as caught:
        make().randomize_many(values, 1.0)
    assert "1.0" not in str(caught.value)
    reports = make(missing="midpoint").randomize_many(values * 100, 3.0, ep.Seeded(1))
    assert len(reports) == 300
    assert len(make(missing="midpoint").randomize_many([True, None], 1.0)) == 2
    with pytest.raises(ArgumentError, match="missing="):
        make(missing="zero")


NUMBERS: Any = [0.5, 1.5]


@pytest.mark.parametrize(
    "make",
    [
        lambda: local.Mean(None),  # type: ignore[arg-type]
        lambda: local.Mean((1, 1)),
        lambda: local.Mean((0, 1), method="gauss"),
        lambda: local.Vector(0),
        lambda: local.Vector(2.0),  # type: ignore[arg-type]
        lambda: local.Vector(3, radius=0.0),
        lambda: local.Vector(3, radius=math.inf),
        lambda: local.Vector(3, method="privunit"),
        lambda: local.Frequencies(1),
        lambda: local.Frequencies("abc"),
        lambda: local.Frequencies(["a", "a"]),
        lambda: local.Frequencies(NUMBERS),
        lambda: local.Frequencies(["a", "b"], other="c"),
        lambda: local.Frequencies(5, method="olh"),
        lambda: local.Frequencies(5, public_seed=-1),
    ],
)
def test_parameters_that_mean_nothing_are_refused(make: Any) -> None:
    with pytest.raises(ArgumentError):
        make()


@pytest.mark.parametrize(
    ("mechanism", "values"),
    [
        (local.Bit(), [2]),
        (local.Bit(), [0.5]),
        (local.Bit(), ["yes"]),
        (local.Bit(), [[1]]),
        (local.Mean((0, 1)), ["a"]),
        (local.Mean((0, 1)), [[0.5]]),
        (local.Vector(2), [[1.0, 2.0, 3.0]]),
        (local.Vector(2), [1.0]),
        (local.Vector(2), [[1.0, 2.0], [1.0]]),
        (local.Mean((0, 1)), [1.0, [2.0]]),
        (local.Mean((0, 1)), [None]),
        (local.Bit(), [True, None]),
        (local.Frequencies(3), [1, [2]]),
        (local.Vector(2), [[1.0, math.nan]]),
        (local.Frequencies(3), [3]),
        (local.Frequencies(3), [-1]),
        (local.Frequencies(3), [0.5]),
        (local.Frequencies(["a", "b"]), ["c"]),
        (local.Frequencies(["a", "b"]), [None]),
    ],
)
def test_values_that_do_not_fit_are_refused(mechanism: Randomizer, values: Any) -> None:
    with pytest.raises(DataError):
        mechanism.randomize_many(values, 1.0)

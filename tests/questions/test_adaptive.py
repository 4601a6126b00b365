"""The mean in two stages: a tenth of every budget estimates the spread, and the rest the mean."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.__main__ import main
from epsilons.draws.mechanisms import Composed, SumAndSquares
from epsilons.draws.noise import Source
from epsilons.errors import ArgumentError, BudgetError
from epsilons.questions.question import Draw
from epsilons.questions.steps.adaptive import SPREADS, Stages, _tenth
from epsilons.risk.goals import MeanGoal
from epsilons.risk.means.spread import WeighedInStages
from epsilons.risk.weighing import RELATED, UNRELATED
from tests.profiles import ADVERSARIAL, ORDINARY

RNG = np.random.default_rng(8)
EPSILON = np.repeat([0.1, 1.0], 2000)
VALUES = np.clip(RNG.normal(50.0, 5.0, 4000), 0.0, 100.0)
FEW: dict[str, Any] = {"epsilon": [0.2, 0.2, 1.0, 1.0, 3.0], "bounds": (0, 1)}


def released(values: Any = VALUES, *, seed: int = 3, **more: Any) -> ep.Release:
    given: dict[str, Any] = {"epsilon": EPSILON, "bounds": (0, 100), "related": False, **more}
    return ep.mean(values, method="adaptive", source=ep.Seeded(seed), **given)


def stages_of(release: ep.Release) -> tuple[SumAndSquares, SumAndSquares]:
    mechanism = release.mechanism
    assert isinstance(mechanism, Composed)
    first, second = mechanism.stages
    return first, second


@pytest.mark.parametrize("profile", [p for p in [*ADVERSARIAL, *ORDINARY] if p != "subnormal"])
@pytest.mark.parametrize("related", [True, False])
def test_both_stages_together_take_no_more_than_everyone_gives(profile: str, related: bool) -> None:
    budgets = (ADVERSARIAL | ORDINARY)[profile]
    epsilon = np.repeat(budgets.levels, budgets.counts)
    values = np.random.default_rng(1).uniform(0.0, 1.0, budgets.n)
    release = released(values, epsilon=epsilon, bounds=(0, 1), related=related)
    verdict = ep.verify.exact(release.mechanism).require()
    first, second = stages_of(release)
    for level, one, other, whole in zip(
        first.levels.tolist(), first.losses, second.losses, verdict.losses, strict=True
    ):
        assert whole == one + other
        if level < np.inf:
            assert Fraction(one) <= Fraction(level) / 10
            assert Fraction(one) + Fraction(other) <= Fraction(level)
            assert release.spent(level) == pytest.approx(float(whole), abs=0.0, rel=1e-12)


def test_the_first_stage_takes_a_tenth_and_the_second_may_have_all_that_is_left() -> None:
    strict, generous = zip(*(stage.losses for stage in stages_of(released())), strict=True)
    assert float(sum(strict)) == pytest.approx(0.1, rel=1e-9)
    assert float(strict[0]) == pytest.approx(0.01, rel=1e-9)
    assert 0.01 < float(generous[0]) <= 0.1


def test_a_tenth_is_rounded_down() -> None:
    """A tenth of a budget is rounded down.

    The tenths are compared, and not the weights, which have fewer bits and would hide a wrong
    rounding.
    """
    tenths = [(level, _tenth(level)) for level in np.linspace(0.1, 7.0, 500).tolist()]
    assert all(Fraction(tenth) <= Fraction(level) / 10 for level, tenth in tenths)
    assert all(Fraction(np.nextafter(tenth, 9.0)) > Fraction(level) / 10 for level, tenth in tenths)
    assert any(level / 10 > tenth for level, tenth in tenths)
    assert _tenth(np.inf) == np.inf
    assert _tenth(0.0) == _tenth(5e-324) == 0.0


def test_tenths_that_fall_together_are_paid_by_each() -> None:
    """People are charged correctly if adjacent budgets have the same tenth, or the same rest."""
    levels = np.array([np.nextafter(0.5, 0.0), 0.5, np.nextafter(0.5, 1.0), 3.0])
    counts = np.array([4, 3, 2, 1])
    stages = Stages.of(levels, counts, MeanGoal(UNRELATED, "mse", 0.95), (0.0, 1.0))
    for second in stages.seconds:
        charges = (stages.first.losses, second.losses)
        whole = ep.verify.exact(Composed(levels, (stages.first, second), charges)).require()
        assert whole.losses[0] > Fraction(4, 10)
        assert sum(second.counts) == 10
        assert second.divisor == sum(
            k * n for k, n in zip(second.weights.tolist(), counts.tolist(), strict=True)
        )


@pytest.mark.rotates(3)
@pytest.mark.parametrize("related", [True, 0.05, False])
@pytest.mark.parametrize("about", ["people", "population"])
def test_a_replay_finds_nothing(about: str, related: bool | float) -> None:
    question = ep.Mean(
        [0.1, 0.9, 0.4, 0.0, 1.0], bounds=(0, 1), about=about, related=related, method="adaptive"
    )
    replay = ep.verify.replay(question, epsilon=[0.2, 0.2, 1.0, 1.0, 3.0])
    assert replay.holds, str(replay)


def test_weights_follow_what_was_drawn_and_nothing_else() -> None:
    question = ep.Mean(VALUES, bounds=(0, 100), related=False, method="adaptive")
    call = question.call(epsilon=EPSILON)
    found = []
    for spread in (0.03, 0.5):
        steps = question.steps(question.open(call), call)
        first = next(steps)
        assert isinstance(first, Draw)
        assert first.more
        assert isinstance(first.mechanism, SumAndSquares)
        whole = first.mechanism.all_weights
        second = steps.send((whole // 2, int(whole * spread**2)))
        assert isinstance(second, Draw)
        assert not second.more
        found.append(second.mechanism.losses[-1])
    assert found[0] > 3 * found[1]


def test_the_spread_that_is_taken_is_the_smallest_that_is_not_too_small() -> None:
    stages = Stages.of(
        np.array([0.1, 1.0]), np.array([2000, 2000]), MeanGoal(UNRELATED, "mse", 0.95), (0.0, 1.0)
    )
    whole, scale = stages.first.all_weights, stages.first.weighing.scale
    for spread in (0.01, 0.03, 0.1, 0.2, 0.35, 0.5):
        drawn = (whole // 2, round(whole * spread**2))
        upper = spread**2 + scale * np.log(1.0 / 0.2)
        wanted = [each for each in SPREADS if each**2 >= upper] or [0.5]
        assert SPREADS[stages.found(drawn)] == min(wanted)
    # For the same mean square, the variance is smaller if the mean is far from the middle.
    far = (whole, round(whole * 0.25))
    assert SPREADS[stages.found(far)] < 0.2
    # Noise can produce any number, even one that is impossible for data.
    assert SPREADS[stages.found((whole // 2, 10 * whole))] == 0.5
    assert stages.found((whole // 2, -10 * whole)) == len(SPREADS) - 1


def test_caps_are_those_of_a_guess_on_what_is_left() -> None:
    """The second stage equals a mean with `spread=` on the budgets that the first stage leaves."""
    levels, counts = np.array([0.1, 0.4, 2.0]), np.array([3000, 2000, 1000])
    stages = Stages.of(levels, counts, MeanGoal(UNRELATED, "pac", 0.9), (0.0, 1.0))
    first = ep.allocate(
        ep.Budgets(dict(zip((levels / 10).tolist(), counts.tolist(), strict=True))), related=False
    )
    assert [float(loss) for loss in stages.first.losses] == pytest.approx(first.spent)
    left = levels - first.spent
    for spread, second in zip(SPREADS, stages.seconds, strict=True):
        same = ep.allocate(
            ep.Budgets(dict(zip(left.tolist(), counts.tolist(), strict=True))),
            related=False, spread=spread, method="optimal",
        )  # fmt: skip
        assert [float(loss) for loss in second.losses] == pytest.approx(same.spent, rel=1e-6)


def test_one_budget_leaves_nothing_to_choose_and_intervals_say_so() -> None:
    release = released(epsilon=0.5)
    margin = release.estimate.margin
    assert isinstance(margin, WeighedInStages)
    assert margin.among == 1
    plain = ep.mean(VALUES, epsilon=0.45, bounds=(0, 100), related=False, source=ep.Seeded(3))
    assert release.risk == pytest.approx(plain.risk, rel=1e-6)


def test_real_errors_are_as_foretold() -> None:
    """The mean square of 400 errors is as forecast.

    It has a standard error of 11 %, so the false-alarm probability is below 10⁻⁶.
    """
    plan = ep.plan({0.1: 2000, 1.0: 2000}, bounds=(0, 100), related=False, spread=0.05)
    rng, off = np.random.default_rng(9), []
    for seed in range(400):
        one = released(rng.permutation(VALUES), seed=seed)
        off.append(one.raw - VALUES.mean())
    square = float(np.mean(np.square(off)))
    assert 0.5 < square / plan["adaptive"].rmse ** 2 < 1.7
    plain = plan.guess
    assert plain is not None
    assert square < 0.5 * plain.plain_rmse**2  # the forecast without a guess of the spread
    assert square < 2.0 * plain.rmse**2  # the forecast with the right guess of the spread


def test_the_widest_data_lose_what_the_first_stage_takes() -> None:
    plan = ep.plan({0.1: 5000, 1.0: 5000}, related=False, spread=0.1)
    guess = plan.guess
    assert guess is not None
    assert 1.0 < (plan["adaptive"].worst / guess.plain_worst) ** 2 < 1.0 / 0.81
    assert guess.rmse < plan["adaptive"].rmse < guess.plain_rmse


def test_a_plan_needs_a_guess_of_what_will_be_found() -> None:
    plan = ep.plan({0.1: 20, 1.0: 20}, related=False)
    assert "adaptive" not in [forecast.method for forecast in plan.forecasts]
    with pytest.raises(ArgumentError, match=r"finds the spread in the data: plan with a guess"):
        plan["adaptive"]
    private = ep.plan({0.1: 20, 1.0: 20}, spread=0.1, neighbours="add-remove")
    with pytest.raises(ArgumentError, match=r"'adaptive' is not known"):
        private["adaptive"]


def test_what_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"spread is a guess, but method=\"adaptive\" finds"):
        ep.Mean(VALUES, bounds=(0, 100), spread=0.1, method="adaptive")
    others: list[dict[str, Any]] = [
        {"neighbours": "add-remove", "levels": [0.1, 1.0]},
        {"bounds": None, "related": True},
    ]
    for more in others:
        with pytest.raises(ArgumentError, match=r"method='adaptive' is not known"):
            released(**more)
    with pytest.raises(ArgumentError, match=r"method='adaptive' is not known"):
        ep.allocate(EPSILON, method="adaptive")
    with pytest.raises(ArgumentError, match=r"method='adaptive' is not known"):
        ep.frequencies(["a", "b"], epsilon=1.0, categories=["a", "b"], method="adaptive")


def test_a_part_without_a_tenth_is_refused_before_anything_is_drawn() -> None:
    class Dry(Source):
        private = False

        def bytes(self, count: int) -> bytes:
            raise AssertionError(f"{count} bytes were drawn")

    first, second = (ep.Mean([0.1, 0.2], bounds=(0, 1), method=m) for m in ("adaptive", "auto"))
    with pytest.raises(BudgetError, match=r"0 for everyone"):
        ep.publish([first, second], epsilon=1.0, shares=[1e-323, 1.0], source=Dry())


def test_it_is_never_taken_by_auto() -> None:
    release = ep.mean(VALUES, epsilon=EPSILON, bounds=(0, 100), related=False)
    assert release.method != "adaptive"
    assert released().method == "adaptive"


@pytest.mark.rotates(3)
@pytest.mark.parametrize("related", [True, 0.05, False])
@pytest.mark.parametrize("about", ["people", "population"])
def test_a_release_is_read_back(about: str, related: bool | float) -> None:
    release = released([0.1, 0.9, 0.4, 0.0, 1.0], **FEW, about=about, related=related)
    read = ep.Release.from_json(release.to_json())
    assert read.interval() == release.interval()
    assert read.spread == release.spread
    assert read.sides == release.sides
    assert ep.verify.exact(read.mechanism).losses == ep.verify.exact(release.mechanism).losses
    assert str(read) == str(release)


def test_several_questions_share_budgets() -> None:
    question = ep.Mean(VALUES, bounds=(0, 100), related=False, method="adaptive")
    both = ep.publish([question, question], epsilon=EPSILON, source=ep.Seeded(1))
    verdict = ep.verify.exact(both.mechanism).require()
    assert len(both.mechanism.stages) == 4
    assert float(verdict.losses[0]) == pytest.approx(0.1, rel=1e-9)


def test_risk_is_exact_where_nothing_but_noise_is_random() -> None:
    for related in (True, 0.05):
        release = released(related=related)
        margin = release.estimate.margin
        assert isinstance(margin, WeighedInStages)
        goal = MeanGoal(release.assumption, "mse", 0.95)
        assert release.exact
        assert release.risk == pytest.approx(1e4 * goal.risk(margin.weighing))
    assert not released(related=False).exact
    assert not released(about="population", related=True).exact
    assert MeanGoal(RELATED, "mse", 0.95).assumption.anything


def test_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    rows = [f"{v:.1f},{e}" for v, e in zip(VALUES[::40], EPSILON[::40], strict=True)]
    path.write_text("\n".join(["minutes,epsilon", *rows]) + "\n", "utf-8")
    words = f"epsilons mean {path} --value minutes --epsilon epsilon --bounds 0 100"
    monkeypatch.setattr(sys, "argv", [*words.split(), "--method", "adaptive", "--json"])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    data = json.loads(capsys.readouterr().out)
    assert data["method"] == "adaptive"

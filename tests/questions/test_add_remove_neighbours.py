"""Under add/remove, only noisy numbers depend on who is in the data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws.mechanisms.add_remove import CellSums, LevelCounts, TwoSums
from epsilons.draws.noise import Source
from epsilons.questions.steps.designs import METHODS
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from tests.plain import plain
from tests.questions.add_remove_cases import (
    BASE,
    FACTS,
    NEWCOMERS,
    RELEASES,
    STARTS,
    Row,
    behind,
    everything,
    held,
    mean_of,
    silence,
)

pytestmark = pytest.mark.usefixtures("shorter")


def newcomers(facts: str) -> list[list[Row]]:
    """Return the people to add: only a few if there are thousands of rungs (budget levels)."""
    everyone = list(NEWCOMERS.values())
    fine = "levels" not in FACTS[facts] and "epsilon" not in FACTS[facts]
    return everyone[::7] if fine else everyone[::2]


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every draw by fixed integers that are independent of the data."""

    def counts(self: LevelCounts, source: Source, total: Any) -> tuple[int, ...]:
        return tuple(3 + 40 * place for place in range(len(self.rates)))

    def pair(self: TwoSums, source: Source, size: Any = None, total: Any = (0, 0)) -> Any:
        unit = self.steps * int(self.weights.max())
        (a, b), (c, d) = self.matrix
        t, count = 37 * unit + 5, 90 * unit + 3
        return a * t + b * count, c * t + d * count

    def cells(self: CellSums, source: Source, size: Any = None, total: Any = 0) -> Any:
        unit = int(self.weights.max()) * self.reach
        return np.array([(7 + 11 * place) * unit + 1 for place in range(self.cells)])

    monkeypatch.setattr(LevelCounts, "draw", counts)
    monkeypatch.setattr(TwoSums, "draw", pair)
    monkeypatch.setattr(CellSums, "draw", cells)


@pytest.mark.usefixtures("fixed")
@pytest.mark.parametrize("facts", FACTS)
@pytest.mark.parametrize("statistic", RELEASES)
def test_where_the_drawn_numbers_coincide_everything_does(
    statistic: str, facts: str, caplog: pytest.LogCaptureFixture
) -> None:
    make = RELEASES[statistic]
    several = newcomers(facts)
    others = [each for each in NEWCOMERS.values() if each not in several]
    for person, added in ((True, several), (False, others[::2] if len(several) > 3 else [])):
        if not added:
            continue
        with silence(caplog):
            release = make(BASE, person=person, **FACTS[facts])
            expected, numbers = everything(release), held(release)
        for start in STARTS.values():
            with silence(caplog):
                assert everything(make(start, person=person, **FACTS[facts])) == expected
        # Printed text is computed from the fields, so only every fourth addition compares it.
        for place, rows in enumerate(added):
            with silence(caplog):
                found = make([*BASE, *rows], person=person, **FACTS[facts])
                assert held(found) == numbers
                assert place % 4 or everything(found) == expected


@pytest.mark.rotates(4)
@pytest.mark.usefixtures("fixed")
@pytest.mark.parametrize(
    "assumption",
    [SAMPLE, UNRELATED, RELATED, Assumption("people", 0.1), Assumption("population", 0.1)],
)
@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_so_it_is_for_every_assumption_and_method(assumption: Assumption, loss: str) -> None:
    for method in METHODS:
        goal = {**asdict(assumption), "loss": loss, "levels": [0.5, 2.0]}
        one, other = (
            everything(mean_of(rows, method=method, **goal))
            for rows in (BASE, [*BASE, *NEWCOMERS["two budgets"]])
        )
        assert one == other


@pytest.mark.parametrize("facts", FACTS)
@pytest.mark.parametrize("statistic", RELEASES)
def test_what_does_not_depend_on_drawn_numbers_is_the_same(statistic: str, facts: str) -> None:
    make = RELEASES[statistic]
    chosen = FACTS[facts]
    counting = facts in ("nothing known", "levels", "levels, public")

    def public(rows: list[Row]) -> Any:
        source = ep.Seeded(3)
        release = make(rows, source=source, **chosen)
        fields = [
            release.statistic, release.neighbours, release.assumption, release.loss,
            release.protects, release.assumes, release.confidence, release.exact, release.risk_kind,
            release.private, sorted(release.to_dict()), release.n is None,
            type(release.mechanism).__name__, plain(release.spent.levels),
            source.bits(64) if not counting else None,
        ]  # fmt: skip
        if counting:
            stage = release.mechanism.stages[0]
            return fields, plain(stage)
        return fields, release.method, plain(release.mechanism), plain(release.spent)

    expected = public(BASE)
    for start in STARTS.values():
        assert public(start) == expected
        for added in newcomers(facts)[len(start) % 2 :: 2]:
            assert public([*start, *added]) == expected


def test_the_noise_is_the_same_and_the_sums_move_by_one_person() -> None:
    """With the same seed, the noise is the same, and the sums differ by one person only."""
    facts = {"levels": {0.5: 10, 4.0: 10}, "method": "transformed", "cap": 4.0}
    without = mean_of(BASE, **facts)
    with_them = mean_of([*BASE, (1.0, 5.0, "z")], **facts)
    weight = int(with_them.mechanism.weights[-1])
    t, total = behind(with_them).drawn
    assert t - behind(without).drawn[0] == pytest.approx(weight, rel=1e-9)
    assert total - behind(without).drawn[1] == pytest.approx(weight, rel=1e-9)
    left_out = mean_of([*BASE, (1.0, 0.1, "z")], **facts)
    assert behind(left_out).drawn == behind(without).drawn

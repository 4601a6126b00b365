"""Under which condition an interval holds, of whom it does not speak, and how often."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

import epsilons_next as ep
from epsilons_next.inference import bounds
from epsilons_next.inference.lorenz import Weights
from epsilons_next.inference.noisy import NoisySums
from epsilons_next.inference.rows import Reading
from epsilons_next.releases.release import Release
from tests.next.promises.table import PUBLIC, Patch, holds, mechanism_of, promise, said, sets
from tests.next.simulated import misses, releases

NO_BIAS = sets(Weights, "bias", lambda self, u, apart: (0.0 * u, 0.0 * u))
NO_CHANCE = sets(Reading, "chance", property(lambda self: False))

OTHERS = "; it does not speak of others like them"
APPROXIMATE = "(normal approximation)"
TOO_FEW = (
    "(too few people carry the result for a normal approximation: a wider, proven bound is used)"
)


def mixed(strict: float, others: float, **words: Any) -> Any:
    """800 strict people, and 3,200 of whom so much may be used that there is no noise."""
    data = {"e": [0.01] * 800 + [2.0**20] * 3200, "x": [strict] * 800 + [others] * 3200}
    return ep.People(data, "e", None, **words)


def halved(patch: Patch) -> None:
    """Averages are taken to lie half as far apart as was said."""
    honest = Weights.bias
    patch.setattr(Weights, "bias", lambda self, u, apart: honest(self, u, apart / 2.0))


# These people.

for strict, others in ((100.0, 0.0), (0.0, 100.0)):

    @promise(
        "interval", f"Interval holds whatever these people answered{OTHERS} Data", "bias", NO_BIAS
    )
    def _(says: str, strict: float = strict, others: float = others) -> None:
        """The strict answer the opposite of all others."""
        release = mixed(strict, others).mean("x", (0, 100))
        said(release, says)
        assert holds(release, 0.2 * strict + 0.8 * others)


@promise("interval", f"each holds whatever these people answered{OTHERS} Privacy", "bias", NO_BIAS)
def _(says: str) -> None:
    people = mixed(1.0, 0.0)
    release = people.shares("x", [0, 1])
    said(release, says)
    for name, share in (("0", 0.8), ("1", 0.2)):
        assert holds(release[name], share)


@promise(
    "interval", "people with different limits differ by at most 6 km on average", "bias", halved
)
def _(says: str) -> None:
    """The strict average 6 less, as it was said, and the interval is not as wide as without."""
    people = mixed(44.0, 50.0)
    release = people.mean("x", (0, 100), assume=ep.Within(6), unit="km")
    said(release, f"holds if {says}{OTHERS} Data")
    assert holds(release, 0.2 * 44 + 0.8 * 50)
    assert release.rows[0].half < 0.2 * release.at(assume=None).rows[0].half


@promise(
    "interval",
    "each holds if people with different limits differ by at most 5 percentage points on "
    f"average{OTHERS}",
    "bias",
    halved,
)
def _(says: str) -> None:
    x = [1.0] * 40 + [0.0] * 760 + [1.0] * 320 + [0.0] * 2880
    people = ep.People({"e": [0.01] * 800 + [2.0**20] * 3200, "x": x}, "e", None)
    release = people.shares("x", [0, 1], assume=ep.Within(0.05))
    said(release, says)
    assert holds(release["1"], 0.09)


@promise(
    "interval",
    'holds if limits have nothing to do with answers (assume="unrelated"; normal approximation)',
    "chance",
    sets(Weights, "centred", property(lambda self: 0.5 * (self.each - self.total / self.n))),
)
def _(says: str) -> None:
    """Deal the same limits again and again: the interval is as wide as the result moves."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, 600).astype(float)
    e = np.repeat([0.1, 2.0**20], 300)
    release = ep.People({"e": e, "x": x}, "e", None).mean("x", (0, 1), assume="unrelated")
    said(release, says)
    weights = np.repeat(mechanism_of(release).weights, 300).astype(float)
    dealt = [float(rng.permutation(weights) @ x) / weights.sum() for _ in range(2000)]
    moved = float(np.quantile(np.abs(np.array(dealt) - x.mean()), 0.95))
    assert 0.93 * moved <= release.rows[0].half <= 1.3 * moved


@promise(
    "interval",
    f'(assume="unrelated"; {TOO_FEW[1:-1]})',
    "chance",
    sets(bounds, "ENOUGH", 0.0),
)
def _(says: str) -> None:
    """Where few carry the result, it may move farther than a normal law of it would say."""
    rng = np.random.default_rng(1)
    e, x = np.repeat([0.001, 2.0**20], [40, 8]), np.eye(1, 48)[0]
    release = ep.People({"e": e, "x": x}, "e", None).mean("x", (0, 1), assume="unrelated")
    said(release, says)
    weights = np.repeat(mechanism_of(release).weights, [40, 8]).astype(float)
    shares = [float(rng.permutation(weights) @ x) / weights.sum() for _ in range(2000)]
    dealt = [abs(share - 1 / 48) for share in shares]
    assert release.low <= 1 / 48
    assert release.high >= max(dealt)
    assert {row.kind for row in release.rows} == {"bounded"}


# A population.


@promise(
    "interval",
    f"holds for the population, if these people are a random sample of it {APPROXIMATE} Data",
    "chance",
    NO_CHANCE,
)
def _(says: str) -> None:
    people = ep.People({"x": [0.0, 1.0] * 200}, PUBLIC, None)
    release = people.mean("x", (0, 1), about="population")
    said(release, says)
    assert 1.9 * 0.5 / math.sqrt(400) <= release.rows[0].half <= 2.2 * 0.5 / math.sqrt(400)
    assert OTHERS not in str(release)


@promise("interval", f"a random sample of it {TOO_FEW}", "chance", sets(bounds, "ENOUGH", 0.0))
def _(says: str) -> None:
    """Ten answers of 0 leave much room: with a half of 0.43 Hoeffding's inequality is proven."""
    release = ep.People({"x": [0.0] * 10}, PUBLIC, None).mean("x", (0, 1), about="population")
    said(release, says)
    assert release.high >= math.sqrt(math.log(2 / 0.05) / 20) - 0.01


@promise(
    "interval",
    "for the population, if these people are a random sample of it and limits have nothing to "
    "do with "
    'answers (assume="unrelated"; normal approximation)',
    "chance",
    sets(Weights, "persons", property(lambda self: 0.5 * self.each)),
)
def _(says: str) -> None:
    """Whoever weighs more speaks for more: it is as if fewer had been asked."""
    e, x = [0.1] * 300 + [2.0**20] * 300, [0.0, 1.0] * 300
    people = ep.People({"e": e, "x": x}, "e", None)
    release = people.mean("x", (0, 1), about="population", assume="unrelated")
    said(release, says)
    weights = np.repeat(mechanism_of(release).weights, 300).astype(float)
    carry = weights.sum() ** 2 / (weights**2).sum()
    assert release.rows[0].half >= 1.9 * 0.5 / math.sqrt(carry)


@promise(
    "interval",
    "each holds for the population, if these people are a random sample of it (normal",
    "chance",
    NO_CHANCE,
)
def _(says: str) -> None:
    people = ep.People({"g": ["a", "b", "c", "c"] * 100}, PUBLIC, None)
    release = people.shares("g", ["a", "b", "c"], about="population")
    said(release, says)
    for name, p in (("a", 0.25), ("c", 0.5)):
        assert release[name].rows[0].half >= 1.9 * math.sqrt(p * (1 - p) / 400)


# How often.


def twice_as_often(patch: Patch) -> None:
    patch.setattr(Reading, "miss", property(lambda self: 2.0 * (1.0 - self.confidence)))


def of_twenty(number: int = 20) -> tuple[Any, Any, list[float]]:
    """Groups whose intervals are as narrow as they may be: all have one limit, and noise is all."""
    rng = np.random.default_rng(2)
    g = np.tile(np.arange(number), 100)
    data = {"g": g, "x": rng.uniform(0, 1, len(g)), "e": np.full(len(g), 0.5)}
    question = ep.Mean("x", (0, 1), by={"g": list(range(number))})
    truth = [float(data["x"][g == each].mean()) for each in range(number)]
    return ep.People(data, "e", None), question, truth


@promise(
    "interval",
    "each holds 19 times in 20 whatever people answered (of 20, expect one that does not)",
    "reading",
    twice_as_often,
)
def _(says: str) -> None:
    people, question, truth = of_twenty()
    said(people.publish([question]), says + OTHERS)
    missed, total = misses(releases(people, question, 1), truth, 8)
    assert missed / total < 0.075


def one_band(patch: Patch) -> None:
    """What holds by itself is taken to hold all at once."""
    honest = NoisySums.rows
    patch.setattr(
        NoisySums,
        "rows",
        lambda self: [
            replace(each, band_low=each.low, band_high=each.high) for each in honest(self)
        ],
    )


@promise("interval", "All at once: to_frame()", "reading", one_band)
def _(says: str) -> None:
    people, question, truth = of_twenty()
    release = people.publish([question])[0]
    said(release, f"{OTHERS}. {says}")
    frame = release.to_frame()
    assert (frame["band_low"] < frame["low"]).all()
    assert (frame["band_high"] > frame["high"]).all()
    missed, _ = misses(releases(people, question, 2), truth, 8, band=True)
    assert missed <= 3


@promise(
    "interval",
    "each holds 19 times in 20 whatever people answered (of 40, expect 2 that do not)",
    "reading",
    twice_as_often,
)
def _(says: str) -> None:
    people, question, _ = of_twenty(40)
    said(people.publish([question]), says)


@promise("interval", "95 % interval", "reading", twice_as_often)
def _(says: str) -> None:
    """Everyone has one limit: noise is all, and its law is known."""
    data = {"x": [0.0, 1.0] * 100, "e": [0.5] * 200}
    people, question = ep.People(data, "e", None), ep.Mean("x", (0, 1))
    said(people.publish([question]), says)
    missed, total = misses(releases(people, question, 6), [0.5], 300)
    assert 0.02 < missed / total < 0.075


# Read again.


def forgets_what_was_asked(patch: Patch) -> None:
    honest = Release.at

    def at(self: Any, *rest: Any, **words: Any) -> Any:
        again = honest(self, *rest, **words)
        return replace(again, asked=again.reading)

    patch.setattr(Release, "at", at)


AGAIN = "Read again from the same draws: it was asked in another way"


@promise("interval", f"{OTHERS}. {AGAIN} Data", "reading", forgets_what_was_asked)
def _(says: str) -> None:
    """Without an assumption it is wider; as it was asked nothing is said."""
    close = ep.Within(1)
    release = mixed(50.0, 50.0).mean("x", (0, 100), assume=close)
    again = release.at(assume=None)
    said(again, says)
    assert again.rows[0].half > 5 * release.rows[0].half
    assert AGAIN not in str(release)
    assert AGAIN not in str(again.at(assume=close))


@promise("interval", f"random sample of it (normal approximation). {AGAIN}", "chance", NO_CHANCE)
def _(says: str) -> None:
    release = ep.People({"x": [0.0, 1.0] * 200}, PUBLIC, None).mean("x", (0, 1))
    again = release.at(about="population")
    said(again, says)
    assert again.rows[0].half >= 1.9 * 0.5 / math.sqrt(400)
    assert again.replay is release.replay


def keeps_confidence(patch: Patch) -> None:
    honest = Release.at
    patch.setattr(Release, "at", lambda self, confidence=None, **words: honest(self, 0.95, **words))


@promise("interval", "99 % interval", "reading", keeps_confidence)
def _(says: str) -> None:
    """Of Laplace noise in a share of a known number of people: a third wider."""
    release = ep.People({"x": [0.0, 1.0] * 500}, 0.5, None).mean("x", (0, 1))
    again = release.at(0.99)
    said(again, says)
    assert AGAIN not in str(again)
    assert 1.3 < again.rows[0].half / release.rows[0].half < 1.7


@promise("interval", "each holds 9 times in 10 whatever people", "reading", keeps_confidence)
def _(says: str) -> None:
    people, question, _ = of_twenty()
    release = people.publish([question])[0]
    said(release.at(0.9), f"{says} answered (of 20, expect 2 that do not)")


@promise("interval", "each holds 1 time in 2 whatever people", "reading", keeps_confidence)
def _(says: str) -> None:
    people = ep.People({"x": ["a", "b"] * 500}, 0.5, None)
    said(
        people.shares("x", ["a", "b"]).at(0.5), f"{says} answered (of 2, expect one that does not)"
    )


@promise("interval", "each holds 19 times in 20 for the population", "reading", keeps_confidence)
def _(says: str) -> None:
    data = {"g": [*range(10)] * 100, "x": [0.0, 1.0] * 500}
    release = ep.People(data, PUBLIC, None).mean(
        "x", (0, 1), by={"g": list(range(10))}, about="population"
    )
    said(release, says)
    said(release.at(0.9), "9 times in 10 for the population, if these people are a random sample")


@promise("interval", "1: holds whatever these people answered", "bias", NO_BIAS)
def _(says: str) -> None:
    """Of several releases the sentence says of which it is true."""
    asked = [ep.Mean("x", (0, 100)), ep.Mean("x", (0, 100), assume=ep.Within(1), title="close")]
    releases = mixed(100.0, 0.0).publish(asked, parts=[1000, 1])
    said(
        releases, f"{says}{OTHERS}. 2: holds if people with different limits differ by at most 1 on"
    )
    assert holds(releases[0], 20.0)

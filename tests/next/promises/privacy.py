"""What a release cost: every factor that is printed is computed anew, from what people move."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import epsilons_next as ep
from epsilons_next.mechanisms.linear import Linear
from epsilons_next.mechanisms.source import Seeded
from epsilons_next.releases import details, numbers, several, text
from epsilons_next.releases.facts import Facts
from tests.next import exact
from tests.next.promises.table import (
    HIDDEN,
    PUBLIC,
    SMALL,
    Lie,
    Patch,
    flat,
    halves,
    mechanism_of,
    number,
    promise,
    said,
    sets,
    states,
)
from tests.next.replayed import lost, recorded

HALVES = states(spending=halves)
LOSSES = Linear.losses
FACTOR = "more than * times as likely"
PUBLIC_FACTS = "Who took part, and their limits, is public More"


def rounded_up(printed: float, true: float) -> None:
    """What is printed is not below the truth, and not above it in more than its last digit."""
    assert true <= printed <= true * 1.01 + 0.01


def small(**words: Any) -> Any:
    return ep.People({**SMALL, **words.pop("data", {})}, "e", None, **words)


def moved(
    ask: Callable[[Any], Any], others: Sequence[dict[str, Any]], **words: Any
) -> tuple[str, list[float]]:
    """Return a print, and how many times as likely it was with each other table, at most.

    The likelihood ratio of each mechanism is largest where all numbers are on one side: it is
    computed from what the person moves, not from what was drawn.
    """
    with recorded(3) as first:
        line = flat(str(ask(small(**words))))
    factors = []
    for other in others:
        with recorded(3) as second:
            ask(small(data=other, **words))
        factors.append(math.exp(lost(first, second)))
    return line, factors


def changed(place: int) -> dict[str, Any]:
    """The small table where one person says the opposite of everything."""
    x, g = list(SMALL["x"]), list(SMALL["g"])
    x[place], g[place] = 1.0 - x[place], "b" if g[place] == "a" else "a"
    return {"x": x, "g": g}


GONE = {name: held[1:] for name, held in SMALL.items()}
EACH = [changed(0), changed(69)]

QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "mean": lambda people: people.mean("x", (0, 1)),
    "shares": lambda people: people.shares("g", ["a", "b"]),
    "means by group": lambda people: people.mean("x", (0, 1), by={"g": ["a", "b"]}),
    "with a filter": lambda people: people.shares("g", ["a", "b"], where={"x": ep.Bins(0, 2)}),
    "population": lambda people: people.mean("x", (0, 1), about="population"),
    "who allowed 0.5": lambda people: people.shares("g", ["a", "b"], at_least=0.5),
}  # fmt: skip


def says_factor(name: str, ask: Callable[[Any], Any]) -> None:
    @promise("privacy", f"No answer makes any result {FACTOR}. {PUBLIC_FACTS}", "factor", HALVES)
    def _(says: str) -> None:
        """Another answer of the strictest and of the freest person."""
        line, factors = moved(ask, EACH)
        said(line, says)
        rounded_up(number(line, FACTOR), max(factors))
        cost = number(line, "at most ε = * was used (limits 0.1 to 0.6)")
        rounded_up(cost, math.log(max(factors)))

    if name == "population":  # it is refused, since how many there are is secret
        return

    @promise(
        "privacy",
        "Taking part makes no result more than * times as likely or unlikely, another answer no "
        "more than * times",
        "factor",
        HALVES,
    )
    def _(says: str) -> None:
        """Somebody is not there; and somebody answers something else."""
        line, gone = moved(ask, [GONE, {k: held[:-1] for k, held in SMALL.items()}], **HIDDEN)
        said(line, says)
        answers = moved(ask, EACH, **HIDDEN)[1]
        rounded_up(number(line, FACTOR), max(gone))
        rounded_up(number(line, "another answer no more than * times"), max(gone) ** 2)
        assert max(answers) <= max(gone) ** 2 * (1 + 1e-9)


for name, ask in QUESTIONS.items():
    says_factor(name, ask)


# Several releases.


def spent_by_all(people: Any, releases: Sequence[Any]) -> float:
    drawn = [mechanism_of(release) for release in releases]
    return float(max(exact.account(drawn, [0.1, 0.6], public=people.public).values()))


def forgets_the_first(patch: Patch) -> None:
    """What was spent before is not counted."""
    states(
        spending=lambda each: tuple(
            one.__class__(one.limit, one.people, one.lost, one.lost) for one in each
        )
    )(patch)


@promise(
    "privacy",
    "kept within everyone's limit, with one earlier release: at most ε = * in all (limits 0.1 "
    "to 0.6). No answer makes these results more than",
    "account",
    forgets_the_first,
)
def _(says: str) -> None:
    people = small()
    releases = [people.mean("x", (0, 1)), people.mean("x", (0, 1), at_least=0.5)]
    line = said(releases[1], says)
    # The first is about all, and both are about those who allowed more.
    assert "in all" not in str(releases[0])
    cost = spent_by_all(people, releases)
    rounded_up(number(line, "at most ε = * in all"), cost)
    rounded_up(number(line, FACTOR), math.exp(cost))


@promise("privacy", "with two earlier releases: at most ε = * in all", "account", forgets_the_first)
def _(says: str) -> None:
    limits = [0.1, 0.6, 3.0]
    people = ep.People({"x": [0.0, 1.0] * 300, "e": limits * 200}, "e", None)
    releases = [people.mean("x", (0, most)) for most in (1, 2, 3)]
    line = said(releases[-1], says)
    mechanisms = [mechanism_of(release) for release in releases]
    cost = max(exact.account(mechanisms, limits, public=True).values())
    assert number(line, "at most ε = * in all") >= float(cost)


@promise("privacy", "all two together: at most ε = * in all (limits 0.1 to 0.6)", "account", HALVES)
def _(says: str) -> None:
    people = small()
    releases = people.publish([ep.Mean("x", (0, 1)), ep.Shares("g", ["a", "b"])])
    line = said(releases, says)
    rounded_up(number(line, FACTOR), math.exp(spent_by_all(people, releases)))


@promise("privacy", "all two together, with one earlier release: at most", "account", HALVES)
def _(says: str) -> None:
    people = small()
    first = people.mean("x", (0, 1), at_least=0.5)
    asked = [ep.Mean("x", (0, 1)), ep.Shares("g", ["a", "b"])]
    releases = people.publish(asked)
    line = said(releases, says)
    mechanisms = [mechanism_of(release) for release in (first, *releases)]
    cost = float(max(exact.account(mechanisms, [0.1, 0.6], public=True).values()))
    rounded_up(number(line, FACTOR), math.exp(cost))


@promise(
    "privacy", "with one earlier release: at most ε = 0.1 in all", "account", forgets_the_first
)
def _(says: str) -> None:
    """Where it is secret who took part, what was offered is what was spent."""
    people = small(data={"e": [0.1] * 70}, secret="participation", offered=[0.1])
    first, second = people.publish([ep.Mean("x", (0, 1)), ep.Shares("g", ["a", "b"])], parts=[1, 3])
    line = said(second, says)
    assert "these results" not in line.split("Taking part")[0]
    assert max(first.spent.values()) < max(second.spent.values())
    rounded_up(number(line, FACTOR), math.exp(0.1))


@promise("privacy", "was used", "account", HALVES)
def _(says: str) -> None:
    """The same question again is the same release, and free."""
    people = small()
    first = people.shares("g", ["a", "b"])
    again = people.shares("g", ["a", "b"], title="again")
    said(again, says)
    assert again.rows == first.rows
    assert "earlier" not in str(again)
    assert (
        max(again.facts.spending, key=lambda each: each.spent).spent
        == exact.losses(mechanism_of(again), public=True)[-1]
    )


# Weights, one limit, and rounding.


@promise("privacy", "at most ε = * was used", "factor", HALVES)
def _(says: str) -> None:
    """Of somebody with a survey weight it is what all of their units lose."""
    w = [4] + [1] * 69
    heavy = {**changed(0), "w": w}
    with recorded(3) as first:
        release = small(data={"w": w}, weights="w").shares("g", ["a", "b"], about="people")
    with recorded(3) as second:
        small(data=heavy, weights="w").shares("g", ["a", "b"], about="people")
    line = said(release, says)
    assert float(lost(first, second)) <= number(line, says)
    assert lost(first, second) <= Fraction(0.1)


@promise(
    "privacy",
    "(everyone's limit is 0.5)",
    "words",
    states(limits=lambda limits: (limits[0] / 2, limits[1] / 2)),
)
def _(says: str) -> None:
    said(ep.People(SMALL, 0.5, None).mean("x", (0, 1)), says)


@promise("privacy", "(limits 0.1 to ∞)", "words", states(limits=lambda limits: (0.1, 2.0)))
def _(says: str) -> None:
    people = small(data={"e": [0.1] * 30 + [PUBLIC] * 40})
    release = people.mean("x", (0, 1))
    said(release, says)
    assert set(release.spent) == {0.1, PUBLIC}


@promise("privacy", "(limits 0.2 to 0.6)", "words", states(limits=lambda limits: (0.0, 0.6)))
def _(says: str) -> None:
    """Who gave nothing has no limit that others would be told."""
    people = small(data={"e": [0.0] * 20 + [0.2] * 10 + [0.6] * 40})
    said(people.mean("x", (0, 1)), says)


def to_nearest(patch: Patch) -> None:
    """ε and factors are rounded to the nearest, and not up."""
    for room in (numbers, text, details):
        patch.setattr(room, "times", lambda epsilon: f"{math.exp(epsilon):,.2f}")
        patch.setattr(room, "loss", lambda epsilon: f"{float(epsilon):.3g}")


@promise("privacy", FACTOR, "factor", to_nearest)
def _(says: str) -> None:
    """Of many limits no factor, and no ε, is printed too small."""
    for limit in (0.1, 0.1234, 0.33, 0.7771, 1.004, 2.0, 3.3333):
        with recorded(1) as recorder:
            line = said(ep.People(SMALL, limit, None).mean("x", (0, 1)), says)
        (mechanism,) = recorder.mechanisms
        true = max(exact.losses(mechanism, public=True))
        assert number(line, says) >= math.exp(true)
        assert Fraction(str(number(line, "at most ε = * was used"))) >= true


@promise("privacy", "more than e^* times as likely", "factor", HALVES)
def _(says: str) -> None:
    """A factor that nobody could read is a power."""
    release = ep.People(SMALL, 30.0, None).mean("x", (0, 1))
    true = max(exact.losses(mechanism_of(release), public=True))
    line = said(release, says)
    assert float(true) <= number(line, says) <= float(true) * 1.01


@promise(
    "privacy",
    "kept within everyone's limit",
    "account",
    sets(Linear, "losses", lambda self, n: [each / 4 for each in LOSSES(self, n)]),
)
def _(says: str) -> None:
    """Whatever is asked, nobody loses more than they agreed to."""
    people = small()
    asked = [QUESTIONS[name](people) for name in ("mean", "who allowed 0.5")]
    said(asked[-1], says)
    mechanisms = [mechanism_of(release) for release in asked]
    spent = exact.account(mechanisms, [0.1, 0.6], public=True)
    assert all(cost <= Fraction(limit) for limit, cost in spent.items())


# Simulations.

NOT_PRIVATE = "NOT PRIVATE: DRAWN FROM A SEED, FOR SIMULATION ONLY."


def starts(shown: Any, says: str) -> None:
    said(shown, says)
    assert str(shown).startswith(says)


@promise("privacy", f"{NOT_PRIVATE} Mean of x", "words", sets(Seeded, "private", True))
def _(says: str) -> None:
    """Two draws of one seed are one draw; without a seed nothing is said, and draws differ."""
    asked = [small(seed=1).mean("x", (0, 1)) for _ in range(2)]
    said(asked[0], says)
    assert str(asked[0]).startswith(NOT_PRIVATE)
    assert asked[0].value == asked[1].value
    private = [small().mean("x", (0, 1)) for _ in range(2)]
    assert NOT_PRIVATE not in str(private[0])
    assert private[0].replay.drawn[0].integers != private[1].replay.drawn[0].integers


@promise("privacy", f"{NOT_PRIVATE} Two questions", "words", sets(several, "NOT_PRIVATE", ""))
def _(says: str) -> None:
    asked = [ep.Mean("x", (0, 1)), ep.Shares("g", ["a", "b"])]
    said(small(seed=1).publish(asked), says)
    assert NOT_PRIVATE not in str(small().publish(asked))


@promise(
    "privacy",
    "randomness from a seed: this is no private release.",
    "words",
    states(private=lambda p: True),
)
def _(says: str) -> None:
    said(small(seed=1).mean("x", (0, 1)).details(), says)


# Details.


@promise(
    "privacy",
    "Exact integer noise; randomness from the system.",
    "words",
    states(private=lambda p: False),
)
def _(says: str) -> None:
    said(small().mean("x", (0, 1)).details(), says)


def spending_of(release: Any) -> dict[str, list[str]]:
    """The table of limits in details."""
    lines = [line.split() for line in release.details().splitlines()]
    at = next(k for k, line in enumerate(lines) if line[:2] == ["limit", "ε"])
    return {line[0]: line[1:] for line in lines[at + 1 : at + 3]}


@promise("privacy", "limit ε people this release in all", "account", HALVES)
def _(says: str) -> None:
    people = small()
    first = people.mean("x", (0, 1), at_least=0.5)
    second = people.shares("g", ["a", "b"])
    said(second.details(), says)
    told = spending_of(second)
    drawn = [mechanism_of(release) for release in (first, second)]
    for limit, people_of in ((0.1, "30"), (0.6, "40")):
        own = exact.account(drawn[1:], [0.1, 0.6], public=True)[limit]
        together = exact.account(drawn, [0.1, 0.6], public=True)[limit]
        count, this, every = told[f"{limit}"]
        assert count == people_of
        rounded_up(float(this), float(own))
        rounded_up(float(every), float(together))


@promise(
    "privacy",
    "0.1 secret",
    "words",
    states(
        spending=lambda each: tuple(
            one.__class__(one.limit, 30, one.lost, one.spent) for one in each
        )
    ),
)
def _(says: str) -> None:
    """Where it is secret who took part, so is how many have a limit."""
    told = small(**HIDDEN).mean("x", (0, 1)).details()
    found = re.sub(r"0\.0999\d*", "0.1", flat(told))
    said(found, says)
    assert not re.search(r"^ +[\d.]+ +\d+ ", told, re.MULTILINE)


@promise("privacy", "… 20 more: release.spent", "account", states(spending=lambda each: each[:40]))
def _(says: str) -> None:
    limits = [float(k) for k in range(1, 51)]
    release = ep.People({"x": [1.0] * 50, "e": limits}, "e", None).mean("x", (0, 1))
    said(release.details(), says)
    assert set(release.spent) == set(limits)


COPY = (
    "To copy: These numbers were published under differential privacy (pure ε, for each person). "
    "Of whom: "
)


@promise(
    "privacy",
    f"{COPY}all 70 people in the data; each row is one person. Protected is a person's answers: "
    "nobody who sees the numbers, whatever else they know, can tell much better than without "
    "them, because every result would have been nearly as likely if the person had answered "
    "anything else, at most * times more or less. Each person named a limit ε of their own; "
    "the release was kept within",
    "factor",
    HALVES,
)
def _(says: str) -> None:
    line, factors = moved(lambda people: people.mean("x", (0, 1)).details(), EACH)
    said(line, says)
    rounded_up(number(line, "anything else, at most * times"), max(factors))
    said(line, "About the numbers: each interval holds whatever these people answered;")


@promise(
    "privacy",
    "Protected is whether a person took part, and their answers: * if the person had not taken "
    "part, at most * times more or less",
    "factor",
    HALVES,
)
def _(says: str) -> None:
    line, factors = moved(lambda people: people.mean("x", (0, 1)).details(), [GONE], **HIDDEN)
    said(line, says)
    rounded_up(number(line, "not taken part, at most * times"), max(factors))


def says_method(question: str, hidden: bool, law: str, says: str) -> None:
    other: Lie = states(method=lambda method: "some noise")

    @promise("privacy", f"Mechanism: {says}", "words", other)
    def _(says: str) -> None:
        release = QUESTIONS[question](small(**(HIDDEN if hidden else {})))
        said(release.details(), says)
        mechanism = mechanism_of(release)
        assert type(mechanism.noise).__name__ == law
        assert not hidden or len(set(mechanism.weights)) == 1


says_method(
    "mean",
    False,
    "Closed",
    "weighted mean with Laplace noise, weights capped (HPM, Algorithm 2 of the paper on "
    "correlated data and demands; the cap is the one with the narrowest interval). Exact",
)
says_method("mean", True, "Laplace", "transformed noise, Kulesza et al., Algorithm 3. Exact")
says_method(
    "shares",
    False,
    "Closed",
    "weighted frequencies, weights capped (HPF, Algorithm 1 of the paper on correlated data and "
    "demands), with noise that sums to zero in place of independent noise. Exact",
)
says_method(
    "shares",
    True,
    "Laplace",
    "frequencies with independent Laplace noise, everyone at the lowest limit. Exact",
)


def hides_the_public(patch: Any) -> None:
    patch.setattr(Facts, "exempt", False)


SOME_PUBLIC = {"x": [1.0] * 4 + [10.0] * 5, "e": [0.1] * 4 + [math.inf] * 5}


@promise(
    "privacy",
    "No answer of anybody with a finite limit makes any result",
    "factor",
    hides_the_public,
)
def _(says: str) -> None:
    """Who is public may lose more than the factor that is printed says."""
    release = ep.People(SOME_PUBLIC, "e", None).mean("x", (0, 10), assume="unrelated")
    line = said(release, says)
    assert release.spent[math.inf] > release.facts.spent
    rounded_up(number(line, FACTOR), math.exp(release.spent[0.1]))


@promise("privacy", "Taking part with a finite limit makes no result", "factor", hides_the_public)
def _(says: str) -> None:
    people = ep.People(SOME_PUBLIC, "e", None, secret="participation", offered=[0.1, math.inf])
    people.mean("x", (0, 10))
    said(people.mean("x", (0, 10), at_least=1), says)


@promise(
    "privacy", "(not if their limit is ∞: then their record is public)", "factor", hides_the_public
)
def _(says: str) -> None:
    release = ep.People(SOME_PUBLIC, "e", None).mean("x", (0, 10), assume="unrelated")
    said(release.details(), says)

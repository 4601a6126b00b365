"""Check by simulation that a mechanism's draws and totals match its declaration.

`exact` computes privacy losses from a declaration. This module checks the declaration itself: it
calls `total` and `draw` many times, as a release does, and compares the results with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from epsilons.errors import PrivacyError
from epsilons.loading import later
from epsilons.verify.fit import Stream, check_seed, even, shares, strangeness, two_sided, uniforms
from epsilons.verify.losses import closed, sums
from epsilons.verify.losses.laws import LawPieces, one_number, two_numbers
from epsilons.verify.totals import a_total, moved_too_far
from epsilons.verify.verdict import Comparison, Draws

if TYPE_CHECKING:
    from epsilons.verify import table
else:
    table = later("epsilons.verify.table")

ERROR: Final = 1e-6
"""Upper bound on the probability of a false alarm over all checks of one mechanism."""

_SINGLE, _MANY, _VALUES = 2000, 10_000, 10_000
_COINS, PICKS = 4000, 1000
_TABLES, _FEWEST = 400_000, 40
_COLUMNS: Final = 2000
_GROUPS: Final = 200
LARGE: Final = 2**50

_COINS_OF_PEOPLE: Final = (
    "the coins, pairs and median of a diffusion, which are drawn in one run over the people"
)
_SEATS: Final = "who is seated in which slot"


Found: TypeAlias = Iterator[Comparison | str]


@dataclass(frozen=True)
class Tools:
    """Sources of randomness: bits for the mechanism, and a generator for the checker."""

    source: Stream
    chance: np.random.Generator


def draws(mechanism: object, seed: int = 0) -> Draws:
    """Compare a mechanism's draws with its declared laws, and its totals with its sensitivity.

    What it checks: single draws and array draws must follow the declared pieces of the laws. The
    tests are binned counts of every entry of a draw, of pairs of entries, and of successive draws.
    On random tallies and their neighbours, no person may move `total` (with sampling, `thin`)
    farther than declared. Sampling coins must have their declared probabilities.

    What it does not check: privacy losses, which `exact` computes; the path from rows to tallies;
    and faults that are too small or too rare for a few thousand draws. It detects noise of half the
    scale, but not noise with a scale that is wrong by a few percent.

    Args:
        mechanism: for example `release.mechanism`. Its `kind` selects the checks.
        seed: seed of the draws and of the simulated data sets. Nothing private depends on it.

    Returns:
        The comparisons. A correct mechanism passes with probability at least 1 − 10⁻⁶ over the
        seeds, because binomial tails are exact and all checks share the error equally.

    Raises:
        ArgumentError: the seed is not a nonnegative integer.
        PrivacyError: the kind of the mechanism is unknown or cannot be drawn, or a law contradicts
            its own declaration.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> release = ep.mean(hours, epsilon=epsilon, bounds=(0, 24), source=ep.Seeded(1))
        >>> ep.verify.draws(release.mechanism).passes
        True
    """
    seed = check_seed(seed)
    tools = Tools(Stream(seed), np.random.default_rng((seed, 0xD4A35)))
    found = list(_found(mechanism, tools))
    checks = tuple(each for each in found if isinstance(each, Comparison))
    return Draws(checks, tuple(each for each in found if isinstance(each, str)), ERROR)


def _found(mechanism: Any, tools: Tools) -> Found:
    kind = getattr(mechanism, "kind", None)
    if kind not in table.DRAWS:
        known = ", ".join(map(repr, table.DRAWS))
        raise PrivacyError(
            f"A mechanism of the kind {kind!r} cannot be drawn alone. Kinds that can are {known}."
        )
    return table.DRAWS[kind](mechanism, tools)


def sums_drawn(mechanism: Any, tools: Tools) -> Found:
    """Check weighted sums with noise, with or without sampling."""
    if getattr(mechanism, "keep", None) is None:
        yield _totals(mechanism, tools)
    else:
        yield from _coins(mechanism, tools)
    law = two_numbers(mechanism.law) if mechanism.kind == "two sums" else one_number(mechanism.law)
    total = a_total(mechanism, tools.chance)
    width = len(_row(total))
    singles = max(4, min(_SINGLE, _VALUES // width))
    one = [mechanism.draw(tools.source, total=total) for _ in range(singles)]
    yield _fits(mechanism, law, total, one, "one at a time", tools)
    many = mechanism.draw(tools.source, max(4, min(_MANY, _VALUES // width)), total=total)
    yield _fits(mechanism, law, total, list(many), "many at once", tools)
    if law.shape == "line":
        noise = [
            int(x) - int(t) for row in one for x, t in zip(_row(row), _row(total), strict=True)
        ]
        heads = sum(x % 2 == 0 for x in noise)
        chance = two_sided(heads, len(noise), even(law))
        yield Comparison(f"{mechanism.kind}: even and odd noise", len(noise), chance)


def closed_drawn(mechanism: Any, tools: Tools) -> Found:
    """Check weighted cell counts with noise that sums to zero."""
    law = closed.table(mechanism.law, mechanism.cells)
    return _vectors(mechanism, tools, law, (closed.numbers, closed.even), _positive)


def several_drawn(mechanism: Any, tools: Tools) -> Found:
    """Check several weighted sums over the same people; P(noise) depends on its largest entry."""
    law = sums.vector(mechanism.law, len(mechanism.bounds))
    return _vectors(mechanism, tools, law, (sums.numbers, sums.even), _largest)


def _positive(noise: list[int]) -> int:
    return sum(max(x, 0) for x in noise)


def _largest(noise: list[int]) -> int:
    return max(map(abs, noise))


def _vectors(
    mechanism: Any,
    tools: Tools,
    law: LawPieces,
    fit: tuple[Callable[..., list[float]], Callable[..., float]],
    size: Callable[[list[int]], int],
) -> Found:
    """Check joint noise: the numbers that a draw maps to are uniform, and its parity is right.

    Args:
        mechanism: the mechanism.
        tools: sources of randomness.
        law: the declared law.
        fit: a function that maps a draw to uniform numbers, and a function for P(size is even).
        size: a function from a draw to its size.
    """
    yield _totals(mechanism, tools)
    numbers, even_size = fit
    total = a_total(mechanism, tools.chance)
    centre = _row(total)
    some = max(_FEWEST, min(_SINGLE, _TABLES // len(centre)))
    one = [mechanism.draw(tools.source, total=total) for _ in range(some)]
    for drawn, how in (
        (one, "one at a time"),
        (list(mechanism.draw(tools.source, some, total=total)), "many at once"),
    ):
        noise = [[int(x) - int(t) for x, t in zip(_row(row), centre, strict=True)] for row in drawn]
        chance = strangeness(
            np.array([numbers(law, each, tools.chance) for each in noise]), tools.chance
        )
        yield Comparison(f"{mechanism.kind}: noise drawn {how}", len(drawn), chance)
        heads = sum(size(each) % 2 == 0 for each in noise)
        chance = two_sided(heads, len(drawn), even_size(law, len(centre)))
        yield Comparison(f"{mechanism.kind}: even and odd noise {how}", len(drawn), chance)


def _fits(
    mechanism: Any, law: LawPieces, total: Any, drawn: list[Any], how: str, tools: Tools
) -> Comparison:
    centre = _row(total)
    columns = list(range(len(centre)))
    if law.shape in ("point", "line") and len(centre) > _COLUMNS:
        columns = sorted(tools.chance.choice(len(centre), _COLUMNS, replace=False).tolist())
    table = []
    for each in drawn:
        row = _row(each)
        noise = [int(row[i]) - int(centre[i]) for i in columns]
        parts: list[tuple[int, ...]] = (
            [(x,) for x in noise] if law.shape in ("point", "line") else [tuple(noise)]
        )
        table.append([u for part in parts for u in uniforms(law, part, tools.chance)])
    chance = strangeness(np.array(table), tools.chance)
    return Comparison(f"{mechanism.kind}: noise drawn {how}", len(drawn), chance)


def _row(drawn: Any) -> list[Any]:
    return list(np.atleast_1d(np.asarray(drawn, dtype=object)))


def _totals(mechanism: Any, tools: Tools) -> Comparison:
    tried, wrong = moved_too_far(mechanism, tools.chance)
    return Comparison(f"{mechanism.kind}: totals of neighbours", tried, float(wrong == 0))


def _coins(mechanism: Any, tools: Tools) -> Found:
    """Check sampling coins: put all people of a level at one end, and derive how many are kept.

    Also check that the totals of neighbours, with the same coins, differ by at most the declared
    amount.
    """
    weight, tried, wrong = int(max(mechanism.weights)), 0, 0
    spread = mechanism.kind == "cells"
    value = 0 if spread else int(mechanism.grid)
    unit = 2 * weight * int(mechanism.reach) if spread else weight
    levels = list(range(len(mechanism.weights)))
    if len(levels) > 20:
        levels = sorted(tools.chance.choice(len(levels), 20, replace=False).tolist())
    for level in levels:
        people = np.full(_COINS, level, dtype=np.int64)
        places = np.full(_COINS, value, dtype=np.int64)
        if unit:
            left = mechanism.thin(tools.source, people, places)
            kept = -(-2 * int(left[0] if spread else left) // unit)
            chance = two_sided(kept, _COINS, float(mechanism.keep[level]))
            yield Comparison(f"{mechanism.kind}: coins of one level", _COINS, chance)
        other = places.copy()
        other[0] = 1 if spread else 0
        seed = int(tools.chance.integers(2**32))
        totals = [
            np.atleast_1d(np.asarray(mechanism.thin(Stream(seed), people, each), dtype=object))
            for each in (places, other)
        ]
        tried += 1
        wrong += int(np.abs(totals[0] - totals[1]).sum()) > unit
    yield Comparison(
        f"{mechanism.kind}: totals of neighbours under the same coins", tried, wrong == 0
    )


def counts_drawn(mechanism: Any, tools: Tools) -> Found:
    """Check counts of people, in which each cell has its own law."""
    return _entries(mechanism, tools, dict(enumerate(mechanism.laws)), len(mechanism.laws))


def parallel_drawn(mechanism: Any, tools: Tools) -> Found:
    """Check one sum per group, in which each group has its own law."""
    laws = {at: part.law for at, part in enumerate(mechanism.parts) if part is not None}
    if len(laws) > _GROUPS:
        some = sorted(tools.chance.choice([*laws], _GROUPS, replace=False).tolist())
        laws = {at: laws[at] for at in some}
    return _entries(mechanism, tools, laws, len(mechanism.parts))


def _entries(mechanism: Any, tools: Tools, laws: dict[int, Any], width: int) -> Found:
    """Check independent noise: the entries of a draw, each with its own law.

    Args:
        mechanism: the mechanism.
        tools: sources of randomness.
        laws: the declared law of each entry to check.
        width: the number of all entries of a draw.
    """
    yield _totals(mechanism, tools)
    pieces = {at: one_number(law, 128) for at, law in laws.items()}
    total = a_total(mechanism, tools.chance)
    rows = max(4, min(_SINGLE, _VALUES // max(width, 1)))
    table = []
    for _ in range(rows):
        pairs = [*zip(mechanism.draw(tools.source, total=total), total, strict=True)]
        noise = [(law, int(pairs[at][0]) - int(pairs[at][1])) for at, law in pieces.items()]
        table.append([uniforms(law, (x,), tools.chance)[0] for law, x in noise])
    chance = strangeness(np.array(table), tools.chance)
    yield Comparison(f"{mechanism.kind}: noise drawn one at a time", rows, chance)


def selection_drawn(mechanism: Any, tools: Tools) -> Found:
    """Check drawn candidates for simulated people, against probabilities computed from counts."""
    space = mechanism.candidates
    first, last, scale = int(space.first), int(space.last), int(mechanism.scale)
    unit = min(scale, LARGE)
    middle = (first + last) // 2
    for cells, masses in (
        ([first - 1, middle], [unit, 2 * unit]),
        ([first, middle, last], [unit, unit, unit // 2 + 1]),
    ):
        places = sorted(set(cells))
        weight = [sum(m for c, m in zip(cells, masses, strict=True) if c == at) for at in places]
        edges = sorted({first, last + 1, *(e for c in places for e in (c, c + 1))})
        edges = [e for e in edges if first <= e <= last + 1]
        prior = [int(e) for e in space.before(np.array(edges))]
        shares_of = []
        for i, start in enumerate(edges[:-1]):
            below = sum(m for c, m in zip(places, weight, strict=True) if c < start)
            inside = sum(m for c, m in zip(places, weight, strict=True) if c == start)
            above = sum(weight) - below - inside
            left, right = mechanism.odds
            far = max(
                0, right * below - left * (inside + above), left * above - right * (inside + below)
            )
            shares_of.append((prior[i + 1] - prior[i]) * math.exp(-far / scale))
        given = np.array(places, dtype=np.int64), np.array(weight, dtype=np.int64)
        found = [mechanism.draw(tools.source, total=given) for _ in range(PICKS)]
        counts = np.histogram(found, bins=[float(e) for e in edges[:-1]] + [math.inf])[0]
        whole = math.fsum(shares_of)
        chance = shares(counts.tolist(), [share / whole for share in shares_of])
        yield Comparison("selection: candidates drawn one at a time", PICKS, chance)


def crossing_drawn(mechanism: Any, tools: Tools) -> Found:
    """Check how often the first query fires, with a threshold slightly or far above it."""
    scale = mechanism.query
    if mechanism.threshold != scale or scale > LARGE:
        yield "a crossing whose two noises have other scales than one up to 2^50"
        return
    gap = max(1, round(2 * scale))
    queries = np.full(mechanism.end, -400 * (gap + 1), dtype=np.int64)
    queries[0] = 0
    a, rest = math.exp(-1.0 / float(scale)), -math.expm1(-1.0 / float(scale))
    # Let c = (1 − a)/(1 + a). The difference d of two discrete Laplace variables has
    # P(d) = c²·a^|d|·(|d| + 1 + 2a²/(1 − a²)).
    constant = (rest / (1.0 + a)) ** 2
    for above, trials in ((1, 150), (gap, 700)):
        per = (above + 1 + 2.0 * a * a / (rest * (1.0 + a))) / rest + a / (rest * rest)
        chance = constant * math.exp(-above / float(scale)) * per
        fired = sum(mechanism.draw(tools.source, queries, above - 1) == 0 for _ in range(trials))
        yield Comparison("crossing: first query", trials, two_sided(fired, trials, chance))


def diffusion_drawn(mechanism: Any, tools: Tools) -> Found:
    """Check the crossings of a diffusion."""
    for crossing in mechanism.crossings:
        yield from _found(crossing, tools)
    yield _COINS_OF_PEOPLE


def composed_drawn(mechanism: Any, tools: Tools) -> Found:
    """Check every stage of a composition."""
    for stage in mechanism.stages:
        yield from _found(stage, tools)


def reduced_drawn(mechanism: Any, tools: Tools) -> Found:
    """Check the counts of people, and the mechanism on the slots."""
    yield from _found(mechanism.counts_stage, tools)
    yield from _found(mechanism.bounded, tools)
    yield _SEATS

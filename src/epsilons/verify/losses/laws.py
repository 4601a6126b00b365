"""Check that a noise law's declared pieces agree with the log-probabilities that it computes.

A law is a noise distribution. It can be evaluated only at finitely many points, and a fault could
be between them. So a law declares its pieces on all integers: where it is constant and where it
falls. Losses are computed from that declaration with the formulas of this package, and
`verify.draws` compares draws with the declaration. The exponents of the law must match its pieces
at many points. A law without declared pieces is rejected.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from epsilons.errors import PrivacyError

NEAR: Final = 300
"""By default, laws on integers are evaluated at every point up to this distance from 0."""

_FAR: Final = range(7, 300, 7)
_STAIRS: Final = (*range(16), *(2**k + 1 for k in _FAR[::4]))
_RANDOM: Final = 100
_SQUARE: Final = range(-12, 13)
_NUMBERS: Final = ("point", "line")
_PAIRS: Final = ("rings", "hourglass")


@dataclass(frozen=True)
class LawPieces:
    """The declared pieces of a law, with the checker's own formulas.

    Distances from 0 to `inner` − 1 form the first piece. Each later piece is `steps` wide. The
    probability is constant on a piece, and falls by a factor e^{−rate} from each piece to the next.

    Attributes:
        shape: how distance is measured: "point", "line", "rings", "hourglass", "closed" or "cube".
        rate: above 0; math.inf for a point.
        steps: width of the pieces after the first, at least 1.
        inner: width of the first piece, from 1 to `steps`.
    """

    shape: str
    rate: Fraction | float
    steps: int
    inner: int

    def stair(self, distance: int) -> int:
        """Return the index of the piece at a distance from 0."""
        return (distance + self.steps - self.inner) // self.steps

    def exponent(self, *at: int) -> Fraction | float:
        """Return −ln P(at) + ln P(0) according to the declaration."""
        if self.shape == "point":
            return math.inf if any(at) else Fraction(0)
        if self.shape == "closed" and sum(at) != 0:
            return math.inf
        if self.shape != "hourglass":
            return self.rate * self.stair(sum(map(abs, at)))
        x, y = at
        units, off = divmod(x + y, self.steps)
        if off:
            return math.inf
        waist = self.stair(abs(x))
        return self.rate * (waist + abs(units - waist if x >= 0 else units + waist))

    def loss(self, points: int) -> Fraction | float:
        """Return the largest change of the exponent over a distance of `points`.

        stair(a + s) − stair(a) is at most ceil(s/steps), with equality at a = inner − 1.
        """
        return self.rate * -(-points // self.steps) if points else Fraction(0)


def one_number(law: Any, near: int = NEAR) -> LawPieces:
    """Return the declared pieces of a law on integers, checked against its exponents.

    Args:
        law: a law with `pieces` and `exponent(x)`.
        near: all points up to this distance from 0 are checked.

    Raises:
        PrivacyError: the law declares no pieces, or its exponents contradict them.
    """
    return _asked(law, declared(law, _NUMBERS), near)


def two_numbers(law: Any, near: int = NEAR) -> LawPieces:
    """Return the checked pieces of a law on pairs of integers: see `one_number`."""
    return _asked(law, declared(law, _PAIRS), near)


def whole(number: Any, least: int, what: str) -> int:
    """Return `number` as an integer ≥ `least`. Floats are rejected, not rounded.

    Raises:
        PrivacyError: `number` is not an integer, or is too small.
    """
    try:
        found = operator.index(number)
    except TypeError:
        found = least - 1
    if found < least:
        raise PrivacyError(f"{what} must be a whole number from {least}.")
    return found


def declared(law: Any, shapes: tuple[str, ...]) -> LawPieces:
    """Read a law's declared pieces, and reject those without a known bound on the loss.

    Args:
        law: a law with `pieces`.
        shapes: the allowed shapes, for which the loss is known.

    Raises:
        PrivacyError: the law declares no pieces, invalid pieces, or another shape.
    """
    pieces = getattr(law, "pieces", None)
    if pieces is None:
        raise PrivacyError(
            "The law of the noise does not declare its pieces, so between the points at which it "
            "is asked it could do anything."
        )
    shape, rate = pieces.shape, pieces.rate
    if shape not in shapes:
        raise PrivacyError(
            f"The law of the noise is of the shape {shape!r}: here its loss has no bound that this "
            "checker knows."
        )
    if shape == "point":
        return LawPieces(shape, math.inf, 1, 1)
    if type(rate) not in (int, Fraction) or rate <= 0:
        raise PrivacyError("The rate of the law of the noise must be a fraction above 0.")
    steps = whole(pieces.steps, 1, "The width of a piece of the law")
    inner = whole(pieces.inner, 1, "The width of the first piece of the law")
    if inner > steps:
        raise PrivacyError("The first piece of the law of the noise is wider than the others.")
    return LawPieces(shape, Fraction(rate), steps, inner)


def _asked(law: Any, pieces: LawPieces, near: int) -> LawPieces:
    """Compare the law's exponents with its declared pieces at many points."""
    points = _lines(pieces, near) if pieces.shape in _NUMBERS else _planes(pieces, near)
    for at in points:
        if law.exponent(*at) != pieces.exponent(*at):
            raise PrivacyError(
                "The law of the noise is not made of the pieces that it declares: it has a hole, a "
                "bump or another slope."
            )
    return pieces


def _lines(pieces: LawPieces, near: int) -> Iterator[tuple[int]]:
    sizes = {*range(near + 1), *(2**k + 1 for k in _FAR), *_edges(pieces)}
    sizes |= set(_random_sizes(pieces, near))
    for size in sizes:
        yield (size,)
        yield (-size,)


def _planes(pieces: LawPieces, near: int) -> Iterator[tuple[int, int]]:
    """Generate points to check: a full square, axes, diagonals, and edges of pieces."""
    yield from ((x, y) for x in _SQUARE for y in _SQUARE)
    sizes = [*range(0, near + 1, 5), *(2**k + 1 for k in _FAR[::4]), *_edges(pieces)]
    others = _random_sizes(pieces, near)
    for place, size in enumerate([*sizes, *others]):
        other = others[place % len(others)]
        # For an hourglass, a pair has positive probability only if its sum is a multiple of
        # `steps`.
        units = (other % 9 - 4) * pieces.steps if pieces.shape == "hourglass" else size // 2
        for x in (size, -size):
            yield from ((x, units - x), (units - x, x), (x, 0), (0, x), (x, other))
            # For an hourglass: the most probable y given x.
            yield x, pieces.steps * (pieces.stair(size) * (1 if x >= 0 else -1)) - x


def _edges(pieces: LawPieces) -> list[int]:
    """Return distances at and next to the boundaries between pieces."""
    if pieces.steps == 1:
        return []
    return [pieces.inner + pieces.steps * j + off for j in _STAIRS for off in (-1, 0, 1)]


def _random_sizes(pieces: LawPieces, near: int) -> list[int]:
    """Return pseudorandom distances of every magnitude, the same in every run."""
    chance = random.Random(near)  # noqa: S311
    most = 128 + pieces.steps.bit_length()
    return [chance.getrandbits(chance.randint(1, most)) for _ in range(min(_RANDOM, near))]

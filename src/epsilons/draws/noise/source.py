"""Sources of randomness: the only entry point for entropy.

Every sampler takes a `Source` and reads all its bits from it. So the caller's choice of source
decides whether draws are private (`System`) or a simulation (`Seeded`).
"""

from __future__ import annotations

import builtins
import operator
import os
from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import ArgumentError

# Checks of sampler arguments: integers and fractions only, because floats would round silently.


def integer(name: str, value: object) -> int:
    """Return `value` as a Python integer; NumPy integers are accepted, booleans are not.

    Args:
        name: the name of the parameter.
        value: the given value.

    Raises:
        ArgumentError: `value` is not an integer.
    """
    if not isinstance(value, bool):
        try:
            return operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise ArgumentError(f"{name} must be an integer, not {type(value).__name__}.")


def natural(name: str, value: object, least: int = 0) -> int:
    """Return `value` as a Python integer of at least `least`.

    Args:
        name: the name of the parameter.
        value: the given value.
        least: the smallest accepted value.

    Raises:
        ArgumentError: `value` is not an integer of at least `least`.
    """
    number = value if type(value) is int else integer(name, value)
    if number < least:
        raise ArgumentError(f"{name} must be at least {least}.")
    return number


def positive_rational(name: str, value: object) -> Fraction:
    """Return `value` as an exact `Fraction` above zero, with Python integers inside.

    Args:
        name: the name of the parameter.
        value: the given value.

    Raises:
        ArgumentError: `value` is not an integer or a `Fraction`, or is not above zero.
    """
    if isinstance(value, Fraction):
        # A fraction can contain NumPy integers, which overflow, unlike Python integers.
        number = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, float):
        raise ArgumentError(
            f"{name} must be exact: an integer or a Fraction, not a float. "
            f"Write Fraction({name}) if the float itself is meant."
        )
    else:
        number = Fraction(integer(name, value))
    if number <= 0:
        raise ArgumentError(f"{name} must be above zero.")
    return number


SEPARATE = int.from_bytes(b"epsilons", "big")
"""Spawn key that separates `Seeded(seed)` from all streams that NumPy makes from the same seed."""

STRETCH = 4096
"""Requests of at least this many bytes use a keystream; smaller ones use `os.urandom`."""


class Source(ABC):
    """A stream of independent, uniform random bits.

    Attributes:
        private: whether the bits are secret; False unless a source declares otherwise.
    """

    private: bool = False

    @classmethod
    def __subclasshook__(cls, other: type, /) -> bool:
        """Accept any class that has the four attributes of a source, without inheritance."""
        owned: set[str] = set().union(*map(vars, other.__mro__))
        four = {"bytes", "words", "bits", "private"} <= owned
        return four if cls is Source and four else NotImplemented

    @abstractmethod
    def bytes(self, count: int) -> builtins.bytes:
        """Return `count` random bytes.

        Guarantee: independent and uniform on 0, ..., 255, and never returned before.
        """

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` random 64-bit words, possibly as a read-only array.

        Guarantee: independent and uniform on 0, ..., 2**64 - 1.
        """
        # Explicitly little-endian, so a seed gives the same words on every platform.
        words = np.frombuffer(self.bytes(8 * count), dtype="<u8")
        return words.astype(np.uint64, copy=False)

    def bits(self, k: int) -> int:
        """Return `k` random bits as an integer.

        Guarantee: uniform on 0, ..., 2**k - 1.
        """
        natural("k", k)
        count = (k + 7) >> 3
        return int.from_bytes(self.bytes(count), "little") >> ((count << 3) - k)


class System(Source):
    """The entropy of the operating system: the source of every private release.

    Small requests return bytes of `os.urandom`. Large requests return an AES-256-CTR keystream with
    a fresh key from `os.urandom` *for every request*. Nothing is kept between requests, so there is
    no state that a fork could copy, a thread could share or a core dump could reveal.

    Guarantee: no efficient observer can distinguish the bits from independent uniform bits,
    provided that `os.urandom` and AES-256 are secure.
    """

    private = True

    def bytes(self, count: int) -> builtins.bytes:
        """Return `count` bytes of system entropy.

        Args:
            count: the number of bytes; can be zero.

        Raises:
            ArgumentError: `count` is not an integer of at least 0.
        """
        natural("count", count)
        if count < STRETCH:
            return os.urandom(count)
        # Imported here, because the import takes longer than all small requests of a short program.
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        # Each key is used for one keystream only, so its counter can always start at zero.
        cipher = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(builtins.bytes(16)))
        return cipher.encryptor().update(builtins.bytes(count))

    def __repr__(self) -> str:
        return "System()"


class Seeded(Source):
    """A reproducible stream for simulation. **Never private**: the seed reveals everything.

    The stream is NumPy's PCG64 from `numpy.random.SeedSequence(seed, spawn_key=(SEPARATE,))`, which
    NumPy keeps stable across platforms and versions. Requests consume whole words, and the rest of
    a word is dropped. So the stream depends on the sizes of the requests. It is separate from
    `numpy.random.default_rng(seed)` and all generators spawned from it. So data made from the same
    seed are independent of the noise.

    Guarantee: two sources with the same seed answer the same requests with the same bits. The bits
    are uniform only statistically, and give no protection against an adversary.

    Args:
        seed: an integer of at least 0.

    Raises:
        ArgumentError: the seed is not an integer of at least 0.

    Examples:
        >>> import epsilons as ep
        >>> asked = {"epsilon": [0.5, 1.0], "bounds": (0, 24)}
        >>> first, second = (ep.mean([3.5, 8.0], source=ep.Seeded(1), **asked) for _ in range(2))
        >>> first.value == second.value, first.private
        (True, False)
    """

    private = False

    def __init__(self, seed: int) -> None:
        self.seed = natural("seed", seed)
        self._stream = np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(SEPARATE,)))

    def bytes(self, count: int) -> builtins.bytes:
        """Return the next `count` bytes of the stream.

        Args:
            count: the number of bytes; can be zero.

        Raises:
            ArgumentError: `count` is not an integer of at least 0.
        """
        natural("count", count)
        return self.words((count + 7) >> 3).astype("<u8", copy=False).tobytes()[:count]

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next `count` words of the stream.

        Args:
            count: the number of words; can be zero.

        Raises:
            ArgumentError: `count` is not an integer of at least 0.
        """
        words: NDArray[np.uint64] = self._stream.random_raw(natural("count", count))
        return words

    def __repr__(self) -> str:
        return f"Seeded({self.seed})"


def resolve(source: Source | None) -> Source:
    """Return `source`, or the system's entropy if it is None.

    Args:
        source: the given source, or None.

    Raises:
        ArgumentError: `source` is neither a `Source` nor None.
    """
    if source is None:
        return System()
    if isinstance(source, Source):
        return source
    raise ArgumentError(
        f"source must be None (the system's entropy) or a Source, not {type(source).__name__}. "
        "For a simulation write source=ep.Seeded(1)."
    )

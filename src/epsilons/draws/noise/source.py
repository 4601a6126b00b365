"""Sources of randomness: the only entry point for entropy.

Every sampler takes a `Source` and reads bits from nothing else. So the caller decides in one
visible place whether draws are private (`System`) or a simulation (`Seeded`).
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

# What samplers accept: integers and fractions only, because no float may decide what is protected.


def integer(name: str, value: object) -> int:
    """Return `value` as a Python integer; NumPy integers are accepted, booleans are not.

    Args:
        name: the parameter, as the user types it.
        value: what the user gave.

    Raises:
        ArgumentError: it is not an integer.
    """
    if type(value) is int:  # the common case, on the path of every small request
        return value
    if not isinstance(value, bool):
        try:
            return operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise ArgumentError(f"{name} must be an integer, not {type(value).__name__}.")


def natural(name: str, value: object, least: int = 0) -> int:
    """Return `value` as a Python integer of at least `least`.

    Args:
        name: the parameter, as the user types it.
        value: what the user gave.
        least: the smallest value that is accepted.

    Raises:
        ArgumentError: it is not such an integer.
    """
    number = integer(name, value)
    if number < least:
        raise ArgumentError(f"{name} must be at least {least}.")
    return number


def positive_rational(name: str, value: object) -> Fraction:
    """Return `value` as an exact fraction above zero, made of Python integers.

    Args:
        name: the parameter, as the user types it.
        value: what the user gave.

    Raises:
        ArgumentError: it is not an integer or a `Fraction`, or not above zero.
    """
    if isinstance(value, Fraction):
        # A fraction may hold NumPy integers, which wrap where Python's do not.
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
"""Spawn key that separates `Seeded(seed)` from every stream NumPy makes from the same seed."""

STRETCH = 4096
"""Requests of at least this many bytes use a keystream; below it `os.urandom` is faster."""


class Source(ABC):
    """A stream of independent, uniform random bits.

    Attributes:
        private: whether the bits are unknown to everyone; False unless a source says otherwise.
    """

    private: bool = False

    @classmethod
    def __subclasshook__(cls, other: type, /) -> bool:
        """Any class with these four is a source: a checker brings one without importing this."""
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
        # Explicitly little-endian: a seed gives the same words on every platform.
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

    Small requests are bytes of `os.urandom`. Large ones are an AES-256-CTR keystream under a fresh
    key from `os.urandom` *for every request*. Nothing is kept between requests, so there is no
    state that a fork could copy, a thread could share or a core dump could reveal.

    Guarantee: no efficient observer can distinguish the bits from independent uniform ones, as far
    as `os.urandom` and AES-256 keep their promises.
    """

    private = True

    def bytes(self, count: int) -> builtins.bytes:
        """Return `count` bytes of system entropy.

        Args:
            count: how many; zero is allowed.

        Raises:
            ArgumentError: `count` is not an integer of at least 0.
        """
        natural("count", count)
        if count < STRETCH:
            return os.urandom(count)
        # Lazily: the import costs more than all small requests of a short program together.
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        # A key is used for one keystream only, so its counter may always begin at zero.
        cipher = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(builtins.bytes(16)))
        return cipher.encryptor().update(builtins.bytes(count))

    def __repr__(self) -> str:
        return "System()"


class Seeded(Source):
    """A reproducible stream for simulation. **Never private**: the seed reveals everything.

    The stream is NumPy's PCG64 from `numpy.random.SeedSequence(seed, spawn_key=(SEPARATE,))`, which
    NumPy keeps the same on every platform and in every version. Bytes come in whole words and the
    rest of a word is dropped, so the stream depends on the sizes of the requests. It is separate
    from `numpy.random.default_rng(seed)` and everything spawned from it, so data made from the same
    seed are unrelated to the noise.

    Guarantee: two sources with the same seed answer the same requests with the same bits. Their
    uniformity is statistical, and there is no protection against an adversary.

    Args:
        seed: any integer of at least 0.

    Raises:
        ArgumentError: the seed is not such an integer.
    """

    private = False

    def __init__(self, seed: int) -> None:
        self.seed = natural("seed", seed)
        self._stream = np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(SEPARATE,)))

    def bytes(self, count: int) -> builtins.bytes:
        """Return the next `count` bytes of the stream.

        Args:
            count: how many; zero is allowed.

        Raises:
            ArgumentError: `count` is not an integer of at least 0.
        """
        natural("count", count)
        return self.words((count + 7) >> 3).astype("<u8", copy=False).tobytes()[:count]

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next `count` words of the stream.

        Args:
            count: how many; zero is allowed.

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
        source: what the user gave.

    Raises:
        ArgumentError: it is neither a `Source` nor None.
    """
    if source is None:
        return System()
    if isinstance(source, Source):
        return source
    raise ArgumentError(
        f"source must be None (the system's entropy) or a Source, not {type(source).__name__}. "
        "For a simulation write source=ep.Seeded(1)."
    )

from __future__ import annotations

import builtins
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.draws.noise import Seeded, Source, System, resolve, source as module
from epsilons.errors import ArgumentError

Fit = Callable[[Sequence[float], Sequence[float]], float]


def test_only_the_system_is_private() -> None:
    class Own(Source):
        def bytes(self, count: int) -> builtins.bytes:
            return builtins.bytes(count)

    assert System().private
    assert not Seeded(1).private
    assert not Own().private


@pytest.mark.parametrize("count", [0, 1, 7, 8, module.STRETCH - 1, module.STRETCH, 100_003])
@pytest.mark.parametrize("source", [System(), Seeded(5)], ids=repr)
def test_lengths(source: Source, count: int) -> None:
    assert len(source.bytes(count)) == count
    words = source.words(count)
    assert len(words) == count
    assert words.dtype == np.uint64


@settings(deadline=None)
@given(k=st.integers(0, 300), seed=st.integers(0, 10**30))
def test_bits_stay_below_their_power(k: int, seed: int) -> None:
    assert 0 <= Seeded(seed).bits(k) < 2**k
    assert 0 <= System().bits(k) < 2**k


def test_every_bit_is_used() -> None:
    source = Seeded(9)
    draws = [source.bits(13) for _ in range(300)]
    both = (1 << 13) - 1
    union, common = 0, both
    for draw in draws:
        union |= draw
        common &= draw
    assert union == both
    assert common == 0


@pytest.mark.parametrize("size", [1000, 50_000])
@pytest.mark.parametrize("kind", ["system", "seeded"])
def test_bytes_are_uniform(kind: str, size: int, fit: Fit, alpha: float) -> None:
    # The system's entropy has no seed, so each run has false-alarm probability alpha.
    source = System() if kind == "system" else Seeded(11)
    data = b"".join(source.bytes(size) for _ in range(200_000 // size))
    counts = np.bincount(np.frombuffer(data, dtype=np.uint8), minlength=256)
    assert fit(counts.tolist(), [1 / 256] * 256) > alpha


@settings(deadline=None)
@given(seed=st.integers(0, 2**200), sizes=st.lists(st.integers(0, 5000), max_size=5))
def test_a_seed_repeats_itself(seed: int, sizes: list[int]) -> None:
    first, second = Seeded(seed), Seeded(seed)
    for size in sizes:
        assert first.bytes(size) == second.bytes(size)
        assert first.words(size).tolist() == second.words(size).tolist()


def test_a_seed_means_the_same_everywhere() -> None:
    # These values are recorded, because simulations in the documentation depend on this stream.
    assert Seeded(0).words(2).tolist() == [5806055373285669698, 16885915839499191881]
    assert Seeded(0).bytes(8) == (5806055373285669698).to_bytes(8, "little")


def test_seeds_differ_and_streams_go_on() -> None:
    assert Seeded(1).bytes(32) != Seeded(2).bytes(32)
    source = Seeded(1)
    assert source.bytes(32) != source.bytes(32)


def test_a_seeded_source_can_be_pickled() -> None:
    source = Seeded(3)
    source.bytes(8)
    again = pickle.loads(pickle.dumps(source))
    assert again.bytes(32) == source.bytes(32)


@pytest.mark.parametrize("count", [16, module.STRETCH, 100_000])
def test_the_system_never_repeats_itself(count: int) -> None:
    source = System()
    draws = {source.bytes(count) for _ in range(20)} | {System().bytes(count) for _ in range(20)}
    assert len(draws) == 40


FORK = """
import os, sys
from epsilons.draws.noise import System
source = System()
source.bytes(16), source.bytes(100_000)
seen = []
for _ in range(2):
    inward, outward = os.pipe()
    if os.fork() == 0:
        os.write(outward, source.bytes(16) + source.bytes(100_000)[:16])
        os._exit(0)
    os.close(outward)
    seen.append(os.read(inward, 32))
    os.wait()
seen.append(source.bytes(16) + source.bytes(100_000)[:16])
assert all(len(s) == 32 for s in seen)
assert len({s[:16] for s in seen}) == 3, "small requests repeat after a fork"
assert len({s[16:] for s in seen}) == 3, "large requests repeat after a fork"
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
def test_forks_draw_different_bytes() -> None:
    # This test needs a separate interpreter: test workers have threads, which a fork does not copy.
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=60)


def test_importing_the_room_is_light() -> None:
    check = (
        "import sys, epsilons.draws.noise; "
        "heavy = {'scipy', 'cryptography', 'polars', 'narwhals'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", check], check=True, timeout=60)


@pytest.mark.parametrize("seed", [0, 1, 7, 2**70])
def test_seeded_noise_is_no_stream_that_numpy_makes_of_the_same_seed(seed: int) -> None:
    """Noise is independent of data that NumPy simulated with the same seed."""
    ours = set(Seeded(seed).words(4096).tolist())
    rng = np.random.default_rng(seed)
    for theirs in (rng, *rng.spawn(3)):
        assert not ours & set(theirs.bit_generator.random_raw(4096).tolist())


def test_resolve() -> None:
    source = Seeded(1)
    assert resolve(source) is source
    assert isinstance(resolve(None), System)
    assert repr(source) == "Seeded(1)"
    assert repr(System()) == "System()"


@pytest.mark.parametrize("wrong", [1, "system", np.random.default_rng(1), Seeded, b""])
def test_resolve_refuses_what_is_no_source(wrong: object) -> None:
    with pytest.raises(ArgumentError, match="source"):
        resolve(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, True, np.float64(2)])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(ArgumentError, match="seed"):
        Seeded(seed)  # type: ignore[arg-type]


def test_a_numpy_integer_is_a_seed() -> None:
    assert Seeded(np.int64(7)).bytes(8) == Seeded(7).bytes(8)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [-1, 1.5, "8", None, True])
@pytest.mark.parametrize("source", [System(), Seeded(5)], ids=repr)
def test_counts_are_whole_numbers(source: Source, count: object) -> None:
    with pytest.raises(ArgumentError, match="count"):
        source.bytes(count)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="k must"):
        source.bits(count)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [System(), Seeded(5)], ids=repr)
def test_no_negative_words(source: Source) -> None:
    with pytest.raises(ArgumentError, match="count"):
        source.words(-1)

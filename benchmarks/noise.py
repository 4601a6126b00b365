"""Time of discrete Laplace noise, compared with OpenDP's vector sampler, on one core each."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from benchmarks.timing import Result, alternate, once
from epsilons.draws.noise import DiscreteLaplace, Hourglass, System


def results() -> Iterator[Result]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    size, scale = 100_000, 1000
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = dp.m.make_laplace(*space, scale=float(scale))
    zeros = [0] * size
    law, source = DiscreteLaplace(scale), System()
    law.draw(source, size)
    peer = min(once(lambda: theirs(zeros)) for _ in range(3)) / size
    for name, each in (("scale 1000", law), ("scale 2⁴⁵", DiscreteLaplace(2**45))):
        mine = min(once(lambda each=each: each.draw(source, 10 * size)) for _ in range(5))  # type: ignore[misc]
        mine /= 10 * size
        yield Result(
            f"discrete Laplace vector, {name}, against OpenDP",
            peer / mine,
            "× faster",
            25,
            False,
            f"{1e-6 / mine:.3g} against {1e-6 / peer:.3g} million a second",
        )
    one = min(once(lambda: [law.draw(source) for _ in range(2000)]) for _ in range(3)) / 2000
    yield Result("one discrete Laplace sample", 1e6 * one, "µs", 50, True)
    plain = DiscreteLaplace(2**45)
    for rate in (Fraction(1, 2), Fraction(4)):
        pairs = Hourglass.best(rate, 2**40)
        turns = alternate(
            lambda pairs=pairs: pairs.draw(source, 10 * size),  # type: ignore[misc]
            lambda: plain.draw(source, 10 * size),
            runs=5,
        )
        name = f"10⁶ hourglass pairs, ε = {float(rate):g}, against 10⁶ discrete Laplace samples"
        yield turns.result(name, 6)

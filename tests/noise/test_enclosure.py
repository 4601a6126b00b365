from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext

from hypothesis import given, settings, strategies as st

from epsilons.draws.noise import Seeded, Source
from epsilons.draws.noise.exact import continues_below, enclose

Tape = Callable[[Iterable[int]], Source]


@settings(deadline=None)
@given(
    p=st.integers(0, 2**70), q=st.integers(1, 2**64), bits=st.integers(1, 300), whole=st.booleans()
)
def test_the_enclosure_holds_and_is_narrow(p: int, q: int, bits: int, whole: bool) -> None:
    p = p % (50 * q) if whole else p % (q + 1)
    lo, hi = enclose(p, q, bits)
    with localcontext() as context:
        context.prec = 250  # computed by a different algorithm, in decimal arithmetic
        true = (-Decimal(p) / Decimal(q)).exp() * Decimal(2) ** bits
        assert lo <= true <= hi
    assert 0 <= lo <= hi <= 2**bits
    assert hi - lo <= 3


def test_more_bits_are_drawn_until_it_is_decided(tape: Tape) -> None:
    # Follow the digits of e^{-1/3} for four words, then deviate upwards and downwards.
    lo, _ = enclose(1, 3, 400)
    words = [lo >> (400 - 64 * (i + 1)) & (2**64 - 1) for i in range(4)]
    assert continues_below(tape([*words[1:], 0]), words[0], 64, 1, 3)
    assert not continues_below(tape([*words[1:], 2**64 - 1]), words[0], 64, 1, 3)


def test_a_certain_event_needs_no_bits(tape: Tape) -> None:
    assert continues_below(tape([]), 2**64 - 1, 64, 0, 7)


def test_clear_cases_need_no_bits(tape: Tape) -> None:
    assert continues_below(tape([]), 0, 64, 1, 1)
    assert not continues_below(tape([]), 2**64 - 1, 64, 1, 1)
    assert continues_below(Seeded(1), 0, 1, 1, 10**6)

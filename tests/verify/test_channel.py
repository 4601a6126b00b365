"""The checker of local randomizers is correct for known tables, and rejects broken ones."""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from epsilons.errors import PrivacyError
from epsilons.local import Bit, Frequencies, Mean, Vector
from epsilons.local.draws import WORD, Cap, Channel, Shifted
from epsilons.verify.losses.kinds import exact, exact_channel

BUDGETS = [0.0, 1e-9, 0.05, 0.1, 0.5, 1.0, math.log(3), 3.0, 8.0, 20.0, 44.0, 60.0, 700.0]


@dataclass
class Hand:
    """A channel written without any code of epsilons."""

    epsilon: float
    chances: Sequence[Sequence[int]]
    total: int

    @property
    def inputs(self) -> range:
        return range(len(self.chances))

    @property
    def outputs(self) -> range:
        return range(len(self.chances[0]))


def test_a_known_loss_is_found_to_many_digits() -> None:
    verdict = exact_channel(Hand(2.0, [[3, 1], [1, 3]], 4))
    with decimal.localcontext() as context:
        context.prec = 50
        expected = decimal.Decimal(3).ln()
    (loss,) = verdict.losses
    assert Fraction(expected) <= loss <= Fraction(expected) + Fraction(1, 10**48)
    assert verdict.holds


def test_a_budget_just_below_the_loss_is_not_kept() -> None:
    log = math.log(3)  # math.log rounds, so this is slightly above or below ln 3
    above, below = math.nextafter(log, 2), math.nextafter(log, 1)
    assert exact_channel(Hand(above, [[3, 1], [1, 3]], 4)).holds
    assert not exact_channel(Hand(below, [[3, 1], [1, 3]], 4)).holds
    with pytest.raises(PrivacyError):
        exact_channel(Hand(below, [[3, 1], [1, 3]], 4)).require()


def test_an_answer_that_only_one_value_gives_tells_everything() -> None:
    assert exact_channel(Hand(5.0, [[4, 0], [3, 1]], 4)).losses == (math.inf,)
    assert not exact_channel(Hand(5.0, [[4, 0], [3, 1]], 4)).holds
    assert exact_channel(Hand(math.inf, [[4, 0], [3, 1]], 4)).holds


@pytest.mark.parametrize(
    "table",
    [
        Hand(1.0, [[3, 1], [1, 2]], 4),
        Hand(1.0, [[5, -1], [1, 3]], 4),
        Hand(1.0, [[3, 1]], 4),
        Hand(math.nan, [[3, 1], [1, 3]], 4),
        Hand(-1.0, [[2, 2], [2, 2]], 4),
    ],
)
def test_what_is_no_table_of_probabilities_is_refused(table: Hand) -> None:
    with pytest.raises(PrivacyError):
        exact_channel(table)


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_bits_and_means_keep_every_budget(epsilon: float) -> None:
    assert exact_channel(Bit().channel(epsilon)).holds
    table = Mean((0, 1), method="bit").channel(epsilon)
    assert isinstance(table, Channel)
    assert exact_channel(table).holds


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 3.0, 8.0, 100.0, math.inf])
def test_numbers_with_laplace_noise_keep_every_budget(epsilon: float) -> None:
    shifted = Mean((0, 1), method="laplace").channel(epsilon)
    assert isinstance(shifted, Shifted)
    verdict = exact(shifted)
    assert verdict.holds
    assert verdict.losses == (Fraction(epsilon) if math.isfinite(epsilon) else math.inf,)
    near = replace(shifted, reach=shifted.reach + 1)
    assert math.isinf(epsilon) or not exact(near).holds


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("cells", [2, 3, 5, 8, 16])
def test_hadamard_and_projection_keep_every_budget(epsilon: float, cells: int) -> None:
    for method in ("hadamard", "projection"):
        assert exact_channel(Frequencies(cells, method, public_seed=7).channel(epsilon)).holds


@pytest.mark.parametrize(("cells", "epsilon"), [(2, 0.5), (4, 1.0), (8, 3.0), (8, 0.05)])
def test_rappor_keeps_every_budget(cells: int, epsilon: float) -> None:
    assert exact_channel(Frequencies(cells, "rappor").channel(epsilon)).holds


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize(("signs", "distance"), [(1, 0), (2, 0), (3, 1), (5, 0), (6, 2), (7, 1)])
def test_signs_keep_every_budget(epsilon: float, signs: int, distance: int) -> None:
    assert exact_channel(Cap(signs, distance).channel(epsilon)).holds


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 3.0, 4.0])
def test_vectors_keep_every_budget(epsilon: float) -> None:
    assert exact_channel(Vector(10).channel(epsilon)).holds


@given(st.floats(0.0, 50.0))
def test_the_loss_of_a_bit_is_the_budget_but_for_rounding(epsilon: float) -> None:
    verdict = exact_channel(Bit().channel(epsilon))
    (loss,) = verdict.losses
    assert verdict.holds
    # Changing a count by one in 2⁶⁴ changes the loss by less than (1 + e^ε)²/e^ε/2⁶⁴.
    most = 1.0001 * (2.0 + math.exp(-epsilon) + math.exp(min(epsilon, 44.4))) / WORD
    assert loss >= min(Fraction(epsilon), Fraction(44)) - Fraction(most)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 3.0, 8.0, 20.0])
def test_one_step_less_noise_is_noticed(epsilon: float) -> None:
    """If the flip probability is lower by 2⁻⁶⁴, the checker finds a loss above the budget."""
    table = Bit().channel(epsilon)
    (keep, flip), _ = table.chances
    broken = replace(table, chances=((keep + 1, flip - 1), (flip - 1, keep + 1)))
    assert not exact_channel(broken).holds


def test_the_sign_of_zero_is_noticed() -> None:
    """The checker detects a randomizer that has a third output for some vectors.

    For example, np.sign is 0 for a vector that is orthogonal to the direction.
    """
    flip = WORD // 4
    table = Hand(2.0, [[WORD - flip, flip, 0], [0, 0, WORD]], WORD)
    assert exact_channel(table).losses == (math.inf,)


def test_a_cap_whose_size_depends_on_the_signs_is_noticed() -> None:
    """A randomizer is rejected if the number of its more probable outputs depends on the input."""
    honest = Cap(3, 1).channel(1.0)
    first = list(honest.chances[0])
    near, far = max(first), min(first)
    first[first.index(far)] = near
    total = sum(first)
    rows = [tuple(chance * honest.total for chance in first)]
    rows += [tuple(chance * total for chance in row) for row in honest.chances[1:]]
    broken = Hand(1.0, rows, total * honest.total)
    assert not exact_channel(broken).holds

"""Tables of reports that several test files use, and a check of refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons import local
from epsilons.errors import ColumnError, DataError, EpsilonsError
from epsilons.local.randomizer import Randomizer
from tests.local.test_randomizer import BUDGETS, CASES, PEOPLE, reports_of

SECRET = 987.654321
ORDER = np.random.default_rng(3).permutation(PEOPLE)


def reordered(name: str) -> dict[str, Any]:
    """Return the columns of some reports, with people in another order."""
    return {key: column[ORDER] for key, column in reports_of(name).to_columns().items()}


def entries(name: str) -> list[bytes]:
    """Return reports of one person each, and three batches of several people."""
    mechanism, values = CASES[name]
    some = [*range(40), *range(PEOPLE - 5, PEOPLE)]
    found = [mechanism.randomize(values[i], BUDGETS[i], ep.Seeded(i)).to_bytes() for i in some]
    for cut in (slice(0, 7), slice(200, 210), slice(280, PEOPLE)):
        batch = mechanism.randomize_many(values[cut], BUDGETS[cut], ep.Seeded(9))
        found.append(batch.to_bytes())
    return found


def refused(
    mechanism: Randomizer, data: Any, column: str | None = None, what: str = "."
) -> EpsilonsError:
    """Return the error of a refusal.

    Check that it shows no values and hides the engine's exception.
    """
    with pytest.raises((DataError, ColumnError), match=what) as caught:
        mechanism.estimate(column, data=data)
    error = caught.value
    assert len(str(error)) > 20
    assert "987" not in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    return error


BIT = pl.DataFrame(local.Bit().randomize_many([True, False] * 60, 1.5, ep.Seeded(4)).to_columns())
AT_70 = pl.int_range(pl.len()) == 70


def at_70(column: str, value: Any) -> pl.DataFrame:
    """Return a table of bits, with another value in row 70."""
    changed = pl.when(AT_70).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    return BIT.with_columns(changed)

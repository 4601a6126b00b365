"""Every recorded call gives the same result as when it was recorded.

`EPSILONS_RECORD=1 pytest tests/recorded -n 0` records the results again. Do this only if a result
is supposed to change, and read the difference.
"""

from __future__ import annotations

import functools
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.recorded.calls import CALLS, Call
from tests.recorded.seen import may_be_new, written

pytestmark = pytest.mark.always  # Every call is different.

HERE = Path(__file__).parent
RECORD = bool(os.environ.get("EPSILONS_RECORD"))
Results = dict[str, dict[str, Any]]


@functools.cache
def recorded(area: str) -> Results:
    path = HERE / f"{area}.json"
    found: Results = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def text(value: Any) -> str:
    """Convert a value to one line of JSON. In it, 1 and 1.0 differ, and NaN equals itself."""
    return json.dumps(value, ensure_ascii=False)


def write(area: str, results: Results) -> None:
    """Write each field on a separate line, so differences are easy to read."""
    calls = []
    for name, fields in results.items():
        lines = ",\n".join(f"  {text(field)}: {text(value)}" for field, value in fields.items())
        calls.append(f"{text(name)}: {{\n{lines}\n}}")
    (HERE / f"{area}.json").write_text("{\n" + ",\n".join(calls) + "\n}\n", "utf-8")


@pytest.fixture(scope="module")
def recording() -> Iterator[dict[str, Results]]:
    """Collect the results to record, by area. A call that was not made keeps its old result."""
    fresh: dict[str, Results] = {}
    yield fresh
    for area, results in fresh.items():
        known = {**recorded(area), **results}
        names = [call.name for call in CALLS if call.area == area]
        write(area, {name: known[name] for name in names if name in known})


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded")


LONG = 9
"""Numbers with this many digits or more may differ in their last digits."""

NUMBER = re.compile(r"\d+(?:/\d+)?(?:\.\d+)?(?:[eE][+-]?\d+)?")


def same(then: Any, now: Any) -> bool:
    """Return whether two values are equal: texts exactly, long numbers to five digits.

    The last digits of floats depend on the processor, because NumPy chooses the fastest of several
    versions of a function. Integer weights are rounded from floats, so they also depend on the
    processor.
    """
    if isinstance(then, float) and isinstance(now, float):
        return text(then) == text(now) or math.isclose(then, now, rel_tol=1e-5, abs_tol=1e-9)
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(map(same, then, now))
    if isinstance(then, dict) and isinstance(now, dict):
        return list(then) == list(now) and all(same(then[key], now[key]) for key in then)
    if type(then) is not type(now) or isinstance(then, bool):
        return text(then) == text(now)
    one, other = text(then), text(now)
    if one == other:
        return True
    if NUMBER.sub("", one) != NUMBER.sub("", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(
        first == second
        or (
            min(len(first), len(second)) >= LONG
            and math.isclose(Fraction(first), Fraction(second), rel_tol=1e-5)
        )
        for first, second in pairs
    )


def differences(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return the differences between two results, field by field."""
    lines = [f"{field} is new" for field in now if field not in then and not may_be_new(field)]
    for field, value in then.items():
        if field == "to_dict" or field.endswith(": to_dict"):
            # Later versions can add keys, but the recorded keys must keep their order.
            names, found = value.split(), now.get(field, "").split()
            if [name for name in found if name in names] != names:
                lines.append(f"{field}: keys were {names}, are {found}")
        elif field not in now:
            lines.append(f"{field} is gone")
        elif not same(value, now[field]):
            lines.append(
                f"{field}:\n    was {text(value)[:1500]}\n    is  {text(now[field])[:1500]}"
            )
    return lines


@pytest.mark.parametrize(
    "call",
    [pytest.param(call, id=f"{call.area}: {call.name}") for call in CALLS],
)
def test_same(
    call: Call,
    directory: Path,
    recording: dict[str, Results],
    request: pytest.FixtureRequest,
) -> None:
    now = call.replay(directory, lambda: request.getfixturevalue("spark"))
    if RECORD:
        recording.setdefault(call.area, {})[call.name] = now
        return
    assert call.name in recorded(call.area), f"{call.area}: {call.name} was never recorded"
    found = differences(recorded(call.area)[call.name], now)
    assert not found, "\n".join([f"{call.area}: {call.name}", *found])


def test_names() -> None:
    names = Counter((call.area, call.name) for call in CALLS)
    assert max(names.values()) == 1
    if not RECORD:
        for area in {call.area for call in CALLS}:
            assert set(recorded(area)) == {call.name for call in CALLS if call.area == area}


def test_only_the_last_digits_may_differ() -> None:
    assert same([0.1234567891, {"a": 3}], [0.1234567892, {"a": 3}])
    assert same("loss 11667948087465/17592186044416", "loss 23335895862077/35184372088832")
    assert same(17592186044415, 17592186044416)
    for then, now in [
        (0.12345, 0.12346),
        (3, 4),
        (3, 3.0),
        (True, 1),
        ("3 people", "4 people"),
        ("loss 11667948087465/17592186044416", "loss 11668948087465/17592186044416"),
        ([1.0], [1.0, 1.0]),
        ({"a": 1.0}, {"b": 1.0}),
        (None, 0.0),
    ]:
        assert not same(then, now)


def test_in_a_long_list_too_only_the_last_digits_may_differ() -> None:
    numbers = [1e-6, 0.5, 3.0, 1e6, 123456789123, "123456789123/9007199254740992"]
    then = [*numbers, *range(1_000), "people"]
    less = 1.0 - 1e-7
    near = [1e-6 * less, 0.5 * less, 3.0, 1e6, 123456789124, "123456789124/9007199254740992"]
    assert same(written(then), written([*near, *then[6:]]))
    for at, now in [(0, 1.02e-6), (3, 0.98e6), (4, 125956789123), (700, 3), (1_005, "person")]:
        assert not same(written(then), written([*then[:at], now, *then[at + 1 :]]))

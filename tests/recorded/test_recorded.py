"""Every recorded call says today what it said when it was recorded.

`EPSILONS_RECORD=1 pytest tests/recorded -n 0` records anew: do it only where a result is meant to
change, and read the difference.
"""

from __future__ import annotations

import functools
import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.recorded.calls import CALLS, Call
from tests.recorded.seen import may_be_new

HERE = Path(__file__).parent
RECORD = bool(os.environ.get("EPSILONS_RECORD"))
Results = dict[str, dict[str, Any]]


@functools.cache
def recorded(area: str) -> Results:
    path = HERE / f"{area}.json"
    found: Results = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def text(value: Any) -> str:
    """One line: 1 and 1.0 differ, and NaN equals itself."""
    return json.dumps(value, ensure_ascii=False)


def write(area: str, results: Results) -> None:
    """One line for each field, so that differences can be read."""
    calls = []
    for name, fields in results.items():
        lines = ",\n".join(f"  {text(field)}: {text(value)}" for field, value in fields.items())
        calls.append(f"{text(name)}: {{\n{lines}\n}}")
    (HERE / f"{area}.json").write_text("{\n" + ",\n".join(calls) + "\n}\n", "utf-8")


@pytest.fixture(scope="module")
def recording() -> Iterator[dict[str, Results]]:
    """What is recorded anew, by area; calls that were not made keep what they have."""
    fresh: dict[str, Results] = {}
    yield fresh
    for area, results in fresh.items():
        known = {**recorded(area), **results}
        names = [call.name for call in CALLS if call.area == area]
        write(area, {name: known[name] for name in names if name in known})


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded")


def same(then: Any, now: Any) -> bool:
    """Whether two values are equal: types and texts exactly, floats but for their last digits.

    These depend on the processor: NumPy has several versions of a function, and takes the fastest.
    """
    if isinstance(then, float) and isinstance(now, float):
        close = math.isclose(then, now, rel_tol=1e-6, abs_tol=1e-9)
        return close or text(then) == text(now)
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(map(same, then, now))
    if isinstance(then, dict) and isinstance(now, dict):
        return list(then) == list(now) and all(same(then[key], now[key]) for key in then)
    return text(then) == text(now)


def differences(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What differs, field by field."""
    lines = [f"{field} is new" for field in now if field not in then and not may_be_new(field)]
    for field, value in then.items():
        if field == "to_dict" or field.endswith(": to_dict"):
            # Later code may say more, and what it says beside must not disturb the order.
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
    [
        pytest.param(
            call,
            id=f"{call.area}: {call.name}",
            marks=[pytest.mark.slow] if call.slow else [],
        )
        for call in CALLS
    ],
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

"""The command `epsilons verify`: its output and its exit code."""

from __future__ import annotations

import json
import sys
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from epsilons.asking import commands
from epsilons.draws.mechanisms import build_moments
from epsilons.draws.mechanisms.sums import SumAndSquares


@pytest.mark.parametrize("fault", ["weights", "noise"])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_verify_fails_where_a_promise_is_not_kept(
    fault: str, more: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """If a guarantee is violated, the exit code is not 0."""

    class Silent(SumAndSquares):
        def draw(self, source: Any, size: Any = None, total: Any = (0, 0)) -> Any:
            return total if size is None else np.tile(total, (size, 1))

    real = build_moments

    def broken(*args: Any, **given: Any) -> Any:
        made: Any = real(*args, **given)
        if fault == "weights":
            return replace(made, weights=made.weights + 1)
        return Silent(**{each.name: getattr(made, each.name) for each in fields(made)})

    monkeypatch.setattr("epsilons.questions.mean.build_moments", broken)
    draws = ["--draws"] if fault == "noise" else []
    words = ["epsilons", "verify", "0.5:500", "1:200", "--method", "proportional", *draws, *more]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as stopped:
        commands.main()
    assert stopped.value.code == 6
    told = capsys.readouterr()
    assert "must not be used" in told.err
    if more:
        data = json.loads(told.out)
        assert (data["holds"], data.get("draws", {}).get("passes")) == (
            (False, None) if fault == "weights" else (True, False)
        )
    else:
        assert "NOT KEPT" in told.out if fault == "weights" else "NOT AS DECLARED" in told.out

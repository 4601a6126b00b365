"""The commands `quantile` and `count` return the same as the Python calls, for every option."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.asking.commands import cli
from tests.test_cli_same import AR, OFFERED, PRIVATE, again, called, plain, table, told

__all__ = ["again", "table"]  # fixtures

RANKS: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["--q", "0.1", "--q", "0.9"], {"q": [0.1, 0.9]}),
    (["--bounds", "1", "6"], {"bounds": (1.0, 6.0)}),
    (["--method", "table"], {"method": "table"}),
    (["--value", "holes", "--missing", "midpoint"], {"values": "holes", "missing": "midpoint"}),
    (["--related", "0.05", "--confidence", "0.8"], {"related": 0.05, "confidence": 0.8}),
    ([*AR, *OFFERED, "--cap", "0.7"], PRIVATE | {"levels": [0.5, 1.0, 2.0], "cap": 0.7}),
]


@pytest.mark.parametrize(("words", "same"), RANKS, ids=lambda each: str(each)[:60])
def test_a_quantile(
    table: Path,
    again: Callable[[], None],
    words: list[str],
    same: dict[str, Any],
) -> None:
    given = {"--value": "x", "--q": "0.5", "--epsilon": "e", "--bounds": "0 40"}
    usual: dict[str, Any] = {"values": "x", "q": 0.5, "epsilon": "e", "data": table}
    usual["bounds"] = (0.0, 40.0)
    found = told(again, ["quantile", str(table), *plain(words, given)])
    assert found == called(again, ep.quantile, **usual | same)
    if words:  # an ignored option must be detected
        assert found != called(again, ep.quantile, **usual)


def test_a_quantile_needs_a_share(table: Path) -> None:
    words = ["quantile", str(table), "--value", "x", "--epsilon", "e", "--bounds", "0", "40"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 2
    assert "--q" in done.output


def test_a_count(table: Path, again: Callable[[], None]) -> None:
    words = ["count", str(table), "--value", "x", "--epsilon", "e", "--person", "who"]
    usual: dict[str, Any] = {"values": "x", "epsilon": "e", "person": "who", "data": table}
    found = told(again, [*words, *AR, *OFFERED])
    assert found == called(again, ep.count, **usual, levels=[0.5, 1.0, 2.0])
    refused = CliRunner().invoke(cli, words)
    assert refused.exit_code != 0
    assert "add-remove" in str(refused.exception or refused.output) + refused.output

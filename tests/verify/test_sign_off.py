"""The sign-off sheet: the checks, the facts that no file can show, and lines to fill in."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons import made
from epsilons.asking import commands
from epsilons.errors import PrivacyError
from epsilons.verify import published
from tests.verify.test_published import RELEASES

CHECKS = ("loss", "spent", "value", "intervals", "others")


def results(text: str) -> dict[str, str]:
    """Return the result of each check, by a short name."""
    checks = published(text).checks
    return {name: each.result for name, each in zip(CHECKS, checks, strict=True)}


@pytest.mark.parametrize("name", RELEASES)
def test_a_file_as_it_was_written_passes_every_check(name: str) -> None:
    text = RELEASES[name]().to_json()
    assert set(results(text).values()) == {"holds"}
    said = published(text).sign_off()
    assert said.startswith("Sign-off sheet: ")
    assert "NOT PRIVATE: it was drawn from a seed" in said
    assert str(published(text)) in said
    assert all(f"\n{each}:" in said for each in ("Name", "Date", "Decision"))
    assert max(map(len, said.splitlines())) <= 96


@pytest.mark.parametrize(
    ("field", "fails"),
    [
        (("spent", 0, "spent"), "spent"),
        (("value",), "value"),
        (("n",), "value"),
        (("interval", 1), "intervals"),
        (("sides", 0, "high"), "intervals"),
        (("protects",), "others"),
    ],
)
@pytest.mark.parametrize("several", [False, True])
def test_each_edit_fails_the_check_of_its_field(
    field: tuple[Any, ...], fails: str, several: bool
) -> None:
    data = json.loads(RELEASES["several" if several else "mean"]().to_json())
    part = data["each"][0] if several else data
    for step in field[:-1]:
        part = part[step]
    was = part[field[-1]]
    part[field[-1]] = "Everything." if isinstance(was, str) else was + 1
    text = json.dumps(data)
    assert {name for name, each in results(text).items() if each != "holds"} == {fails}
    assert "FAILS" in published(text).sign_off()


def test_a_mechanism_that_spends_too_much_fails() -> None:
    data = json.loads(RELEASES["mean"]().to_json())
    data["release"]["mechanism"]["law"]["scale"]["of"] = "1"
    assert results(json.dumps(data))["loss"] == "FAILS"


def test_what_is_not_enumerated_is_not_checked() -> None:
    kind = ep.local.Frequencies(40, method="rappor")
    release = kind.estimate(kind.randomize_many(np.arange(40), np.ones(40), ep.Seeded(1)))
    assert results(release.to_json())["loss"] == "not checked"


def test_words_of_another_version_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    text = RELEASES["mean"]().to_json()
    monkeypatch.setattr(made, "VERSION", "99.0")
    assert results(text)["others"] == "holds (words of other versions are not compared)"


def test_what_no_file_can_show_is_named_with_what_checks_it() -> None:
    central = published(RELEASES["mean"]().to_json()).unseen
    assert any("ep.verify.draws(" in how for how in central.values())
    assert any("ep.verify.replay(" in how for how in central.values())
    assert any("nothing is signed" in what for what in central)
    assert any("How long the computation took" in what for what in central)
    local = published(RELEASES["vector"]().to_json()).unseen
    assert not any("ep.verify.replay(" in how for how in local.values())
    for unseen in (central, local):
        assert "What other releases about the same people took from them" in unseen
        assert "That each ε is what the person agreed to" in unseen
    for call in ("draws", "replay", "audit"):
        assert callable(getattr(ep.verify, call))


def test_a_ledger_knows_which_file_it_was(tmp_path: Path) -> None:
    people = pl.DataFrame({"who": range(40), "x": np.arange(40.0), "e": np.ones(40)})
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(people, person="who", epsilon="e")
        claim = ledger.claim("x", at_most=0.5)
        release = ep.mean("x", bounds=(0, 40), data=people, person="who", ledger=claim)
        assert release.ledger is not None
        found = published(release.to_json())
        assert f"ledger.check(head={release.ledger.head!r})" in found.sign_off()
        assert ledger.check(head=release.ledger.head).holds
    assert "NOT PRIVATE" not in found.sign_off()


def test_plain_data_has_the_checks() -> None:
    release = RELEASES["mean"]()
    found = published(release.to_json()).to_dict()
    assert found["holds"]
    assert found["private"] is False
    assert [each["result"] for each in found["checks"]] == ["holds"] * len(CHECKS)
    assert found["unseen"] == published(release.to_json()).unseen
    assert {"problems", "verdict"} <= found.keys()
    private = replace(release, private=True).to_json()
    assert published(private).to_dict()["private"]


def run(*words: str) -> Any:
    return CliRunner().invoke(commands.cli, list(words))


@pytest.mark.parametrize("name", ["mean", "several"])
def test_commands_print_the_sheet_and_statements(name: str, tmp_path: Path) -> None:
    release = RELEASES[name]()
    path = tmp_path / "release.json"
    path.write_text(release.to_json(), "utf-8")
    assert run("verify", str(path)).stdout == published(release.to_json()).sign_off() + "\n"
    assert run("statement", str(path)).stdout == release.statement() + "\n"
    for length in ("board", "methods"):
        told = run("statement", str(path), "--length", length).stdout
        assert told == release.statement(length) + "\n"


def test_a_release_from_a_seed_is_not_called_private(tmp_path: Path) -> None:
    path = tmp_path / "release.json"
    for private in (True, False):
        release = replace(RELEASES["mean"](), private=private)
        path.write_text(release.to_json(), "utf-8")
        assert published(release.to_json()).private is private
        done = run("verify", str(path))
        assert (done.exit_code == 0) is private
        assert isinstance(done.exception, PrivacyError) is not private


def test_a_file_that_disagrees_gets_no_statement(tmp_path: Path) -> None:
    path = tmp_path / "release.json"
    data = {**json.loads(RELEASES["mean"]().to_json()), "n": math.inf}
    path.write_text(json.dumps(data), "utf-8")
    found = run("statement", str(path))
    assert isinstance(found.exception, PrivacyError)
    assert not found.stdout

"""Tasks 22, 25, 26 and 30: a survey, a file to verify, a paper, and a scheduled job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import epsilons as ep
from tests.tasks.people import readers, shell, written

AGE: dict[str, Any] = {"values": "age", "epsilon": "consent", "bounds": (15, 50), "data": readers()}


def test_25_verify_a_release_from_its_file_alone(tmp_path: Path) -> None:
    text = ep.mean(**AGE).to_json()
    file = tmp_path / "age.json"
    file.write_text(text, "utf-8")
    assert "budget" in shell("verify", str(file))
    assert ep.verify.published(text).holds
    edited = json.loads(text)
    edited["value"] += 1.0
    assert not ep.verify.published(json.dumps(edited)).holds


def test_26_into_a_paper(tmp_path: Path) -> None:
    release = ep.mean(**AGE, by="job", groups=[1, 2, 3, 4, 5, 6], title="Age by occupation")
    assert release.to_latex().count(r"\\") == 7
    assert release.to_markdown().startswith("| job |")
    assert release.figure(tmp_path / "age.pdf").read_bytes().startswith(b"%PDF-")
    frame = release.to_frame().to_pandas()
    bars = frame["value"] - frame["low"], frame["high"] - frame["value"]
    assert all((bar >= 0).all() for bar in bars)
    file = written(readers(), tmp_path)
    asked = "--value age --epsilon consent --bounds 15 50"
    shell("mean", file, *asked.split(), "--report", str(tmp_path / "age.tex"))
    assert r"\toprule" in (tmp_path / "age.tex").read_text("utf-8")


STUDY = """
[study]
data = "people.csv"
epsilon = "consent"
ledger_off = false

[[question]]
statistic = "mean"
values = "age"
bounds = [15, 50]
"""

"""Tasks 22, 25, 26 and 30: a survey, a file to verify, a paper, and a scheduled job."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import epsilons as ep
from epsilons import collector
from epsilons.collector.demo import Participants
from tests.tasks.people import readers, shell, written

AGE: dict[str, Any] = {"values": "age", "epsilon": "consent", "bounds": (15, 50), "data": readers()}


def test_22_a_survey_to_its_published_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shell("survey", "example", "question.toml")
    links = Path(json.loads(shell("survey", "new", "question.toml", "--json"))["invitations"])
    tokens = [link.split("#")[1] for link in links.read_text("utf-8").split()]
    with collector.Service("survey.db") as service:
        crowd = Participants(service, service.survey("lunch"), tokens, pause=0.0)
        crowd.start()
        crowd.join()
    assert "is closed" in shell("survey", "close", "lunch")
    told = shell("survey", "estimate", "lunch", "--report", "lunch.html", "--figure", "lunch.pdf")
    assert "200 reports" in told
    assert "Did you skip lunch" in Path("lunch.html").read_text("utf-8")
    assert Path("lunch.pdf").read_bytes().startswith(b"%PDF-")


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


@pytest.mark.long
def test_30_a_scheduled_job(tmp_path: Path) -> None:
    written(readers(), tmp_path)
    study = tmp_path / "study.toml"
    command = [sys.executable, "-m", "epsilons", "publish", str(study)]
    command += ["--quiet", "--report", str(tmp_path / "age.html")]
    command += ["--log", str(tmp_path / "jobs.jsonl")]

    def job() -> int:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert not done.stdout
        return done.returncode

    study.write_text(STUDY, "utf-8")
    assert job() == 2  # the study has an unknown key
    study.write_text(STUDY.replace("ledger_off = false\n", ""), "utf-8")
    assert job() == 0
    (tmp_path / "people.csv").unlink()
    assert job() == 5
    lines = [json.loads(line) for line in (tmp_path / "jobs.jsonl").read_text("utf-8").splitlines()]
    assert [line["exit_code"] for line in lines] == [2, 0, 5]
    assert lines[1]["released"][0]["statistic"] == "mean"
    assert lines[0]["when"] <= time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

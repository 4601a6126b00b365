"""`epsilons survey` on the command line."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from epsilons import collector
from epsilons.__main__ import cli
from epsilons.collector.demo import Participants, demo_survey
from epsilons.errors import ArgumentError, DataError, FileError, MissingExtraError
from tests.collector.served import free_port, key_of, lock

QUESTION = """
id = "sleep"
question = "How long did you sleep?"
kind = "number"
bounds = [0, 12]
unit = "hours"
closes = 2099-12-01T18:00:00+01:00
organiser = "We"
invitations = 7

[[levels]]
name = "strong"
epsilon = 0.5

[[levels]]
name = "light"
epsilon = 2
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "question.toml").write_text(QUESTION, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> str:
    ran = CliRunner().invoke(cli, ["survey", *words])
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    assert ran.exit_code == 0, ran.output
    return ran.output


def test_from_a_question_to_a_table(folder: Path) -> None:
    told = json.loads(run("new", "question.toml", "--json", "--proxy", "https://ask.example.org"))
    assert re.fullmatch(r"https://ask\.example\.org/o/sleep#[0-9a-f]{32}", told["organiser"])
    links = Path(told["invitations"]).read_text("utf-8").split()
    assert len(set(links)) == 7
    assert Path(told["invitations"]).stat().st_mode & 0o077 == 0
    with collector.Service("survey.db") as service:
        survey = service.survey("sleep")
        assert survey.closes.isoformat() == "2099-12-01T17:00:00+00:00"
        assert service.is_organiser("sleep", told["organiser"].split("#")[1])
        for link in links:
            assert link.startswith("https://ask.example.org/s/sleep#")
            report = survey.mechanism.randomize(8.0, 2.0).to_bytes()
            place, token = secrets.token_hex(16), link.split("#")[1]
            service.reserve("sleep", token, lock(key_of(token)))
            submitted = service.submit("sleep", place, token, report, key_of(token))
            assert submitted.result().status == 201
    assert "0 reports are shown; the survey is open" in run("estimate", "sleep")
    assert json.loads(run("estimate", "sleep", "--json"))["used"] == 0
    with pytest.raises(DataError, match="is open"):
        run("export", "sleep", "reports.parquet")
    listed = run("list")
    assert "sleep: open, 0 reports of 7 invited, closes 2099-12-01T17:00:00Z." in listed
    assert json.loads(run("list", "--json"))["sleep"]["kind"] == "number"
    assert "3 invitations" in run("invitations", "sleep", "--many", "3", "--save", "more.txt")
    more = Path("more.txt").read_text("utf-8").split()
    assert len(more) == 3
    Path("old.txt").write_text("\n".join([links[0], more[0]]), "utf-8")
    assert "2 invitations were replaced" in run("replace", "sleep", "old.txt", "--save", "new.txt")
    new = Path("new.txt").read_text("utf-8").split()
    assert len(set(new) - set(links) - set(more)) == 2
    assert Path("new.txt").stat().st_mode & 0o077 == 0
    said = run("offline", "sleep", "page.html").split()
    assert said == [hashlib.sha256(Path("page.html").read_bytes()).hexdigest(), "page.html"]
    assert "closed early" in run("close", "sleep")
    assert "7 reports" in run("export", "sleep", "reports.parquet")
    assert survey.mechanism.estimate(data="reports.parquet").n == 7
    printed = run("estimate", "sleep")
    assert "7 reports; the survey is closed early." in printed
    assert "2 invitations were replaced" in printed
    assert "Spent: " in printed
    told = json.loads(run("estimate", "sleep", "--json"))
    assert (told["used"], told["invited"], told["replaced"]) == (7, 10, 2)


def test_invitations_are_never_overwritten(folder: Path) -> None:
    assert "7 invitations" in run("new", "question.toml")
    with pytest.raises(FileError, match="never overwritten"):
        run("new", "question.toml", "--file", "other.db")
    assert not Path("other.db").exists()
    with pytest.raises(FileError, match="never overwritten"):
        run("invitations", "sleep", "--save", "sleep-invitations.txt")


@pytest.mark.parametrize(
    "proxy",
    ["http://ask.example.org", "ask.example.org", "https://ask.example.org/path", "https://", "x"],
)
def test_a_proxy_has_tls(folder: Path, proxy: str) -> None:
    with pytest.raises(ArgumentError, match="proxy="):
        run("new", "question.toml", "--proxy", proxy)
    assert not Path("survey.db").exists()


def test_what_is_not_there(folder: Path) -> None:
    with pytest.raises(FileError, match="does not exist"):
        run("export", "sleep", "reports.parquet")
    run("new", "question.toml")
    with pytest.raises(ArgumentError, match="survey='none'"):
        run("close", "none")


def test_what_fails_leaves_no_file_of_links(folder: Path) -> None:
    run("new", "question.toml")
    with pytest.raises(ArgumentError, match="none"):
        run("invitations", "none", "--save", "more.txt")
    assert not Path("more.txt").exists()
    Path("sleep-invitations.txt").unlink()
    with pytest.raises(ArgumentError, match="taken"):
        run("new", "question.toml")
    assert not Path("sleep-invitations.txt").exists()


def test_without_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("new", "question.toml")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"\.\[collector\]"):
        run("serve", "--port", str(free_port()))


def test_invented_people_answer(tmp_path: Path) -> None:
    survey = demo_survey()
    tokens = collector.create(tmp_path / "demo.db", survey).tokens
    with collector.Service(tmp_path / "demo.db") as service:
        crowd = Participants(service, survey, tokens[:200], pause=0.0)
        crowd.start()
        crowd.join()
        found: dict[str, Any] = service.estimate("demo")
        assert found["reports"] == 190
        (result,) = found["results"]
        assert result["low"] < 0.3 < result["high"]  # wide enough never to fail by chance

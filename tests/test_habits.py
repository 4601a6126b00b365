"""Workflows, hooks and forms for a public host: they call the Makefile and never ask for data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"))
ALLOWED = re.compile(
    r"(sudo --preserve-env=PATH )?bash \.ci/(run|install)|make [a-z-]+( [A-Z]+=\S+( \S+ \S+)?)?"
)


def commands(file: Path) -> list[str]:
    """Return every command that a workflow runs."""
    jobs: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))["jobs"]
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]


def targets() -> set[str]:
    """Return the targets of the Makefile."""
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_runs_only_what_anyone_can_run(file: Path) -> None:
    for command in commands(file):
        assert ALLOWED.fullmatch(command), command
        if command.startswith("make "):
            assert command.split()[1] in targets()


def test_hooks_are_the_parts_of_lint() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    entries = {hook["entry"] for each in hooks["repos"] for hook in each["hooks"]}
    lint = re.search(r"^lint: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert lint is not None
    assert entries == {f"make {part}" for part in lint[1].split()}


def test_phony_targets_are_all_commands() -> None:
    """Every target is phony.

    Otherwise, a file with the name of a target would stop that target from running.
    """
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == targets()


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.stem)
def test_forms_warn_against_posting_data(file: Path) -> None:
    form = yaml.safe_load(file.read_text("utf-8"))
    first = form["body"][0]
    assert first["type"] == "markdown"
    assert "Never post data about people" in first["attributes"]["value"]


def test_a_report_asks_for_the_release_as_json() -> None:
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/wrong.yml").read_text("utf-8"))
    asked = {each["id"]: each["attributes"] for each in form["body"] if "id" in each}
    assert "release.to_json()" in asked["release"]["description"]
    assert not any("upload" in str(each).lower() for each in asked.values())


def test_every_supported_python_is_tested() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))
    tested = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    oldest = re.search(r'requires-python = ">=(\d+\.\d+)"', project)
    assert oldest is not None
    assert tested[0] == oldest[1]
    minors = [int(each.split(".")[1]) for each in tested]
    assert minors == list(range(minors[0], minors[-1] + 1))


@pytest.mark.parametrize(("tag", "code"), [("", 0), ("v0.0.0", 1)])
def test_a_tag_must_match_the_version(tag: str, code: int) -> None:
    from scripts import versions

    assert versions.main(["tag", tag]) == code


def test_the_oldest_versions_are_the_lower_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    from scripts import versions

    assert versions.main(["oldest"]) == 0
    lines = capsys.readouterr().out.split()
    assert "numpy==2.0.*" in lines
    assert all(re.fullmatch(r"[\w.-]+==[\d.]+\.\*", line) for line in lines)

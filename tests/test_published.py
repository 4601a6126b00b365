"""The archives contain all necessary files, and the package runs in an empty environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from epsilons.made import VERSION

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_citation_is_that_of_the_package() -> None:
    """The citation has all fields that its format requires, and agrees with the package."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    assert cited["title"] == PROJECT["name"]
    assert cited["version"] == VERSION
    assert cited["license"] == PROJECT["license"]
    assert cited["abstract"] == PROJECT["description"]
    assert cited["authors"] == PROJECT["authors"]


def test_the_security_policy_says_what_is_no_goal() -> None:
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    assert "## How to report one" in page
    goals = page.partition("## What is out of scope")[2]
    for words in ("**Timing.**", "**δ and zCDP.**", "**Restored backups.**"):
        assert words in goals


def run(*command: str | Path, at: Path) -> str:
    """Return the output of a command, run without the packages of this environment."""
    without = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    ran = subprocess.run(
        [str(part) for part in command],
        cwd=at,
        env=without | {"PIP_CONSTRAINT": str(ROOT / "constraints.txt")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source archive, and the wheel from it."""
    folder = tmp_path_factory.mktemp("archives")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, at=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(archives: Path) -> Path:
    (found,) = archives.glob("*.whl")
    return found

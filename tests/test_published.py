"""The archives contain all necessary files, and the package runs in an empty environment."""

from __future__ import annotations

import email
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
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


@pytest.mark.slow
def test_the_archives_are_as_a_registry_wants_them(archives: Path) -> None:
    files = sorted(archives.iterdir())
    assert [file.name for file in files] == [
        f"epsilons-{VERSION}-py3-none-any.whl",
        f"epsilons-{VERSION}.tar.gz",
    ]
    run(sys.executable, "-m", "twine", "check", "--strict", *files, at=archives)


@pytest.mark.slow
def test_the_wheel_is_the_package_and_nothing_else(wheel: Path) -> None:
    source = ROOT / "src"
    package = {
        file.relative_to(source).as_posix()
        for file in (source / "epsilons").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        told = f"epsilons-{VERSION}.dist-info"
        metadata = email.message_from_string(archive.read(f"{told}/METADATA").decode())
    assert {name for name in names if not name.startswith(told)} == package
    assert f"{told}/licenses/LICENSE" in names
    assert metadata["Version"] == VERSION
    assert metadata["License-Expression"] == PROJECT["license"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert set(PROJECT["optional-dependencies"]) == set(metadata.get_all("Provides-Extra", []))


@pytest.mark.slow
def test_the_source_archive_has_what_it_is_tested_with(archives: Path) -> None:
    (file,) = archives.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = ["LICENSE", "CITATION.cff", "SECURITY.md", "Makefile", "mkdocs.yml", "constraints.txt"]
    tests = [each.relative_to(ROOT).as_posix() for each in ROOT.glob("tests/**/*.py")]
    pages = [each.relative_to(ROOT).as_posix() for each in ROOT.glob("docs/**/*.md")]
    assert names >= {*needed, *tests, *pages}
    assert not any(name.startswith((".venv", "site/", ".scratch", "dist/")) for name in names)


@pytest.mark.slow
def test_the_wheel_runs_where_nothing_else_is_installed(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "empty", at=tmp_path)
    place = tmp_path / "empty/bin"
    run(place / "python", "-m", "pip", "install", "--quiet", "--no-compile", wheel, at=tmp_path)
    run(place / "python", "-m", "pip", "check", at=tmp_path)
    where = "import epsilons; print(epsilons.__version__, epsilons.__file__)"
    version, file = run(place / "python", "-c", where, at=tmp_path).split()
    assert version == VERSION
    assert Path(file).is_relative_to(tmp_path)
    run(place / "epsilons", "demo", "--save", "people.csv", at=tmp_path)
    words = ("people.csv", "--value", "minutes", "--epsilon", "epsilon", "--bounds", "0", "120")
    printed = run(place / "epsilons", "mean", *words, at=tmp_path)
    assert printed.startswith("Mean: ")
    assert "Spent: " in printed

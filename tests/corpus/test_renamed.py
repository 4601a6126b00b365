"""Stored objects can be read after classes, modules and arguments are renamed.

The test renames names in a copy of the source, as a refactoring would, and reads the corpus with
it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "epsilons"

READ = """
import json, pathlib, sys
import epsilons as ep
from epsilons import frozen
from tests.corpus.expected import facts, stored
from tests.corpus.test_corpus import held, same

assert pathlib.Path(ep.__file__).is_relative_to(sys.argv[1])
texts, expected = held("0.2.0", "releases.json.gz"), held("0.2.0", "releases.expected.json.gz")
for name, text in texts.items():
    if '"risk.LevelCount"' not in text and '"noise.DiscreteLaplace"' not in text:
        continue
    shown = json.loads(text)
    key = "releases" if "releases" in shown else "release"
    release = (ep.Releases if key == "releases" else ep.Release).from_json(text)
    assert stored(release) == json.dumps(shown[key]), name
    if '"risk.LevelCount"' in text:
        assert same(facts(release), expected[name]), name
made = frozen._form_of("risk.LevelCount").made
print(made.__module__, made.__name__, *made.__dataclass_fields__)
print(frozen._form_of("noise.DiscreteLaplace").made.__name__)
"""


def read_by(folder: Path) -> subprocess.CompletedProcess[str]:
    """Read the corpus with the source code in a folder."""
    paths = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-c", READ, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a copy of the source in which two classes, a module and an argument are renamed."""
    package = tmp_path / "epsilons"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    moved = package / "risk" / "counted.py"
    text = moved.read_text("utf-8").replace("counts", "people_there")
    text = text.replace(
        'storable("risk.LevelCount")',
        'storable("risk.LevelCount", fields={"counts": "people_there"})',
    )
    (package / "headcount.py").write_text(text, "utf-8")
    moved.unlink()
    for path in package.rglob("*.py"):
        text = path.read_text("utf-8").replace("epsilons.risk.counted", "epsilons.headcount")
        for was, now in (("LevelCount", "Headcount"), ("DiscreteLaplace", "TwoSided")):
            text = re.sub(rf'(?<!storable\("risk\.)(?<!storable\("noise\.)\b{was}\b', now, text)
        path.write_text(text, "utf-8")
    return tmp_path


@pytest.mark.long
def test_a_renamed_class_a_moved_module_and_a_renamed_argument_break_nothing(copied: Path) -> None:
    done = read_by(copied)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        *("epsilons.headcount", "Headcount", "people_there", "rates", "weights"),
        "TwoSided",
    ]


@pytest.mark.long
def test_an_argument_that_is_renamed_without_a_word_is_noticed(copied: Path) -> None:
    path = copied / "epsilons" / "headcount.py"
    said = ', fields={"counts": "people_there"}'
    text = path.read_text("utf-8")
    assert said in text
    path.write_text(text.replace(said, ""), "utf-8")
    done = read_by(copied)
    assert done.returncode != 0
    assert "risk.LevelCount" in done.stderr

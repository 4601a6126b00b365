"""The scripts of the pages, run in Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

PAGES = Path(__file__).resolve().parents[2] / "src" / "epsilons" / "collector" / "pages"


def node(folder: Path, cases: list[dict[str, Any]]) -> list[Any]:
    """What the scripts answer to each case."""
    program = shutil.which("node")
    if program is None:
        reason = "scripts are run in Node, and it is not here"
        if os.environ.get("EPSILONS_SKIP_NOTHING"):
            pytest.fail(f"EPSILONS_SKIP_NOTHING is set, and {reason}")
        pytest.skip(reason)
    (folder / "package.json").write_text('{"type": "module"}')
    for name in ("report.js", "words.js"):
        shutil.copyfile(PAGES / name, folder / name)
    shutil.copyfile(Path(__file__).with_name("reports.mjs"), folder / "reports.mjs")
    ran = subprocess.run(
        [program, "reports.mjs"],
        cwd=folder,
        input=json.dumps(cases),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return list(json.loads(ran.stdout))

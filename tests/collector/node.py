"""Run the pages' scripts in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import needs

PAGES = Path(__file__).resolve().parents[2] / "src" / "epsilons" / "collector" / "pages"


def node(
    folder: Path, cases: list[dict[str, Any]], changed: Mapping[str, str] | None = None
) -> list[Any]:
    """Return the output of the scripts for each case.

    Args:
        folder: the folder in which the scripts run.
        cases: the input of `reports.mjs`.
        changed: replacements of text in report.js, which insert deliberate mistakes.
    """
    program = needs.node()
    (folder / "package.json").write_text('{"type": "module"}')
    shutil.copyfile(PAGES / "words.js", folder / "words.js")
    script = (PAGES / "report.js").read_text("utf-8")
    for old, new in (changed or {}).items():
        assert script.count(old) == 1
        script = script.replace(old, new)
    (folder / "report.js").write_text(script, "utf-8")
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

"""`make bench`: measure, print, and write benchmarks/RESULTS.md.

python -m benchmarks                the quick form: under ten minutes
python -m benchmarks --full         more repetitions, and up to 10⁸ rows
python -m benchmarks speed ledger   some sections, in place of those on the page
"""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from pathlib import Path

from benchmarks import page

PAGE = Path(__file__).with_name("RESULTS.md")
SECTIONS = {"speed": "speed", "peers": "peers.section", "accuracy": "accuracy", "ledger": "ledger"}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--full", action="store_true", help="more repetitions, larger tables")
    given = parser.parse_args(arguments)
    if unknown := {*given.names} - {*SECTIONS}:
        parser.error(f"{', '.join(unknown)}: there are {', '.join(SECTIONS)}")
    failed = 0
    for name in given.names or SECTIONS:
        stamp = page.stamp(quick=not given.full)
        try:
            module = importlib.import_module(f"benchmarks.{SECTIONS[name]}")
            body = f"{stamp}\n\n{module.section(quick=not given.full)}"
        except Exception:  # the others are measured, and the page keeps what it has
            traceback.print_exc()
            failed = 1
            continue
        print(f"## {module.TITLE}\n\n{body}\n", flush=True)
        PAGE.write_text(page.updated(PAGE.read_text("utf-8"), {module.TITLE: body}), "utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(main())

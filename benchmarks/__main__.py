"""`make bench`: run all benchmarks, and write benchmarks/RESULTS.md.

python -m benchmarks                      the quick form: under ten minutes
python -m benchmarks --full               the long form
python -m benchmarks --only speed,growth  some sections, printed; the page stays unchanged
python -m benchmarks --only speed --write some sections, in place of those on the page
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import page, timing
from benchmarks.page import Section

FOLDER = Path(__file__).parent
ROOMS = (
    "allocation",
    "noise",
    "open",
    "mean",
    "weights",
    "frequencies",
    "million",
    "groups",
    "people",
    "rungs",
    "local",
    "gaussian",
)


def rooms(*, quick: bool) -> Section:
    """Return the section with the times of the parts of the library, each with its limit."""
    found = []
    for name in ROOMS:
        room = importlib.import_module(f"benchmarks.{name}")
        apart = name in ("allocation", "mean", "people")  # only these have a quick form
        lines = room.results(quick=quick) if apart else room.results()
        found += [timing.tell(result) for result in lines]
    text = "Each room of the library compared with the bare arithmetic that it needs."
    if quick:
        text += (
            " Only in the long form: the cap against a convex solver, and people with many rows "
            "(half a minute each)."
        )
    return Section("Rooms", text, tuple(found))


def module(name: str) -> Callable[[bool], Section]:
    """Return a function that imports a module of this package and runs its `section`."""
    return lambda quick: importlib.import_module(f"benchmarks.{name}").section(quick=quick)


SECTIONS: dict[str, Callable[[bool], Section]] = {
    "speed": module("speed"),
    "peers": module("peers.section"),
    "accuracy": module("personal"),
    "tables": module("tables"),
    "quantiles": module("quantiles"),
    "intervals": module("intervals"),
    "ranges": module("ranges"),
    "reports": module("reports"),
    "growth": module("growth"),
    "size": module("size"),
    "cluster": module("cluster"),
    "ledger": module("ledger"),
    "rooms": lambda quick: rooms(quick=quick),
}


def run(name: str, place: str, *, quick: bool) -> Section:
    """Run one section. An error becomes the text of the section and makes the run fail."""
    print(f"[{place}] {name} …", file=sys.stderr, flush=True)
    start = time.perf_counter()
    try:
        section = SECTIONS[name](quick)
    except Exception as error:
        words = f"{type(error).__name__}: {error}".splitlines()[0]
        section = Section(name.capitalize(), "", broken=words)
    for result in section.results:
        if not any(result is told for told in timing.TOLD):
            timing.tell(result)
    took = time.perf_counter() - start
    state = "stopped" if section.broken else "done"
    print(f"[{place}] {name} {state}: {took:.0f} s", file=sys.stderr, flush=True)
    return section


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--full", action="store_true", help="more repetitions, larger peers")
    parser.add_argument("--only", default="", help=f"some of {', '.join(SECTIONS)}; printed")
    parser.add_argument("--write", action="store_true", help="put them on the page instead")
    given = parser.parse_args(arguments)
    names = [name.strip() for name in given.only.split(",") if name.strip()] or list(SECTIONS)
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        parser.error(f"--only: {', '.join(unknown)}: there are {', '.join(SECTIONS)}")
    quick = not given.full
    timing.TOLD.clear()
    stamp = page.measured_now(quick=quick, load=os.getloadavg()[0])
    start = time.perf_counter()
    sections = [
        run(name, f"{k}/{len(names)}", quick=quick) for k, name in enumerate(names, start=1)
    ]
    taken = time.perf_counter() - start
    new = page.Page.of(sections, stamp=stamp, about=f"{page.machine()}.\n\n{page.versions()}.")
    broken = any(section.broken for section in sections)
    if given.only and (broken or not given.write):  # a section that was stopped replaces nothing
        print(new)
    else:
        file = FOLDER / "RESULTS.md"
        old = page.Page.read(file.read_text("utf-8")) if given.only else new
        text = str(old.updated(new))
        page.save_plots(sections, FOLDER / "plots", page=text)
        file.write_text(text, encoding="utf-8")
        print(f"benchmarks/RESULTS.md is written, after {taken:.0f} s.", file=sys.stderr)
    for line in page.failing(sections):
        print(f"DOES NOT HOLD  {line}", flush=True)
    # A limit that does not hold is a result. Only a section that could not be measured is an error.
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

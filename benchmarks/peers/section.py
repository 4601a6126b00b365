"""Section of the page on other libraries ("peers"): the time of each tool for the same rows."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks import data
from benchmarks.page import Section
from benchmarks.peers import environments
from benchmarks.peers.environments import Environment
from benchmarks.peers.run import LIMIT, Outcome, in_turns, measure
from benchmarks.peers.tools import BARE, BARE_PERSONAL, HOME, OURS, PEERS, PERSONAL, TASKS, Tool
from benchmarks.timing import Ratio, Result, seconds, tell

__all__ = ["Measured", "collect", "describe", "section"]

QUICK_SIZES = (10**6, 10**7)
SIZES = (10**6, 10**7, 10**8)
QUICK_AT_MOST = 3.0
LONG_LIMIT = 600.0
"""In the long form, a tool is stopped after this many seconds."""
PATIENCE = 12.0
"""If the first task takes more than this many seconds, only the long form runs the second."""
LEFT_TO_FULL: tuple[str, ...] = ("Tumult Analytics", "PipelineDP")
"""Peers that are too heavy for the quick form: one needs Spark and 0.9 GB of packages, the other
takes twenty seconds for a million rows."""
WORDS = {10**6: "10⁶", 10**7: "10⁷", 10**8: "10⁸"}
SAID = 10**7
"""The number of rows for which the top of the page states times."""
WHAT = {"mean": "the mean", "frequencies": "the frequency table"}

Key = tuple[str, str, int]
"""The key of an outcome: tool, task and rows."""


@dataclass
class Measured:
    """All measurements of the section.

    Attributes:
        outcomes: outcomes, by tool, task and rows.
        environments: results of creating the environments, by tool.
        duels: alternating times of our tool and the fastest peer, by our tool, task and rows.
        rivals: the fastest peer, by task and rows.
        sizes: sizes of packages in bytes, by tool.
        seconds: time to create the environments, and time of all runs.
        limit: seconds after which a tool was stopped.
    """

    outcomes: dict[Key, Outcome] = field(default_factory=dict)
    environments: dict[str, Environment] = field(default_factory=dict)
    duels: dict[Key, Ratio] = field(default_factory=dict)
    rivals: dict[tuple[str, int], str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    seconds: tuple[float, float] = (0.0, 0.0)
    limit: float = LIMIT

    def of(self, tool: str, task: str, rows: int) -> Outcome | None:
        return self.outcomes.get((tool, task, rows))

    def rows(self) -> list[int]:
        return sorted({key[2] for key in self.outcomes})


def section(*, quick: bool) -> Section:
    """Create the environments, run all tools, and return the section."""
    return describe(collect(quick=quick), quick=quick)


def collect(*, quick: bool) -> Measured:
    """Measure every tool. If a tool is not available, its outcome says so."""
    peers = [peer for peer in PEERS if not (quick and peer.name in LEFT_TO_FULL)]
    begin = time.monotonic()
    limit = LIMIT if quick else LONG_LIMIT
    found = Measured(environments=environments.ensure_all(peers), limit=limit)
    made = time.monotonic()
    found.sizes = {name: each.size for name, each in found.environments.items() if each.ready}
    found.sizes[OURS.name] = environments.size_of_ours()
    for rows in QUICK_SIZES if quick else SIZES:
        path = data.table(rows)
        for task in TASKS:
            for tool in (*HOME, *peers):
                outcome = spared(found, tool, task, rows, quick=quick)
                if outcome is None:
                    outcome = measure(tool, task, path, limit)
                    print(f"{tool.name}, {task}, {rows:,} rows: {cell(outcome)}", flush=True)
                found.outcomes[tool.name, task, rows] = outcome
            against(found, task, rows, peers)
    found.seconds = (made - begin, time.monotonic() - made)
    return found


def spared(found: Measured, tool: Tool, task: str, rows: int, *, quick: bool) -> Outcome | None:
    """Return the outcome if it is known without running the tool, otherwise None."""
    environment = found.environments.get(tool.name)
    if environment is not None and not environment.ready:
        return Outcome(tool.name, task, rows, status=f"not installed ({environment.reason})")
    before = found.of(tool.name, task, rows // 10)
    other = found.of(tool.name, TASKS[0], rows)
    if quick and other is not None and (other.seconds or 0.0) > PATIENCE:
        return Outcome(tool.name, task, rows, status="left to the long form")
    if before is None:
        return None
    if before.seconds is None:
        return Outcome(tool.name, task, rows, status=before.status, version=before.version)
    if quick and before.seconds >= QUICK_AT_MOST:
        return Outcome(tool.name, task, rows, status="left to the long form")
    if before.seconds > found.limit / 8.0:
        # All these tools take at least linear time, so this run would exceed the limit.
        status = f"not asked: a tenth of the rows took {seconds(before.seconds)}"
        return Outcome(tool.name, task, rows, status=status, version=before.version)
    return None


def against(found: Measured, task: str, rows: int, peers: Sequence[Tool]) -> None:
    """Time our tools and the two fastest peers alternately; a single run can be slow by chance."""
    answered = sorted(
        (outcome.seconds, place)
        for place, peer in enumerate(peers)
        if (outcome := found.outcomes[peer.name, task, rows]).seconds is not None
    )
    rivals = [peers[place] for _, place in answered[:2]]
    if not rivals:
        return
    times = in_turns((OURS, PERSONAL, *rivals), task, data.table(rows), limit=found.limit)
    if times is None:
        return
    rival = min(rivals, key=lambda peer: statistics.median(times[peer.name])).name
    found.rivals[task, rows] = rival
    for ours in (OURS, PERSONAL):
        found.duels[ours.name, task, rows] = Ratio(times[ours.name], times[rival])


def describe(found: Measured, *, quick: bool) -> Section:
    """Return the section for these measurements."""
    won = list(wins(found))
    absent = list(missing(found, quick=quick))
    parts = [
        "A mean of `value` within (0, 100), and counts of `word` over 100 declared categories, "
        "at ε = 1, from one Parquet file of people. Every tool runs in its own process and "
        "environment, pinned in `benchmarks/peers/requirements`, and is called through the fastest "
        "of its functions that we know (`benchmarks/peers/jobs`). A time is from the file to the "
        "answer, after imports, warm: the median of three runs, or of fewer where they take over "
        f"6 s. A tool is stopped after {found.limit:g} s, or once it holds four fifths of the "
        "memory. Every answer was compared with the truth, to be sure that every tool was called "
        "correctly. "
        "**Every peer answers for one ε; ours also for 50 budgets, one for each person**, and "
        "protects on exact integers. A library that only adds noise costs next to nothing on top "
        "of the bare query: for that, see the Polars line.",
        *(table(found, task) for task in TASKS),
        "Next to the seconds is the most memory that the processes of a tool held. Limits, and "
        "where a peer wins, compare other times, for which our tool and the two fastest peers were "
        "run alternately.",
        costs(found),
        "How each was called: "
        + "; ".join(f"{tool.name}: {tool.how}" for tool in (*PEERS, *HOME))
        + ".",
        "**Where a peer wins.** " + (" ".join(won) if won else "Nowhere in this run."),
    ]
    if absent:
        parts.append("**What did not run.** " + " ".join(absent))
    made, ran = found.seconds
    parts.append(f"Environments took {made:.0f} s, runs {ran:.0f} s.")
    return Section(
        title="Peers: time, memory, import and size",
        text="\n\n".join(parts),
        results=tuple(tell(each) for each in results(found)),
        plots={"peers": plot(found)} if found.outcomes else {},
        loses=tuple(won),
        fast=tuple(_said(found)),
    )


def _said(found: Measured) -> Iterator[str]:
    """Yield a sentence with the time of each tool for the mean of ten million rows."""
    times = {
        name: seconds(outcome.seconds)
        for name in names(found)
        if (outcome := found.of(name, TASKS[0], SAID)) is not None and outcome.seconds is not None
    }
    if OURS.name in times:
        listed = "; ".join(f"{name} {took}" for name, took in times.items())
        yield f"The mean of {WORDS[SAID]} rows of a Parquet file, tools run separately: {listed}."


def cell(outcome: Outcome | None) -> str:
    """Return one outcome as a short text."""
    if outcome is None:
        return ""
    if outcome.seconds is None:
        return outcome.status.replace("stopped after", ">")
    memory = "" if outcome.peak is None else f", {outcome.peak / 1e9:.2g} GB"
    return f"{seconds(outcome.seconds)}{memory}"


def names(found: Measured) -> list[str]:
    """Return the names of the tools that were run, with the bare engine and ours first."""
    asked = {key[0] for key in found.outcomes}
    return [tool.name for tool in (*HOME, *PEERS) if tool.name in asked]


def table(found: Measured, task: str) -> str:
    """Return a Markdown table of the time and memory of a task, by tool."""
    sizes = found.rows()
    lines = [
        f"| {task} | " + " | ".join(f"{WORDS.get(rows, rows)} rows" for rows in sizes) + " |",
        "| --- |" + " --- |" * len(sizes),
    ]
    for name in names(found):
        cells = [cell(found.of(name, task, rows)) for rows in sizes]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def import_of(found: Measured, name: str) -> float | None:
    """Return the minimum import time of a tool, because the first import may compile bytecode.

    None if the tool was never imported.
    """
    times = [
        each.import_seconds
        for key, each in found.outcomes.items()
        if key[0] == name and each.import_seconds is not None
    ]
    return min(times, default=None)


def costs(found: Measured) -> str:
    """Return a Markdown table of versions, what is protected, and start times."""
    lines = ["| tool | version | protects | start |", "| --- | --- | --- | --- |"]
    protects = {tool.name: tool.protects for tool in (*HOME, *PEERS)}
    for name in names(found):
        of_tool = [each for key, each in found.outcomes.items() if key[0] == name]
        version = next((each.version for each in of_tool if each.version), "")
        starts = [each.start_seconds for each in of_tool if each.start_seconds]
        start = f"{starts[len(starts) // 2]:.1f} s" if starts else ""
        cells = (name, version, protects[name] or "nothing", start)
        lines.append("| " + " | ".join(cells) + " |")
    lines.append("")
    lines.append(
        "To replace a row is to remove one and to add one: what protects added and removed rows "
        "at ε protects replaced ones at 2ε. The time to start Spark is not in the tables above. "
        "Import times and sizes are [below](#import-and-installation)."
    )
    return "\n".join(lines)


def wins(found: Measured) -> Iterator[str]:
    """Yield a sentence for every measure on which a peer beats our tool."""
    peers = [tool.name for tool in PEERS]
    for task in TASKS:
        for rows in found.rows():
            for ours in (OURS.name, PERSONAL.name):
                ratio, rival = found.duels.get((ours, task, rows)), found.rivals.get((task, rows))
                if ratio is not None and ratio.figure > 1.0:
                    yield (
                        f"{rival} is {ratio.figure:.2f} times as fast as {ours} for {WHAT[task]} "
                        f"of {WORDS.get(rows, rows)} rows ({ratio.note})."
                    )
    mine = import_of(found, OURS.name)
    quicker = [
        f"{name} ({time_taken:.2f} s)"
        for name in peers
        if mine is not None and (time_taken := import_of(found, name)) is not None
        if time_taken < mine
    ]
    if quicker and mine is not None:
        yield f"Faster to import than ours with its engine ({mine:.2f} s): {', '.join(quicker)}."
    size = found.sizes.get(OURS.name, 0)
    smaller = [
        f"{name} ({found.sizes[name] / 1e6:.0f} MB)"
        for name in peers
        if name in found.sizes and found.sizes[name] < size
    ]
    if smaller:
        yield f"Installation smaller than ours ({size / 1e6:.0f} MB): {', '.join(smaller)}."
    yield from lighter(found, peers)


def lighter(found: Measured, peers: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for every task for which a peer needs less memory."""
    for task in TASKS:
        for rows in found.rows():
            mine = found.of(OURS.name, task, rows)
            if mine is None or mine.peak is None:
                continue
            less = [
                f"{name} ({each.peak / 1e9:.2g} GB)"
                for name in peers
                if (each := found.of(name, task, rows)) is not None
                if each.peak is not None and each.peak < mine.peak
            ]
            if less:
                yield (
                    f"Less memory than ours ({mine.peak / 1e9:.2g} GB) for {WHAT[task]} of "
                    f"{WORDS.get(rows, rows)} rows: {', '.join(less)}."
                )


def missing(found: Measured, *, quick: bool) -> Iterator[str]:
    """Yield a sentence for every peer that did not run, with the reason."""
    for tool in PEERS:
        environment = found.environments.get(tool.name)
        if environment is not None and not environment.ready:
            yield f"{tool.name}: not installed ({environment.reason})."
            continue
        for task in TASKS:
            told = set()
            for rows in found.rows():
                each = found.of(tool.name, task, rows)
                if each is not None and each.seconds is None and each.status not in told:
                    told.add(each.status)
                    more = "" if rows == found.rows()[-1] else " and more"
                    yield (
                        f"{tool.name}, {WHAT[task]} of {WORDS.get(rows, rows)} rows{more}: "
                        f"{each.status}."
                    )
    if quick and LEFT_TO_FULL:
        yield f"Only in the long form (`make bench-full`): {', '.join(LEFT_TO_FULL)}."


def results(found: Measured) -> Iterator[Result]:
    """Yield our time divided by the fastest peer's: with one ε like the peers, and with 50 budgets.

    For a stopped peer, the time limit counts as its time. With personal budgets, a query must read
    and group by a second column. So the note also gives the time of that query without privacy.
    """
    for task in TASKS:
        for rows in found.rows():
            for ours in (OURS.name, PERSONAL.name):
                name = f"{task}, {WORDS.get(rows, rows)} rows: {ours}, over the fastest peer"
                ratio, rival = found.duels.get((ours, task, rows)), found.rivals.get((task, rows))
                mine = found.of(ours, task, rows)
                if ratio is not None:
                    line = ratio.result(f"{name} ({rival})", 1.0)
                    yield line if ours == OURS.name else beside_bare(line, found, task, rows)
                elif mine is not None and mine.seconds and any_stopped(found, task, rows):
                    note = f"{seconds(mine.seconds)} against > {found.limit:g} s"
                    figure = mine.seconds / found.limit
                    yield Result(f"{name} (stopped)", figure, "×", 1.0, True, note)


def beside_bare(line: Result, found: Measured, task: str, rows: int) -> Result:
    """Return the line, with the time of the bare query by 50 budgets added to its note."""
    bare = found.of(BARE_PERSONAL.name, task, rows)
    if bare is None or bare.seconds is None:
        return line
    words = f"{line.note}; {BARE_PERSONAL.name}, without privacy: {seconds(bare.seconds)}"
    return replace(line, note=words)


def any_stopped(found: Measured, task: str, rows: int) -> bool:
    """Return whether a peer was stopped on this task and size."""
    each = (found.of(tool.name, task, rows) for tool in PEERS)
    return any(outcome is not None and outcome.stopped for outcome in each)


def plot(found: Measured) -> Any:
    """Plot seconds against rows for each tool, on log scales."""
    import altair as alt

    points = [
        {"tool": name, "task": task, "rows": rows, "seconds": outcome.seconds}
        for (name, task, rows), outcome in found.outcomes.items()
        if outcome.seconds is not None
    ]
    order = names(found)
    lines = (
        alt.Chart(alt.Data(values=points), width=320, height=320)
        .mark_line(point=True)
        .encode(
            x=alt.X("rows:Q", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s")),
            y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds"),
            color=alt.Color("tool:N", sort=order, scale=alt.Scale(scheme="category20")),
            strokeDash=alt.condition(
                f"indexof(datum.tool, '{BARE.name}') == 0", alt.value([4, 3]), alt.value([1, 0])
            ),
        )
    )
    return lines.facet(column=alt.Column("task:N", title=None, sort=list(TASKS)))

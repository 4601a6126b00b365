"""The section on other libraries ("peers"): the time of each tool for the same rows."""

from __future__ import annotations

from benchmarks import data, page
from benchmarks.peers.environments import ensure
from benchmarks.peers.run import Outcome, measure
from benchmarks.peers.tools import HOME, PEERS, TASKS, Tool
from benchmarks.timing import seconds

TITLE = "Peers: time and memory"
LIMITS = {True: 60.0, False: 600.0}
"""Seconds after which a tool is stopped, in the quick form and in the long one."""
HEAVY = ("Tumult Analytics", "PipelineDP")
"""Peers that only the long form runs: Spark, and twenty seconds for a million rows."""
TEXT = """A mean of `value` within (0, 100), and counts of `word` over 100 declared categories, \
at ε = 1, from one Parquet file of people. Every tool runs in its own process and environment, \
pinned in `benchmarks/peers/requirements`, and is called through the fastest of its functions \
that we know (`benchmarks/peers/jobs`). A time is from the file to the answer, after imports: the \
median of three runs, or of fewer where they take over 6 s; next to it is the most memory that \
the processes of the tool held. Every answer was compared with the truth, to be sure that every \
tool was called correctly. **Every peer answers for one ε; ours also for 50 budgets, one for each \
person**, and protects on exact integers. A library that only adds noise costs next to nothing on \
top of the bare query: for that, see the Polars line. To replace a row is to remove one and to \
add one: what protects added and removed rows at ε protects replaced ones at 2ε."""


def section(*, quick: bool) -> str:
    """Make the environments, run all tools, and return the section."""
    tools = [tool for tool in (*HOME, *PEERS) if not (quick and tool.name in HEAVY)]
    missing = {tool.name: reason for tool in tools if (reason := ensure(tool))}
    sizes = list(data.SIZES)[: 2 if quick else 3]
    found: dict[tuple[str, str, int], Outcome] = {}
    for task in TASKS:
        for tool in tools:
            for rows in sizes:
                earlier = found.get((tool.name, task, rows // 10))
                outcome = spared(tool, earlier, missing, LIMITS[quick])
                outcome = outcome or measure(tool, task, rows, LIMITS[quick])
                found[tool.name, task, rows] = outcome
                print(f"{tool.name}, {task}, {rows:,} rows: {outcome}", flush=True)
    parts = [f"{TEXT} A tool is stopped after {LIMITS[quick]:g} s."]
    for task in TASKS:
        lines = [[t.name, *(str(found[t.name, task, rows]) for rows in sizes)] for t in tools]
        parts.append(page.table([task, *(f"{data.SIZES[rows]} rows" for rows in sizes)], lines))
    about = [
        [tool.name, found[tool.name, TASKS[0], sizes[0]].version, tool.protects, tool.how]
        for tool in tools
    ]
    parts.append(page.table(["tool", "version", "protects", "called"], about))
    return "\n\n".join(parts)


def spared(
    tool: Tool, earlier: Outcome | None, missing: dict[str, str], limit: float
) -> Outcome | None:
    """Return the outcome if it is known without running the tool, otherwise None."""
    if tool.name in missing:
        return Outcome(f"not installed ({missing[tool.name]})")
    if earlier is None or 0.0 < earlier.seconds < limit / 8.0:
        return None
    # All these tools take at least linear time.
    slow = f"not asked: a tenth of the rows took {seconds(earlier.seconds)}"
    return Outcome(slow if earlier.seconds else earlier.status)

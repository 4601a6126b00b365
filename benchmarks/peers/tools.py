"""The tools to compare: other libraries, the bare engine and ours, each with its job file."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements"
FOLDER = HERE.parent / "data" / "peers"
TASKS = ("mean", "frequencies")


@dataclass(frozen=True)
class Tool:
    """A tool, which is one line of the tables.

    Attributes:
        name: name on the page.
        job: file of the job that calls it.
        epsilon: a single ε for everyone, or the name of the budget column.
        python: the interpreter that runs the job.
        requirements: pinned packages of its environment; None for the current environment.
        java: whether it needs Java.
        how: names of the called functions, for the page.
        protects: what is protected as called here: the neighbours, and δ if there is one.
    """

    name: str
    job: Path
    epsilon: float | str = 1.0
    python: Path = Path(sys.executable)
    requirements: Path | None = None
    java: bool = False
    how: str = ""
    protects: str = ""

    @property
    def folder(self) -> Path:
        """The folder of the environment."""
        return self.python.parent.parent


def peer(name: str, key: str, how: str, *, protects: str, java: bool = False) -> Tool:
    """Return a tool with a separate environment."""
    return Tool(
        name=name,
        job=HERE / "jobs" / f"{key}.py",
        python=FOLDER / key / "bin" / "python",
        requirements=REQUIREMENTS / f"{key}.txt",
        java=java,
        how=how,
        protects=protects,
    )


ROW = "a row that is added or removed"
VALUE = "the value of a row; how many rows there are is public"
PEERS = (
    peer(
        "OpenDP",
        "opendp",
        "`make_private_lazyframe` of its Polars plugin over `scan_parquet`, at the scale that its "
        "map gives (the search of `Context` would cost seconds more)",
        protects=f"{ROW}, up to a public number of rows",
    ),
    peer(
        "diffprivlib",
        "diffprivlib",
        "`tools.mean` and `tools.histogram` of NumPy arrays",
        protects=f"mean: {VALUE}; counts: {ROW}",
    ),
    peer(
        "PyDP",
        "pydp",
        "`BoundedMean`, and one `Count` for each category, of lists",
        protects=ROW,
    ),
    peer(
        "PipelineDP",
        "pipelinedp",
        "`DPEngine.aggregate` on `LocalBackend`, with rows declared as people",
        protects=ROW,
    ),
    peer(
        "SmartNoise SQL",
        "smartnoise",
        "`SELECT` from a pandas frame, which it puts into SQLite",
        protects=f"{ROW}, with δ = 10⁻¹²",
    ),
    peer(
        "Tumult Analytics",
        "tumult",
        "`Session.evaluate` on Spark, all cores",
        protects=ROW,
        java=True,
    ),
)
OURS = Tool(
    "epsilons",
    HERE / "jobs" / "epsilons.py",
    how="`ep.mean` and `ep.frequencies`, ε = 1",
    protects=VALUE,
)
PERSONAL = Tool(
    "epsilons, 50 budgets",
    HERE / "jobs" / "epsilons.py",
    epsilon="epsilon",
    how="the same with everyone's own ε, a column of 50 levels",
    protects=f"{VALUE}, and so are budgets",
)
BARE = Tool(
    "Polars",
    HERE / "jobs" / "polars.py",
    how="the bare query that yields the integers",
    protects="nothing",
)
BARE_PERSONAL = Tool(
    "Polars, 50 budgets",
    HERE / "jobs" / "polars.py",
    epsilon="epsilon",
    how="the bare query, grouped by budget too",
    protects="nothing",
)
HOME = (BARE, OURS, BARE_PERSONAL, PERSONAL)

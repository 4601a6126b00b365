"""Other libraries are run, stopped after a time limit, and described.

The tests install nothing and need no network.
"""

from __future__ import annotations

import dataclasses
import os
import re
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.peers import environments, run, tools
from benchmarks.peers.environments import Environment, ensure, kind_of
from benchmarks.peers.run import CATEGORIES, Outcome, in_turns, measure, plausible, truth
from benchmarks.peers.section import Measured, describe, spared
from benchmarks.peers.tools import OURS, PEERS, PERSONAL, Tool
from benchmarks.timing import Ratio

pytestmark = pytest.mark.slow  # only benchmarks use this code

ROWS = 2_000
GOOD = """
PACKAGE = "polars"
print("a tool may print what it likes")

def mean(question):
    print("even a line of JSON: {}")
    import polars as pl
    value = pl.scan_parquet(question.path).select(pl.col("value").clip(*question.bounds).mean())
    return value.collect().item()

def frequencies(question):
    return [20.0] * len(question.categories)
"""
CHILDREN = """
import os, subprocess, sys, time
PACKAGE = "polars"

def mean(question):
    sleep = [sys.executable, "-c", "import time; time.sleep(300)"]
    near = subprocess.Popen(sleep)
    apart = subprocess.Popen(sleep, preexec_fn=lambda: os.setpgid(0, 0))
    with open(__file__ + ".pids", "w") as file:
        file.write(f"{os.getpid()} {near.pid} {apart.pid}")
    time.sleep(300)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("peers") / "people.parquet"
    rng = np.random.default_rng(5)
    words = [CATEGORIES[k % len(CATEGORIES)] for k in range(ROWS)]
    pl.DataFrame({"value": rng.normal(50.0, 20.0, ROWS), "word": words}).write_parquet(file)
    return file


def tool(folder: Path, text: str) -> Tool:
    job = folder / "job.py"
    job.write_text(text, encoding="utf-8")
    return Tool("fake", job)


def alive(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("task", ["mean", "frequencies"])
def test_a_tool_that_answers(tmp_path: Path, path: Path, task: str) -> None:
    outcome = measure(tool(tmp_path, GOOD), task, path)
    assert (outcome.status, outcome.runs, outcome.rows) == ("ok", 3, ROWS)
    assert outcome.seconds is not None
    assert 0.0 < outcome.seconds < 30.0
    assert outcome.import_seconds is not None
    assert outcome.start_seconds == 0.0
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", outcome.version)
    if Path("/proc").exists():
        assert outcome.peak is not None
        assert 10**6 < outcome.peak < 10**10


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("import no_such_package", "failed (ModuleNotFoundError)"),
        ("PACKAGE = 'polars'\ndef mean(q): return 1 / 0", "failed (ZeroDivisionError)"),
        ("PACKAGE = 'polars'\ndef mean(q): raise SystemExit(1)", "failed (SystemExit)"),
        ("PACKAGE = 'polars'\nimport os\ndef mean(q): os._exit(3)", "failed (exit 3)"),
        ("PACKAGE = 'polars'\nimport os\ndef mean(q): os.kill(os.getpid(), 9)", "failed (killed)"),
        ("PACKAGE = 'polars'\ndef mean(q): return 51.5", "failed (implausible)"),
        ("PACKAGE = 'polars'\ndef mean(q): return float('nan')", "failed (implausible)"),
    ],
)
def test_a_tool_that_fails(tmp_path: Path, path: Path, text: str, status: str) -> None:
    outcome = measure(tool(tmp_path, text), "mean", path)
    assert outcome.status == status
    assert outcome.seconds is None
    assert outcome.runs == 0


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked up in /proc")
def test_a_tool_that_is_too_slow_is_stopped_with_its_children(tmp_path: Path, path: Path) -> None:
    begin = time.monotonic()
    outcome = measure(tool(tmp_path, CHILDREN), "mean", path, limit=1.0)
    assert outcome.status == "stopped after 1 s"
    assert outcome.stopped
    assert outcome.seconds is None
    assert time.monotonic() - begin < 15.0
    pids = [int(word) for word in (tmp_path / "job.py.pids").read_text().split()]
    assert len(pids) == 3
    assert not any(alive(process) for process in pids)


@pytest.mark.skipif(not Path("/proc").exists(), reason="memory is looked up in /proc")
def test_a_tool_that_takes_all_memory_is_stopped(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MEMORY", 3e8 / run.all_memory())
    text = GOOD.replace(
        "return [", "import time; held = b'1' * 400_000_000; time.sleep(60); return ["
    )
    begin = time.monotonic()
    outcome = measure(tool(tmp_path, text), "frequencies", path, limit=50.0)
    assert outcome.stopped
    assert outcome.status.startswith("stopped at 0.")
    assert time.monotonic() - begin < 30.0


def test_slow_runs_are_not_repeated(tmp_path: Path, path: Path) -> None:
    text = GOOD.replace("return [", "import time; time.sleep(1.5); return [")
    outcome = measure(tool(tmp_path, text), "frequencies", path, limit=2.8)
    assert (outcome.status, outcome.runs) == ("ok", 1)


def test_a_start_is_told_apart(tmp_path: Path, path: Path) -> None:
    text = GOOD + "\ndef start():\n    import time\n    time.sleep(0.3)\n"
    outcome = measure(tool(tmp_path, text), "frequencies", path)
    assert outcome.start_seconds is not None
    assert outcome.start_seconds >= 0.3


def test_a_tool_that_is_not_there(tmp_path: Path, path: Path) -> None:
    absent = dataclasses.replace(tool(tmp_path, GOOD), python=tmp_path / "bin" / "python")
    outcome = measure(absent, "mean", path)
    assert outcome.status == "not installed"
    assert outcome.seconds is None


def test_two_tools_take_turns(tmp_path: Path, path: Path) -> None:
    good = tool(tmp_path, GOOD)
    (tmp_path / "other").mkdir()
    slow = GOOD.replace("return [", "import time; time.sleep(0.05); return [")
    other = dataclasses.replace(tool(tmp_path / "other", slow), name="slow")
    times = in_turns((good, other), "frequencies", path, turns=3)
    assert times is not None
    assert [len(each) for each in times.values()] == [3, 3]
    assert min(times["slow"]) >= 0.05
    bad = tool(tmp_path / "other", "import no_such_package")
    assert in_turns((good, bad), "frequencies", path) is None


def test_ours_answers_by_the_same_protocol(path: Path) -> None:
    assert measure(OURS, "mean", path).status == "ok"


def test_what_is_plausible(path: Path) -> None:
    (mean,) = truth("mean", path)
    assert plausible("mean", ROWS, [mean + 0.49], (mean,))
    assert not plausible("mean", ROWS, [mean + 0.51], (mean,))
    assert truth("frequencies", path) == (20.0,) * 100
    assert plausible("frequencies", 10**6, [3_020.0] * 100, (20.0,) * 100)
    assert not plausible("frequencies", 10**6, [20.0] * 99 + [3_021.0], (20.0,) * 100)
    assert not plausible("frequencies", 10**6, [20.0] * 99, (20.0,) * 100)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.job.stem)
def test_every_package_is_pinned_by_name_and_version_alone(peer: Tool) -> None:
    assert peer.requirements is not None
    lines = peer.requirements.read_text(encoding="utf-8").splitlines()
    assert lines
    for line in lines:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.]*", line), line
    package = re.findall(r'^PACKAGE = "(.+)"$', peer.job.read_text(encoding="utf-8"), re.M)
    assert package[0] in {line.partition("==")[0] for line in lines}


def test_no_file_of_requirements_is_left_over() -> None:
    assert {file.stem for file in tools.REQUIREMENTS.iterdir()} == {each.job.stem for each in PEERS}


class Installer:
    """A stand-in for venv and pip that records its commands and creates a package."""

    def __init__(self, folder: Path, reason: str = "") -> None:
        self.folder, self.reason, self.commands = folder, reason, list[list[str]]()

    def __call__(self, command: list[str], deadline: float) -> str:
        self.commands.append(command)
        place = environments.packages(self.folder)
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.py").write_bytes(b"x" * 1000)
        return self.reason if "install" in command else ""


def a_peer(folder: Path) -> Tool:
    pinned = folder / "fake.txt"
    pinned.write_text("fake==1.0\n", encoding="utf-8")
    python = folder / "fake" / "bin" / "python"
    return Tool("fake", folder / "job.py", python=python, requirements=pinned)


def test_an_environment_is_made_once(tmp_path: Path) -> None:
    peer, installer = a_peer(tmp_path), Installer(tmp_path / "fake")
    made = ensure(peer, installer)
    assert made.ready
    assert made.size == 1000
    assert made.seconds > 0.0
    assert len(installer.commands) == 2
    assert str(peer.requirements) in installer.commands[1]
    again = ensure(peer, installer)
    assert again == Environment("fake", size=1000)
    assert len(installer.commands) == 2
    assert peer.requirements is not None
    peer.requirements.write_text("fake==1.1\n", encoding="utf-8")
    assert ensure(peer, installer).seconds > 0.0
    assert len(installer.commands) == 4


def test_an_environment_that_fails_is_told_and_taken_away(tmp_path: Path) -> None:
    peer = a_peer(tmp_path)
    failed = ensure(peer, Installer(tmp_path / "fake", "no network"))
    assert failed == Environment("fake", reason="no network")
    assert failed.row() == "fake: not installed (no network)"
    assert not (tmp_path / "fake").exists()
    assert ensure(peer, Installer(tmp_path / "fake")).ready


def test_java_is_looked_for_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    installer = Installer(tmp_path / "fake")
    peer = dataclasses.replace(a_peer(tmp_path), java=True)
    assert ensure(peer, installer).reason == "no Java"
    assert not installer.commands


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("NameResolutionError: x\nERROR: No matching distribution found", "no network"),
        ("ERROR: Could not find a version that satisfies fake==9", "no such version"),
        ("error: metadata-generation-failed", "does not build"),
        ("OSError: [Errno 28] No space left on device", "no space"),
        ("something else, with https://user:secret@host", "pip failed"),
    ],
)
def test_reasons_are_kinds(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def test_the_size_of_ours_counts_the_engine() -> None:
    assert 5e7 < environments.size_of_ours() < 2e9


def outcome(
    name: str,
    task: str,
    rows: int,
    seconds: float | None,
    imported: float = 1.0,
    peak: int = 2 * 10**9,
) -> Outcome:
    return Outcome(
        name,
        task,
        rows,
        status="stopped after 60 s" if seconds is None else "ok",
        seconds=seconds,
        version="1.2",
        import_seconds=imported,
        start_seconds=0.0,
        peak=None if seconds is None else peak,
    )


def measured() -> Measured:
    found = Measured(
        environments={
            "diffprivlib": Environment("diffprivlib", seconds=12.0, size=10**8),
            "PipelineDP": Environment("PipelineDP", size=9 * 10**8),
            "OpenDP": Environment("OpenDP", reason="no network"),
        },
        sizes={"epsilons": 3 * 10**8, "diffprivlib": 10**8, "PipelineDP": 9 * 10**8},
        seconds=(12.0, 34.0),
    )
    for task in ("mean", "frequencies"):
        for each in (
            outcome("epsilons", task, 10**6, 0.1),
            outcome("epsilons, 50 budgets", task, 10**6, 0.2),
            outcome("Polars", task, 10**6, 0.09),
            outcome("Polars, 50 budgets", task, 10**6, 0.18),
            outcome("diffprivlib", task, 10**6, 0.15, imported=0.5, peak=10**9),
            outcome("PipelineDP", task, 10**6, None),
            Outcome("OpenDP", task, 10**6, status="not installed (no network)"),
        ):
            found.outcomes[each.peer, task, 10**6] = each
    found.rivals["mean", 10**6] = "diffprivlib"
    found.duels[OURS.name, "mean", 10**6] = Ratio((0.1,) * 7, (0.15,) * 7)
    found.duels[PERSONAL.name, "mean", 10**6] = Ratio((0.2,) * 7, (0.15,) * 7)
    return found


def test_the_section_says_where_a_peer_wins() -> None:
    page = describe(measured(), quick=True)
    assert (
        "diffprivlib is 1.33 times as fast as epsilons, 50 budgets for the mean of 10⁶ rows "
        "(200 ms against 150 ms)." in page.text
    )
    assert "times as fast as epsilons for" not in page.text
    assert "Faster to import than ours with its engine (1.00 s): diffprivlib (0.50 s)." in page.text
    assert "Installation smaller than ours (300 MB): diffprivlib (100 MB)." in page.text
    assert "Less memory than ours (2 GB) for the mean of 10⁶ rows: diffprivlib (1 GB)." in page.text
    assert any("diffprivlib is 1.33 times" in line for line in page.loses)
    assert "Every peer answers for one ε" in page.text
    assert not page.fast
    found = measured()
    found.outcomes["epsilons", "mean", 10**7] = outcome("epsilons", "mean", 10**7, 0.1)
    assert describe(found, quick=True).fast[0].endswith(": epsilons 100 ms.")


def test_the_section_says_who_did_not_run_and_why() -> None:
    page = describe(measured(), quick=True)
    assert "| PipelineDP | > 60 s |" in page.text
    assert "PipelineDP, the mean of 10⁶ rows: stopped after 60 s." in page.text
    assert "OpenDP: not installed (no network)." in page.text
    assert "| OpenDP | not installed (no network) |" in page.text
    assert "| diffprivlib | 1.2 | mean: the value of a row; how many rows there are is" in page.text
    assert "| Polars | 1.2 | nothing |  |" in page.text
    assert set(page.plots) == {"peers"}
    assert page.plots["peers"].to_dict()


def test_the_section_without_any_win() -> None:
    found = measured()
    del found.duels[PERSONAL.name, "mean", 10**6]
    found.sizes["diffprivlib"] = 10**9
    for key, each in found.outcomes.items():
        found.outcomes[key] = dataclasses.replace(each, import_seconds=1.0, peak=1)
    page = describe(found, quick=True)
    assert "Nowhere in this run." in page.text
    assert not page.loses


def test_ratios_are_held_to_one() -> None:
    page = describe(measured(), quick=True)
    by_name = {each.name: each for each in page.results}
    ours = by_name["mean, 10⁶ rows: epsilons, over the fastest peer (diffprivlib)"]
    assert ours.holds
    assert ours.figure == pytest.approx(2 / 3)
    assert "times as fast as epsilons, 50 budgets" in page.text
    stopped = by_name["frequencies, 10⁶ rows: epsilons, over the fastest peer (stopped)"]
    assert stopped.figure == pytest.approx(0.1 / 60)
    assert stopped.note.endswith("against > 60 s")
    personal = by_name["mean, 10⁶ rows: epsilons, 50 budgets, over the fastest peer (diffprivlib)"]
    assert not personal.holds
    assert personal.note.endswith("Polars, 50 budgets, without privacy: 180 ms")


def test_what_needs_no_run() -> None:
    found = measured()
    by_name = {each.name: each for each in (OURS, *PEERS)}
    absent = spared(found, by_name["OpenDP"], "mean", 10**6, quick=True)
    assert absent is not None
    assert absent.status == "not installed (no network)"
    slow = spared(found, by_name["PipelineDP"], "mean", 10**7, quick=False)
    assert slow is not None
    assert slow.stopped
    assert spared(found, OURS, "mean", 10**7, quick=True) is None
    found.outcomes["diffprivlib", "mean", 10**6] = outcome("diffprivlib", "mean", 10**6, 3.1)
    late = spared(found, by_name["diffprivlib"], "mean", 10**7, quick=True)
    assert late is not None
    assert late.status == "left to the long form"
    assert spared(found, by_name["diffprivlib"], "mean", 10**7, quick=False) is None
    found.outcomes["diffprivlib", "mean", 10**6] = outcome("diffprivlib", "mean", 10**6, 9.0)
    never = spared(found, by_name["diffprivlib"], "mean", 10**7, quick=False)
    assert never is not None
    assert never.status == "not asked: a tenth of the rows took 9000 ms"


def test_jobs_are_for_this_python() -> None:
    assert OURS.python == Path(sys.executable)
    assert os.access(OURS.python, os.X_OK)
    for each in (*PEERS, OURS):
        compile(each.job.read_text(encoding="utf-8"), each.job.name, "exec")

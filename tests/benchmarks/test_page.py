"""The benchmark page: limits, failures, quick and long runs, confidence intervals, sections."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from benchmarks import __main__ as command, bare, data, page, size, speed, timing
from benchmarks.page import Section
from benchmarks.timing import Ratio, Result, order_interval

GOOD = Result("a mean", 1.1, "×", 1.25, True, "11 ms against 10 ms", 1.05, 1.2, 0.94)
BAD = Result("a table", 1.4, "×", 1.25, True, "", 1.2, 1.6, 0.75)
SLOW = Result("noise", 3.0, "× faster", 25, False)


def test_a_limit_is_kept_from_its_side() -> None:
    assert GOOD.holds
    assert not BAD.holds
    assert not SLOW.holds
    assert Result("", 25.0, "", 25, True).holds
    assert Result("", 25.0, "", 25, False).holds
    assert not Result("", math.nan, "", 25, True).holds
    assert not Result("", math.nan, "", 25, False).holds


def test_a_row_shows_figure_interval_limit_and_verdict() -> None:
    assert (
        GOOD.row()
        == "| a mean | 1.1 × | 1.05 – 1.2 (94 %) | ≤ 1.25 × | yes | 11 ms against 10 ms |"
    )
    assert "| **no**, narrowly |" in BAD.row()
    assert "|  | ≥ 25 × faster | **no** |" in SLOW.row()
    heads = page.HEAD.splitlines()[0].count("|")
    assert all(result.row().count("|") == heads for result in (GOOD, BAD, SLOW))


@pytest.mark.parametrize(
    ("k", "confidence", "rank"), [(1, 0.0, 1), (3, 0.75, 1), (5, 0.9375, 1), (9, 1 - 20 / 512, 2)]
)
def test_the_interval_states_what_it_keeps(k: int, confidence: float, rank: int) -> None:
    low, high, kept = order_interval(list(range(k)))
    assert (low, high) == (rank - 1, k - rank)
    assert kept == pytest.approx(confidence)


@pytest.mark.parametrize("k", range(1, 13))
def test_the_confidence_is_that_of_all_coins(k: int) -> None:
    # Each value is above or below the median with probability ½. Count the sign patterns for which
    # the interval contains the median.
    low, high, kept = order_interval(list(range(k)))
    held = 0
    for signs in itertools.product((-1, 1), repeat=k):
        ordered = sorted(signs)
        held += ordered[int(low)] < 0 < ordered[int(high)]
    assert kept == pytest.approx(held / 2**k)
    assert kept >= 0.9 or (low, high) == (0, k - 1)


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=30))
def test_the_interval_holds_the_figure(pairs: list[float]) -> None:
    ratio = Ratio(tuple(pairs), (1.0,) * len(pairs))
    low, high, kept = ratio.interval
    assert low <= ratio.figure <= high
    assert 0.0 <= kept <= 1.0
    line = ratio.result("x", 2.0)
    assert (line.figure, line.low, line.high) == (ratio.figure, low, high)


def test_ratios_are_of_pairs_and_not_of_medians() -> None:
    # If the machine slows down during the run, both times of a pair are longer.
    ratio = Ratio((2.0, 20.0, 2.2), (1.0, 10.0, 2.0))
    assert ratio.figure == 2.0
    assert ratio.faster("x", 0.1).figure == pytest.approx(0.5)


def test_works_take_turns() -> None:
    order: list[str] = []
    found = timing.alternate(lambda: order.append("a"), lambda: order.append("b"), runs=3)
    assert "".join(order) == "ab" + "ab" + "ba" + "ab"
    assert len(found.ours) == len(found.other) == 3


def sections() -> list[Section]:
    return [
        Section("Speed", "Words.", (GOOD, BAD), {"speed": None}, ("A peer wins somewhere.",)),
        Section("Peers", "", broken="RuntimeError: no Java"),
    ]


def test_the_page_begins_with_what_readers_ask_and_ends_with_limits() -> None:
    asked = [*sections(), Section("More", "", fast=("Quick.",), accurate=("Close.",))]
    text = str(page.Page.of(asked, stamp="*Measured.*", about="A machine."))
    head, rest = text.split("## Speed")
    assert (
        "## How fast is it?\n\n- Quick. ([More](#more))\n\n## How accurate is it?\n\n- Close. "
        "([More](#more))\n\n## Where does it lose?\n\n- A peer wins somewhere. ([Speed](#speed))"
        "\n\n1 of 2 limits hold." in head
    )
    limits = rest.split("## Limits")[1]
    assert "1 of 2 limits hold." in limits
    assert "**Does not hold.** Speed: a table: 1.4 ×, which must be at most 1.25" in limits
    assert "**Does not hold.** Peers: stopped by RuntimeError: no Java" in limits
    assert "limits: a table." in limits
    assert "A machine." in head
    assert text.count("*Measured.*") == 3
    assert GOOD.row() in rest
    assert "![speed](plots/speed.svg)" in rest
    assert "**Stopped by RuntimeError: no Java: not measured.**" in rest


@pytest.mark.parametrize(
    ("printed", "written"),
    [
        (f"{1e7:.0e} rows", "10⁷ rows"),
        (f"{2.25e-6:.3g} ± {2e-8:.1g}", "2.25·10⁻⁶ ± 2·10⁻⁸"),
        (f"({-4.2e19:.2g})", "(-4.2·10¹⁹)"),
        ("commit 1e+07x, a1e+07, 0x1e-3, 12 MB", "commit 1e+07x, a1e+07, 0x1e-3, 12 MB"),
    ],
)
def test_powers_of_ten_are_written_as_people_write_them(printed: str, written: str) -> None:
    assert page.powers(printed) == written


def test_a_section_says_when_and_in_which_form_it_was_measured() -> None:
    quick, full = (page.measured_now(quick=quick, load=1.25) for quick in (True, False))
    assert re.fullmatch(
        r"\*Measured on \d{4}-\d\d-\d\d with epsilons \S+( \(commit \S+\))?, in the quick form; "
        r"load at the start: 1\.2\.\*",
        quick,
    )
    assert full == quick.replace("quick", "long")


def test_a_page_is_read_as_it_was_written() -> None:
    text = str(page.Page.of(sections(), stamp="*Then.*", about="A machine.\n\nPython."))
    assert str(page.Page.read(text)) == text


def test_a_section_that_was_measured_again_takes_the_place_of_the_former_one() -> None:
    old = page.Page.of(sections(), stamp="*Then.*", about="A machine.")
    again = Section("Speed", "Other words.", (GOOD,), fast=("Quick.",))
    new = page.Page.of([again, Section("New", "")], stamp="*Now.*", about="A machine.")
    text = str(old.updated(new))
    assert re.findall("^## (.*)$", text, re.M) == [
        *("How fast is it?", "Speed", "Peers", "New", "Limits")
    ]
    assert "## Speed\n\n*Now.*\n\nOther words." in text
    assert "## Peers\n\n*Then.*" in text
    assert "A peer wins somewhere" not in text
    assert text.count("1 of 1 limits hold.") == 2
    with pytest.raises(ValueError, match="another machine"):
        old.updated(page.Page.of([again], stamp="", about="Another."))


def test_every_section_of_the_page_says_when_it_was_measured() -> None:
    text = (Path(page.__file__).parent / "RESULTS.md").read_text("utf-8")
    found = page.Page.read(text)
    assert str(found) == text, "the page is what the script writes"
    stamp = r"\*Measured on \d{4}-\d\d-\d\d with epsilons \S+ \(commit [^)]+\), in the \w+ form; "
    assert [title for title, body in found.sections.items() if not re.match(stamp, body)] == []
    assert "-dirty" not in text


def test_plots_of_earlier_runs_are_removed(tmp_path: Path) -> None:
    alt = pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    (tmp_path / "old.svg").write_text("old")
    chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    (tmp_path / "kept.svg").write_text("of another section")
    text = "![new](plots/new.svg) ![kept](plots/kept.svg)"
    page.save_plots([Section("", "", plots={"new": chart})], tmp_path, page=text)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.svg", "new.svg"]
    assert "<svg" in (tmp_path / "new.svg").read_text(encoding="utf-8")


def test_machine_and_versions_are_told() -> None:
    assert "cores" in page.machine()
    assert "numpy 2" in page.versions(["numpy", "no-such-package"])
    if (Path(page.__file__).parents[1] / ".git").exists():
        stamp = page.measured_now(quick=True, load=0.0)
        assert re.search(r"epsilons \S+ \(commit [0-9a-f]{12}", stamp)
    assert "no-such-package not installed" in page.versions(["no-such-package"])


@pytest.fixture
def two_sections(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    def stopped(quick: bool) -> Section:
        raise RuntimeError("no Java\nand more")

    def good(quick: bool) -> Section:
        return Section("Good", f"quick: {quick}", (GOOD,))

    monkeypatch.setattr(command, "SECTIONS", {"good": good, "stopped": stopped})
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    return tmp_path


def test_some_sections_leave_the_page_alone(two_sections: Path, capsys: Any) -> None:
    assert command.main(["--only", "good"]) == 0
    printed = capsys.readouterr()
    assert "quick: True" in printed.out
    assert "[1/1] good" in printed.err
    assert not list(two_sections.iterdir())


def test_what_fails_is_last_and_in_the_exit_code(two_sections: Path, capsys: Any) -> None:
    assert command.main(["--full"]) == 1
    printed = capsys.readouterr()
    last = "DOES NOT HOLD  Stopped: stopped by RuntimeError: no Java"
    assert printed.out.splitlines()[-1] == last
    assert printed.out.count(GOOD.row()) == 1
    text = (two_sections / "RESULTS.md").read_text(encoding="utf-8")
    assert "quick: False" in text
    assert "in the long form" in text
    assert command.main(["--only", "good", "--write"]) == 0
    text = (two_sections / "RESULTS.md").read_text(encoding="utf-8")
    assert "quick: True" in text
    assert "in the quick form" in text
    assert "in the long form" in text, "the other section stays"
    assert command.main(["--only", "stopped", "--write"]) == 1
    assert (two_sections / "RESULTS.md").read_text(encoding="utf-8") == text


def test_a_limit_that_does_not_hold_is_a_result_and_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def slow(quick: bool) -> Section:
        return Section("Slow", "", (SLOW,))

    monkeypatch.setattr(command, "SECTIONS", {"slow": slow})
    assert command.main(["--only", "slow"]) == 0
    assert "DOES NOT HOLD  Slow:" in capsys.readouterr().out


def test_an_unknown_section_is_refused(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        command.main(["--only", "speeed"])
    assert "speeed" in capsys.readouterr().err


def test_the_closure_is_of_what_is_needed() -> None:
    needs = {
        "a": ["B_b>=1", "c; extra == 'more'", "d; python_version < '3'"],
        "B_b": ["e[fast]"],
        "e": ["a", "f; extra == 'fast'", "g; extra == 'slow'"],
    }
    assert size.closure("a", needs.get) == {"a", "b-b", "e", "f"}


def test_installed_bytes_are_those_of_files() -> None:
    assert size.installed_bytes("numpy") > 10e6
    folder = Path(str(page.__file__)).parents[1] / "src" / "epsilons"
    assert size.installed_bytes("epsilons") >= (folder / "__init__.py").stat().st_size


@pytest.fixture
def few_people(tmp_path: Path) -> Path:
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(5)
    path = tmp_path / "people.parquet"
    columns = {
        "value": rng.normal(50.0, 40.0, 500),
        "epsilon": data.MENU[rng.integers(0, 50, 500)],
        "own": data.OWN[rng.integers(0, 100_000, 500)],
        "word": [data.WORDS[k] for k in rng.integers(0, 100, 500)],
    }
    pl.DataFrame(columns).write_parquet(path)
    return path


@pytest.mark.parametrize("work", [speed.MEAN, speed.OWN_MEAN, speed.TABLE, speed.OWN_TABLE])
def test_bare_queries_have_the_same_integers(few_people: Path, work: speed.Work) -> None:
    for engine in itertools.islice(speed.engines(), 2):
        speed.same(engine, work, few_people)


def test_a_bare_query_with_other_integers_is_not_timed(few_people: Path) -> None:
    engine = next(speed.engines())
    unclipped = replace(engine, mean=lambda path, _: bare.polars_mean(path, "own"))
    with pytest.raises(AssertionError, match="other integers"):
        speed.same(unclipped, speed.MEAN, few_people)


@pytest.mark.parametrize("engine", ["Polars", "PySpark"])
@pytest.mark.parametrize("quick", [True, False])
def test_the_largest_size_is_in_both_forms(engine: str, quick: bool) -> None:
    planned = list(speed.plan(engine, quick=quick))
    asked = {(size, work) for size, work, _ in planned}
    assert (speed.TARGET, speed.MEAN) in asked
    assert (speed.TARGET, speed.TABLE) in asked or (quick and engine == "PySpark")
    # The long form has enough runs for intervals of the nominal confidence.
    assert quick or all(order_interval(list(range(runs)))[2] >= 0.9 for _, _, runs in planned)

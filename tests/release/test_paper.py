"""Every result can be converted to a frame, a LaTeX table and a Markdown table, and to files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import FileError
from epsilons.results.report.sheet import Sheet, SheetTable
from epsilons.results.report.tables import as_latex, as_markdown
from epsilons.results.report.text import first_tables

FIRST = ["name", "value", "low", "high"]
NASTY = r"50 % & $x_1$ #{~^\} [a] * | `<b>` -3 … ε"
FRAME = pl.DataFrame(
    {
        "x": np.random.default_rng(1).uniform(0.0, 10.0, 400),
        "y": np.random.default_rng(2).uniform(0.0, 1.0, 400),
        "word": ["a", "b", "b", "b"] * 100,
        "name": ["m", "f"] * 200,
        "who": list(range(400)),
        "e": [0.5, 1.0] * 200,
    }
)
TERMS: dict[str, Any] = {"epsilon": "e", "data": FRAME}
WORDS: dict[str, Any] = {"values": "word", "categories": ["a", "b"]}
PEOPLE = ep.Budgets({0.1: 900, 1.0: 500})


def every(folder: Path) -> dict[str, Any]:
    """Return a result of every kind."""
    with ep.Ledger.create(folder / "ledger.db") as ledger:
        ledger.enrol(FRAME, person="who", epsilon="e")
        claim = ledger.claim("june", at_most=0.2)
        ep.mean("x", bounds=(0, 10), data=FRAME, person="who", ledger=claim)
        kept = {"account": ledger.account(3), "status": ledger.status()}
        kept["series"] = ledger.plan([ep.Mean("x", bounds=(0, 10))] * 2)
    shares = ep.frequencies(**WORDS, **TERMS)
    groups = ep.mean("x", bounds=(0, 10), by="word", groups=["a", "b"], **TERMS)
    table = ep.frequencies(("word", "name"), categories=(["a", "b"], ["m", "f"]), **TERMS)
    vectors = ep.local.Vector(2)
    sent = vectors.randomize_many(np.zeros((50, 2)), np.ones(50), ep.Seeded(1))
    return {
        **kept,
        "mean": ep.mean("x", bounds=(0, 10), **TERMS),
        "shares": shares,
        "bins": ep.frequencies("x", edges=[0, 5, 10], **TERMS),
        "groups": groups,
        "groups by name": ep.mean("x", bounds=(0, 10), by="name", groups=["m", "f"], **TERMS),
        "table": table,
        "within": table.within("word"),
        "marginal": table.marginal("name"),
        "quantiles": ep.quantile("x", q=[0.25, 0.5], bounds=(0, 10), **TERMS),
        "variance": ep.variance("x", bounds=(0, 10), **TERMS),
        "covariance": ep.covariance("x", "y", x_bounds=(0, 10), y_bounds=(0, 1), **TERMS),
        "total": ep.total("x", bounds=(0, 10), **TERMS),
        "count": ep.count(neighbours="add-remove", levels=[0.5, 1.0], **TERMS),
        "vector": vectors.estimate(sent),
        "several": ep.publish([ep.Mean("x", bounds=(0, 10)), ep.Frequencies(**WORDS)], **TERMS),
        "differences": groups.differences(),
        "compared": ep.compare(shares, shares),
        "plan": ep.plan(PEOPLE),
        "plan of several": ep.plan([ep.Mean("x", bounds=(0, 9))], epsilon=PEOPLE),
        "plan of groups": ep.plan(PEOPLE, groups=3, related=False),
        "plan of a range": ep.plan(PEOPLE, bounds=None),
        "local plan": ep.plan(PEOPLE, model="local", about="population", related=False),
        "menus": ep.compare_menus([{0.1: 0.5, 1: 0.5}, {0.5: 1.0}], people=1000),
    }


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return every(tmp_path_factory.mktemp("paper"))


def test_every_frame_has_one_shape(results: dict[str, Any]) -> None:
    for kind, result in results.items():
        frame = result.to_frame()
        assert frame.columns[:4] == FIRST, kind
        assert frame["name"].dtype == pl.String, kind
        assert all(each for each in frame["name"].to_list()), kind
        numbers = {frame[name].dtype for name in FIRST[1:]}
        assert numbers <= {pl.Float64, pl.Int64}, kind
        known = frame.filter(pl.col("low").cast(float).is_not_nan())
        assert known.filter(~pl.col("value").is_between("low", "high")).height == 0, kind
    whole = pl.concat(
        [
            each.to_frame().select(FIRST).cast(dict.fromkeys(FIRST[1:], float))
            for each in results.values()
        ]
    )
    assert whole.height > 60


def test_a_column_of_a_user_does_not_hide_another(results: dict[str, Any]) -> None:
    frame = results["groups by name"].to_frame()
    assert frame["name"].to_list() == frame["name (2)"].to_list() == ["m", "f"]
    told = results["table"].to_frame()
    assert told["name"].to_list()[0] == "a, m"
    assert told["name (2)"].to_list() == ["m", "f", "m", "f"]


def test_every_result_is_a_table_for_a_paper(results: dict[str, Any]) -> None:
    for kind, result in results.items():
        tables = first_tables(result.sheet())
        height = sum(len(each.rows) for each in tables) or 1
        many = len(tables) or 1
        latex, markdown = result.to_latex(), result.to_markdown()
        assert latex.count(r"\begin{tabular}") == latex.count(r"\bottomrule") == many, kind
        seeded = latex.count("NOT PRIVATE")
        assert latex.count(r" \\") == height + many + seeded, kind
        assert markdown.count("\n| --- |") == many, kind
        assert markdown.count("\n|") + markdown.startswith("|") == height + 2 * many, kind
        assert not result.sheet().simulated or ("NOT PRIVATE" in markdown and seeded), kind


def test_a_single_number_is_a_row() -> None:
    given: dict[str, Any] = {"bounds": (0, 10), "unit": "hours", "title": "Sleep & rest"}
    release = ep.mean("x", epsilon="e", data=FRAME, **given)
    low, high = release.interval()
    shown = [f"{each:.3f}" for each in (release.value, low, high)]
    assert release.to_markdown().splitlines() == [
        "|  | mean (hours) | from (95 %) | to |",
        "| --- | ---: | ---: | ---: |",
        rf"| Sleep \& rest | {' | '.join(shown)} |",
    ]
    assert release.to_latex().splitlines()[-3] == rf"Sleep \& rest & {' & '.join(shown)} \\"
    nothing = ep.mean("x", bounds=(0, 10), epsilon=0.001, data=FRAME, source=ep.Seeded(0))
    assert "| – |" in nothing.to_markdown()
    assert " & -- & " in nothing.to_latex()


def _sheet(*rows: tuple[str, ...]) -> Sheet:
    return Sheet("A & B", ((SheetTable("rows", ("", "x"), rows),),))


def test_latex_is_escaped() -> None:
    text = as_latex(_sheet((NASTY, "-1.5"), ("[b]", "2026-01-31"), ("* c", "a\nb"), ("\x00", "-∞")))
    rows = text.splitlines()[5:9]
    assert rows[0] == (
        r"50 \% \& \$x\_1\$ \#\{\textasciitilde{}\textasciicircum{}\textbackslash{}\} [a] * "
        r"\textbar{} `\textless{}b\textgreater{}` $-$3 \dots{} $\varepsilon$ & $-$1.5 \\"
    )
    assert rows[1] == r"{}[b] & 2026-01-31 \\"
    assert rows[2] == r"{}* c & a b \\"
    assert rows[3] == r"� & $-$$\infty$ \\"
    left = re.sub(r"\\[&%$#_{}]", "", rows[0])
    assert left.count("&") == 1


def test_markdown_is_escaped() -> None:
    text = as_markdown(_sheet((NASTY, "-1.5"), ("a\nb", "2")))
    first, second = text.splitlines()[2:]
    assert first == (r"| 50 % \& \$x\_1\$ \#\{\~^\\\} \[a\] \* \| \`\<b\>\` -3 … ε | -1.5 |")
    assert second == "| a b | 2 |"


def test_the_extension_decides(results: dict[str, Any], tmp_path: Path) -> None:
    release = results["shares"]
    starts = {
        "a.tex": b"% Shares",
        "a.TEX": b"% Shares",
        "a.md": b"| category",
        "a.pdf": b"%PDF-",
        "a.svg": b"<svg",
        "a.png": b"\x89PNG",
        "a.html": b"<!DOCTYPE html>",
        "a": b"<!DOCTYPE html>",
    }
    for name, start in starts.items():
        assert release.report(tmp_path / name).read_bytes().startswith(start), name
    assert release.figure(tmp_path / "b.pdf").read_bytes().startswith(b"%PDF-")
    for wrong in ("b.tex", "b.html", "b"):
        with pytest.raises(FileError, match=r"\.svg, \.png or \.pdf"):
            release.figure(tmp_path / wrong)
    account = results["account"]
    assert account.report(tmp_path / "a.md").read_text("utf-8").startswith("| when")
    with pytest.raises(FileError, match="no picture"):
        account.report(tmp_path / "c.pdf")
    assert not (tmp_path / "c.pdf").exists()

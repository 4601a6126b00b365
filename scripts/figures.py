"""Write the figures of the benchmarks into the pages that quote them.

A page marks the place with `<!-- figures: peers -->` and `<!-- end of figures -->`. This
command rewrites the text between the two marks from benchmarks/RESULTS.md, and states the day of
the measurement and the measured version:

python scripts/figures.py
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

__all__ = ["BLOCKS", "main", "rewritten"]

ROOT = Path(__file__).resolve().parents[1]
PLACE = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.S)
ROWS = "10⁷ rows"


def section(results: str, title: str) -> str:
    """Return the text of a section of the results."""
    return results.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def table(text: str, corner: str) -> list[dict[str, str]]:
    """Return the first table whose first column has this head, as one dictionary per row."""
    lines = text[text.index(f"\n| {corner} |") + 1 :].split("\n\n", 1)[0].splitlines()
    heads, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [dict(zip(heads, row, strict=True)) for row in rows]


def measured(results: str, title: str) -> str:
    """Return when, where and with which version a section was measured, as its stamp says."""
    [machine] = re.findall(r"^(.*?, \d+ cores),.*\.$", results, re.M)
    stamp = r"^\*(Measured on \S+ with epsilons .*?), in the (quick|long) form;"
    [(said, form)] = re.findall(stamp, section(results, title), re.M)
    return f"{said}, in the {form} form, on {machine}"


def peers(results: str) -> str:
    """Return the time and memory of each tool, what it protects, and where others win."""
    title = "Peers: time, memory, import and size"
    text = section(results, title)
    about = {row["tool"]: row for row in table(text, "tool")}
    lines = ["| tool | time | most memory | protects |", "| --- | --- | --- | --- |"]
    for row in table(text, "mean"):
        tool, took = row["mean"], row[ROWS]
        if not tool.startswith("Polars"):
            time, _, memory = took.partition(", ")
            name = tool if tool.startswith("epsilons") else f"{tool} {about[tool]['version']}"
            lines.append(f"| {name} | {time} | {memory} | {about[tool]['protects']} |")
    said = (
        f"{measured(results, title)}: the mean of {ROWS} of a Parquet file, each tool in an "
        "environment of its own, at one ε for everyone unless the name says otherwise."
    )
    lost = section(results, "Where does it lose?").strip().split("\n\n")[0]
    # Links within RESULTS.md would not work on another page.
    wins = re.sub(r" \(\[[^]]+\]\(#[^)]*\)\)$", "", lost, flags=re.M)
    return "\n\n".join([said, "\n".join(lines), "Where others win:", wins])


def memory(results: str) -> str:
    """Return the peak memory of releases of the largest table."""
    text = section(results, "Growth")
    found = [
        (name, row["100,000,000"])
        for name, after in re.findall(r"\*\*(`ep\.\w+` o[^*]*)\*\*(.*?)(?=\n\*\*|\Z)", text, re.S)
        if "| 100,000,000 |" in after
        for row in table(after, "rows")
        if row["rows"] == "peak"
    ]
    most = max(found, key=lambda each: float(each[1].split()[0]))[1]
    return (
        f"{measured(results, 'Growth')}: 10⁸ rows took at most {most} above the imports, pages of "
        f"the file included ({'; '.join(f'{name}: {peak}' for name, peak in found)})."
    )


def ledger(results: str) -> str:
    """Return the times and the memory of a ledger."""
    mean, *_, held = table(section(results, "Ledger"), "what")
    charged, _, bare, enrolled = re.findall(r"[\d.]+(?= s)", mean["times"])
    return (
        f"{measured(results, 'Ledger')}, with SQLite: a million people are enrolled in {enrolled} "
        f"s and pay for a mean in {charged} s. Bare statements that look them up and charge them "
        f"take {bare} s. Ten million people take {held['measured']}."
    )


BLOCKS: dict[str, Callable[[str], str]] = {"peers": peers, "memory": memory, "ledger": ledger}
"""Functions that write the text between marks, by the name in the mark."""


def rewritten(page: str, results: str) -> str:
    """Return a page in which the text between marks is rewritten from these results.

    Raises:
        KeyError: a mark has a name that is not in `BLOCKS`.
    """

    def block(found: re.Match[str]) -> str:
        return f"{found[1]}\n{BLOCKS[found[2]](results)}\n\n{found[3]}"

    return PLACE.sub(block, page)


def main(root: Path = ROOT) -> int:
    """Rewrite all pages in docs/."""
    results = (root / "benchmarks/RESULTS.md").read_text("utf-8")
    for path in sorted((root / "docs").glob("*.md")):
        page = path.read_text("utf-8")
        path.write_text(rewritten(page, results), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

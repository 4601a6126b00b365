"""Parts of self-contained HTML pages: no external resources, no scripts, for phones and paper.

    whole("Title", [section("Heading", [paragraph("…"), table(heads, rows), figure(svg, "")])])

All text is escaped here, and only here. `epsilons.results.report.charts` draws the figures.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NewType

from epsilons.errors import ArgumentError
from epsilons.results.report.numbers import legible, to_json

_LARGEST = 150_000
"""If the embedded data have more characters than this, long lists are shortened."""

_LONGEST = 100
"""The number of entries in a shortened list."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The content security policy: browsers load and run nothing, for any page contents."""

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: #fff; color: #1b1f24;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0 .75rem; color: #1f4e79; }
h2 { font-size: 1.15rem; line-height: 1.3; margin: 2rem 0 .5rem; padding-top: .75rem;
  border-top: 1px solid #d0d7de; color: #1f4e79; }
p { margin: .5rem 0; max-width: 42rem; }
p.headline { font-size: 1.15rem; }
p.byline { color: #57606a; font-size: .9rem; margin: -.35rem 0 1rem; }
p.advice, p.warning { padding: .75rem 1rem; border-left: 4px solid #1f4e79; background: #eef4fa; }
p.warning { border-color: #b3261e; background: #fdeceb; font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem .75rem; margin: .75rem 0;
  max-width: 42rem; }
dt { color: #57606a; overflow-wrap: normal; max-width: 9rem; } dd { margin: 0; }
div.wide { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .875rem; overflow-wrap: normal; }
caption { text-align: left; color: #57606a; padding-bottom: .25rem; }
th, td { padding: .3rem .4rem; text-align: right; vertical-align: top; unicode-bidi: isolate;
  border-bottom: 1px solid #d8dee4; font-variant-numeric: tabular-nums; }
thead th { border-bottom: 2px solid #57606a; vertical-align: bottom; }
td { white-space: nowrap; }
th:first-child { text-align: left; padding-left: .25rem; }
tbody th { font-weight: 400; overflow-wrap: anywhere; min-width: 6.75rem; }
td.words { text-align: left; white-space: normal; min-width: 10rem; }
tr.marked th, tr.marked td { font-weight: 600; background: #eef4fa; }
div.grid { display: grid; gap: 0 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); }
figure { margin: .75rem 0; }
figure svg { display: block; width: 100%; max-width: 30rem; height: auto; }
figcaption { color: #57606a; font-size: .9rem; margin-top: .25rem; max-width: 42rem; }
ul { padding-left: 1.2rem; margin: .5rem 0; } li { margin: .35rem 0; }
a { color: #1f4e79; }
footer { margin-top: 2.5rem; padding-top: .75rem; border-top: 1px solid #d0d7de; color: #57606a;
  font-size: .85rem; }
@media (max-width: 26rem) {
  table { font-size: .8125rem; } th, td { padding: .3rem .25rem; } tbody th { min-width: 5.9rem; }
  td { white-space: normal; }
}
@page { margin: 16mm 15mm; }
@media print {
  main { max-width: none; padding: 0; } body { font-size: 10.5pt; }
  h1 { font-size: 17pt; } h2 { font-size: 12.5pt; margin-top: 1.1rem; }
  div.wide { overflow: visible; } td { white-space: normal; }
  thead { display: table-header-group; }
  figure svg { max-width: 12.5cm; }
  p.advice, p.warning, tr.marked th, tr.marked td {
    -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  figure, tr, p.advice, p.warning, dl { break-inside: avoid; } h2, thead { break-after: avoid; }
  p { orphans: 3; widows: 3; }
}
"""


Html = NewType("Html", str)
"""A part of a page, with all text escaped."""


def paragraph(text: str, kind: str = "") -> Html:
    """A paragraph.

    Args:
        text: the text.
        kind: the style: "headline", "byline", "advice" or "warning"; "" for plain text.
    """
    style = f' class="{_escaped(kind)}"' if kind else ""
    return Html(f"<p{style}>{_escaped(text)}</p>")


def fact_list(rows: Iterable[tuple[str, str]]) -> Html:
    """A list of short facts, from pairs of a name and a fact."""
    pairs = (f"<dt>{_escaped(name)}</dt><dd>{_escaped(fact)}</dd>" for name, fact in rows)
    return Html(f"<dl>{''.join(pairs)}</dl>")


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
    marked: int | None = None,
) -> Html:
    """A table that scrolls separately if the screen is too narrow.

    Args:
        heads: the names of the columns.
        rows: the cells; the first cell of each row is its name.
        caption: a description of the contents.
        marked: the index of the highlighted row; None if there is none.
    """
    head = "".join(f'<th scope="col">{_escaped(each)}</th>' for each in heads)
    body = []
    for k, (name, *cells) in enumerate(rows):
        row = '<tr class="marked">' if k == marked else "<tr>"
        rest = "".join(f"<td>{_escaped(each)}</td>" for each in cells)
        body.append(f'{row}<th scope="row">{_escaped(name)}</th>{rest}</tr>')
    above = f"<caption>{_escaped(caption)}</caption>" if caption else ""
    # A scrolling region must be reachable by keyboard, which requires a name.
    label = _escaped(caption or ", ".join(heads))
    return Html(
        f'<div class="wide" role="region" tabindex="0" aria-label="{label}">'
        f"<table>{above}<thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def figure(svg: str, label: str, caption: str = "") -> Html:
    """A plot, with the drawing inline.

    Args:
        svg: the result of `epsilons.results.report.charts.svg`; it is inserted unescaped.
        label: a description for screen readers.
        caption: the text below it.
    """
    drawing = svg.replace("<svg ", f'<svg role="img" aria-label="{_escaped(label)}" ', 1)
    below = f"<figcaption>{_escaped(caption)}</figcaption>" if caption else ""
    return Html(f"<figure>{drawing}{below}</figure>")


def links(rows: Sequence[tuple[str, str, str]]) -> Html:
    """Links to files in the folder of the page, for an index of several pages or artefacts.

    Args:
        rows: for each link its text, the relative path of the file, and a note or "".

    Raises:
        ArgumentError: a path is absolute, or a URL.
    """
    for _, path, _ in rows:
        if not re.fullmatch(r"[\w.-][\w./ -]*(#[\w.-]+)?|#[\w.-]+", path):
            raise ArgumentError(
                f"rows: {path!r} is not a relative path: a page stands alone, and links "
                "only to files next to it. Use letters, digits, '/', '.', '-', '_' and spaces."
            )
    each = (
        f'<li><a href="{_escaped(path)}">{_escaped(words)}</a>'
        f"{' — ' + _escaped(note) if note else ''}</li>"
        for words, path, note in rows
    )
    return Html(f"<ul>{''.join(each)}</ul>")


def section(heading: str, parts: Iterable[Html], anchor: str = "") -> Html:
    """A section with a heading.

    Args:
        heading: the heading.
        parts: the contents.
        anchor: an id for links to it, or "".
    """
    own = f' id="{_escaped(anchor)}"' if anchor else ""
    body = "\n".join(parts)
    return Html(f"<section{own}><h2>{_escaped(heading)}</h2>\n{body}</section>")


def grid(parts: Iterable[Html]) -> Html:
    """Parts in a grid, with as many columns as fit on the screen."""
    return Html(f'<div class="grid">{"".join(parts)}</div>')


def whole(title: str, parts: Iterable[Html], *, byline: str = "", data: Any = None) -> str:
    """A complete, self-contained HTML page.

    Args:
        title: the title of the page.
        parts: the contents, from top to bottom.
        byline: a small line below the title, with the column, the date and the version; or "".
        data: plain data to embed for programs, as JSON in the element with the id "data". If the
            page would become too large, long lists are shortened, and "shortened" names them.

    Returns:
        The text of the page.
    """
    first = [paragraph(byline, "byline")] if byline else []
    body = "\n".join([*first, *parts])
    foot = "This page stands alone: it loads nothing and runs nothing."
    embedded = ""
    if data is not None:
        foot += " It also contains its numbers as JSON, for programs to read."
        embedded = f'<script type="application/json" id="data">{_json(data)}</script>\n'
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="generator" content="epsilons">\n<link rel="icon" href="data:,">\n'
        f"<title>{_escaped(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{_escaped(title)}</h1>\n{body}\n<footer><p>Made with epsilons. {foot}</p></footer>\n"
        f"</main>\n{embedded}</body>\n</html>\n"
    )


def _escaped(text: str) -> str:
    return html.escape(legible(text))


def _json(data: Any) -> str:
    """Convert data to JSON that contains no HTML markup."""
    plain = json.loads(to_json(data))
    text = _compact(plain)
    if len(text) > _LARGEST:
        cut: dict[str, int] = {}
        plain = _cut(plain, "", cut)
        text = _compact({"shortened": cut, **plain} if isinstance(plain, dict) else plain)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _compact(plain: Any) -> str:
    # ASCII only: a lone surrogate cannot be encoded as UTF-8.
    return json.dumps(plain, separators=(",", ":"), ensure_ascii=True)


def _cut(plain: Any, place: str, cut: dict[str, int]) -> Any:
    """Shorten long lists in the data; add the path and the full length of each to `cut`."""
    if isinstance(plain, dict):
        return {key: _cut(value, f"{place}/{key}", cut) for key, value in plain.items()}
    if isinstance(plain, list):
        if len(plain) > _LONGEST:
            cut[place] = len(plain)
        return [_cut(value, f"{place}/{k}", cut) for k, value in enumerate(plain[:_LONGEST])]
    return plain

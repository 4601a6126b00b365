"""A mean of vectors, in every form."""

from __future__ import annotations

import re

import pytest

from epsilons import report
from tests.report.page_samples import data, pages


def test_coordinates_are_printed_with_their_intervals_and_the_rest_is_counted() -> None:
    each = data()["vector"]
    text = report.text(each)
    assert text.startswith("NOT PRIVATE: drawn from a seed, for simulation only.\n\n")
    rows = re.findall(r"^  (\d+) +(\S+) +(\S+) +(\S+)$", text, re.M)[:10]
    assert [row[0] for row in rows] == [str(k) for k in range(10)]
    for k, row in enumerate(rows):
        numbers = [each["value"][k], each["interval"][0][k], each["interval"][1][k]]
        assert [float(cell) for cell in row[1:]] == pytest.approx(numbers, abs=0.001)
    assert "… and 40 more: value and interval() have them all" in text
    assert "3,000 people, 50 coordinates, vectors of length up to 1, method" in text
    assert "within 0.4 (ℓ2) of the raw mean with probability 95 %" in text


def test_a_radius_as_wide_as_the_ball_tells_nothing() -> None:
    words = "That is the whole ball: with these budgets it says nothing."
    assert words in report.text(data()["vector"] | {"radius": 2.0})
    assert words not in report.text(data()["vector"] | {"radius": 1.99})


def test_a_notebook_shows_the_text_as_it_is() -> None:
    each = data()["vector"] | {"method": "a < b"}
    shown = report.html(each)
    assert shown.startswith("<pre>NOT PRIVATE")
    assert shown.endswith("</pre>")
    assert "a &lt; b" in shown


def test_a_plot_has_a_point_and_a_line_for_each_coordinate() -> None:
    each = data()["vector"]
    chart = report.plot(each).to_dict()
    assert (
        chart["title"]
        == "NOT PRIVATE (seeded): mean vector of 3,000 people, the first 40 of 50 coordinates"
    )
    line, point = chart["layer"]
    assert line["encoding"]["x2"]["field"] == "high"
    assert point["encoding"]["x"]["field"] == "value"
    private = report.plot(each | {"private": True}).to_dict()
    assert private["title"].startswith("mean vector of 3,000 people")


def test_a_page_has_them_in_a_table() -> None:
    each = data()["vector"]
    first = pages()["vector"].split("</table>")[0]
    rows = re.findall(r'<th scope="row">(\d+)</th><td>(\S+?)</td>', first)
    assert [row[0] for row in rows] == [str(k) for k in range(40)]
    assert float(rows[7][1]) == pytest.approx(each["value"][7], abs=0.001)

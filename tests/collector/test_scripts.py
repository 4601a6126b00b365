"""Browser and Python make identical reports from the same random bytes."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from epsilons import local
from epsilons.collector import Level
from epsilons.local.piecewise import WINDOWS, window_of
from tests.collector.node import PAGES, node
from tests.local.tape import Tape
from tests.local.test_report_vectors import PAGE, vectors

LABELS = ["red", "grün", "青", '"quoted"', "back\\slash", "😀", "a b", "</script>", "\u2028", "é"]
MECHANISMS: dict[str, Any] = {
    "yes-no": lambda question, levels: local.Bit(levels=levels),
    "number": lambda question, levels: local.Mean(
        question["bounds"], method=question.get("reports", "bit"), levels=levels
    ),
    "one-of": lambda question, levels: local.Frequencies(question["options"], levels=levels),
}


def python(case: dict[str, Any]) -> list[Any]:
    """Return Python's result for a case: the report, and the number of random bytes used."""
    question, value = case["question"], case["value"]
    mechanism = MECHANISMS[question["kind"]](question, [case["epsilon"]])
    given = question["options"][value] if question["kind"] == "one-of" else value
    tape = Tape(bytes.fromhex(case["random"]))
    report = mechanism.randomize(given, case["epsilon"], tape).to_bytes().hex()
    return [report, len(case["random"]) // 2 - len(tape.data)]


def asked(vector: dict[str, Any]) -> dict[str, Any] | None:
    """Return a vector of docs/local-reports.md as a survey question.

    If surveys do not offer its kind, return None.
    """
    given, name = vector["parameters"], vector["mechanism"]
    method = given.get("method", "auto")
    value: Any = vector["value"]
    if vector["epsilon"] == "inf" or (name, method) not in {
        ("bit", "auto"),
        ("mean", "bit"),
        ("mean", "piecewise"),
        ("frequencies", "hadamard"),
    }:
        return None
    if name == "bit":
        question: dict[str, Any] = {"kind": "yes-no"}
        value = bool(value)
    elif name == "mean":
        question = {"kind": "number", "bounds": given["bounds"]}
        if method != "bit":
            question["reports"] = method
    else:
        question = {"kind": "one-of", "options": given["categories"]}
        value = given["categories"].index(value)
    kept = {key: vector[key] for key in ("epsilon", "random", "report")}
    return {"question": question, "value": value, **kept}


def test_the_vectors_of_the_offline_page_are_all_that_it_can_make() -> None:
    known = [found for vector in vectors() if (found := asked(vector)) is not None]
    held = json.loads((PAGES / "vectors.json").read_text("utf-8"))
    assert held == known
    assert {each["question"]["kind"] for each in held} == set(MECHANISMS)


def test_every_vector_byte_for_byte(tmp_path: Path) -> None:
    cases = json.loads((PAGES / "vectors.json").read_text("utf-8"))
    expected = [[each["report"], len(each["random"]) // 2] for each in cases]
    assert node(tmp_path, cases) == expected


def test_windows_are_those_of_python_and_of_the_page(tmp_path: Path) -> None:
    edges = [*WINDOWS, *(math.nextafter(each, 0.0) for each in list(WINDOWS)[1:]), 16.0, 1e6]
    cases = [{"what": "window", "epsilon": each} for each in edges]
    assert node(tmp_path, cases) == [list(window_of(each)) for each in edges]
    rows = re.findall(r"^\| ([\d.]+) \| (\d+) \| (\d+) \|$", PAGE.read_text("utf-8"), re.M)
    assert {float(a): (int(b), int(c)) for a, b, c in rows} == WINDOWS


def test_what_a_piecewise_report_says(tmp_path: Path) -> None:
    """A page states the step that the bytes contain, the number of steps, and their odds."""
    levels = [{"name": str(each), "epsilon": each} for each in (0.5, 2.0, 4.0)]
    question = {"kind": "number", "bounds": [0, 12], "unit": "h", "reports": "piecewise"}
    cases = [
        {
            "question": question | {"levels": levels},
            "value": 12,
            "epsilon": each["epsilon"],
            "random": "ff" * 16 + "00" * 8,
        }
        for each in levels
    ]
    *_, (data, used, says, level, odds) = found = node(tmp_path, cases)
    assert [each[2] for each in found] == [
        "“Step 2 of 2”, on a scale from 0 h to 12 h.",
        "“Step 3 of 3”, on a scale from 0 h to 12 h.",
        says,
    ]
    assert re.fullmatch(r"“Step 1[123] of 13”, on a scale from 0 h to 12 h\.", says)
    assert (level, int(data[-2:], 16) + 1) == ("4.0", int(re.findall(r"\d+", says)[0]))
    assert found[0][4].endswith(
        "about 62 send their own step of 2, and 38 the other one, which is 1.6 times less likely."
    )
    assert found[1][4].endswith(
        "about 79 send their own step of 3, and 21 one of the other 2, each 7.4 times less likely."
    )
    assert odds.endswith(
        "about 94 send one of the 3 steps around their own, of 13, and 6 one of the other 10, "
        "each 55 times less likely."
    )
    assert used == 24


def test_odds_are_those_of_python(tmp_path: Path) -> None:
    budgets = [0.01, 0.5, 1.0, 2.0, 5.0, 16.0, math.log(3), 0.020000666706669543]
    cases = [{"what": "truly", "epsilon": each} for each in budgets]
    assert node(tmp_path, cases) == [Level("a", each).truly for each in budgets]


def test_what_a_report_says_is_read_from_its_bytes(tmp_path: Path) -> None:
    levels = [{"name": "strong", "epsilon": 1.0}]
    options = ["a", "b", "c"]
    question = {"kind": "one-of", "options": options, "levels": levels}
    cases: list[dict[str, Any]] = [
        {"question": question, "value": value, "epsilon": 1.0, "random": (row + "f" * 16)}
        for row in ("00" * 8, "01" + "00" * 7, "02" + "00" * 7)
        for value in range(3)
    ]
    for case, (_, __, says, level, odds) in zip(cases, node(tmp_path, cases), strict=True):
        group = re.search(r"one of these\? (.*)", says)
        assert group is not None
        inside = options[case["value"]] in group[1].split("; ")
        assert says.startswith("“Yes”" if inside else "“No”"), "the coin did not flip"
        assert level == "strong"
        assert "73" in odds
        assert "27" in odds


def test_what_is_no_answer_makes_no_report(tmp_path: Path) -> None:
    asked_for: list[tuple[dict[str, Any], Any, Any]] = [
        ({"kind": "yes-no"}, True, None),
        ({"kind": "yes-no"}, True, 0),
        ({"kind": "yes-no"}, True, -1),
        ({"kind": "yes-no"}, 1, 1),
        ({"kind": "number", "bounds": [0, 1]}, None, 1),
        ({"kind": "one-of", "options": ["a", "b"]}, 2, 1),
        ({"kind": "one-of", "options": ["a", "b"]}, "length", 1),
    ]
    cases = [
        {"question": question, "value": value, "epsilon": epsilon, "random": "00" * 16}
        for question, value, epsilon in asked_for
    ]
    found = node(tmp_path, cases)
    assert [len(each) for each in found] == [1] * len(cases), "errors, and no report"

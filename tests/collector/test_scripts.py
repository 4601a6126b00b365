"""Browser and Python make identical reports from the same random bytes."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from epsilons import local
from epsilons.collector import Level
from epsilons.local.draws import threshold
from epsilons.local.people import GRID
from epsilons.local.piecewise import WINDOWS, window_of
from epsilons.risk.piecewise import AnswerWindow
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


def random_case(rng: np.random.Generator) -> dict[str, Any]:
    kind = str(rng.choice(list(MECHANISMS)))
    epsilon = float(rng.choice([rng.uniform(0.01, 16.0), 10 ** rng.uniform(-2, 1.2), 1.0]))
    question: dict[str, Any] = {"kind": kind}
    value: Any = bool(rng.integers(2))
    if kind == "number":
        lo = float(rng.choice([0.0, rng.normal(0, 100)]))
        hi = lo + float(10 ** rng.uniform(-3, 4))
        question["bounds"] = [lo, hi]
        value = float(rng.choice([rng.uniform(lo, hi), lo, hi, lo - 1.0, hi + 1.0]))
        if rng.integers(2):
            question["reports"] = "piecewise"
    elif kind == "one-of":
        many = int(rng.integers(2, 51))
        question["options"] = [f"{LABELS[k % 10]} {k}" for k in range(many)]
        value = int(rng.integers(many))
    words = rng.integers(0, 2**64, 8, dtype=np.uint64)
    if kind == "number" and rng.integers(2):  # the first word is near the value's place on the grid
        lo, hi = question["bounds"]
        part = min(max((value - lo) / (hi - lo), 0.0), 1.0)
        place = round(part * GRID) + int(rng.integers(-1, 2))
        words[0] = min(max((place << 34) - int(rng.integers(2)), 0), 2**64 - 1)
    if rng.integers(3) == 0:  # words just below and above the threshold, and a rejected word
        window = window_of(epsilon) if "reports" in question else AnswerWindow(2, 1)
        edge = threshold(epsilon, window.inside, window.answers) - int(rng.integers(2))
        words[0 if kind == "yes-no" else 1] = edge
        if kind == "one-of" and rng.integers(2):
            words[0], words[1], words[2] = 2**64 - 1, words[0], edge
        if kind == "number" and rng.integers(2):
            words[2] = 2**64 - 1  # rejected, unless the number of answers is a power of two
    return {
        "question": question,
        "value": value,
        "epsilon": epsilon,
        "random": words.astype("<u8").tobytes().hex(),
    }


@pytest.mark.parametrize("many", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_reports_are_those_of_python(tmp_path: Path, many: int) -> None:
    rng = np.random.default_rng(19)
    cases = [random_case(rng) for _ in range(many)]
    found = node(tmp_path, cases)
    expected = [python(case) for case in cases]
    assert found == expected
    assert len({used for _, used in expected}) >= 3, "one word, two, and one drawn again"


def test_the_threshold_is_exact(tmp_path: Path) -> None:
    rng = np.random.default_rng(20)
    budgets = [*rng.uniform(0.0, 90.0, 500), *10.0 ** rng.uniform(-9, 3, 500), 5e-324, 80.0, 1e300]
    cases: list[dict[str, Any]] = [{"what": "threshold", "epsilon": float(e)} for e in budgets]
    assert node(tmp_path, cases) == [str(threshold(float(each))) for each in budgets]
    for case in cases:
        case["window"] = window_of(case["epsilon"])
    expected = [
        str(threshold(case["epsilon"], case["window"].inside, case["window"].answers))
        for case in cases
    ]
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


@pytest.mark.parametrize("kind", MECHANISMS)
def test_no_odds_read_as_certainty(tmp_path: Path, kind: str) -> None:
    """Printed odds never look like certainty.

    The largest ε is 16, which surveys of 0.2.0 could offer.
    """
    budgets = [0.01, 1.0, 5.29, 5.3, 8.0, 16.0]
    levels = [{"name": str(each), "epsilon": each} for each in budgets]
    question = {"kind": kind, "options": ["a", "b"], "bounds": [0, 1], "levels": levels}
    value = {"yes-no": True, "one-of": 0, "number": 0.5}[kind]
    cases = [
        {"question": question, "value": value, "epsilon": each, "random": "ff" * 32}
        for each in budgets
    ]
    for each, (*_, said) in zip(budgets, node(tmp_path, cases), strict=True):
        many, right, wrong = (
            int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", said)
        )
        assert many == right + wrong
        assert min(right, wrong) > 0
        assert wrong == round(many * threshold(each) / 2**64)
    assert "10,000" in node(tmp_path, cases)[4][-1], "3 of 10,000 at 8"


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

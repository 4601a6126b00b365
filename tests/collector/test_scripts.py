"""The browser's reports are Python's, byte for byte, from the same random bytes."""

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
from epsilons.local.coins import threshold
from epsilons.local.hadamard import order
from tests.collector.node import PAGES, node
from tests.local.tape import Tape
from tests.local.test_report_vectors import vectors

LABELS = ["red", "grün", "青", '"quoted"', "back\\slash", "😀", "a b", "</script>", "\u2028", "é"]
MECHANISMS: dict[str, Any] = {
    "yes-no": lambda question, levels: local.Bit(levels=levels),
    "number": lambda question, levels: local.Mean(question["bounds"], method="bit", levels=levels),
    "one-of": lambda question, levels: local.Frequencies(question["options"], levels=levels),
}


def python(case: dict[str, Any]) -> list[Any]:
    """What Python makes of a case: the report, and how many random bytes it took."""
    question, value = case["question"], case["value"]
    mechanism = MECHANISMS[question["kind"]](question, [case["epsilon"]])
    given = question["options"][value] if question["kind"] == "one-of" else value
    tape = Tape(bytes.fromhex(case["random"]))
    report = mechanism.randomize(given, case["epsilon"], tape).to_bytes().hex()
    return [report, len(case["random"]) // 2 - len(tape.data)]


def asked(vector: dict[str, Any]) -> dict[str, Any] | None:
    """A vector of the page of reports as a question of a survey; None if surveys do not ask it."""
    given, name = vector["parameters"], vector["mechanism"]
    method = given.get("method", "auto")
    value: Any = vector["value"]
    if vector["epsilon"] == "inf" or (name, method) not in {
        ("bit", "auto"),
        ("mean", "auto"),
        ("frequencies", "hadamard"),
    }:
        return None
    if name == "bit":
        question: dict[str, Any] = {"kind": "yes-no"}
        value = bool(value)
    elif name == "mean":
        question = {"kind": "number", "bounds": given["bounds"]}
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
    elif kind == "one-of":
        many = int(rng.integers(2, 51))
        question["options"] = [f"{LABELS[k % 10]} {k}" for k in range(many)]
        value = int(rng.integers(many))
    words = rng.integers(0, 2**64, 8, dtype=np.uint64)
    if rng.integers(3) == 0:  # on either side of the threshold, and a word that is drawn again
        edge = threshold(epsilon) - int(rng.integers(2))
        words[0 if kind == "yes-no" else 1] = edge
        if kind == "one-of" and rng.integers(2):
            words[0], words[1], words[2] = 2**64 - 1, words[0], edge
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
    cases = [{"what": "threshold", "epsilon": float(each)} for each in budgets]
    assert node(tmp_path, cases) == [str(threshold(float(each))) for each in budgets]


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
        group = re.search(r"is it (.*)\?", says)
        assert group is not None
        inside = options[case["value"]] in group[1].split(", or ")
        assert says.startswith("“Yes”" if inside else "“No”"), "the coin did not flip"
        assert level == "strong"
        assert "73" in odds
        assert "27" in odds


@pytest.mark.parametrize(
    ("question", "value", "epsilon"),
    [
        ({"kind": "yes-no"}, True, None),
        ({"kind": "yes-no"}, True, 0),
        ({"kind": "yes-no"}, True, -1),
        ({"kind": "yes-no"}, 1, 1),
        ({"kind": "number", "bounds": [0, 1]}, None, 1),
        ({"kind": "one-of", "options": ["a", "b"]}, 2, 1),
        ({"kind": "one-of", "options": ["a", "b"]}, "length", 1),
    ],
)
def test_what_is_no_answer_makes_no_report(
    tmp_path: Path, question: dict[str, Any], value: Any, epsilon: Any
) -> None:
    case = {"question": question, "value": value, "epsilon": epsilon, "random": "00" * 16}
    (found,) = node(tmp_path, [case])
    assert len(found) == 1, "an error, and no report"


PEOPLE = 100_000
LIMIT = 6.2
"""Standard deviations: a false alarm has probability 6·10⁻¹⁰ for each count."""


def furthest(counts: dict[str, int], law: dict[str, float]) -> float:
    """The largest distance of a count from its law, in standard deviations."""
    assert set(counts) <= set(law)
    assert sum(counts.values()) == PEOPLE
    spread = {each: math.sqrt(PEOPLE * p * (1 - p)) for each, p in law.items()}
    return max(abs(counts.get(each, 0) - PEOPLE * p) / spread[each] for each, p in law.items())


def laws() -> list[tuple[dict[str, Any], Any, int, dict[str, float]]]:
    """Questions, values, where answers begin, and the law of answers at ε = 1, in floats."""
    flip = 1.0 / (1.0 + math.e)
    bit = {"01": 1.0 - flip, "00": flip}
    up = 0.3 * (1.0 - flip) + 0.7 * flip
    number = {"0100000001": up, "0100000000": 1.0 - up}
    rows = order(5)
    row = {
        f"{j:02x}000000{b:02x}": ((1.0 - flip) if (j & 3).bit_count() % 2 == b else flip)
        / (rows - 1)
        for j in range(1, rows)
        for b in (0, 1)
    }
    return [
        ({"kind": "yes-no"}, True, 24, bit),
        ({"kind": "number", "bounds": [0, 10]}, 3.0, 40, number),
        ({"kind": "one-of", "options": list("abcde")}, 3, 45, row),
    ]


def drawn(folder: Path, epsilon: float) -> list[float]:
    tape = folder / "tape"
    tape.write_bytes(np.random.default_rng(21).bytes(PEOPLE * 24))
    cases = [
        {"what": "many", "many": PEOPLE, "tape": str(tape), "epsilon": epsilon}
        | {"question": question, "value": value, "from": start}
        for question, value, start, _ in laws()
    ]
    return [
        furthest(counts, law)
        for counts, (_, __, ___, law) in zip(node(folder, cases), laws(), strict=True)
    ]


@pytest.mark.statistical
@pytest.mark.slow
def test_reports_have_the_law_of_their_budget(tmp_path: Path) -> None:
    """False alarm: 16 counts, 10⁻⁸ in all; seeded."""
    assert max(drawn(tmp_path, 1.0)) < LIMIT


@pytest.mark.statistical
@pytest.mark.slow
def test_a_flip_that_is_off_by_a_twentieth_is_noticed(tmp_path: Path) -> None:
    flip = 1.05 / (1.0 + math.e)
    assert drawn(tmp_path, math.log(1.0 / flip - 1.0))[0] > LIMIT

"""Each cell of a CSV file is parsed on its own: no cell changes how another is parsed.

The files are read through the public interface only. The expected values come from a second parser
in this file, which uses regular expressions and Python's number types.
"""

from __future__ import annotations

import itertools
import math
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.levels import Ladder
from epsilons.door import GRID, open as open_rows
from epsilons.errors import EpsilonsError
from tests.door.asking import cells_of, sums_of
from tests.door.conftest import declared_as

LADDER = Ladder.declare(np.array([0.5, 1.0]))
HEADER = b"v,e,p,w,b\n"

NASTY = [
    b"2.5,0.5,n,2.5",
    b" 1 , 0.5,n,\t1 ",
    b"1e3,1e0,n,1e3",
    b"nan,nan,n,nan",
    b"inf,inf,n,inf",
    b"-inf,-1,n,-inf",
    b"1e999,1e999,n,1e999",
    b"99999999999999999999,0.5,n,99999999999999999999",
    b"true,true,n,true",
    b"TRUE,1.0,n,FALSE,FALSE",
    b"1,0.5,n,1,maybe",
    b"2020-01-01,2020-01-01,n,2020-01-01",
    b"text,text,n,text",
    b"0x10,1_0,n,--1",
    "١,½,ü,１".encode(),
    b"1",
    b"1,0.5",
    b"1,0.5,n,1,1,1,1",
    b",,,",
    b",,,,,,,,,",
    b"",
    b"\r",
    b" ",
    b"1\r1,0.5\r,n,1\r",
    b"\x00,\x00,\x00,\x00",
    b"1,0.5,n\x00,1",
    b"\xff\xfe,0.5,n,1",
    b"1,\xff,n,1",
    b"1,0.5,\xff,\xff",
    b"\xc3,0.5,\xe2\x82,\xf0\x9f",
    b"\xef\xbb\xbf1,0.5,n,1",
    b"x" * 100_000 + b",0.5,n,1",
    b"1,0.5,n," + b"9" * 100_000,
    b'1"2,0.5,n,1',
    b'1,0.5,n"n,5\'10"',
    b'1,0.5,n,1"',
    b'"',
    b'"1,0.5,n,1',
    b'1,0.5,"n,1',
    b'1,0.5,n,"1',
    b'1,0.5,n,"',
    b'","',
    b'"""',
    b'"",""",",1',
    b'"1"2,0.5,n,1',
    b'"1" ,"0.5", "n","1"',
    b'"1","0.5","n","1"',
    b'"1","0.5","n""n","1"',
    b'"1","0.5","n\nn","1"',
    b'"1","0.5","n\r\nn,n\n\n""n","1\n"',
    b"'1','0.5','n','1'",
    b"#1,0.5,n,1",
    b'\\,\\",\\',
]

ASKED: dict[str, Callable[..., Any]] = {
    "mean, midpoint": lambda data, **k: sums_of(
        "v", epsilon=1.0, bounds=(0.0, 4.0), data=data, missing="midpoint", **k
    ),
    "mean, add-remove": lambda data, **k: sums_of(
        "v", epsilon="e", bounds=(0.0, 4.0), data=data, ladder=LADDER, **k
    ),
    "integers, other": lambda data, **k: cells_of(
        "w", epsilon=1.0, categories=[1, 2, 9], other=0, data=data, **k
    ),
    "integers, add-remove": lambda data, **k: cells_of(
        "w", epsilon="e", categories=[1, 2, 9], data=data, ladder=LADDER, **k
    ),
    "booleans, other": lambda data, **k: cells_of(
        "b", epsilon=1.0, categories=[True, False], other="x", data=data, **k
    ),
    "text, add-remove": lambda data, **k: cells_of(
        "w", epsilon="e", categories=["1", "2", "9"], data=data, ladder=LADDER, **k
    ),
    "bins, other": lambda data, **k: cells_of(
        "v", epsilon=1.0, edges=[0.0, 1.5, 3.0], other="x", data=data, **k
    ),
}


def others(count: int) -> list[bytes]:
    row = b"%d,%s,p%d,%d,%s"
    words = (b"0.5", b"1"), (b"true", b"false", b"True")
    return [row % (i % 4, words[0][i % 2], i, 1 + i % 2, words[1][i % 3]) for i in range(count)]


def totals(found: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the number of people and the totals on both rungs (budget levels), even empty ones."""
    sums = found.cells
    people, added = np.zeros(2, dtype=np.int64), np.zeros((2, sums.shape[1]), dtype=np.int64)
    place = (found.levels == 1.0).astype(int)
    np.add.at(people, place, found.counts)
    np.add.at(added, place, sums)
    return people, added


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str | None], Any]:
    file = tmp_path_factory.mktemp("without") / "rows.csv"
    file.write_bytes(HEADER + b"\n".join(others(40)) + b"\n")
    return {
        (name, person): totals(ask(file, person=person))
        for name, ask in ASKED.items()
        # Under replace, rows without a person are refused in every format.
        for person in (None, "p")[: 2 if "add-remove" in name else 1]
    }


def test_an_unknown_range_is_found_whatever_a_cell_says(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    for row in NASTY[::3]:
        file.write_bytes(HEADER + b"\n".join([*others(40), row]) + b"\n")
        found = open_rows("v", epsilon="e", data=file, ladder=LADDER).line()
        assert 40 <= found.counts.sum() <= 41


def test_integers_with_nobody_in_them_are_no_refusal(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(b"w,e\n,1\n,1\n")
    for categories in ([1, 2], [True, False], ["a", "b"], [0.0, 1.0]):
        found = cells_of("w", epsilon="e", **declared_as(categories), other="x", data=file)
        assert found.cells[0, -1] == 2


NUMBER = re.compile(r"[ \t]*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)[ \t]*")
ODD = re.compile(r"[ \t]*([+-]?(inf|infinity|nan))[ \t]*", re.IGNORECASE)


def as_float(cell: str) -> float:
    """Return a cell as a float, by the grammar of numbers, or NaN if the cell is missing."""
    if found := NUMBER.fullmatch(cell):
        return min(max(float(found[1]), -sys.float_info.max), sys.float_info.max)
    return float(found[1]) if (found := ODD.fullmatch(cell)) else math.nan


def spellings(count: int) -> list[str]:
    draw = random.Random(5)
    written = [
        "".join(draw.choices("0123456789.eE+- \t", k=draw.randint(1, 8))) for _ in range(count)
    ]
    written += [
        "".join(draw.choices(["inf", "nan", "-", "+", "INF", "ity", " "], k=2)) for _ in range(60)
    ]
    written += ["1e999", "-1e999", "9" * 400, "1e-999", "0" * 400 + "7", "7.", ".5", "+.5e-3", "."]
    written += [
        "9007199254740993",
        "9007199254740993.0",
        "9007199254740992",
        "9007199254740992.0",
        "9223372036854775807",
        "1e18",
        "-0",
        "007",
    ]
    written += ["9223372036854775808", "-9223372036854775808", "true", "True", "FALSE ", "1_0", "١"]
    return [cell for cell in written if cell.strip("\r\n")]


def test_numbers_are_what_they_say(tmp_path: Path) -> None:
    """Numbers are parsed exactly.

    Each number is also the edge of a bin, so adjacent floats are in different bins.
    """
    cells = spellings(800)
    file = tmp_path / "rows.csv"
    file.write_text("v\n" + "\n".join(cells) + "\n")
    edges = sorted({abs(as_float(cell)) for cell in cells if math.isfinite(as_float(cell))})
    edges = sorted({*edges, *(-edge for edge in edges), -math.inf, math.inf})
    bins = [*itertools.pairwise(edges)]
    found = cells_of("v", epsilon=1.0, edges=bins, other="missing", data=file)
    expected = np.zeros(len(bins) + 1, dtype=np.int64)
    for cell in cells:
        value = as_float(cell)
        place = next((i for i, (lo, hi) in enumerate(bins) if lo <= value < hi), len(bins))
        if value == math.inf:
            place = len(bins) - 1
        expected[place] += 1
    assert found.cells[0].tolist() == expected.tolist()
    assert expected[-1] > 100


def test_whole_numbers_are_what_they_say(tmp_path: Path) -> None:
    cells = spellings(800)
    file = tmp_path / "rows.csv"
    file.write_text("w\n" + "\n".join(cells) + "\n")

    def whole(cell: str) -> int | None:
        if re.fullmatch(r"[ \t]*[+-]?[0-9]+[ \t]*", cell) and -(2**63) <= int(cell) < 2**63:
            return int(cell)
        value = as_float(cell)
        return int(value) if value == value and abs(value) < 2**53 and value % 1 == 0 else None

    declared = sorted({number for cell in cells if (number := whole(cell)) is not None})
    assert {7, 2**63 - 1, -(2**63), 2**53 + 1} < set(declared)
    found = cells_of("w", epsilon=1.0, categories=declared, other="x", data=file)
    expected = [sum(whole(cell) == number for cell in cells) for number in declared]
    assert found.cells[0, :-1].tolist() == expected


def test_truth_values_are_what_they_say(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("w\ntrue\nTRUE\n True\t\nfalse\nFalse\n1\n0\nt\nyes\n\n")
    found = cells_of("w", epsilon=1.0, categories=[True, False], other="x", data=file)
    assert found.cells.tolist() == [[3, 2, 5]]
    mean = sums_of("w", epsilon=1.0, bounds=(0.0, 1.0), data=file, missing="midpoint")
    assert mean.sums.tolist() == [4 * GRID + 3 * (GRID // 2)]  # 1 and 0 are read as numbers


def test_a_budget_that_overflows_does_not_make_a_record_public(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("v,e\n1,1e999\n1,inf\n1,1\n")
    found = sums_of("v", epsilon="e", bounds=(0.0, 1.0), data=file)
    assert found.levels.tolist() == [1.0, 2.0**20, math.inf]  # 1e999 becomes 2²⁰, not ∞
    assert found.counts.tolist() == [1, 1, 1]


def test_a_budget_is_no_truth_value(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("v,e\n1,true\n1,1\n1,1\n")
    with pytest.raises(ep.errors.BudgetError, match="not a number"):
        sums_of("v", epsilon="e", bounds=(0.0, 1.0), data=file)


def test_text_is_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(
        'w,x\n a,1\na,1\n"a",1\n"a,""b""",1\n"",1\n,1\nü,1\n'.encode() + b"\xff,1\n\xef\xbf\xbd,1\n"
    )
    categories = ["a", " a", 'a,"b"', "", "ü", "\ufffd"]
    found = cells_of("w", epsilon=1.0, categories=categories, other="x", data=file)
    assert found.cells.tolist() == [[2, 1, 1, 1, 1, 0, 3]]


def test_names_that_were_damaged_are_not_one_person(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(b"v,p\n1,a\n1,\xff\n1,\xfe\n1,b\n")
    found = sums_of("v", epsilon=1.0, bounds=(0.0, 1.0), data=file, person="p", ladder=LADDER)
    assert found.counts.tolist() == [2]
    with pytest.raises(EpsilonsError, match="without a person"):
        sums_of("v", epsilon=1.0, bounds=(0.0, 1.0), data=file, person="p")


def test_one_column_may_be_values_and_people_and_budgets(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("v\n1\n1.0\n1\n")
    found = sums_of("v", epsilon="v", bounds=(0.0, 2.0), data=file, person="v")
    assert found.counts.tolist() == [2]


def test_rows_that_are_no_rows(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(b"\xef\xbb\xbf\r\nv,e\r\n\r\n1,1\r\n\r\n\r\n,\r\n3,1\r\n\r\n")
    found = sums_of("v", epsilon=1.0, bounds=(0.0, 4.0), data=file, missing="midpoint")
    assert found.counts.tolist() == [3]
    file.write_bytes(b'v,e,t\n\n1,1,"a\n\nb"\n\n\n3,1,x\n')
    cells = cells_of("t", epsilon=1.0, categories=["a\n\nb", "x"], data=file).cells
    assert cells.tolist() == [[1, 1]]


@pytest.mark.parametrize("text", [b"v,e", b"v,e\n", b"v,e\r\n\r\n", b'"v","e"'])
def test_a_file_without_rows(text: bytes, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(text)
    found = sums_of("v", epsilon="e", bounds=(0.0, 1.0), data=file, ladder=LADDER)
    assert found.n == 0
    with pytest.raises(EpsilonsError, match="there are no people"):
        sums_of("v", epsilon="e", bounds=(0.0, 1.0), data=file)

"""In every layout, bytes, tables and single reports contain the same answers."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import DataError
from epsilons.local.layout import Unpacker, checked, columns_of, read
from epsilons.local.layouts import KINDS, layout_of
from epsilons.local.reports import HEADER, Reports
from tests.local.test_randomizer import BUDGETS, CASES, PEOPLE, reports_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "local-reports.md"


@pytest.mark.parametrize("name", CASES)
def test_answers_go_there_and_back(name: str) -> None:
    reports = reports_of(name)
    layout = layout_of(reports.kind, reports.parameters)
    source = Unpacker(layout.to_bytes(reports.columns))
    by_bytes = layout.from_bytes(source, PEOPLE)
    source.end()
    epsilon, by_table = read(layout, checked(layout, reports.to_columns()))
    assert np.array_equal(epsilon, reports.epsilon)
    for one, two, three in zip(reports.columns, by_bytes, by_table, strict=True):
        assert one.dtype == two.dtype == three.dtype
        assert np.array_equal(one, two)
        assert np.array_equal(one, three)


@pytest.mark.parametrize("name", CASES)
def test_a_table_has_the_columns_that_its_layout_names(name: str) -> None:
    reports = reports_of(name)
    layout = layout_of(reports.kind, reports.parameters)
    assert list(reports.to_columns()) == list(columns_of(layout))


@pytest.mark.parametrize("name", CASES)
def test_the_fields_of_a_report_of_one_are_all_its_bytes(name: str) -> None:
    mechanism, values = CASES[name]
    layout = layout_of(mechanism.kind, mechanism.parameters)
    for i in (0, PEOPLE - 4, PEOPLE - 3, PEOPLE - 1):
        report = mechanism.randomize(values[i], BUDGETS[i], ep.Seeded(i)).to_bytes()
        size = len(report) - HEADER.size - len(mechanism.parameters) - 8
        fields = layout.fields(size)
        assert fields is not None
        assert np.dtype(fields).itemsize == size
    assert layout.fields(0) is None
    assert layout.fields(10**6) is None


@pytest.mark.parametrize("name", CASES)
def test_layouts_are_fixed(name: str) -> None:
    mechanism, _ = CASES[name]
    layout = layout_of(mechanism.kind, mechanism.parameters)
    assert layout == layout_of(mechanism.kind, mechanism.parameters)
    with pytest.raises(dataclasses.FrozenInstanceError):
        layout.cells = 3  # type: ignore[attr-defined]


def test_the_page_names_every_kind_and_its_code() -> None:
    line = next(x for x in PAGE.read_text("utf-8").splitlines() if "| mechanism | 1 bit" in x)
    told = {name: int(code) for code, name in re.findall(r"(\d) (\w+)", line.split("|")[3])}
    assert told == {name: kind.code for name, kind in KINDS.items()}
    assert {mechanism.kind for mechanism, _ in CASES.values()} == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "parameters", "what"),
    [
        ("vector", b"\3", "have 12 bytes"),
        ("frequencies", b"\3", "have 21 bytes"),
        ("frequencies", b"\3\0\0\0\4" + bytes(16), "method for frequencies is unknown"),
    ],
)
def test_parameters_of_no_mechanism_are_refused(kind: str, parameters: bytes, what: str) -> None:
    with pytest.raises(DataError, match=what):
        layout_of(kind, parameters)
    report = reports_of("vector" if kind == "vector" else "hadamard").to_bytes()
    length = HEADER.unpack(report[: HEADER.size])[4]
    head = report[:8] + len(parameters).to_bytes(4, "little") + report[12 : HEADER.size]
    with pytest.raises(DataError, match=what):
        Reports.from_bytes(head + parameters + report[HEADER.size + length :])

"""A person's statement, as text, as JSON and as a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import epsilons as ep
from tests.ledger.work import EPSILON, WHO, X


def test_a_statement_adds_up(ledger: ep.Ledger, tmp_path: Path) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    for month in ("january", "<february> & march"):
        ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim(month, share=1 / 12))
    ledger.enrol(person=["p0"], epsilon=60.0, consent="asked for it")
    found = ledger.account("p0")
    assert found.left == pytest.approx(found.budget - found.spent)
    assert found.spent == pytest.approx(sum(line.spent for line in found.lines))
    whats = [line.what for line in found.lines]
    assert whats == ["enrolled", "january", "<february> & march", "raised: asked for it"]
    plain = json.loads(found.to_json())
    assert plain["budget"] == 60.0
    assert [line["what"] for line in plain["lines"]] == whats
    for word in ("Statement of p0", "Given for life: ε = 60", "january", "What is spent is ε"):
        assert word in str(found)
    page = found.report(tmp_path / "p0.html").read_text("utf-8")
    assert "&lt;february&gt; &amp; march" in page
    assert "<february>" not in page.split("<script")[0]
    assert "<script src" not in page
    assert found.to_html() == page
    assert "<p>Given for life: ε = 60</p>" in found._repr_html_()


def test_a_public_person(ledger: ep.Ledger) -> None:
    ledger.enrol(person=[1], epsilon=float("inf"))
    found = ledger.account(1)
    assert json.loads(found.to_json())["left"] == "inf"
    assert "Left: without a limit" in str(found)


def test_under_add_remove_a_stranger_has_an_empty_statement(private: ep.Ledger) -> None:
    private.enrol(person=[1], epsilon=1.0)
    assert private.account(2).lines == ()
    private.withdraw(2)
    private.erase(2)
    assert private.account(2).budget == 0.0

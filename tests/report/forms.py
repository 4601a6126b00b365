"""All text that a release or a plan shows, for tests."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import fields, replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.results.report import charts
from epsilons.results.report.page import as_page

VOID = {"meta", "link", "br", "img"}


class Reader(HTMLParser):
    """A strict HTML reader: every tag that is opened must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.embedded = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.embedded += data
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for each, attrs in self.tags if each == tag]


def forms(shown: Any) -> dict[str, str]:
    """Return all text that a release or a plan prints, without markup or drawings."""
    return {
        "text": " ".join(shown.details().split()),
        "json": json.dumps(json.loads(shown.to_json()), ensure_ascii=False),
        "notebook": Reader(shown._repr_html_()).text,
        "page": Reader(undrawn_page(shown)).text,
    }


def undrawn_page(shown: Any) -> str:
    """Return the page of a release or a plan, without its drawings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charts, "svg", lambda *_, **__: "<svg ></svg>")
        return as_page(shown.sheet(), shown.to_dict())


def estimating(release: ep.Release, **answers: Any) -> ep.Release:
    """Return a copy of the release with an estimate that returns fixed values."""
    kind = type(release.estimate)
    said = {name: lambda *_, answer=answer: answer for name, answer in answers.items()}
    held = {each.name: getattr(release.estimate, each.name) for each in fields(kind)}
    made: Any = type(kind.__name__, (kind,), said)
    return replace(release, estimate=made(**held))


@functools.cache
def many() -> np.ndarray:
    return np.exp(np.random.default_rng(4).uniform(-4.0, 3.0, 300))


def numbers(words: str) -> list[float]:
    """Parse the numbers in a cell: one, or the ends of a range."""
    return [
        math.inf if word == "public" else float(word.replace(",", ""))
        for word in words.split(" to ")
    ]


E = [0.5, 1.0, 2.0, 0.5, 1.0, 2.0]


def weak(epsilon: Any, **given: Any) -> list[Any]:
    """Return a mean and frequencies for some budgets."""
    values = np.arange(len(epsilon)) % 2
    shares: dict[str, Any] = {"categories": [0, 1], **given}
    return [
        ep.mean(values, epsilon=epsilon, bounds=(0, 1), **given),
        ep.frequencies(values, epsilon=epsilon, **shares),
    ]

"""Every value of every argument works or is refused, for each statistic and neighbour model.

A refusal is an error of this package that names the argument, before anything is drawn. If a call
works, the release contains the given value, so no value is silently ignored. The same holds for
commands, which show no traceback.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons import parameters
from epsilons.__main__ import cli
from epsilons.asking.commands.publishing import Publish
from epsilons.asking.table import STATISTICS
from epsilons.errors import ArgumentError, EpsilonsError
from epsilons.questions.question import Question
from tests.needed import needed, spoken

N: Final = 120
WHO: Final = np.arange(N) % 60
X: Final = np.linspace(0.05, 0.95, N)
HOLES: Final = np.where(np.arange(N) % 7 == 0, np.nan, X)
WORDS: Final = np.array(["a", "b", "c"])[np.arange(N) % 3]
EPSILON: Final = np.array([0.5, 1.0, 2.0])[WHO % 3]
LEVELS: Final = [0.5, 1.0, 2.0]
NEIGHBOURS: Final = parameters.CHOICES["neighbours"]

OWN: Final[dict[str, dict[str, Any]]] = {
    **{
        name: needed(question, values=X, x=X, y=X[::-1].copy())
        for name, question in STATISTICS.items()
    },
    "frequencies": {"values": WORDS, "categories": ["a", "b", "c"]},
    "count": {"values": X},
}
"""For each statistic, arguments that work under its neighbour model."""

WRONG: Final[list[Any]] = [None, "nonsense", "", 0, -1, 2, 0.3, math.nan, math.inf, True, b"x", []]
"""Values that are invalid for most arguments, and valid for some."""

VALUES: Final[dict[str, list[Any]]] = {
    "about": [*parameters.CHOICES["about"], *WRONG],
    "related": [True, False, 0.05, 0.9, 1e-9, *WRONG],
    "loss": [*parameters.CHOICES["loss"], *WRONG],
    "confidence": [0.5, 0.95, 1.0 - 1e-9, 1e-9, *WRONG],
    "method": [
        *{name: None for each in STATISTICS.values() for name in ("auto", *each.every_method)},
        *WRONG,
    ],
    "missing": [*parameters.MISSING, None, *WRONG],
    "title": ["what was measured", "a\nb", "x" * 121, *WRONG],
    "unit": ["minutes", "a\nb", "x" * 41, *WRONG],
    "bounds": [
        (0, 1),
        (0.0, 1e-200),
        (-1e300, 1e300),
        (0.0, 1e100),
        (1, 0),
        (0, 0),
        (0, math.inf),
        (math.nan, 1),
        (0, 1, 2),
        "01",
        ("0", "x"),
        *WRONG,
    ],
    "shape": [*parameters.CHOICES["shape"], *WRONG],
    "spread": [0.1, 0.5, 1e-7, 0.6, *WRONG],
    "by": [WORDS, [WORDS, WORDS], WORDS[:5], *WRONG],
    "groups": [["a", "b", "c"], [["a"], ["b"]], ["a", "a"], *WRONG],
    "groups_are": [*parameters.CHOICES["groups_are"], *WRONG],
    "where": [X > 0.5, (WORDS, "a"), X, (X > 0.5)[:5], (WORDS, 0.5), *WRONG],
    "categories": [["a", "b"], ["a"], ["a", "a"], [1, 2], [True, False], 3, *WRONG],
    "edges": [[0, 1], [0, 1, 2], [1, 0], [0, 0], [0, math.nan], *WRONG],
    "other": ["rest", "a", 1, *WRONG],
    "project": [True, False, *WRONG],
    "shrink": [True, False, *WRONG],
    "q": [0.5, [0.1, 0.9], [0.9, 0.1], [0.5, 0.5], 1, 0.0, *WRONG],
    "x": [X, HOLES, X[:5], *WRONG],
    "y": [X, HOLES, X[:5], *WRONG],
    "values": [X, HOLES, WORDS, X[:5], X > 0.5, X[:, None], list(X), "column", *WRONG],
    # Arguments of the call:
    "epsilon": [
        *[EPSILON, 1.0, 1e-320, 1e-19, 1e-13, 2.0**20, 1e7, 1e308, EPSILON * 1e300, EPSILON[:5]],
        *[-EPSILON, EPSILON * 0.0, Fraction(1, 3), "column", *WRONG],
    ],
    "person": [WHO, WHO.astype(str), WHO[:5], WHO.astype(float), *WRONG],
    "levels": [
        LEVELS,
        {0.5: 40, 1.0: 40, 2.0: 40},
        {0.5: -1},
        [1e-300],
        [1e300],
        [math.inf],
        *WRONG,
    ],
    "cap": [0.5, 1e-300, 1e300, *WRONG],
    "neighbours": [*NEIGHBOURS, *WRONG],
    "data": [pl.DataFrame({"x": X}), "no such file.csv", *WRONG],
    "separator": [",", ";;", *WRONG],
    "decimal": [",", ".", ";", *WRONG],
    "thousands": [",", ".", ";", *WRONG],
    "menu": [{"a": 0.5, "b": 1.0, "c": 2.0}, {"a": -1}, {"a": 0}, {}, {1.5: 1}, *WRONG],
}
"""The values to try for each argument: all valid words, and some invalid values."""

VALUES.update(dict.fromkeys(("x_bounds", "y_bounds"), VALUES["bounds"]))
ALSO: Final[dict[str, dict[str, Any]]] = {
    "by": {"groups": ["a", "b", "c"]},
    "groups": {"by": WORDS},
    "groups_are": {"by": WORDS, "groups": ["a", "b", "c"]},
    "shrink": {"by": WORDS, "groups": ["a", "b", "c"]},
    "shape": {"bounds": None, "about": "population", "related": False},
    "edges": {"categories": None, "values": X},
}
"""Other arguments that each argument requires."""

_SAID: Final = ("missing", "about", "related", "loss", "confidence")
_CALL: Final = (
    *("epsilon", "person", "levels", "cap", "neighbours", "data", "separator"),
    *("decimal", "thousands", "menu"),
)


class Counting(ep.Seeded):
    """A seeded source that counts how often it is used."""

    asked = 0

    def bytes(self, count: int) -> bytes:
        self.asked += 1
        return super().bytes(count)

    def words(self, count: int) -> Any:
        self.asked += 1
        return super().words(count)


def arguments(question: type[Question]) -> Iterator[str]:
    """Yield all arguments of a question and of its call."""
    yield from (field.name for field in dataclasses.fields(question) if field.init)
    yield from _CALL


def cases() -> Iterator[tuple[str, str]]:
    for name, question in STATISTICS.items():
        for argument in arguments(question):
            yield name, argument


def test_every_argument_is_in_the_table() -> None:
    assert {argument for _, argument in cases()} <= {*VALUES}
    for name, words in parameters.CHOICES.items():
        if name in VALUES:
            assert set(words) <= {each for each in VALUES[name] if isinstance(each, str)}


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize(("statistic", "argument"), list(cases()))
def test_it_works_or_refuses_by_name_before_anything_is_drawn(
    statistic: str, argument: str, neighbours: str
) -> None:
    for value in VALUES[argument]:
        source = Counting(1)
        given = {**OWN[statistic], **ALSO.get(argument, {}), argument: value}
        call: dict[str, Any] = {"epsilon": EPSILON, "neighbours": neighbours}
        if neighbours == "add-remove":
            call["levels"] = LEVELS
        if argument in _CALL:
            call[argument] = given.pop(argument)
            if argument == "epsilon" and np.ndim(value) == 0:
                call.pop("levels", None)
        try:
            question = STATISTICS[statistic](**given)
            release = ep.publish([question], **call, source=source)[0]
        except EpsilonsError as refused:
            _check_refused(refused, source, f"{argument}={value!r}")
            if (statistic, neighbours) != ("count", "replace"):  # this call is always refused
                _check_named(argument, str(refused))
            continue
        _check_release(release, given, argument, value)


def _check_refused(refused: EpsilonsError, source: Counting, given: str) -> None:
    assert source.asked == 0, f"{given}: something was drawn, and then: {refused}"


def _check_named(argument: str, message: str) -> None:
    """Check that a message names the argument, or another argument that it depends on."""
    others = {
        "data": ("values", "column", "data"),
        "x": ("x", "questions"),
        "y": ("x", "y", "different lengths"),
        "by": ("by", "groups"),
        "groups": ("by", "groups"),
        "person": ("person", "values"),
        "values": ("values", "questions"),
        "categories": ("categories", "edges", "values"),
        "edges": ("categories", "edges", "values"),
        "epsilon": ("epsilon", "levels"),
        "neighbours": ("neighbours", "levels"),
        "shape": ("shape", "bounds"),
        "where": ("where", "values"),
    }
    assert any(word in message for word in others.get(argument, (argument,)))


def _check_release(release: ep.Release, given: dict[str, Any], argument: str, value: Any) -> None:
    told = release.to_dict()
    json.loads(json.dumps(told, allow_nan=True), parse_constant=_refuse_nan)
    assert str(release)
    if argument in _SAID and value is not None:
        assert getattr(release, argument) == value
    if argument == "method" and value != "auto":
        assert value in release.method
    assert ep.verify.exact(release.mechanism).holds
    spent = release.for_each(release.mechanism.levels)
    for amount, loss in zip(spent.tolist(), release.mechanism.losses, strict=True):
        assert loss == amount == math.inf or Fraction(amount) >= loss  # exact, without rounding


def _refuse_nan(word: str) -> float:
    assert word != "NaN"
    return math.inf


SHELL: Final[dict[str, list[str]]] = {
    **{name: spoken(question) for name, question in STATISTICS.items()},
    "frequencies": ["--value", "g", "--category", "a", "--category", "b", "--other", "c"],
    "count": ["--value", "x"],
}
OPTIONS: Final[dict[str, list[list[str]]]] = {
    "missing": [["error"], ["midpoint"], ["exclude"], ["nonsense"]],
    "neighbours": [[each] for each in (*NEIGHBOURS, "nonsense")],
    "bounds": [["0", "1e-200"], ["-1e300", "1e300"], ["1", "0"], ["nan", "1"], ["a", "b"]],
    "x_bounds": [["0", "1e-200"], ["1", "0"]],
    "y_bounds": [["0", "1e-200"], ["1", "0"]],
    "confidence": [["0.5"], ["1"], ["nan"], ["x"]],
    "about": [["people"], ["population"], ["x"]],
    "related": [["yes"], ["no"], ["0.05"], ["1.5"], ["x"]],
    "loss": [["mse"], ["pac"], ["largest"], ["x"]],
    "method": [["auto"], ["table"], ["selection"], ["transformed"], ["minimax"], ["x"]],
    "levels": [["0.5"], ["0.5:40"], ["1e-300"], ["1e300"], ["x"], [""]],
    "cap": [["0.5"], ["1e-300"], ["1e300"], ["nan"], ["x"]],
    "epsilon": [["e"], ["1"], ["1e-320"], ["1e308"], ["inf"], ["nan"], ["-1"], ["column"]],
    "q": [["0.5"], ["1"], ["x"]],
    "person": [["who"], ["column"]],
    "unit": [["minutes"], [""]],
    "title": [["a title"], [""]],
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arguments") / "people.csv"
    columns = {"x": HOLES, "y": X, "g": WORDS, "e": EPSILON, "who": WHO}
    pl.DataFrame(columns).with_columns(pl.col("x").fill_nan(None)).write_csv(path)
    return path


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_command_works_or_says_what_is_wrong(
    statistic: str, neighbours: str, table: Path
) -> None:
    flags = {each.name: each.opts[-1] for each in Publish(STATISTICS[statistic]).params}
    plain = [statistic, str(table), *SHELL[statistic]]
    plain += ["--person", "who", "--neighbours", neighbours]
    if neighbours == "add-remove":
        plain += ["--level", "0.5", "--level", "1", "--level", "2"]
    word = "exclude" if statistic == "total" else "midpoint"
    lenient = [] if "missing" not in flags else ["--missing", word]
    works = CliRunner().invoke(cli, [*plain, "--epsilon", "e", *lenient])
    assert (works.exit_code == 0) == ((statistic, neighbours) != ("count", "replace"))
    for option in OPTIONS.keys() & flags.keys():
        for words in OPTIONS[option]:
            budget = [] if option == "epsilon" else ["--epsilon", "e"]
            result = CliRunner().invoke(cli, [*plain, *budget, flags[option], *words])
            # `main` prints an error of this package as one line.
            ended = (type(None), SystemExit, EpsilonsError)
            assert isinstance(result.exception, ended), f"--{option} {words}: {result.exception!r}"
            assert "Traceback" not in result.output
            assert (result.exit_code == 0) == ("Spent: " in result.stdout), (option, words)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("statistic", ["mean", "quantile", "variance", "covariance", "count"])
def test_people_without_an_answer_can_be_left_out_of_every_number(
    statistic: str, neighbours: str
) -> None:
    if statistic == "count" and neighbours == "replace":
        pytest.skip("the number of people is public")
    first = next(iter(OWN[statistic]))
    given = {**OWN[statistic], first: HOLES, "missing": "exclude"}
    levels = LEVELS if neighbours == "add-remove" else None
    release = ep.publish(
        [STATISTICS[statistic](**given)],
        epsilon=EPSILON,
        neighbours=neighbours,
        levels=levels,
        source=ep.Seeded(5),
    )[0]
    assert release.missing == "exclude"
    assert "Who answered is protected" in release.protects
    assert "left out" in release.treats
    assert "midpoint" not in str(release)


def test_no_message_advises_to_drop_rows() -> None:
    """No message advises dropping rows, because that would publish who did not answer."""
    for path in Path(ep.__file__).parent.rglob("*.py"):
        text = " ".join(path.read_text().split()).lower()
        for advice in ("drop these rows", "drop them first", "drop rows"):
            assert advice not in text, path.name


TERMS: Final = {
    name: question for name, question in STATISTICS.items() if name not in ("count", "total")
}


@pytest.mark.parametrize("cap", [None, 0.5])
@pytest.mark.parametrize("about", parameters.CHOICES["about"])
@pytest.mark.parametrize("statistic", TERMS)
def test_terms_that_say_nothing_whatever_is_drawn_are_refused(
    statistic: str, about: str, cap: float | None
) -> None:
    """Without levels, related=True is refused under add/remove.

    No interval would be informative.
    """
    source = Counting(1)
    terms: dict[str, Any] = {"epsilon": EPSILON, "neighbours": "add-remove", "cap": cap}
    vain = TERMS[statistic](**OWN[statistic], about=about)
    with pytest.raises(ArgumentError, match=r"levels is not given.*related=True"):
        ep.publish([vain], **terms, source=source)
    assert source.asked == 0
    with pytest.raises(ArgumentError, match="levels is not given"):
        vain.call(**terms)
    ways: list[tuple[Any, dict[str, Any]]] = [(True, {"levels": LEVELS}), (0.05, {}), (False, {})]
    for related, more in ways:
        question = TERMS[statistic](**OWN[statistic], about=about, related=related)
        assert ep.publish([question], **terms, **more, source=source)[0].value is not None


def test_where_nobody_counts_budgets_no_cap_is_said_to_be_best() -> None:
    """Without levels, a release names no best cap.

    Nobody counts how many people have each budget. A cap would be best for assumed numbers of
    people only, and it would contradict the release's error.
    """
    given: dict[str, Any] = {"bounds": (0.0, 1.0), "epsilon": EPSILON, "neighbours": "add-remove"}
    for seed in range(3):
        release = ep.mean(X, **given, related=False, source=ep.Seeded(seed))
        assert [(side.cap, side.typical) for side in release.sides] == [(None, None)] * 3
        assert "best cap" not in str(release)
    counted = ep.mean(X, **given, levels=LEVELS, source=ep.Seeded(1))
    assert all(side.cap is not None for side in counted.sides)

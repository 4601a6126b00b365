"""Every value of every argument works or is refused, for each statistic and neighbour model.

A refusal is an error of this package that names the argument, before anything is drawn. If a call
works, the release contains the given value, so no value is silently ignored. The same holds for
commands, which show no traceback.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import epsilons as ep
from epsilons import parameters
from epsilons.asking.table import STATISTICS
from epsilons.errors import ArgumentError
from epsilons.questions.question import Question
from tests.needed import needed

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


# No message shows what is in an array, a column, a list, a frame or a mapping, whatever argument it
# is given as. What is shown of it is its type.

NUMBER: Final = 987654.321
TEXT: Final = "SENTINEL-hiv"


class Prints:
    """An object that prints a value of somebody."""

    def __repr__(self) -> str:
        return f"Prints({NUMBER}, {TEXT})"


def holders() -> Iterator[Any]:
    """Yield objects that hold a number or a text of people, as a user may pass them by mistake."""
    for item in (NUMBER, TEXT):
        several = [item, item, item]
        series, array = pd.Series(several), np.array(several)
        yield from (several, (item, item, item, item), [item], [several, several], {item}, array)
        yield from (array.reshape(1, -1), np.array(item), array.astype(object), pd.Index(several))
        yield from (series, series.astype(object), series.astype("category"), series.to_frame("x"))
        yield from (
            pl.Series(several),
            pl.DataFrame({"x": several}),
            pl.lit(item),
            pa.array(several),
        )
        yield from (pl.LazyFrame({"x": several}), pa.table({"x": several}), pd.Categorical(several))
        yield from ({"x": several}, {item: 1.0}, {0.5: item, "a": item}, {"a": {item: item}})
        yield nw.from_native(pl.Series(several), series_only=True)
    yield from (Prints(), [Prints()], TEXT.encode(), TEXT * 20)


def raised(call: Any) -> Iterator[BaseException]:
    """Yield the error of a call, if there is one, and all errors behind it."""
    try:
        call()
    except Exception as error:
        found: list[BaseException | None] = [error]
        while found:
            if (each := found.pop()) is not None:
                yield each
                found += [each.__cause__, each.__context__]


def secret(call: Any) -> None:
    for error in raised(call):
        told = f"{error} {error.args!r} {getattr(error, '__notes__', '')}"
        assert "987654" not in told, told
        assert "SENTINEL" not in told, told


def callables(folder: Path) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return public functions and methods, each with arguments that work."""
    text = np.array(["a", "b"] * (N // 2))
    frame = pd.DataFrame({"x": X, "k": text, "e": EPSILON, "p": WHO, "note": [{}] * N})
    mean, kinds = ep.Mean(X, bounds=(0, 1)), ep.Frequencies(text, categories=["a", "b"])
    found: dict[str, tuple[Any, dict[str, Any]]] = {}
    seeded = {"source": ep.Seeded(1)}
    for name, question in STATISTICS.items():
        own = {**OWN[name]}
        found[f"{name} of arrays"] = getattr(ep, name), {**own, "epsilon": EPSILON, **seeded}
        named = {role: "x" if role in ("values", "x", "y") else each for role, each in own.items()}
        named |= {"values": "k", "categories": ["a", "b"]} if name == "frequencies" else {}
        found[f"{name} of a frame"] = (
            getattr(ep, name),
            {**named, "epsilon": "e", "data": frame, **seeded},
        )
        found[f"{name} of private people"] = (
            getattr(ep, name),
            {**own, "epsilon": EPSILON, "neighbours": "add-remove", "levels": LEVELS, **seeded},
        )
        found[question.__name__] = question, own
    arrays: dict[str, Any] = {"epsilon": EPSILON}
    one, groups = ep.mean(X, bounds=(0, 1), **arrays, **seeded), {"by": text, "groups": ["a", "b"]}
    shares = ep.frequencies(text, categories=["a", "b"], **arrays, **seeded)
    table = ep.frequencies((text, text), categories=(["a", "b"],) * 2, **arrays, **seeded)
    two = ep.mean(X, bounds=(0, 1), **groups, **arrays, **seeded)
    heavy = ep.mean(X, bounds=(0, 1), weights=X, **arrays, **seeded)
    ledger = ep.Ledger.create(folder / "ledger.db")
    ledger.enrol(person=WHO[:60], epsilon=EPSILON[:60])
    pair = {"first": "a", "second": "b"}
    return found | {
        "publish": (ep.publish, {"questions": [mean, kinds], **arrays, **seeded}),
        "check": (ep.check, {"question": mean, **arrays}),
        "check of a frame": (ep.check, {"question": mean, "epsilon": "e", "data": frame}),
        "plan": (ep.plan, {"people_or_questions": EPSILON}),
        "plan of groups": (ep.plan, {"people_or_questions": EPSILON, "groups": ["a", "b"]}),
        "plan of questions": (ep.plan, {"people_or_questions": [mean, kinds], **arrays}),
        "plan of local": (ep.plan, {"people_or_questions": EPSILON, "model": "local"}),
        "allocate": (ep.allocate, arrays),
        "compare_menus": (ep.compare_menus, {"menus": {"A": {0.1: 0.5, 1: 0.5}}, "people": 99}),
        "compare": (ep.compare, {"first": one, "second": one}),
        "Budgets": (ep.Budgets, arrays),
        "Seeded": (ep.Seeded, {"seed": 1}),
        "interval": (one.interval, {}),
        "for_each": (one.for_each, arrays),
        "for_each with weights": (heavy.for_each, {**arrays, "weights": X}),
        "statement": (one.statement, {}),
        "from_json": (ep.Release.from_json, {"text": one.to_json()}),
        "combine": (shares.combine, {"weights": {"a": 1.0}}),
        "counts": (shares.counts, {}),
        "marginal": (table.marginal, {"columns": "column 1"}),
        "within": (table.within, {"columns": "column 1"}),
        "difference": (two.difference, pair),
        "ratio": (two.ratio, pair),
        "theory": (ep.theory.least_error, arrays),
        "one budget": (ep.theory.one_budget_error, {"epsilon": 1.0, "n": 9}),
        "audit": (ep.verify.audit, {"first": X, "second": X, "epsilon": 1.0, "samples": 9}),
        "replay": (ep.verify.replay, {"question": mean, **arrays}),
        "exact": (ep.verify.exact, {"mechanism": one.mechanism}),
        "published": (ep.verify.published, {"text": one.to_json()}),
        "Bit": (ep.local.Bit, {}),
        "local mean": (ep.local.Mean, {"bounds": (0, 1)}),
        "local frequencies": (ep.local.Frequencies, {"categories": ["a", "b"]}),
        "local vectors": (ep.local.Vector, {"dimension": 2}),
        "channel": (ep.local.Bit().channel, {"epsilon": 1.0}),
        "sampled_mean": (ep.papers.sampled_mean, {"values": X, "bounds": (0, 1), **arrays}),
        "level": (ep.collector.Level, {"name": "a", "epsilon": 1.0}),
        "serve": (ep.collector.serve, {"service": None, "proxy": "http://no"}),
        "ledger": (ep.Ledger.create, {"where": "/nowhere/at/all"}),
        "enrol": (ledger.enrol, {"person": WHO[:60], "epsilon": EPSILON[:60]}),
        "enrol a frame": (ledger.enrol, {"data": frame, "person": "p", "epsilon": "e"}),
        "claim": (ledger.claim, {"name": "a"}),
        "budgets": (ledger.budgets, {}),
        "account": (ledger.account, {"person": 1}),
        "release of a ledger": (ledger.release, {"name": "a"}),
        "abandon": (ledger.abandon, {"name": "a"}),
        "plan of a ledger": (ledger.plan, {"questions": [mean]}),
    }  # fmt: skip


@pytest.mark.parametrize("part", range(12))
def test_no_error_shows_what_an_argument_holds(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # text may be the name of a file that is written
    for function, own in list(callables(tmp_path).values())[part::12]:
        for name, parameter in inspect.signature(function).parameters.items():
            place = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL)
            others = {each: item for each, item in own.items() if each != name}
            first = (
                []
                if place
                else [others.pop(each) for each in ("people_or_questions",) if each in others]
            )
            for held in holders():
                if isinstance(held, str) and name in ("data", "where", "path"):
                    continue  # the path of a file, which is not shortened
                given = {} if place else {name: held}
                secret(lambda: function(*([held] if place else first), **{**others, **given}))  # noqa: B023


@pytest.mark.parametrize("data", [None, "frame"])
def test_no_error_shows_what_a_part_of_an_argument_holds(data: str | None) -> None:
    text = np.array(["a", "b"] * (N // 2))
    frame = pd.DataFrame({"x": X, "k": text, "e": EPSILON})
    own: dict[str, Any] = {"epsilon": EPSILON} if data is None else {"epsilon": "e", "data": frame}
    x, k = (X, text) if data is None else ("x", "k")

    def mean(**given: Any) -> Any:
        return ep.mean(**{"values": x, "bounds": (0, 1), **own, **given})

    def shares(**given: Any) -> Any:
        return ep.frequencies(**{"values": k, "categories": ["a", "b"], **own, **given})

    several = [ep.Mean(x, bounds=(0, 1))] * 2
    open_ = {"neighbours": "add-remove"}
    calls: list[Any] = [
        lambda o: mean(where=(o, "a")),
        lambda o: mean(where=(k, o)),
        lambda o: mean(by=[o, o], groups=[["a"], ["b"]]),
        lambda o: mean(by=k, groups=[o, o]),
        lambda o: mean(bounds=(0, o)),
        lambda o: mean(bounds=[o, 1]),
        lambda o: mean(**open_, levels=[o, 1]),
        lambda o: mean(**open_, levels={0.5: o, 1.0: 3}),
        lambda o: mean(menu={"a": o}),
        lambda o: mean(epsilon=[o] * N),
        lambda o: mean(assume=o),
        lambda o: mean(delta=o),
        lambda o: mean(targets=o),
        lambda o: shares(categories=[o, o]),
        lambda o: shares(categories=None, edges=[(o, 1)]),
        lambda o: shares(values=(o, k), categories=(["a"], ["b"])),
        lambda o: ep.quantile(x, [0.1, o], bounds=(0, 1), **own),
        lambda o: ep.publish([o], **own),
        lambda o: ep.publish(several, shares=[o, 1], **own),
        lambda o: ep.publish(several, targets=[o, 1], **own),
        lambda o: ep.mean(frame, o),
        lambda o: ep.compare_menus({"A": o}, people=99),
        lambda o: ep.compare_menus([o], people=99),
        lambda o: ep.Budgets({1.0: o}),
        lambda o: ep.Budgets([o, o]),
    ]
    for call in calls:
        for held in holders():
            if not isinstance(held, str):
                secret(lambda: call(held))  # noqa: B023


def test_what_was_typed_is_shown() -> None:
    for given, told in (
        ({"confidence": 1.5}, "confidence=1.5 must"),
        ({"neighbours": "remove"}, "neighbours='remove' is not known"),
        ({"bounds": (3, 1)}, r"bounds=\(3, 1\) are reversed: write bounds=\(1, 3\)"),
        ({"bounds": [3, 1]}, r"bounds=<list> are reversed: write bounds=\(lo, hi\) with lo < hi"),
        ({"spread": pd.Series([1.0])}, "spread=<Series> is invalid"),
        ({"spread": np.array([1.0])}, "spread=<ndarray> is invalid"),
        ({"about": "x" * 200}, "about=<str> is not known"),
    ):
        with pytest.raises(ArgumentError, match=told):
            ep.mean(X, **{"epsilon": EPSILON, "bounds": (0, 1), **given})

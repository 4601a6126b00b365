"""No entry of the table leaves by another door: no message, no context, no repr, no pickle, no log.

Every column has a sentinel in every kind of fault, and every object has one in it as an argument.
"""

from __future__ import annotations

import inspect
import io
import logging
import pickle
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilons_next as ep
from epsilons_next.data.roster import Roster
from epsilons_next.data.split import Split
from epsilons_next.data.tally import tallies
from epsilons_next.errors import EpsilonsError
from tests.next.forms import FORMS

WORD, NUMBER = "SENTINEL-hiv", 987654.3217
SENTINELS = ("SENTINEL", "987654")
PLAIN: dict[str, list[Any]] = {
    "p": [1, 1, 2, 3],
    "e": [1.0, 1.0, 0.5, 2.0],
    "x": [1.0, 2.0, 3.0, 4.0],
    "g": ["a", "b", "a", "b"],
}


def said(work: Callable[[], Any]) -> str:
    """Everything that somebody could see of a call, whether it fails or not."""
    log, out, err = io.StringIO(), io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    texts: list[str] = []
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            texts.append(str(work()))
        except BaseException as error:
            known: BaseException | None = error
            assert isinstance(error, EpsilonsError), type(error).__name__  # noqa: PT017
            texts += traceback.format_exception(error)
            seen = set()
            while known is not None and id(known) not in seen:
                seen.add(id(known))
                texts += [repr(known), str(known), *map(repr, known.args)]
                texts += [repr(each) for each in (known.__cause__, known.__context__)]
                known = known.__cause__ or known.__context__
    logging.getLogger().removeHandler(handler)
    return "\n".join(
        [
            *texts,
            *(str(each.message) for each in caught),
            log.getvalue(),
            out.getvalue(),
            err.getvalue(),
        ]
    )


def clean(text: str) -> None:
    for sentinel in SENTINELS:
        assert sentinel not in text, text


FAULTS: dict[str, tuple[str, Any]] = {
    "a word for a number": ("x", WORD),
    "an undeclared label": ("g", WORD),
    "a number for a label": ("g", NUMBER),
    "a word for a limit": ("e", WORD),
    "two limits": ("e", NUMBER),
    "a negative limit": ("e", -NUMBER),
    "a huge number": ("x", 1e300 * 9.876543217),
    "a word for an id": ("p", WORD),
    "an id that is no integer": ("p", NUMBER),
    "nothing for an id": ("p", None),
}
FORMS_OF_OBJECTS = ("mapping", "csv", "pandas_objects", "pandas")


@pytest.mark.parametrize("form", FORMS_OF_OBJECTS)
@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_shows_an_entry(fault: str, form: str, tmp_path: Path) -> None:
    column, entry = FAULTS[fault]
    columns = {name: list(held) for name, held in PLAIN.items()}
    columns[column][1] = entry
    if form == "csv":
        lines = [
            ",".join(columns),
            *(
                ",".join("" if x is None else str(x) for x in row)
                for row in zip(*columns.values(), strict=True)
            ),
        ]
        (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
        data: Any = str(tmp_path / "t.csv")
    else:
        data = FORMS[form](columns, tmp_path)
    for secret in ({}, {"secret": "participation", "offered": [0.5, 1, 2]}):
        for ask in (
            lambda people: people.mean("x", (0, 5)),
            lambda people: people.shares("g", ["a", "b"]),
            lambda people: people.mean(
                "x", (0, 5), by={"g": ["a", "b"]}, where={"x": ep.Bins(0, 9)}
            ),
            lambda people: people.mean("x", (0, 5), missing="exclude"),
        ):
            people = ep.People(data, "e", "p", **cast(Any, secret))
            clean(said(partial(ask, people)))


BROKEN_FILES: dict[str, str | bytes] = {
    "ragged.csv": f"p,e,x\n1,1,2\n2,1,{WORD},{WORD},{NUMBER}\n",
    "quoted.csv": f'p,e,x\n1,1,2\n2,1,"{WORD}\n3,1,{NUMBER}',
    "no utf-8.csv": b"p,e,x\n1,1,SENTINEL-\xff\xfe\n",
    "no.parquet": f"{WORD}{NUMBER}",
    "cut.csv.gz": b"\x1f\x8b\x08\x00SENTINEL987654",
    "empty.csv": "",
}


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_no_broken_file_shows_what_is_in_it(name: str, tmp_path: Path) -> None:
    held = BROKEN_FILES[name]
    (tmp_path / name).write_bytes(held if isinstance(held, bytes) else held.encode())
    clean(said(lambda: ep.People(str(tmp_path / name), "e", "p").mean("x", (0, 5))))


def test_a_lazy_frame_that_fails_forgets_its_words() -> None:
    lazy = pl.LazyFrame({"e": [1.0], "x": [WORD]}).with_columns(pl.col("x").cast(pl.Float64))
    clean(said(lambda: ep.People(lazy, "e", None).mean("x", (0, 5))))
    lazy = pl.LazyFrame({"e": [1.0], "x": [NUMBER]}).with_columns(
        pl.col("x").map_elements(fail, pl.Float64)
    )
    clean(said(lambda: ep.People(lazy, "e", None).mean("x", (0, 5))))


def fail(entry: Any) -> Any:
    raise ValueError(f"cannot read {entry}")


class Telling:
    """An object whose every text is an entry."""

    def __repr__(self) -> str:
        return WORD

    __str__ = __repr__

    def __float__(self) -> float:
        raise ValueError(WORD)


ARGUMENTS: tuple[Any, ...] = (
    pd.Series([WORD, NUMBER]),
    pl.Series([NUMBER]),
    pl.Series([WORD]),
    np.array([NUMBER]),
    np.array([WORD], object),
    [WORD, NUMBER],
    (NUMBER, WORD, None),
    {WORD: NUMBER},
    {"g": pd.Series([WORD])},
    {"g": [pd.Series([WORD])]},
    {"g": {WORD: [NUMBER, [WORD]]}},
    pl.DataFrame({WORD: [NUMBER]}),
    pd.DataFrame({"x": [WORD]}),
    pl.col("x") == WORD,
    Telling(),
    Decimal("987654.3217"),
    WORD.encode(),
    {WORD},
    lambda: WORD,
    10**400,
)
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "People": (ep.People, {"data": PLAIN, "epsilon": "e", "person": "p"}),
    "mean": (lambda **w: ep.People(PLAIN, "e", "p").mean(**w), {"column": "x", "bounds": (0, 5)}),
    "shares": (
        lambda **w: ep.People(PLAIN, "e", "p").shares(**w),
        {"column": "g", "categories": ["a", "b"]},
    ),
    "publish": (
        lambda **w: ep.People(PLAIN, "e", "p").publish(**w),
        {"questions": [ep.Mean("x", (0, 5))], "parts": [1]},
    ),
    "at": (lambda **w: ep.People(PLAIN, "e", "p").mean("x", (0, 5)).at(**w), {"confidence": 0.9}),
    "release": (
        lambda **w: ep.People(PLAIN, "e", "p").shares("g", ["a", "b"])[w["names"]],
        {"names": "a"},
    ),
    "Bins": (lambda **w: ep.Bins(*w.values()), {"a": 1, "b": 2}),
    "Within": (ep.Within, {"apart": 1}),
    "read": (ep.read, {"path": "nothing.json"}),
    "to_json": (
        lambda **w: ep.People(PLAIN, "e", "p").mean("x", (0, 5)).to_json(**w),
        {"path": None},
    ),
}
PARAMETERS = [
    (call, name)
    for call, (function, words) in CALLS.items()
    for name in dict.fromkeys(
        [
            *words,
            *(
                inspect.signature(
                    {"mean": ep.Mean, "shares": ep.Shares}.get(call, function)
                ).parameters
                if call in ("mean", "shares", "People")
                else []
            ),
            *(["about", "assume"] if call == "at" else []),
        ]
    )
]


@pytest.mark.parametrize(("call", "parameter"), PARAMETERS)
def test_no_argument_shows_what_is_in_it(call: str, parameter: str) -> None:
    function, words = CALLS[call]
    for argument in ARGUMENTS:
        if (
            call == "People"
            and parameter == "data"
            and isinstance(argument, (dict, pl.DataFrame, pd.DataFrame))
        ):
            continue  # names of its columns are shown
        if call in ("Within", "Bins") and isinstance(argument, Decimal):
            continue  # a number where a number belongs
        work = lambda argument=argument: function(**{**words, parameter: argument})  # noqa: E731
        try:
            text = said(work)
        except AssertionError as error:
            raise AssertionError(f"{parameter}={type(argument).__name__}: {error}") from None
        if not (parameter in ("by", "where", "menu") and isinstance(argument, dict)):
            clean(text)  # what is typed as a label, or as the name of a column, may be shown


def test_nothing_that_is_kept_holds_an_entry() -> None:
    columns = {
        **PLAIN,
        "x": [NUMBER, 2.0, 3.0, 4.0],
        "g": [WORD, "b", WORD, "b"],
        "p": [987654, 2, 3, 4],
    }
    people = ep.People(columns, "e", "p")
    release = people.mean("x", (0, 10**6), where={"g": "b"}, missing="exclude")
    (tally,) = tallies(Roster(columns, "e", "p"), [Split()], [])
    for text in (
        repr(people),
        str(people),
        repr(release),
        release.to_json(),
        repr(tally),
        repr(people.account),
    ):
        clean(text)
    kept = pickle.dumps(release)
    assert b"SENTINEL" not in kept
    assert b"987654" not in kept


def test_values_near_a_float_are_in_no_release() -> None:
    """What is drawn has noise in every bit: the exact total is nowhere in what is kept."""
    columns = {"e": [1.0] * 50, "x": [float(i) for i in range(50)]}
    release = ep.People(columns, "e", None).mean("x", (0, 100))
    exact = sum(round(x / 100 * 2**30) for x in columns["x"])
    drawn = cast(Any, release.replay).drawn[0]
    assert all(integer % (exact * drawn.mechanism.weights[0]) for integer in drawn.integers)

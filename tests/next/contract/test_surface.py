"""What people see and type: prints, errors, words, signatures and help; and what loads with them.

For words, prints and errors the page on the surface decides. Patterns are of prints on one line.
"""

from __future__ import annotations

import inspect
import json
import math
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pandas as pd
import polars as pl
import pytest

import epsilons_next as ep
from epsilons_next import errors
from epsilons_next.checks import SYNONYMS
from epsilons_next.mechanisms.linear import Linear
from epsilons_next.releases.release import Release
from epsilons_next.releases.several import Releases
from epsilons_next.running.account import Account

Ask = Callable[[], Any]

WIDE = 101
LABELS = ("Who", "Interval", "Data", "Privacy", "More")
REGIONS = ["north", "south", "east", "west"]
MINUTES: Mapping[str, Any] = {"column": "minutes", "bounds": (0, 120), "unit": "minutes"}

NEVER = (
    r"\b1 (others|people|persons|questions|rows|entries|times|numbers|releases|that do)\b",
    r"\bin all [2-9]\b",  # "in all two"
    r"\b(the|of) 1 \w+s\b",
    r"  +\S*\s+\.",
    r"\.\.|,,| ,| ;|\( +\D|\bnan\b|\binf\b",
    r"\be\^\S*e\+",  # a power of a power of ten
)
"""What no sentence may have: a plural of one, doubled stops, and numbers that nobody can read."""


def commuters(**words: Any) -> Any:
    return ep.People(ep.demo(), **{"epsilon": "epsilon", "person": "person", **words})


def small(**words: Any) -> Any:
    columns = {"x": [4.0, 6.0], "g": ["a", "b"], "e": [1.0, 1.0], "id": ["i", "j"], "w": [1.0, 2.0]}
    return ep.People(columns | words.pop("data", {}), **{"epsilon": "e", "person": None, **words})


def after(first: Any, second: Any, people: Any = None) -> Any:
    """The release of the second question, asked after the first."""
    people = people or commuters()
    people.publish([first])
    return people.publish([second])[0]


def one_line(shown: Any) -> str:
    return " ".join(str(shown).split())


PRINTS: Mapping[str, tuple[Ask, int, tuple[str, ...]]] = {
    "one mean": (
        lambda: commuters().mean(**MINUTES, title="Way to work, mean"),
        9,
        (
            r"^Way to work, mean [\d.]+ minutes 95 % interval [\d.]+ to [\d.]+ Who all 4,000 "
            r"people in "
            r'the data; rows with the same "person" are one person Interval holds whatever '
            r"these people "
            r"answered; it does not speak of others like them Data values outside 0 to 120 minutes "
            r"counted as 0 or 120 Privacy kept within everyone's limit: at most ε = 0\.\d+ was "
            r"used "
            r"\(limits 0\.05 to ∞\)\. No answer makes any result more than 1\.2\d times as "
            r"likely\. Who "
            r"took part, and their limits, is public More ",
        ),
    ),
    "shares": (
        lambda: commuters().shares("mode", ["car", "train", "bicycle"], other="other"),
        16,
        (
            r"share 95 % interval car +[\d.]+ % +[\d.]+ to [\d.]+ train",
            r"Interval each holds whatever these people answered; it does not speak of others",
            r'Data "other" is everyone with another entry( of mode)? or none',
        ),
    ),
    "means by region": (
        lambda: commuters().mean(**MINUTES, by={"region": REGIONS}),
        15,
        (r"minutes 95 % interval north +[\d.]+ +[\d.]+ to [\d.]+ south",),
    ),
    "two-way table": (
        lambda: commuters().shares(
            "late",
            {"late": "yes", "in time": "no"},
            by={"region": REGIONS},
            missing="exclude",
        ),
        16,
        (
            r"^Shares of late by region, % of each region \(95 % interval\) late in time north "
            r"[\d.]+ \(",
            r"Each line adds up to 100 %",
            r"Who those of 4,000 people who gave",
        ),
    ),
    "several questions": (
        lambda: commuters().publish(
            [
                ep.Mean(**MINUTES),
                ep.Shares("region", REGIONS),
                ep.Mean(**MINUTES, title="Those who allowed more", at_least=1),
            ]
        ),
        22,
        (
            r"1 Mean of minutes [\d.]+ minutes [\d.]+ to [\d.]+ 2 Shares of region north",
            r"kept within everyone's limit, all three together: at most ε = [\d.]+ (was used "
            r")?in all "
            r"\(limits 0\.05 to ∞\)",
            r"No answer makes these results more than [\d.]+ times as likely",
            r'More releases\[0\] … releases\[2\], releases\["Mean of minutes"\]',
        ),
    ),
    "a filter": (
        lambda: commuters().mean(**MINUTES, where={"region": "north"}),
        10,
        (
            r"^Mean of minutes where region = north",
            r"Who those of 4,000 people with region = north;",
        ),
    ),
    "those who allowed more": (
        lambda: commuters().mean(**MINUTES, at_least=0.5),
        11,
        (
            r"3,938 of 4,000 people, those with ε of 0.5 or more; nothing is said of the "
            r"others; rows",
        ),
    ),
    "added up": (
        lambda: commuters(rows="sum").mean("minutes", bounds=(0, 300), at_least=0.5),
        11,
        (r"are added up Interval", r"Data a person's sum outside 0 to 300 counted as 0 or 300"),
    ),
    "participation": (
        lambda: commuters(secret="participation", offered=[0.1, 0.5, 1, 2]).mean(**MINUTES),
        12,
        (
            r"Who everyone who took part with ε of 0\.1 or more and gave minutes; how many is "
            r"secret; rows",
            r"\(limits 0\.1 to 2\)\. Taking part makes no result more than 1\.11 times as "
            r"likely or "
            r"unlikely, another answer no more than 1\.23 times",
        ),
    ),
    "a population": (
        lambda: commuters().mean(**MINUTES, about="population"),
        11,
        (
            r"holds for the population, if these people are a random sample of it \(normal "
            r"approximation",
        ),
    ),
    "unrelated": (
        lambda: commuters().mean(**MINUTES, assume="unrelated"),
        11,
        (
            r'holds if limits have nothing to do with answers \(assume="unrelated"; normal '
            r"approximation",
        ),
    ),
    "within": (
        lambda: commuters().mean(**MINUTES, assume=ep.Within(6)),
        11,
        (r"holds if people with different limits differ by at most 6 minutes on average",),
    ),
    "an earlier release": (
        lambda: after(ep.Mean(**MINUTES), ep.Shares("region", REGIONS)),
        17,
        (
            r"kept within everyone's limit, with one earlier release: at most ε = 0\.\d+ in all",
            r"Data 14 people had nothing left and count as unknown",
        ),
    ),
    "nothing left": (
        lambda: after(ep.Mean(**MINUTES), ep.Mean("minutes", (0, 60), unit="minutes")),
        14,
        (r"people had nothing left and count as unknown, from 0 to 60 minutes",),
    ),
    "a rare share": (
        lambda: ep.People({"x": ["b"] * 6000}, 0.2, None, seed=1).shares("x", ["a", "b"])["a"],
        10,
        (r"at most [\d.]+ % 95 % interval [0.]+ to [\d.]+ %; most plausible [\d.]+ %",),
    ),
    "a simulation": (
        lambda: commuters(seed=1).mean(**MINUTES),
        10,
        (r"^NOT PRIVATE: DRAWN FROM A SEED, FOR SIMULATION ONLY\. Mean of minutes",),
    ),
    "another confidence": (
        lambda: commuters().shares("region", REGIONS).at(0.5),
        16,
        (r"share 50 % interval north",),
    ),
    "one left out": (
        lambda: small(data={"e": [0.0, 1.0]}).mean("x", (0, 10), missing="exclude"),
        10,
        (
            r"those of one person who gave x|the one person",
            r"another gave nothing|other gave nothing",
        ),
    ),
    "one left out of two": (
        lambda: small(data={"e": [0.0, 1.0]}).mean("x", (0, 10)),
        10,
        (r"1 of 2 people; the other (1 |one )?gave nothing, ε = 0",),
    ),
    "public people": (
        lambda: small(epsilon=math.inf).mean("x", (0, 10)),
        10,
        (r"everyone's limit is ∞",),
    ),
    "large numbers": (
        lambda: ep.People({"x": [3e6] * 5000}, 0.5, None).mean("x", (0, 1e8), unit="EUR"),
        10,
        (r"[\d,]+000 EUR 95 % interval -?[\d,]+000? to [\d,]+000 Who",),
    ),
}


@cache
def printed(name: str) -> Any:
    """What is shown; it is asked once."""
    return PRINTS[name][0]()


@pytest.mark.parametrize("name", PRINTS)
def test_a_print_has_its_lines_and_says_what_is_so(name: str) -> None:
    _, most, sentences = PRINTS[name]
    shown = printed(name)
    lines = str(shown).splitlines()
    body = lines[lines.index("") + 1 :]
    labels = [line[:10].strip() for line in body if line[:10].strip()]
    assert labels == [label for label in LABELS if label in labels]
    assert {"Who", "Interval", "Privacy", "More"} <= {*labels}
    assert max(map(len, lines)) <= WIDE
    assert len(lines) <= most
    for sentence in sentences:
        assert re.search(sentence, one_line(shown)), f"{sentence!r} is not in\n{shown}"


@pytest.mark.parametrize("name", PRINTS)
def test_a_print_is_english(name: str) -> None:
    text = one_line(printed(name))
    for pattern in NEVER:
        found = re.search(pattern, text)
        assert found is None, f"{found[0]!r} in {text}"


@pytest.mark.parametrize("name", PRINTS)
def test_more_names_what_is_there(name: str) -> None:
    shown = printed(name)
    more = one_line(shown).rpartition("More ")[2]
    calls = re.findall(r"(\w+)\(", more)
    assert calls
    assert all(callable(getattr(shown, call)) for call in calls)
    for which in re.findall(r"releases\[([^]]+)\]", more):
        assert shown[json.loads(which)] in list(shown)


@pytest.mark.parametrize(
    "people", [commuters, small, lambda: commuters(secret="participation", offered=[1])]
)
def test_people_are_told_without_reading_a_row(people: Ask) -> None:
    told = people()
    object.__setattr__(told, "data", Unreadable("people.csv"))
    assert max(map(len, str(told).splitlines())) <= WIDE
    assert "secret" in str(told)


class Unreadable(str):
    """A path that must not be opened."""

    def __fspath__(self) -> str:
        raise AssertionError("somebody reads it")


def test_a_seed_is_said_wherever_numbers_are(tmp_path: Path) -> None:
    people = commuters(seed=3)
    shares = people.shares("region", REGIONS)
    several = people.publish([ep.Mean(**MINUTES, at_least=1), ep.Mean(**MINUTES, at_least=2)])
    shares.to_json(tmp_path / "shares.json")
    shown = [
        shares,
        shares["north"],
        shares.at(0.9),
        several,
        several[0],
        ep.read(tmp_path / "shares.json"),
    ]
    assert [str(each).splitlines()[0] for each in shown] == [
        "NOT PRIVATE: DRAWN FROM A SEED, FOR SIMULATION ONLY."
    ] * len(shown)
    assert "a seed: this is no private release" in one_line(shares.details())
    assert json.loads(shares.to_json())["facts"]["private"] is False


# What is refused: who is told, with which class, and what the sentence has.
FRAME = pl.DataFrame({"affair": ["yes", "no"], "income": ["1,000", "2"], "eps": [1.0, 1.0]})
GAPS = {"income": [1.0] * 5837 + [None] * 529}
MARRIAGE = {"marriage": ["fair"] * 100 + ["Fairly "] * 60 + ["fairly"] * 6}
LIMITS = {"eps": [None] * 12 + [1.0, 2.0], "id": [*range(12), 13, 13], "x": [1.0] * 14}
WORDS = {"consent": ["strict", "open"] + ["never"] * 31, "x": [1.0] * 33}
MENU = {"strict": 0.1, "medium": 0.5, "open": 2}
ERRORS: Mapping[str, tuple[Ask, type[Exception], str]] = {
    "1 person": (
        lambda: ep.People({"id": [1], "household": [1], "eps": [1.0]}, epsilon="eps"),
        errors.ArgumentError,
        r'^People: say whose row each row is: person="id" for a column of ids, or person=None '
        r"if each "
        r'row is one person\. Columns that could be it: "id", "household"\.',
    ),
    "2 values": (
        lambda: commuters().mean(values="minutes", bounds=(0, 120)),
        errors.ArgumentError,
        r'^Mean has no "values": the column comes first, people\.mean\("minutes", …\), or '
        r'column="minutes"\.',
    ),
    "2 bins": (
        lambda: commuters().shares("minutes", bins=[0, 30]),
        errors.ArgumentError,
        r'^Shares has no "bins": write categories=ep\.Bins\(18, 30, 65',
    ),
    "2 misspelt": (
        lambda: commuters().mean("minutes", bouds=(0, 120)),
        errors.ArgumentError,
        r'^Mean has no "bouds": write bounds\.',
    ),
    "2 of publish": (
        lambda: commuters().publish([ep.Mean(**MINUTES)], part=[1]),
        errors.ArgumentError,
        r"parts",
    ),
    "3 a series": (
        lambda: ep.People(FRAME, epsilon=pd.Series([1.0]), person=None),
        errors.ArgumentError,
        r"^epsilon: give the name of a column of the data, .* A column by itself has lost its "
        r"rows, and "
        r"(limits )?could meet the wrong people\. For a filter: where=\{",
    ),
    "4 missing": (
        lambda: ep.People(GAPS, 1.0, None).mean("income", (0, 10)),
        errors.DataError,
        r'^"income": 529 of 6,366 people have no entry\. missing="exclude" leaves them out, and '
        r"the "
        r"result says so; do not drop them from the table, since how many people there are is "
        r"published\.",
    ),
    "5 undeclared": (
        lambda: ep.People(MARRIAGE, 1.0, None).shares("marriage", ["fair", "good"]),
        errors.DataError,
        r'^"marriage": 66 (rows|people) have an entry that is not .*other="other" takes them all\.',
    ),
    "5 declared twice": (
        lambda: small().shares("g", ["a", "b"], by={"g": ["a"]}),
        errors.DataError,
        r'^"g": 1 (row|person) has an entry that is not declared',
    ),
    "6 text": (
        lambda: ep.People(FRAME, "eps", None).mean("affair", (0, 1)),
        errors.ColumnError,
        r'^"affair" holds text, and .*numbers.* For the share of each answer: '
        r'people\.shares\("affair", '
        r'\["yes", "no"\]\)\.',
    ),
    "6 no number": (
        lambda: ep.People({"income": ["1,000", 2.0]}, 1.0, None).mean("income", (0, 9)),
        errors.DataError,
        r'^"income": 1 entry is text that is no number \(thousands separators\?\)\. It is not '
        r'"missing"',
    ),
    "7 no bounds": (
        lambda: commuters().mean("minutes"),
        errors.ArgumentError,
        r"^Mean: bounds=\(0, 120\), please: the possible values, known without looking at these "
        r"people\.",
    ),
    "7 no categories": (
        lambda: commuters().shares("mode"),
        errors.ArgumentError,
        r'^Shares: categories=\["yes", "no"\], please: the possible entries, known without looking',
    ),
    "8 no limit": (
        lambda: ep.People(LIMITS, "eps", "id").mean("x", (0, 1)),
        errors.DataError,
        r'^"eps": 12 (people|rows) have no limit.* Everyone needs exactly one: mend the table, '
        r"or set it "
        r"to 0 to leave them out\.",
    ),
    "8 no word": (
        lambda: ep.People(WORDS, "consent", None, menu=MENU).mean("x", (0, 1)),
        errors.DataError,
        r'^"consent": 31 (rows|people) have a word that is not in menu \(strict, medium, open\)\.',
    ),
    "9 nothing left": (
        lambda: after(ep.Mean("x", (0, 9)), ep.Mean("x", (0, 8)), small()),
        errors.LedgerError,
        r"^Nobody .*has anything left\. Ask several questions at once, publish\(\[…\]\)",
    ),
    "10 ep.mean": (
        lambda: ep.mean,  # type: ignore[attr-defined]
        errors.UnknownNameError,
        r'^ep has no "mean": ep\.People\(data, epsilon=…, person=…\)\.mean\("minutes", …\)\.',
    ),
    "10 ep.nonsense": (
        lambda: ep.nonsense,  # type: ignore[attr-defined]
        errors.UnknownNameError,
        r'^ep has no "nonsense"\. It has Bins, Labels, Mean, .*People',
    ),
    "10 people.median is no mean": (
        lambda: commuters().median,
        errors.UnknownNameError,
        r'^People has no "median"(?!: write mean)',
    ),
    "10 several numbers": (
        lambda: commuters().shares("region", REGIONS).low,
        errors.ArgumentError,
        r'^This release has 4 numbers: release\["north"\]\.low, or release\.to_frame\(\)\.',
    ),
    "10 one number": (
        lambda: commuters().mean(**MINUTES)["north"],
        errors.ArgumentError,
        r"^This release has (no number 'north'\. It is|one number)",
    ),
    "nobody at all": (
        lambda: ep.People({"x": [], "e": []}, "e", None).mean("x", (0, 1)),
        errors.DataError,
        r"[Nn]obody",
    ),
    "everyone left out": (
        lambda: small(epsilon=0.0).mean("x", (0, 10)),
        errors.DataError,
        r"[Nn]obody",
    ),
    "no such file": (
        lambda: ep.People("nowhere.csv", 1.0, None).mean("x", (0, 10)),
        errors.FileError,
        r"^data: there is no file 'nowhere\.csv'",
    ),
    "parts": (
        lambda: commuters().publish([ep.Mean(**MINUTES)], parts=[1, 2]),
        errors.ArgumentError,
        r"^parts: one number for (each|the one) ",
    ),
    "a release for its path": (
        lambda: ep.read(commuters().mean(**MINUTES).to_json()),
        errors.ArgumentError,
        "^path: the name of a file belongs here, and not its text",
    ),
}
AFTER_A_DRAW = ("10 several numbers", "10 one number", "no such file")


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_says_what_is_wrong_and_what_to_type(name: str) -> None:
    ask, kind, pattern = ERRORS[name]
    with pytest.raises(kind) as caught:
        ask()
    text = str(caught.value)
    assert re.search(pattern, text, re.DOTALL), text
    assert caught.value.__context__ is None
    for never in (*NEVER, "Fairly", "never", "kwargs"):
        assert not re.search(never, text), text
    if name not in AFTER_A_DRAW:
        assert text.endswith(" Nothing was drawn or spent.")


def test_a_file_in_this_folder_needs_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(ep.demo(), tmp_path / "people.csv")
    monkeypatch.chdir(tmp_path)
    release = ep.People("people.csv", epsilon="epsilon", person="person").mean(**MINUTES)
    assert "all 4,000 people" in str(release)


CODES = {
    errors.ArgumentError: (2, ValueError, TypeError),
    errors.DataError: (3, ValueError),
    errors.LedgerError: (4,),
    errors.FileError: (5, ValueError),
    errors.PrivacyError: (6,),
}


@pytest.mark.parametrize("kind", CODES)
def test_every_kind_of_error_has_its_exit_code(kind: type[errors.EpsilonsError]) -> None:
    code, *also = CODES[kind]
    assert kind.code == code
    assert issubclass(kind, (errors.EpsilonsError, *also))
    assert all(issubclass(kind, each) for each in also)
    assert str(kind("No.")).endswith("spent.") == (code in (2, 3, 4))


def owners(word: str) -> list[Callable[..., Any]]:
    """Every call that has a parameter of this name."""
    calls = [ep.People, ep.Mean, ep.Shares, commuters().publish]
    return [call for call in calls if word in parameters(call)]


def parameters(call: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(call).parameters


STATISTICS = ("mean", "shares", "total", "count", "quantile", "variance", "correlation")


@pytest.mark.parametrize("word", SYNONYMS)
def test_another_word_is_answered_with_ours(word: str) -> None:
    meant = SYNONYMS[word]
    parameter = meant.partition("=")[0]
    if meant in STATISTICS:  # one that is not there yet is not taken for another one
        answer = f": write {meant}" if hasattr(ep.People, meant) else r"\. It has "
        with pytest.raises(errors.UnknownNameError, match=f'^People has no "{word}"{answer}'):
            getattr(commuters(), word)
        return
    calls = [ep.Mean, ep.Shares] if "." in parameter else owners(parameter)
    if parameter == "q" and not calls:
        pytest.skip("no question has quantiles yet")
    assert calls, f"nothing has {parameter}"
    for call in calls:
        with pytest.raises(errors.ArgumentError) as caught:
            call(**{word: 1})
        assert re.search(f'has no "{word}": .*{re.escape(parameter)}', str(caught.value))


def test_the_names_are_those_of_the_surface() -> None:
    assert dir(ep) == sorted(ep.__all__, key=str.lower) or dir(ep) == list(ep.__all__)
    assert {"People", "Mean", "Shares", "Bins", "Within", "Labels", "demo", "read", "errors"} <= {
        *dir(ep)
    }
    assert all(getattr(ep, name) is not None for name in dir(ep))
    assert not hasattr(ep, "_nonsense")


METHODS: dict[str, Callable[..., Any]] = {
    f"{owner.__name__}.{name}": call
    for owner in (ep.People, Release, Releases)
    for name, call in inspect.getmembers(owner, inspect.isfunction)
    if not name.startswith("_") and name not in ("index", "count")
}
CALLS = {name: getattr(ep, name) for name in dir(ep) if name not in ("errors", "Labels")} | METHODS


@pytest.mark.parametrize("name", CALLS)
def test_a_call_has_at_most_twelve_parameters_and_explains_each(name: str) -> None:
    call, text = CALLS[name], inspect.getdoc(CALLS[name]) or ""
    found = [each for each in parameters(call).values() if each.name != "self"]
    assert len(found) <= 12
    named = [each for each in found if each.kind is not each.VAR_POSITIONAL]
    assert all(each.kind is not each.VAR_KEYWORD for each in found), "its words are not known"
    section = text.partition("Args:")[2].partition("Raises:")[0]
    for each in named:
        assert re.search(rf"^ +(\w+, )*{each.name}(, \w+)*: ", section, re.MULTILINE), each.name
    assert "Raises:" in text or not named
    assert text.endswith(".") or "\n" in text


@pytest.mark.parametrize("name", ["read", "demo", *METHODS])
def test_help_says_what_is_returned(name: str) -> None:
    first = (inspect.getdoc(CALLS[name]) or "").splitlines()[0]
    assert re.match(r"(Return|Read|Ask|The) ", first)
    assert first.endswith((".", "group."))


TYPED = """
import epsilons_next as ep
people = ep.People("people.csv", epsilon="epsilon", person="person")
people.mean("x", bounds=(0, 1))
people.shares("x", ["a", "b"], by={"g": ["c", "d"]}, missing="exclude").at(0.9).low
people.publish([ep.Mean("x", bounds=(0, 1)), ep.Shares("x", ep.Bins(0, 1))], parts=[2, 1])[0].value
"""
WRONG = (
    'people.mean("x", bouds=(0, 1))',
    'people.mean("x")',
    'people.mean("x", bounds=(0, 1), missing="drop")',
    "people.median",
    "ep.nonsense",
    'ep.People("people.csv", epsilon="epsilon")',
)


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_type_checker_knows_the_words(checker: str, tmp_path: Path) -> None:
    found = shutil.which(checker, path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip(f"{checker} is not installed")
    source = Path(inspect.getfile(ep)).parents[1]
    script, lines = tmp_path / "typed.py", TYPED.count("\n")
    script.write_text(TYPED + "\n".join(WRONG) + "\n", encoding="utf-8")
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {source}\nfollow_imports = silent\n"
        "[mypy-numpy.*,polars.*]\nfollow_imports = skip\n"
    )
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(source)]}))
    words = ["--no-incremental", "--config-file=mypy.ini"] if checker == "mypy" else []
    ran = subprocess.run([found, *words, script.name], cwd=tmp_path, capture_output=True, text=True)
    refused = {int(line) for line in re.findall(r"typed\.py:(\d+):.*error", ran.stdout)}
    assert refused == {*range(lines + 1, lines + 1 + len(WRONG))}, ran.stdout + ran.stderr


LOADED = """
import sys, time
start = time.perf_counter()
import epsilons_next as ep
taken = time.perf_counter() - start
heavy = {"polars", "numpy", "pandas", "pyarrow"}
dir(ep)
assert not heavy & set(sys.modules), heavy & set(sys.modules)
print(ep.People(ep.demo(), epsilon="epsilon", person="person"))
ep.Mean("minutes", (0, 120), by={"region": ["north"]}), ep.Shares("mode", ["car", "bus"])
assert not (heavy - {"numpy"}) & set(sys.modules), heavy & set(sys.modules)
print(taken)
"""


def test_it_loads_at_once_and_no_engine_before_data_are_read() -> None:
    taken = []
    for _ in range(3):
        ran = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
        assert not ran.returncode, ran.stderr
        taken.append(float(ran.stdout.split()[-1]))
    assert min(taken) <= 0.2


def spent(people: Any) -> dict[float, Fraction]:
    """What everybody had spent before a last question, which is about those who allowed most."""
    last = people.mean("x", (0, 3), at_least=4.0, title="the last")
    return {each.limit: each.spent - each.lost for each in last.facts.spending}


def crowd() -> Any:
    columns = {"x": [1.0, 5.0, 7.0] * 100, "e": [0.5, 1.0, 2.0, 0.5, 1.0, 4.0] * 50}
    return ep.People(columns, "e", None)


def test_two_threads_share_one_account() -> None:
    people, held, barrier = crowd(), list[Any](), threading.Barrier(2)

    def ask(high: int) -> None:
        barrier.wait()
        try:
            held.append(people.mean("x", (0, high)))
        except errors.LedgerError:
            held.append(None)

    threads = [threading.Thread(target=ask, args=(high,)) for high in (8, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answered = [each for each in held if each is not None]
    assert answered
    for limit, used in spent(people).items():
        assert used == sum(each.spent[limit] for each in answered) <= Fraction(limit)


STEPS = {
    "before the charge": (Account, "charge", 0),
    "after the charge": (Account, "charge", 1),
} | {
    "before the draw": (Linear, "draw", 0),
    "after the draw": (Linear, "draw", 1),
}


@pytest.mark.parametrize("step", STEPS)
def test_an_interrupt_charges_everybody_or_nobody(step: str) -> None:
    owner, name, late = STEPS[step]
    honest, people = getattr(owner, name), crowd()

    def interrupted(*args: Any) -> Any:
        if late:
            honest(*args)
        raise KeyboardInterrupt

    whole = dict(crowd().mean("x", (0, 9)).spent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            people.mean("x", (0, 9))
    nobody = dict.fromkeys(whole, Fraction(0))
    assert spent(people) == (nobody if step == "before the charge" else whole)


def test_an_interrupt_at_any_time_charges_everybody_or_nobody() -> None:
    whole = dict(crowd().mean("x", (0, 9)).spent)

    def stop(_: int, frame: FrameType | None) -> None:
        """Interrupt the question, and nothing that this test does around it."""
        while frame is not None:
            if frame.f_code.co_name == "publish":
                raise KeyboardInterrupt
            frame = frame.f_back

    before = signal.signal(signal.SIGALRM, stop)
    try:
        for after_so_long in (0.0005, 0.001, 0.002, 0.004, 0.006, 0.008, 0.01, 0.012):
            people, answered = crowd(), False
            try:
                signal.setitimer(signal.ITIMER_REAL, after_so_long)
                people.mean("x", (0, 9))
                answered = True
            except (KeyboardInterrupt, Exception):  # an engine may have words of its own for it
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            left = spent(people)
            assert left == whole or (not answered and left == dict.fromkeys(whole, 0))
    finally:
        signal.signal(signal.SIGALRM, before)

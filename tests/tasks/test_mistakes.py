"""Mistakes that people make: the message names the parameter and the remedy, and the remedy works.

Each is made in Python and, where it can be, in the shell. docs/mistakes.md shows what is printed.
If messages have changed on purpose, write that page again with EPSILONS_UPDATE_DOCS=1 pytest -n 0
tests/tasks/test_mistakes.py.
"""

from __future__ import annotations

import os
import shlex
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.asking.commands import spoken
from epsilons.errors import EpsilonsError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "mistakes.md"

RNG = np.random.default_rng(1)
N = 60
PEOPLE = pl.DataFrame(
    {
        "who": [f"name-{i}" for i in range(N)],
        "income": RNG.uniform(1000.0, 90_000.0, N).round(2),
        "age": RNG.integers(18, 80, N),
        "answer": RNG.choice(["yes", "no"], N),
        "region": RNG.choice(["north", "south"], N),
        "day": [f"2024-{i % 12 + 1:02d}-17" for i in range(N)],
        "epsilon": RNG.choice([0.5, 1.0], N),
    }
)
FIRST = pl.int_range(N) == 0
STUDY = """[study]
data = "people.csv"
epsilon = "epsilon"

[[question]]
statistic = "mean"
values = "income"
bounds = [0, 90000]
"""


def spelt(mark: str, text: str) -> pl.DataFrame:
    """The people, with incomes as text."""
    incomes = [format(each, text) for each in PEOPLE["income"]]
    return PEOPLE.with_columns(income=pl.Series([each.replace(".", mark) for each in incomes]))


FILES: dict[str, pl.DataFrame] = {
    "people.csv": PEOPLE,
    "capitals.csv": PEOPLE.rename({"income": "INCOME"}),
    "blanks.csv": PEOPLE.rename({"income": " income "}),
    "missing.csv": PEOPLE.with_columns(income=pl.when(~FIRST).then("income")),
    "gap.csv": PEOPLE.with_columns(epsilon=pl.when(~FIRST).then("epsilon")),
    "gap filled.csv": PEOPLE.with_columns(epsilon=pl.when(~FIRST).then("epsilon").otherwise(0.0)),
    "negative.csv": PEOPLE.with_columns(epsilon=pl.when(~FIRST).then("epsilon").otherwise(-1.0)),
    "words.csv": PEOPLE.with_columns(epsilon=pl.lit("low")),
    "twice.csv": pl.concat([PEOPLE, PEOPLE[:1].with_columns(epsilon=pl.lit(0.25))]),
    "smallest.csv": pl.concat([PEOPLE, PEOPLE[:1]]).with_columns(
        epsilon=pl.when(pl.col("who") == "name-0").then(0.25).otherwise("epsilon")
    ),
    "five.csv": PEOPLE[:5].with_columns(epsilon=pl.lit(0.05)),
    "one.csv": PEOPLE[:1],
    "thousands.csv": spelt(".", ",.2f"),
    "year.csv": PEOPLE.with_columns(pl.col("day").str.slice(5, 2).alias("month")),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files such as users have."""
    place = tmp_path_factory.mktemp("mistakes")
    for name, frame in FILES.items():
        frame.write_csv(place / name)
    PEOPLE.write_csv(place / "semicolons.csv", separator=";")
    spelt(",", ".2f").write_csv(place / "comma.csv", separator=";")
    rows = "".join(f"{i},{i},1\n" for i in range(20))
    (place / "double.csv").write_text(f"income,income,epsilon\n{rows}")
    (place / "single.csv").write_text(f"income,second,epsilon\n{rows}")
    (place / "empty.csv").touch()
    (place / "folder").mkdir()
    PEOPLE.write_csv(place / "people.dat")
    for name, (old, new) in {
        "study.toml": ("", ""),
        "key.toml": ("bounds", "bonds"),
        "statistic.toml": ('"mean"', '"maen"'),
        "table.toml": ("[[question]]", "[[questions]]"),
        "term.toml": ("epsilon =", "epsilom ="),
        "quotes.toml": ('"mean"', "mean"),
    }.items():
        (place / name).write_text(STUDY.replace(old, new) if old else STUDY)
    with ep.Ledger.create(str(place / "ledger.db")) as ledger:
        ledger.enrol(person=PEOPLE["who"].to_list(), epsilon=[1.0] * N)
    return place


Call = Callable[[], Any]


def asked(function: Callable[..., Any], **usual: Any) -> Callable[..., Call]:
    """Return a function that changes some arguments of a call. The value `...` leaves one out."""

    def changed(**given: Any) -> Call:
        every = {**usual, **given}
        return lambda: function(**{name: each for name, each in every.items() if each is not ...})

    return changed


USUAL: dict[str, Any] = {"values": "income", "epsilon": "epsilon", "data": "people.csv"}
mean = asked(ep.mean, **USUAL, bounds=(0, 90_000))
quantile = asked(ep.quantile, **USUAL, bounds=(0, 90_000), q=0.5)
variance = asked(ep.variance, **USUAL, bounds=(0, 90_000))
shares = asked(ep.frequencies, **{**USUAL, "values": "answer"}, categories=["yes", "no"])
yes = ("frequencies", "people.csv --value answer --epsilon epsilon --category yes --category no")


def charged(**given: Any) -> Call:
    """Return a call that is charged to a ledger."""

    def call() -> Any:
        with ep.Ledger("ledger.db") as ledger:
            claim = ledger.claim(given.pop("name", "wages"), at_most=0.1)
            return mean(epsilon=..., person="who", ledger=claim, **given)()

    return call


def plan(people: dict[float, int]) -> Call:
    return lambda: ep.plan(ep.Budgets(people))


def in_shell(statistic: str, given: str, *changes: tuple[str, str]) -> str:
    """Return the usual command with other words."""
    for old, new in changes:
        assert old in given
        given = given.replace(old, new)
    return f"{statistic} {given}"


LINE = "people.csv --value income --epsilon epsilon --bounds 0 90000"


def line(*changes: tuple[str, str], more: str = "", statistic: str = "mean") -> str:
    return in_shell(statistic, LINE, *changes) + (f" {more}" if more else "")


@dataclass(frozen=True)
class Mistake:
    """A mistake, what must be said about it, and the remedy.

    Attributes:
        name: what somebody did.
        says: words of the message, in Python: the parameter, and the remedy.
        wrong: the call with the mistake; None if it can only be made in the shell.
        right: the same with the remedy applied.
        shell: the command with the mistake; "" if the shell has no such mistake.
        mended: the command with the remedy applied.
        shell_says: words of the message in the shell.
    """

    name: str
    says: tuple[str, ...]
    wrong: Call | None
    right: Call | None
    shell: str = ""
    mended: str = ""
    shell_says: tuple[str, ...] = ()


INCOME, FILE, BOUNDS = ("income", "incme"), "people.csv", "--bounds 0 90000"

MISTAKES = [
    Mistake(
        "a column that does not exist",
        ("values='incme'", "Did you mean 'income'?"),
        mean(values="incme"),
        mean(),
        line(INCOME),
        line(),
        ("--value incme", "Did you mean 'income'?"),
    ),
    Mistake(
        "a column in other case",
        ("values='income'", "Did you mean 'INCOME'?"),
        mean(data="capitals.csv"),
        mean(data="capitals.csv", values="INCOME"),
        line((FILE, "capitals.csv")),
        line((FILE, "capitals.csv"), ("income", "INCOME")),
        ("--value income", "Did you mean 'INCOME'?"),
    ),
    Mistake(
        "a column with blanks around its name",
        ("values='income'", "Did you mean ' income '?"),
        mean(data="blanks.csv"),
        mean(data="blanks.csv", values=" income "),
        line((FILE, "blanks.csv")),
        line((FILE, "blanks.csv"), ("income", "' income '")),
        ("--value income", "Did you mean ' income '?"),
    ),
    Mistake(
        "a column of a frame that does not exist",
        ("person='id'", "The columns are 'who', 'income'"),
        mean(data=PEOPLE, person="id"),
        mean(data=PEOPLE, person="who"),
    ),
    Mistake(
        "two columns with one name",
        ("values='income'", "rename all but one"),
        mean(data="double.csv"),
        mean(data="single.csv"),
        line((FILE, "double.csv")),
        line((FILE, "single.csv")),
        ("--value income", "rename all but one"),
    ),
    Mistake(
        "reversed bounds",
        ("bounds=(90000, 0)", "write bounds=(0, 90000)"),
        mean(bounds=(90_000, 0)),
        mean(bounds=(0, 90_000)),
        line((BOUNDS, "--bounds 90000 0")),
        line(),
        ("--bounds 90000", "write --bounds 0 90000"),
    ),
    Mistake(
        "bounds as text",
        ("bounds='0-90000'", "such as bounds=(0, 100)"),
        mean(bounds="0-90000"),
        mean(bounds=(0, 90_000)),
        line((BOUNDS, "--bounds 0 90k")),
        line(),
        ("'--bounds'", "'90k' is not a valid float"),
    ),
    Mistake(
        "infinite bounds",
        ("bounds=(0, inf)", "the widest range you can defend"),
        mean(bounds=(0, float("inf"))),
        mean(bounds=(0, 1e6)),
        line((BOUNDS, "--bounds 0 inf")),
        line((BOUNDS, "--bounds 0 1e6")),
        ("--bounds", "the widest range you can defend"),
    ),
    Mistake(
        "no bounds",
        ("bounds is not given", "bounds=(lo, hi)", "bounds=None"),
        mean(bounds=...),
        mean(),
        line((BOUNDS, "")),
        line(),
        ("--bounds LO HI",),
    ),
    Mistake(
        "ε as text",
        ("epsilon='0.5'", "give a number: epsilon=0.5"),
        mean(epsilon="0.5"),
        mean(epsilon=0.5),
    ),
    Mistake(
        "negative ε",
        ("epsilon=-1", "a number from 0 to infinity"),
        mean(epsilon=-1),
        mean(epsilon=1),
        line(("--epsilon epsilon", "--epsilon -1")),
        line(("--epsilon epsilon", "--epsilon 1")),
        ("--epsilon -1", "a number from 0 to infinity"),
    ),
    Mistake(
        "negative ε in a column",
        ("epsilon='epsilon'", "0 leaves a person out"),
        mean(data="negative.csv"),
        mean(data="gap filled.csv"),
        line((FILE, "negative.csv")),
        line((FILE, "'gap filled.csv'")),
        ("--epsilon epsilon", "0 leaves a person out"),
    ),
    Mistake(
        "no ε for someone",
        ("epsilon='epsilon'", "missing", "0 leaves a person out"),
        mean(data="gap.csv"),
        mean(data="gap filled.csv"),
        line((FILE, "gap.csv")),
        line((FILE, "'gap filled.csv'")),
        ("--epsilon epsilon", "0 leaves a person out"),
    ),
    Mistake(
        "words for ε",
        ("epsilon='epsilon'", "a number from 0 to infinity"),
        mean(data="words.csv"),
        mean(data="people.csv"),
        line((FILE, "words.csv")),
        line(),
        ("--epsilon epsilon", "a number from 0 to infinity"),
    ),
    Mistake(
        "no ε at all",
        ("epsilon", "one for each person"),
        mean(epsilon=...),
        mean(epsilon=1.0),
        line(("--epsilon epsilon", "")),
        line(("--epsilon epsilon", "--epsilon 1")),
        ("--epsilon", "The column of budgets, or one number for everyone."),
    ),
    Mistake(
        "a person with two budgets",
        ("epsilon='epsilon'", "person='who'", "their smallest one"),
        mean(data="twice.csv", person="who"),
        mean(data="smallest.csv", person="who"),
        line((FILE, "twice.csv"), more="--person who"),
        line((FILE, "smallest.csv"), more="--person who"),
        ("--epsilon epsilon", "--person who", "their smallest one"),
    ),
    Mistake(
        "eps= for epsilon=",
        ("eps=", "Did you mean 'epsilon'?"),
        mean(epsilon=..., eps="epsilon"),
        mean(),
        line(("--epsilon", "--eps")).replace("--eps epsilon", "--epsilom epsilon"),
        line(),
        ("--epsilom", "--epsilon"),
    ),
    Mistake(
        "a percentage for a confidence",
        ("confidence=95", "such as 0.95"),
        mean(confidence=95),
        mean(confidence=0.95),
        line(more="--confidence 95"),
        line(more="--confidence 0.95"),
        ("--confidence 95", "such as 0.95"),
    ),
    Mistake(
        "a percentage for related",
        ("related=5", "such as 0.05"),
        mean(related=5),
        mean(related=0.05),
        line(more="--related 5"),
        line(more="--related 0.05"),
        ("'--related'", "such as 0.05"),
    ),
    Mistake(
        "a percentage for q",
        ("q=50", "such as 0.5 for the median"),
        quantile(q=50),
        quantile(q=0.5),
        line(more="--q 50", statistic="quantile"),
        line(more="--q 0.5", statistic="quantile"),
        ("--q 50", "such as 0.5 for the median"),
    ),
    Mistake(
        "a standard deviation for spread",
        ("spread=9000", "such as 0.1 for a tenth"),
        mean(spread=9000),
        mean(spread=0.1),
        line(more="--spread 9000"),
        line(more="--spread 0.1"),
        ("--spread 9000", "such as 0.1 for a tenth"),
    ),
    Mistake(
        "semicolons in a CSV file",
        ("values='income'", "give separator=';'"),
        mean(data="semicolons.csv"),
        mean(data="semicolons.csv", separator=";"),
        line((FILE, "semicolons.csv")),
        line((FILE, "semicolons.csv"), more="--separator ';'"),
        ("--value income", "give --separator ';'"),
    ),
    Mistake(
        "decimal commas",
        ("values='income'", "decimal comma"),
        mean(data="comma.csv", separator=";"),
        mean(data=PEOPLE),
        line((FILE, "comma.csv"), more="--separator ';'"),
        line(),
        ("--value income", "decimal comma"),
    ),
    Mistake(
        "thousands separators",
        ("values='income'", "not a number"),
        mean(data="thousands.csv"),
        mean(data=FILES["thousands.csv"].with_columns(PEOPLE["income"])),
        line((FILE, "thousands.csv")),
        line(),
        ("--value income", "not a number"),
    ),
    Mistake(
        "missing values",
        ("values='income'", 'missing="exclude"'),
        mean(data="missing.csv"),
        mean(data="missing.csv", missing="exclude"),
        line((FILE, "missing.csv")),
        line((FILE, "missing.csv"), more="--missing exclude"),
        ("--value income", "--missing exclude"),
    ),
    Mistake(
        "whole numbers with gaps, from pandas",
        ("values='age'", 'missing="exclude"'),
        mean(
            data=PEOPLE.with_columns(age=pl.when(~FIRST).then("age"))
            .to_pandas()
            .astype({"age": "Int64"}),
            values="age",
            bounds=(0, 120),
        ),
        mean(
            data=PEOPLE.with_columns(age=pl.when(~FIRST).then("age"))
            .to_pandas()
            .astype({"age": "Int64"}),
            values="age",
            bounds=(0, 120),
            missing="exclude",
        ),
    ),
    Mistake(
        'missing="drop"',
        ("missing='drop'", "'exclude'"),
        mean(missing="drop"),
        mean(missing="exclude"),
        line(more="--missing drop"),
        line(more="--missing exclude"),
        ("'--missing'", "'exclude'"),
    ),
    Mistake(
        "dates as values",
        ("values='day'", "convert them to numbers", "the year"),
        mean(data=PEOPLE.with_columns(pl.col("day").str.to_date()), values="day"),
        mean(data=PEOPLE.with_columns(pl.col("day").str.to_date().dt.year()), values="day"),
        line(("income", "day")),
        line((FILE, "year.csv"), ("income", "month")),
        ("--value day", "a date"),
    ),
    Mistake(
        "the mean of a categorical column",
        ("values='region'", "must be a column of numbers"),
        mean(data=PEOPLE.with_columns(pl.col("region").cast(pl.Categorical)), values="region"),
        shares(values="region", categories=["north", "south"]),
        line(("income", "region")),
        f"frequencies {FILE} --value region --category north --category south --epsilon epsilon",
        ("--value region", "not a number (text"),
    ),
    Mistake(
        'the mean of "yes" and "no"',
        ("values='answer'", "must be a column of numbers"),
        mean(data=PEOPLE, values="answer", bounds=(0, 1)),
        mean(data=PEOPLE.with_columns(pl.col("answer") == "yes"), values="answer", bounds=(0, 1)),
        line(("income", "answer"), (BOUNDS, "--bounds 0 1")),
        in_shell(*yes),
        ("--value answer", "not a number (text"),
    ),
    Mistake(
        "a category that is not declared",
        ("values='answer'", 'other="…"'),
        shares(categories=["yes", "perhaps"]),
        shares(categories=["yes", "perhaps"], other="other"),
        in_shell(*yes, ("--category no", "--category perhaps")),
        in_shell(*yes, ("--category no", "--category perhaps --other other")),
        ("--value answer", "--other"),
    ),
    Mistake(
        "no categories",
        ("categories=[…]", "edges=[…]"),
        shares(categories=...),
        shares(),
        in_shell(*yes, ("--category yes --category no", "")),
        in_shell(*yes),
        ("--category", "--edges"),
    ),
    Mistake(
        "one category alone",
        ("categories must define at least two", "including other"),
        shares(categories=["yes"]),
        shares(categories=["yes"], other="other"),
        in_shell(*yes, ("--category no", "")),
        in_shell(*yes, ("--category no", "--other other")),
        ("--category must define at least two",),
    ),
    Mistake(
        "groups without by",
        ("groups are labels", 'by="…"'),
        mean(groups=["north", "south"]),
        mean(groups=["north", "south"], by="region"),
        line(more="--group north --group south"),
        line(more="--group north --group south --by region"),
        ("--group", "--by"),
    ),
    Mistake(
        "by without groups",
        ("by needs groups=[…]",),
        mean(by="region"),
        mean(by="region", groups=["north", "south"]),
        line(more="--by region"),
        line(more="--by region --group north --group south"),
        ("--by needs --group",),
    ),
    Mistake(
        "five people",
        ("Not usable", "What would help"),
        mean(data="five.csv", source=ep.Seeded(2)),
        mean(epsilon=2.0),
        line((FILE, "five.csv")),
        line(("--epsilon epsilon", "--epsilon 2")),
        ("5 people", "What would help"),
    ),
    Mistake(
        "one person",
        ("values='income'", "At least two people"),
        mean(data="one.csv"),
        mean(data="five.csv"),
        line((FILE, "one.csv")),
        line((FILE, "five.csv")),
        ("--value income", "At least two people"),
    ),
    Mistake(
        "a file that does not exist",
        ("data='poeple.csv'", "does not exist"),
        mean(data="poeple.csv"),
        mean(),
        line((FILE, "poeple.csv")),
        line(),
        ("FILE 'poeple.csv'", "does not exist"),
    ),
    Mistake(
        "an empty file",
        ("data", "the file is empty"),
        mean(data="empty.csv"),
        mean(),
        line((FILE, "empty.csv")),
        line(),
        ("the file is empty",),
    ),
    Mistake(
        "a folder",
        ("data='folder'", ".parquet"),
        mean(data="folder"),
        mean(),
        line((FILE, "folder")),
        line(),
        ("folder",),
    ),
    Mistake(
        "a file of another kind",
        ("data='people.dat'", ".csv", "give the frame"),
        mean(data="people.dat"),
        mean(data=PEOPLE),
        line((FILE, "people.dat")),
        line(),
        ("FILE 'people.dat'", ".csv"),
    ),
    Mistake(
        "a name of a column, and no data",
        ("values='income'", "give data="),
        mean(data=...),
        mean(),
    ),
    Mistake(
        "a seed with a ledger",
        ("source", "Leave source out"),
        charged(source=ep.Seeded(1)),
        charged(name="seedless"),
    ),
    Mistake(
        "a ledger without people",
        ("person is needed", "Give the column of ids"),
        lambda: _without_people(),
        charged(name="with people"),
    ),
    Mistake(
        "levels under replace",
        ("levels", 'neighbours="add-remove"', "Leave levels out"),
        mean(levels=[0.5, 1.0]),
        mean(levels=[0.5, 1.0], neighbours="add-remove"),
        line(more="--level 0.5 --level 1"),
        line(more="--level 0.5 --level 1 --neighbours add-remove"),
        ("--level", "--neighbours add-remove", "Leave --level out"),
    ),
    Mistake(
        "a method that does not exist",
        ("method='optmal'", "Did you mean 'optimal'?"),
        mean(method="optmal"),
        mean(method="optimal"),
        line(more="--method optmal"),
        line(more="--method optimal"),
        ("'--method'", "Did you mean 'optimal'?"),
    ),
    Mistake(
        "a loss of frequencies for a mean",
        ("loss='largest'", 'loss="pac"'),
        mean(loss="largest"),
        mean(loss="pac"),
        line(more="--loss largest"),
        line(more="--loss pac"),
        ("--loss largest", "--loss pac"),
    ),
    Mistake(
        "a loss for a variance",
        ("loss='pac'", "leave loss out"),
        variance(loss="pac"),
        variance(),
        line(more="--loss pac", statistic="variance"),
        line(statistic="variance"),
        ("--loss pac", "leave --loss out"),
    ),
    Mistake(
        "a negative number of people in a plan",
        ("epsilon", "a whole number from 0"),
        plan({0.1: -5, 1.0: 10}),
        plan({0.1: 5, 1.0: 10}),
        "plan 0.1:-5 1:10",
        "plan 0.1:5 1:10",
        ("EPSILON:PEOPLE", "a whole number from 0"),
    ),
    Mistake(
        "a plan without numbers of people",
        (),
        None,
        None,
        "plan 0.1 1",
        "plan 0.1:5 1:10",
        ("EPSILON:PEOPLE", "such as 0.1:500"),
    ),
    *(
        Mistake(
            f"a study with {what}", (), None, None, f"publish {file}", "publish study.toml", told
        )
        for what, file, told in (
            ("`bonds`", "key.toml", ("question 1: key='bonds'", "Did you mean 'bounds'?")),
            ('`statistic = "maen"`', "statistic.toml", ("'maen'", "Did you mean 'mean'?")),
            ("`[[questions]]`", "table.toml", ("'questions'", "Did you mean 'question'?")),
            ("`epsilom`", "term.toml", ("[study]: key='epsilom'", "Did you mean 'epsilon'?")),
            ("text without quotes", "quotes.toml", ("is not TOML", "in quotes")),
            ("another name", "stduy.toml", ("'stduy.toml'", "No such file")),
        )
    ),
    Mistake(
        "a command that does not exist",
        (),
        None,
        None,
        in_shell("frequency", yes[1]),
        in_shell(*yes),
        ("'frequency'", "Did you mean"),
    ),
]


def _without_people() -> Any:
    with ep.Ledger("ledger.db") as ledger:
        return mean(epsilon=..., ledger=ledger.claim("nobody", at_most=0.1))()


def printed(words: str) -> tuple[int, str]:
    """Run a command like `epsilons.__main__`; return its exit code and what it prints.

    An error that this package does not define is raised again: users would see a traceback.
    """
    given = shlex.split(words)
    result = CliRunner().invoke(cli, given)
    if isinstance(result.exception, EpsilonsError):
        told = spoken.error_words(result.exception, spoken.command_of(cli, given))
        return 2, f"epsilons: {told}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def message(call: Call) -> str:
    """Return what Python prints for a call: the error message, or the release."""
    try:
        return str(call())
    except (EpsilonsError, TypeError) as error:
        return str(error)


def values() -> set[str]:
    """Return the cells that would reveal something about a person."""
    own = ("who", "income", "day")
    return {str(each) for name in own for each in PEOPLE[name]} | {
        *FILES["thousands.csv"]["income"],
        *spelt(",", ".2f")["income"],
    }


def test_there_are_enough_of_them() -> None:
    assert len(MISTAKES) >= 40
    assert len({each.name for each in MISTAKES}) == len(MISTAKES)


def cut(text: str) -> str:
    """One line of a message, short enough for a table."""
    one = " ".join(text.split()).partition("Error: ")
    line = textwrap.shorten(one[2] or one[0], 150, placeholder=" …")
    return line.replace("|", "\\|").replace("<", "&lt;")


def test_the_page_shows_what_is_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    rows = []
    for each in MISTAKES:
        if each.name == "five people":
            continue
        told = message(each.wrong) if each.wrong is not None else printed(each.shell)[1]
        rows.append(f"| {each.name} | {cut(told)} |")
    head = PAGE.read_text("utf-8").partition("| mistake |")[0] if PAGE.exists() else ""
    page = f"{head}| mistake | what is printed |\n| --- | --- |\n" + "\n".join(rows) + "\n"
    if os.environ.get("EPSILONS_UPDATE_DOCS"):
        PAGE.write_text(page, "utf-8")
    assert PAGE.read_text("utf-8") == page

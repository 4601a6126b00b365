"""Whatever is asked, of whomever, in whatever form: the same promises.

A new question is one row of `QUESTIONS`. Rows are crossed with all that every question may say, and
with all that people may be, so that each two of these choices meet in some case.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import math
import pickle
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import epsilons_next as ep
from epsilons_next.errors import ArgumentError, EpsilonsError
from epsilons_next.mechanisms.linear import Linear
from tests.next import exact, reference
from tests.next.forms import FORMS
from tests.next.profiles import CAMPAIGN

Names = tuple[str, ...]

LIMITS = (0.3, 1.0, 2.0)
ENDLESS = (2.0**20, 2.0**21, 2.0**22)
"""Limits of which each is as good as infinite: 2²⁰ is all that is used of anybody."""

SURE = 1.0 - 1e-9

LABELS = ("Who", "Interval", "Data", "Privacy", "More")
NOT_PRIVATE = "NOT PRIVATE: DRAWN FROM A SEED, FOR SIMULATION ONLY."

BINS = {
    "0 to under 3": lambda x: 0 <= x < 3,
    "3 to under 7": lambda x: 3 <= x < 7,
    "7 to 10": lambda x: 7 <= x <= 10,
}

# What a question may say beside its own words: for the package, and for the reference.
BY: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Mapping[str, Any]]]] = {
    "nothing": ({}, {}),
    "a column": ({"h": ["yes", "no"]}, {"h": {"yes": "yes", "no": "no"}}),
    "two columns": (
        {"h": {"late": "yes", "in time": "no"}, "f": {"any": [1, 2]}},
        {"h": {"late": "yes", "in time": "no"}, "f": {"any": [1, 2]}},
    ),
}
WHERE: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "nothing": ({}, {}),
    "an entry": ({"k": 1}, {"k": [1]}),
    "a range": ({"x": ep.Bins(1, 9)}, {"x": [lambda x: 1 <= x <= 9]}),
}


@dataclass(frozen=True)
class Case:
    """What is asked, of whom, in which form."""

    question: str
    form: str
    by: str
    where: str
    about: str
    assume: str
    rows: str
    secret: str
    missing: str
    at_least: str
    weights: str
    seed: str

    def __str__(self) -> str:
        return " · ".join(dataclasses.astuple(self))

    @property
    def public(self) -> bool:
        return self.secret == "answers"

    @property
    def weighted(self) -> bool:
        return self.weights == "weighted"

    @property
    def gaps(self) -> bool:
        """Whether entries are missing: where that is public, somebody has to allow it."""
        return self.missing == "exclude" or not self.public

    @property
    def refused(self) -> str:
        """What cannot go together, as the error says it; nothing if the case makes sense."""
        if self.weighted and not self.public:
            return "weights"
        if self.weighted and self.assume != "nothing":
            return "assume"
        if self.about == "population" and self.assume == "within":
            return "assume"
        if self.about == "population" and not self.public:
            return "about"
        return ""

    def asked(self, limits: Sequence[float]) -> Any:
        """The question, with everything that it says beside its own words."""
        own = QUESTIONS[self.question]
        assumed = {"nothing": None, "within": ep.Within(own.apart), "unrelated": "unrelated"}
        return dataclasses.replace(
            own.question,
            by=BY[self.by][0],
            where=WHERE[self.where][0],
            about=self.about,
            assume=assumed[self.assume],
            missing=self.missing,
            at_least=limits[1] if self.at_least == "some" else 0.0,
        )

    def people(self, rows: Sequence[Mapping[str, Any]], folder: Path, limits: Any) -> Any:
        """Those who are asked."""
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        words: dict[str, Any] = {} if self.public else {"offered": list(limits)}
        return ep.People(
            FORMS[self.form](columns, folder),
            "epsilon",
            None if self.rows == "each a person" else "person",
            rows="sum" if self.rows == "sum" else "mean",
            secret=self.secret,
            weights="weight" if self.weighted else None,
            seed=1 if self.seed == "seed" else None,
            **words,
        )

    def truth(
        self,
        rows: Sequence[Mapping[str, Any]],
        limits: Sequence[float],
        numbers: Sequence[tuple[str, float, float]] = (),
        labels: Mapping[str, Mapping[str, Any]] | None = None,
        others: frozenset[str] = frozenset(),
    ) -> Truth:
        """What the table means, by the reference."""
        groups = {**BY[self.by][1], **(labels or {})}
        asked = reference.Asked(
            numbers,
            {column: list(entries.values()) for column, entries in groups.items()},
            WHERE[self.where][1],
            others,
            self.missing == "exclude",
            limits[1] if self.at_least == "some" else 0.0,
        )
        terms = reference.Terms(
            "epsilon",
            None if self.rows == "each a person" else "person",
            "weight" if self.weighted else None,
            self.rows == "sum",
            None if self.public else limits,
        )
        names = [
            [*entries, *(["rest"] if column in others else [])]
            for column, entries in groups.items()
        ]
        return Truth(reference.persons(rows, terms, asked), names)


@dataclass(frozen=True)
class Truth:
    """Everybody, with what they give, and the names of groups."""

    people: Sequence[reference.Person]
    names: Sequence[Sequence[str]]

    def mean(self, low: float, high: float) -> dict[Names, float]:
        """In each group, of the people there; nothing is true of nobody."""
        found = {}
        for place in itertools.product(*map(range, map(len, self.names))):
            inside, whole = (self._given(place, parts) for parts in ((0,), (0, 1)))
            if whole:
                found[self._named(place)] = low + (high - low) * float(inside / whole)
        return found

    def shares(self) -> dict[Names, float]:
        """Of each label of the last column, among the people in the same group of the others."""
        found = {}
        *outer, last = self.names
        for place in itertools.product(*map(range, map(len, outer))):
            given = [self._given((*place, label), (0,)) for label in range(len(last))]
            for label, each in enumerate(given if sum(given) else []):
                found[self._named((*place, label))] = float(each / sum(given))
        return found

    def _given(self, group: tuple[int, ...], parts: Sequence[int]) -> Fraction:
        """What everybody gives to these parts of a group, by weight."""
        return sum(
            (
                person.cells.get((*group, part), Fraction(0)) * Fraction(person.weight)
                for person in self.people
                for part in parts
            ),
            Fraction(0),
        )

    def _named(self, place: Sequence[int]) -> Names:
        return tuple(names[k] for names, k in zip(self.names, place, strict=True))


@dataclass(frozen=True)
class Own:
    """A question: its own words, and what is true of a table.

    Attributes:
        question: with nothing but its own words.
        truth: what it should say of rows, by name, in plain Python.
        low, high: between which its numbers can lie.
        apart: how far people with different limits may lie apart, if that is assumed.
    """

    question: Any
    truth: Callable[[Case, Any, Any], dict[Names, float]]
    low: float
    high: float
    apart: float


def mean(low: float, high: float) -> Own:
    def truth(case: Case, rows: Any, limits: Any) -> dict[Names, float]:
        return case.truth(rows, limits, [("x", low, high)]).mean(low, high)

    return Own(ep.Mean("x", (low, high)), truth, low, high, (high - low) / 5)


def shares(column: str, categories: Any, entries: Mapping[str, Any], other: bool = False) -> Own:
    def truth(case: Case, rows: Any, limits: Any) -> dict[Names, float]:
        others = frozenset([column, *BY[case.by][1]]) if other else frozenset[str]()
        return case.truth(rows, limits, labels={column: entries}, others=others).shares()

    words = {"other": "rest"} if other else {}
    return Own(ep.Shares(column, categories, **words), truth, 0.0, 1.0, 0.1)


QUESTIONS: Mapping[str, Own] = {
    "mean": mean(-2.5, 6.5),
    "shares": shares("g", {"a": "a", "not a": ["b", "c"]}, {"a": "a", "not a": ["b", "c"]}),
    "shares, bins": shares("x", ep.Bins(0, 3, 7, 10), BINS),
    "shares, other": shares("g", ["a"], {"a": "a"}, other=True),
}

CHOICES: Mapping[str, Sequence[str]] = {
    "question": list(QUESTIONS),
    "form": list(FORMS) if CAMPAIGN else ["polars", "csv", "pandas"],
    "by": list(BY),
    "where": list(WHERE),
    "about": ["people", "population"],
    "assume": ["nothing", "within", "unrelated"],
    "rows": ["each a person", "mean", "sum"],
    "secret": ["answers", "participation"],
    "missing": ["error", "exclude"],
    "at_least": ["everyone", "some"],
    "weights": ["alike", "weighted"],
    "seed": ["system", "seed"],
}


def pairwise(rng: random.Random, tries: int = 40) -> list[Case]:
    """Cases in which each two choices that go together meet."""
    fields = list(CHOICES)
    left = {
        (a, x, b, y)
        for a, b in itertools.combinations(fields, 2)
        for x, y in itertools.product(CHOICES[a], CHOICES[b])
        if not _case({a: x, b: y}).refused
    }
    found = []
    while left:
        best, most = None, frozenset[Any]()
        a, x, b, y = min(left)
        for _ in range(tries):
            drawn = {field: rng.choice(CHOICES[field]) for field in fields} | {a: x, b: y}
            while (case := _case(drawn)).refused:
                free = [field for field in fields if field not in (a, b)]
                drawn |= {field: CHOICES[field][0] for field in rng.sample(free, 3)}
            met = frozenset(
                (a, getattr(case, a), b, getattr(case, b))
                for a, b in itertools.combinations(fields, 2)
            )
            if len(met & left) > len(most):
                best, most = case, met & left
        assert best is not None
        left -= most
        found.append(best)
    return found


def _case(words: Mapping[str, str]) -> Case:
    return Case(**{field: choices[0] for field, choices in CHOICES.items()} | dict(words))


CASES = pairwise(random.Random(1))


def table(limits: Sequence[float], *, gaps: bool, several: bool) -> list[dict[str, Any]]:
    """Sixty people, some with several rows, whose entries would be known again."""
    rng = random.Random(5)
    rows: list[dict[str, Any]] = []
    for who in range(60):
        own = {"person": f"sentinel {who}", "epsilon": limits[who % 3], "weight": 1.0 + who % 2}
        for _ in range(rng.choice([1, 1, 2, 3]) if several else 1):
            entries = {
                "x": rng.choice([rng.uniform(0, 10), 0.0, 10.0, 3.0, 7.0]),
                "g": rng.choice("abc"),
                "h": rng.choice(["yes", "no"]),
                "k": rng.choice([1, 1, 2]),
                "f": rng.choice([1, 2]),
            }
            if gaps and rng.random() < 0.1:
                entries[rng.choice("xgh")] = None
            rows.append(own | entries)
    return rows


@contextmanager
def counted() -> Iterator[list[Linear]]:
    """Every mechanism that draws meanwhile. The draws are those of the package."""
    honest, drawn = Linear.draw, list[Linear]()

    def draw(self: Linear, sums: Any, source: Any) -> Any:
        drawn.append(self)
        return honest(self, sums, source)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Linear, "draw", draw)
        yield drawn


@dataclass(frozen=True)
class Asked:
    """A case that was asked: everybody, the question, its release and the mechanisms that drew."""

    case: Case
    rows: Sequence[Mapping[str, Any]]
    people: Any
    question: Any
    release: Any
    drawn: Sequence[Linear]


@pytest.fixture(scope="module", params=CASES, ids=str)
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    case: Case = request.param
    rows = table(LIMITS, gaps=case.gaps, several=case.rows != "each a person")
    people = case.people(rows, tmp_path_factory.mktemp("asked"), LIMITS)
    question = case.asked(LIMITS)
    with counted() as drawn:
        (release,) = people.publish([question])
    return Asked(case, rows, people, question, release, drawn)


def public(release: Any) -> tuple[Any, ...]:
    """Everything that a reader gets."""
    return str(release), release.details(), release.to_json(), release.rows, release.spent


def one_line(release: Any) -> str:
    """The print, however its lines are wrapped."""
    return " ".join(str(release).split())


def strictly(text: str) -> Any:
    """JSON without NaN and Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_without_noise_it_says_what_is_true(case: Case, tmp_path: Path) -> None:
    rows = table(ENDLESS, gaps=case.gaps, several=case.rows != "each a person")
    own = QUESTIONS[case.question]
    question, people = case.asked(ENDLESS), case.people(rows, tmp_path, ENDLESS)
    truth = own.truth(case, rows, ENDLESS)
    (release,) = people.publish([question])
    sure = release.at(SURE)
    assert truth
    assert [row.names for row in release.rows if row.names in truth] == list(truth)
    for row, wide in zip(release.rows, sure.rows, strict=True):
        if row.names not in truth:
            continue
        assert row.value == pytest.approx(truth[row.names], abs=2e-3 * (own.high - own.low))
        assert wide.low - 1e-9 <= truth[row.names] <= wide.high + 1e-9


def test_nobody_loses_more_than_they_allowed_and_it_is_said_how_much(asked: Asked) -> None:
    release, case = asked.release, asked.case
    found = [
        each for mechanism in asked.drawn for each in exact.losses(mechanism, public=case.public)
    ]
    assert max(found) <= max(release.spent.values()) <= max(found) * (2 if case.weighted else 1)
    if not case.weighted:
        levels = list(release.spent)[-len(found) :]
        assert release.spent == dict.fromkeys(release.spent, 0) | dict(
            zip(levels, found, strict=True)
        )
    for row in asked.rows:
        level = max(each for each in release.spent if each <= row["epsilon"])
        assert release.spent[level] <= Fraction(row["epsilon"])
        assert case.at_least == "everyone" or level >= LIMITS[1] or not release.spent[level]
    assert release.spent == {
        limit: max(each.lost for each in release.facts.spending if each.limit == limit)
        for limit in release.spent
    }


def test_page_and_file_say_what_was_spent(asked: Asked) -> None:
    release = asked.release
    stored = strictly(release.to_json())["facts"]["spending"]
    assert {float(each["limit"]): Fraction(each["lost"]) for each in stored} == release.spent
    lines = re.findall(
        r"^ +([\d.]+) +([\d,]+|secret) +([\d.]+) +([\d.]+)$", release.details(), re.M
    )
    assert [float(limit) for limit, _, _, _ in lines] == list(release.spent)
    owned = {row["person"]: row["epsilon"] for row in asked.rows}
    limits = [row["epsilon"] for row in asked.rows]
    limits = limits if asked.case.rows == "each a person" else list(owned.values())
    for (limit, people, lost, _), exactly in zip(lines, release.spent.values(), strict=True):
        assert exactly <= Fraction(lost) <= exactly * Fraction(102, 100)  # rounded up
        assert people == (f"{limits.count(float(limit)):,}" if asked.case.public else "secret")
    (said,) = re.findall(r"(?:result|results) more than ([\d.,]+) times", one_line(release))
    exactly = math.exp(max(release.spent.values()))
    assert 0.0 <= float(said.replace(",", "")) - exactly <= 0.011  # rounded up


def test_a_file_gives_it_back(asked: Asked, tmp_path: Path) -> None:
    path = tmp_path / "release.json"
    text = asked.release.to_json(path)
    assert path.read_text(encoding="utf-8") == text == asked.release.to_json()
    assert strictly(text)["kind"] == "release"
    back: Any = ep.read(str(path))
    assert public(back) == public(asked.release)
    assert back.to_frame().equals(asked.release.to_frame())
    # A part of it, read in another way, is a release too.
    other = asked.release.at(0.9)
    other = other[other.rows[0].names[:1]] if other.rows[0].names else other
    other.to_json(path)
    assert public(ep.read(path)) == public(other)


def test_a_copy_is_the_same_and_holds_nobody(asked: Asked) -> None:
    packed = pickle.dumps(asked.release)
    assert b"sentinel" not in packed
    assert copy.copy(asked.release).rows == asked.release.rows
    again = pickle.loads(packed)
    assert public(again) == public(asked.release)
    assert again.at(0.9).rows == asked.release.at(0.9).rows


def test_intervals_are_nested(asked: Asked) -> None:
    own = QUESTIONS[asked.case.question]
    readings = [asked.release.at(each).rows for each in (0.5, 0.9, 0.99)]
    for rows in zip(*readings, strict=True):
        for row in rows:
            assert own.low <= row.band_low <= row.low <= row.value
            assert row.value <= row.high <= row.band_high <= own.high
        for inner, outer in itertools.pairwise(rows):
            assert outer.low <= inner.low <= inner.high <= outer.high
            assert outer.band_low <= inner.band_low <= inner.band_high <= outer.band_high


def test_shares_of_a_whole_add_up(asked: Asked) -> None:
    if not asked.release.facts.share:
        return  # a mean has no whole
    wholes: dict[Names, float] = {}
    for row in asked.release.rows:
        wholes[row.names[:-1]] = wholes.get(row.names[:-1], 0.0) + row.value
    assert list(wholes.values()) == pytest.approx([1.0] * len(wholes))


def test_it_is_read_again_from_the_same_draws(asked: Asked) -> None:
    own, case = QUESTIONS[asked.case.question], asked.case
    before = public(asked.release)
    with counted() as drawn:
        for about, assume in itertools.product(
            ("people", "population"), ("nothing", "within", "unrelated")
        ):
            way = dataclasses.replace(case, about=about, assume=assume)
            words = {"nothing": None, "within": ep.Within(own.apart), "unrelated": "unrelated"}
            if way.refused:
                with pytest.raises(ArgumentError):
                    asked.release.at(about=about, assume=words[assume])
                continue
            again = asked.release.at(about=about, assume=words[assume])
            same = (about, assume) == (case.about, case.assume)
            assert ("Read again" in one_line(again)) == (not same)
            assert (again.rows == asked.release.rows) or not same
            assert again.spent == asked.release.spent
    assert not drawn
    assert public(asked.release) == before


def test_the_same_question_is_the_same_release_and_free(asked: Asked) -> None:
    with counted() as drawn:
        (again,) = asked.people.publish([asked.question])
        (named,) = asked.people.publish([dataclasses.replace(asked.question, title="As before")])
    assert not drawn
    assert public(again) == public(asked.release)
    assert (named.rows, named.spent) == (asked.release.rows, asked.release.spent)
    assert str(named).removeprefix(NOT_PRIVATE).strip().startswith("As before")


def test_one_number_is_a_number_and_several_have_names(asked: Asked) -> None:
    release = asked.release
    with pytest.raises(TypeError):
        len(release)
    with pytest.raises(TypeError):
        list(release)
    for compare in ("__lt__", "__le__", "__gt__", "__ge__"):
        with pytest.raises(ArgumentError, match="forgets the interval"):
            getattr(release, compare)(3)
    for row in release.rows[-2:]:
        one = release[row.names] if row.names else release
        assert (float(one), one.value, one.low, one.high) == (
            row.value,
            row.value,
            row.low,
            row.high,
        )
        assert f"{one:.3f}" == f"{row.value:.3f}"
        assert f"{one}" == str(one)
    for group in [row.names[0] for row in release.rows[:1] if row.names]:
        held = [row.value for row in release.rows if row.names[0] == group]
        assert [row.value for row in release[group].rows] == held
    if len(release.rows) > 1:
        for work in (float, lambda each: f"{each:.1f}", lambda each: each.low):
            with pytest.raises(ArgumentError, match=f"has {len(release.rows)} numbers"):
                work(release)
    with pytest.raises(ArgumentError, match=r"no number|one number"):
        release["nowhere"]


def test_a_frame_has_one_schema(asked: Asked) -> None:
    numbers = ("value", "low", "high", "band_low", "band_high")
    frame = asked.release.to_frame()
    text = dict.fromkeys([*asked.question.by, "name"], pl.String)
    ends = dict.fromkeys(("unit", "text"), pl.String)
    assert dict(frame.schema) == text | dict.fromkeys(numbers, pl.Float64) | ends
    for line, row in zip(frame.to_dicts(), asked.release.rows, strict=True):
        assert [line[name] for name in numbers] == [getattr(row, name) for name in numbers]
        assert [line[column] for column in asked.question.by] == list(row.names)[: len(text) - 1]


def test_the_print_says_what_it_must(asked: Asked) -> None:
    lines = str(asked.release).splitlines()
    assert (lines[0] == NOT_PRIVATE) == (asked.case.seed == "seed")
    labels = [word for line in lines if (word := line[:10].strip()) in LABELS]
    assert labels == [word for word in LABELS if word in labels]
    assert {"Who", "Interval", "Privacy", "More"} <= {*labels}
    assert max(map(len, lines)) <= 101


def test_several_are_charged_as_one_by_one(asked: Asked, tmp_path: Path) -> None:
    """One publish leaves everybody with what it left, and each of its questions is then free."""
    question, case = asked.question, asked.case
    alone = case.people(asked.rows, tmp_path, LIMITS)
    assert alone.publish([question])[0].spent == asked.release.spent
    further = dataclasses.replace(question, at_least=LIMITS[2], title="Those who allowed more")
    together = case.people(asked.rows, tmp_path, LIMITS)
    with counted() as drawn:
        releases = together.publish([question, further], parts=[1, 3])
        once = len(drawn)
        for release, each in zip(releases, (question, further), strict=True):
            assert together.publish([each])[0].facts.spending == release.facts.spending
    assert len(drawn) == once == len(releases)
    first, last = (each.facts.spending for each in releases)
    for row in last:
        before = [each.lost for each in first if each.limit == row.limit]
        assert row.spent <= Fraction(row.limit)
        assert row.spent == before[0] + row.lost or case.weighted


def test_a_file_gives_several_back(tmp_path: Path) -> None:
    case = _case({"by": "a column", "seed": "seed"})
    people = case.people(table(LIMITS, gaps=False, several=False), tmp_path, LIMITS)
    asked = [dataclasses.replace(own.question, title=name) for name, own in QUESTIONS.items()]
    releases = people.publish(asked)
    text = releases.to_json(tmp_path / "several.json")
    assert strictly(text)["kind"] == "releases"
    back = ep.read(tmp_path / "several.json")
    assert (str(back), back.to_json()) == (str(releases), text)
    for again, title in zip(back, QUESTIONS, strict=True):
        assert public(again) == public(releases[title])
    assert len(back) == len(releases) == len(QUESTIONS)
    for again in (pickle.loads(pickle.dumps(releases)), copy.deepcopy(releases)):
        assert again.to_json() == text


WRONG: Mapping[str, Mapping[str, Any]] = {
    "a word": {"missing": "drop"},
    "whom": {"about": "everyone"},
    "an assumption": {"assume": "related"},
    "both": {"assume": ep.Within(1), "about": "population"},
    "a text for labels": {"by": {"g": "a"}},
    "a list for a mapping": {"where": ["g"]},
    "a limit": {"at_least": -1},
    "a title": {"title": 3},
    "a column that is not there": {"where": {"nowhere": 1}},
    "labels of another type": {"where": {"k": ["one"]}},
    "an entry that is not declared": {"by": {"g": ["a"]}, "other": None},
    "nobody": {"at_least": 1e6},
    "a word that nobody knows": {"nonsense": 1},
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_refused_draws_nothing_and_costs_nothing(name: str, wrong: str) -> None:
    rows = table(LIMITS, gaps=False, several=False)
    frame = pl.DataFrame({column: [row[column] for row in rows] for column in rows[0]})
    people, untouched = (ep.People(frame, "epsilon", None) for _ in range(2))
    asked = QUESTIONS[name].question
    with counted() as drawn, pytest.raises(EpsilonsError) as caught:
        people.publish(
            [asked, dataclasses.replace(asked, **{"title": "other"} | dict(WRONG[wrong]))]
        )
    assert not drawn
    assert str(caught.value).endswith("Nothing was drawn or spent.")
    assert people.publish([asked])[0].spent == untouched.publish([asked])[0].spent


SENSELESS = [
    case
    for words in itertools.product(
        *(CHOICES[field] for field in ("about", "assume", "secret", "weights"))
    )
    if (
        case := _case(dict(zip(("about", "assume", "secret", "weights"), words, strict=True)))
    ).refused
]


@pytest.mark.parametrize("case", SENSELESS, ids=str)
@pytest.mark.parametrize("name", QUESTIONS)
def test_what_cannot_be_concluded_is_refused(name: str, case: Case, tmp_path: Path) -> None:
    rows = table(LIMITS, gaps=case.gaps, several=False)
    case = dataclasses.replace(case, question=name)
    with counted() as drawn, pytest.raises(ArgumentError, match=f"^{case.refused}") as caught:
        case.people(rows, tmp_path, LIMITS).publish([case.asked(LIMITS)])
    assert not drawn
    assert str(caught.value).endswith("Nothing was drawn or spent.")

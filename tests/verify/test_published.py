"""The displayed fields of a release file must match its stored release. Edits are reported."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import made
from epsilons.asking import commands
from epsilons.errors import ArgumentError, PrivacyError
from epsilons.results.release.stored import CHOSEN, WORDS
from epsilons.verify import published

N = 120
RNG = np.random.default_rng(8)
VALUES = RNG.normal(50.0, 9.0, N)
PLACES = [("north", "south")[i % 2] for i in range(N)]
EPSILON = np.resize([0.5, 1.0, 3.0], N)
ADD_REMOVE: dict[str, Any] = {"neighbours": "add-remove", "levels": [0.5, 1.0, 3.0]}


def given() -> dict[str, Any]:
    return {"epsilon": EPSILON, "source": ep.Seeded(4)}


def local() -> ep.Release:
    kind = ep.local.Vector(2)
    return kind.estimate(kind.randomize_many(np.full((9, 2), 0.3), np.ones(9), ep.Seeded(1)))


RELEASES: dict[str, Callable[[], Any]] = {
    "mean": lambda: ep.mean(VALUES, bounds=(0, 100), title="Time", unit="h", **given()),
    "frequencies": lambda: ep.frequencies(PLACES, categories=["north", "south"], **given()),
    "groups": lambda: ep.mean(
        VALUES, bounds=(0, 100), by=PLACES, groups=["north", "south"], **given()
    ).compare("north", "south"),
    "quantiles": lambda: ep.quantile(VALUES, [0.3, 0.6], bounds=(0, 100), **given(), **ADD_REMOVE),
    "covariance": lambda: ep.covariance(
        VALUES, VALUES, x_bounds=(0, 100), y_bounds=(0, 100), **given()
    ),
    "count": lambda: ep.count(**given(), **ADD_REMOVE),
    "vector": local,
    "several": lambda: ep.publish(
        [ep.Mean(VALUES, bounds=(0, 100)), ep.Variance(VALUES, bounds=(0, 100))], **given()
    ),
}


def leaves(shown: Any, where: str = "") -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield every displayed field of a file, by name and path."""

    def walk(part: Any, name: str, way: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
        if isinstance(part, dict):
            for key, each in part.items():
                if way or key not in ("format", "release", "releases"):
                    yield from walk(each, f"{name}.{key}" if name else key, (*way, key))
        elif isinstance(part, list) and part:
            for place, each in enumerate(part):
                yield from walk(each, f"{name}[{place}]", (*way, place))
        else:
            yield name, way

    return walk(shown, where, ())


def edited(shown: Any, way: tuple[Any, ...]) -> Any:
    """Return the same file, with another value in one field."""
    found = copy.deepcopy(shown)
    part = found
    for step in way[:-1]:
        part = part[step]
    was = part[way[-1]]
    if isinstance(was, bool) or was is None:
        part[way[-1]] = was is not True
    elif isinstance(was, (int, float)):
        part[way[-1]] = was * 1.01 + 1
    else:
        part[way[-1]] = f"{was} and more" if isinstance(was, str) else ["more"]
    return found


def test_a_field_that_is_missing_or_new_is_named() -> None:
    release = RELEASES["mean"]()
    shown = json.loads(release.to_json())
    assert release.differing({**shown, "sure": True}) == ("sure",)
    del shown["protects"]
    assert release.differing(shown) == ("protects",)


def test_words_of_another_version_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    release = RELEASES["mean"]()
    shown = json.loads(release.to_json())
    monkeypatch.setattr(made, "VERSION", "99.0")
    for word in (*WORDS, "sides"):
        if word in shown:
            way: tuple[Any, ...] = (word, 0, CHOSEN[0]) if word == "sides" else (word,)
            assert release.differing(edited(shown, way)) == ()
    assert release.differing(edited(shown, ("value",))) == ("value",)
    assert release.differing(edited(shown, ("sides", 0, "low"))) == ("sides[0].low",)
    assert release.differing({**shown, "gone": 1}) == ()


def test_numbers_that_are_computed_may_be_off_in_their_last_digits() -> None:
    release = RELEASES["mean"]()
    shown = json.loads(release.to_json())
    for near, found in ((1e-12, ()), (1e-6, ("interval[0]",))):
        off = copy.deepcopy(shown)
        off["interval"][0] *= 1.0 + near
        assert release.differing(off) == found
    shown["value"] = float(np.nextafter(shown["value"], 100.0))
    assert release.differing(shown) == ("value",)


@pytest.mark.parametrize("name", RELEASES)
def test_a_file_as_it_was_written_holds(name: str) -> None:
    found = published(RELEASES[name]().to_json())
    assert found.holds
    assert found.require() is found
    assert str(found).startswith("Everything that the file shows follows")
    assert found.verdict is not None


def test_what_is_stored_is_compared_with_what_was_drawn() -> None:
    """The check fails even if both the displayed and the stored value were edited.

    The edited values do not follow from the stored draw.
    """
    text = RELEASES["mean"]().to_json()
    data = json.loads(text)
    data["value"] = data["release"]["estimate"]["value"] = data["value"] + 1.0
    found = published(json.dumps(data)).problems
    assert found["value"] == "does not follow from what was drawn"
    for by, follows in ((0.9, False), (1.0 + 1e-9, True)):
        data = json.loads(text)
        spent = data["release"]["spent"]["spent"]["of"]
        data["spent"][1]["spent"] = spent[1] = spent[1] * by
        found = published(json.dumps(data)).problems
        assert (found.get("spent[1].spent") is None) is follows
    assert published(text).holds
    data = json.loads(text)
    data["n"] = data["release"]["n"] = N + 1
    assert published(json.dumps(data)).problems["n"].startswith("is not the number of people")
    data = json.loads(text)
    data["release"]["spent"]["levels"]["of"].pop()
    data["release"]["spent"]["spent"]["of"].pop()
    data["release"]["spent"]["people"]["of"].pop()
    assert "spent" in published(json.dumps(data)).problems
    data = json.loads(text)
    data["release"]["mechanism"]["law"]["scale"]["of"] = "1"
    weak = published(json.dumps(data))
    assert weak.verdict is not None
    assert not weak.verdict.holds
    assert not weak.holds


def test_a_consistent_file_fails_if_a_loss_exceeds_a_budget_in_the_last_digits() -> None:
    """The stated spending equals the loss up to rounding, so the file has no inconsistencies."""
    release = ep.mean(VALUES, epsilon=1.0, bounds=(0, 100), method="uniform", source=ep.Seeded(4))
    data = json.loads(release.to_json())
    scale = data["release"]["mechanism"]["law"]["scale"]
    scale["of"] = str(Fraction(scale["of"]) * (1 - Fraction(1, 10**9)))
    found = published(json.dumps(data))
    assert not found.problems
    assert not found.holds
    with pytest.raises(PrivacyError):
        found.require()


VALUE = {
    "frequencies": [0.5, 0.5],
    "quantiles": [50.0, 60.0],
    "covariance": 9.0,
    "count": 5,
    "vector": [0.0, 0.0],
}


@pytest.mark.parametrize("name", VALUE)
def test_a_value_must_follow_from_the_draw(name: str) -> None:
    data = json.loads(RELEASES[name]().to_json())
    held = data["release"]["estimate"]
    held["value"] = data["value"] = VALUE[name]
    if isinstance(VALUE[name], list):
        held["value"] = {"is": "array", "type": "<f8", "of": VALUE[name]}
    assert published(json.dumps(data)).problems["value"] == "does not follow from what was drawn"


def test_fields_of_several_releases_are_named_by_their_places() -> None:
    data = json.loads(RELEASES["several"]().to_json())
    stored = data["releases"]["each"][1]["estimate"]
    data["each"][1]["value"] = stored["value"] = stored["value"] + 1.0
    assert published(json.dumps(data)).problems["each[1].value"].startswith("does not follow")


def test_reports_of_many_categories_are_not_enumerated() -> None:
    kind = ep.local.Frequencies(40, method="rappor")
    release = kind.estimate(kind.randomize_many(np.arange(40), np.ones(40), ep.Seeded(1)))
    found = published(release.to_json())
    assert found.holds
    assert found.verdict is None
    assert "not enumerated" in str(found)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "[" * 10_000, '{"format": 2, "release": 1}'),
        '{"format": 1, "release": {"is": "noise.PointMass"}}',
        '{"format": 2, "release": {"is": "noise.PointMass"}}',
        '{"format": 2, "release": {}, "releases": {}}',
    ],
    ids=lambda text: text[:30],
)
def test_what_is_no_file_of_a_release_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError):
        published(text)


def test_parts_that_do_not_fit_together_are_refused() -> None:
    data = json.loads(RELEASES["mean"]().to_json())
    data["release"]["estimate"] = data["release"]["spent"]
    with pytest.raises(ArgumentError, match="do not fit together"):
        published(json.dumps(data))


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["epsilons", "verify", *words])
    with pytest.raises(SystemExit) as stopped:
        commands.main()
    code = stopped.value.code
    return code if isinstance(code, int) else 0


@pytest.mark.parametrize("name", ["mean", "several"])
def test_the_command_reads_a_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "release.json"
    path.write_text(RELEASES[name]().to_json(), "utf-8")
    assert run(monkeypatch, str(path)) == 6
    assert "was drawn from a seed" in capsys.readouterr().err
    monkeypatch.setattr(sys.modules[__name__], "given", lambda: {"epsilon": EPSILON})
    text = RELEASES[name]().to_json()
    path.write_text(text, "utf-8")
    assert run(monkeypatch, str(path)) == 0
    said = capsys.readouterr().out
    assert "Everything that the file shows follows" in said
    assert "Everyone's budget is kept." in said
    data = json.loads(text)
    data["spent"][0]["spent"] = 0.0
    path.write_text(json.dumps(data), "utf-8")
    assert run(monkeypatch, str(path)) == 6
    said_ = capsys.readouterr()
    assert "THE FILE DISAGREES WITH ITSELF" in said_.out
    assert "spent[0].spent" in said_.err
    assert run(monkeypatch, str(path), "--json") == 6
    found = json.loads(capsys.readouterr().out)
    assert not found["holds"]
    assert list(found["problems"]) == ["spent[0].spent"]


def test_the_command_says_what_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, str(tmp_path / "none.json")) == 5
    assert "cannot be read" in capsys.readouterr().err
    path = tmp_path / "release.json"
    path.write_bytes(b"\xff\xfe")
    assert run(monkeypatch, str(path)) == 5
    assert "not text in UTF-8" in capsys.readouterr().err
    for more in (["1:5"], ["--draws"], ["--method", "uniform"], ["--categories", "3"]):
        assert run(monkeypatch, str(path), *more) == 2
        assert "one FILE, and no option" in capsys.readouterr().err


def test_require_names_what_disagrees() -> None:
    data = json.loads(RELEASES["mean"]().to_json())
    data["protects"] = "Everything."
    with pytest.raises(PrivacyError, match="disagrees with itself in protects"):
        published(json.dumps(data)).require()


def test_budgets_of_the_mechanism_must_be_the_stated_ones() -> None:
    """A file that is consistent except for its budgets must not pass: losses would be compared with
    budgets that nobody has."""
    release = RELEASES["mean"]()
    mechanism, spent = release.mechanism, release.spent
    larger = replace(mechanism, levels=mechanism.levels * 20.0)
    stricter = replace(spent, levels=np.array([0.1, *spent.levels[1:]]))
    fewer = replace(spent, people=spent.people - 1)
    for changed, field in (
        (replace(release, mechanism=larger), "spent[0].epsilon"),
        (replace(release, spent=stricter), "spent[0].epsilon"),
        (replace(release, spent=fewer), "spent"),
        (replace(release, estimate=replace(release.estimate, bounds=(0.0, 200.0))), "bounds"),
    ):
        found = published(changed.to_json())
        assert field in found.problems
        assert not found.holds


def test_nobody_is_stated_to_spend_more_than_their_budget() -> None:
    release = RELEASES["mean"]()
    spent = release.spent
    more = replace(spent, levels=spent.levels / 2.0)
    mechanism = release.mechanism
    less = replace(mechanism, levels=more.levels)
    found = published(replace(release, spent=more, mechanism=less).to_json())
    assert "is more than the budget" in found.problems.values()
    assert not found.holds


SIZES = ("scale", "divisor", "rate", "whole_scale")


def sizes(part: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all sizes of noise in stored objects."""
    pairs = part.items() if isinstance(part, dict) else enumerate(part)
    for key, each in pairs:
        number = isinstance(each, (int, float)) or (isinstance(each, dict) and "of" in each)
        if key in SIZES and number:
            yield (*way, key)
        elif isinstance(each, (dict, list)):
            yield from sizes(each, (*way, key))


@pytest.mark.parametrize("name", RELEASES)
def test_noise_of_a_negative_size_is_refused(name: str) -> None:
    release = RELEASES[name]()
    shown = json.loads(release.to_json())
    found = [way for way in sizes(shown) if {"release", "releases"} & {*way}]
    assert found or name == "vector"
    for way in found:
        turned = copy.deepcopy(shown)
        part = turned
        for step in way[:-1]:
            part = part[step]
        was = part[way[-1]]
        part[way[-1]] = {**was, "of": f"-{was['of']}"} if isinstance(was, dict) else -was
        for read in (published, type(release).from_json):
            with pytest.raises((ArgumentError, PrivacyError)):
                read(json.dumps(turned))


def test_a_negative_divisor_is_refused_in_memory() -> None:
    for name in ("mean", "frequencies", "groups"):
        mechanism = RELEASES[name]().mechanism
        assert ep.verify.exact(mechanism).holds
        for divisor in (-mechanism.divisor, Fraction(0)):
            with pytest.raises(PrivacyError, match="divisor"):
                ep.verify.exact(replace(mechanism, divisor=divisor))

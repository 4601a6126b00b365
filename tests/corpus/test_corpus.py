"""Files of earlier versions open, pass their checks, and give the same results as before."""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import epsilons as ep
from epsilons import collector, frozen
from epsilons.asking.commands import study
from epsilons.errors import ArgumentError, ClaimError, LedgerError
from epsilons.ledger import store
from epsilons.local import Reports
from epsilons.parameters import MOVED
from epsilons.results.release.stored import WORDS
from tests.corpus import calls
from tests.corpus.asked import ask
from tests.corpus.expected import facts, ledger_facts, plain, stored, survey_facts

HERE = Path(__file__).resolve().parent
VERSIONS = sorted(path.name for path in HERE.iterdir() if (path / "people.csv").is_file())
NEIGHBOURS = ("replace", "add-remove")

CLOSE = 1e-7
"""Relative tolerance for computed numbers, which differ slightly between machines."""

STORED = re.compile(rb'\\*"is\\*": \\*"([A-Za-z0-9_.]+)\\*"')
"""Matches the kind of a stored object, in JSON or in a JSON string within JSON."""


def unpacked(path: Path) -> bytes:
    """Return the uncompressed bytes of a corpus file."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def held(version: str, name: str) -> Any:
    """Return the content of a JSON file of a corpus."""
    return json.loads(_held(version, name))


@functools.lru_cache(maxsize=4)
def _held(version: str, name: str) -> bytes:
    return unpacked(HERE / version / name)


def same(found: Any, expected: Any) -> bool:
    """Return whether two objects are equal after conversion to JSON.

    Stored forms are compared byte for byte, and exact losses as fractions. Computed numbers must
    agree to seven digits, relative to the largest number in their list. The last digits of
    logarithms and of long sums depend on the processor, and so do integer weights that are rounded
    from them.
    """
    return _same(json.loads(json.dumps(plain(found))), expected, 0.0)


def _same(found: Any, expected: Any, unit: float) -> bool:
    if type(found) is not type(expected):
        return False
    if isinstance(found, dict):
        return found.keys() == expected.keys() and all(
            # A cap minimizes an error. Near the minimum the error hardly changes, so a cap has
            # fewer correct digits than the error, and ten times its tolerance.
            _same(found[key], expected[key], 10.0 * _size(expected[key]) if key == "cap" else 0.0)
            for key in found
        )
    if isinstance(found, list):
        numbers = [abs(each) for each in expected if type(each) is float and math.isfinite(each)]
        largest = max([unit, *numbers])
        return len(found) == len(expected) and all(
            _same(one, other, largest) for one, other in zip(found, expected, strict=True)
        )
    if isinstance(found, float) and math.isfinite(found):
        return abs(found - expected) <= CLOSE * max(unit, abs(expected))
    return bool(found == expected)


def _size(number: Any) -> float:
    return abs(number) if type(number) is float and math.isfinite(number) else 0.0


def without_words(shown: Any) -> Any:
    """Return the JSON of a release without texts that change between versions."""
    if isinstance(shown, dict):
        return {key: without_words(each) for key, each in shown.items() if key not in WORDS}
    return [without_words(each) for each in shown] if isinstance(shown, list) else shown


def without_new_keys(now: Any, then: Any) -> Any:
    """Return the JSON of a release without keys that earlier versions did not have."""
    if isinstance(now, dict) and isinstance(then, dict):
        return {key: without_new_keys(now[key], then[key]) for key in now if key in then}
    if isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        return [without_new_keys(*each) for each in zip(now, then, strict=True)]
    return now


def test_every_kind_that_was_ever_stored_is_known_and_every_kind_is_in_a_corpus() -> None:
    assert "0.2.0" in VERSIONS
    files = [path for version in VERSIONS for path in (HERE / version).iterdir()]
    seen = {kind.decode() for path in files for kind in STORED.findall(unpacked(path))}
    known = set(frozen.modules_of("epsilons"))
    assert seen - known - set(frozen._READERS) == set()
    # The next corpus must contain the kinds that no published version stores.
    later = {kind for kind in known if frozen._form_of(kind).since not in ("", *VERSIONS)}
    assert known - seen == later


def releases_of(version: str) -> Iterator[tuple[str, dict[str, Any], str, Any]]:
    """Yield each release of a corpus: name, content of the file, key of the release, and object."""
    for name, text in held(version, "releases.json.gz").items():
        shown = json.loads(text)
        key = "releases" if "releases" in shown else "release"
        yield name, shown, key, read(text)


def read(text: str) -> Any:
    """Return a release, or several, from a file."""
    return (ep.Releases if "releases" in json.loads(text) else ep.Release).from_json(text)


@pytest.mark.parametrize("version", VERSIONS)
def test_releases_are_read_byte_for_byte(version: str) -> None:
    expected = held(version, "releases.expected.json.gz")
    for name, shown, key, release in releases_of(version):
        assert stored(release) == json.dumps(shown[key]), name
        del expected[name]
    assert not expected  # every release was read


@pytest.mark.parametrize(
    ("version", "name"),
    [(version, name) for version in VERSIONS for name in held(version, "releases.json.gz")],
)
def test_a_release_says_what_it_said(version: str, name: str) -> None:
    said = facts(read(held(version, "releases.json.gz")[name]))
    expected = held(version, "releases.expected.json.gz")[name]
    assert [part for part in said if not same(said[part], expected[part])] == []


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_releases_show_what_they_showed(version: str) -> None:
    differ = [
        name
        for name, shown, _, release in releases_of(version)
        if not same(
            without_new_keys(without_words(json.loads(release.to_json())), shown),
            without_words(shown),
        )
    ]
    assert not differ


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_files_are_verified(version: str) -> None:
    texts = held(version, "releases.json.gz")
    texts |= {name: each["release"] for name, each in held(version, "local.json.gz").items()}
    for name, text in texts.items():
        found = ep.verify.published(text)
        last = {field: re.sub(r"\[\d+\]", "", field.split(".")[-1]) for field in found.problems}
        wrong = [field for field, name_ in last.items() if name_ not in WORDS]
        assert not wrong, name
        assert found.verdict is not None, name
        assert found.verdict.holds, name


@pytest.mark.parametrize("version", VERSIONS)
def test_laws_say_what_they_said(version: str) -> None:
    for name, expected in held(version, "laws.json").items():
        law = frozen.from_plain(json.loads(expected["stored"]))
        assert stored(law) == expected["stored"], name
        assert same([law.variance, law.log_pmf(0)], [expected["variance"], expected["log_pmf"]])


@pytest.mark.parametrize("version", VERSIONS)
def test_local_reports_give_what_they_gave(version: str) -> None:
    for name, expected in held(version, "local.json.gz").items():
        data = bytes.fromhex(expected["reports"])
        reports = Reports.from_bytes(data)
        assert reports.to_bytes() == data, name
        release = ep.Release.from_json(expected["release"])
        assert same(facts(release), expected["expected"]), name
        assert same(facts(release.mechanism.estimate(reports)), expected["expected"]), name
        assert stored(release) == json.dumps(json.loads(expected["release"])["release"]), name


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_plans_have_every_key_that_they_had(version: str) -> None:
    def keys(shown: Any) -> Any:
        if isinstance(shown, dict):
            return {key: keys(each) for key, each in shown.items()}
        return [keys(each) for each in shown[:1]] if isinstance(shown, list) else None

    def lost(before: Any, now: Any, where: str) -> list[str]:
        if isinstance(before, dict) and isinstance(now, dict):
            both = [key for key in before if key in now]
            gone = [f"{where}.{key}" for key in before if key not in now]
            return gone + [e for key in both for e in lost(before[key], now[key], f"{where}.{key}")]
        if isinstance(before, list) and isinstance(now, list) and before and now:
            return lost(before[0], now[0], f"{where}[]")
        return []

    for name, text in held(version, "plans.json.gz").items():
        if name not in calls.PLANS:
            continue
        call = dict(calls.PLANS[name])
        if "questions" in call:
            asked = [dict(each) for each in call.pop("questions")]
            plan: Any = ep.plan(
                [getattr(ep, each.pop("ask"))(**each) for each in asked], epsilon=calls.OFTEN
            )
        else:
            plan = ep.plan(calls.OFTEN, **call)
        before, now = json.loads(text), json.loads(plan.to_json())
        assert now["kind"] == before["kind"], name
        assert not lost(keys(before), keys(now), name)


@pytest.mark.parametrize("version", VERSIONS)
def test_studies_are_read(version: str, tmp_path: Path) -> None:
    shutil.copyfile(HERE / version / "people.csv", tmp_path / "people.csv")
    for name in ("study.toml", "study-add-remove.toml"):
        shutil.copyfile(HERE / version / name, tmp_path / name)
        found = study.read(tmp_path / name).publish()
        assert found.title == "Commuters"
        assert [one.statistic for one in found] == ["mean", "frequencies", "quantile", "mean"]
        assert ep.verify.exact(found.mechanism).holds


@pytest.mark.parametrize("version", VERSIONS)
def test_surveys_say_what_they_said(version: str, tmp_path: Path) -> None:
    path = tmp_path / "surveys.db"
    path.write_bytes(unpacked(HERE / version / "surveys.db.gz"))
    expected = held(version, "surveys.expected.json")
    assert same(survey_facts(path), expected["said"])
    assert collector.Survey.read(HERE / version / "survey.toml").kind == "yes-no"
    with collector.Service(path) as service:
        for name, kept in expected["kept"].items():
            assert service.is_organiser(name, kept["organiser"])
            for report_id, token, data in kept["sent"]:
                given = (name, report_id, token, bytes.fromhex(data), report_id)
                assert service.submit(*given).result(30) == collector.store.AGAIN
            new, is_open = bytes.fromhex(kept["sent"][0][2]), not name.endswith("-closed")
            reserved, plain_, *_ = kept["unused"]
            lock = hashlib.sha256(b"0" * 32).hexdigest()
            outcome = service.reserve(name, reserved, lock).result(30)
            assert outcome.status == (201 if is_open else 410), name
            outcome = service.submit(name, "f" * 32, reserved, new, "0" * 32).result(30)
            assert outcome.status == (201 if is_open else 410), name
            if version == "0.2.0":  # pages and files of version 0.2.0 have no device keys
                outcome = service.submit(name, "e" * 32, plain_, new).result(30)
                assert outcome.status == (201 if is_open else 410), name
                outcome = service.submit(name, "d" * 32, reserved, new).result(30)
                assert outcome.status == (409 if is_open else 410), name
            if is_open:
                assert service.shut(name) == "closed early"
            assert service.export(name, tmp_path / "reports.parquet") >= 9


def end_of(ledger: ep.Ledger) -> str:
    """Return the hash at the end of the ledger's chain, as version 0.2.0 showed it.

    Later versions show another hash under add/remove.
    """
    with ledger._book.store.read():
        return store.head_of(*store.last_of(ledger._book.store))


def without_heads(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a ledger, without the hashes at its end and the number of events."""
    releases = [{**each, "head": None} for each in facts["status"]["releases"]]
    status = {**facts["status"], "head": None, "releases": releases}
    return {**facts, "head": None, "events": None, "status": status}


def check_ledger(where: str, expected: dict[str, Any], table: Path, *, says: bool) -> None:
    """Check that a ledger opens, passes its own check, and answers repeated calls again."""
    last = expected["head"]
    with ep.Ledger(where) as ledger:
        found = ledger_facts(ledger, expected["people"])
        if ledger.neighbours == "add-remove":
            # Later versions do not publish the number of events, and hash the end of the chain
            # differently.
            assert found["events"] is None
            found, expected = without_heads(found), without_heads(expected)
        assert not [part for part, each in found.items() if not same(each, expected[part])]
        assert found["holds"]
        assert end_of(ledger) == last
        for head in expected["heads"][::5]:
            assert ledger.check(head=head).holds
        names = expected["names"]
        for name, held_ in names.items():
            claim = ledger.claim(name, **held_["claim"])
            if held_["call"].get("method") in MOVED:
                with pytest.raises(ArgumentError, match=r"ep\.papers\."):
                    ask(held_["call"], table, ledger=claim)
                assert stored(ledger.release(name)[0]) == held_["stored"], name
            elif held_["state"] == "settled":
                again = ask(held_["call"], table, ledger=claim)
                assert stored(again) == held_["stored"], name
                assert not says or same(facts(again), held_["facts"]), name
            elif held_["state"] != "open":
                with pytest.raises(ClaimError, match="another name"):
                    ask(held_["call"], table, ledger=claim)
        assert end_of(ledger) == last  # repeating a call charges nobody
        opened = names["open"]
        drawn = ask(opened["call"], table, ledger=ledger.claim("open", **opened["claim"]))
        assert ledger.check(head=drawn.ledger.head).holds
        assert ledger.check(head=last).holds


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("version", VERSIONS)
def test_ledgers_in_files_say_what_they_said(version: str, neighbours: str, tmp_path: Path) -> None:
    path = tmp_path / f"{neighbours}.db"
    path.write_bytes(unpacked(HERE / version / f"{neighbours}.db.gz"))
    for name in ("people.csv", "study-ledger.toml"):
        shutil.copyfile(HERE / version / name, tmp_path / name)
    expected = held(version, f"{neighbours}.expected.json.gz")
    if neighbours == "replace":
        again = study.read(tmp_path / "study-ledger.toml").publish()
        assert stored(again) == expected["study"]
    check_ledger(str(path), expected, tmp_path / "people.csv", says=True)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("version", VERSIONS)
def test_ledgers_on_a_server_say_what_they_said(
    version: str, neighbours: str, postgres: str
) -> None:
    import psycopg

    schema = f"corpus_{neighbours.replace('-', '_')}"
    dump: Any = unpacked(HERE / version / f"{neighbours}.sql.gz")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        connection.execute(dump)
    expected = held(version, f"{neighbours}-sql.expected.json.gz")
    where = f"{postgres}&options=-csearch_path%3D{schema}"
    check_ledger(where, expected, HERE / version / "people.csv", says=False)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_ledger_that_was_changed_is_found(version: str, tmp_path: Path) -> None:
    """The check of a ledger fails if the file was changed."""
    import sqlite3

    path = tmp_path / "replace.db"
    path.write_bytes(unpacked(HERE / version / "replace.db.gz"))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE accounts SET spent = spent - 1 WHERE spent > 0")
    with ep.Ledger(path) as ledger, pytest.raises(LedgerError):
        ledger.check().require()

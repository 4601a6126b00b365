"""Create the corpus of this version: files that every later version must be able to read.

    python -m tests.corpus.make

The corpus in `tests/corpus/VERSION` is created once, when a version is published, and never
changed. For each file, a second file contains the facts that this version reads from it.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

import epsilons as ep
from epsilons import collector, made
from epsilons.asking.commands import study
from epsilons.draws.noise import Geometric, PointMass
from epsilons.errors import StorageError
from epsilons.ledger.claim import Claim
from epsilons.ledger.store import Store
from tests.corpus import calls
from tests.corpus.asked import Call, ask
from tests.corpus.expected import facts, ledger_facts, plain, stored, survey_facts
from tests.ledger import server

HERE: Final = Path(__file__).resolve().parent
PEOPLE: Final = 240
WITHOUT: Final = ("epsilon", "neighbours", "levels")
"""Arguments that can be used only in calls without a ledger."""

STUDY: Final = """\
[study]
title = "Commuters"
data = "people.csv"
person = "person"
epsilon = "epsilon"

[[question]]
statistic = "mean"
title = "Time on the way"
values = "minutes"
bounds = [0, 100]
unit = "minutes"
share = 1

[[question]]
statistic = "frequencies"
values = "minutes"
edges = [0, 15, 30, 45, 60, 100]
other = "longer"
share = 2

[[question]]
statistic = "quantile"
values = "minutes"
q = [0.25, 0.5]
bounds = [0, 100]
share = 1

[[question]]
statistic = "mean"
values = "hours"
bounds = [0, 10]
by = "place"
groups = ["north", "south", "east"]
share = 1
"""

CHARGED: Final = STUDY.replace(
    'epsilon = "epsilon"\n', 'ledger = "replace.db"\nname = "study"\nshare = "1/20"\n'
)

OPEN_STUDY: Final = STUDY.replace(
    'epsilon = "epsilon"\n',
    'epsilon = "epsilon"\nneighbours = "add-remove"\nlevels = [0.3, 1.0, 2.5]\n',
)

SETTLED: Final = (
    *("mean, optimal", "mean, adaptive", "mean, exclude", "mean, midpoint"),
    *("mean, private groups", "mean, public groups", "mean, where", "mean, found"),
    *("mean, two columns of groups", "mean, a population, related", "mean, minimax"),
    *("mean, found, gaussian",),
    *("frequencies, optimal", "frequencies, other", "frequencies, bins", "frequencies, largest"),
    *("quantile", "quantiles", "quantile, selection", "variance", "covariance"),
    *("publish, drawn together", "publish, everything", "publish, shares", "publish, targets"),
    *("publish, one",),
)
"""Calls that are charged to ledgers under replace."""

SETTLED_OPEN: Final = (
    *("mean, transformed, add-remove", "mean, exclude, add-remove", "mean, midpoint, add-remove"),
    *("mean, private groups, add-remove", "mean, where, add-remove", "mean, found, add-remove"),
    *("mean, hourglass, add-remove", "mean, found, gaussian, add-remove"),
    *("mean, counted people, add-remove",),
    *("frequencies, transformed, add-remove", "frequencies, total, add-remove"),
    *("frequencies, bins, add-remove", "quantile, add-remove", "variance, add-remove"),
    *("covariance, add-remove", "count, a column", "publish, everything, add-remove"),
)
"""Calls that are charged to ledgers under add/remove."""


def main() -> int:
    """Create the corpus, and return the exit code."""
    folder = HERE / made.VERSION
    if folder.exists():
        print(f"{folder} is there: a corpus is never changed.", file=sys.stderr)
        return 1
    folder.mkdir()
    write_people(folder / "people.csv")
    make_releases(folder)
    make_laws(folder)
    make_local(folder)
    make_plans(folder)
    (folder / "study.toml").write_text(STUDY, "utf-8")
    (folder / "study-ledger.toml").write_text(CHARGED, "utf-8")
    (folder / "study-add-remove.toml").write_text(OPEN_STUDY, "utf-8")
    make_surveys(folder)
    make_sqlite(folder)
    make_postgres(folder)
    return 0


def write(path: Path, held: Any) -> None:
    """Write expected facts as JSON."""
    path.write_text(json.dumps(held, ensure_ascii=False, indent=1) + "\n", "utf-8")


def pack(path: Path, held: bytes) -> None:
    """Write bytes, compressed, without a timestamp."""
    path.write_bytes(gzip.compress(held, 9, mtime=0))


def write_people(path: Path) -> None:
    """Write fictitious people."""
    rng = np.random.default_rng(31)
    heads = "person minutes hours holes place mode mode_holes asked epsilon own some_public"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([*heads.split(), "generous"])
        for i in range(PEOPLE):
            minutes = round(float(np.clip(rng.normal(45.0, 12.0), 0.0, 100.0)), 1)
            hours = round(float(np.clip(minutes / 12 + rng.normal(0.0, 0.5), 0.0, 10.0)), 2)
            place = str(rng.choice(calls.PLACES, p=[0.5, 0.3, 0.2]))
            mode, level = str(rng.choice(calls.MODES)), calls.LEVELS[i % 3]
            rows.writerow(
                [
                    *(f"p{i}", minutes, hours, "" if i % 9 == 0 else minutes, place, mode),
                    *("" if i % 9 == 1 else mode, "true" if rng.random() < 0.6 else "false", level),
                    *(round(0.05 * 1.02**i, 6), "inf" if i % 40 == 0 else level, 4.0 * level),
                ]
            )


def make_releases(folder: Path) -> None:
    """Write releases and their expected facts."""
    texts, said = {}, {}
    for place, (name, call) in enumerate(calls.CALLS.items()):
        source = None if place % 10 == 0 else ep.Seeded(place)
        release = ask(call, folder / "people.csv", source=source)
        texts[name], said[name] = release.to_json(), facts(release)
    pack(folder / "releases.json.gz", json.dumps(texts, indent=0).encode())
    pack(folder / "releases.expected.json.gz", json.dumps(said, indent=0).encode())


def make_laws(folder: Path) -> None:
    """Write noise distributions that no release contains directly, and their expected facts."""
    laws = {"geometric": Geometric(Fraction(7, 3)), "none": PointMass()}
    held = {
        name: {"stored": stored(law), "variance": law.variance, "log_pmf": law.log_pmf(0)}
        for name, law in laws.items()
    }
    write(folder / "laws.json", held)


def make_local(folder: Path) -> None:
    """Write local reports and the releases computed from them."""
    held: dict[str, Any] = {}
    for place, (name, (kind, values)) in enumerate(calls.local_kinds().items()):
        budgets = np.resize([0.5, 1.0, 2.0], len(values))
        source = None if place % 2 else ep.Seeded(place)
        reports = kind.randomize_many(values, budgets, source)
        release = kind.estimate(reports)
        held[name] = {
            "reports": reports.to_bytes().hex(),
            "release": release.to_json(),
            "expected": facts(release),
        }
    pack(folder / "local.json.gz", json.dumps(held, indent=0).encode())


def make_plans(folder: Path) -> None:
    """Write plans, and the forecasts of a ledger."""
    held = {}
    for name, call in calls.PLANS.items():
        if "questions" in call:
            questions = [
                getattr(ep, each["ask"])(**{key: v for key, v in each.items() if key != "ask"})
                for each in call["questions"]
            ]
            plan: Any = ep.plan(questions, epsilon=calls.OFTEN)
        else:
            plan = ep.plan(calls.OFTEN, **call)
        held[name] = plan.to_json()
    pack(folder / "plans.json.gz", json.dumps(held, indent=0).encode())


def make_surveys(folder: Path) -> None:
    """Write a collector's file: every kind of survey, open and closed early, each with reports."""
    shutil.copyfile(HERE.parents[1] / "src/epsilons/data/question.toml", folder / "survey.toml")
    lunch = collector.Survey.read(folder / "survey.toml").to_dict()
    usual: dict[str, Any] = {"closes": "2099-12-01T18:00:00Z", "organiser": "We", "invitations": 12}
    kinds: dict[str, dict[str, Any]] = {
        "lunch": {**lunch, "invitations": 12, "closes": usual["closes"]},
        "sleep": {
            **usual,
            "question": "How long did you sleep?",
            "kind": "number",
            "unit": "hours",
            "bounds": [0.0, 12.0],
        },
        "way": {
            **usual,
            "question": "How did you come here?",
            "kind": "one-of",
            "options": ["on foot", "by bus", "by car", "otherwise"],
        },
    }
    answers: dict[str, list[Any]] = {
        "lunch": [True, False],
        "sleep": [7.5, 5.0],
        "way": ["by bus", "on foot"],
    }
    with tempfile.TemporaryDirectory() as place:
        path, kept = Path(place) / "surveys.db", {}
        for name, given in kinds.items():
            for id_ in (name, f"{name}-closed"):
                kept[id_] = collector.create(path, collector.Survey.from_dict({**given, "id": id_}))
        sent: dict[str, Any] = {}
        with collector.Service(path) as service:
            for number, (id_, made_) in enumerate(kept.items()):
                name = id_.removesuffix("-closed")
                reports = []
                for turn, token in enumerate(made_.tokens[:9]):
                    randomizer = service.survey(id_).mechanism
                    level = [0.5, 1.0, 2.0][turn % 3]
                    data = randomizer.randomize(answers[name][turn % 2], level).to_bytes()
                    report_id = f"{number:016x}{turn:016x}"
                    service.reserve(id_, token, hashlib.sha256(report_id.encode()).hexdigest())
                    outcome = service.submit(id_, report_id, token, data, report_id).result(30)
                    assert outcome.status == 201, outcome
                    reports.append([report_id, token, data.hex()])
                sent[id_] = {
                    "sent": reports,
                    "unused": list(made_.tokens[9:]),
                    "organiser": made_.key,
                }
                if id_ != name:
                    service.shut(id_)
        expected = survey_facts(path)
        pack(folder / "surveys.db.gz", path.read_bytes())
    write(folder / "surveys.expected.json", {"said": expected, "kept": sent})


@contextmanager
def interrupted(moment: str, error: type[Exception]) -> Iterator[None]:
    """Make a release fail, either before budgets are read or after the noise is drawn."""
    before = Claim.sheet, Store.watch

    def sheet(*_: Any) -> Any:
        raise error(moment)

    def watch(step: str) -> None:
        if step == moment:
            raise error(moment)

    try:
        if moment == "sheet":
            Claim.sheet = sheet  # type: ignore[method-assign, assignment]
        else:
            Store.watch = staticmethod(watch)
        yield
    except error:
        return
    finally:
        Claim.sheet = before[0]  # type: ignore[method-assign]
        Store.watch = staticmethod(before[1])
    raise AssertionError("nothing failed")


def charged(name: str) -> Call:
    """Return a call that is charged to a ledger.

    It names no budgets, because the ledger has them.
    """
    call = calls.CALLS[name]
    found = {key: each for key, each in call.items() if key not in WITHOUT}
    return {**found, "person": "person"} | (
        {key: call[key] for key in ("neighbours", "levels") if key in call}
    )


def fill(ledger: ep.Ledger, table: Path) -> dict[str, Any]:
    """Apply every operation to a ledger. Return the calls and their results, for later checks."""
    private = ledger.neighbours == "add-remove"
    names = SETTLED_OPEN if private else SETTLED
    terms = {"neighbours": "add-remove", "levels": [1.2, 4.0, 10.0]} if private else {}
    budgets = {level: 160.0 * level for level in calls.LEVELS}
    with table.open(encoding="utf-8", newline="") as file:
        who = [(row["person"], budgets[float(row["epsilon"])]) for row in csv.DictReader(file)]
    heads = [ledger.head]
    ledger.enrol(person=[each for each, _ in who], epsilon=[budget for _, budget in who])
    ledger.enrol(person=[1, 2, 3, 4, 5], epsilon=[1.0, 2.0, 3.0, 4.0, float("inf")])
    heads.append(ledger.head)
    held: dict[str, dict[str, Any]] = {}

    def settle(name: str, call: Call, state: str = "settled", **claim: Any) -> None:
        asked = call | terms
        held[name] = {"call": asked, "claim": claim, "state": state}
        answer = ask(asked, table, ledger=ledger.claim(name, **claim))
        held[name] |= {"stored": stored(answer), "facts": facts(answer)}
        entry: Any = (answer.each[0] if isinstance(answer, ep.Releases) else answer).ledger
        heads.append(entry.head)

    def stop(name: str, state: str, moment: str, error: type[Exception], call: Call) -> None:
        asked = call | terms
        held[name] = {"call": asked, "claim": {"share": 0.025}, "state": state}
        with interrupted(moment, error):
            ask(asked, table, ledger=ledger.claim(name, share=0.025))

    first, *others = names
    settle("arrays", charged(first) | {"arrays": ["values", "person"]}, at_most=2.0)
    stop("open", "open", "sheet", RuntimeError, charged(first))
    stop("abandoned", "abandoned", "sheet", RuntimeError, charged(first))
    ledger.abandon("abandoned")
    stop("failed", "failed", "after the draw", RuntimeError, charged(first))
    found = "mean, found, add-remove" if private else "mean, found"
    stop("failed later", "failed", "after the draw", RuntimeError, charged(found))
    stop("drawing", "drawing", "after the draw", StorageError, charged(found))
    ledger.enrol(person=[1, 2], epsilon=[5.0, 0.5], consent="asked by letter")
    ledger.enrol(person=["p0", "p1"], epsilon=[20.0, 1.0])
    for person in (3, 4, "p2"):
        ledger.withdraw(person)
    ledger.erase(3)
    settle(first, charged(first), share=0.05)
    for name in others:
        settle(name, charged(name), share=0.025)
    heads.append(ledger.head)
    people = [*(f"p{i}" for i in range(6)), 1, 2, 4, 5]
    return {"names": held, "heads": heads, "people": people}


def expected_of(ledger: ep.Ledger, filled: dict[str, Any]) -> dict[str, Any]:
    """Return the expected facts of a ledger."""
    return {**filled, **ledger_facts(ledger, filled["people"])}


def make_sqlite(folder: Path) -> None:
    """Write ledgers in files, and their expected facts."""
    for neighbours in ("replace", "add-remove"):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / f"{neighbours}.db"
            with ep.Ledger.create(path, neighbours) as ledger:
                filled = fill(ledger, folder / "people.csv")
                if neighbours == "replace":
                    for name in ("people.csv", "study-ledger.toml"):
                        shutil.copyfile(folder / name, Path(place) / name)
                    released = study.read(Path(place) / "study-ledger.toml").publish()
                    filled["study"] = stored(released)
                    asked = [ep.Mean("minutes", bounds=(0, 100)), ep.Mean("hours", bounds=(0, 10))]
                    forecast = ledger.plan(asked, names=["a", "b"])
                    filled["series"] = json.loads(forecast.to_json())
                said = expected_of(ledger, filled)
            assert not list(Path(place).glob("*-wal"))
            pack(folder / f"{neighbours}.db.gz", path.read_bytes())
        pack(folder / f"{neighbours}.expected.json.gz", json.dumps(said, indent=0).encode())


def make_postgres(folder: Path) -> None:
    """Write ledgers of a PostgreSQL server as SQL, and their expected facts."""
    import psycopg

    with server.running() as address:
        for neighbours in ("replace", "add-remove"):
            schema = f"corpus_{neighbours.replace('-', '_')}"
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute(f"CREATE SCHEMA {schema}")
            where = f"{address}&options=-csearch_path%3D{schema}"
            with ep.Ledger.create(where, neighbours) as ledger:
                said = expected_of(ledger, fill(ledger, folder / "people.csv"))
            dump = subprocess.run(
                ["pg_dump", "--inserts", "--no-owner", f"--schema={schema}", address],
                check=True,
                capture_output=True,
                env={**os.environ, "PGCLIENTENCODING": "UTF8"},
            ).stdout
            lines = [line for line in dump.splitlines() if not line.startswith((b"\\", b"--"))]
            pack(folder / f"{neighbours}.sql.gz", b"\n".join(lines) + b"\n")
            packed = json.dumps(plain(said), indent=0).encode()
            pack(folder / f"{neighbours}-sql.expected.json.gz", packed)


if __name__ == "__main__":
    sys.exit(main())

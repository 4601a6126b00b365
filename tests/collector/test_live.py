"""Live estimates change in batches while a survey is open, and their intervals are valid."""

from __future__ import annotations

import dataclasses
import itertools
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import epsilons as ep
from epsilons import collector
from epsilons.__main__ import cli
from epsilons.collector.live import BATCH, further, released
from tests import needs
from tests.collector.served import SURVEYS, Served, key_of, lock, made, reserve_all

NAMES = [survey.id for survey in SURVEYS]
LEVELS = (0.5, 1.0, 2.0)
EVERYTHING = {
    *("reports", "levels", "results", "unrelated", "influence"),
    *("invited", "used", "replaced", "status"),
}


def in_batches(seen: Sequence[dict[str, Any]], sent: int) -> None:
    """Check that each estimate adds at least one batch of reports, and withholds at least one."""
    counts = [told["reports"] for told in seen]
    assert counts == sorted(counts)
    assert all(later - earlier >= BATCH for earlier, later in itertools.pairwise(counts))
    assert all(count == 0 or count <= sent - BATCH for count in counts)
    for told in seen:
        assert set(told) <= EVERYTHING, "anything else that is shown must come in batches as well"
        assert told["used"] == told["reports"] == sum(row["reports"] for row in told["levels"])


def distinct(seen: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return estimates without consecutive repetitions."""
    return [told for k, told in enumerate(seen) if k == 0 or told != seen[k - 1]]


@pytest.mark.parametrize("survey", SURVEYS, ids=NAMES)
def test_after_each_report_nothing_or_a_batch_is_new(
    tmp_path: Path, survey: collector.Survey
) -> None:
    """Estimates change in batches, also across two servers on one file and a restarted server."""
    path, name = tmp_path / "survey.db", survey.id
    tokens = collector.create(path, survey).tokens[:57]
    reserve_all(path, name, tokens)
    seen, before = [], 0
    with collector.Service(path) as service, collector.Service(path) as another:
        for many, token in enumerate(tokens, 1):
            data = made(survey, epsilon=LEVELS[many % 3])
            place = secrets.token_hex(16)
            writer = (service, another)[many % 2]
            assert writer.submit(name, place, token, data, key_of(token)).result(20).status == 201
            for each in (service, another):
                each._live[name]._due = 0.0
                seen.append(each.estimate(name))
            if many % 7 == 0:
                with collector.Service(path) as again:
                    seen.append(again.estimate(name))
            shown = seen[-1]["reports"]
            assert shown == (0 if many < 20 else BATCH * ((many - BATCH) // BATCH))
            assert shown == before or shown - before >= BATCH
            before = shown
        ran = CliRunner().invoke(cli, ["survey", "estimate", name, "--json", "--file", str(path)])
        seen.append(json.loads(ran.output))
        in_batches(distinct(seen), len(tokens))
        assert another.shut(name) == "closed early"
        assert service.estimate(name)["reports"] == len(tokens)


def test_further_reports_are_chosen_by_chance_and_stay() -> None:
    """New reports are drawn uniformly from all waiting reports.

    The false-alarm probability is 10⁻⁶.
    """
    every = {b"a": 30, b"b": 10}
    chosen = Counter[int]()
    for _ in range(2000):
        held = {b"a": 10}
        further(held, every)
        assert sum(held.values()) == 30
        assert 10 <= held[b"a"] <= 30
        chosen[held[b"a"]] += 1
    mean = sum(many * times for many, times in chosen.items()) / 2000
    law = stats.hypergeom(30, 20, 20)
    assert abs(mean - 10 - law.mean()) < 4.9 * law.std() / np.sqrt(2000)
    for few in ({b"a": 29, b"b": 0}, {b"a": 9}, {}):
        held = {b"a": 10} if few else {}
        further(held, few)
        assert held == ({b"a": 10} if few else {})
    held = {b"c": 10}  # another process has shown reports that this process has not read
    further(held, every)
    assert held == {b"c": 10}


@pytest.mark.long
def test_a_watcher_who_polls_reads_off_no_report(tmp_path: Path) -> None:
    """Polling reveals no single report, even with the organiser's key and all links."""
    needs.module("uvicorn")
    survey = dataclasses.replace(SURVEYS[0], invitations=110)
    with Served(tmp_path, [survey]) as served:
        key = {"Authorization": f"Bearer {served.made['lunch'].key}"}
        tokens = served.made["lunch"].tokens[:100]
        seen: list[tuple[int, dict[str, Any]]] = []
        sent, over, probes, exports = [0], threading.Event(), set(), set()

        def watch() -> None:
            while not over.wait(0.1):
                told = served.ask("GET", "/o/lunch/estimate", None, key).held
                seen.append((sent[0], told))
                exports.add(served.ask("GET", "/o/lunch/reports.parquet", None, key).status)
                for token in (tokens[0], tokens[-1]):  # the first link was used, the last was not
                    place = f"/r/lunch/{secrets.token_hex(16)}"
                    headers = {"Authorization": f"Bearer {token}", "Reservation": "0" * 32}
                    found = served.ask("PUT", place, made(survey), headers)
                    again = served.reserve("lunch", token, lock("0" * 32))
                    probes.add((found.status, found.held["reason"], again.status))

        reserve_all(served.path, "lunch", tokens)
        watching = threading.Thread(target=watch)
        watching.start()
        try:
            for k, token in enumerate(tokens):
                data = made(survey, k % 3 == 0, LEVELS[k % 3])
                headers = {"Authorization": f"Bearer {token}", "Reservation": key_of(token)}
                place = f"/r/lunch/{secrets.token_hex(16)}"
                assert served.ask("PUT", place, data, headers).status == 201
                sent[0] += 1
                time.sleep(0.02)  # on a slow machine, the watcher may see more than one step
        finally:
            over.set()
            watching.join()
        live = distinct([told for _, told in seen])
        in_batches(live, 100)
        assert len(live) >= 2, "it is live"
        assert all(told["results"] == [] for many, told in seen if many < BATCH)
        assert exports == {409}
        assert len(probes) == 1, "a used link looks like one that is only reserved"
        assert served.ask("POST", "/o/lunch/close", None, key).status == 200
        final = served.ask("GET", "/o/lunch/estimate", None, key).held
        assert final["reports"] == 100
        in_batches([*live, {**final, "reports": 100}][-2:-1], 100)
        assert final["reports"] - live[-1]["reports"] >= BATCH, "also the last step is a batch"


KINDS: dict[str, tuple[collector.Survey, Any, Any, float]] = {
    "yes-no": (SURVEYS[0], [True, False], [0.3, 0.7], 0.3),
    "number": (SURVEYS[1], [2.0, 11.0], [0.6, 0.4], 0.6 * 2.0 + 0.4 * 11.0),
    "one-of": (SURVEYS[2], ["by bus", "on foot", "by car"], [0.3, 0.5, 0.2], 0.0),
}
CHOICES = {
    "who says the first hides it": (0.9, 0.05, 0.05),
    "who says the first hides nothing": (0.05, 0.05, 0.9),
}
OTHERS = {"who says the first hides it": (0.05, 0.05, 0.9)}
SURVEYS_A_CELL = 300


def covered(kind: str, choice: str, people: int, seed: int) -> tuple[int, int]:
    """Count how often each of two intervals covers the true value.

    The first interval gives all reports equal weights. The other one weights them by variance, and
    is narrower.
    """
    survey, values, shares, truth = KINDS[kind]
    options = survey.options
    rng, source = np.random.default_rng(seed), ep.Seeded(seed)
    first = other = 0
    for _ in range(SURVEYS_A_CELL):
        picked = rng.choice(len(values), size=people, p=shares)
        theirs = OTHERS.get(choice, (0.9, 0.05, 0.05))
        odds = np.where(picked[:, None] == 0, CHOICES[choice], theirs)
        level = (rng.random(people)[:, None] > np.cumsum(odds, axis=1)).sum(axis=1)
        epsilon = np.array(LEVELS)[np.minimum(level, 2)]
        reports = survey.mechanism.randomize_many([values[k] for k in picked], epsilon, source)
        alike = released(survey, reports)
        weighed = released(survey, reports, "variance")
        if options is None:
            hits = [low <= truth <= high for low, high in (alike.interval(), weighed.interval())]
        else:
            at = np.array([dict(zip(values, shares, strict=True)).get(o, 0.0) for o in options])
            bands = (alike.band(), weighed.band())
            hits = [bool(((low <= at) & (at <= high)).all()) for low, high in bands]
        first, other = first + hits[0], other + hits[1]
    return first, other


@pytest.mark.statistical
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("people", [400, pytest.param(6_000, marks=pytest.mark.slow)])
def test_the_first_interval_holds_whatever_people_chose(
    people: int, kind: str, choice: str
) -> None:
    """The first interval covers in at least 95 % of surveys, even if levels depend on answers.

    The false-alarm probability is 10⁻⁶.
    """
    first, other = covered(kind, choice, people, seed=33)
    enough = stats.binom(SURVEYS_A_CELL, 0.95).ppf(1e-6)
    print(f"\n{kind}, {choice}, {people}: {first} and {other} of {SURVEYS_A_CELL}")
    assert first >= enough
    if people > 1_000:
        assert other < enough, "power: the narrower one assumes what is not so here"

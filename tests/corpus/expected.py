"""The facts that a corpus stores about a release, a ledger and a survey, as plain data."""

from __future__ import annotations

import datetime
import functools
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import epsilons as ep
from epsilons import collector, frozen
from epsilons.collector.live import _results
from epsilons.results.release import Amount
from epsilons.verify import exact_channel

__all__ = ["LATER", "facts", "ledger_facts", "plain", "stored", "survey_facts"]

CONFIDENCES = (0.5, 0.95, 0.999)

LATER = datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC)
"""A time after which every survey of a corpus is closed."""


def plain(thing: Any) -> Any:
    """Convert arrays and tuples of numbers to lists, for JSON."""
    if isinstance(thing, (np.ndarray, np.generic)):
        return thing.tolist()
    if isinstance(thing, (list, tuple)):
        return [plain(each) for each in thing]
    return thing


def stored(thing: Any) -> str:
    """Return the stored form of a release, as a ledger writes it."""
    return json.dumps(frozen.to_plain(thing), ensure_ascii=True)


def facts(thing: ep.Release | ep.Releases) -> dict[str, Any]:
    """Return the facts of a release: numbers, intervals, spent budgets, and the verdict."""
    shown = [plain(tuple(row)) for row in thing.spent]
    if isinstance(thing, ep.Releases):
        bands = {str(level): thing.band(level).each for level in CONFIDENCES}
        return {
            "each": [facts(one) for one in thing.each],
            "bands": {level: plain(each) for level, each in bands.items()},
            "spent": shown,
            "verdict": _verdict(thing.mechanism),
        }
    found: dict[str, Any] = {
        "value": plain(thing.value),
        "raw": plain(thing.raw),
        "intervals": {str(level): plain(thing.interval(level)) for level in CONFIDENCES},
        "spent": shown,
        "verdict": _verdict(thing.mechanism),
    }
    for name in ("band", "radius", "total", "counts"):
        try:
            # Version 0.2.0 multiplied a variance by the number of people. That is refused now.
            former = name == "total" and thing.statistic == "variance"
            asked = functools.partial(_former_total, thing) if former else getattr(thing, name)
            found[name] = {str(level): plain(asked(level)) for level in CONFIDENCES}
        except ep.errors.EpsilonsError:
            continue
    return found


def _former_total(release: ep.Release, confidence: float) -> Amount:
    """Return the total of a variance, as version 0.2.0 computed it."""
    if release.n is None or release.n_is_noisy or release.about != "people":
        raise ep.errors.KindError("It had none.")
    n = float(release.n)
    return Amount(n * release.value, *(n * end for end in release.interval(confidence)))


def _verdict(mechanism: Any) -> dict[str, Any]:
    if hasattr(mechanism, "channel"):
        levels = mechanism.levels or (0.5, 1.0)
        channels = {str(level): mechanism.channel(level) for level in levels}
        tables = {name: each for name, each in channels.items() if hasattr(each, "chances")}
        return {name: _said(exact_channel(each)) for name, each in tables.items()}
    return _said(ep.verify.exact(mechanism))


def _said(verdict: ep.verify.Verdict) -> dict[str, Any]:
    losses = [str(each) for each in verdict.losses]
    return {**verdict.to_dict(), "losses": losses}


def ledger_facts(ledger: ep.Ledger, people: list[Any]) -> dict[str, Any]:
    """Return the facts of a ledger: its status, its check, and the accounts of some people."""
    status, found = ledger.status().to_dict(), ledger.check()
    accounts = []
    for person in people:
        told = ledger.account(person).to_dict()
        lines = [[line["at"], line["spent"], line["budget"]] for line in told["lines"]]
        numbers = [told[name] for name in ("budget", "spent", "left")]
        accounts.append([person, *numbers, lines])
    return {
        "head": ledger.head,
        "status": plain(status),
        "accounts": accounts,
        "holds": found.holds,
        "events": found.events,
    }


def survey_facts(path: Path) -> dict[str, Any]:
    """Return the facts of a collector's file: its surveys, with the field names of version 0.2.0.

    An open survey publishes estimates in batches only, so a copy of it is closed first.
    """
    found: dict[str, Any] = {}
    with collector.Service(path) as service:
        for name in sorted(service.surveys):
            found[name] = {"question": service.question(name)}
            assert service.estimate(name)["reports"] in (0, 9)
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copyfile(path, Path(folder) / "later.db")
        with collector.Service(copy, now=lambda: LATER) as service:
            for name, each in found.items():
                told, reports = service.estimate(name), service.reports(name)
                survey = service.survey(name)
                lies = told["influence"]["reports"]
                moved = float(survey.mechanism.estimate(reports).influence(lies))
                alike = survey.mechanism.estimate(reports, weights="uniform")
                values = [one["value"] for one in told["results"]]
                assert values == [one["value"] for one in _results(survey, alike)]
                lo, hi = survey.bounds or (0.0, 1.0)
                each["estimate"] = {
                    **{key: told[key] for key in ("reports", "levels", "invited", "used")},
                    "results": told["unrelated"],
                    "alike": _results(survey, alike),
                    "influence": {"reports": lies, "moved": moved if moved < hi - lo else None},
                    "status": each["question"]["status"],
                }
                each["reports"] = len(reports)
                each["bytes"] = reports.to_bytes().hex()
                each["later"] = service.status(name)
    return found

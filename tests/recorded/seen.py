"""The recorded fields of a result, and how to read each of them."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple
from fractions import Fraction
from typing import Any, Final
from unittest import mock

import numpy as np
from click.testing import CliRunner, Result

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.draws.noise import System

__all__ = ["commanded", "may_be_new", "seen", "written"]

Fields = dict[str, Any]

_LONG: Final = 12
"""Lists up to this length are recorded in full. For longer lists, the first five entries and a
digest are recorded."""

_LONG_NUMBER: Final = re.compile(r"-?(?=[\d/]{9})\d+(/\d+)?")
"""Matches an integer or fraction of nine or more characters. Such numbers are rounded from floats,
so their last digits may differ. Shorter integers must be equal."""

_SUMS: Final = 8
"""The number of sums that summarize a long list."""

_LONG_TEXT: Final = 4_000
_SAID_ELSEWHERE: Final = 150

_MADE: Final = re.compile(
    r"(<p>|\n)Released \d{4}-\d\d-\d\d \(UTC\) with epsilons [^<\n]*?\.(</p>|(?=</pre>|\n|$))"
)
"""The line with the date of a release, which changes every day."""

_OF_THE_DAY: Final = ("title", "unit", "name", "date", "version")
"""Fields that depend on the call and the date.

They are not recorded, because other tests check them.
"""

_NEW_OPTIONS: Final = re.compile(r"^  --(title|unit|report|figure) (TEXT|FILE) .*\n", re.M)
"""Options that were added after the help of commands was recorded, one per line."""

_CONFIDENCES: Final = (0.5, 0.9, 0.95, 0.999)
_EPSILONS: Final = (0.0, 1e-3, 0.1, 0.3, 0.5, 0.99, 1.0, 2.0, 7.0, 1e6, math.inf, math.nan)

_OF_RELEASE: Final = (
    "statistic",
    "value",
    "raw",
    "n",
    "method",
    "neighbours",
    "about",
    "related",
    "loss",
    "confidence",
    "risk",
    "exact",
    "risk_kind",
    "sides",
    "protects",
    "assumes",
    "missing",
    "treats",
    "warnings",
    "private",
)
_OF_SOME: Final = ("bounds", "categories", "other", "sigma", "ball", "error_at_once")
_OF_MECHANISM: Final = (
    "kind",
    "neighbours",
    "seeks",
    "levels",
    "counts",
    "weights",
    "scale",
    "reach",
    "grid",
    "moves",
    "divisor",
    "bounds",
    "keep",
    "cell_of",
    "base",
    "slack",
)
_OF_ALLOCATION: Final = (
    "levels",
    "counts",
    "spent",
    "weights",
    "total",
    "scale",
    "risk",
    "method",
    "cap",
    "n",
    "exact",
)


def seen(thing: Any) -> Fields:
    """Return all recorded fields of a result, by name."""
    if isinstance(thing, dict):
        parts = {name: seen(part) for name, part in thing.items()}
        return {
            f"{name}: {field}" if field else name: value
            for name, fields in parts.items()
            for field, value in fields.items()
        }
    for type_, look in _LOOKS:
        if isinstance(thing, type_):
            return look(thing)
    return {"": thing}


def may_be_new(field: str) -> bool:
    """Return whether a field may be missing from the record because a later version added it."""
    name = field.rpartition(": ")[2]
    return name.startswith(("to_dict.", "spent("))


def commanded(words: list[str], source: ep.Seeded) -> Result:
    """Run a command with a seeded source in place of the system's entropy."""
    with mock.patch.object(System, "bytes", lambda _, count: source.bytes(count)):
        return CliRunner().invoke(cli, words)


def written(thing: Any) -> Any:
    """Convert a value to JSON. Long values become their beginning and a digest."""
    if isinstance(thing, np.ndarray):
        shape = {} if thing.ndim == 1 else {"shape": list(thing.shape)}
        return {"array": str(thing.dtype), **shape, "values": written(thing.ravel().tolist())}
    if isinstance(thing, np.generic):
        return {"scalar": str(thing.dtype), "value": thing.item()}
    if isinstance(thing, Fraction):
        return written(str(thing))
    if isinstance(thing, bytes):
        return {"bytes": len(thing), "first": thing[:16].hex(), "sha256": _digest(thing)}
    if isinstance(thing, str):
        return thing if len(thing) <= _LONG_TEXT else _text(thing)
    if isinstance(thing, Mapping):
        return {str(key): written(each) for key, each in thing.items()}
    if hasattr(thing, "_asdict"):
        return written(thing._asdict())
    if isinstance(thing, (list, tuple)):
        items = [written(each) for each in thing]
        return items if len(items) <= _LONG else _summary(items)
    if thing is None or isinstance(thing, (bool, int, float)):
        return thing
    raise TypeError(f"nothing is said of how a {type(thing).__name__} is written")


def _summary(items: list[Any]) -> Fields:
    """Return the beginning of a long list, a digest of its texts, and sums of its numbers.

    The last digits of numbers depend on the processor, so a digest of numbers would too. A sum of
    logarithms changes noticeably if any number changes by a percent, whatever its size.
    """
    numbers: list[float] = []

    def marked(thing: Any) -> Any:
        if isinstance(thing, list):
            return [marked(each) for each in thing]
        if isinstance(thing, dict):
            return {key: marked(each) for key, each in thing.items()}
        finite = isinstance(thing, float) and math.isfinite(thing)
        if not finite and not _LONG_NUMBER.fullmatch(str(thing)):
            return thing
        numbers.append(float(Fraction(thing)))
        return "#"

    texts = json.dumps(marked(items), ensure_ascii=False)
    sizes = [math.copysign(math.log1p(1e9 * abs(each)), each) for each in numbers]
    step = -(-len(sizes) // _SUMS) or 1
    return {
        "length": len(items),
        "first": items[:5],
        "sha256": _digest(texts.encode()),
        "sums": [
            math.fsum((1.0 + math.sin(at)) * size for at, size in enumerate(sizes[of : of + step]))
            for of in range(0, len(sizes), step)
        ],
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _text(text: str) -> Fields:
    return {"characters": len(text), "starts": text[:60], "sha256": _digest(text.encode())}


def _undated(text: str) -> str:
    """Return printed text without the line that states the date and the version."""
    return _MADE.sub("", text)


def _asked(ask: Callable[[], Any]) -> Any:
    """Return the answer of a call, or the error as text."""
    try:
        return ask()
    except Exception as error:  # errors are recorded as well
        return f"{type(error).__name__}: {error}"


def _release(release: Any) -> Fields:
    estimate = release.estimate
    by_reports = hasattr(estimate.margin, "influence")
    fields = {name: getattr(release, name) for name in _OF_RELEASE}
    if release.n_is_noisy:
        fields["n"] = float(release.n)  # earlier versions gave a noisy n as a float
    some = {name: getattr(release, name) for name in _OF_SOME if hasattr(release, name)}
    if by_reports:
        some = {name: some[name] for name in some if name not in ("other", "error_at_once")}
    fields |= {name: value for name, value in some.items() if name != "sigma" or value is not None}
    fields["types"] = [type(fields[name]).__name__ for name in ("value", "raw", "n", "risk")]
    for confidence in _CONFIDENCES:
        for name in ("interval", *_MORE[estimate.kind]):
            ask = functools.partial(getattr(release, name), confidence)
            fields[f"{name}({confidence})"] = _asked(ask)
    if by_reports:
        fields["influence(1)"] = release.influence(1)
    rows = [(row.epsilon, row.people, row.spent, row.kept) for row in release.spent]
    fields["spent"] = rows
    if release.neighbours == "add-remove":
        fields["spent(ε)"] = [release.spent(epsilon) for epsilon in _EPSILONS]
    data = release.to_dict()
    fields |= _as_dict({**data, "n": fields["n"]})
    fields["str"] = _undated(str(release))
    fields["html"] = _text(_undated(release._repr_html_()))
    return fields | _drawn_from(release.mechanism)


_MORE: Final = {"scalar": (), "cells": ("band",), "vector": ("radius",)}


def _as_dict(data: dict[str, Any]) -> Fields:
    """Return the keys of `to_dict` in order, and their values, with digests of long texts."""
    told = {name: value for name, value in data.items() if name not in _OF_THE_DAY}
    fields: Fields = {"to_dict": " ".join(told)}
    if isinstance(told.get("release"), dict):
        stored = told["release"].items()
        told["release"] = {name: each for name, each in stored if name not in ("date", "version")}
    for name, value in told.items():
        long = isinstance(value, str) and len(value) > _SAID_ELSEWHERE
        fields[f"to_dict.{name}"] = _text(value) if long else value
    return fields


def _drawn_from(mechanism: Any) -> Fields:
    """Return the fields of a mechanism, of its stages, and of its verdict."""
    if isinstance(mechanism, (ep.local.Bit, ep.local.Mean, ep.local.Vector, ep.local.Frequencies)):
        return {"mechanism": repr(mechanism)}
    fields: Fields = {}
    for path, stage in _stages("mechanism", mechanism):
        fields |= {f"{path}.{name}": value for name, value in _mechanism(stage).items()}
    verdict = _asked(lambda: ep.verify.exact(mechanism))
    if isinstance(verdict, ep.verify.Verdict):
        return fields | {f"verdict.{name}": value for name, value in _verdict(verdict).items()}
    return fields | {"verdict": verdict}


def _stages(path: str, mechanism: Any) -> Iterator[tuple[str, Any]]:
    yield path, mechanism
    if mechanism.kind == "reduction":
        yield from _stages(f"{path}.counts", mechanism.counts_stage)
        yield from _stages(f"{path}.slots", mechanism.bounded)
    if mechanism.kind == "composition":
        for place, stage in enumerate(mechanism.stages):
            yield from _stages(f"{path}.{place}", stage)


def _mechanism(mechanism: Any) -> Fields:
    if mechanism.kind in ("composition", "reduction"):
        names = ("kind", "levels", "charges", "place")
        return {name: getattr(mechanism, name) for name in names if hasattr(mechanism, name)}
    known = {name: getattr(mechanism, name) for name in _OF_MECHANISM if hasattr(mechanism, name)}
    fields = {name: value for name, value in known.items() if not callable(value)}
    if hasattr(mechanism, "law"):
        fields["law"] = repr(mechanism.law)
    if hasattr(mechanism, "laws"):
        fields["laws"] = [repr(law) for law in mechanism.laws]
    return fields


def _verdict(verdict: ep.verify.Verdict) -> Fields:
    return {
        "budgets": verdict.budgets,
        "losses": verdict.losses,
        "neighbours": verdict.neighbours,
        "exact": verdict.exact,
        "holds": verdict.holds,
        "str": str(verdict),
    }


def _plan(plan: ep.Plan | ep.RangePlan | ep.LocalPlan) -> Fields:
    return _as_dict(dict(plan.to_dict())) | {
        "str": str(plan),
        "html": _text(plan._repr_html_()),
    }


def _allocation(allocation: ep.Allocation) -> Fields:
    goal = allocation.goal
    return {name: getattr(allocation, name) for name in _OF_ALLOCATION} | {
        "goal": (*astuple(goal.assumption), goal.loss, goal.confidence, goal.categories or 0),
        "stairs": repr(allocation.stairs).replace("StairNoise(", "Stairs("),
        "str": str(allocation),
    }


def _reports(reports: ep.local.Reports) -> Fields:
    return {"": reports.to_bytes(), "columns": reports.to_columns(), "repr": repr(reports)}


def _result(result: Result) -> Fields:
    error = result.exception
    fields: Fields = {"exit": result.exit_code}
    if result.output.startswith("{"):
        fields |= _as_dict(json.loads(result.output))
    else:
        fields["output"] = _undated(_NEW_OPTIONS.sub("", result.output))
    if error is not None and not isinstance(error, SystemExit):
        fields["error"] = f"{type(error).__name__}: {error}"
    return fields


def _refusal(error: Exception) -> Fields:
    return {"raises": type(error).__name__, "says": str(error)}


_LOOKS: Final[tuple[tuple[type, Callable[[Any], Fields]], ...]] = (
    (ep.Release, _release),
    (ep.Plan, _plan),
    (ep.RangePlan, _plan),
    (ep.LocalPlan, _plan),
    (ep.Allocation, _allocation),
    (ep.local.Reports, _reports),
    (ep.verify.Verdict, _verdict),
    (Result, _result),
    (Exception, _refusal),
)

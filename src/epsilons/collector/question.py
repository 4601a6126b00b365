"""A survey: one question, the privacy levels on offer, and its closing time."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from epsilons import parameters
from epsilons.errors import ArgumentError, BudgetError, FileError
from epsilons.listed import shown
from epsilons.local import Bit, Frequencies, Mean
from epsilons.local.draws import WORD, threshold

__all__ = ["KINDS", "Level", "Survey"]

KINDS: Final = ("yes-no", "one-of", "number")
"""The kinds of answers."""

REPORTS: Final = ("bit", "piecewise")
"""The forms of a report about a number. Question files without `reports` ask for one bit."""

MOST_OPTIONS: Final = 50
MOST_LEVELS: Final = 5
MOST_INVITATIONS: Final = 1_000_000
LEAST_EPSILON: Final = 0.01
MOST_EPSILON: Final = 16.0
"""Bounds on a level's budget. Smaller budgets are not informative; new surveys have a lower maximum
(see `Level`)."""
CERTAIN: Final = 100
"""A level is described to people as "so many of 100 send their true answer". A level at which this
number is 100, after rounding, hides nothing."""

_ID: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


@dataclass(frozen=True)
class Level:
    """A budget that people are offered, with a name in plain language.

    Args:
        name: the name that people read, such as "strong".
        epsilon: the budget, from 0.01 to 16. New surveys refuse budgets above 5.29: at these, 100
            of 100 people would send their true answer, after rounding.

    Raises:
        ArgumentError: the name is not a line of text (also BudgetError: epsilon is out of range).

    Examples:
        >>> import epsilons as ep
        >>> level = ep.collector.Level("strong", 0.5)
        >>> f"{level.truly} of 100 people who choose it send their true answer"
        '62 of 100 people who choose it send their true answer'
    """

    name: str
    epsilon: float

    def __post_init__(self) -> None:
        name = parameters.line("level", self.name)
        if name is None:
            raise ArgumentError("level: give every level a name.")
        object.__setattr__(self, "name", name)
        given = self.epsilon
        number = isinstance(given, (int, float)) and not isinstance(given, bool)
        if not number or not LEAST_EPSILON <= given <= MOST_EPSILON:
            raise BudgetError(
                f"level {name!r}: epsilon={shown(given)} must be a number from {LEAST_EPSILON:g} "
                f"to {MOST_EPSILON:g}."
            )
        object.__setattr__(self, "epsilon", float(given))

    @property
    def truly(self) -> int:
        """Expected number of people out of 100 who send their true bit, rounded; others flip it."""
        return CERTAIN - (2 * CERTAIN * threshold(self.epsilon) + WORD) // (2 * WORD)


USUAL_LEVELS: Final = (Level("strong", 0.5), Level("medium", 1.0), Level("light", 2.0))
"""The default levels: 62, 73 and 88 of 100 people send the true answer."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A survey, validated when constructed. It contains no secrets: everything is published.

    Args:
        id: the name of the survey in URLs: lower-case letters, digits and hyphens, at most 64.
        question: the question, one line.
        kind: "yes-no", "one-of" (of `options`), or "number" (within `bounds`).
        closes: the closing time, with its time zone. It is fixed in advance, because intervals are
            not valid at a time that was chosen by looking at the estimates.
        organiser: text on who asks, and who receives the reports.
        options: for "one-of": from 2 to 50 labels.
        bounds: for "number": (lo, hi), the range of answers.
        unit: for "number": the unit, such as "hours"; None without a unit.
        reports: for "number": "bit" for reports of one bit; or "piecewise", for which reports at
            levels of 1.5 or more hold more than one bit (see `epsilons.local.Mean`).
        levels: from 2 to 5 levels, the strictest first.
        invitations: the number of links created with the survey, from 1 to 1,000,000.

    Raises:
        ArgumentError: an argument is invalid (also BudgetError and BoundsError).

    Examples:
        >>> import datetime
        >>> import epsilons as ep
        >>> closes = datetime.datetime(2036, 1, 31, 18, tzinfo=datetime.UTC)
        >>> asked = {"question": "Did you sleep well?", "kind": "yes-no", "organiser": "the union"}
        >>> survey = ep.collector.Survey(id="sleep", closes=closes, invitations=3, **asked)
        >>> survey.mechanism, [level.truly for level in survey.levels]
        (Bit(missing='error'), [62, 73, 88])
    """

    id: str
    question: str
    kind: str
    closes: datetime.datetime
    organiser: str
    options: tuple[str, ...] | None = None
    bounds: tuple[float, float] | None = None
    unit: str | None = None
    reports: str = REPORTS[0]
    levels: tuple[Level, ...] = USUAL_LEVELS
    invitations: int = 100

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise ArgumentError(
                f"id={shown(self.id)} must be small letters, digits and hyphens, at most 64 of "
                "them, with a letter or digit first and last."
            )
        parameters.choice("kind", self.kind, KINDS)
        for name in ("question", "organiser"):
            text = parameters.line(name, getattr(self, name))
            if text is None:
                raise ArgumentError(f"{name} must be given.")
            object.__setattr__(self, name, text)
        object.__setattr__(self, "closes", _moment(self.closes))
        object.__setattr__(self, "options", _options(self.kind, self.options))
        object.__setattr__(self, "bounds", _bounds(self.kind, self.bounds))
        if self.unit is not None and self.kind != "number":
            raise ArgumentError('unit is only for kind = "number": leave it out.')
        object.__setattr__(self, "unit", parameters.line("unit", self.unit))
        if parameters.choice("reports", self.reports, REPORTS) != REPORTS[0] and not self.bounds:
            raise ArgumentError('reports = "piecewise" is only for kind = "number": leave it out.')
        object.__setattr__(self, "levels", _levels(self.levels))
        many = self.invitations
        if type(many) is not int or not 1 <= many <= MOST_INVITATIONS:
            raise ArgumentError(
                f"invitations={shown(many)} must be a whole number from 1 to {MOST_INVITATIONS:,}."
            )

    @cached_property
    def mechanism(self) -> Bit | Mean | Frequencies:
        """The local randomizer, with its estimator."""
        menu = [level.epsilon for level in self.levels]
        if self.options is not None:
            return Frequencies(self.options, method="hadamard", levels=menu)
        if self.bounds is not None:
            return Mean(self.bounds, method=self.reports, levels=menu)  # type: ignore[arg-type]
        return Bit(levels=menu)

    def closed_at(self, moment: datetime.datetime) -> bool:
        """Whether the survey's closing time is reached at a given moment."""
        return moment >= self.closes

    def to_dict(self) -> dict[str, Any]:
        """Return the survey as plain data, for `from_dict` and for the participant's page."""
        found: dict[str, Any] = {
            "id": self.id,
            "question": self.question,
            "kind": self.kind,
            "closes": self.closes.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "organiser": self.organiser,
            "invitations": self.invitations,
            "levels": [{"name": each.name, "epsilon": each.epsilon} for each in self.levels],
        }
        if self.options is not None:
            found["options"] = list(self.options)
        if self.bounds is not None:
            found["bounds"] = list(self.bounds)
        if self.unit is not None:
            found["unit"] = self.unit
        if self.reports != REPORTS[0]:
            found["reports"] = self.reports
        return found

    @classmethod
    def from_dict(cls, held: Mapping[str, object]) -> Survey:
        """Construct a survey from plain data.

        Args:
            held: arguments of this class by name; `levels` are tables of `name` and `epsilon`,
                `closes` is a datetime or text such as 2026-12-01T18:00:00Z.

        Raises:
            ArgumentError: a key is unknown or missing, or an argument is invalid.
        """
        known = [field.name for field in fields(cls)]
        for key in held:
            parameters.choice("key", key, known)
        for key in ("id", "question", "kind", "closes", "organiser"):
            if key not in held:
                raise ArgumentError(f"{key} must be given.")
        made: dict[str, Any] = dict(held)
        if "levels" in made:
            made["levels"] = _tables(made["levels"])
        return cls(**made)

    @classmethod
    def read(cls, path: str | Path) -> Survey:
        """Read a survey from a TOML file: docs/collector.md shows an example.

        Raises:
            FileError: the file cannot be read, or is not TOML.
            ArgumentError: a key is unknown or missing, or an argument is invalid.
        """
        where = Path(path)
        try:
            held = tomllib.loads(where.read_text("utf-8"))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise FileError(f"{str(path)!r} cannot be read ({reason}).") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FileError(f"{str(path)!r} is not TOML: {error}.") from None
        return cls.from_dict(held)


def _moment(given: Any) -> datetime.datetime:
    """Return a time in UTC, truncated to seconds."""
    if isinstance(given, str):
        try:
            given = datetime.datetime.fromisoformat(given)
        except ValueError:
            given = None
    if not isinstance(given, datetime.datetime) or given.tzinfo is None:
        raise ArgumentError(
            "closes must be a moment with its time zone, such as 2026-12-01T18:00:00Z."
        )
    return given.astimezone(datetime.UTC).replace(microsecond=0)


def _options(kind: str, given: Any) -> tuple[str, ...] | None:
    if (kind == "one-of") != (given is not None):
        raise ArgumentError('options: give them for kind = "one-of", and for no other.')
    if given is None:
        return None
    if not isinstance(given, (list, tuple)) or not 2 <= len(given) <= MOST_OPTIONS:
        raise ArgumentError(f"options must be a list of 2 to {MOST_OPTIONS} labels.")
    found = [parameters.line("option", each) for each in given]
    if None in found or len(set(found)) < len(found):
        raise ArgumentError("options must be distinct lines of text.")
    return tuple(each for each in found if each is not None)


def _bounds(kind: str, given: Any) -> tuple[float, float] | None:
    if (kind == "number") != (given is not None):
        raise ArgumentError('bounds: give them for kind = "number", and for no other.')
    return None if given is None else parameters.bounds(given)


def _levels(given: Any) -> tuple[Level, ...]:
    listed = isinstance(given, (list, tuple)) and all(isinstance(each, Level) for each in given)
    if not listed or not 2 <= len(given) <= MOST_LEVELS:
        raise ArgumentError(
            f"levels must be 2 to {MOST_LEVELS} levels, each with name and epsilon."
        )
    if len({each.name for each in given}) < len(given):
        raise ArgumentError("levels must have distinct names.")
    budgets = [each.epsilon for each in given]
    if budgets != sorted(set(budgets)):
        raise BudgetError("levels must ascend, the strictest (the smallest epsilon) first.")
    return tuple(given)


def _tables(given: Any) -> tuple[Level, ...]:
    """Read levels from the tables of a TOML file."""
    tables = isinstance(given, list) and all(isinstance(each, Mapping) for each in given)
    if not tables:
        raise ArgumentError("levels must be tables [[levels]], each with name and epsilon.")
    for each in given:
        for key in each:
            parameters.choice("levels: key", key, ("name", "epsilon"))
        if set(each) != {"name", "epsilon"}:
            raise ArgumentError("levels: each has a name and an epsilon.")
    return tuple(Level(each["name"], each["epsilon"]) for each in given)

"""Studies: TOML files with several questions, the data, and the share of each question."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

import epsilons as ep
from epsilons import parameters
from epsilons.asking.commands import jobs, options, spoken
from epsilons.asking.table import STATISTICS
from epsilons.errors import ArgumentError, FileError
from epsilons.loading import later
from epsilons.questions.question import TERMS, Question

if TYPE_CHECKING:
    from epsilons.asking.commands import trying
    from epsilons.ledger.claim import Claim
else:
    trying = later("epsilons.asking.commands.trying")

__all__ = ["PUBLISH", "Study", "read"]

CLAIM: Final = ("ledger", "name", "at_most", "share")
"""Keys of [study] for a ledger: its location, and the claim on it."""

DIVIDED: Final = ("share", "target")
"""Keys of a question for its share of budgets, or for the largest half-width of its interval."""

UNKNOWN: Final = "unknown"
"""The value for unknown bounds, because TOML has no null."""


@dataclass(frozen=True)
class Study:
    """The contents of a study file.

    Attributes:
        title: the title of the study, or None.
        questions: the questions, in the order of the file.
        terms: arguments of `epsilons.publish`.
        claim: the ledger, and the arguments of the claim on it; empty without a ledger.
    """

    title: str | None
    questions: tuple[Question, ...]
    terms: dict[str, Any]
    claim: dict[str, Any]

    def publish(self) -> ep.Releases:
        """Publish all answers, and charge them to the ledger if there is one."""
        with self._claimed() as claim:
            found = ep.publish(self.questions, **self.terms, ledger=claim)
        return found if self.title is None else replace(found, title=self.title)

    def check(self) -> trying.StudyTrial:
        """Run every check, and forecast what would be published and spent. Nothing is drawn."""
        with self._claimed() as claim:
            return trying.tried(self.questions, self.terms, claim)

    @contextmanager
    def _claimed(self) -> Iterator[Claim | None]:
        """The claim on the ledger; None without a ledger."""
        if not self.claim:
            yield None
            return
        given = dict(self.claim)
        with ep.Ledger(given.pop("ledger")) as ledger:
            yield ledger.claim(given.pop("name", ""), **given)


def read(path: Path) -> Study:
    """Read a study from a file.

    Args:
        path: the path of a TOML file. Paths in the file are relative to its folder.

    Raises:
        FileError: the file cannot be read, or is not TOML.
        ArgumentError: a key is unknown, or the contents are invalid.
    """
    held = _loaded(path)
    _refuse_others(f"{path.name}: table", held, ("study", "question", "menu"))
    study, asked = held.get("study"), held.get("question")
    tables = isinstance(asked, list) and all(isinstance(each, dict) for each in asked)
    if not isinstance(study, dict) or not tables or not asked:
        raise ArgumentError(
            f"{path.name}: a study has a table [study], and a table [[question]] for each question."
        )
    _refuse_others(f"{path.name}, [study]: key", study, ("title", "seed", *TERMS, *CLAIM))
    questions = tuple(_question(each, place) for place, each in enumerate(asked, 1))
    terms = {key: study[key] for key in TERMS if key in study}
    if "menu" in held:
        if "menu" in terms:
            raise ArgumentError("menu: give it once, in [menu] or in [study].")
        terms["menu"] = held["menu"]
    if "data" in terms:
        terms["data"] = _beside(path, "data", terms["data"])
    if "levels" in terms:
        terms["levels"] = _levels(terms["levels"])
    if "seed" in study:
        terms["source"] = ep.Seeded(study["seed"])
    return Study(
        parameters.line("title", study.get("title")),
        questions,
        {**terms, **_division(asked)},
        _claim(path, study),
    )


def _loaded(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FileError(f"{str(path)!r} cannot be read ({reason}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        hint = 'Text is written in quotes, such as statistic = "mean".'
        raise FileError(f"{str(path)!r} is not TOML: {error}. {hint}") from None


def _refuse_others(what: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse unknown keys, and suggest the most similar known key."""
    for key in given:
        parameters.choice(what, key, known)


def _question(given: dict[str, Any], place: int) -> Question:
    """Return a question, given its table in the file. Keys are the fields of its class."""
    where = f"question {place}"
    if "statistic" not in given:
        raise ArgumentError(f"{where}: statistic is not given: {', '.join(STATISTICS)}.")
    kind = STATISTICS[parameters.choice(f"{where}: statistic", given["statistic"], STATISTICS)]
    own = [field.name for field in fields(kind) if field.init]
    for key, value in given.items():
        if key in kind.NOT_TAKEN:
            raise ArgumentError(f"{where}: {kind.NOT_TAKEN[key].format(repr(value))}")
    _refuse_others(f"{where}: key", given, ("statistic", *own, *DIVIDED))
    made = {key: each for key, each in given.items() if key in own}
    if "categories" in own and isinstance(made.get("values"), list):
        made["values"] = tuple(made["values"])  # the columns of a table: TOML has no tuples
    for name in (each for each in own if each in {"values", "x", "y"}):
        given_ = made.get(name)
        columns = given_ if isinstance(given_, tuple) and given_ else (given_,)
        # A count of people needs no column.
        optional = given_ is None and kind is STATISTICS["count"]
        if not optional and not all(isinstance(each, str) for each in columns):
            raise ArgumentError(f"{where}: {name} must be the name of a column.")
    if made.get("bounds") == UNKNOWN:
        made["bounds"] = None
    try:
        return kind(**made)
    except ArgumentError as error:
        raise type(error)(f"{where}: {error}") from None


def _division(asked: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the arguments `shares` and `targets` of `epsilons.publish`, from all questions."""
    shares, targets = ([each.get(key) for each in asked] for key in DIVIDED)
    found: dict[str, Any] = {}
    if any(each is not None for each in shares):
        if None in shares:
            raise ArgumentError("share: give it in all questions, or in none.")
        found["shares"] = [_fraction("share", each) for each in shares]
    if any(each is not None for each in targets):
        found["targets"] = targets
    return found


def _claim(path: Path, study: dict[str, Any]) -> dict[str, Any]:
    """Return the ledger and the arguments of the claim on it; empty without a ledger."""
    claim: dict[str, Any] = {key: study[key] for key in CLAIM if key in study}
    if not claim:
        return {}
    for key in ("ledger", "name"):
        if key not in claim:
            raise ArgumentError(
                f"[study]: {key} is needed to charge a ledger. Give ledger (its path or address), "
                "name (of this release in the ledger), and at_most or share."
            )
    if "://" not in str(claim["ledger"]):
        claim["ledger"] = str(_beside(path, "ledger", claim["ledger"]))
    if "share" in claim:
        claim["share"] = _fraction("share", claim["share"])
    return claim


def _beside(path: Path, name: str, given: Any) -> Path:
    """Return a path relative to the folder of the study."""
    if not isinstance(given, str):
        raise ArgumentError(f"[study]: {name} must be the path of a file.")
    return path.parent / given


def _fraction(name: str, given: Any) -> Any:
    """Return a share. Text such as "1/12" is converted; other values are checked later."""
    if not isinstance(given, str):
        return given
    try:
        return Fraction(given)
    except (ValueError, ZeroDivisionError):
        raise ArgumentError(f'{name}={given!r} must be a share, such as "1/12" or 0.25.') from None


def _levels(given: Any) -> Any:
    """Return the argument `levels`: a list, or a mapping to numbers of people.

    Keys are converted to numbers, because keys in TOML are text.
    """
    if not isinstance(given, dict):
        return given
    try:
        return {float(level): people for level, people in given.items()}
    except ValueError:
        raise ArgumentError(
            "levels: a table must map budgets to numbers of people, such as "
            '{"0.1" = 500, "1" = 200}.'
        ) from None


@click.command("publish")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option(
    "--check",
    is_flag=True,
    help="Only say what would be published and spent: for the curator. Nothing is drawn.",
)
@options.REPORT
@options.FIGURE
@options.DETAILS
@options.JSON
def PUBLISH(  # noqa: N802
    file: str, check: bool, page: str | None, picture: str | None, details: bool, as_json: bool
) -> None:
    """Publish the answers to all questions of the study in FILE (TOML)."""
    study = read(Path(file))
    files = options.Files(page, picture)  # checks paths before noise is drawn
    if check:
        trial = study.check()
        spoken.say(trial, as_json=as_json, details=details)
        if trial.plan is not None:
            files.write(trial.plan)
        return
    found = study.publish()
    jobs.released(found)
    spoken.say(found, as_json=as_json, details=details)
    files.write(found)

"""Commands that read the JSON file of a release. They publish nothing, and cost nobody anything."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

import epsilons as ep
from epsilons import errors
from epsilons.asking.commands import options, spoken
from epsilons.parameters import CHOICES
from epsilons.results import report
from epsilons.results.release import Release
from epsilons.results.report.phrases import SEEDED
from epsilons.types import Length

__all__ = ["COMPARE", "SHOW", "STATEMENT", "TABLE", "published"]

_JSON_FILE = click.Path(dir_okay=False, path_type=Path)

_WHICH = click.option(
    "--release",
    "which",
    type=int,
    metavar="NUMBER",
    help="Which release, counted from 1, if a file has several.",
)


def published(path: Path) -> ep.verify.Published:
    """Check the JSON file of a release, and return what was found.

    Raises:
        FileError: the file cannot be read.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise errors.FileError(f"{str(path)!r} cannot be read ({reason}).") from None
    return ep.verify.published(text)


def _one(path: Path, which: int | None) -> Release:
    """Return the release in a file, after checking that the file is consistent.

    Raises:
        UsageError: the file has several releases, and `which` is not the number of one.
    """
    found: Any = published(path).require().release
    if isinstance(found, Release):
        return found
    names = ", ".join(f"{number} ({name})" for number, name in enumerate(found.names, 1))
    if which is None or not 1 <= which <= len(found):
        raise click.UsageError(f"{path} has several releases: give --release NUMBER, of {names}.")
    one: Release = found[which - 1]
    return one


@click.command("show")
@click.argument("file", type=_JSON_FILE)
@options.DETAILS
@options.JSON
def SHOW(file: Path, details: bool, as_json: bool) -> None:  # noqa: N802
    """Print the release in the JSON file FILE, after checking the file."""
    release = published(file).require().release
    spoken.say(release, as_json=as_json, details=details)


@click.command("statement")
@click.argument("file", type=_JSON_FILE)
@click.option(
    "--length",
    type=click.Choice(CHOICES["length"]),
    default="public",
    show_default=True,
    help="For the general public, a lawyer or an ethics board, or a methods section.",
)
@options.JSON
def STATEMENT(file: Path, length: Length, as_json: bool) -> None:  # noqa: N802
    """Print paragraphs to copy about the release in the JSON file FILE, after checking the file."""
    text = published(file).require().release.statement(length)
    spoken.tell({"length": length, "statement": text}, text, as_json=as_json)


@click.command("compare")
@click.argument("first", type=_JSON_FILE)
@click.argument("second", type=_JSON_FILE)
@_WHICH
@options.taken("confidence")
@options.JSON
def COMPARE(  # noqa: N802
    first: Path, second: Path, which: int | None, confidence: float, as_json: bool
) -> None:
    """Check two JSON files and compare their releases: the change from FIRST to SECOND."""
    found = ep.compare(_one(first, which), _one(second, which), confidence)
    spoken.tell(found.to_dict(), str(found), as_json=as_json)


@click.command("table")
@click.argument("file", type=_JSON_FILE)
@click.option(
    "--marginal",
    multiple=True,
    metavar="COLUMN",
    help="The shares of one column of a table; repeat it for two of three columns.",
)
@click.option(
    "--within",
    multiple=True,
    metavar="COLUMN",
    help="The shares within each label of a column, such as of answers in each region.",
)
@click.option("--differences", is_flag=True, help="All pairs of groups or categories.")
@click.option(
    "--combine",
    multiple=True,
    metavar="LABEL=WEIGHT",
    help="The weighted sum of groups or shares; repeat it for each label.",
)
@_WHICH
@options.taken("confidence")
@options.JSON
def TABLE(  # noqa: N802
    file: Path,
    marginal: tuple[str, ...],
    within: tuple[str, ...],
    differences: bool,
    combine: tuple[str, ...],
    which: int | None,
    confidence: float,
    as_json: bool,
) -> None:
    """Print what follows from the release of a table or of groups in the JSON file FILE.

    Such as: epsilons table release.json --within region.
    """
    if sum(map(bool, (marginal, within, differences, combine))) != 1:
        raise click.UsageError("Give one of --marginal, --within, --differences or --combine.")
    release = _one(file, which)
    found: Any
    if combine:
        one = release.combine(_weights(combine, release), confidence)
        value, low, high = (report.aligned(each, one.high - one.low) for each in one)
        ends = f"{report.percent(confidence)} interval {low} to {high}"
        told, text = (
            {**one._asdict(), "confidence": confidence},
            f"Weighted sum: {value}   ({ends})",
        )
    elif differences:
        found = release.differences(confidence)
        told, text = found.to_dict(), str(found).removeprefix(f"{SEEDED}\n")
    else:
        follows = release.marginal if marginal else release.within
        found = follows(*(marginal or within), confidence=confidence)
        told, text = found.to_dict(), str(found)
    seeded = "" if release.private else f"{SEEDED}\n"
    spoken.tell(told | {"private": release.private}, seeded + text, as_json=as_json)


def _weights(given: tuple[str, ...], release: Release) -> dict[Any, float]:
    """Return the weight of each label. Labels are written as they are printed.

    Raises:
        UsageError: a weight is not a number, or a label is unknown or given twice.
    """
    estimate: Any = release.estimate
    labels = {report.group_name(each): each for each in getattr(estimate, "labels", ())}
    labels |= dict(zip(estimate.names, getattr(estimate, "categories", ()), strict=False))
    found: dict[Any, float] = {}
    for each in given:
        name, _, weight = each.rpartition("=")
        if labels and name not in labels:
            raise click.UsageError(
                f"--combine {each}: {name!r} is no label. Give --combine LABEL=WEIGHT for each of "
                f"{', '.join(map(repr, labels))}; those that are left out have weight 0."
            )
        try:
            number = float(weight)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or labels.get(name, name) in found:
            raise click.UsageError(f"--combine {each}: give each LABEL=WEIGHT once, with a number.")
        found[labels.get(name, name)] = number
    return found

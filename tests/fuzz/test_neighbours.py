"""The privacy loss between neighbouring tables is at most ε, on any engine and for any type.

Each case has two tables that differ in one person. Both are published, and the draws of the first
are replayed in the second. Engines and readers infer properties of a column from its data: its
type, its order, how its values are spelled, which of them are null, whether its ids are numbers. If
such a property depends on one person, a field differs, an error is raised, or a total changes too
much.
"""

from __future__ import annotations

import dataclasses
import os
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, seed, settings, strategies as st

import epsilons as ep
import epsilons.door.rows
from epsilons.errors import EpsilonsError
from tests.fuzz.cases import MORE_WORDS, Case, cases, usable
from tests.fuzz.replayed import Drawn, Run, compared, tape
from tests.fuzz.tables import GROUPS, READERS, arguments
from tests.fuzz.wide import Wide, wide_cases

HUNTING = "EPSILONS_FUZZ_EXAMPLES" in os.environ
"""Whether to search for new cases. The ordinary run uses the same cases every time."""

PARTS = 1 if HUNTING else 8
"""The number of parts of a group's cases. An ordinary run checks one part; the parts take turns."""

EXAMPLES = int(os.environ.get("EPSILONS_FUZZ_EXAMPLES", "5"))
"""The number of cases in each part of a group."""

WIDE_EXAMPLES = EXAMPLES if HUNTING else 2
"""The number of cases with several columns. The ordinary run has fewer, because they are slower."""

ENGINES = {
    name: forms if HUNTING else tuple(form for form in forms if form != "dask")
    for name, forms in GROUPS.items()
}
"""Groups of forms. Dask takes a second per case, so only a search for new cases includes it."""


@pytest.fixture(scope="module", autouse=True)
def shorter() -> Any:
    """Shorten the ladder of default budget levels, to save time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("epsilons.budgets.levels.DEPTH", 2.0**-6)
        yield


def published(case: Case, rows: Any, raw: Any, directory: Path, earlier: list[Drawn] | None) -> Run:
    """Publish one table, and return the release and its draws, or the error."""
    given = arguments(case.form, case.columns(rows), raw, directory, case.decoys)
    call: dict[str, Any] = {"epsilon": 0.5, **given, **case.facts, "neighbours": case.neighbours}
    private = case.neighbours == "add-remove"
    # Under add/remove, related=True is refused unless levels are declared.
    known = "levels" in case.facts or "menu" in case.facts
    related = not private or known or isinstance(call["epsilon"], float)
    ask: Any
    if isinstance(case, Wide):
        own = ("epsilon", "menu", "data", "person", "levels", "cap", "neighbours")
        asked = [
            each if isinstance(each, ep.Count) else dataclasses.replace(each, related=related)
            for each in case.questions(call)
        ]
        call = {name: call[name] for name in own if name in call}
        call |= {"questions": asked, "shares": case.options["shares"]}
        ask = ep.publish
    elif case.statistic == "mean":
        call |= {"bounds": (0.0, 10.0), "method": "transformed" if private else "optimal"}
        call["related"] = related
        call["missing"] = "midpoint" if case.lenient or private else "error"
        if len(case.weights) > 3:
            call["about"] = "population"
        ask = ep.mean
    else:
        call["categories"] = [*call["categories"], *(MORE_WORDS if case.many else [])]
        call["method"] = "auto" if private else "optimal"
        call |= {"other": "other" if case.lenient else None, "related": related}
        ask = ep.frequencies
    with tape(earlier) as drawn, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Run(ask(**call, source=ep.Seeded(1)), drawn, None)
        except EpsilonsError as refusal:
            return Run(None, drawn, refusal)


def check(case: Case, directory: Path) -> None:
    """Assert that the privacy loss between the two tables is at most ε."""
    epsilons.door.rows.SMALL = 0 if case.large else 10**5
    first = published(case, case.first, None, directory, None)
    second = published(case, case.second, case.raw, directory, first.drawn)
    refusals = [run.refusal for run in (first, second) if run.refusal is not None]
    for refusal in refusals:
        assert not any(word in str(refusal) for word in ("bike", "BIKE", "2026"))
    if refusals and any(word in str(refusals[0]) for word in ("collation", "distinguished from")):
        # A declared collation and a column name are public, so these errors reveal nothing.
        assert len(refusals) == 2
        assert str(refusals[0]) == str(refusals[1])
        return
    if case.neighbours == "replace" and (not case.lenient or case.form in READERS):
        assume(not refusals)  # under replace, errors are shown only to the curator
    assert refusals == []
    compared(first, second, case.epsilon)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the limit for large arrays after the test, because cases change it."""
    monkeypatch.setattr(epsilons.door.rows, "SMALL", epsilons.door.rows.SMALL)


def look(cases: st.SearchStrategy[Any], examples: int, part: str, directory: Path) -> None:
    """Check this many cases.

    The name of the part is the seed, so a part always has the same cases. A search for new cases
    ignores the name.
    """

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def checked(case: Case) -> None:
        assume(usable(case))
        check(case, directory)

    (checked if HUNTING else seed(part)(checked))()


@pytest.mark.rotates(PARTS, each="forms")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("forms", GROUPS)
@pytest.mark.usefixtures("small")
def test_neighbours_cannot_be_told_apart(forms: str, part: int, tmp_path: Path) -> None:
    look(cases(ENGINES[forms]), EXAMPLES, f"{forms} {part}", tmp_path)


@pytest.mark.rotates(PARTS, each="forms")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("forms", GROUPS)
@pytest.mark.usefixtures("small")
def test_neighbours_cannot_be_told_apart_by_groups_and_several_questions(
    forms: str, part: int, tmp_path: Path
) -> None:
    look(wide_cases(ENGINES[forms]), WIDE_EXAMPLES, f"{forms} {part}", tmp_path)

"""The statements that users can copy are correct for every kind of release."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
import re
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import epsilons as ep
from epsilons import types
from epsilons.errors import ArgumentError
from epsilons.results.release.statement import PACKAGE, PAPERS
from epsilons.results.report import number
from tests.report.forms import Reader, undrawn_page
from tests.report.page_samples import NAMES, shown

ROOT = Path(__file__).resolve().parents[2]
LENGTHS = get_args(types.Length)
KINDS = [name for name in NAMES if "plan" not in name]
N = 600
VALUES = np.random.default_rng(2).gamma(3.0, 12.0, N).clip(0.0, 120.0)
EPSILON = np.resize([0.25, 1.0, 4.0], N)
JARGON = re.compile(r"ε|budget|epsilon|differential|mechanism|neighbour|quantile|covarian|variance")
SEEDED = "NOT PRIVATE: this was drawn from a seed"


def mean(**given: Any) -> ep.Release:
    asked: dict[str, Any] = {"epsilon": EPSILON, "bounds": (0, 120), **given}
    return ep.mean(asked.pop("values", VALUES), **asked)


def paragraph(release: Any, head: str) -> str:
    """Return the paragraph with this heading from the statement for a board."""
    [found] = [each for each in release.statement("board").split("\n\n") if each.startswith(head)]
    return str(found)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_three_statements(kind: str) -> None:
    release = shown()[kind]
    for length in LENGTHS:
        said = release.statement(length)
        assert said.startswith(SEEDED), "a seed is named first"
        assert "  " not in said
        assert "None" not in said
    public = release.statement().split("\n\n")[-1]
    if kind != "count of private people":  # this release has a very long title
        assert not JARGON.search(public)
    if kind != "several":
        # There are more than five sentences if rows were excluded, something was assumed, or some
        # answers are public.
        assert 3 <= len(re.findall(r"[.?!](?= |$)", public)) <= 9
    assert release.statement() == release.statement("public")


def test_a_private_release_is_not_called_a_simulation() -> None:
    release = mean()
    for length in LENGTHS:
        assert "seed" not in release.statement(length)


def test_the_number_and_its_interval_are_quoted() -> None:
    release = mean(title="How long do people commute?", unit="minutes")
    low, high = release.interval()
    said = release.statement()
    assert said.startswith(f"How long do people commute? The average among {N} people is about ")
    quoted = [float(each) for each in re.findall(r"(?:about|from|to) ([\d.]+) ", said)[:3]]
    assert quoted == pytest.approx([release.value, low, high], abs=0.06)
    assert "in at least 95 % of such publications" in said
    assert len(re.findall(r"[.?!](?= |$)", said)) == 5
    assert "was about" in release.statement("methods")


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda **given: ep.mean(VALUES, bounds=(0, 120), **given), "the average"),
        (lambda **given: ep.variance(VALUES, bounds=(0, 120), **given), "the standard deviation"),
        (lambda **given: ep.quantile(VALUES, 0.5, bounds=(0, 120), **given), "the value that 50 %"),
        (
            lambda **given: ep.frequencies(["a", "b"] * 2, categories=["a", "b"], **given),
            "the shares",
        ),
        (
            lambda **given: ep.covariance(
                VALUES, VALUES, x_bounds=(0, 120), y_bounds=(0, 120), **given
            ),
            "the correlation of two measurements",
        ),
    ],
)
def test_a_number_that_says_nothing_is_never_quoted(ask: Any, what: str) -> None:
    epsilon = [0.001, 0.002] * (2 if what == "the shares" else N // 2)
    release = ask(epsilon=epsilon, source=ep.Seeded(3))
    assert not any(row.informative for row in release.rows)
    for length in LENGTHS:
        said = release.statement(length)
        assert f"No usable number resulted for {what}" in said
        assert " is about " not in said
        assert "contains the true value" not in said
        assert not any(f"{row.name}: " in said for row in release.rows if row.name)


def test_what_says_something_is_quoted_and_the_rest_counted() -> None:
    """If there are many bins, a statement quotes only the largest.

    Empty groups are counted instead of quoted.
    """
    many = ep.frequencies(
        VALUES, epsilon=EPSILON, edges=list(range(0, 125, 5)), source=ep.Seeded(1)
    )
    said = many.statement().split("\n\n")[-1]
    largest = sorted(many.rows, key=lambda row: -row.value)
    assert f"(6 of {len(many.rows)} numbers): {largest[0].name}: " in said
    assert largest[6].name not in said
    groups = shown()["public groups"]
    assert not groups.rows[-1].informative
    assert "none: " not in groups.statement()
    assert "For 1 of 4, no usable number resulted." in groups.statement()


def test_odds_are_those_of_what_was_spent() -> None:
    release = mean(method="proportional")
    said = paragraph(release, "What ε means.")
    for spent in (0.25, 4.0):
        exact = 100.0 / (1.0 + math.exp(-spent))
        [found] = re.findall(rf"([\d.]+) % for ε = {spent:g},", said) or re.findall(
            rf"ε = {spent:g}, the least that is shown, it is ([\d.]+) %", said
        )
        assert exact <= float(found) <= exact + 0.1, "rounded up"
    assert "is right at most 98.3 % of the time" in release.statement()
    assert "e^(2ε)" not in said


def test_people_who_are_public_are_named() -> None:
    epsilon = np.where(np.arange(N) < 9, math.inf, EPSILON)
    some = mean(epsilon=epsilon)
    assert "Answers that people made public are not protected." in some.statement()
    assert "Records that people made public" in paragraph(some, "What is not protected.")
    every = mean(epsilon=math.inf)
    assert "limit" not in every.statement()
    assert "blurred" not in every.statement()
    assert "Only records that people made public" in every.statement("board")
    assert "Only public records were used, without noise." in every.statement("methods")


def test_a_single_epsilon_is_the_same_limit_for_everyone() -> None:
    assert "Everyone had the same limit" in mean(epsilon=1.0).statement()
    assert "Everyone had their own limit" in mean().statement()


def test_people_who_offered_nothing_are_said_to_have_spent_nothing(tmp_path: Path) -> None:
    said = "599 people offered nothing, and spent nothing."
    some = mean(epsilon=np.where(np.arange(N) < N - 1, 0.0, 1.0))
    assert f"Spent: ε 1 each; nobody keeps any. {said}" in " ".join(str(some).split())
    assert f"and people spent ε = 1. {said}" in some.statement("methods")
    assert "Everyone had their own limit" in some.statement()
    assert "offered nothing" not in str(mean()) + mean().statement("methods")
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(person=range(N), epsilon=[0.2, *[2.0] * (N - 1)])
        for name in ("first", "second"):
            claim = ledger.claim(name, at_most=0.2)
            found = mean(person=range(N), epsilon=None, ledger=claim)
        assert ledger.account(0).left == 0.0
    assert "One person offered nothing, and spent nothing." in " ".join(str(found).split())


def test_private_people_are_not_counted_exactly() -> None:
    release = mean(neighbours="add-remove", levels=[0.25, 1.0, 4.0])
    assert f"among about {release.n:,} people" in release.statement()
    assert "guesses whether a person took part" in release.statement()
    said = release.statement("board")
    assert "e^(2ε) : 1" in said
    assert "the number of people" not in paragraph(release, "What is not protected.")
    assert "add/remove neighbours" in release.statement("methods")
    unknown = shown()["private mean"].statement()
    assert "among an undisclosed number of people" in unknown


def test_local_people_trust_nobody() -> None:
    kind = ep.local.Bit()
    release = kind.estimate(kind.randomize_many(VALUES > 30.0, np.full(N, 2.0)))
    assert "The share of yes in the population" in release.statement()
    assert "people blurred their answers by chance before they sent them" in release.statement()
    assert "people answered honestly" in release.statement()
    assert "Against everyone" in paragraph(release, "Against whom.")
    assert "everyone keeps their own account" in paragraph(release, "For how long.")


def test_assumptions_are_conditions() -> None:
    assert "Stated ranges hold if" not in mean().statement()
    bold = mean(about="population", related=False)
    assert (
        "Stated ranges hold if these people are a random sample and people's limits have nothing "
        "to do with their answers."
    ) in bold.statement()
    assert "have little to do with" in mean(related=0.05).statement()
    assert "values follow a bell curve" in shown()["gaussian"].statement()
    assert bold.assumes in paragraph(bold, "What was assumed.")


def test_a_ledger_keeps_account(tmp_path: Path) -> None:
    people = {"who": [f"p{k}" for k in range(N)], "x": VALUES, "e": EPSILON}
    frame = pytest.importorskip("polars").DataFrame(people)
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(frame, person="who", epsilon="e")
        claim = ledger.claim("commuting 2026", at_most=0.2)
        release = ep.mean("x", bounds=(0, 120), data=frame, person="who", ledger=claim)
    said = paragraph(release, "For how long.")
    assert 'A ledger charged it as "commuting 2026"' in said
    assert "Releases outside the ledger add" in said
    assert 'Rows of one person, by "who", count together.' in release.statement("board")
    assert "spends once for each" not in release.statement("board")
    assert "No ledger keeps account of this one." in paragraph(mean(), "For how long.")
    assert "spends once for each" in paragraph(mean(), "What is not protected.")


def test_several_releases_are_one_statement() -> None:
    releases = ep.publish(
        [ep.Mean(VALUES, bounds=(0, 120), title="Time"), ep.Quantile(VALUES, 0.5, bounds=(0, 120))],
        epsilon=EPSILON,
    )
    public = releases.statement()
    assert public.count("Everyone had their own limit") == 1
    assert public.count("in at least 95 % of such publications") == 2
    most = number(max(row.spent for row in releases.spent))
    assert f"for ε = {most}, the most" in releases.statement("board")
    methods = releases.statement("methods")
    assert methods.count("The method was") == 2
    assert methods.count("References:") == 1


def test_methods_name_definition_method_and_version() -> None:
    said = mean(title="Time").statement("methods")
    release = mean()
    assert "pure personalized differential privacy (δ = 0) for replace-one neighbours" in said
    assert 'The method was "optimal".' in said
    assert "where the most is a cap" in said
    assert "a confidence level of 0.95" in said
    assert f"computed on {release.date} (UTC) with epsilons, version {release.version}." in said
    assert f"References: {PACKAGE}, version {release.version}; " in said
    assert "Managing correlations in data and privacy demand" in said
    assert "Add-Remove Model" not in said


def test_papers_are_those_of_the_references() -> None:
    pages = (ROOT / "docs/references.md").read_text("utf-8")
    own = {each.paper for each in mechanisms() if hasattr(each, "paper")}
    assert own
    for paper in [*PAPERS, *own]:
        [title] = re.findall(r'"([^"]+)"', paper)
        [line] = [each for each in pages.splitlines() if title in each]
        for author in re.findall(r"\w+", paper.split(', "')[0].replace(" and ", " ")):
            assert author in line
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    author, title = PACKAGE.split(", ")
    assert f"name: {author}\n" in cited
    assert f"title: {title}\n" in cited


def test_every_method_that_comes_from_a_paper_cites_it() -> None:
    known = {each for by in PAPERS.values() for each in by.split()}
    named = {
        each.partition("-")[0] if each.startswith(("hpm", "hpf")) else each
        for words in (types.RuleName, types.LocalVectorMethod)
        for each in get_args(words)
    }
    # Statements call "duchi" by the name "vector", and "auto" by the method that it chose.
    own = {"duchi", "auto"}
    assert named - own <= known


def mechanisms() -> list[Any]:
    """Return all classes that declare a kind of mechanism."""
    found: dict[Any, None] = {}
    for room in ("draws.mechanisms", "papers", "local"):
        package = importlib.import_module(f"epsilons.{room}")
        for file in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{file.name}")
            for each in vars(module).values():
                if (
                    isinstance(each, type)
                    and hasattr(each, "kind")
                    and not inspect.isabstract(each)
                ):
                    found[each] = None
    return [each for each in found if not getattr(each, "_is_protocol", False)]


def test_every_kind_of_mechanism_says_what_it_releases() -> None:
    every = [each for each in mechanisms() if hasattr(each, "losses") or hasattr(each, "channel")]
    assert len(every) >= 15
    for each in every:
        if each.kind not in ("composition", "report"):  # these have several stages
            assert each.released, each


@pytest.mark.parametrize("kind", ["mean", "several", "local bit"])
def test_pages_end_with_all_three(kind: str) -> None:
    release = shown()[kind]
    page = Reader(undrawn_page(release)).text
    [_, ending] = page.split(" To copy ")
    for length in LENGTHS:
        for each in release.statement(length).split("\n\n"):
            assert " ".join(each.split()) in ending.replace("\u00a0", " ")
    for reader in ("the general public", "a lawyer or an ethics board", "a methods section"):
        assert f"For {reader}:" in ending
        assert reader not in release.details()
        assert reader not in release._repr_html_()


@pytest.mark.parametrize("length", ["", "short", None, 3])
def test_other_lengths_are_refused(length: Any) -> None:
    with pytest.raises(ArgumentError, match="'public', 'board', 'methods'"):
        mean().statement(length)

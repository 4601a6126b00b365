"""What is printed of a release and of a plan, in every form: nothing that misleads."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.report import (
    figures,
    frequencies_html,
    number,
    plan_html,
    plan_page,
    release_html,
    release_page,
    release_plot,
)
from epsilons.report.local import vector_html
from epsilons.report.text import merged_rows, spending
from tests.report.page_samples import ATTACK
from tests.report.test_page import Reader

NUMBER = re.compile(r"[\d.,]+(?:e[-+]\d+)?")


def forms(shown: Any) -> dict[str, str]:
    """Everything that a release or a plan prints, as words without markup or drawings."""
    data = shown.to_dict()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("estimate", "shares", "coordinates", "spending", "histogram", "curve"):
            patch.setattr(figures, name, lambda *_: "<svg ></svg>")
        page = (plan_page if "forecasts" in data else release_page)(data)
    return {
        "text": " ".join(str(shown).split()),
        "json": json.dumps(json.loads(shown.to_json()), ensure_ascii=False),
        "notebook": Reader(shown._repr_html_()).text,
        "page": Reader(page).text,
    }


@functools.cache
def many() -> np.ndarray:
    return np.exp(np.random.default_rng(4).uniform(-4.0, 3.0, 300))


def numbers(words: str) -> list[float]:
    """The numbers of a cell: one, or the ends of a range."""
    return [
        math.inf if word == "public" else float(word.replace(",", ""))
        for word in words.split(" to ")
    ]


@pytest.mark.parametrize("method", ["auto", "threshold", "uniform", "proportional", "hpm-a"])
def test_no_row_for_many_levels_looks_like_overspending(method: str) -> None:
    epsilon = np.append(many(), math.inf)
    release = ep.mean(np.zeros(301), epsilon=epsilon, bounds=(0, 1), method=method)
    rows = release.to_dict()["spent"]
    heads, cells = spending({"spent": rows})
    assert heads == ("budget ε", "people", "spent", "kept")
    assert len(cells) == 8 < len(rows)
    at = 0
    for name, people, spent, _ in cells:
        budgets, spends = numbers(name), numbers(spent)
        assert spends[0] <= budgets[0]
        assert spends[-1] <= budgets[-1]
        # The ends are those of the people themselves, to the digits that are printed.
        group = rows[at : at + math.ceil(len(rows) / 8)]
        at += len(group)
        assert int(people) == sum(row["people"] for row in group)
        for shown, key in ((budgets, "epsilon"), (spends, "spent")):
            ends = [min(row[key] for row in group), max(row[key] for row in group)]
            np.testing.assert_allclose([shown[0], shown[-1]], ends, rtol=1e-3)


def test_what_is_kept_is_a_range_too() -> None:
    rows = [
        {"epsilon": 0.1 * k, "people": 1, "spent": min(0.1 * k, 0.5), "kept": max(0.1 * k - 0.5, 0)}
        for k in range(1, 17)
    ]
    merged = merged_rows(rows)
    assert [row["spent_words"] for row in merged[1:4]] == ["0.3 to 0.4", "0.5", "0.5"]
    assert [row["kept_words"] for row in merged[1:4]] == ["0", "0 to 0.1", "0.2 to 0.3"]


def test_a_plan_shows_what_people_of_single_levels_would_spend() -> None:
    plan = ep.plan(many())
    data = plan.to_dict()
    shown = str(plan)
    assert "≈" not in shown
    assert "for 4 of 300 levels" in " ".join(shown.split())
    lines = shown.splitlines()
    heads = [float(each) for each in re.findall(r"ε ([\d.]+)", lines[3])]
    levels = sorted(many())
    assert heads == [float(f"{levels[k]:.2g}") for k in (0, 100, 199, 299)]
    for line, row in zip(lines[4:], data["forecasts"], strict=False):
        spends = [float(each) for each in line.split()[-4:]]
        assert spends == [float(f"{row['spent'][k]['spent']:.2g}") for k in (0, 100, 199, 299)]
        assert all(spent <= has for spent, has in zip(spends, heads, strict=True))


def test_a_page_says_that_bars_for_many_levels_are_averages() -> None:
    few, lots = (ep.mean(np.zeros(n), epsilon=many()[:n], bounds=(0, 1)) for n in (12, 13))
    words = "shown by their averages"
    assert words not in forms(few)["page"]
    assert words in forms(lots)["page"]
    assert "on average" not in few.plot().to_json()
    assert "on average" in lots.plot().to_json()


def test_levels_that_read_alike_do_not_share_a_bar() -> None:
    """On a shared bar what they spend would be stacked, and be more than any of them has."""
    data = ep.mean(np.zeros(2), epsilon=[0.5, 1.0], bounds=(0, 1)).to_dict()
    for row, level in zip(data["spent"], (0.50001, 0.50002), strict=True):
        row["epsilon"] = level
    values = release_plot(data).to_dict()["vconcat"][1]["data"]["values"]
    assert len({row["level"] for row in values}) == 2


X = [1.0, 2.0, 50.0, 99.0, math.nan, math.nan]
E = [0.5, 1.0, 2.0, 0.5, 1.0, 2.0]
CLIPPED = "Values outside 0 to 60 count as the nearest bound"
MIDDLE = "missing values count as 30, the middle, unless the person has others"


@pytest.mark.parametrize("values", [X, [5.0, 6.0, 7.0, 8.0, 9.0, 10.0]], ids=["odd", "tidy"])
@pytest.mark.parametrize(
    "given",
    [
        {"missing": "midpoint"},
        {"neighbours": "add-remove"},
        {"method": "sampling", "missing": "midpoint"},
    ],
)
def test_a_mean_says_what_values_that_do_not_fit_count_as(
    values: list[float], given: dict[str, Any]
) -> None:
    release = ep.mean(values, epsilon=E, bounds=(0, 60), **given)
    for name, text in forms(release).items():
        assert f"{CLIPPED}; {MIDDLE}." in text, name


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_missing_values_count_as_it_is_said(neighbours: str) -> None:
    """Hardly any noise: one person has a value beside a missing one, and one has none at all."""
    given: dict[str, Any] = {"neighbours": neighbours}
    if neighbours == "add-remove":
        given["levels"] = [1e5]
    release = ep.mean(
        [10.0, None, None, 99.0],
        epsilon=[1e5] * 4,
        bounds=(0, 60),
        person=[1, 1, 2, 3],
        missing="midpoint",
        source=ep.Seeded(1),
        **given,
    )
    assert release.treats == f"{CLIPPED}; {MIDDLE}."
    assert release.value == pytest.approx((10.0 + 30.0 + 60.0) / 3.0, abs=0.1)


def test_where_missing_values_are_refused_nothing_is_said_of_them() -> None:
    release = ep.mean([1.0, 70.0, 3.0], epsilon=1.0, bounds=(0, 60))
    for name, text in forms(release).items():
        assert f"{CLIPPED}." in text, name
        assert "issing values" not in text, name


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("method", ["weighted", "diffusion"])
def test_a_range_that_was_found_is_named(neighbours: str, method: str) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(1000.0, 2.0, 20_000)
    values[::7] = math.nan
    kind: dict[str, Any] = {"neighbours": neighbours, "missing": "midpoint", "method": method}
    source = ep.Seeded(3)
    release = ep.mean(values, epsilon=2.0, bounds=None, source=source, **kind)
    lo, hi = release.bounds
    said = r"Values outside (.*) count as the nearest bound; missing values count as (.*), the mid"
    found = re.match(said, release.treats)
    assert found is not None
    outside, middle = found.groups()
    np.testing.assert_allclose(numbers(outside), [lo, hi], rtol=1e-3)
    assert numbers(middle)[0] == pytest.approx((lo + hi) / 2.0, rel=1e-3)
    shown = forms(release)
    assert release.treats in shown["text"]
    assert shown["text"].startswith("NOT PRIVATE")
    assert json.loads(shown["json"])["private"] is False


def test_no_page_and_no_message_sends_anyone_to_an_index_that_has_no_epsilons() -> None:
    root = Path(ep.__file__).parents[2]
    files = [*root.glob("src/**/*.py"), *root.glob("docs/**/*.md"), root / "README.md"]
    assert len(files) > 100
    for path in files:
        assert not re.search(r"pip install\W+epsilons", path.read_text("utf-8")), path


def test_shares_say_what_values_that_do_not_fit_count_as() -> None:
    words = ["a", "b", "b", "a", "b", "a"]
    shares = functools.partial(ep.frequencies, words, epsilon=E, categories=["a", "b"])
    both: list[dict[str, Any]] = [{}, {"neighbours": "add-remove"}]
    for given in both:
        for name, text in forms(shares(other="rest", **given)).items():
            assert "Missing and undeclared values count as 'rest'." in text, name
    for name, text in forms(shares(neighbours="add-remove")).items():
        assert "Missing and undeclared values are in no category." in text, name
    for name, text in forms(shares()).items():
        assert "undeclared" not in text, name


def test_local_releases_say_what_becomes_of_values_outside() -> None:
    numbers_ = ep.local.Mean((0, 60))
    reports = numbers_.randomize_many(np.array([1.0, 2.0, 99.0]), np.full(3, 1.0))
    assert f"{CLIPPED}." in forms(numbers_.estimate(reports))["text"]
    vectors = ep.local.Vector(2, radius=5.0)
    sent = vectors.randomize_many(np.array([[1.0, 2.0], [9.0, 9.0]]), np.full(2, 1.0))
    for name, text in forms(vectors.estimate(sent)).items():
        assert "Vectors longer than 5 are shortened to that length." in text, name
    bits = ep.local.Bit()
    assert bits.estimate(bits.randomize_many(np.array([0, 1]), np.full(2, 1.0))).treats == ""


def weak(epsilon: Any, **given: Any) -> list[Any]:
    """Every kind of release, and a plan, for such budgets."""
    values = np.arange(len(epsilon)) % 2
    shares: dict[str, Any] = {"categories": [0, 1], **given}
    return [
        ep.mean(values, epsilon=epsilon, bounds=(0, 1), **given),
        ep.frequencies(values, epsilon=epsilon, **shares),
    ]


@pytest.mark.parametrize("epsilon", [[1000.0, 1000.0], [0.1, 20.5, math.inf], [50, 10, 10]])
def test_an_epsilon_above_20_is_warned_of_everywhere(epsilon: list[float]) -> None:
    largest = max(each for each in epsilon if math.isfinite(each))
    words = f"ε above 20 protects next to nothing, and budgets here go up to {largest:,g}."
    for shown in [*weak(epsilon), ep.plan(epsilon), ep.plan(epsilon, neighbours="add-remove")]:
        for name, text in forms(shown).items():
            assert words in text, name
        assert len(shown.to_dict()["warnings"]) == 1


@pytest.mark.parametrize("epsilon", [[20.0, 0.1], [math.inf, 1.0, 0.0], [math.inf, math.inf]])
def test_public_records_and_ordinary_budgets_are_not_warned_of(epsilon: list[float]) -> None:
    for shown in [*weak(epsilon), ep.plan(epsilon)]:
        assert shown.to_dict()["warnings"] == []
        for name, text in forms(shown).items():
            assert "next to nothing" not in text, name


def test_where_budgets_are_private_only_declared_ones_are_warned_of() -> None:
    private = functools.partial(weak, neighbours="add-remove")
    large, small = [0.1, 1000.0, 1000.0], [0.1, 0.1, 0.1]
    declared: list[dict[str, Any]] = [{}, {"levels": [0.1, 1.0]}]
    for given in declared:
        for shown in [*private(large, **given), *private(small, **given)]:
            assert shown.warnings == []
    for given in ({"levels": {0.1: 5, 1000.0: 2}}, {"cap": 1000.0}):
        for shown in [*private(large, **given), *private(small, **given)]:
            [warning] = shown.warnings
            assert "up to 1,000." in warning
    assert ep.mean([0, 1], epsilon=40.0, bounds=(0, 1), neighbours="add-remove").warnings


def test_errors_of_shares_are_percentage_points_everywhere() -> None:
    values = ["a", "b"] * 30
    release = ep.frequencies(values, epsilon=[0.5, 2.0] * 30, categories=["a", "b"])
    points = f"{100 * release.error_if_related:.3g} percentage points"
    shown = forms(release)
    for name in ("text", "notebook", "page"):
        assert f"can be up to {points}" in shown[name], name
    assert not re.search(r"up to [\d.]+ %", shown["notebook"])
    # Shares themselves are percentages.
    assert f"{100 * release.value[0]:.3g} %" in shown["notebook"]
    plan = ep.plan({0.5: 30, 2.0: 30}, statistic="frequencies", categories=2)
    least = f"{100 * plan.lower_bound:.3g} percentage points in the worst case"
    shown = forms(plan)
    assert least in shown["text"]
    assert least in shown["page"]
    assert "as shares" in shown["text"]
    typical = f"typical error {100 * plan[plan.best].rmse:.3g} percentage points"
    assert typical in shown["page"]


@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_the_limit_on_a_page_speaks_of_the_loss_that_is_made_small(loss: str) -> None:
    plan = ep.plan({0.1: 100, 1.0: 40}, loss=loss, confidence=0.9)
    best = plan[plan.best]
    error, words = (
        (best.rmse, "a typical error") if loss == "mse" else (best.pac, "an error at 90 %")
    )
    said = forms(plan)
    for name in ("text", "page"):
        shown = said[name].replace("\u00a0", " ")
        assert f"No method can have {words} below {number(plan.lower_bound)}" in shown
    assert f"within a factor {error / plan.lower_bound:.3g} of it" in said["page"]


SEEDED: dict[str, Callable[[], Any]] = {
    "mean": lambda: ep.mean(E, epsilon=E, bounds=(0, 4), source=ep.Seeded(1)),
    "private mean": lambda: ep.mean(
        E, epsilon=E, bounds=(0, 4), neighbours="add-remove", source=ep.Seeded(1)
    ),
    "sampled mean": lambda: ep.mean(
        E, epsilon=E, bounds=(0, 4), method="sampling", source=ep.Seeded(1)
    ),
    "shares": lambda: ep.frequencies(
        ["a", "b"] * 3, epsilon=E, categories=["a", "b"], source=ep.Seeded(1)
    ),
    "private shares": lambda: ep.frequencies(
        ["a", "b"] * 3,
        epsilon=E,
        categories=["a", "b"],
        neighbours="add-remove",
        source=ep.Seeded(1),
    ),
}


@pytest.mark.parametrize("kind", SEEDED)
def test_a_seeded_release_says_so_in_every_form(kind: str) -> None:
    release = SEEDED[kind]()
    assert not release.private
    shown = forms(release)
    assert json.loads(shown.pop("json"))["private"] is False
    for name, text in shown.items():
        assert "NOT PRIVATE" in text, name
        if name != "page":
            assert text.startswith("NOT PRIVATE"), name
    assert "NOT PRIVATE" in release.plot().to_json()


def test_a_private_release_says_so_in_every_form() -> None:
    for release in weak([0.5, 1.0, 2.0]):
        shown = forms(release)
        assert json.loads(shown.pop("json"))["private"] is True
        assert not [name for name, text in shown.items() if "NOT PRIVATE" in text]
        assert "NOT PRIVATE" not in release.plot().to_json()


def test_no_word_of_the_caller_is_markup_in_a_notebook() -> None:
    """Categories and the name of the category for others are the caller's."""
    names = [ATTACK, "<i>x</i>", "a & b"]
    release = ep.frequencies(names, epsilon=[0.5, 1.0, 1.0], categories=names, other="<u>o</u>")
    for text in (release._repr_html_(), release_page(release.to_dict())):
        reader = Reader(text)
        tags = {tag for tag, _ in reader.tags}
        assert not tags & {"script", "img", "i", "u"} - {"script"}
        assert "<script>alert" not in text
        assert "<i>x" not in text
        for name in [*names, "count as '<u>o</u>'"]:
            assert name in "".join(reader.words)
    data = release.to_dict()
    for key in ("protects", "assumes"):
        data[key] = f"<b>{key}</b>"
    data["warnings"] = ["<b>warnings</b>"]
    data["method"] = "<b>method</b>"
    assert "<b>" not in frequencies_html(data)
    mean = ep.mean(E, epsilon=E, bounds=(0, 4)).to_dict() | {
        "statistic": "<b>mean</b>",
        "protects": "<b>",
        "assumes": "<b>",
        "treats": "<b>",
        "warnings": ["<b>"],
    }
    assert "<b>" not in release_html(mean)
    plan = ep.plan(E).to_dict() | {"advice": "<b>", "warnings": ["<b>"]}
    plan["forecasts"][0]["method"] = plan["best"] = "<b>"
    assert "<b>" not in plan_html(plan)
    vectors = ep.local.Vector(2)
    sent = vectors.randomize_many(np.zeros((2, 2)), np.full(2, 1.0))
    vector = vectors.estimate(sent).to_dict() | {"protects": "<b>", "method": "<b>"}
    assert "<b>" not in vector_html(vector)

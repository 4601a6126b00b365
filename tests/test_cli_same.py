"""Every command, with every option, returns the same as the Python call."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import click
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli, main
from epsilons.asking.commands.checking import CHECK
from epsilons.asking.commands.publishing import Publish
from epsilons.draws.mechanisms import build_moments
from epsilons.draws.noise import Seeded, System
from epsilons.papers import figures
from tests.assumed import GAUSSIAN, SAMPLE
from tests.questions.grouped import COMMANDS

PEOPLE = 600
ROWS = 3 * PEOPLE


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write columns with different values, three rows for each person, and gaps in one column."""
    rng, who = np.random.default_rng(13), np.arange(ROWS) % PEOPLE
    x = np.round(rng.gamma(4.0, 1.0, ROWS), 3)
    columns = {
        "x": x,
        "far": 900.0 + x,
        "holes": [None if k % 9 == 0 else float(each) for k, each in enumerate(x)],
        "whole": rng.integers(1, 4, ROWS),
        "word": np.array(["a", "b", "c"])[rng.integers(0, 3, ROWS)],
        "e": np.array([0.5, 1.0, 2.0])[who % 3],
        "f": np.array([0.3, 0.7, 3.0])[who % 3],
        "who": who,
        "here": rng.random(ROWS) < 0.5,
    }
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


@pytest.fixture
def again(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that restarts the system's entropy, so two calls draw the same noise."""
    stream = [Seeded(0)]

    def restart() -> None:
        stream[0] = Seeded(99)

    monkeypatch.setattr(System, "bytes", lambda _, count: stream[0].bytes(count))
    return restart


def told(again: Callable[[], None], words: list[str]) -> dict[str, Any]:
    again()
    done = CliRunner().invoke(cli, [*words, "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def called(again: Callable[[], None], call: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
    again()
    answer: dict[str, Any] = json.loads(call(**arguments).to_json())
    return answer


AR = ["--neighbours", "add-remove"]
UNRELATED = ["--related", "no"]
OFFERED = ["--level", "0.5", "--level", "1", "--level", "2"]
GUESSED = ["--level", "0.5:300", "--level", "1:900", "--level", "2:200"]
PRIVATE: dict[str, Any] = {"neighbours": "add-remove"}
CHOSEN = {0.5: 300, 1.0: 900, 2.0: 200}

# Arguments of a command, and the same arguments in Python.
SHARED: list[tuple[list[str], dict[str, Any]]] = [
    (["--epsilon", "f"], {"epsilon": "f"}),
    (["--epsilon", "0.25"], {"epsilon": 0.25}),
    (["--person", "who"], {"person": "who"}),
    (["--about", "people", "--related", "no"], {"about": "people", "related": False}),
    (["--related", "0.05"], {"related": 0.05}),
    (["--about", "population", "--related", "no"], {"about": "population", "related": False}),
    (["--about", "population", "--related", "yes"], {"about": "population", "related": True}),
    (["--loss", "pac"], {"loss": "pac"}),
    (["--confidence", "0.8"], {"confidence": 0.8}),
    (["--loss", "pac", "--confidence", "0.6"], {"loss": "pac", "confidence": 0.6}),
    (["--method", "threshold"], {"method": "threshold"}),
    (["--title", "How long"], {"title": "How long"}),
    (["--method", "proportional"], {"method": "proportional"}),
    ([*AR, *UNRELATED], PRIVATE | {"related": False}),
    ([*AR, *OFFERED], PRIVATE | {"levels": [0.5, 1.0, 2.0]}),
    ([*AR, *GUESSED], PRIVATE | {"levels": CHOSEN}),
    ([*AR, *UNRELATED, "--cap", "0.4"], PRIVATE | {"cap": 0.4, "related": False}),
    ([*AR, *OFFERED, "--cap", "0.7"], PRIVATE | {"levels": [0.5, 1.0, 2.0], "cap": 0.7}),
    ([*AR, *UNRELATED, "--person", "who"], PRIVATE | {"person": "who", "related": False}),
]
MEANS: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["--bounds", "1", "6"], {"bounds": (1.0, 6.0)}),
    (["--unit", "minutes"], {"unit": "minutes"}),
    (["--related", "no", "--spread", "0.05"], {"related": False, "spread": 0.05}),
    ([*AR, *GUESSED, "--spread", "0.3"], PRIVATE | {"levels": CHOSEN, "spread": 0.3}),
    (["--value", "far", "--bounds", "890", "950"], {"values": "far", "bounds": (890.0, 950.0)}),
    (["--value", "holes", "--missing", "midpoint"], {"values": "holes", "missing": "midpoint"}),
    (
        [*AR, "--method", "hourglass", *OFFERED],
        PRIVATE | {"method": "hourglass", "levels": [0.5, 1.0, 2.0]},
    ),
    *SHARED,
    *COMMANDS,
]
UNKNOWN: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["--method", "weighted", "--person", "who"], {"method": "weighted", "person": "who"}),
    (["--shape", "any", "--loss", "pac"], {"shape": "any", "loss": "pac"}),
    (
        ["--shape", "gaussian", "--about", "population", "--related", "no"],
        {"shape": "gaussian", "about": "population", "related": False},
    ),
    ([*AR, *GUESSED], PRIVATE | {"levels": {0.5: 300, 1.0: 900, 2.0: 200}}),
]
FREQUENCIES: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (
        ["--value", "whole", "--integers", "1", "3"],
        {"values": "whole", "categories": [1, 2, 3]},
    ),
    (
        ["--value", "x", "--edges", "0,2.5,40", "--unit", "minutes"],
        {"values": "x", "categories": None, "edges": [0.0, 2.5, 40.0], "unit": "minutes"},
    ),
    (["--category", "b", "--other", "else"], {"categories": ["b"], "other": "else"}),
    *SHARED,
]


def plain(words: list[str], given: dict[str, str]) -> list[str]:
    """Return `words` and the given options, except options that `words` sets."""
    rest = [[name, *value.split()] for name, value in given.items() if name not in words]
    return [*(word for each in rest for word in each), *words]


@pytest.mark.parametrize(("words", "same"), MEANS, ids=lambda each: str(each)[:60])
def test_a_mean(
    table: Path, again: Callable[[], None], words: list[str], same: dict[str, Any]
) -> None:
    given = {"--value": "x", "--epsilon": "e", "--bounds": "0 40"}
    usual: dict[str, Any] = {"values": "x", "epsilon": "e", "bounds": (0.0, 40.0), "data": table}
    found = told(again, ["mean", str(table), *plain(words, given)])
    assert found == called(again, ep.mean, **usual | same)
    if words:  # an ignored option must be detected
        assert found != called(again, ep.mean, **usual)


@pytest.mark.parametrize(("words", "same"), UNKNOWN, ids=lambda each: str(each)[:60])
def test_a_mean_of_an_unknown_range(
    table: Path, again: Callable[[], None], words: list[str], same: dict[str, Any]
) -> None:
    given = {"--value": "x", "--epsilon": "e", "--unknown-range": ""}
    usual: dict[str, Any] = {"values": "x", "epsilon": "e", "bounds": None, "data": table}
    found = told(again, ["mean", str(table), *plain(words, given)])
    assert found == called(again, ep.mean, **usual | same)


@pytest.mark.parametrize(("word", "separator"), [(";", ";"), (r"\t", "\t")])
def test_files_with_another_separator(
    table: Path, again: Callable[[], None], tmp_path: Path, word: str, separator: str
) -> None:
    file = tmp_path / "people.csv"
    pl.read_parquet(table).write_csv(file, separator=separator)
    usual: dict[str, Any] = {"epsilon": "e", "data": file, "separator": separator}
    words = [str(file), "--epsilon", "e", "--separator", word]
    found = told(again, ["mean", *words, "--value", "x", "--bounds", "0", "40"])
    assert found == called(again, ep.mean, values="x", bounds=(0, 40), **usual)
    more = ["--category", "a", "--category", "b", "--category", "c"]
    found = told(again, ["frequencies", *words, "--value", "word", *more])
    assert found == called(again, ep.frequencies, values="word", categories=[*"abc"], **usual)


LEVELS = {0.1: 500, 1.0: 200, 4.0: 20, math.inf: 3}
DRAWN = ["--about", "population", "--related", "no"]
PLANS: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["--bounds", "-3", "40"], {"bounds": (-3.0, 40.0)}),
    (["--categories", "7"], {"statistic": "frequencies", "categories": 7}),
    (["--related", "0.05"], {"related": 0.05}),
    (["--about", "population", "--related", "no"], {"about": "population", "related": False}),
    (["--about", "population", "--related", "yes"], {"about": "population", "related": True}),
    (["--loss", "pac"], {"loss": "pac"}),
    (["--confidence", "0.7"], {"confidence": 0.7}),
    (["--related", "no", "--spread", "0.1"], {"related": False, "spread": 0.1}),
    ([*AR, "--spread", "0.2"], PRIVATE | {"spread": 0.2}),
    ([*AR, *UNRELATED], PRIVATE | {"related": False}),
    ([*AR, "--cap", "0.3"], PRIVATE | {"cap": 0.3}),
    (["--unknown-range"], {"bounds": None}),
    ([*AR, "--unknown-range", "--cap", "0.3"], PRIVATE | {"bounds": None, "cap": 0.3}),
    (["--unknown-range", "--shape", "gaussian", *DRAWN], {"bounds": None} | GAUSSIAN),
    (["--model", "local", *DRAWN], {"model": "local"} | SAMPLE),
    (["--model", "local", "--dimension", "3", *DRAWN], {"model": "local", "dimension": 3} | SAMPLE),
]


VERIFIED: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["--method", "threshold"], {"method": "threshold"}),
    (["--categories", "5"], {"categories": [0, 1, 2, 3, 4]}),
    (["--categories", "5", "--method", "hpf-a"], {"categories": [*range(5)], "method": "hpf-a"}),
    (AR, PRIVATE),
    ([*AR, "--categories", "5"], PRIVATE | {"categories": [0, 1, 2, 3, 4]}),
]


@pytest.mark.parametrize(("words", "same"), VERIFIED, ids=lambda each: str(each)[:60])
def test_what_is_verified(
    again: Callable[[], None], words: list[str], same: dict[str, Any]
) -> None:
    """`verify` shows the same privacy losses as a release for these people."""
    levels = {0.1: 50, 1.0: 20, 4.0: 2}
    epsilon = np.repeat(list(levels), list(levels.values()))
    found = told(again, ["verify", "0.1:50", "1:20", "4:2", *words])
    again()
    known = same | ({"levels": levels} if "neighbours" in same else {})
    values = np.zeros(len(epsilon), dtype=np.int64)
    if "categories" in same:
        release: Any = ep.frequencies(values, epsilon=epsilon, **known)
    else:
        release = ep.mean(values, epsilon=epsilon, bounds=(0, 1), **known)
    verdict = ep.verify.exact(release.mechanism)
    assert found["method"] == release.method
    assert found["neighbours"] == release.neighbours
    assert found["holds"] is verdict.holds is True
    assert found["exact"] is verdict.exact
    rows = [(row["epsilon"], row["loss"]) for row in found["people"]]
    expected = zip(map(float, verdict.budgets), map(float, verdict.losses), strict=True)
    np.testing.assert_allclose(rows, list(expected), rtol=1e-6)


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_where_a_budget_is_not_kept_verify_does_not_exit_with_0(
    monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    real = build_moments
    words = ["verify", "0.1:50", "1:20", "--method", "uniform", *more]
    assert CliRunner().invoke(cli, words).exit_code == 0

    def broken(*args: Any, **given: Any) -> Any:
        made: Any = real(*args, **given)
        return replace(made, weights=2 * made.weights)

    monkeypatch.setattr("epsilons.questions.mean.build_moments", broken)
    done = CliRunner().invoke(cli, words)
    assert done.exit_code != 0
    if more:
        assert json.loads(done.stdout)["holds"] is False
    monkeypatch.setattr("sys.argv", ["epsilons", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 6


def test_the_demo(again: Callable[[], None], tmp_path: Path) -> None:
    with resources.as_file(resources.files("epsilons") / "data" / "commute.csv") as path:
        asked: dict[str, Any] = {"values": "minutes", "epsilon": "epsilon", "bounds": (0.0, 120.0)}
        words = {"title": "How long do 4,000 (invented) people commute?", "unit": "minutes"}
        same = called(again, ep.mean, **asked, data=path, person="person", **words)
        assert told(again, ["demo"]) == same
        copy = tmp_path / "copy.csv"
        assert CliRunner().invoke(cli, ["demo", "--save", str(copy)]).exit_code == 0
        assert copy.read_bytes() == path.read_bytes()


def test_reproduce_without_a_word_lists_and_runs_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was run")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("epsilons.papers.figures.reproduce", never)
    for words in ([], ["--quick"]):
        done = CliRunner().invoke(cli, ["reproduce", *words])
        assert done.exit_code == 0, done.output
        for artefact in figures.ARTEFACTS:
            assert artefact.name in done.stdout
            assert artefact.title in done.stdout
        assert "an hour" in done.stdout
    listed = json.loads(CliRunner().invoke(cli, ["reproduce", "--json"]).stdout)["artefacts"]
    assert listed == [{"name": a.name, "title": a.title} for a in figures.ARTEFACTS]
    assert list(tmp_path.iterdir()) == []


def test_every_option_of_every_command_is_compared() -> None:
    compared: dict[str, list[tuple[list[str], dict[str, Any]]]] = {
        "mean": [*MEANS, *UNKNOWN, (["--unknown-range", "--separator"], {})],
        "frequencies": [*FREQUENCIES, (["--separator"], {})],
        "plan": PLANS,
        "verify": [*VERIFIED, (["--draws"], {})],
        "demo": [(["--save", "--study"], {})],
        "reproduce": [(["--quick", "--out", "--seed"], {})],
    }
    assert set(compared) <= set(cli.commands)
    # The options below are tested in the files that the comments name.
    known = {p.name for n in ("mean", "frequencies", "quantile") for p in cli.commands[n].params}
    known |= {
        "x",
        "y",
        "x_bounds",
        "y_bounds",
        "beside",
        "beside_bounds",
    }  # tests/questions/test_covariance.py
    shared = {"--json", "--details", "--value", "--report", "--figure"}  # tests/cli/test_shown.py
    shared |= {"--quiet", "--log"}  # tests/cli/test_jobs.py
    shared |= {"--compare"}  # tests/questions/test_groups_compared.py
    shared |= {"--compare-menus", "--goal", "--people"}  # tests/planning: test_menus, test_need
    shared |= {"--menu", "--decimal", "--thousands", "--weights"}  # tests/tasks
    shared |= {"--by", "--group", "--group2"}  # tests/questions/test_tables.py
    for name, command in cli.commands.items():
        # These commands are tested in tests/ledger, cli/test_study.py, cli/test_reading.py,
        # verify/test_sign_off.py, collector and tasks.
        if name in ("compare", "ledger", "publish", "show", "statement", "survey", "table"):
            continue
        if isinstance(command, click.Group):  # `replay` takes the options of publishing
            for each, inner in command.commands.items():
                own = {p.name for p in cli.commands[each].params} - {"page", "picture", "details"}
                assert {p.name for p in inner.params} == own, each
            continue
        if name not in compared:
            # All commands that publish are of one class, which passes on all options alike.
            assert isinstance(command, Publish) or command is CHECK, name
            assert {p.name for p in command.params} <= known, name
            continue
        said = {word for words, _ in compared[name] for word in words} | shared
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert {*option.opts} & said, f"{name} {option.opts}"


def test_a_count(table: Path, again: Callable[[], None]) -> None:
    words = ["count", str(table), "--value", "x", "--epsilon", "e", "--person", "who"]
    usual: dict[str, Any] = {"values": "x", "epsilon": "e", "person": "who", "data": table}
    found = told(again, [*words, *AR, *OFFERED])
    assert found == called(again, ep.count, **usual, levels=[0.5, 1.0, 2.0])
    refused = CliRunner().invoke(cli, words)
    assert refused.exit_code != 0
    assert "add-remove" in str(refused.exception or refused.output) + refused.output

"""Every parameter accepts valid words and numbers, and refuses others with advice."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons import parameters
from epsilons.errors import ArgumentError, BoundsError, EpsilonsError
from epsilons.parameters import CHOICES

WORDS = [(name, word) for name, words in CHOICES.items() for word in words]
NOT_WORDS: list[object] = [
    "",
    "nonsense-zzz",
    None,
    0,
    1.5,
    True,
    [],
    ("people",),
    b"people",
    math.nan,
]


@pytest.mark.parametrize(("name", "word"), WORDS)
def test_every_declared_word_is_taken(name: str, word: str) -> None:
    assert parameters.choice(name, word) == word


@pytest.mark.parametrize(("name", "word"), WORDS)
def test_a_word_that_is_almost_right_gets_a_hint(name: str, word: str) -> None:
    with pytest.raises(ArgumentError, match=rf"{name}=.*Did you mean {word!r}\?"):
        parameters.choice(name, word + "x")
    with pytest.raises(ArgumentError):
        parameters.choice(name, word.upper())


@pytest.mark.parametrize("value", NOT_WORDS, ids=repr)
@pytest.mark.parametrize("name", CHOICES)
def test_anything_else_is_refused_and_all_words_are_listed(name: str, value: object) -> None:
    with pytest.raises(ArgumentError) as caught:
        parameters.choice(name, value)
    message = str(caught.value)
    assert message.startswith(f"{name}=")
    assert "Did you mean" not in message
    for word in CHOICES[name]:
        assert repr(word) in message


def test_words_that_are_given_replace_the_declared_ones() -> None:
    assert parameters.choice("about", "b", ("a", "b")) == "b"
    with pytest.raises(ArgumentError, match="'a', 'b'"):
        parameters.choice("about", "people", ("a", "b"))


@pytest.mark.parametrize("value", [0.95, 0.5, 1e-300, math.nextafter(1.0, 0.0), np.float64(0.9)])
def test_a_confidence_strictly_between_0_and_1_is_taken(value: float) -> None:
    taken = parameters.confidence(value)
    assert taken == value
    assert type(taken) is float


BAD_CONFIDENCES: list[object] = [
    0,
    1,
    0.0,
    1.0,
    -0.5,
    95,
    math.nan,
    math.inf,
    -math.inf,
    "0.95",
    None,
    True,
    False,
    [0.95],
    0.5j,
]


@pytest.mark.parametrize("value", BAD_CONFIDENCES, ids=repr)
def test_any_other_confidence_is_refused(value: object) -> None:
    with pytest.raises(ArgumentError, match=r"confidence=.*strictly between 0 and 1"):
        parameters.confidence(value)


@pytest.mark.parametrize(
    "value",
    [(0, 1), (-1.5, 2), [0, 120], np.array([3.0, 4.0]), (-1e150, 1e150), (0.0, 1e-150)],
    ids=str,
)
def test_a_known_range_is_taken_as_two_floats(value: tuple[float, float]) -> None:
    lo, hi = parameters.bounds(value)
    assert (lo, hi) == (value[0], value[1])
    assert type(lo) is float
    assert type(hi) is float


BAD_BOUNDS: list[tuple[object, str]] = [
    (None, "unknown"),
    (5, "two numbers"),
    ("ab", "two numbers"),
    ((), "two numbers"),
    ((1,), "two numbers"),
    ((1, 2, 3), "two numbers"),
    (("a", "b"), "two numbers"),
    ((None, 1), "two numbers"),
    ((0, 1j), "two numbers"),
    ((0, math.inf), "finite"),
    ((-math.inf, 0), "finite"),
    ((math.nan, 1), "finite"),
    ((0, math.nan), "finite"),
    ((1, 1), "equal"),
    ((0.0, -0.0), "equal"),
    ((2, 1), "reversed"),
    ((-1.7e308, 1.7e308), "too wide or too narrow"),
    ((-1e155, 1e155), "too wide or too narrow"),  # the square of the width overflows
    ((0.0, 5e-324), "too wide or too narrow"),
    ((0.0, 1e-300), "too wide or too narrow"),
    ((0, 10**400), "bounds="),
]


@pytest.mark.parametrize(("value", "says"), BAD_BOUNDS, ids=lambda x: str(x)[:30])
def test_any_other_range_is_refused_with_its_reason(value: object, says: str) -> None:
    with pytest.raises(BoundsError, match=says) as caught:
        parameters.bounds(value)
    assert "bounds" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, EpsilonsError)


LINES: list[object] = ["Minutes to work", "%", "a" * 40, "µg/m³", "时间", "می\u200cخواهم", " a "]
BAD_LINES: list[tuple[object, str]] = [
    ("", "blank"),
    (" \t ", "blank"),
    ("a\nb", "line breaks"),
    ("a\u2028b", "line breaks"),
    ("a\x1b[2Jb", "control characters"),
    ("a\u202eb", "control characters"),
    ("\ud800", "control characters"),
    (3, "type int"),
    (b"minutes", "type bytes"),
    (["minutes"], "type list"),
    (True, "type bool"),
]


@pytest.mark.parametrize("name", parameters.LONGEST)
@pytest.mark.parametrize("value", LINES, ids=repr)
def test_a_line_of_text_is_taken_without_blanks_around_it(name: str, value: str) -> None:
    assert parameters.line(name, value) == value.strip()
    assert parameters.line(name, None) is None


@pytest.mark.parametrize("name", parameters.LONGEST)
@pytest.mark.parametrize(("value", "why"), BAD_LINES, ids=repr)
def test_what_is_no_line_of_text_is_refused_by_name(name: str, value: object, why: str) -> None:
    with pytest.raises(ArgumentError, match=rf"^{name} must be one line of text.*{why}"):
        parameters.line(name, value)


@pytest.mark.parametrize(("name", "most"), parameters.LONGEST.items())
def test_a_line_has_an_end(name: str, most: int) -> None:
    assert parameters.line(name, "a" * most) == "a" * most
    with pytest.raises(ArgumentError, match=rf"^{name} .* at most {most} .* it has {most + 1}\."):
        parameters.line(name, "a" * (most + 1))


@pytest.mark.parametrize("value", [True, False, 0.05, 1e-300, math.nextafter(1.0, 0.0)])
def test_related_is_yes_no_or_a_part_of_the_range(value: bool | float) -> None:
    taken = parameters.related(value)
    assert taken == value
    assert type(taken) is type(value)


def test_a_number_of_numpy_is_a_number() -> None:
    taken = parameters.related(np.float64(0.25))
    assert (taken, type(taken)) == (0.25, float)


NOT_RELATED: list[tuple[object, str]] = [
    (0, "Write related=False"),
    (0.0, "Write related=False"),
    (1, "Write related=True"),
    (1.0, "Write related=True"),
    (-0.1, ""),
    (1.5, ""),
    (5, ""),
    (math.nan, ""),
    (math.inf, ""),
    (None, ""),
    ("yes", ""),
    ("0.05", ""),
]


@pytest.mark.parametrize(("value", "hint"), NOT_RELATED, ids=repr)
def test_anything_else_is_not_related_and_zero_and_one_get_a_hint(value: object, hint: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        parameters.related(value)
    message = str(caught.value)
    assert message.startswith(f"related={value!r} is invalid. Give True")
    assert "such as 0.05" in message
    assert ("Write related=" in message) == bool(hint)
    assert hint in message


def test_a_function_that_speaks_plainly_is_the_function() -> None:
    @parameters.speaks_plainly({"fourth": "fourth={} is second now."})
    def added(first: int, *, second: int = 1) -> int:
        """Both."""
        return first + second

    asked: Any = added
    assert (asked(2), asked(2, second=5)) == (3, 7)
    assert (added.__name__, added.__doc__) == ("added", "Both.")
    with pytest.raises(TypeError):
        asked(2, third=1)
    with pytest.raises(ArgumentError, match=r"^fourth='x' is second now\.$"):
        asked(2, fourth="x")


@pytest.mark.parametrize(
    ("call", "refusal", "words"),
    [
        (lambda: ep.mean([1.0]), BoundsError, "^bounds is not given: .* or bounds=None if you do"),
        (lambda: ep.Mean("x"), BoundsError, "^bounds is not given: .* or bounds=None if you do"),
        (lambda: ep.variance([1.0]), BoundsError, r"^bounds is not given: .* the data are\.$"),
        (lambda: ep.quantile([1.0], 0.5), BoundsError, r"^bounds is not given: .* the data are\.$"),
        (lambda: ep.Quantile("x", bounds=(0, 1)), ArgumentError, "^q is not given: give a number"),
        (lambda: ep.covariance("x", x_bounds=(0, 1)), ArgumentError, "^y is not given: name the"),
        (lambda: ep.Covariance("x", "y", x_bounds=(0, 1)), BoundsError, "^y_bounds is not given:"),
        (lambda: ep.mean(bounds=(0, 1)), ArgumentError, "^values is not given: name a column"),
        (lambda: ep.publish(epsilon=1.0), ArgumentError, "^questions is not given: give a list"),
        (lambda: ep.check(ep.Mean("x", bounds=None)), ArgumentError, "^epsilon is not given:"),
        (lambda: ep.verify.replay(epsilon=1.0), ArgumentError, "^question is not given: give one"),
    ],
)
def test_what_is_not_given_is_named_with_what_to_give(
    call: Any, refusal: type[ArgumentError], words: str
) -> None:
    with pytest.raises(refusal, match=words):
        call()


def test_a_question_can_be_copied() -> None:
    question = ep.Mean("x", bounds=(0, 1), title="A")
    assert vars(copy.copy(question)) == vars(question)


@pytest.mark.parametrize(
    ("given", "known", "meant"),
    [
        ("epsilon", ["region", "eps", "age"], "eps"),  # although "region" shares more letters
        ("eps", ["steps", "epsilon"], "epsilon"),
        ("Wage", ["age", "wage"], "wage"),
        ("minuts", ["hours", "minutes"], "minutes"),
        ("epsilon", ["region", "age"], None),
        ("income", [], None),
        (3, ["three"], None),
    ],
)
def test_the_word_that_was_meant_is_suggested(
    given: object, known: list[str], meant: str | None
) -> None:
    asked = "" if meant is None else f" Did you mean {meant!r}?"
    assert parameters.did_you_mean(given, known) == asked


def test_a_missing_column_of_budgets_is_not_taken_for_a_region() -> None:
    table = pl.DataFrame({"region": ["n", "s"], "eps": [0.1, 1.0], "wage": [1.0, 2.0]})
    with pytest.raises(ArgumentError, match=r"epsilon='epsilon'.*Did you mean 'eps'"):
        ep.mean("wage", epsilon="epsilon", bounds=(0, 3), data=table)

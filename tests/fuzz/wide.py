"""Neighbouring tables with groups, flags and a second number, and questions of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

import epsilons as ep
from tests.fuzz.cases import (
    CATEGORIES,
    MORE_WORDS,
    VALUES,
    Case,
    Making,
    Row,
    decoys_of,
    fitting,
    makings,
    tables_of,
)
from tests.fuzz.tables import Columns

BOUNDS = (0.0, 10.0)
MARKS = ("group", "second group", "flag", "beside")
"""The additional columns: two with groups, the `where` flag, and a second number."""

COUNTED = ("groups", "some", "quantile", "variance", "covariance", "mean", "shares")
"""Questions under both neighbour models. A count is possible under add/remove only."""


@dataclass(frozen=True)
class Wide(Case):
    """Two neighbouring tables with additional columns, and questions about both.

    Attributes:
        marks: the types of the additional columns, by name.
        labels: the declared labels of each column of groups.
        asks: the questions, by name; see `questions`.
        options: arguments of the questions.
    """

    marks: dict[str, str]
    labels: dict[str, list[Any]]
    asks: tuple[str, ...]
    options: dict[str, Any]

    def columns(self, rows: list[Row]) -> Columns:
        """Convert rows to columns.

        Additional columns come last, because a line of a file may have too few cells.
        """
        plain = [(value[0], budget, who) for value, budget, who in rows]
        every = super().columns(plain)
        for place, (name, kind) in enumerate(self.marks.items()):
            every[name] = (kind, [value[place + 1] for value, _, _ in rows])
        return every

    def questions(self, given: dict[str, Any]) -> list[Any]:
        """Return the questions about the given columns, which are names or arrays."""
        return [self._question(ask, given) for ask in self.asks]

    def _question(self, ask: str, given: dict[str, Any]) -> Any:
        values, private = given["values"], self.neighbours == "add-remove"
        gaps: dict[str, Any] = {"missing": "midpoint" if self.lenient or private else "error"}
        match ask:
            case "groups" | "some":
                return ep.Mean(values, bounds=BOUNDS, **self._of_some(ask, given))
            case "quantile":
                q, way = self.options["q"], "table" if private else self.options["method"]
                return ep.Quantile(values, q=q, bounds=BOUNDS, method=way, **gaps)
            case "variance":
                return ep.Variance(values, bounds=BOUNDS, **gaps)
            case "covariance":
                two: dict[str, Any] = {"x_bounds": BOUNDS, "y_bounds": (-1.0, 1.0)}
                return ep.Covariance(values, given["beside"], **two, **gaps)
            case "count":
                return ep.Count(values)
            case "shares":
                other = "other" if self.lenient else None
                return ep.Frequencies(given["group"], categories=self.labels["group"], other=other)
        way = "transformed" if private else "proportional"
        column = given["beside"] if ask == "second mean" else values
        return ep.Mean(column, bounds=BOUNDS, method=way, **gaps)

    def _of_some(self, ask: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a mean by group, or of a mean with `where`."""
        found: dict[str, Any] = {}
        public = self.options["groups_are"] == "public"
        if public and ask == "groups":
            return {
                "by": given["group"],
                "groups": self.labels["group"],
                "groups_are": "public",
                "missing": "midpoint",
                "method": "optimal",
            }
        if self.lenient:
            found["missing"] = "exclude"
        if ask == "groups":
            found |= {"by": given["group"], "groups": self.labels["group"]}
            if self.options["two"]:
                found["by"] = [given["group"], given["second group"]]
                found["groups"] = [self.labels["group"], self.labels["second group"]]
        if "flag" in self.marks and self.options["where"]:
            found["where"] = given["flag"]
        if ask == "some" and not found:
            found["missing"] = "exclude"
        return found


@dataclass(frozen=True)
class WideMaking(Making):
    """Generator of rows with additional columns.

    Attributes:
        others: the possible entries of each additional column.
        fixed: labels that are assigned to people if groups are public; otherwise empty.
    """

    others: tuple[list[Any], ...] = ()
    fixed: tuple[Any, ...] = ()

    def entry(self, place: int) -> Any:
        """Draw a value, and the entries of the additional columns."""
        beside = [self.one(items) for items in self.others]
        if self.fixed:
            beside[0] = self.fixed[place % len(self.fixed)]
        return (self.one(self.values), *beside)


@st.composite
def wide_cases(draw: st.DrawFn, forms: tuple[str, ...]) -> Wide:
    """Draw a case with additional columns."""
    form: str = draw(st.sampled_from(forms))
    kind = draw(st.sampled_from(fitting(VALUES["mean"], form)))
    made = makings(draw, form, "mean", kind)
    sorts = {"group": _sort(draw, form), "second group": _sort(draw, form)}
    public = not made.private and draw(st.integers(0, 3)) == 0
    entries: dict[str, tuple[str, list[Any]]] = {}
    for name, sort in sorts.items():
        own = draw(st.sampled_from(fitting(VALUES[sort], form)))
        entries[name] = (own, VALUES[sort][own])
    if fitting(VALUES["answers"], form):
        own = draw(st.sampled_from(fitting(VALUES["answers"], form)))
        entries["flag"] = (own, VALUES["answers"][own])
    own = draw(st.sampled_from(fitting(VALUES["mean"], form)))
    entries["beside"] = (own, VALUES["mean"][own])
    labels = {name: CATEGORIES[sort] for name, sort in sorts.items()}
    wide = WideMaking(
        **vars(made),
        others=tuple(items for _, items in entries.values()),
        fixed=tuple(labels["group"]) if public else (),
    )
    tables = tables_of(wide)
    known = "levels" in tables.facts or "menu" in tables.facts
    counted = ("count",) if made.private and known else ()
    # Booleans have no quantile. SQLite cannot parse a query with 1024 bins and very many rungs
    # (budget levels), whatever the data are.
    without = ("quantile",) if kind == "bool" or "sqlite" in form else ()
    every = [ask for ask in (*COUNTED, *counted) if ask not in without]
    several = st.lists(st.sampled_from([*every, "second mean"]), min_size=2, max_size=3)
    one = st.sampled_from([ask for ask in every if ask not in ("mean", "shares")])
    asks = tuple(draw(st.one_of(one.map(lambda ask: [ask]), several)))
    options = {
        "groups_are": "public" if public else "private",
        "two": draw(st.booleans()),
        "where": draw(st.booleans()),
        "q": draw(st.sampled_from([0.5, [0.25, 0.75]])),
        "method": draw(st.sampled_from(["table", "selection", "auto"])),
        "shares": draw(st.sampled_from([None, None, [2, 1, 3][: len(asks)]])),
    }
    many = sorts["group"] == "words" and draw(st.integers(0, 9)) == 0
    if many and not public and "shares" not in asks:
        labels["group"] = [*labels["group"], *MORE_WORDS[:400]]
    lenient = draw(st.integers(0, 3)) > 0
    return Wide(
        form=form,
        statistic="several",
        neighbours="add-remove" if made.private else "replace",
        kinds=(kind, made.budget_kind, made.who_kind),
        first=tables.first,
        second=tables.second,
        raw=tables.raw,
        epsilon=tables.epsilon,
        facts=tables.facts,
        lenient=lenient and not (public and "groups" in asks),
        large=draw(st.booleans()),
        many=many,
        decoys=decoys_of(draw, form),
        marks={name: own for name, (own, _) in entries.items()},
        labels=labels,
        asks=asks,
        options=options,
    )


def _sort(draw: st.DrawFn, form: str) -> str:
    """Draw the content of a column of groups: words, integers or Booleans."""
    sorts = [each for each in ("words", "numbers", "answers") if fitting(VALUES[each], form)]
    return draw(st.sampled_from(sorts))

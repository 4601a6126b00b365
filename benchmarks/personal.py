"""Accuracy with personal budgets, compared with the best use of a library with one ε per release.

All methods get the same data and people, with `about="people", related=False`. Worst-case errors
are exact. Errors on two populations are also measured. Our method is measured with the mechanism
that `ep.mean` returns. The other methods are measured with Laplace noise, and with OpenDP for one
profile. `combining.py` finds the best combination of releases; `docs/proofs/combining.md` proves
that it cannot be better than ours.
"""

from __future__ import annotations

from typing import Any

from benchmarks.page import Section
from benchmarks.personal_cases import (
    CLEVER,
    GUESS,
    NAMED,
    NARROW,
    OURS,
    PEOPLE,
    PROFILES,
    TWO,
    WIDE,
    Compared,
    compared,
)
from benchmarks.personal_trials import (
    CATEGORIES,
    Measured,
    called,
    extreme,
    frequency_errors,
    measure,
    ratio_of,
    skewed,
    with_opendp,
)
from benchmarks.timing import Result
from epsilons.types import Floats

TOLERANCE = 1e-9
"""The relative tolerance for comparing errors. With few budget levels, our method differs from the
exact optimum only by rounding weights to 35 bits or more."""


def section(*, quick: bool) -> Section:
    """Return the section of the page on accuracy.

    Args:
        quick: whether to run fewer trials, with 10⁴ people only.
    """
    trials, calls = (10_000, 200) if quick else (40_000, 1_000)
    cases = compared(PEOPLE)
    by_name = {case.name: case for case in cases}
    real = measure(cases, skewed(PEOPLE), trials, 101)
    worst = measure(cases, extreme(PEOPLE), trials // 5, 102)
    checks = {
        f"`ep.mean` called {calls} times": called(by_name[WIDE], skewed(PEOPLE), calls),
        f"OpenDP called {calls} times": with_opendp(by_name[WIDE], skewed(PEOPLE), calls),
    }
    named = (WIDE, NARROW, TWO) if quick else tuple(by_name)
    tables = {name: frequency_errors(by_name[name], trials // 20) for name in named}
    every = [*real.values(), *worst.values(), *checks.values()]
    every += [one for table in tables.values() for one, _ in table.values()]
    largest_z = max(one.z for one in every)
    ratios = {key: one.over(real[key[0], "ours"]) for key, one in real.items() if key[1] != "ours"}
    theirs = [key for key in ratios if key[1] not in OURS]
    least = min(theirs, key=lambda key: ratios[key][0])
    wide, narrow, two = by_name[WIDE], by_name[NARROW], by_name[TWO]
    text = "\n\n".join(
        [
            _ABOUT,
            _worst_table(cases),
            f"Where the gain is small: with two levels ({TWO}) it is {two.gain(NAMED):.3f} against "
            "the best groups, and next to nothing where everyone has the same budget or one strict "
            "person can be dropped. There the best weights have two values, which two releases can "
            "have as well, and a single noise saves only the second noise. The gain comes from "
            "many different budgets.",
            _nearer(wide, narrow),
            "**Real data are not the worst case.** Measured on a skewed population (variance "
            f"{skewed(PEOPLE).var():.3f}, where the worst case has 0.25), shuffled {trials:,} "
            "times, mean squared errors relative to ours, ± one standard error. Sampling costs "
            "less here and noise counts for more, so all weights, including ours, are too "
            "cautious. Most of the ratios grow. But ours is not guaranteed to be the smallest on "
            "every data set, and where dropping the strict half would have been right, methods "
            "that drop them "
            f"win: the smallest ratio is {ratios[least][0]:.3f} ± {ratios[least][1]:.3f} "
            f"({least[1]}, {least[0]}).",
            _measured_table(real, ratios),
            _guessed(real, theirs),
            f"**Frequencies** of {CATEGORIES} categories (shares ∝ 1/rank), one table for each "
            "release, measured: the sum of the squared errors of the shares, and the largest of "
            "them, relative to ours. Both are chosen for the sum in the worst case. Where a figure "
            "is below 1, theirs is better.",
            _frequency_table(tables),
            _lost(tables),
            f"Formulas and measurements agree: of {len(every)} measured means none is farther than "
            f"{largest_z:.1f} standard errors from its formula. "
            + " ".join(
                f"{name}, {WIDE}: {one.mean:.3g} ± {one.error:.2g}, formula {one.expected:.3g}."
                for name, one in checks.items()
            ),
            "Other numbers of people, and frequencies of all profiles, are in the long form only."
            if quick
            else _by_people(),
        ]
    )
    nearest = max(cases, key=lambda case: 1.0 / case.gain(NAMED + CLEVER))
    results = (
        Result(
            "MSE, ours over the best of all others, worst profile",
            1.0 / nearest.gain(NAMED + CLEVER),
            "×",
            1.0 + TOLERANCE,
            True,
            f"{nearest.name}; 1e-9 for whole weights and floats",
        ),
        _against(wide, 2.0),
        _against(narrow, 1.6),
        Result(
            "measured MSE, largest distance from its formula",
            largest_z,
            "SE",
            6,
            True,
            f"{len(every)} means, all but OpenDP's seeded",
        ),
    )
    loses = [f"Frequencies with personal budgets: {_lost(tables)}"]
    if ratios[least][0] + 3.0 * ratios[least][1] < 1.0:
        loses.append(
            "A mean with personal budgets, on data that vary less than the worst case: theirs "
            f"({least[1]}) has {ratios[least][0]:.2f} of our error on {least[0]}."
        )
    return Section(
        "Accuracy with personal budgets",
        text,
        results,
        {"personal": _chart(cases)},
        loses=tuple(loses),
        accurate=(
            f"If budgets are unrelated to values, the mean squared error of a mean of {PEOPLE:,} "
            "people is, in the worst case, smaller by these factors than the best of what users of "
            "a single ε usually do (everyone at the strictest ε, a threshold, one release for each "
            "group): "
            + "; ".join(f"{case.gain(NAMED):.2f} × ({case.name})" for case in cases)
            + ". By default, with budgets that may be related to values in any way, gains are "
            "smaller: [a table](../docs/is-it-for-me.md#what-do-personal-budgets-buy).",
        ),
    )


_ABOUT = """Worst-case mean squared error of a mean of 10,000 people on [0, 1], exact, \
`about="people", related=False`. Ours is what `ep.mean(…, method="optimal")` actually draws from, \
with Laplace noise and rounded budgets. Theirs is the best that a user of a library with a single \
ε can do with the exact budgets, known in advance: *uniform*, everyone at the strictest ε above 0; \
*threshold*, the best τ, dropping everyone below it; *groups*, one release for each group of \
neighbouring budgets, with the best edges, the best number of groups and the best weights, \
sampling error included; *groups by noise*, the same with the usual weights, the inverse variance \
of the noise alone, and the best edges for that; *composition*, people in several releases, \
everyone at τ₁, those above it again at τ₂ − τ₁, with the best weights and the best steps that a \
search finds; *sampling*, see below. No combination of Laplace releases can be below ours \
([proof](../docs/proofs/combining.md))."""


def _nearer(wide: Compared, narrow: Compared) -> str:
    composed, sampled = (
        " and ".join(f"{case.worst[name] / case.worst['ours']:.3f}" for case in (wide, narrow))
        for name in CLEVER
    )
    return (
        f"Two methods come closer than the usual ones. *Composition* has {composed} times our "
        "error on the first two profiles, and *sampling* (a coin for each person, Jorgensen, Yu "
        f"and Cormode 2015, at the best threshold) {sampled}. Neither is below ours on any profile."
    )


def _against(case: Compared, limit: float) -> Result:
    clever = " and ".join(f"{name} {case.worst[name] / case.worst['ours']:.3f}" for name in CLEVER)
    best = min(NAMED, key=lambda name: case.worst[name])
    return Result(
        f"MSE, best of {', '.join(NAMED[:3])} over ours, {case.name}",
        case.gain(NAMED),
        "×",
        limit,
        False,
        f"{best}; also {clever}",
    )


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _worst_table(cases: list[Compared]) -> str:
    rows = []
    for case in cases:
        row = [case.name, f"{case.worst['ours']:.3g}"]
        for name in NAMED + CLEVER:
            pieces = len(case.theirs[name].first) if name in case.theirs else 1
            note = f" ({pieces})" if pieces > 1 else ""
            row.append(f"{case.worst[name] / case.worst['ours']:.4g}{note}")
        rows.append(row)
    heads = ["who has which ε", "ours, MSE", *NAMED, *CLEVER]
    return _table(heads, rows) + "\n\nRelative to ours; in brackets the number of releases."


def _measured_table(
    real: dict[tuple[str, str], Measured], ratios: dict[tuple[str, str], tuple[float, float]]
) -> str:
    rows = []
    for name in PROFILES:
        mine = real[name, "ours"]
        row = [name, f"{mine.mean:.3g} ± {mine.error:.1g}"]
        for other in (OURS[1], *NAMED, "composition"):
            ratio, error = ratios[name, other]
            row.append(f"{ratio:.4g} ± {error:.1g}")
        rows.append(row)
    return _table(["who has which ε", "ours, MSE", OURS[1], *NAMED, "composition"], rows)


def _guessed(real: dict[tuple[str, str], Measured], theirs: list[tuple[str, str]]) -> str:
    """Return the paragraph on how a guess of the spread changes the comparison."""
    found = {key: real[key].over(real[key[0], OURS[1]]) for key in theirs}
    least = min(found, key=lambda key: found[key][0])
    ratio, error = found[least]
    return (
        f"If you know that such values vary by about {GUESS} of the range, you can say "
        f"`spread={GUESS}`: a guess moves the cap, and nothing that is claimed about the release "
        "depends on it. Theirs still have the weights of the worst case. Relative to ours with the "
        f"guess, the smallest ratio is {ratio:.3f} ± {error:.3f} ({least[1]}, {least[0]})."
    )


def _frequency_table(tables: dict[str, dict[str, tuple[Measured, Floats]]]) -> str:
    others, rows = (*NAMED, "composition"), []
    for name, table in tables.items():
        mine, largest = table["ours"]
        pairs = [table[other][0].over(mine) for other in others]
        worst = [ratio_of(table[other][1], largest) for other in others]
        for what, own, found in (("sum", mine.mean, pairs), ("largest", largest.mean(), worst)):
            cells = [f"{ratio:.3g} ± {error:.1g}" for ratio, error in found]
            rows.append([name, what, f"{own:.3g}", *cells])
    return _table(["who has which ε", "squared error", "ours", *others], rows)


def _lost(tables: dict[str, dict[str, tuple[Measured, Floats]]]) -> str:
    """Return the sentence on the profile where another method beats ours most, if any."""
    found = [
        (*ratio_of(table[other][1], table["ours"][1]), other, name)
        for name, table in tables.items()
        for other in (*NAMED, "composition")
    ]
    ratio, error, other, name = min(found)
    if ratio + 3.0 * error >= 1.0:
        return "Theirs is better by more than chance on none of these."
    return (
        f"Theirs wins most with {other} on {name}: {ratio:.2f} ± {error:.2f} of our largest "
        "squared error."
    )


def _by_people() -> str:
    rows = []
    sizes = (100, 1_000, 10_000, 30_000)
    found = {n: compared(n, (WIDE, NARROW, TWO)) for n in sizes}
    for place, name in enumerate((WIDE, NARROW, TWO)):
        cells = [
            f"{found[n][place].gain(NAMED):.4g}, {found[n][place].gain(CLEVER):.4g}" for n in sizes
        ]
        rows.append([name, *cells])
    return (
        "With other numbers of people (worst case; the best of what is usually done, and of "
        "composition and sampling, over ours):\n\n"
        + _table(["who has which ε", *(f"n = {n:,}" for n in sizes)], rows)
    )


def _chart(cases: list[Compared]) -> Any:
    import altair as alt

    rows = [
        {"profile": case.name, "way": name, "ratio": case.worst[name] / case.worst["ours"]}
        for case in cases
        for name in NAMED + CLEVER
    ]
    line = alt.Chart(alt.Data(values=[{"ratio": 1.0}])).mark_rule(strokeDash=[4, 3])
    points = alt.Chart(alt.Data(values=rows)).mark_point(filled=True, size=70, opacity=0.8)
    axis = alt.X("ratio:Q", title="mean squared error, relative to ours (worst case)")
    return alt.layer(
        line.encode(x=axis.scale(type="log")),
        points.encode(
            x=axis.scale(type="log"),
            y=alt.Y("profile:N", title=None, sort=[case.name for case in cases]).axis(
                labelLimit=400
            ),
            color=alt.Color("way:N", title="theirs", sort=[*NAMED, *CLEVER]),
            shape=alt.Shape("way:N", sort=[*NAMED, *CLEVER], legend=None),
        ),
    ).properties(width=460, height=26 * len(cases), title="10,000 people, budgets unrelated")

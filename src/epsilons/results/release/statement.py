"""Statements: paragraphs about releases, ready to copy, for the public, a board or a paper.

They are computed from releases alone, so they cost no privacy. Uninformative numbers are never
quoted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from epsilons.results.release import said
from epsilons.results.release.release import Release
from epsilons.results.release.spending import AllOfIt, Spending
from epsilons.results.report.numbers import legible, number, percent
from epsilons.results.report.phrases import short
from epsilons.results.report.sheet import Note

__all__ = ["PACKAGE", "PAPERS", "notes", "statement"]

_QUOTED: Final = 6
"""The maximum number of quoted numbers for one release."""

_SEEDED: Final = (
    "NOT PRIVATE: this was drawn from a seed, for simulation only. It protects nobody. What "
    "follows about protection holds for the same release without a seed."
)

_READERS: Final = {
    "public": "For the general public",
    "board": "For a lawyer or an ethics board",
    "methods": "For a methods section",
}

_GUESSED: Final = {
    "replace": "guesses which of two answers a person gave",
    "add-remove": "guesses whether a person took part",
    "local": "guesses, from what a person sent, which of two answers they gave",
}
"""What an attacker guesses. Keys, here and below, are a neighbouring relation or "local"."""

_AGAINST: Final = (
    "Against anyone who sees the result, whatever else they know, will learn or can compute. Not "
    "against the curator, who holds the data, or others who can read them there."
)
_AGAINST_ALL: Final = (
    "Against everyone, including those who collect the reports, whatever else they know, will "
    "learn or can compute, if the program on each person's device does what it declares."
)

_UNPROTECTED: Final = {
    "replace": "Everyone's budget, the number of people, and the fact that a person took part.",
    "add-remove": "What was declared before any data were read, such as bounds and levels.",
    "local": "Everyone's budget, and the fact that a person took part.",
}

_NEVER: Final = (
    "Facts about groups or about the population that would be found without the person, even if "
    "they suggest something about the person. Anything that is published elsewhere."
)

_NEIGHBOURS: Final = {
    "replace": "replace-one neighbours, that is, for data sets that differ in the value of person "
    "i alone",
    "add-remove": "add/remove neighbours, that is, for data sets with and without person i",
    "local": "the local model, that is, for what person i sends if they have one value or another",
}

PAPERS: Final = {
    'Jorgensen, Yu and Cormode, "Conservative or liberal? Personalized differential privacy", ICDE '
    "2015": "",
    'Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", 2020': (
        "replace add-remove"
    ),
    'Cyffers and Ziani, "Limits of Personalizing Differential Privacy Budgets", 2026': (
        "optimal narrowest affine threshold"
    ),
    'Chaudhuri and Courtade, "Managing correlations in data and privacy demand", ACM CCS 2025': (
        "optimal narrowest minimax uniform proportional hpm hpf adaptive rappor"
    ),
    'Kulesza, Suresh and Wang, "Mean Estimation in the Add-Remove Model of Differential Privacy", '
    "ICML 2024": "two-sums open-cells",
    'Dong and Ge, "Tight Bounds for Gaussian Mean Estimation under Personalized Differential '
    'Privacy"': "weighted diffusion",
    'Aliakbarpour, Fallah, Roy and Stevens, "High-Probability Bounds For Heterogeneous Local '
    'Differential Privacy"': "local",
    'Geng and Viswanath, "The optimal mechanism in differential privacy", 2014': (
        "staircase staircase2d"
    ),
    'Duchi, Jordan and Wainwright, "Minimax optimal procedures for locally private estimation", '
    "2018": "vector",
    'Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu, "Collecting and analyzing multidimensional '
    'data with local differential privacy", ICDE 2019': "piecewise",
    'McSherry and Talwar, "Mechanism design via differential privacy", 2007': "selection",
}
"""Papers, as in docs/references.md, each with the methods and mechanisms that it is cited for. Some
mechanisms name a `paper` of their own."""

PACKAGE: Final = "The epsilons developers, epsilons"
"""The authors and the title, as in CITATION.cff."""


def statement(releases: Sequence[Release], spent: Spending, length: str) -> str:
    """Return paragraphs to copy, with a blank line between them.

    Args:
        releases: one release, or several that were published together.
        spent: the spending on all releases together.
        length: "public", "board" or "methods".
    """
    model = "local" if isinstance(spent, AllOfIt) else releases[0].neighbours
    write = {"public": _public, "board": _board, "methods": _methods}[length]
    seeded = [] if all(one.private for one in releases) else [_SEEDED]
    return legible("\n\n".join([*seeded, *write(releases, spent, model)]))


def notes(releases: Sequence[Release], spent: Spending) -> tuple[Note, ...]:
    """All three statements (public, board and methods), for the end of a page."""
    return tuple(
        Note("statement", words, depth="whole")
        for length, reader in _READERS.items()
        for words in (f"{reader}:", *statement(releases, spent, length).split("\n\n"))
    )


# One function for each kind of reader.


def _public(releases: Sequence[Release], spent: Spending, model: str) -> Iterator[str]:
    own = len({row.epsilon for row in spent}) > 1
    conditions = dict.fromkeys(each for one in releases for each in _conditions(one, model))
    limited, most = bool(spent.amounts), max(spent.amounts, default=0.0)
    blurred = "people blurred their answers by chance before they sent them"
    blurred = blurred if model == "local" else "the result was blurred by chance"
    yield _joined(
        *(_result(one, "is") for one in releases),
        *_menus(releases),
        f"Stated ranges hold if {_listed([*conditions])}." if conditions else "",
        f"Everyone had {'their own' if own else 'the same'} limit on what this publication may "
        "reveal about them, and no limit was exceeded."
        if limited
        else "",
        f"For this, {blurred}: someone who {_GUESSED[model]}, and would be right half of the time "
        f"without this publication, is right at most {_chance(most)} of the time with it."
        if most > 0.0
        else "",
        "Answers that people made public are not protected." if _public_records(spent) else "",
    )


def _board(releases: Sequence[Release], spent: Spending, model: str) -> Iterator[str]:
    first, by = (
        releases[0],
        f'Rows of one person, by "{short(releases[0].person)}", count together.',
    )
    rows = {"": "", "row": "Each row of the data counted as one person."}.get(first.person, by)
    more = "The rows of one person together: someone with several rows spends once for each."
    published = (_result(one, "is") for one in releases)
    yield _joined("What was published.", *published, *_menus(releases))
    yield _joined("What is protected.", *said.once(one.protects for one in releases), rows)
    yield f"Against whom. {_AGAINST_ALL if model == 'local' else _AGAINST}"
    yield (
        "For how long. For ever, as far as this release is concerned: nothing that happens later "
        f"weakens it. {_adds_up(releases, spent)}"
    )
    yield _joined("What ε means.", *_odds(spent, model))
    yield _joined(
        "What is not protected.",
        "" if all(one.private for one in releases) else "Anyone: this was drawn from a seed.",
        _UNPROTECTED[model],
        "Records that people made public, by ε = ∞." if _public_records(spent) else "",
        more if first.person == "row" else "",
        _NEVER,
    )
    yield _joined(
        "What was assumed. Assumptions change the stated errors, never the protection.",
        *said.once(one.assumes for one in releases),
    )


def _methods(releases: Sequence[Release], spent: Spending, model: str) -> Iterator[str]:
    yield (
        f"Results satisfied pure personalized differential privacy (δ = 0) for "
        f"{_NEIGHBOURS[model]}: for every person i, the probability of every set of results "
        "changed by at most a factor of e^(s_i), where s_i is what person i spent, and at most "
        "their budget ε_i."
    )
    cites, drew = {model}, "Each person's device drew" if model == "local" else "The mechanism drew"
    own: dict[str, None] = {}
    for one in releases:
        stages = getattr(one.mechanism, "stages", (one.mechanism,))
        kinds = {stage.kind: stage.released for stage in stages}
        method = one.method.removeprefix("local ").partition(",")[0]
        cites |= {method, method.partition("-")[0], *(kind.replace(" ", "-") for kind in kinds)}
        own |= dict.fromkeys(getattr(stage, "paper", "") for stage in stages)
        yield _joined(
            _result(one, "was"),
            f"{drew} {', then '.join(kinds.values())}, exactly and on integers. "
            f'The method was "{one.method}".',
        )
    rows = [row for row in spent if row.epsilon > 0.0]
    cap = ", where the most is a cap" * any(row.kept > 0.0 for row in rows)
    yield _joined(
        f"Budgets were ε = {_ends(row.epsilon for row in rows)}{spent.EACH}, and people spent ε = "
        f"{_ends(row.spent for row in rows)}{spent.EACH}{cap}.",
        *_menus(releases),
        said.offered_nothing(spent),
        f"Nobody spent more than ε = {number(max(spent.amounts, default=0.0))} in total."
        if spent.EACH
        else "",
        "" if any(spent.amounts) else "Only public records were used, without noise.",
        _adds_up(releases, spent),
    )
    yield _joined(
        f"Intervals had a confidence level of {_ends(one.confidence for one in releases)}: over "
        "all data that the assumptions allow, each misses the truth with probability at most 1 "
        "minus that level. The assumptions were:",
        *said.once(one.assumes for one in releases),
    )
    version = f", version {releases[0].version}" if releases[0].version else ""
    day = f" on {releases[0].date} (UTC)" if releases[0].date else ""
    yield f"Results were computed{day} with epsilons{version}."
    papers = [paper for paper, by in PAPERS.items() if not by or cites & {*by.split()}]
    yield f"References: {'; '.join([PACKAGE + version, *papers, *filter(None, own)])}."


# Sentences that the statements share.


def _result(release: Release, verb: str) -> str:
    """A sentence on the measurement, the number of people, and the informative results."""
    estimate, title = release.estimate, release.title
    rows = estimate.quoted(release)
    usable = [row for row in rows if row.informative]
    lead = "" if title is None else legible(title) + (" " if title[-1] in "?!.:" else ": ")
    of = "" if release.name is None or title is not None else f' of "{short(release.name)}"'
    what = estimate.what(release, of) + (f" {_who(release)}" if estimate.among else "")
    if not usable:
        return f"{lead}No usable number resulted for {what}: almost any value fits."
    what, lost = what[0].upper() + what[1:], len(rows) - len(usable)
    within = (
        f"contains the true value in at least {percent(release.confidence)} of such publications"
    )
    if len(rows) == 1:
        value, low, high = estimate.told(release, rows[0])
        holds = f"the range from {low} to {high} {within}."
        return _joined(f"{lead}{what} {verb} about {value}; {holds}", release.treats)
    if estimate.in_percent:
        usable.sort(key=lambda row: -row.value)
    told = [(short(row.name), *estimate.told(release, row)) for row in usable[:_QUOTED]]
    listed = "; ".join(
        f"{name}{estimate.joined} {value} ({low} to {high})" for name, value, low, high in told
    )
    some = f" ({len(told)} of {len(rows):,} numbers)" if len(told) < len(rows) else ""
    return _joined(
        f"{lead}{what}{some}: {listed}. Each range in brackets {within}.",
        f"For {lost:,} of {len(rows):,}, no usable number resulted." if lost else "",
        release.treats,
    )


def _menus(releases: Sequence[Release]) -> list[str]:
    """The sentence on words that stand for budgets, once for all releases; empty without a menu."""
    return said.once(one.menu for one in releases)


def _who(release: Release) -> str:
    """The people that the numbers are about."""
    people = "an undisclosed number of people"
    if release.n is not None:
        people = f"{'about ' * release.n_is_noisy}{release.n:,} people"
        people += ", counted with their weights" * bool(release.spent.EACH)
    share = getattr(release.estimate, "share", None)
    some = share is not None and share(release.assumption, release.confidence) is not None
    answered = release.missing == "exclude" and not release.estimate.adds
    which = [*["whom it is about"] * some, *["who answered"] * answered]
    people = f"those of {people} {_listed(which)}" if which else people
    sampled = release.assumption.sampled
    return f"in the population that {people} are a sample of" if sampled else f"among {people}"


def _conditions(release: Release, model: str) -> Iterator[str]:
    """The assumptions that the quoted intervals depend on, without jargon."""
    if not any(row.informative for row in release.rows):
        return
    if release.assumption.sampled:
        yield "these people are a random sample"
    if release.related is not True:
        much = "nothing" if release.related is False else "little"
        yield f"people's limits have {much} to do with their answers"
    if getattr(release.estimate, "sigma", None) is not None:
        yield "values follow a bell curve"
    if model == "local":
        yield "people answered honestly"


def _odds(spent: Spending, model: str) -> Iterator[str]:
    """The meaning of ε as odds, for the largest and the smallest amount spent."""
    finite = spent.amounts
    if not any(finite):
        yield "Only records that people made public, by ε = ∞, were used."
        return
    least, most = min(finite), max(finite)
    yield (
        f"Someone who {_GUESSED[model]}, with even odds before, has odds of at most e^ε : 1 after, "
        "and is right with probability at most 1/(1 + e^−ε), where ε is what the person spent. "
        f"That is {_chance(most)} for ε = {number(most)}, the most that anyone with a finite "
        "budget spends."
    )
    if least < most:
        yield f"For ε = {number(least)}, the least that is shown, it is {_chance(least)}."
    if model == "add-remove":
        yield "Between two values of someone known to take part, odds are at most e^(2ε) : 1."


def _adds_up(releases: Sequence[Release], spent: Spending) -> str:
    """A sentence on how spending adds up, and on the ledger that records it, if any."""
    entry = releases[0].ledger
    if entry is None:
        none = "What people spend adds up over all releases. No ledger keeps account of this one."
        return spent.ADDS_UP if isinstance(spent, AllOfIt) else none
    return (
        f'A ledger charged it as "{short(entry.name)}", and keeps everyone\'s account over all '
        "releases that are charged to it. Releases outside the ledger add to what people spend."
    )


def _public_records(spent: Spending) -> bool:
    return any(math.isinf(row.epsilon) for row in spent)


def _chance(spent: float) -> str:
    """The largest probability of a correct guess, rounded up."""
    return f"{math.ceil(1000.0 / (1.0 + math.exp(-spent))) / 10.0:g} %"


def _ends(numbers: Iterable[float]) -> str:
    each = [*numbers]
    return " to ".join(dict.fromkeys(map(number, (min(each), max(each)))))


def _listed(each: Sequence[str]) -> str:
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))

"""The sheet of each kind of plan: its contents, which every output format shows."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from epsilons import words
from epsilons.local.randomizer import ASSUMED_LOCALLY, PROTECTED_LOCALLY
from epsilons.planning.trial import error_of
from epsilons.planning.what_if import level_name
from epsilons.results.report.numbers import budget, kept_words, number, percent, points
from epsilons.results.report.phrases import (
    FORECAST,
    LABELS,
    SIDES,
    budget_bins,
    short,
    side_name,
    some_places,
    why_worse,
    written_words,
)
from epsilons.results.report.sheet import (
    Bars,
    BudgetBars,
    Curve,
    Fact,
    Facts,
    Figure,
    Note,
    Part,
    Points,
    Role,
    Sheet,
    SheetTable,
    SpendingTable,
    Stacked,
)

if TYPE_CHECKING:
    from epsilons.budgets.levels import Budgets
    from epsilons.planning.asked import Forecasts
    from epsilons.planning.central import Plan
    from epsilons.planning.found import RangePlan
    from epsilons.planning.grouped import GroupsPlan
    from epsilons.planning.locally import LocalPlan
    from epsilons.planning.menus import MenusPlan
    from epsilons.planning.several import Planned, SeveralPlans
    from epsilons.planning.trial import Forecast
    from epsilons.questions.question import Question

__all__ = [
    "central_sheet",
    "groups_sheet",
    "local_sheet",
    "menus_sheet",
    "range_sheet",
    "several_sheet",
]

Told = Callable[[float], str]

_SUMMARY: Final[tuple[Role, ...]] = ("advice", "assumed")
"""The parts that a printed plan shows below the verdict."""

_WORTH: Final = {"precise": "precise", "rough": "rough", "useless": "not usable"}
"""How a table of menus describes each precision, in words."""

_COLUMNS: Final = 4
"""The maximum number of levels in a printed plan."""

_LEVELS: Final = 8
"""The maximum number of levels in the table of spending on the range and on the mean."""

_SPENDS: Final = "What people would spend"
_METHODS: Final = "Every method"
_STRICTEST: Final = (
    "The gain is how many times smaller the typical error is than with everyone at the strictest ε."
)
_LOSS: Final = " A gain below 1 is a loss: the error is larger."
_ONE: Final = (
    "The last column is how many times smaller it is than with the best single ε, which leaves "
    "stricter people out."
)
_STRICT: Final = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5)
"""The shares of strict people for which the table shows the error."""

_OTHER_CAP: Final = " The best cap is for the {best}: the {other} may be smaller in a row above."
_CURATOR: Final = "a trusted curator"
_VALUES: Final = ("spread out", "close together, far from 0")
_ERRORS: Final = (
    "The typical error is a root mean square in the worst case; for shares it is in percentage "
    "points. The interval extends this far to either side for any data: the draw can only make it "
    "narrower."
)
_EVENLY: Final = "values that are spread evenly over the range"
_FOUND: Final = (
    " If a range has to be found, the typical error is a fraction of that range, and spending is "
    "shown for values that are spread out or close together, whichever takes more."
)
_TOGETHER: Final = " Means with equal shares are drawn together."


def central_sheet(plan: Plan) -> Sheet:
    """The sheet of a plan of one question, except for a mean on an unknown range."""
    told: Told = points if plan.cells else number
    best = plan[plan.best]
    limit = _limit(plan, told)
    title = "Error for each cap" if plan.weighs else "Error of each method"
    return _sheet(
        _central_name(plan),
        _verdict(plan),
        _needed(plan, told),
        (Note("assumed", _central_assumption(plan), set_in=True),),
        tuple(_methods(plan)),
        (
            *_central_explained(plan),
            *_warned(plan.warnings),
            *_advised(f"{plan.advice} {plan.compared}".strip(), plan.aside, *_guess(plan, told)),
        ),
        tuple(_sides(plan, told)),
        (
            *([Note("note", limit, depth="brief")] if limit else []),
            Facts("note", tuple(_worth(plan, best, told, limit)), depth="whole"),
            _people_figure(plan.budgets, guessed=plan.neighbours != "replace"),
            *_curve(plan),
            SpendingTable(
                best.spent,
                words=f"With the advised method, {plan.best}, a person with each budget would "
                "spend:",
                depth="whole",
                section=_SPENDS,
            ),
            *_what_if(plan),
            Note("protected", words.WILL_PROTECT[plan.neighbours], depth="whole"),
        ),
        picture=f"{title}, {plan.budgets.n:,} people",
    )


def range_sheet(plan: RangePlan) -> Sheet:
    """The sheet of a plan of a mean on a range that has to be found."""
    assumption = words.planned(plan.neighbours, plan.goal.assumption, found=True)
    if plan.shape == "gaussian":
        assumption = words.planned_gaussian(plan.neighbours)
    sought = _sought(plan)
    section = "What the error would be"
    return _sheet(
        f"Plan for the mean of {plan.budgets.n:,} people, on a range that has to be found",
        _verdict(plan),
        (Note("assumed", assumption, set_in=True),),
        (Note("note", sought, depth="brief"),),
        (_range_errors(plan, section),),
        (
            Note("note", _range_explained(plan), section=section),
            *_warned(plan.warnings),
            *(_advised(plan.advice) if plan.enough else []),  # otherwise the verdict has the advice
            Facts("people", (_people(plan.budgets), Fact("The range", sought)), depth="whole"),
        ),
        _range_spending(plan),
        (
            Note(
                "protected",
                words.PROTECTED_WITH_RANGE[plan.neighbours],
                depth="whole",
            ),
        ),
    )


def local_sheet(plan: LocalPlan) -> Sheet:
    """The sheet of a plan of the local model."""
    table = _local_kinds(plan)
    squares = plan.loss == "mse"
    named = [(each.method, each.rmse if squares else each.pac) for each in plan.forecasts]
    if plan.curator is not None:
        named.append((_CURATOR, plan.curator.rmse if squares else plan.curator.pac))
    axis = "typical error (RMSE)" if squares else "error not exceeded"
    shown = "; ".join(f"{row[0]}: {row[2]}" for row in table.rows)
    error = "a typical error" if squares else f"an error at {percent(plan.confidence)}"
    told: Told = points if plan.cells else functools.partial(_local_error, plan)
    limit = (
        f"If nobody is trusted, no method can have {error} below {told(plan.lower_bound)} in the "
        "worst case."
    )
    return _sheet(
        _local_name(plan),
        _verdict(plan),
        _needed(plan, told),
        (Note("assumed", ASSUMED_LOCALLY[plan.statistic], set_in=True),),
        (table,),
        (
            Note("note", _local_explained(plan), section=table.section),
            Figure(
                Points(tuple(named), axis),
                f"Errors. {shown}",
                "The same as a picture.",
                lead=True,
                section=table.section,
            ),
            *_warned(plan.warnings),
            *_advised(plan.advice),
            Facts("people", (_people(plan.budgets), Fact("The limit", limit)), depth="whole"),
        ),
        (
            Note("note", limit, depth="brief"),
            _people_figure(plan.budgets),
            Note("protected", PROTECTED_LOCALLY, depth="whole"),
        ),
    )


def groups_sheet(plan: GroupsPlan) -> Sheet:
    """The sheet of a plan of means by group."""
    lo, hi = plan.bounds
    confidence = percent(plan.confidence)
    values = f"from {number(lo)} to {number(hi)}"
    # Each public group is a separate release, so spending depends on the size of the group.
    apart = plan.groups_are == "public" and plan.groups > 1
    section = "How wide intervals will be"
    half = f"half of a {confidence} interval"
    rows = [
        (f"{100 * each.share:.3g} %", f"{each.people:,}", number(each.half_width, 3))
        for each in plan.forecasts
    ]
    explained = f"The first row is an even share. Values {values}."
    if apart:
        explained += " The last table is for one group of that size."
    shown = "; ".join(f"{row[1]} people: {row[2]}" for row in rows)
    cost = "In a group of an even share of the people, a person with each budget would spend:"
    membership = f"group membership is {plan.groups_are}"
    facts = (
        Fact("People", f"{plan.n:,} people"),
        Fact("Values", values),
        Fact("Groups", f"{plan.groups:,}; {membership}"),
    )
    heads = ("share of the people", "people", half)
    curve = Curve(
        tuple((each.people, each.half_width) for each in plan.forecasts),
        "people in the group",
        half,
    )
    return _sheet(
        f"Means of {plan.groups:,} groups; {membership}",
        _verdict(plan),
        (SheetTable("rows", heads, tuple(rows), section=section),),
        (
            Note("note", explained, section=section, set_in=True),
            Figure(
                curve,
                f"Half of an interval by the size of a group: {shown}",
                "The smaller a group, the wider its interval.",
                lead=True,
                section=section,
            ),
            Note("assumed", words.planned("replace", plan.assumption), set_in=True),
            *_warned(plan.warnings),
            Facts("people", facts, depth="whole"),
        ),
        (SpendingTable(plan.spent, words=cost if apart else "", section=_SPENDS),),
        (Note("protected", plan.protects),),
    )


def several_sheet(plan: SeveralPlans) -> Sheet:
    """The sheet of a plan of several questions."""
    who = "people" if plan.neighbours == "replace" else "people, as expected"
    heads = ("question", "share", "method", "typical error", "interval ±", "target ±")
    rows = [_planned(*each) for each in zip(plan.each, plan.questions, strict=True)]
    found = any(one.found for one in plan.each)
    together = any(one.together > 1 for one in plan.each)
    supposed = dict.fromkeys(each.statistic for each in plan.questions if each.supposed)
    evenly = ""
    if supposed:
        evenly = f" For each {' and '.join(supposed)}, both are forecasts for {_EVENLY}."
    assumed = [words.planned(plan.neighbours, each.assumption) for each in plan.questions]
    told = (_FOUND if found else "") + (_TOGETHER if together else "")
    section = "What each question would give"
    shares = Bars(
        tuple((one.name, float(one.share)) for one in plan.each), "share of everyone's budget"
    )
    shown = "; ".join(f"{row[0]}: {row[1]}" for row in rows)
    return _sheet(
        f"Plan for {len(rows)} questions about {plan.budgets.n:,} {who}",
        _verdict(plan),
        (SheetTable("rows", heads, tuple(rows), section=section),),
        (
            Note("note", _ERRORS + evenly + told, section=section),
            Figure(
                shares,
                f"Shares of everyone's budget: {shown}",
                "The share of everyone's budget that each question takes.",
                lead=True,
                section=section,
            ),
            *_warned(plan.warnings),
            *(Note("assumed", each, set_in=True) for each in dict.fromkeys(assumed)),
        ),
        (SpendingTable(plan.spent, section=_SPENDS),),
        (Note("protected", words.WILL_PROTECT[plan.neighbours]),),
    )


_MENU: Final = 30
"""The largest number of characters of a menu's name in a table."""


def menus_sheet(plan: MenusPlan) -> Sheet:
    """The sheet of a comparison of menus."""
    first = plan.plans[plan.best]

    def told(error: float) -> str:
        return f"{number(100.0 * error, 3)} %" if first.cells else number(error)

    rows = tuple(
        (
            short(row.menu, _MENU),
            told(row.rmse),
            told(row.half_width),
            _WORTH[plan.plans[row.menu].verdict.worth],
            *(f"{each:,.3g} ×" for each in row[3:]),
        )
        for row in plan.forecasts
    )
    interval = f"{percent(first.confidence)} interval ±"
    heads = ("menu", "typical error", interval, "verdict", "gain", "over one ε")
    section, marked = "What each menu would give", list(plan.plans).index(plan.best)
    shown = "; ".join(f"{name}: {told(error)}" for name, error in plan.errors.items())
    errors = Points(tuple(plan.errors.items()), _axis(first))
    return _sheet(
        f"Menus of budgets for {plan.n:,} people",
        _verdict(plan),
        (Note("assumed", _central_assumption(first), set_in=True),),
        (
            SheetTable("rows", heads, rows, "", marked, section=section),
            Figure(errors, f"Errors. {shown}", lead=True, section=section),
            *_menu_costs(plan, told, _axis(first)),
        ),
        (Note("note", f"{_STRICTEST} {_ONE}", section=section), *_warned(plan.warnings)),
    )


def _menu_costs(plan: MenusPlan, told: Told, axis: str) -> tuple[Part, ...]:
    """The table and the figures of the error for each share of strict people."""
    if not plan.costs:
        return ()
    section, each = "What strict people cost", plan.costs.values()
    shares = next(iter(each)).shares
    places = [shares.index(share) for share in _STRICT]
    rows = tuple((percent(shares[k]), *(told(cost.errors[k]) for cost in each)) for k in places)
    figures = [
        Figure(
            Curve(
                tuple((100.0 * x, y) for x, y in zip(shares, cost.errors, strict=True)),
                f"percent of people at ε = {budget(cost.strict)}",
                axis,
            ),
            f"{name}: "
            + "; ".join(f"{percent(shares[k])}: {told(cost.errors[k])}" for k in places),
            lead=True,
            name=name,
            words=f"Everyone else is at ε = {budget(cost.generous)}.",
            section=section,
        )
        for name, cost in plan.costs.items()
    ]
    heads = ("error if so many are strict", *(short(name, _MENU) for name in plan.costs))
    return (SheetTable("rows", heads, rows, section=section), *figures)


def _sheet(name: str, *blocks: tuple[Part, ...], picture: str = "") -> Sheet:
    """A sheet with the plan's name as headline, and with advice and assumptions as summary."""
    made = Sheet(name, blocks, headline=name, byline=written_words(FORECAST), picture=picture)
    said = [part for role in _SUMMARY for part in made.of(role) if isinstance(part, Note)]
    return replace(made, summary=tuple(LABELS[each.role] + each.words for each in said))


def _verdict(plan: Forecasts) -> tuple[Note, ...]:
    return tuple(Note("verdict", each) for each in plan.verdict.words)


def _needed(plan: Plan | LocalPlan, told: Told) -> tuple[Part, ...]:
    """The table of the numbers of people needed for the wanted half-width; empty without one."""
    if plan.wanted is None:
        return ()
    rows = []
    for level, more in plan.needed:
        who = "like these, in this mix" if level is None else f"more at {level_name(level)} alone"
        if more is None:
            rows.append((who, "–", "no number is enough"))
        elif more or level is None:
            change = "as now" if more == 0 else f"{abs(more):,} {'more' if more > 0 else 'fewer'}"
            rows.append((who, f"{plan.budgets.n + more:,}", change))
    wanted = f"people for ±{told(plan.wanted)} at {percent(plan.confidence)}"
    heads = (wanted, "in all", "compared with now")
    return (SheetTable("rows", heads, tuple(rows), section="How many people it takes"),)


def _warned(warnings: Sequence[str]) -> list[Note]:
    return [Note("warning", each) for each in warnings]


def _advised(advice: str, *others: str) -> list[Note]:
    """The sentences with the advice, and remarks on it."""
    return [Note("advice", advice), *(Note("note", each) for each in others if each)]


def _people(budgets: Budgets) -> Fact:
    return Fact("People", f"{budgets.n:,} people")


def _people_figure(budgets: Budgets, *, guessed: bool = False) -> Figure:
    """The figure of the number of people with each budget."""
    levels = tuple(zip(budgets.levels.tolist(), budgets.counts.tolist(), strict=True))
    shown = "; ".join(f"ε {name}: {people:,}" for name, people in budget_bins(levels))
    caption = "How many people have each budget ε. A smaller ε is stricter."
    return Figure(
        BudgetBars(levels),
        f"People with each budget: {shown}",
        caption + (" The numbers are a guess." if guessed else ""),
        section="The budgets",
    )


def _central_name(plan: Plan) -> str:
    if plan.cells:
        return (
            f"Plan for the shares of {plan.budgets.n:,} people in {plan.cells:,} categories: "
            "errors as shares"
        )
    second = getattr(plan.question, "y_bounds", plan.bounds)
    ranges = [f"{number(lo)} to {number(hi)}" for lo, hi in dict.fromkeys((plan.bounds, second))]
    values = f"values from {' and from '.join(ranges)}"
    return f"Plan for the {plan.statistic} of {plan.budgets.n:,} people, {values}"


def _central_assumption(plan: Plan) -> str:
    return words.planned(plan.neighbours, plan.assumption)


def _methods(plan: Plan) -> list[SheetTable]:
    """The table of all methods; its brief form also shows the spending at some of the levels."""
    levels = [row.epsilon for row in plan.forecasts[0].spent]
    chosen = some_places(len(levels), _COLUMNS)
    rows = [
        (
            row.method + (" *" if row.method == plan.best else ""),
            number(row.rmse),
            number(row.pac),
            f"{row.gain:,.3g} ×",
            f"{100 * row.used:.3g} %",
        )
        for row in plan.forecasts
    ]
    spent = [
        (*row, *(budget(forecast.spent[k].spent, 2) for k in chosen))
        for row, forecast in zip(rows, plan.forecasts, strict=True)
    ]
    heads = ("method", "typical error", f"error at {percent(plan.confidence)}", "gain", "used")
    columns = (*heads, *(f"ε {budget(levels[k], 2)}" for k in chosen))
    marked = [row.method for row in plan.forecasts].index(plan.best)
    caption = "The advised method is highlighted."
    return [
        SheetTable("rows", columns, tuple(spent), depth="brief"),
        SheetTable("rows", heads, tuple(rows), caption, marked, depth="whole", section=_METHODS),
    ]


def _central_explained(plan: Plan) -> list[Note]:
    """An explanation of the columns in the table of methods."""
    levels = len(plan.forecasts[0].spent)
    some = f", for {_COLUMNS} of {levels:,} levels" if levels > _COLUMNS else ""
    gain = plan.verdict.gain
    loss = _LOSS if gain is not None and gain.is_loss else ""
    errors = f"Errors are {_errors_are(plan)}. {_STRICTEST}{loss}"
    last = f"The last columns show what a person with that budget would spend{some}."
    used = "Used is the share of people whose values count."
    return [
        Note("note", f"{errors} {last}", depth="brief"),
        Note("note", f"{errors} {used}", depth="whole", section=_METHODS),
    ]


def _errors_are(plan: Plan) -> str:
    """A phrase that says whether errors are worst cases, or forecasts for some kind of data."""
    if plan.spread is not None:
        of = f"for values with a standard deviation of {number(100 * plan.spread)} % of the range"
        return of if plan.neighbours == "replace" else f"approximate, {of}"
    if not plan.weighs:
        return f"forecasts for {_EVENLY}"
    of = ""
    if plan.cells:
        what = "the largest error" if plan.loss == "largest" else "the error of a category"
        of = f"; the typical error is the root mean square of {what}, the other one is of the worst"
    if plan.neighbours == "replace":
        return f"worst cases before any data is read{of}"
    return f"approximate worst cases over values, if as many people come{of}"


def _guess(plan: Plan, told: Told) -> list[str]:
    """A sentence with the errors with and without a guess of the spread; empty without a guess."""
    guess = plan.guess
    if guess is None:
        return []
    right, plain = told(guess.rmse), told(guess.plain_rmse)
    worst, least = told(guess.worst), told(guess.plain_worst)
    if (right, worst) == (plain, least):
        return ["The guess changes no error here."]
    return [
        f"The guess: if it is right, the typical error is {right} instead of {plain}; in the "
        f"worst case over all data it is {worst} instead of {least}. Privacy and intervals do not "
        "depend on it."
    ]


def _sides(plan: Plan, told: Told) -> list[Part]:
    """The table of the best errors and caps, for each assumption on budgets and values."""
    last = f"error at {percent(plan.confidence)}"
    heads = (SIDES, "typical error", last, "gain", "best cap")
    related = plan.assumption.related
    rows = [
        (
            side_name(side.related, related, cells=plan.cells > 0),
            told(side.rmse),
            told(side.pac),
            f"{side.gain:,.3g} ×",
            budget(side.cap),
        )
        for side in plan.sides
    ]
    errors = ["typical error", last]
    best, other = errors[::-1] if plan.loss == "pac" else errors
    answers = [side.related for side in plan.sides]
    columns = [[side.rmse for side in plan.sides], [side.pac for side in plan.sides]]
    why = why_worse(answers, columns, _OTHER_CAP.format(best=best, other=other))
    caption, marked = "What other assumptions would give.", answers.index(related)
    return [
        SheetTable("sides", heads, tuple(rows), caption, marked),
        Note("sides", f"The row with * is what this plan assumes.{why}"),
    ]


def _limit(plan: Plan, told: Told) -> str:
    """A sentence on the lower bound for the plan's loss; "" if none is known."""
    if not plan.weighs:
        return ""
    squares = plan.loss != "pac"
    error = "a typical error" if squares else f"an error at {percent(plan.confidence)}"
    return f"No method can have {error} below {told(plan.lower_bound)} in the worst case."


def _worth(plan: Plan, best: Forecast, told: Told, limit: str) -> list[Fact]:
    """The facts of the best method: its errors, and how far they are above the lower bound."""
    error, bound = error_of(best, plan.loss), plan.lower_bound
    # The bound is on the worst case. With a guessed spread, errors may be below the bound.
    if bound > 0.0 and math.isfinite(error) and plan.guess is None:
        limit += f" The advised method is within a factor of {number(error / bound, 3)} of it."
    confidence = percent(plan.confidence)
    forecast = (
        f"typical error {told(best.rmse)}; {told(best.pac)} is not exceeded with probability "
        f"{confidence}"
    )
    return [
        _people(plan.budgets),
        Fact("Forecast", forecast),
        *([Fact("The limit", limit)] if limit else []),
    ]


def _curve(plan: Plan) -> list[Part]:
    """The figure of errors: a curve over caps with marked methods, or a point for each method."""
    if not plan.weighs:
        named = tuple((row.method, error_of(row, plan.loss)) for row in plan.forecasts)
        shown = "; ".join(f"{name}: {number(error)}" for name, error in named)
        errors = Points(named, _axis(plan))
        return [Figure(errors, f"Errors. {shown}", lead=True, section=_METHODS)]
    section = "Error for each cap"
    pairs = zip(plan.curve["cap"], plan.curve["error"], strict=True)
    points_ = tuple((x, y) for x, y in pairs if math.isfinite(x) and math.isfinite(y))
    cap_axis = "cap τ: nobody spends more than this"
    curve = Curve(points_, cap_axis, _axis(plan), _marks(plan), ratios=True)
    if not points_:
        none = "Nobody has a budget that is neither zero nor public: there is no cap."
        return [
            Note("note", none, depth="whole", section=section),
            Figure(curve, none, lead=True, depth="brief"),
        ]
    cap, error = min(points_, key=lambda pair: pair[1])
    label = f"{section}: it is smallest, about {number(error, 3)}, at ε = {number(cap, 3)}"
    caption = (
        "The line shows the error if nobody spends more than the cap: a low cap wastes the budgets "
        "of many people, a high one lets a few decide. Each mark is a method, placed at the most "
        "that anyone spends with it."
    )
    # A bound far below the curve would make the curve flat. With a guess of the spread, errors may
    # be below the bound.
    near = plan.lower_bound > error / 30.0 and plan.guess is None
    if plan.loss != "pac" and near:
        caption += " No method can be below the dashed line."
        curve = replace(curve, limits=(plan.lower_bound,))
    return [Figure(curve, label, caption, lead=True, section=section)]


def _axis(plan: Plan) -> str:
    """The axis title: the name of the error that the plan minimizes."""
    return "error not exceeded" if plan.loss == "pac" else "typical error (RMSE)"


def _marks(plan: Plan) -> tuple[tuple[float, float, tuple[str, ...]], ...]:
    """The marks of methods in the figure; methods at the same point share one mark."""
    places: dict[tuple[int, int], tuple[float, float, tuple[str, ...]]] = {}
    for row in plan.forecasts:
        cap, error = float(row.spending.spent.max()), error_of(row, plan.loss)
        if 0 < cap < math.inf and 0 < error < math.inf:
            place = (round(50 * math.log(cap)), round(50 * math.log(error)))
            x, y, names = places.get(place, (cap, error, ()))
            places[place] = x, y, (*names, row.method)
    return tuple(places.values())


def _what_if(plan: Plan) -> list[SheetTable]:
    """The table of forecast errors for other people or budgets."""
    rows = tuple(
        (row.change, number(row.error), f"{number(row.ratio, 3)} ×") for row in plan.sensitivity
    )
    heads, caption = ("if", "error", "compared with now"), "How the error would change."
    table = SheetTable("rows", heads, rows, caption, depth="whole", section="What if")
    return [table] if rows else []


def _sought(plan: RangePlan) -> str:
    """A description of the range that the release will find."""
    if plan.width is not None:
        wrong = number(100.0 * (plan.failure or 0.0), 2)
        return (
            "The range: roughly around the median, at most "
            f"{number(plan.width, 3)} standard deviations wide. It would be wrong with "
            f"probability at most {wrong} %."
        )
    found = number(100.0 * (plan.quantile or 0.0), 2)
    return (
        "The range: from one power of two to another, or to 0. Values between two of them are "
        f"found if they have about {found} % of all weight, next to others if they have less. It "
        "is narrower if all values lie close together. Values outside are clipped to it."
    )


def _range_errors(plan: RangePlan, section: str) -> SheetTable:
    """The table of errors, with a row for spread-out values and a row for values close together."""

    def told(error: float) -> str:
        if math.isinf(error):
            return "not known"
        gaussian = plan.shape == "gaussian"
        return f"{number(error, 3)} σ" if gaussian else f"{number(100 * error, 3)} %"

    last = f"error at {percent(plan.confidence)}"
    rows = tuple(
        (name, str(row.looks), f"{100.0 * row.share:.3g} %", told(row.rmse), told(row.pac))
        for name, row in zip(_VALUES, plan.forecasts, strict=True)
    )
    heads = ("values", "looks", "for the range", "typical error", last)
    caption = "It depends on how close together the values are."
    return SheetTable("rows", heads, rows, caption, section=section)


def _range_explained(plan: RangePlan) -> str:
    """An explanation of the columns in the table of errors."""
    people = ""
    if plan.people_needed is not None:
        people = f", for {plan.people_needed:,} people, the number that is needed"
    first = (
        f"Errors are for Gaussian data, in standard deviations σ of the population{people}."
        if plan.shape == "gaussian"
        else "Errors are worst cases for the mean of the values clipped to the range, in percent "
        f"of its width{people}."
    )
    return (
        f"{first} The third column is the share of all spending that goes into finding the range. "
        "Values that lie close together, such as years, may take up to three looks."
    )


def _range_spending(plan: RangePlan) -> tuple[Part, ...]:
    """The table and the figure of the spending on the range and on the mean."""
    spent = plan.forecasts[0].spent
    parts = ("on the range", "on the mean", "kept")
    chosen = [spent[k] for k in some_places(len(spent), _LEVELS)]
    rows = tuple(
        (
            budget(each.epsilon),
            f"{each.people:,}",
            budget(each.on_range, 3),
            budget(each.on_mean, 3),
            kept_words(each.kept),
        )
        for each in chosen
    )
    some = f" {_LEVELS} of {len(spent):,} levels are shown." if len(spent) > _LEVELS else ""
    guessed = "" if plan.neighbours == "replace" else " The numbers of people are a guess."
    note = f"What a person with each budget would spend, if values are spread out.{some}{guessed}"
    shown = "; ".join(
        f"ε {row[0]}: {row[2]} on the range, {row[3]} on the mean, {row[4]} kept" for row in rows
    )
    levels = tuple((each.epsilon, (each.on_range, each.on_mean, each.kept)) for each in spent)
    caption = "On the range, and on the mean."
    return (
        SheetTable("spent", ("budget ε", "people", *parts), rows, caption, section=_SPENDS),
        Note("note", note, section=_SPENDS),
        Figure(Stacked(parts, levels), shown, lead=True, section=_SPENDS),
    )


def _local_name(plan: LocalPlan) -> str:
    who = f"{plan.budgets.n:,} people who randomize their own values"
    if plan.cells:
        return f"Plan for the shares of {who}, in {plan.cells:,} categories"
    if plan.dimension is not None:
        return f"Plan for the mean of {who}, vectors of {plan.dimension:,} numbers"
    lo, hi = plan.bounds
    return f"Plan for the mean of {who}, from {number(lo)} to {number(hi)}"


def _local_error(plan: LocalPlan, error: float) -> str:
    """An error in words: in data units, in percentage points, or in percent of the radius."""
    if plan.cells:
        return number(100 * error, 3)
    return number(error) if plan.dimension is None else f"{number(100 * error, 3)} %"


def _local_kinds(plan: LocalPlan) -> SheetTable:
    """The table of the kinds of report, with the trusted curator as its last row."""
    told = functools.partial(_local_error, plan)
    rows = [
        (
            each.method + (" *" if each.method == plan.best else ""),
            each.sends,
            told(each.rmse),
            told(each.pac),
            f"{number(each.gain, 3)} ×",
        )
        for each in plan.forecasts
    ]
    if plan.curator is not None:
        rows.append((_CURATOR, "the value", told(plan.curator.rmse), told(plan.curator.pac), ""))
    heads = ("method", "sends", "typical error", f"error at {percent(plan.confidence)}", "gain")
    caption, section = "The advised kind comes first.", "Every kind of report"
    return SheetTable("rows", heads, tuple(rows), caption, 0, section=section)


def _local_explained(plan: LocalPlan) -> str:
    """An explanation of the errors in the table."""
    what = ""
    if plan.cells:
        what = (
            " They are in percentage points; the typical error is for one share, the error at "
            f"{percent(plan.confidence)} for all shares at once."
        )
    elif plan.dimension is not None:
        what = " They are lengths, in percent of the radius of the ball that holds all vectors."
    if plan.best == "piecewise":
        what = (
            " Piecewise reports and numbers are worst for values at the two ends of the range. "
            "For others, piecewise reports have the smaller error, and intervals follow it."
        )
    first = "Errors are worst cases over all populations, before anyone reports."
    return f"{first}{what} {_STRICTEST}"


def _planned(one: Planned, question: Question) -> tuple[str, ...]:
    """The row of one question in the table of several questions."""
    shares = question.statistic == "frequencies"

    def told(error: float | None) -> str:
        if error is None:
            return "–"
        if shares:
            return f"{number(100.0 * error, 3)} %"
        return number(error) if question.unit is None else f"{number(error)} {question.unit}"

    typical = told(one.rmse)
    if one.found and one.rmse is not None:
        typical = f"{number(one.rmse)} of the range"
    reach = told(one.half_width)
    if one.half_width is not None:
        reach += f" ({percent(question.confidence)})"
    share = f"{number(100.0 * float(one.share), 3)} %"  # to_dict() has the exact fraction
    return one.name, share, one.method, typical, reach, told(one.target)

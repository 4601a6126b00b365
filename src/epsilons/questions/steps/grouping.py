"""Groups and subsets of people in a question: their arguments, checks, goals and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from epsilons import door, parameters, words
from epsilons.errors import ArgumentError
from epsilons.questions.question import Call, Sentences
from epsilons.results.release import Groups, Scalar
from epsilons.risk.goals import CellsGoal
from epsilons.risk.margins import OneGroup

__all__ = [
    "METHODS",
    "OPEN_METHODS",
    "as_given",
    "columns_of",
    "declared_groups",
    "estimate_of",
    "looks",
    "refuse",
    "selecting",
    "sentences",
]

METHODS: Final = ("optimal", "threshold", "uniform", "proportional")
"""The methods for tables of groups, and of soft cells, under replace."""

OPEN_METHODS: Final = ("transformed",)
"""The methods for such tables under add/remove."""


def declared_groups(by: Any, groups: Any) -> door.Grouping | None:
    """Return the groups for a user's arguments; None if there are none.

    Args:
        by: one column or two columns, each as an array or a name.
        groups: the labels; for two columns, two lists of labels.

    Raises:
        ArgumentError: only one of the two is given, or they do not match. The message shows no
            label.
    """
    if by is None and groups is None:
        return None
    if groups is None:
        raise ArgumentError(
            "by needs groups=[…], the labels of the groups, declared without looking at the "
            "data: which groups occur in the data is private."
        )
    if by is None:
        raise ArgumentError(
            'groups are labels of a column: write by="…" with its name, or an array, along with '
            "them."
        )
    if not _is_two(groups) and isinstance(by, (list, tuple)) and _is_two(by):
        raise ArgumentError(
            "by is a list of two columns, but groups are the labels of one: write "
            'by=["…", "…"], groups=[[…], […]].'
        )
    columns = _listed(by, 2) if _is_two(groups) else (by,)
    every = list(groups) if len(columns) == 2 else [groups]
    return door.Grouping(columns, tuple(map(door.declare_groups, every)))


def _is_two(groups: Any) -> bool:
    """Whether labels are declared for two columns; a single label is never a list."""
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Sequence) or len(groups) != 2:
        return False
    return not any(
        isinstance(each, (str, bytes)) or not hasattr(each, "__len__") for each in groups
    )


def _listed(by: Any, count: int) -> tuple[Any, ...]:
    if isinstance(by, (list, tuple)) and len(by) == count:
        return tuple(by)
    raise ArgumentError(
        "groups are declared for two columns, but by is not a list of two: write "
        'by=["…", "…"], groups=[[…], […]].'
    )


def selecting(where: Any) -> tuple[Any, Any]:
    """Return the column and the label of `where`; the label is None for a Boolean column."""
    pair = isinstance(where, (tuple, list)) and len(where) == 2
    if not pair or where[0] is None or isinstance(where[0], (bool, np.bool_)):
        return where, None
    label = where[1]
    return where[0], label.item() if isinstance(label, np.generic) else label


def columns_of(grouping: door.Grouping | None, where: Any) -> dict[str, Any]:
    """Return the columns other than the values, by their names in `epsilons.verify.Change`."""
    found = {} if grouping is None else dict(zip(("by", "by_2"), grouping.by, strict=False))
    return found if where is None else {**found, "where": where}


def as_given(columns: dict[str, Any]) -> dict[str, Any]:
    """Convert the columns of `columns_of` to the arguments `by` and `where` of a question."""
    by = [columns[name] for name in ("by", "by_2") if name in columns]
    one = {} if not by else {"by": by[0] if len(by) == 1 else by}
    return one if "where" not in columns else {**one, "where": columns["where"]}


def looks(
    columns: dict[str, Any],
    grouping: door.Grouping | None,
    label: door.Categories | None,
    call: Call,
) -> dict[str, door.Look]:
    """Count rows of all columns other than the values that need the curator's attention.

    Args:
        columns: the columns of a question.
        grouping: the declared groups.
        label: the label that `where` asks about; None for a Boolean column.
        call: the data, the budgets and the neighbouring relation.
    """
    declared = () if grouping is None else grouping.declared
    kinds = dict(zip(("by", "by_2"), declared, strict=False))
    kinds["where"] = label or door.declare_groups([False, True])
    return {
        name: door.look(columns[name], **call.given, categories=each, lowest=call.lowest)
        for name, each in kinds.items()
        if name in columns
    }


def refuse(question: Any) -> None:
    """Reject arguments that are invalid for means by group, or for means of a subset.

    Args:
        question: an `epsilons.Mean`.

    Raises:
        ArgumentError: an argument is invalid.
    """
    parameters.choice("groups_are", question.groups_are)
    public = question.groups_are == "public"
    if public and question.by is None:
        raise ArgumentError('groups_are="public" is for by=…, which is not given: leave it out.')
    parameters.flag("shrink", question.shrink)
    if question.shrink and question.by is None:
        raise ArgumentError(
            "shrink=True is for by=…, which is not given: means of groups are shrunk toward the "
            "mean of all groups. Leave it out."
        )
    if not question.of_some:
        return
    if question.by is not None:
        name = "by"
    else:
        name = "where" if question.where is not None else 'missing="exclude"'
    if public and question.by is not None and (question.where is not None or question.excludes):
        raise ArgumentError(
            f'groups_are="public" requires that everyone answers: with {name} it is private who '
            'does. Leave groups_are out, or use missing="midpoint".'
        )
    if question.bounds is None:
        raise ArgumentError(
            f"{name} needs bounds=(lo, hi): a range can be found only for the mean of everyone."
        )
    if public:
        return
    if question.spread is not None:
        raise ArgumentError(
            f"spread is a guess for one mean of everyone, or for public groups: with {name} the "
            "errors of all cells of a table are minimized. Leave it out."
        )
    if question.loss != "mse":
        raise ArgumentError(
            f"loss={question.loss!r} is for one mean of everyone, or for public groups: with "
            f"{name} the squared errors of all cells of a table are minimized. Leave it out; "
            "intervals have the confidence that they state."
        )


def table_goal(question: Any, *, private: bool) -> CellsGoal:
    """Return the error to minimize: the sum of squared errors of all cells.

    Args:
        question: a question about groups or a subset of people.
        private: whether participation is private; if so, some people may be in no declared group.
    """
    labels = 1 if question.grouping is None else len(question.grouping.labels)
    some = question.where is not None or question.excludes
    outside = some or (private and question.grouping is not None)
    return CellsGoal(question.assumption, "mse", question.confidence, 2 * labels + outside)


def estimate_of(counted: door.Tally, call: Call, question: Any, margin: Any) -> Groups | Scalar:
    """Return a mean for each group; a single number if the question only selects a subset."""
    bounds, terms = question.bounds, (question.assumption, question.confidence)
    if question.grouping is None:
        value = float(margin.within(bounds, *terms)[0])
        return Scalar(value=value, raw=value, bounds=bounds, margin=OneGroup(margin))
    placed = margin.shrunk if question.shrink else margin.within
    means = placed(bounds, *terms)
    clipped = np.array_equal(means, margin.means(bounds))
    return Groups(
        labels=counted.categories,
        bounds=bounds,
        margin=margin,
        by=tuple(map(call.name_of, question.grouping.by)),
        public=question.groups_are == "public",
        outside=counted.cells.shape[1] % 2 == 1,
        published=None if clipped else tuple(means.tolist()),
        shrunk=question.shrink,
    )


def sentences(question: Any, neighbours: str) -> Sentences:
    """Return the sentences in which the release says what it protects and assumes."""
    grouped = question.grouping is not None
    which = ["each group"] if grouped else []
    which += ["a private subset"] if question.where is not None and not grouped else []
    which += ["those who answered"] if question.excludes else []
    private = neighbours == "add-remove"
    column, label = question.selected, question.label
    where = column if column is None or isinstance(column, str) else ""
    return Sentences(
        words.PROTECTED[neighbours]
        + words.hidden(
            groups=grouped,
            public=question.groups_are == "public",
            answers=question.excludes,
            where=question.where is not None,
        ),
        words.assumed_of_some(
            neighbours,
            question.assumption,
            f"mean of {' of '.join(which)}",
            groups=grouped,
            public=question.groups_are == "public",
        ),
        words.clipped(question.bounds, midpoint=question.policy(neighbours) == "midpoint")
        + words.left_out(
            answers=question.excludes,
            groups=grouped and (private or question.excludes),
            where=where,
            label=label,
        )
        + (words.SHRUNK if question.shrink else ""),
    )

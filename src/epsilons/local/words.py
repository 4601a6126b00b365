"""What is protected and what is assumed in the local model, in words."""

from __future__ import annotations

from typing import Final

from epsilons.report import number

PROTECTED_LOCALLY: Final = (
    "Each person's value, before it leaves them: whatever it is, the probability of what they send "
    "changes by at most a factor of e^ε, where ε is their own budget. Nobody has to be trusted. "
    "Budgets are public, and so is the fact that a person took part."
)

_SAMPLE: Final = "The people are a sample, independent draws from one population"
_LOCAL_SAMPLE: Final = f"{_SAMPLE}, and budgets say nothing about"

ASSUMED_LOCALLY: Final = {
    "mean": f"{_LOCAL_SAMPLE} values. This estimates the mean of that population.",
    "share": f"{_LOCAL_SAMPLE} values. This estimates the share of yes in that population.",
    "mean vector": f"{_LOCAL_SAMPLE} values. This estimates the mean vector of that population.",
    "frequencies": f"{_LOCAL_SAMPLE} categories. This estimates the shares in that population.",
}
"""What the error assumes in the local model, by the statistic; `honest_reports` goes on from it."""


def related_locally(assumed: str) -> str:
    """What is assumed if all reports count alike and budgets may say anything about values.

    Args:
        assumed: what is assumed if budgets say nothing, as `ASSUMED_LOCALLY` begins.
    """
    rest = assumed.removeprefix(_LOCAL_SAMPLE)
    what = rest.split(".", 1)[0].strip()
    return f"{_SAMPLE}. Budgets may be related to {what} in any way.{rest.split('.', 1)[1]}"


def honest_reports(lies: int, moved: str | None, *, menu: bool) -> str:
    """What is assumed about those who report, and what it costs if that is wrong.

    Args:
        lies: how many reports may be dishonest.
        moved: how far they can have moved the estimate, in words; None for anywhere.
        menu: whether a menu of budgets was declared.

    Returns:
        Words that go on from others.
    """
    what = (
        f"{lies:,} of these reports were not, they"
        if lies > 1
        else "one of these reports was not, it"
    )
    where = "anywhere" if moved is None else f"by up to {moved}"
    more = "" if menu else " No menu of budgets (levels=) was declared."
    return f" Reports are honest: if {what} could have moved the estimate {where}.{more}"


def shortened(ball: float, *, midpoint: bool) -> str:
    """What becomes of vectors that are too long and, if any are accepted, of missing ones.

    Args:
        ball: how long vectors can be.
        midpoint: whether missing vectors are accepted.
    """
    more = "; missing vectors count as zero" if midpoint else ""
    return f"Vectors longer than {number(ball)} are shortened to that length{more}."


def tossed(*, midpoint: bool) -> str:
    """What a missing yes or no counts as; nothing is said if it is refused."""
    return "A missing answer counts as the toss of a fair coin." if midpoint else ""

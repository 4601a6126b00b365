"""What is assumed about the data: whom an estimate is about, and what budgets tell of values.

Two plain answers, and everything that is random follows from them.

    about       related    what is random beside the noise
    people      True       nothing: these people, whatever their budgets say of their values
    people      δ          nothing; the means of people at different budgets differ by δ at most
    people      False      who has which budget: the budgets are shuffled
    population  True       the people: pairs of a value and a budget, drawn from any population
    population  δ          the same; the means at different budgets differ by δ at most
    population  False      the people: values drawn from one population, whatever their budgets
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from epsilons import parameters

__all__ = ["RELATED", "SAMPLE", "UNRELATED", "Assumption", "assumption_of"]


@dataclass(frozen=True)
class Assumption:
    """What is assumed about the data.

    Attributes:
        about: "people": the truth of these very people is wanted. "population": they are a sample
            of it, and its truth is wanted.
        related: whether budgets may go with values: True, in any way; False; or a number δ in
            (0, 1): the means of people at different budgets differ by at most δ of the range.
    """

    about: str
    related: bool | float

    @property
    def sampled(self) -> bool:
        """Whether people are a sample."""
        return self.about == "population"

    @property
    def apart(self) -> float:
        """How far apart the means of people at different budgets may be, on a unit range."""
        return float(self.related)

    @property
    def anything(self) -> bool:
        """Whether budgets may tell anything of values."""
        return self.related is True

    @property
    def of_some(self) -> Assumption:
        """What it says about a function that is 0 for those who did not answer.

        Around the mean of those who did, the means of levels are within δ, each times the share of
        its level that answered, which may be anything: so they differ by at most 2δ.
        """
        if isinstance(self.related, bool):
            return self
        return Assumption(self.about, True if self.related >= 0.5 else 2.0 * self.related)

    @property
    def of_membership(self) -> Assumption:
        """What it says about who answered: budgets may tell anything of it, or nothing."""
        return Assumption(self.about, self.related is not False)


RELATED: Final = Assumption("people", True)
"""True of all data: the default."""

UNRELATED: Final = Assumption("people", False)
SAMPLE: Final = Assumption("population", False)


def assumption_of(about: object, related: object) -> Assumption:
    """The two answers of a user.

    Raises:
        ArgumentError: one of them is invalid.
    """
    return Assumption(parameters.choice("about", about), parameters.related(related))

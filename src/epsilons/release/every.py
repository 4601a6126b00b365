"""What every estimate can tell, whatever it is of."""

from __future__ import annotations

from typing import Any

from epsilons.errors import KindError

__all__ = ["Estimate", "Reportable"]


class Estimate:
    """What every estimate has."""

    def influence(self, lies: int) -> float:  # noqa: ARG002
        """How far dishonest reports can have moved it.

        Raises:
            KindError: nobody sent reports.
        """
        raise KindError(
            "influence is for the local model: with a trusted curator nobody sends reports."
        )

    def found(self) -> dict[str, float]:
        """What was found beside it, as plain data: nothing."""
        return {}


class Reportable(Estimate):
    """An estimate that the local model has, too: then its margin knows what reports can do."""

    margin: Any
    raw: Any

    def influence(self, lies: int) -> float:
        """How far dishonest reports can have moved it: one number, any of several, or in ℓ2."""
        if not self._has_reports:
            return super().influence(lies)
        return float(self.margin.influence(lies, *self._place))

    @property
    def _has_reports(self) -> bool:
        return hasattr(self.margin, "influence")

    @property
    def _place(self) -> tuple[Any, ...]:
        """Where it is: what can move it at most depends on it."""
        return (self.raw,)

    def _influence_of_one(self) -> dict[str, float]:
        """How far one dishonest report can move it, as plain data, where there are reports."""
        return {"influence_of_one": self.influence(1)} if self._has_reports else {}

"""What every plan can do: be printed, written as JSON or as a page, and drawn."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from epsilons import report

__all__ = ["Shown"]


class Shown(ABC):
    """A plan, as far as it is shown."""

    @abstractmethod
    def to_dict(self) -> Any:
        """The whole plan as plain data of a `kind`."""

    def to_json(self) -> str:
        """`to_dict` as JSON, in which ∞ is written as "inf"."""
        return report.to_json(self.to_dict())

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the plan as an HTML page that stands alone.

        Args:
            path: of the file; one that is there is replaced.

        Returns:
            The path.

        Raises:
            MissingExtraError: the extra `report` is not installed.
            FileError: the file cannot be written.
        """
        return report.write_page(path, report.page(self.to_dict()))

    def plot(self) -> Any:
        """A picture of the plan: of means and shares, risk over the cap τ, with the rules on it.

        Raises:
            MissingExtraError: the extra `report` is not installed.
        """
        return report.plot(self.to_dict())

    def __str__(self) -> str:
        return report.text(self.to_dict())

    def _repr_html_(self) -> str:
        return report.html(self.to_dict())

"""What releases and plans can do alike: be printed, written as JSON or as a page, and drawn."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from epsilons import report
from epsilons.report.parts import legible

if TYPE_CHECKING:
    import altair

__all__ = ["Shown"]


_LINE: Final = 97
"""Characters of what stands in the brackets of a `repr`."""


class Shown(ABC):
    """Something that is reported."""

    @abstractmethod
    def to_dict(self) -> Any:
        """Everything, as plain data of a `kind`."""

    @abstractmethod
    def _in_a_line(self) -> str:
        """What it is, in a few words, at little cost."""

    def to_json(self) -> str:
        """`to_dict` as JSON, in which ∞ is written as "inf"."""
        return report.to_json(self.to_dict())

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a self-contained HTML page.

        Args:
            path: of the file; one that is there is replaced.

        Returns:
            The path.

        Raises:
            MissingExtraError: the extra `report` is not installed.
            FileError: the file cannot be written.
        """
        return report.write_page(path, report.page(self.to_dict()))

    def figure(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture of `plot` to a file, for a paper or a slide.

        Args:
            path: of the file, which ends with .svg or .png; one that is there is replaced.

        Returns:
            The path.

        Raises:
            MissingExtraError: the extra `report` is not installed.
            FileError: it has another ending, or cannot be written.
        """
        report.picture_ready(path)
        return report.write_picture(path, self.plot())

    def plot(self) -> altair.TopLevelMixin:
        """A picture: of a plan for means and shares, risk over the cap τ, with the rules on it.

        Raises:
            MissingExtraError: the extra `report` is not installed.
        """
        picture: altair.TopLevelMixin = report.plot(self.to_dict())
        return picture

    def __repr__(self) -> str:
        words = " ".join(f"{type(self).__name__}: {legible(self._in_a_line())}".split())
        return f"<{words if len(words) <= _LINE else words[: _LINE - 1] + '…'}>"

    def __str__(self) -> str:
        return report.text(self.to_dict())

    def _repr_html_(self) -> str:
        return report.html(self.to_dict())

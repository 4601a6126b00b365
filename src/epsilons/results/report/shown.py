"""`Written` and `Shown`: the base classes of results, with all their output formats."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from epsilons.loading import later
from epsilons.results.report.numbers import legible, to_json

if TYPE_CHECKING:
    import altair

    from epsilons.results.report import files, notebook, page, plot, tables, text
    from epsilons.results.report.sheet import Sheet
else:
    files = later("epsilons.results.report.files")
    notebook = later("epsilons.results.report.notebook")
    page = later("epsilons.results.report.page")
    plot = later("epsilons.results.report.plot")
    tables = later("epsilons.results.report.tables")
    text = later("epsilons.results.report.text")

__all__ = ["Shown", "Written"]


_LINE: Final = 97
"""The maximum number of characters between the angle brackets of a `repr`."""


class Written(ABC):
    """A result that can be described in text: it makes a sheet, which every format shows."""

    @abstractmethod
    def sheet(self) -> Sheet:
        """The contents of the result as a sheet, which every output format shows."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""

    def to_json(self) -> str:
        """`to_dict` as JSON, with ∞ as "inf"."""
        return to_json(self.to_dict())

    def details(self) -> str:
        """Return the complete description as text; `print` shows only the most important parts."""
        return text.printed(self.sheet())

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the result to a file, in the format of its extension.

        Args:
            path: the path of the file; an existing file is replaced. `.tex` and `.md` are tables
                (`to_latex`, `to_markdown`), `.svg`, `.png` and `.pdf` are pictures, and anything
                else is a self-contained HTML page.

        Returns:
            The path.

        Raises:
            MissingExtraError: there are figures, and the extra `report` is not installed.
            FileError: the file cannot be written.
        """
        suffix = Path(path).suffix.lower()
        if suffix in files.PICTURES:
            files.picture_ready(path)
            return files.write_picture(path, plot.as_chart(self.sheet()))
        written = {".tex": self.to_latex, ".md": self.to_markdown}
        return files.write_page(path, written.get(suffix, self.to_html)())

    def to_latex(self) -> str:
        """Return the numbers as a LaTeX table, for `booktabs`; all text is escaped."""
        return tables.as_latex(self.sheet())

    def to_markdown(self) -> str:
        """Return the numbers as a Markdown table; all text is escaped."""
        return tables.as_markdown(self.sheet())

    def to_html(self) -> str:
        """Return the page of `report` as text.

        Raises:
            MissingExtraError: there are figures, and the extra `report` is not installed.
        """
        return page.as_page(self.sheet(), self.to_dict())

    def __str__(self) -> str:
        return text.brief(self.sheet())

    def _repr_html_(self) -> str:
        return notebook.as_html(self.sheet())


class Shown(Written):
    """A release or a plan, which also has a picture."""

    @abstractmethod
    def _in_a_line(self) -> str:
        """A short description for `repr`; it must be fast to compute."""

    def figure(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture of `plot` to a file, for a paper or a slide.

        Args:
            path: the path of the file, with extension .svg, .png or .pdf; an existing file is
                replaced.

        Returns:
            The path.

        Raises:
            MissingExtraError: the extra `report` is not installed.
            FileError: the path has another extension, or the file cannot be written.
        """
        files.picture_ready(path)
        return files.write_picture(path, self.plot())

    def plot(self) -> altair.TopLevelMixin:
        """Return the result as an Altair chart.

        For a plan of means or shares, it shows the error as a function of the cap τ, with the
        methods marked.

        Raises:
            MissingExtraError: the extra `report` is not installed.
        """
        return plot.as_chart(self.sheet())

    def __repr__(self) -> str:
        words = " ".join(f"{type(self).__name__}: {legible(self._in_a_line())}".split())
        return f"<{words if len(words) <= _LINE else words[: _LINE - 1] + '…'}>"

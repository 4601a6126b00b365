"""Write pages, tables and pictures. Writes are atomic: a file is never partly written."""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from epsilons.errors import FileError
from epsilons.results.report import charts

__all__ = ["PICTURES", "picture_ready", "ready", "write_page", "write_picture"]

_FINE: Final = 3
"""The scale factor of PNG files: three dots per screen pixel, enough for print."""


PICTURES: Final = (".svg", ".png", ".pdf")
"""The extensions of pictures."""

TABLES: Final = (".tex", ".md")
"""The extensions of tables, which need no extra."""


def ready(path: str | os.PathLike[str]) -> None:
    """Check that a page can be created and written, before any budget is spent.

    Args:
        path: the path of the file.

    Raises:
        FileError: the path is a directory, or its folder does not exist.
        MissingExtraError: the extra `report` is not installed.
    """
    if _place(path, "report.html").suffix.lower() not in TABLES:
        charts.require()


def picture_ready(path: str | os.PathLike[str]) -> None:
    """Check that a picture can be created and written, before any budget is spent.

    Raises:
        FileError: the path is a directory, its folder does not exist, or its extension is not .svg,
            .png or .pdf.
        MissingExtraError: the extra `report` is not installed.
    """
    target = _place(path, "figure.svg")
    if target.suffix.lower() not in PICTURES:
        raise FileError(
            f"path: {str(target)!r} must end with .svg, .png or .pdf, which decides the kind of "
            "picture."
        )
    charts.require()


def write_page(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page or a table atomically.

    Args:
        path: the path of the file; an existing file is replaced.
        text: the text of the page or the table.

    Returns:
        The path.

    Raises:
        FileError: the path is a directory, its folder does not exist, or it cannot be written.
    """
    return _write(_place(path, "report.html"), text.encode())


def write_picture(path: str | os.PathLike[str], chart: Any) -> Path:
    """Write a chart as SVG, PNG or PDF, atomically.

    Args:
        path: the path of the file, with extension .svg, .png or .pdf; an existing file is replaced.
        chart: an Altair chart.

    Returns:
        The path.

    Raises:
        FileError: the extension is none of these, or the file cannot be written.
        MissingExtraError: the extra `report` is not installed.
    """
    picture_ready(path)
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind == "svg":
        text = io.StringIO()
        chart.save(text, format=kind)
        return _write(target, text.getvalue().encode())
    content = io.BytesIO()
    chart.save(content, format=kind, scale_factor=_FINE if kind == "png" else 1)
    return _write(target, content.getvalue())


def _place(path: str | os.PathLike[str], such_as: str) -> Path:
    """Return the path as a `Path`, after checking that a file can be written there.

    Raises:
        FileError: the path is a directory, or its folder does not exist.
    """
    target = Path(path)
    if target.is_dir():
        raise FileError(
            f"path: {str(target)!r} is a directory. Name a file, such as {str(target / such_as)!r}."
        )
    if not target.parent.is_dir():
        raise FileError(
            f"path: the folder {str(target.parent)!r} does not exist. Create it first, or name "
            "another."
        )
    return target


def _write(target: Path, content: bytes) -> Path:
    try:
        # A temporary folder next to the target: the file gets the permissions of a new file, is
        # moved in one step, and nothing remains if an error occurs.
        with tempfile.TemporaryDirectory(prefix=".epsilons-", dir=target.parent) as folder:
            whole = Path(folder) / "whole"
            whole.write_bytes(content)
            whole.replace(target)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FileError(
            f"path: {str(target)!r} cannot be written ({reason}). Choose another path."
        ) from None
    return target

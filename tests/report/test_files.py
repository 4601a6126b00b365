"""Pictures of every kind of result are written atomically, as SVG or PNG."""

from __future__ import annotations

from pathlib import Path

import pytest

import epsilons as ep
from epsilons.errors import FileError

RELEASE = ep.mean([1.0, 2.0, 3.0], epsilon=1.0, bounds=(0, 4))


def test_a_figure_is_what_its_ending_says(tmp_path: Path) -> None:
    picture = RELEASE.figure(tmp_path / "a.SVG")
    assert picture == tmp_path / "a.SVG"
    assert picture.read_text("utf-8").startswith("<svg ")
    dots = RELEASE.figure(str(tmp_path / "a.png")).read_bytes()
    assert dots.startswith(b"\x89PNG\r\n")
    wide = int.from_bytes(dots[16:20], "big")
    assert wide > 1400  # enough resolution for print
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.SVG", "a.png"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("x.jpg", r"must end with \.svg, \.png or \.pdf"),
        ("x", r"must end with \.svg, \.png or \.pdf"),
        ("nowhere/x.svg", "the folder .*nowhere.* does not exist"),
        (".", "is a directory. Name a file, such as .*figure.svg"),
    ],
)
def test_what_cannot_be_written_is_refused_before_it_is_drawn(
    name: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(RELEASE), "plot", lambda _: pytest.fail("it was drawn"))
    with pytest.raises(FileError, match=says):
        RELEASE.figure(tmp_path / name)
    assert list(tmp_path.iterdir()) == []

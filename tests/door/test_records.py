"""Reading a file in blocks gives the same records as reading it as a whole."""

from __future__ import annotations

import io
import re
from pathlib import Path

import polars as pl
import pytest

from epsilons.door.given import cells as files
from epsilons.door.given.cells import Role, TextFile
from epsilons.errors import FileError

Rows = list[tuple[str | None, ...]]


def reference(text: str, columns: int, separator: str = ",", longest: int = 2**24) -> Rows:
    """Return the records of a text, found by a second parser that uses regular expressions."""
    mark = re.escape(separator)
    quoted = re.compile(rf'"((?:[^"]|"")*)"(?={mark}|\n|\r\n)')
    plain = re.compile(rf"[^{mark}\n]*")
    text = text if text.endswith("\n") or not text else text + "\n"
    at, rows = 0, []
    while at < len(text):
        row: list[str | None] = []
        start = at
        while True:
            found = quoted.match(text, at)
            if found and found.end() - 1 - at <= longest:
                row.append(found[1].replace('""', '"'))
            else:
                found = plain.match(text, at)
                assert found
                cell = found[0].removesuffix("\r") if text[found.end()] == "\n" else found[0]
                row.append(cell or None)
            at = found.end() + (text[found.end()] == "\r")
            at += 1
            if text[at - 1] == "\n":
                break
        if columns == 1 or text[start:at] not in ("\n", "\r\n"):
            rows.append(tuple((row + [None] * columns)[:columns]))
    return rows


def read(path: Path, columns: int, separator: str = ",") -> Rows:
    names = [chr(ord("a") + i) for i in range(columns)]
    file = TextFile(path, (FileError, "{kind}"), separator)
    return file.scan([Role(name, name, "text") for name in names]).collect().rows()


def header(columns: int, separator: str = ",") -> str:
    return separator.join(chr(ord("a") + i) for i in range(columns)) + "\n"


def test_other_separators(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    for separator in ";\t|^]\\ ":
        text = f'1{separator}"a{separator}b"\n"{separator}2,"\n,3{separator}4\n'
        file.write_text(header(2, separator) + text)
        assert read(file, 2, separator) == reference(text, 2, separator)


def test_blocks_are_regular_and_do_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FIRST", 2**12), ("BLOCK", 2**16), ("LONGEST", 2**18)):
        monkeypatch.setattr(files, name, value)
    row = b'"a,""b""\n",1\n'
    stray = b"5'10\",1\n"
    text = row * 20_000 + stray + row * 20_000
    blocks = [*files.records(io.BytesIO(text), b",")]
    assert max(map(len, blocks)) <= files.BLOCK + 100
    assert b"".join(blocks) == text.replace(stray, b'"5\'10""",1\n')
    # After an unclosed quote, memory is limited by the length of the longest allowed field.
    unclosed = [*files.records(io.BytesIO(b'"' + b"1,2\n" * 10**6), b",")]
    assert sum(map(len, unclosed)) == 4 * 10**6 + 4
    assert max(map(len, unclosed)) <= 3 * files.LONGEST


def test_a_file_of_strays_is_read(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    rows = [f"{i},5'{i % 12}\"" for i in range(50_000)]
    file.write_text("a,b\n" + "\n".join(rows))
    found = pl.DataFrame(read(file, 2), orient="row", schema=["a", "b"])
    assert found["b"].to_list() == [row.split(",")[1] for row in rows]
